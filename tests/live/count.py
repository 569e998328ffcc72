#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Counting in the kernel: against perf's count of the same run, against the
engine that tells of every call, of what runs already, of cgroups and of the
whole machine, and what it says when its tables are full.

usage: count.py [CASE...]
"""
import json
import os
import shutil
import signal
import subprocess
import sys
import time

import bpf
import live

BEHAVE, FOREST, THREADS = bpf.BEHAVE, bpf.FOREST, bpf.THREADS
# perf sees them leave under another number, twice, or never.
BY_ENTER = {"exit", "exit_group", "rt_sigreturn", "fork", "vfork", "clone", "clone3"}
# So many getppid in each of so many threads and children, when a line comes in.
WORKER = """
import os, subprocess, sys, threading
many = int(sys.argv[1])
def work():
    for _ in range(many): os.getppid()
def wait_and_work():
    go.wait(); work()
go = threading.Event()
threads = [threading.Thread(target=wait_and_work) for _ in range(3)]
for thread in threads: thread.start()
print("ready", flush=True)
sys.stdin.readline()
go.set()
late = threading.Thread(target=work)
late.start()
for thread in [*threads, late]: thread.join()
for _ in range(2):
    if os.fork() == 0:
        work(); os._exit(0)
    os.wait()
print("done", flush=True)
sys.stdin.readline()
"""
MANY = 5000
WORKED = MANY * 6


def count(argv, cwd, *options, **more):
    return bpf.run(argv, cwd, "bpf", "--count", *options, **more)


def sums_of(result):
    """Numbers that have to be the same wherever they stand."""
    bad = bpf.unclosed(result)
    books = result["accounting"]
    if sum(bpf.counts(result).values()) != books["seen"]:
        bad.append(f"the table sums to {sum(bpf.counts(result).values())}, seen are {books['seen']}")
    for part in result["by_exe"] + result["by_cgroup"]:
        if sum(call["count"] for call in part["calls"]) != part["count"]:
            bad.append(f"{part.get('exe', part.get('cgroup'))}: calls do not sum to {part['count']}")
    if sum(part["count"] for part in result["by_exe"]) + books["by_number_only"] != books["seen"]:
        bad.append("programs do not sum to what was seen")
    for call in result["calls"]:
        if sum(call["errors"].values()) + books["without_errno"] + books["by_number_only"] < call["failed"]:
            bad.append(f"errors are missing: {call}")
        if call["timed"] > call["count"]:
            bad.append(f"more timed than counted: {call}")
        if call["timed"] and not call["p50_ns"] <= call["p99_ns"] <= call["max_ns"]:
            bad.append(f"no order: {call}")
        if call["source"] == "measured" and call["max_ns"] > call["time_ns"]:
            bad.append(f"one took longer than all: {call}")
    return bad


def case_observed(cwd):
    """perf counts in the kernel too: equal, call by call."""
    if not shutil.which("perf"):
        live.skip("no perf")
    probe = subprocess.run(["perf", "stat", "-e", "raw_syscalls:sys_exit", "true"], capture_output=True, check=False)
    if probe.returncode != 0 or b"not supported" in probe.stderr:
        live.skip("perf cannot count raw_syscalls here")
    table = observer_numbers()
    out, path, bad = os.path.join(cwd, "perf.txt"), os.path.join(cwd, "result.json"), []
    for argv in (["ls", "-l", "d1k"], bpf.LOOP, [THREADS], [BEHAVE, "churn"], ["tar", "czf", "x.tgz", "d1k"],
                 [live.PYTHON, "-c", "import json, subprocess; subprocess.run(['true'])"],
                 ["bash", "-c", "for i in $(seq 10); do x=$(echo $i | sed s/1/2/); done"]):
        names = sorted(name for name in bpf.counts(count(argv, cwd)[0]) if name in table)
        only = 'comm != "syscull" && comm != "perf"'
        events = ["-e", "raw_syscalls:sys_enter", "--filter", only]
        for name in names:
            event = "sys_enter" if name in BY_ENTER else "sys_exit"
            events += ["-e", f"raw_syscalls:{event}", "--filter", f"id == {table[name]} && {only}"]
        subprocess.run(["perf", "stat", "-x", ",", "-o", out, *events, "--", live.SYSCULL, "run", "--count",
                        "--format", "json=" + path, "--", *argv], cwd=cwd, env=live.clean_env(),
                       stdin=subprocess.DEVNULL, capture_output=True, check=True, timeout=200)
        with open(out, encoding="utf-8") as f:
            total, *theirs = [int(line.split(",")[0]) for line in f if "raw_syscalls" in line]
        result = bpf.read(path)
        wrong = bpf.differences(bpf.counts(result), {**bpf.counts(result), **dict(zip(names, theirs))})
        # Its first execve enters under our own name.
        if result["accounting"]["seen"] != total + 1:
            wrong.append(f"in all: {result['accounting']['seen']} here, {total} + the first execve in the kernel")
        bad += [f"{argv[0]}: {text}" for text in wrong + sums_of(result)]
    return bad


def observer_numbers():
    table = {}
    machine = {"x86_64": "x86_64.tbl", "aarch64": "aarch64.tbl"}[os.uname().machine]
    with open(os.path.join(live.TOP, "data/syscalls", machine), encoding="utf-8") as f:
        for line in f:
            words = line.split("#")[0].split()
            if len(words) >= 2:
                table[words[1]] = int(words[0])
    return table


def case_same(cwd):
    """The same calls by name and errno as when each is told of, timed or not."""
    bad = []
    with open(os.path.join(cwd, "plain"), "w", encoding="ascii") as script:
        script.write("echo plain \"$@\"\n")
    os.chmod(os.path.join(cwd, "plain"), 0o755)
    for name, argv in bpf.SAME.items():
        if name == "unshare" and os.geteuid() != 0:
            continue
        theirs, out, status = bpf.run(argv, cwd, "bpf")
        for times in ("always", "never"):
            ours, our_out, our_status = count(argv, cwd, "--times", times)
            # Children end when they end, and a shell hears of it.
            wrong = [text for text in bpf.differences(bpf.calls(theirs), bpf.calls(ours)) if "rt_sigreturn" not in text]
            wrong += sums_of(ours)
            if name in ("threads", "thread-exec", "leader-exits", "python"):
                wrong = [text for text in wrong if text.split(":")[0] not in bpf.VARIES]
            if bpf.processes(ours) != bpf.processes(theirs):
                wrong.append(f"processes, tasks: {bpf.processes(theirs)} and {bpf.processes(ours)}")
            if (out, status) != (our_out, our_status):
                wrong.append(f"it behaved differently: {status} {our_status}")
            # What seccomp refuses has no begin that could be seen.
            wanted = ("none",) if times == "never" else ("some",) if name.startswith("seccomp") else ("all",)
            if ours["times"]["of"] not in wanted:
                wrong.append(f"times of {ours['times']['of']}")
            bad += [f"{name} {times}: {text}" for text in wrong]
    return bad


def case_times(cwd):
    """A sleep is no shorter than asked for; by far the most calls of a loop are timed now and then only."""
    result, _, _ = count([live.PYTHON, "-c", "import time\nfor i in range(20): time.sleep(0.01)"], cwd)
    bad = sums_of(result)
    sleep = next(call for call in result["calls"] if call["name"] in ("clock_nanosleep", "pselect6", "select"))
    if sleep["count"] != 20 or sleep["timed"] != 20 or sleep["p50_ns"] < 9_000_000 or sleep["time_ns"] < 200_000_000:
        bad.append(f"{sleep}")
    result, _, _ = count(["dd", "if=/dev/zero", "of=/dev/null", "bs=1", "count=1000000", "status=none"], cwd)
    read = next(call for call in result["calls"] if call["name"] == "read")
    if not 0 < read["timed"] < read["count"] or read["source"] != "estimated" or result["times"]["of"] != "some":
        bad.append(f"{read}")
    return bad + sums_of(result)


def case_forest(cwd):
    """A tree of several thousand, sequential: every one followed."""
    result, out, status = count([FOREST, "3000"], cwd)
    made = int(out.split()[0]) if out else 0
    bad = sums_of(result)
    if status != 0 or made < 3000 or result["accounting"]["processes"] != made + 1:
        bad.append(f"status {status}, made {made}, {result['accounting']}")
    return bad


def case_ends(cwd):
    """The command's status and signal, and what could not be started."""
    bad = []
    for argv, wanted in ((["sh", "-c", "exit 3"], 3), (["sh", "-c", "kill -KILL $$"], -9), (["/nonesuch"], 127),
                         (["/etc/passwd"], 126)):
        done = subprocess.run([live.SYSCULL, "run", "--count", "-o", "/dev/null", "--", *argv], cwd=cwd,
                              env=live.clean_env(), stdin=subprocess.DEVNULL, capture_output=True, check=False)
        if done.returncode != wanted:
            bad.append(f"{argv}: {done.returncode}, not {wanted}: {done.stderr}")
    return bad


