#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Commands and surroundings that do what no reasonable one does.

Nothing is lost that was seen (the books close), nothing hangs, and the
command ends as it does without us.

usage: hostile.py [CASE...]

SYSCULL_HOSTILE, SYSCULL_REFUSE are programs of tests/live/programs.
"""
import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import time

import live

HOSTILE = os.environ["SYSCULL_HOSTILE"]
REFUSE = os.environ["SYSCULL_REFUSE"]
NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
ODD = b"odd\x1b[31m\x1b]0;x\a\n\t\xc2\x9b\xff\xfe"
UNPRINTABLE = re.compile(rb"[\x00-\x09\x0b-\x1f\x7f-\xff]")


def plain(argv, cwd, **more):
    return subprocess.run(argv, cwd=cwd, env=live.clean_env(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, check=False, timeout=100, **more)


def same(words, cwd, options=()):
    """A word of live-hostile with and without us: (what differs, the report)."""
    alone = plain([HOSTILE, *words], cwd)
    done, report = live.syscull([HOSTILE, *words], cwd, options=options, timeout=100)
    return differences(alone, done, report), report


def differences(alone, done, report):
    bad = [f"{what}: {getattr(done, what)!r:.200} under us, {getattr(alone, what)!r:.200} without"
           for what in ("returncode", "stdout", "stderr") if getattr(done, what) != getattr(alone, what)]
    return bad + books(report)


def books(report):
    if not report.closed:
        return ["books are not closed:\n" + report.text]
    if sum(report.calls.values()) != report.total:
        return ["the table does not sum up:\n" + report.text]
    return []


def told(report, pattern):
    flat = " ".join(report.text.split())
    return [] if re.search(pattern, flat) else [f"{pattern!r} is not told:\n{report.text}"]


def only_root(name):
    if os.geteuid() == 0 and live.have("setpriv") and live.have("unshare"):
        return False
    print(f"{name}: only for root")
    return True


def for_nobody(cwd, *programs):
    """Copies that everybody can run: the command first."""
    os.chmod(cwd, 0o777)
    copies = []
    for program in (live.SYSCULL, *programs):
        copies.append(os.path.join(cwd, os.path.basename(program)))
        shutil.copy(program, copies[-1])
        os.chmod(copies[-1], 0o755)
    return copies


def case_closes_all(cwd):
    """It closes every descriptor, from 0 up and at once."""
    return same(["close-all"], cwd)[0]


def case_execs(cwd):
    """It executes itself 1,000 times."""
    bad, report = same(["exec-self", "1000"], cwd)
    if report.calls.get("execve") != 1001:
        bad.append(f"{report.calls.get('execve')} execve")
    return bad


def case_chain(cwd):
    """Each of 300 processes waits for the next."""
    bad, report = same(["chain", "300"], cwd)
    return bad + told(report, "301 processes")


def case_exit_race(cwd):
    """exit_group against fork and clone in other threads."""
    bad = []
    for _ in range(10):
        bad += same(["exit-race", "4"], cwd)[0]
    return bad


def case_vfork_killed(cwd):
    return same(["vfork-killed"], cwd)[0]


def case_storm(cwd):
    """A signal every millisecond."""
    bad, report = same(["storm"], cwd)
    if report.calls.get("rt_sigreturn", 0) < 100:
        bad.append(f"{report.calls.get('rt_sigreturn')} signals handled")
    return bad


def case_stops_itself(cwd):
    """It stops; a child of its own, traced as well, lets it go on."""
    return same(["stops-itself"], cwd)[0]


def case_stays_stopped(cwd):
    """Nobody lets it go on: CONT does, and two INT let go of it."""
    bad = []
    for by_interrupt in (False, True):
        us = subprocess.Popen([live.SYSCULL, "run", "-v", "-o", "report.txt", "--", HOSTILE, "stops-itself", "alone"],
                              cwd=cwd, env=live.clean_env(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        live.until(lambda pid=us.pid: stopped_child(pid), "stopping")
        pid = stopped_child(us.pid)
        if by_interrupt:
            us.send_signal(signal.SIGINT)
            time.sleep(0.3)
            if us.poll() is not None:
                bad.append("the first interrupt ended us")
            us.send_signal(signal.SIGINT)
            us.wait(30)
            wanted = -signal.SIGINT
            if live.status(pid, "TracerPid") not in "0-":
                bad.append("it is still held")
            if live.status(pid, "State")[0] not in "-Z":
                os.kill(pid, signal.SIGKILL)
        else:
            os.kill(pid, signal.SIGCONT)
            wanted = 3
        us.communicate(timeout=30)
        if us.returncode != wanted:
            bad.append(f"status {us.returncode}, not {wanted}")
        bad += books(live.read_report(os.path.join(cwd, "report.txt")))
    return bad


def children(pid):
    try:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as f:
            return [int(word) for word in f.read().split()]
    except OSError:
        return []


def stopped_child(pid):
    """The child that stopped itself.  A stop at a call is left at once: raise is
    the last call of its own, so that nothing changes any more."""
    for child in children(pid):
        before = live.status(child, "voluntary_ctxt_switches")
        time.sleep(0.1)
        if live.status(child, "Name") != "syscull" and live.status(child, "State")[0] in "tT" \
                and live.status(child, "voluntary_ctxt_switches") == before:
            return child
    return 0


def case_tracer(cwd):
    """A child that wants its parent for a tracer gets it, and that is told."""
    done, report = live.syscull([HOSTILE, "tracer"], cwd, timeout=100)
    bad = [] if (done.returncode, done.stdout) == (0, b"traced child: 13\n") else [f"{done.returncode} {done.stdout!r}"]
    return bad + books(report) + told(report, "was to be traced by its parent")


def case_wants_tracer(cwd):
    """The command itself: its parent is us, and it is told what it would be told."""
    done, report = live.syscull([HOSTILE, "wants-tracer"], cwd, timeout=100)
    bad = [] if (done.returncode, done.stdout) == (0, b"traced: 0\n") else [f"{done.returncode} {done.stdout!r}"]
    return bad + books(report) + ([] if report.calls.get("ptrace") == 1 else [f"{report.calls}"])


def case_task_limit(cwd):
    """Beyond the limit tasks run untraced and are counted; none is killed."""
    bad = []
    for words, status in ((["chain", "100"], 7), (["bomb", "7"], 0)):
        done, report = live.syscull([HOSTILE, *words], cwd, options=["--task-limit", "5"], timeout=100)
        if done.returncode != status or done.stderr:
            bad.append(f"{words[0]}: status {done.returncode}, said {done.stderr!r}")
        bad += books(report) + told(report, r"\d+ of \d+ children ran untraced")
    return bad


def case_bomb(cwd):
    """A fork bomb that only its limit of processes ends."""
    if only_root("bomb"):
        return []
    us, bomb = for_nobody(cwd, HOSTILE)
    bad = []
    for options in ([], ["--task-limit", "8"]):
        report = os.path.join(cwd, f"bomb{len(options)}")
        done = plain([*NOBODY, "prlimit", "--nproc=60", us, "run", "-v", "-o", report, *options, "--", bomb, "bomb"], cwd)
        if done.returncode != 0 or done.stderr:
            bad.append(f"status {done.returncode}, said {done.stderr!r}")
        text = live.read_report(report)
        bad += books(text)
        if not options and text.failed.get("clone", 0) == 0:
            bad.append("no fork was refused\n" + text.text)
    # Where not even the command itself can be made.
    done = plain(["prlimit", "--nproc=1", *NOBODY, us, "run", "--", "true"], cwd)
    if done.returncode != 125 or not re.fullmatch(rb"syscull: .*fork.*\n", done.stderr):
        bad.append(f"without a process: status {done.returncode}, said {done.stderr!r}")
    return bad


def case_paths(cwd):
    """100,000 distinct paths want no more memory than 2,000."""
    used = []
    for count in ("2000", "100000"):
        pid = os.spawnve(os.P_NOWAIT, live.SYSCULL, [live.SYSCULL, "run", "-v", "-o", os.path.join(cwd, "report.txt"), "--",
                                                    HOSTILE, "paths", count], live.clean_env())
        _, status, usage = os.wait4(pid, 0)
        used.append(usage.ru_maxrss)
        report = live.read_report(os.path.join(cwd, "report.txt"))
        bad = books(report)
        if status != 0 or report.calls.get("newfstatat", report.calls.get("stat", 0)) < int(count):
            bad.append(f"status {status}\n" + report.text)
        if bad:
            return bad
    return [] if used[1] < used[0] + 32768 else [f"{used[0]} KiB for 2,000, {used[1]} KiB for 100,000"]


def case_names(cwd):
    """Names of files, attributes, the program and itself that would steer a terminal."""
    folder = os.path.join(os.fsencode(cwd), ODD)
    os.mkdir(folder)
    program = os.path.join(folder, ODD)
    shutil.copy(HOSTILE, program)
    done = subprocess.run([live.SYSCULL, "run", "-v", "--format", "text=text", "--format", "json=json", "--", program,
                           b"names", ODD, b"\xf0\x9f", b""], cwd=folder, env=live.clean_env(), capture_output=True,
                          check=False, timeout=100)
    bad = [] if (done.returncode, done.stderr) == (0, b"") else [f"status {done.returncode}, said {done.stderr!r}"]
    with open(os.path.join(folder, b"text"), "rb") as f:
        text = f.read()
    with open(os.path.join(folder, b"json"), "rb") as f:
        data = json.loads(f.read().decode("utf-8"))
    bad += [f"a line that is not clean: {line!r}" for line in text.splitlines() if UNPRINTABLE.search(line)]
    bad += [f"a line of {len(line)}" for line in text.splitlines() if len(line) > 80]
    finding = [one for one in data["findings"] if one["rule"] == "xattr-probe"]
    if not finding or finding[0]["calls"] < 400:
        bad.append("the look-ups are not found\n" + text.decode(errors="replace"))
    if data["command"][1] != "names" or "b64" not in data["command"][2] or data["command"][4] != "":
        bad.append(f"the command is {data['command']}")
    if "b64" not in data["processes"][0]["exe"] or not data["accounting"]["closed"]:
        bad.append(f"{data['processes'][0]['exe']} {data['accounting']}")
    return bad


def case_random_kills(cwd):
    """200 kills of random tasks in a busy tree."""
    shots = random.Random(int(os.environ.get("SYSCULL_SEED", "1")))
    us = subprocess.Popen([live.SYSCULL, "run", "-v", "-o", "report.txt", "--", HOSTILE, "busy-tree", "6"], cwd=cwd,
                          env=live.clean_env(), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    us.stdout.readline()
    root = children(us.pid)[0]
    killed = 0
    end = time.monotonic() + 60
    while killed < 200 and time.monotonic() < end:
        workers = children(root)
        targets = [pid for worker in workers for pid in children(worker)]
        # A worker now and then, as long as there are some.
        if len(workers) > 2 and shots.random() < 0.02:
            targets = workers
        if not targets:
            continue
        try:
            os.kill(shots.choice(targets), signal.SIGKILL)
            killed += 1
        except ProcessLookupError:
            pass
    us.communicate(timeout=60)
    bad = [] if us.returncode == 6 else [f"status {us.returncode}"]
    if killed < 50:
        bad.append(f"only {killed} kills")
    return bad + books(live.read_report(os.path.join(cwd, "report.txt")))


def case_killed_midway(cwd):
    """The command is killed from outside in the middle of whatever it does."""
    shots = random.Random(int(os.environ.get("SYSCULL_SEED", "1")))
    bad = []
    for words in (["exec-self", "1000000"], ["exit-race", "100000"], ["chain", "100000"], ["storm"]) * 8:
        us = subprocess.Popen([live.SYSCULL, "run", "-v", "-o", "report.txt", "--", HOSTILE, *words], cwd=cwd,
                              env=live.clean_env(), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              start_new_session=True)
        live.until(lambda pid=us.pid: children(pid), "starting")
        root = children(us.pid)[0]
        time.sleep(shots.random() * 0.05)
        try:
            os.kill(root, signal.SIGKILL)
        except ProcessLookupError:
            pass
        us.communicate(timeout=60)
        try:
            os.killpg(us.pid, signal.SIGKILL)  # an orphan of the chain, let go, goes on making others
        except ProcessLookupError:
            pass
        if us.returncode != -signal.SIGKILL:
            bad.append(f"{words}: status {us.returncode}")
        bad += books(live.read_report(os.path.join(cwd, "report.txt")))
    return bad


def case_chroot(cwd):
    """A command that goes where there is no /proc and no library of ours."""
    if only_root("chroot"):
        return []
    root = os.path.join(cwd, "root")
    os.mkdir(root)
    shutil.copy(HOSTILE, os.path.join(root, "hostile"))
    for path in re.findall(r"(/\S+) \(", subprocess.run(["ldd", HOSTILE], capture_output=True, text=True,
                                                        check=True).stdout):
        os.makedirs(root + os.path.dirname(path), exist_ok=True)
        shutil.copy(path, root + path)
    bad = []
    for words in (["names"], ["chain", "3"], ["exec-self", "0"]):
        command = ["chroot", root, "/hostile", *words]
        done, report = live.syscull(command, cwd, timeout=100)
        bad += differences(plain(command, cwd), done, report)
    return bad


def case_namespaces(cwd):
    """Without /proc, in a pid namespace with ours or another's /proc, with one inside."""
    if only_root("namespaces"):
        return []
    work = ["sh", "-c", f"ls /etc/passwd; '{HOSTILE}' chain 3; exit 8"]
    us = [live.SYSCULL, "run", "-v", "-o", "report.txt", "--"]
    bad = []
    for before, after, note in (
            (["unshare", "-m", "sh", "-c", 'umount -l /proc && exec "$@"', "sh"], [], "/proc is not mounted"),
            (["unshare", "-pf"], [], "/proc is not mounted"),
            (["unshare", "-pf", "--mount-proc"], [], "Books closed"),
            ([], ["unshare", "-pf", "--mount-proc"], "Books closed"),
            (["unshare", "-pf", "--mount-proc"], ["unshare", "-pf", "--mount-proc"], "Books closed"),
            (["unshare", "-Ur"], [], "Books closed")):
        if plain([*before, *after, "true"], cwd).returncode != 0:
            print(f"namespaces: {before} {after} does not work here")
            continue
        report = os.path.join(cwd, "report.txt")
        if os.path.exists(report):
            os.unlink(report)
        done = plain([*before, *us, *after, *work], cwd)
        wrong = differences(plain(work, cwd), done, live.read_report(report))
        bad += [f"{before} {after}: {one}" for one in wrong + told(live.read_report(report), note)]
    return bad


