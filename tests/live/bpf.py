#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The bpf engine by itself: against the ptrace engine, for programs that
always do the same; large trees; and its books when all goes wrong.

usage: bpf.py [CASE...]

SYSCULL is the command; --engine is given here.
"""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time

import live

BEHAVE, FOREST, THREADS = (os.environ.get(name, "") for name in ("SYSCULL_BEHAVE", "SYSCULL_FOREST", "SYSCULL_THREADS"))
# Makes 2 x 60,000 calls beside those of its start, whatever the machine.
LOOP = ["dd", "if=/dev/zero", "of=/dev/null", "bs=1", "count=60000", "status=none"]
SAME = {
    "true": ["true"],
    "ls": ["ls", "-l", "d1k"],
    "find": ["find", "d1k", "-newer", "/etc/passwd"],
    "tar": ["tar", "cf", "/dev/null", "d1k"],
    "shell": ["sh", "-c", "ls d1k; (exit 3); nosuch; cat d1k/f1"],
    "subshells": ["sh", "-c", "for i in 1 2 3 4 5; do x=$(echo $i | tr 1-9 a-i); done"],
    "perl": ["perl", "-e", 'exec "sh", "-c", "exit 3"'],
    "python": [live.PYTHON, "-c", "import subprocess; subprocess.run(['true']); subprocess.run(['false'])"],
    "script": ["./plain", "a"],
    "missing": ["sh", "-c", "./missing; /etc/passwd"],
    "vfork": [BEHAVE, "vfork"],
    "spawn": [BEHAVE, "spawn"],
    "thread-exec": [BEHAVE, "thread-exec"],
    "leader-exits": [BEHAVE, "leader-exits"],
    "seccomp-refuses": [BEHAVE, "seccomp-refuses"],
    "seccomp-kills": [BEHAVE, "seccomp-kills"],
    "unknown-calls": [BEHAVE, "unknown-calls"],
    "int80": [BEHAVE, "int80"],
    "attributes": [BEHAVE, "attributes"],
    "fault": [BEHAVE, "fault"],
    "threads": [THREADS],
    "unshare": ["unshare", "-m", "sh", "-c", "mount -t tmpfs none d1k && ls d1k; umount d1k"],
    "long-paths": ["sh", "-c", "cat " + "x" * 200 + "/" * 3700 + "y; cat " + "z" * 5000],
}
# How often depends on who comes first.
VARIES = {"futex", "sched_yield", "restart_syscall", "rt_sigreturn", "madvise", "munmap", "mprotect", "mmap", "brk", "rt_sigprocmask",
          "pause", "rseq", "set_robust_list"}


def run(argv, cwd, engine, *options, faults="", **more):
    """(result, what was printed, status)"""
    path = os.path.join(cwd, "result.json")
    if os.path.exists(path):
        os.unlink(path)
    done = subprocess.run([live.SYSCULL, "run", "--engine", engine, "--no-keep", "--format", "json=" + path, *options, "--", *argv],
                          cwd=cwd, env=live.clean_env(SYSCULL_TEST_BPF=faults), stdin=subprocess.DEVNULL,
                          capture_output=True, check=False, timeout=200, **more)
    return read(path), done.stdout, done.returncode


def read(path):
    with open(path, encoding="utf-8") as f:
        return json.load(f)


def calls(result):
    """{name: (count, {errno: count})}"""
    return {call["name"]: (call["count"], json.dumps(call.get("errors", call.get("failed")), sort_keys=True))
            for call in result["calls"]}


def counts(result):
    return {call["name"]: call["count"] for call in result["calls"]}


def findings(result):
    return sorted((finding["rule"], finding["tier"]) for finding in result["findings"])


def processes(result):
    return result["accounting"]["processes"], result["accounting"]["tasks"]


def differences(one, other):
    return [f"{name}: {one.get(name)} and {other.get(name)}" for name in sorted(set(one) | set(other))
            if one.get(name) != other.get(name)]


def unclosed(result):
    books = result["accounting"]
    return [] if books["closed"] and books["complete"] else [f"books: {books}"]


def case_same(cwd):
    """The same calls by name and errno, the same processes, the same findings."""
    bad = []
    with open(os.path.join(cwd, "plain"), "w", encoding="ascii") as script:
        script.write("echo plain \"$@\"\n")
    os.chmod(os.path.join(cwd, "plain"), 0o755)
    for name, argv in SAME.items():
        if name == "unshare" and os.geteuid() != 0:
            continue
        theirs, out, status = run(argv, cwd, "ptrace")
        ours, our_out, our_status = run(argv, cwd, "bpf")
        wrong = differences(calls(theirs), calls(ours)) + unclosed(ours)
        if name in ("threads", "thread-exec", "leader-exits", "python"):
            wrong = [text for text in wrong if text.split(":")[0] not in VARIES]
        if name == "subshells":
            # Two children that end at once are one signal.
            wrong = [text for text in wrong if text.split(":")[0] != "rt_sigreturn"]
        if (out, status) != (our_out, our_status):
            wrong.append(f"{status} {out!r} and {our_status} {our_out!r}")
        if processes(theirs) != processes(ours):
            wrong.append(f"processes and tasks {processes(theirs)} and {processes(ours)}")
        if findings(theirs) != findings(ours):
            wrong.append(f"findings {findings(theirs)} and {findings(ours)}")
        bad += [f"{name}: {text}" for text in wrong]
    return bad


def case_short(cwd):
    """Nobody can look at what is gone: what was executed is known all the same."""
    bad = []
    for _ in range(20):
        result, _, status = run(["sh", "-c", "true; /bin/true one; exec env A=1 true two"], cwd, "bpf")
        names = [process["exe"] for process in result["processes"]]
        argvs = [process.get("argv") for process in result["processes"]]
        if status != 0 or unclosed(result) or not any(name.endswith("/true") for name in names):
            bad.append(f"status {status}, {names} {argvs} {unclosed(result)}")
    return bad


def case_forest(cwd):
    """Twenty thousand processes, one after the other, with grandchildren."""
    result, out, status = run([FOREST, "16000"], cwd, "bpf", "--task-limit", "1000000")
    books = result["accounting"]
    made = int(out)
    bad = unclosed(result) + ([] if status == 0 else [f"status {status}"])
    if made < 20000 or books["processes"] != made + 1:
        bad.append(f"{made} made, {books['processes']} seen")
    if sum(counts(result).get(name, 0) for name in ("fork", "vfork", "clone", "clone3")) != made:
        bad.append(f"{made} made by {counts(result)}")
    return bad


def full_counts(cwd):
    result, _, _ = run(LOOP, cwd, "bpf")
    return counts(result), result


def case_small_ring(cwd):
    """A ring of one page: most is lost, the counts by call are right, and what was lost is named."""
    right, whole = full_counts(cwd)
    bad = unclosed(whole)
    for faults in ("", "lost=1"):
        result, _, status = run(LOOP, cwd, "bpf", "--ring", "4K", faults=faults)
        books, lost = result["accounting"], result["lost_by_call"]
        bad += differences(right, counts(result))
        if status != 0 or not books["closed"] or books["complete"] or books["lost"] == 0:
            bad.append(f"{faults}: status {status}, {books}")
        if sum(row["count"] for row in lost) != books["lost"] or {"read", "write"} - {row["name"] for row in lost}:
            bad.append(f"{faults}: lost {lost}")
        if not 0 <= books["lost_from_ns"] <= books["lost_to_ns"] <= result["wall_ns"]:
            bad.append(f"{faults}: {books}")
    return bad


def rings_made(cwd, *command):
    """The sizes of the rings that a run made, first the one that it begins with."""
    log = os.path.join(cwd, "bpf.log")
    subprocess.run(["strace", "-f", "-qq", "-e", "trace=bpf", "--seccomp-bpf", "-o", log, live.SYSCULL, "run", "--engine", "bpf", "--no-keep",
                    "-q", "--", *command], cwd=cwd, env=live.clean_env(), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, check=False, timeout=200)
    with open(log, encoding="utf-8") as f:
        found = re.findall(r'BPF_MAP_TYPE_RINGBUF.*max_entries=(\d+).*map_name="ring"', f.read())
    return [int(size) for size in found]


def case_growing_ring(cwd):
    """A run begins with a small ring and gets the whole one when it makes many calls; nothing is missing or told out of order."""
    bad = []
    if shutil.which("strace"):
        for command, wanted in ((["true"], [16 << 20]), (LOOP, [16 << 20, 32 << 20])):
            made = rings_made(cwd, *command)
            if made != wanted:
                bad.append(f"{command[0]}: rings of {made}")
    right, _ = full_counts(cwd)
    result, _, _ = run(LOOP, cwd, "bpf", faults="first=131072")
    bad += differences(right, counts(result))
    if not result["accounting"]["closed"]:
        bad.append(f"{result['accounting']}")
    # Both rings in use while tasks come and go; the first one has room for all of it.
    for turn in range(3):
        result, out, _ = run([FOREST, "1500"], cwd, "bpf", "--task-limit", "1000000", faults="first=1048576")
        books = result["accounting"]
        if not books["complete"] or books["processes"] != int(out) + 1:
            bad.append(f"turn {turn}: {out.strip()} made, {books}")
    return bad


def case_refused(cwd):
    """Whatever the kernel has against the programs, as one before 5.13 has: auto takes the other engine and says why."""
    bad = []
    for number, text in ((22, "Invalid argument"), (12, "Cannot allocate memory"), (1, "bpf(2) is refused")):
        result, _, status = run(["true"], cwd, "auto", faults=f"refused={number}")
        if status != 0 or result["engine"]["name"] != "ptrace" or text not in result["engine"]["why"] or unclosed(result):
            bad.append(f"{number}: {status} {result['engine']}")
        alone = subprocess.run([live.SYSCULL, "run", "--engine", "bpf", "--no-keep", "--", "true"], cwd=cwd, check=False, timeout=60,
                               env=live.clean_env(SYSCULL_TEST_BPF=f"refused={number}"), stdin=subprocess.DEVNULL, capture_output=True)
        if alone.returncode != 125 or text not in alone.stderr.decode():
            bad.append(f"{number}: {alone}")
    return bad


def case_registers(cwd):
    """Each of the ways to a call's registers finds the same six arguments; one that the kernel refuses is not taken."""
    program = ("import ctypes\nlibc = ctypes.CDLL(None)\n"
               "libc.mmap(*map(ctypes.c_long, (0x10000, 0x3000, 1, 2, 999, 0x7000)))")
    trace, bad, lines = os.path.join(cwd, "trace"), [], set()
    for faults in ("", "registers=1", "registers=2", "registers=3", "cast=1"):
        done = subprocess.run([live.SYSCULL, "record", "--engine", "bpf", "-o", trace, "--", live.PYTHON, "-c", program],
                              cwd=cwd, env=live.clean_env(SYSCULL_TEST_BPF=faults), stdin=subprocess.DEVNULL,
                              capture_output=True, check=False, timeout=60)
        shown = subprocess.run([live.SYSCULL, "show", trace], env=live.clean_env(), capture_output=True, text=True, check=False).stdout
        found = re.findall(r"mmap\((0x10000, .*999, .*)$", shown, re.M)
        if done.returncode != 0 or len(found) != 1:
            bad.append(f"{faults}: {done.returncode} {done.stderr} {found}")
        lines.update(re.sub(r" <[0-9.]+>$", "", line) for line in found)
        os.unlink(trace)
    if len(lines) != 1 or not re.search(r"0x10000, (0x3000|12288), .*READ, .*PRIVATE, 999, (28672|0x7000)\)", "".join(lines)):
        bad.append(f"{lines}")
    return bad