def case_refused(cwd):
    """Without the right to: one line that says so, and 125."""
    def nobody():
        os.setgroups([])
        os.setresgid(65534, 65534, 65534)
        os.setresuid(65534, 65534, 65534)
    bad = []
    program = os.path.join(cwd, "syscull")
    shutil.copy(live.SYSCULL, program)
    os.chmod(cwd, 0o755)
    for options in (["--count", "--", "true"], ["-a", "--duration", "1"], ["--count", "-p", "1"]):
        done = subprocess.run([program, "run", *options], cwd="/", env=live.clean_env(), stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, check=False, preexec_fn=nobody, timeout=60)
        lines = done.stderr.splitlines()
        if done.returncode != 125 or len(lines) != 1 or "doctor" not in lines[0] or done.stdout:
            bad.append(f"{options}: {done.returncode} {lines}")
    return bad


def case_options(cwd):
    """What does not fit is refused before anything happens."""
    bad = []
    for options, word in ((["--interval", "1", "--", "true"], "--count"), (["-a", "--", "true"], "-a"),
                          (["-a", "--cgroup", "/"], "--cgroup"), (["--count", "--duration", "1", "--", "true"], "--duration"),
                          (["--count", "--engine", "ptrace", "--", "true"], "ptrace"),
                          (["--count", "-e", "read", "--", "true"], "-e"), (["--cgroup", "/tmp"], "cgroup v2"),
                          (["--count", "--format", "html=x", "--", "true"], "html"),
                          (["--count", "--max-overhead", "2", "--", "true"], "--max-overhead"),
                          (["-a", "--duration", "x"], "--duration"), (["--count"], "no command")):
        done = subprocess.run([live.SYSCULL, "run", *options], cwd=cwd, env=live.clean_env(), stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, check=False, timeout=60)
        if done.returncode != 125 or len(done.stderr.splitlines()) != 1 or word not in done.stderr:
            bad.append(f"{options}: {done.returncode} {done.stderr!r}")
    return bad


