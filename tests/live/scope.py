#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Watching some calls alone: who has filters, and who runs on without us.

usage: scope.py [CASE...]

SYSCULL_SCOPE is live-scope, SYSCULL_FILTERS live-filters, SYSCULL_REFUSE
live-refuse and SYSCULL_NO_MEMORY the preload of tests/live/programs.  That commands behave as without us is behaviour.py's
--scope, that counts are the kernel's is observer.py's.
"""
import os
import signal
import subprocess
import sys

import live

SCOPE = os.environ["SYSCULL_SCOPE"]
FILTERS = os.environ["SYSCULL_FILTERS"]
# ENGINE_MET_… of engine.h
SETUID, IO_URING, TRACER, NO_NEW_PRIVS, FILTER, STRICT, NO_FILTER = 1, 2, 8, 0x80, 0x100, 0x200, 0x400


def plain(argv, cwd, **more):
    return subprocess.run(argv, cwd=cwd, env=live.clean_env(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=60, check=False, **more)


def scoped(calls, argv, cwd, before=(), options=(), **more):
    """(done, counts, books) of a command under a scope."""
    path = os.path.join(cwd, "scope.txt")
    if os.path.exists(path):
        os.unlink(path)
    done = plain([*before, SCOPE, *options, calls, path, *argv], cwd, **more)
    return (done, *(live.read_scope(path) if os.path.exists(path) else ({}, {})))


def same(calls, argv, cwd, counts, met=0):
    """A case that must look as without us, with these counts and (failures)."""
    without = plain(argv, cwd)
    done, seen, books = scoped(calls, argv, cwd)
    bad = []
    if (done.returncode, done.stdout) != (without.returncode, without.stdout):
        bad.append(f"{done.returncode} {done.stdout!r}, not {without.returncode} {without.stdout!r}")
    if not books:
        return bad + ["no books"]
    bad += live.books_of(books)
    bad += [f"{name}: {seen.get(name)}, not {want}" for name, want in counts.items() if seen.get(name) != want]
    if books["met"] & ~NO_FILTER != met:
        bad.append(f"met {books['met']:#x}, not {met:#x}")
    return bad


def case_refused_by_seccomp(cwd):
    """A call that a program's own filter refuses is counted."""
    return same("getppid", [FILTERS, "refuses", "seccomp"], cwd, {"getppid": (5, 4)})


def case_refused_by_prctl(cwd):
    return same("getppid,prctl", [FILTERS, "refuses", "prctl"], cwd, {"getppid": (5, 4)})


def case_asks_tracer(cwd):
    """A program whose filter asks for a tracer that it has not."""
    return same("getppid", [FILTERS, "asks-tracer"], cwd, {"getppid": (3, 2)})


def case_asks_tracer_outside(cwd):
    return same("@xattr", [FILTERS, "asks-tracer"], cwd, {"getppid": None})


def case_get_seccomp(cwd):
    return same("@open", [FILTERS, "get-seccomp"], cwd, {})


def case_strict(cwd):
    """Cannot be had beside our filter: told."""
    done, _, books = scoped("@xattr", [FILTERS, "strict"], cwd)
    bad = [] if done.stdout == b"strict: -1 EINVAL\n" else [f"{done.stdout!r}"]
    return bad + ([] if books["met"] == STRICT else [f"met {books['met']:#x}"])


def case_all_threads(cwd):
    return same("getppid,openat", [FILTERS, "threads"], cwd, {"getppid": (3, 3)}, FILTER)


def case_untraced(cwd):
    bad = same("openat", [FILTERS, "untraced", "clone"], cwd, {})
    return bad + same("openat,@fork", [FILTERS, "untraced", "clone3"], cwd, {"clone3": (1, 0)})


def case_traces(cwd):
    """A program that traces its child cannot, but neither of them hangs."""
    return same("getppid", [FILTERS, "traces"], cwd, {}, TRACER)