def case_failed_calls(cwd):
    """Failures that were lost are known by errno while there is room, then by failure alone."""
    program = "import os\nfor i in range(40000):\n try: os.close(900)\n except OSError: pass\n"
    bad = []
    for faults, known in (("", "EBADF"), ("lost=1", None)):
        result, _, _ = run([live.PYTHON, "-c", program], cwd, "bpf", "--ring", "4K", faults=faults)
        close = next(call for call in result["calls"] if call["name"] == "close")
        if close["count"] < 40000 or (known and close["errors"].get(known, 0) < 40000):
            bad.append(f"{faults}: {close}")
        rows = [row for row in result["lost_by_call"] if row["name"] == "close" and row["failed"]]
        if not rows or (known and any(row["errno"] != known for row in rows)):
            bad.append(f"{faults}: {rows}")
    return bad


def case_stopped_reader(cwd):
    """We are stopped for a while: nothing waits for us, and nothing is miscounted."""
    right, _ = full_counts(cwd)
    path = os.path.join(cwd, "stopped.json")
    us = subprocess.Popen([live.SYSCULL, "run", "--engine", "bpf", "--no-keep", "--ring", "64K", "--format", "json=" + path, "--", "sh", "-c",
                           'echo; read x; exec "$@"', "sh", *LOOP], cwd=cwd, env=live.clean_env(),
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    us.stdout.readline()
    us.send_signal(signal.SIGSTOP)
    us.stdin.write(b"go\n")
    us.stdin.close()
    # Its command ends while we stand still.
    live.until(lambda: all(live.status(pid, "State")[0] in "Z-" for pid in children(us.pid)), "the command's end")
    us.send_signal(signal.SIGCONT)
    us.stdout.read()
    bad = [] if us.wait(timeout=60) == 0 else [f"status {us.returncode}"]
    result = read(path)
    books = result["accounting"]
    if not books["closed"] or books["lost"] == 0:
        bad.append(f"{books}")
    # The shell before it made calls as well.
    bad += [f"{name}: {counts(result).get(name)}, {right[name]} alone" for name in ("write", "lseek")
            if counts(result).get(name, 0) < right[name]]
    for name, least in (("read", 60000), ("write", 60000)):
        if not least <= counts(result).get(name, 0) <= least + 40:
            bad.append(f"{name}: {counts(result).get(name)}")
    return bad


def children(pid):
    try:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as f:
            return [int(word) for word in f.read().split()]
    except OSError:
        return []


def case_hogs(cwd):
    """Four programs that want all CPUs: counts are right, lost or not."""
    right, _ = full_counts(cwd)
    hogs = [subprocess.Popen(["timeout", "60", "sh", "-c", "while :; do :; done"]) for _ in range(4)]
    try:
        result, _, status = run(LOOP, cwd, "bpf")
    finally:
        for hog in hogs:
            hog.terminate()
            hog.wait()
    bad = differences(right, counts(result)) + ([] if status == 0 else [f"status {status}"])
    return bad + ([] if result["accounting"]["closed"] else [f"{result['accounting']}"])


def case_failed_storage(cwd):
    """A task that cannot be followed for want of memory opens the books."""
    result, _, status = run(["sh", "-c", "for i in 1 2 3 4 5 6 7 8; do (exit 0); done"], cwd, "bpf", faults="storage=3")
    books = result["accounting"]
    return [] if status == 0 and not books["closed"] and books["why"] else [f"status {status}, {books}"]


def case_user(cwd):
    """Root can run a command as somebody else, with that one's groups and nothing of root's."""
    if os.geteuid() != 0:
        print("user: only for root")
        return []
    # The report is written as that user too.
    os.chmod(cwd, 0o777)
    script = "id -u; id -g; id -G; grep -E '^(Cap|NoNewPrivs)' /proc/self/status"
    _, out, status = run(["sh", "-c", script], cwd, "bpf", "--user", "nobody")
    plain = subprocess.run(["setpriv", "--reuid=nobody", "--regid=nogroup", "--init-groups", "sh", "-c", script],
                           capture_output=True, check=False)
    bad = [] if (out, status) == (plain.stdout, 0) else [f"{status} {out!r}, {plain.stdout!r} by setpriv"]
    done = subprocess.run([live.SYSCULL, "run", "--user", "no such user", "--", "true"], capture_output=True, check=False)
    if done.returncode != 125 or b"there is no user" not in done.stderr:
        bad.append(f"{done}")
    return bad


SERVER = """
import os, threading, sys
def work():
    while not done.is_set():
        os.stat("/")
        done.wait(0.005)
done = threading.Event()
threads = [threading.Thread(target=work) for _ in range(3)]
[t.start() for t in threads]
print("ready", flush=True)
for line in sys.stdin:
    word = line.strip()
    if word == "calls":
        for i in range(1000): os.getppid()
    elif word == "thread":
        t = threading.Thread(target=lambda: [os.getppid() for i in range(500)]); t.start(); t.join()
    elif word == "child":
        os.waitpid(os.posix_spawn("/bin/true", ["true"], {}), 0)
    elif word == "end":
        done.set(); [t.join() for t in threads]; sys.exit(7)
    print("done", flush=True)
"""


def case_attach(cwd):
    """-p: all threads, those that come later, children, and the end; the process notices nothing."""
    server = subprocess.Popen([live.PYTHON, "-c", SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    server.stdout.readline()
    path = os.path.join(cwd, "attach.json")
    us = subprocess.Popen([live.SYSCULL, "run", "--engine", "bpf", "--no-keep", "--format", "json=" + path, "-p", str(server.pid)],
                          cwd=cwd, env=live.clean_env(), stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    live.until(lambda: live.attached(us, [server.pid]), "attaching")
    time.sleep(0.5)
    bad = []
    for word in ("calls", "thread", "child", "calls"):
        server.stdin.write(word + "\n")
        server.stdin.flush()
        if server.stdout.readline() != "done\n":
            bad.append(f"no answer to {word}")
    server.stdin.write("end\n")
    server.stdin.close()
    if server.wait(timeout=30) != 7:
        bad.append(f"it ended with {server.returncode}")
    if us.wait(timeout=30) != 0:
        bad.append(f"we ended with {us.returncode}")
    result = read(path)
    if counts(result).get("getppid") != 2500:
        bad.append(f"{counts(result).get('getppid')} getppid of 2500")
    if not {"execve", "exit_group"} <= set(counts(result)) or result["accounting"]["tasks"] < 6:
        bad.append(f"{counts(result)} {result['accounting']}")
    return bad + unclosed(result)


def case_let_go(cwd):
    """INT ends the watching of what goes on."""
    server = subprocess.Popen([live.PYTHON, "-c", SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    server.stdout.readline()
    path = os.path.join(cwd, "let-go.json")
    us = subprocess.Popen([live.SYSCULL, "run", "--engine", "bpf", "--no-keep", "--format", "json=" + path, "-p", str(server.pid)],
                          cwd=cwd, env=live.clean_env(), stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    live.until(lambda: live.attached(us, [server.pid]), "attaching")
    time.sleep(0.5)
    us.send_signal(signal.SIGINT)
    bad = [] if us.wait(timeout=30) == 0 else [f"status {us.returncode}"]
    server.stdin.write("calls\nend\n")
    server.stdin.close()
    bad += [] if server.wait(timeout=30) == 7 else [f"it ended with {server.returncode}"]
    books = read(path)["accounting"]
    if books["let_go"] != 4 or not books["closed"] or books["in_flight"] == 0:
        bad.append(f"{books}")
    return bad


def usable():
    text = subprocess.run([live.SYSCULL, "doctor"], capture_output=True, text=True, check=False).stdout
    line = re.search(r"^bpf +(.*)$", text, re.M)
    return line and line.group(1).startswith("ok")


if __name__ == "__main__":
    if not usable():
        live.skip("the bpf engine cannot be used here")
    sys.exit(live.run_cases(globals(), live.workdir()))