def case_full(cwd):
    """Full tables: totals are right, and what is less is said."""
    argv = ["sh", "-c", "ls d1k >/dev/null; cat nosuch 2>/dev/null; stat -c %a d1k >/dev/null"]
    whole, _, _ = count(argv, cwd)
    bad = sums_of(whole)
    for fault in ("rows=4", "rows=40", "groups=2"):
        result, _, _ = count(argv, cwd, faults=fault)
        wrong = bpf.differences(bpf.counts(whole), bpf.counts(result)) + sums_of(result)
        failed = {call["name"]: call["failed"] for call in whole["calls"]}
        wrong += bpf.differences(failed, {call["name"]: call["failed"] for call in result["calls"]})
        if fault != "groups=2" and result["accounting"]["by_number_only"] == 0:
            wrong.append("nothing is said")
        if fault == "groups=2" and not any(part["exe"] is None for part in result["by_exe"]):
            wrong.append(f"programs: {[part['exe'] for part in result['by_exe']]}")
        bad += [f"{fault}: {text}" for text in wrong]
    # More errors of one call than a row holds, and no place for more.
    many = "import fcntl, os\nfor fd, command, n in ((-1, 1, 9), (0, 9999, 8), (0, 0, 0)):\n pass\n" \
           "for path in ('nosuch', '/etc/passwd/x', 'x' * 300, 'x' * 5000, '', 'd1k/f1/x'):\n" \
           "  for i in range(3):\n    try: os.chdir(path)\n    except OSError: pass\n" \
           "for flags in (0o200000 | 0o100, 0o1):\n  try: os.open('d1k', flags)\n  except OSError: pass\n" \
           "for i in range(7):\n  try: os.rename('nosuch', 'd1k')\n  except OSError: pass\n" \
           "  try: os.kill(2**22 + 1, 0)\n  except OSError: pass\n"
    result, _, _ = count([live.PYTHON, "-c", many], cwd, faults="errors=1")
    return bad + sums_of(result)