def case_io_uring(cwd):
    made = plain([FILTERS, "uring"], cwd).stdout == b"ring: ok\n"
    return same("@xattr", [FILTERS, "uring"], cwd, {}, IO_URING if made else 0)


def wait_for(path):
    live.until(lambda: os.path.exists(path) and os.path.getsize(path) > 0, path)
    with open(path, encoding="ascii") as f:
        return f.read()


def case_leaves(cwd):
    """What outlives the command runs on with its calls, and its pipe is nobody else's."""
    path = os.path.join(cwd, "left")
    done, seen, books = scoped("@open", [FILTERS, "leaves", path], cwd)
    bad = [] if done.returncode == 6 else [f"status {done.returncode}"]
    bad += live.books_of(books)
    if books["let_go"] != 1:
        bad.append(f"let go {books['let_go']}")
    if os.path.exists(path):
        bad.append("we waited for it")
    failed = wait_for(path)
    return bad + ([] if failed == "0\n" else [f"calls failed: {failed}"]) + ([] if seen["openat"][0] < 100 else ["all"])


def case_let_go(cwd):
    """Let go of in the middle, a command still ends as it would have."""
    path = os.path.join(cwd, "let-go")
    done, seen, books = scoped("@open", [FILTERS, "opens", path], cwd, options=["-l", "10"])
    bad = live.books_of(books)
    if done.returncode != 0 or books["let_go"] != 1:
        bad.append(f"status {done.returncode}, {books}")
    if not 10 <= seen["openat"][0] < 100:
        bad.append(f"{seen}")
    failed = wait_for(path)
    return bad + ([] if failed == "0\n" else [f"calls failed: {failed}"])


def keeper_of(pid):
    """The process that traces it."""
    return int(live.status(pid, "TracerPid"))