def case_too_long(cwd):
    """A script whose first line makes the arguments too long for the kernel."""
    script = os.path.join(cwd, "script")
    with open(script, "w", encoding="ascii") as f:
        f.write("#!/bin/sh " + "x" * 200 + "\n")
    os.chmod(script, 0o755)
    words = ["y" * 100000] * 15

    def run(last):
        try:
            done = plain([live.SYSCULL, "run", "-q", "--", script, *words, "z" * last], cwd)
        except OSError:
            return None
        # The wrapper that names the engine has a few words more to hand on.
        return None if done.stderr.endswith(b"/syscull: Argument list too long\n") else done

    resource.setrlimit(resource.RLIMIT_STACK, (8 << 20, resource.getrlimit(resource.RLIMIT_STACK)[1]))
    while run(0) is not None:
        words += words[:5]
        if len(words) > 200:
            return ["no limit found"]
    del words[-5:]
    while run(0) is None:
        words.pop()
    low, high = 0, 130000
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if run(middle) is None else (middle, high)
    done = run(low)
    if done.returncode == 126 and re.fullmatch(rb"syscull: .*script: [Aa]rgument list too long\n", done.stderr):
        return []
    return [f"status {done.returncode}, said {done.stderr!r:.300}"]


def case_being_written(cwd):
    """A program that somebody is writing: 126, as a shell has it."""
    program = os.path.join(cwd, "busy")
    shutil.copy("/bin/true", program)
    with open(program, "r+b"):
        done = plain([live.SYSCULL, "run", "--", program], cwd)
    if done.returncode != 126 or not re.fullmatch(rb"syscull: .*[Tt]ext file busy\n", done.stderr):
        return [f"status {done.returncode}, said {done.stderr!r}"]
    return []