def case_memory(cwd):
    """A task that could not be followed opens the books, and nothing else."""
    result, _, status = count([FOREST, "60"], cwd, faults="storage=7")
    books = result["accounting"]
    bad = [] if status == 0 else [f"status {status}"]
    if not books["closed"] or books["complete"] or books["not_followed"] == 0 or not books["why"]:
        bad.append(f"{books}")
    result, _, _ = count([FOREST, "60"], cwd, "--task-limit", "1")
    books = result["accounting"]
    if books["complete"] or books["not_followed"] == 0:
        bad.append(f"limit: {books}")
    return bad


def start_worker(cwd, program=live.PYTHON, **more):
    worker = subprocess.Popen([program, "-c", WORKER, str(MANY)], cwd=cwd, env=live.clean_env(), text=True,
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, **more)
    worker.stdout.readline()
    return worker


def work(worker):
    worker.stdin.write("go\n")
    worker.stdin.flush()
    worker.stdout.readline()


def end_worker(worker):
    worker.stdin.close()
    worker.wait(timeout=60)


def watch(cwd, *options):
    """Ours, when it counts."""
    path = os.path.join(cwd, "result.json")
    if os.path.exists(path):
        os.unlink(path)
    us = subprocess.Popen([live.SYSCULL, "run", "--format", "json=" + path, *options], cwd=cwd, env=live.clean_env(),
                          stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    live.until(lambda: us.poll() is not None or counts_now(us.pid), "attaching")
    return us, path


def counts_now(pid):
    """It has all its programs in: the last one to come is the one that times."""
    links = 0
    try:
        for fd in os.listdir(f"/proc/{pid}/fd"):
            links += os.readlink(f"/proc/{pid}/fd/{fd}") in ("anon_inode:bpf-raw-tracepoint", "anon_inode:bpf_link")
        with open(f"/proc/{pid}/wchan", encoding="ascii") as f:
            waits = "poll" in f.read()
    except OSError:
        return False
    return links >= 5 and waits


def end(us):
    us.send_signal(signal.SIGINT)
    text = us.communicate(timeout=60)[1]
    return [] if us.returncode == 0 else [f"status {us.returncode}: {text}"]


def getppids(calls):
    return sum(call["count"] for call in calls if call["name"] == "getppid")


def case_attached(cwd):
    """-p: threads that are there, a later one, later children; it goes on afterwards."""
    worker = start_worker(cwd)
    us, path = watch(cwd, "--count", "-p", str(worker.pid))
    work(worker)
    bad = end(us)
    end_worker(worker)
    result = bpf.read(path)
    if getppids(result["calls"]) != WORKED:
        bad.append(f"{getppids(result['calls'])} getppid, not {WORKED}")
    if worker.returncode != 0 or result["watched"] != {"what": "processes", "pids": [worker.pid], "cgroup": None}:
        bad.append(f"{worker.returncode} {result['watched']}")
    if result["accounting"]["tasks"] < 7 or result["accounting"]["processes"] != 3:
        bad.append(f"{result['accounting']}")
    return bad + sums_of(result)


def case_attached_end(cwd):
    """It ends when they do."""
    worker = start_worker(cwd)
    us, path = watch(cwd, "--count", "-p", str(worker.pid))
    work(worker)
    end_worker(worker)
    us.communicate(timeout=60)
    result = bpf.read(path)
    bad = [] if us.returncode == 0 and result["accounting"]["let_go"] == 0 else [f"{us.returncode} {result['accounting']}"]
    return bad + sums_of(result)


def case_system(cwd):
    """-a: a program of a name of its own is found, exactly; ours is left out; --duration ends it."""
    program = os.path.join(cwd, "worker-of-test")
    shutil.copy(os.path.realpath(live.PYTHON), program)
    worker = start_worker(cwd, program)
    us, path = watch(cwd, "-a")
    work(worker)
    bad = end(us)
    end_worker(worker)
    result = bpf.read(path)
    parts = {part["exe"]: part for part in result["by_exe"]}
    if program not in parts or getppids(parts[program]["calls"]) != WORKED:
        bad.append(f"{program}: {getppids(parts.get(program, {'calls': []})['calls'])} getppid, not {WORKED}")
    if os.path.realpath(live.SYSCULL) in parts and us.pid:
        # Others of the same file may run beside this test.
        print("another one of our command ran", file=sys.stderr)
    bad += sums_of(result)
    # A quiet machine makes no call in half a second: one that does is at hand.
    busy = subprocess.Popen(["sh", "-c", "i=0; while [ $i -lt 600 ]; do sleep 0.05; i=$((i + 1)); done"], cwd=cwd,
                            stdin=subprocess.DEVNULL, start_new_session=True)
    begin = time.monotonic()
    try:
        done = subprocess.run([live.SYSCULL, "run", "-a", "--duration", "0.5", "--format", "json=" + path], cwd=cwd,
                              env=live.clean_env(), stdin=subprocess.DEVNULL, capture_output=True, check=False,
                              timeout=60)
    finally:
        os.killpg(busy.pid, signal.SIGKILL)
        busy.wait()
    if done.returncode != 0 or time.monotonic() - begin < 0.5:
        bad.append(f"--duration: {done.returncode} {done.stderr}")
    result = bpf.read(path)
    if result["watched"]["what"] != "system" or not result["by_cgroup"]:
        bad.append(f"{result['watched']}")
    return bad + sums_of(result)


def case_alone(cwd):
    """Our own calls are left out: a machine with nobody else but us and a sleeper."""
    program = os.path.join(cwd, "syscull-of-test")
    shutil.copy(live.SYSCULL, program)
    path = os.path.join(cwd, "result.json")
    subprocess.run([program, "run", "-a", "--duration", "0.5", "--interval", "0.1", "--format", "json=" + path], cwd=cwd,
                   env=live.clean_env(), stdin=subprocess.DEVNULL, capture_output=True, check=True, timeout=60)
    exes = [part["exe"] for part in bpf.read(path)["by_exe"]]
    return [f"{exes}"] if program in exes else []


def cgroup_root():
    for path in ("/sys/fs/cgroup", "/sys/fs/cgroup/unified"):
        if os.path.exists(os.path.join(path, "cgroup.procs")) and not os.path.exists(os.path.join(path, "tasks")):
            return path
    return None


def case_cgroup(cwd):
    """--cgroup: who is in it or in one below, and nobody else."""
    root = cgroup_root()
    if not root:
        live.skip("no cgroup v2 is mounted here")
    outer = os.path.join(root, f"syscull-test-{os.getpid()}")
    inner = os.path.join(outer, "inner")
    try:
        os.makedirs(inner)
    except OSError as error:
        live.skip(f"cgroups cannot be made here: {error}")

    def enter():
        with open(os.path.join(inner, "cgroup.procs"), "w", encoding="ascii") as f:
            f.write("0")
    bad = []
    workers = []
    try:
        try:
            workers = [start_worker(cwd, preexec_fn=enter), start_worker(cwd)]
        except subprocess.SubprocessError as error:
            live.skip(f"a cgroup cannot be entered here: {error}")
        us, path = watch(cwd, "--cgroup", outer)
        for worker in workers:
            work(worker)
        bad += end(us)
        result = bpf.read(path)
        if getppids(result["calls"]) != WORKED:
            bad.append(f"{getppids(result['calls'])} getppid, not {WORKED}")
        names = [part["cgroup"] for part in result["by_cgroup"]]
        if names != [inner[len(root):]] or result["watched"]["cgroup"] != outer:
            bad.append(f"cgroups {names}, {result['watched']}")
        bad += sums_of(result)
    finally:
        for worker in workers:
            end_worker(worker)
        for path in (inner, outer):
            for _ in range(100):
                try:
                    os.rmdir(path)
                    break
                except OSError:
                    time.sleep(0.02)
    return bad


def case_intervals(cwd):
    """Partial reports add up to the whole, and text is written as it goes."""
    path = os.path.join(cwd, "result.json")
    slow = "import os, time\nfor i in range(12):\n  for k in range(1000): os.getppid()\n  time.sleep(0.05)"
    done = subprocess.run([live.SYSCULL, "run", "--count", "--interval", "0.2", "--format", "text", "--format",
                           "json=" + path, "--", live.PYTHON, "-c", slow], cwd=cwd, env=live.clean_env(),
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=60)
    result = bpf.read(path)
    parts = result["intervals"]
    bad = sums_of(result) + ([] if done.returncode == 0 else [f"status {done.returncode}"])
    if len(parts) < 3 or done.stderr.count(" s: ") != len(parts):
        bad.append(f"{len(parts)} parts, {done.stderr.count(' s: ')} told")
    if sum(part["count"] for part in parts) != result["accounting"]["seen"]:
        bad.append(f"parts sum to {sum(part['count'] for part in parts)}, seen are {result['accounting']['seen']}")
    if sum(getppids(part["calls"]) for part in parts) != 12000:
        bad.append("getppid is not 12,000 in all parts")
    for one, next_one in zip(parts, parts[1:]):
        if one["to_ns"] != next_one["from_ns"]:
            bad.append("there is a gap between two parts")
    largest = {}
    for part in parts:
        for call in part["calls"]:
            largest[call["name"]] = max(largest.get(call["name"], 0), call["max_ns"] or 0)
    bad += [f"{call['name']}: the longest of all parts is {largest.get(call['name'])}, of all {call['max_ns']}"
            for call in result["calls"] if call["timed"] and call["max_ns"] != largest.get(call["name"])]
    return bad


def case_overhead(cwd):
    """--max-overhead: one line when it goes over to counting, one when it lets go; not for what makes few calls."""
    path = os.path.join(cwd, "result.json")
    loop = ["dd", "if=/dev/zero", "of=/dev/null", "bs=1", "count=4000000", "status=none"]
    bad = []
    for share, argv, let_go, lines in (("0.01%", loop, True, 1), ("100%", ["true"], False, 0)):
        done = subprocess.run([live.SYSCULL, "run", "--count", "--max-overhead", share, "--format", "json=" + path, "--",
                               *argv], cwd=cwd, env=live.clean_env(), stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, check=False, timeout=120)
        result = bpf.read(path)
        books = result["accounting"]
        told = [line for line in done.stderr.splitlines() if "--max-overhead" in line]
        if done.returncode != 0 or len(told) != lines or len(result["warnings"]) != lines:
            bad.append(f"{share}: {done.returncode} {done.stderr}")
        if books["complete"] == let_go or not books["closed"] or (result["times"]["counted_until_ns"] is None) == let_go:
            bad.append(f"{share}: {books} {result['times']}")
    return bad


def case_namespace(cwd):
    """In a pid namespace of its own: its numbers, the same calls."""
    script = f"exec {live.SYSCULL} run --count --format json={cwd}/inner.json -- ls d1k"
    done = subprocess.run(["unshare", "-pf", "--mount-proc", "sh", "-c", script], cwd=cwd, env=live.clean_env(),
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=60)
    if done.returncode != 0 and "unshare" in done.stderr:
        live.skip(f"no namespaces here: {done.stderr}")
    outer, _, _ = count(["ls", "d1k"], cwd)
    inner = bpf.read(os.path.join(cwd, "inner.json"))
    bad = bpf.differences(bpf.counts(outer), bpf.counts(inner))
    script = f"{live.PYTHON} -c 'import os, time\nfor i in range(40):\n  os.getppid()\n  time.sleep(0.05)' & " \
             f"sleep 0.3; exec {live.SYSCULL} run --count -p $! --format json={cwd}/inner.json"
    done = subprocess.run(["unshare", "-pf", "--mount-proc", "sh", "-c", script], cwd=cwd, env=live.clean_env(),
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=60)
    attached = bpf.read(os.path.join(cwd, "inner.json"))
    if done.returncode != 0 or not 0 < getppids(attached["calls"]) <= 40:
        bad.append(f"-p: {done.returncode} {done.stderr} {getppids(attached['calls'])}")
    return bad + sums_of(inner) + sums_of(attached)


def case_user(cwd):
    """--user: the command runs as somebody else, and is counted to its end."""
    os.chmod(cwd, 0o777)
    result, out, status = count(["id", "-un"], cwd, "--user", "nobody")
    return sums_of(result) + ([] if status == 0 and out == b"nobody\n" else [f"{status} {out}"])


if __name__ == "__main__":
    if not bpf.usable():
        live.skip("the bpf engine cannot be used here")
    sys.exit(live.run_cases(globals(), live.workdir()))