def running(cwd, argv):
    return subprocess.Popen([SCOPE, "@open", os.path.join(cwd, "scope.txt"), *argv], cwd=cwd, env=live.clean_env(),
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def case_we_are_killed(cwd):
    """As with any run: the command goes, at once and not half."""
    us = running(cwd, [FILTERS, "opens", os.path.join(cwd, "killed")])
    command = int(us.stdout.readline())
    us.kill()
    us.communicate(timeout=30)
    live.until(lambda: live.status(command, "State")[0] in "-ZX", "the command's end")
    return ["it ended by itself"] if os.path.exists(os.path.join(cwd, "killed")) else []


def case_keeper_is_killed(cwd):
    """With nobody to trace it the command ends, and that is no success."""
    us = running(cwd, [FILTERS, "opens", os.path.join(cwd, "killed")])
    command = int(us.stdout.readline())
    keeper = keeper_of(command)
    if keeper in (0, us.pid):
        return [f"traced by {keeper}"]
    os.kill(keeper, signal.SIGKILL)
    us.communicate(timeout=30)
    _, books = live.read_scope(os.path.join(cwd, "scope.txt"))
    live.until(lambda: live.status(command, "State")[0] in "-ZX", "the command's end")
    bad = [] if us.returncode == -signal.SIGKILL else [f"status {us.returncode}"]
    return bad + ([] if books["aborted"] else ["not told"])


def case_stopped(cwd):
    """A stop and its end by signals."""
    us = running(cwd, [FILTERS, "opens", os.path.join(cwd, "stopped")])
    command = int(us.stdout.readline())
    os.kill(command, signal.SIGSTOP)
    live.until(lambda: live.status(command, "State")[0] in "tT", "the stop")
    os.kill(command, signal.SIGCONT)
    us.communicate(timeout=30)
    return [] if us.returncode == 0 and wait_for(os.path.join(cwd, "stopped")) == "0\n" else [f"{us.returncode}"]


def case_unprivileged(cwd):
    """Without privileges the filter needs no_new_privs; that is said with a setuid program."""
    if os.geteuid() != 0:
        return []
    os.chmod(cwd, 0o777)
    user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all", "--bounding-set=-all"]
    done, seen, books = scoped("@open", ["cat", "/dev/null"], cwd, before=user)
    bad = [] if done.returncode == 0 and seen.get("openat", (0,))[0] > 0 else [f"{done.returncode} {done.stdout!r}"]
    if not books or books["met"] != 0:
        return bad + [f"{books}"]
    bad += [] if scoped("@open", ["grep", "NoNewPrivs:.1", "/proc/self/status"], cwd, before=user)[0].returncode == 0 \
        else ["no_new_privs was not needed"]
    program = os.path.join(cwd, "setuid")
    subprocess.run(["cp", "/usr/bin/id", program], check=True)
    os.chmod(program, 0o4755)
    _, _, books = scoped("@open", [program], cwd, before=user)
    os.unlink(program)
    return bad + ([] if books["met"] == SETUID | NO_NEW_PRIVS else [f"met {books['met']:#x}"])


def case_no_filter(cwd):
    """Where seccomp is refused all calls stop, and the counts are the same."""
    refuse = os.environ["SYSCULL_REFUSE"]
    program = ["ls", "-l", "d1k"]
    _, with_filter, _ = scoped("@open,@xattr", program, cwd)
    done, without, books = scoped("@open,@xattr", program, cwd, before=[refuse, "EPERM", "seccomp", "--"])
    bad = [] if done.returncode == 0 and books["met"] == NO_FILTER else [f"{done.returncode} {books}"]
    return bad + live.books_of(books) + ([] if with_filter == without else [f"{without}, not {with_filter}"])


def case_no_memory(cwd):
    """Without memory we stop counting, which is told, and the command ends as ever."""
    command = ["sh", "-c", "ls d1k | wc -l; (exit 4); echo err >&2; exit 5"]
    without = plain(command, cwd)
    bad, given_up = [], 0
    for after in (*range(0, 60, 2), 100, 200):
        env = live.clean_env(SYSCULL_FAIL_IN="live-scope", SYSCULL_FAIL_AFTER=str(after),
                             LD_PRELOAD=os.environ["SYSCULL_NO_MEMORY"])
        path = os.path.join(cwd, "scope.txt")
        done = subprocess.run([SCOPE, "@open,execve", path, *command], cwd=cwd, env=env, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60, check=False)
        if done.returncode == 125 and b"Cannot allocate memory" in done.stdout:
            continue
        if (done.returncode, done.stdout) != (without.returncode, without.stdout):
            bad.append(f"{after}: {done.returncode} {done.stdout!r}")
        given_up += live.read_scope(path)[1]["aborted"]
    return bad if given_up else bad + ["memory was never missed"]


def case_missing(cwd):
    """A program that cannot be executed."""
    path = os.path.join(cwd, "text")
    with open(path, "w", encoding="ascii") as f:
        f.write("#!/no/such/interpreter\n")
    os.chmod(path, 0o755)
    done, _, books = scoped("@open", [path], cwd)
    return [] if done.returncode == 125 and b"/no/such/interpreter" in done.stdout and not books else [f"{done.stdout!r}"]


def case_marks(cwd):
    """Look-ups of regions are seen, and are marks."""
    env = live.clean_env(SCOPE_REGIONS="1")
    path = os.path.join(cwd, "scope.txt")
    subprocess.run([SCOPE, "getppid", path, "sh", "-c", "test -e /.syscull/mark/a; test -e /nowhere; [ -e /.syscull/mark/b ]"],
                   cwd=cwd, env=env, stdin=subprocess.DEVNULL, check=False, timeout=60)
    seen, books = live.read_scope(path)
    looked = [name for name in ("newfstatat", "statx", "faccessat2", "faccessat") if name in seen]
    return live.books_of(books) + ([] if books["marks"] == 2 and looked else [f"{seen} {books}"])


if __name__ == "__main__":
    live.need_tracing()
    sys.exit(live.run_cases(globals(), live.workdir(files=20)))