def case_whole_reports(cwd):
    """We are killed at any moment: the report is the old one or the new one."""
    shots = random.Random(int(os.environ.get("SYSCULL_SEED", "1")))
    path = os.path.join(cwd, "report.txt")
    bad = []
    for _ in range(40):
        with open(path, "w", encoding="ascii") as f:
            f.write("old\n")
        us = subprocess.Popen([live.SYSCULL, "run", "-v", "-o", path, "--", "true"], cwd=cwd, env=live.clean_env(),
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(shots.random() * 0.02)
        us.kill()
        us.wait()
        with open(path, encoding="ascii") as f:
            text = f.read()
        if text != "old\n" and not (re.search(r"^Books\s+closed", text, re.M) and text.endswith("\n")):
            bad.append(f"torn: {text!r}")
    return bad


# What a container's profile may forbid besides ptrace: all works without.
REFUSED = ["kcmp", "sched_setaffinity", "sched_getaffinity", "memfd_create", "setitimer", "epoll_create1", "socket",
           "prlimit64", "pidfd_open", "getxattr", "process_vm_readv", "process_vm_readv,process_vm_writev"]


def case_profiles(cwd):
    """Calls that we make are refused one by one."""
    alone = plain(["ls", "d1k"], cwd)
    bad = []
    for calls in REFUSED:
        for error in ("EPERM", "ENOSYS"):
            done, report = live.syscull(["ls", "d1k"], cwd, before=[REFUSE, error, calls, "--"], timeout=100)
            if done.returncode == 77:
                print("profiles: no seccomp here")
                return []
            bad += [f"{calls} {error}: {one}" for one in differences(alone, done, report)]
            if not re.search(r"[\d,]+ calls", report.text):
                bad.append(f"{calls} {error}: no report")
    return bad


def evidence(cwd, before, argv):
    subprocess.run([*before, live.SYSCULL, "run", "--format", "json=report.json", "--pin=never", "--", *argv], cwd=cwd,
                   env=live.clean_env(), stdout=subprocess.DEVNULL, check=True, timeout=100)
    with open(os.path.join(cwd, "report.json"), encoding="utf-8") as f:
        data = json.load(f)
    calls = {call["name"]: (call["count"], call["errors"]) for call in data["calls"]}
    # Word by word less of the stack is copied: who called libc is in both.
    findings = [(one["rule"], one["calls"], one["object"], one["samples"],
                 [(site["count"], site["frames"][:(site["caller"] or 0) + 1]) for site in one["call_sites"]])
                for one in data["findings"]]
    return calls, findings


def case_word_by_word(cwd):
    """Memory read by PEEKDATA: the same counts, the same evidence."""
    for argv in (["ls", "-l", "d1k"], ["find", "d1k", "-ls"]):
        fast = evidence(cwd, [], argv)
        slow = evidence(cwd, [REFUSE, "EPERM", "process_vm_readv,process_vm_writev", "--"], argv)
        if fast != slow or not fast[1]:
            return [f"{argv[0]}: {fast!r}\n{slow!r}"]
    return []


SETTINGS = ("docker run --cap-add=SYS_PTRACE", "podman run --cap-add=SYS_PTRACE",
            "securityContext: {capabilities: {add: [SYS_PTRACE]}}")


def case_no_ptrace(cwd):
    """A profile forbids ptrace: run and doctor say which setting allows it; nothing ran."""
    bad = []
    for error in ("EPERM", "ENOSYS", "EACCES"):
        doctor = plain([REFUSE, error, "ptrace", "--", live.SYSCULL, "doctor"], cwd)
        run = plain([REFUSE, error, "ptrace", "--", live.SYSCULL, "run", "-o", "none", "--", "touch", "ran"], cwd)
        if doctor.returncode == 77:
            print("no-ptrace: no seccomp here")
            return []
        if (doctor.returncode, run.returncode) != (1, 125):
            bad.append(f"{error}: status {doctor.returncode}, {run.returncode}")
        if b"NOT USABLE: ptrace is refused by a seccomp profile" not in doctor.stdout:
            bad.append(f"doctor says {doctor.stdout!r}")
        bad += [f"{error}: {setting!r} is not in {text!r}" for setting in SETTINGS for text in
                (doctor.stdout.decode(), run.stderr.decode()) if setting not in text]
        if run.stderr.count(b"\n") != 1 or b"syscull doctor" not in run.stderr:
            bad.append(f"run says {run.stderr!r}")
    return bad + [f"{name} is there" for name in ("ran", "none") if os.path.exists(os.path.join(cwd, name))]


def case_yama(cwd):
    """What is said where Yama forbids it, by a file that stands for its setting."""
    if only_root("yama"):
        return []
    us, refuse = for_nobody(cwd, REFUSE)
    setting = os.path.join(cwd, "scope")
    before = [*NOBODY, "env", "SYSCULL_TEST_YAMA=" + setting, refuse, "EPERM", "ptrace", "--", us]
    bad = []
    for scope, run, attach in (
            ("1", "docker run", "run as root, or as root: sysctl -w kernel.yama.ptrace_scope=0"),
            ("2", "run as root, or as root: sysctl -w kernel.yama.ptrace_scope=1", "kernel.yama.ptrace_scope=0"),
            ("3", "until the next boot: take kernel.yama.ptrace_scope=3 out of /etc/sysctl", "until the next boot")):
        with open(setting, "w", encoding="ascii") as f:
            f.write(scope + "\n")
        for words, wanted, status in ((["run", "--", "true"], run, 125), (["run", "-p", "1"], attach, 125),
                                      (["doctor"], run, 1)):
            done = plain([*before, *words], cwd)
            text = " ".join((done.stdout + done.stderr).decode().split())
            if wanted not in text or done.returncode != status or (scope > "1") != ("scope is " + scope in text):
                if not (scope == "1" and words[-1] == "1" and "scope is 1" in text and wanted in text):
                    bad.append(f"{scope}, {words}: status {done.returncode}, {text}")
    return bad


def main():
    live.need_tracing()
    sys.exit(live.run_cases(globals(), live.workdir(files=150)))


main()
