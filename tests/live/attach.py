#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""-p: what we attach to is watched, and is never harmed.

usage: attach.py [CASE...]
"""
import os
import pty
import select
import shutil
import signal
import subprocess
import sys
import time

import live

# Answers each line with a number that grows only while its threads run.
SERVER = """
import sys, threading, time, os
count = [0] * int(sys.argv[1])
def work(i):
    while True:
        count[i] += 1
        os.stat("/")
        time.sleep(0.002)
for i in range(len(count)):
    threading.Thread(target=work, args=[i], daemon=True).start()
print("ready", flush=True)
for line in sys.stdin:
    if line.startswith("fork"):
        print(os.waitstatus_to_exitcode(os.system("exit 7")), flush=True)
    elif line.startswith("end"):
        os._exit(9)
    else:
        before = list(count)
        time.sleep(0.05)
        print(sum(1 for a, b in zip(before, count) if b > a), flush=True)
"""


class Server:
    """A process to attach to."""

    def __init__(self, threads=0):
        self.threads = threads
        self.process = subprocess.Popen([live.PYTHON, "-c", SERVER, str(threads)], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, env=live.clean_env(), text=True)
        self.pid = self.process.pid
        self.process.stdout.readline()

    def ask(self, what=""):
        self.process.stdin.write(what + "\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline() or -1)

    def wrong(self):
        """Whatever is not as before we came."""
        bad = [f"{field} is {live.status(tid, field)}" for tid in live.threads(self.pid)
               for field, right in (("TracerPid", "0"),) if live.status(tid, field) != right]
        bad += [f"{tid} is stopped" for tid in live.threads(self.pid) if live.status(tid, "State")[0] in "tT"]
        if not bad:
            running = self.ask()
            if running != self.threads:
                bad.append(f"{running} of {self.threads} threads run")
        return bad

    def end(self):
        self.process.kill()
        self.process.wait()


def attach(target, cwd, *options):
    """Starts us and waits until every thread is held."""
    us = subprocess.Popen([live.SYSCULL, "run", "-v", "--color", "never", "-o", os.path.join(cwd, "report"), *options,
                           "-p", str(target)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, env=live.clean_env())
    live.until(lambda: us.poll() is not None or
               all(live.status(tid, "TracerPid") == str(us.pid) for tid in live.threads(target)), "attaching")
    return us


def detach(us, number=signal.SIGINT):
    us.send_signal(number)
    out, err = us.communicate(timeout=30)
    return us.returncode, out, err


def finish(us, cwd, number=signal.SIGINT):
    """Lets go and looks at how we ended: (what is wrong, the report)."""
    status, out, err = detach(us, number)
    bad = []
    if status != 0:
        bad.append(f"status {status}")
    if out or err:
        bad.append(f"said {out!r} {err!r}")
    report = live.read_report(os.path.join(cwd, "report"))
    if not report.closed:
        bad.append("books are not closed\n" + report.text)
    return bad, report


def case_int(cwd):
    server = Server()
    us = attach(server.pid, cwd)
    for _ in range(3):
        server.ask()
    bad, report = finish(us, cwd)
    if report.calls.get("read", 0) < 1 or report.calls.get("write", 0) < 1:
        bad.append("what it did is not in the report\n" + report.text)
    bad += server.wrong()
    server.end()
    return bad


def case_threads(cwd):
    server = Server(threads=8)
    us = attach(server.pid, cwd)
    running = server.ask()
    bad, _ = finish(us, cwd)
    if running != 8:
        bad.append(f"{running} of 8 threads ran while attached")
    bad += server.wrong()
    server.end()
    return bad


def case_term(cwd):
    """`timeout 10 syscull run -p PID` ends as INT does; nothing reaches the process."""
    bad = []
    for number in (signal.SIGTERM, signal.SIGHUP):
        server = Server(threads=2)
        us = attach(server.pid, cwd)
        wrong, _ = finish(us, cwd, number)
        bad += wrong + server.wrong()
        server.end()
    return bad


def case_again(cwd):
    """Attaching and letting go leaves nothing that the next one would see."""
    server = Server(threads=4)
    bad = []
    for _ in range(10):
        wrong, _ = finish(attach(server.pid, cwd), cwd)
        bad += wrong
    bad += server.wrong()
    server.end()
    return bad


def case_killed(cwd):
    """Our death by SIGKILL leaves it alive and at work."""
    bad = []
    for threads in (0, 8):
        server = Server(threads=threads)
        us = attach(server.pid, cwd)
        server.ask()
        us.kill()
        us.communicate()
        bad += server.wrong()
        server.end()
    return bad


def case_children(cwd):
    """Its children are followed, and are let go as well."""
    server = Server()
    us = attach(server.pid, cwd)
    status = server.ask("fork")
    bad, report = finish(us, cwd)
    if status != 7:
        bad.append(f"the child's status is {status}")
    if report.calls.get("execve", 0) < 1:
        bad.append("the child's execve is not in the report\n" + report.text)
    bad += server.wrong()
    server.end()
    return bad


def case_ends(cwd):
    """A process that ends ends the run."""
    server = Server(threads=3)
    us = attach(server.pid, cwd)
    server.process.stdin.write("end\n")
    server.process.stdin.flush()
    out, err = us.communicate(timeout=30)
    bad = [] if us.returncode == 0 and not out and not err else [f"status {us.returncode}, said {out!r} {err!r}"]
    status = server.process.wait(timeout=10)
    if status != 9:
        bad.append(f"it ended with {status}")
    report = live.read_report(os.path.join(cwd, "report"))
    if not report.closed or report.calls.get("exit_group") != 1:
        bad.append("the end is not in the report\n" + report.text)
    return bad


def case_dies(cwd):
    """So does one that is killed."""
    server = Server(threads=3)
    us = attach(server.pid, cwd)
    server.process.kill()
    us.communicate(timeout=30)
    status = server.process.wait(timeout=10)
    bad = [] if us.returncode == 0 and status == -9 else [f"status {us.returncode}, it ended with {status}"]
    if not live.read_report(os.path.join(cwd, "report")).closed:
        bad.append("books are not closed")
    return bad


def case_stopped(cwd):
    """What was stopped stays stopped, and goes on when told to."""
    server = Server(threads=2)
    os.kill(server.pid, signal.SIGSTOP)
    live.until(lambda: live.status(server.pid, "State")[0] == "T", "stopping")
    us = attach(server.pid, cwd)
    time.sleep(0.1)
    bad = []
    if live.status(server.pid, "State")[0] not in "tT":
        bad.append("it runs while attached")
    wrong, _ = finish(us, cwd)
    bad += wrong
    time.sleep(0.1)
    bad += [f"{tid} is {live.status(tid, 'State')}, not stopped" for tid in live.threads(server.pid)
            if live.status(tid, "State")[0] != "T"]
    os.kill(server.pid, signal.SIGCONT)
    live.until(lambda: live.status(server.pid, "State")[0] != "T", "continuing")
    bad += server.wrong()
    server.end()
    return bad


def case_stop_while_attached(cwd):
    server = Server(threads=2)
    us = attach(server.pid, cwd)
    os.kill(server.pid, signal.SIGSTOP)
    live.until(lambda: all(live.status(tid, "State")[0] in "tT" for tid in live.threads(server.pid)), "stopping")
    os.kill(server.pid, signal.SIGCONT)
    bad = [] if server.ask() == 2 else ["it did not go on"]
    os.kill(server.pid, signal.SIGSTOP)
    live.until(lambda: all(live.status(tid, "State")[0] in "tT" for tid in live.threads(server.pid)), "stopping")
    wrong, _ = finish(us, cwd)
    bad += wrong
    time.sleep(0.1)
    if live.status(server.pid, "State")[0] != "T":
        bad.append(f"after letting go it is {live.status(server.pid, 'State')}, not stopped")
    os.kill(server.pid, signal.SIGCONT)
    bad += server.wrong()
    server.end()
    return bad


def case_sleeping(cwd):
    """A sleep goes on where it was."""
    sleep = subprocess.Popen(["sleep", "1.5"], env=live.clean_env())
    time.sleep(0.1)
    begin = time.monotonic()
    bad, _ = finish(attach(sleep.pid, cwd), cwd)
    if sleep.poll() is not None:
        bad.append("it ended early")
    status = sleep.wait()
    if status != 0 or time.monotonic() - begin < 1:
        bad.append(f"it ended with {status}, or early")
    return bad


def case_two(cwd):
    """Two processes at once."""
    servers = [Server(), Server(threads=2)]
    us = attach(servers[0].pid, cwd, "-p", str(servers[1].pid))
    live.until(lambda: live.status(servers[1].pid, "TracerPid") == str(us.pid), "attaching")
    for server in servers:
        server.ask()
    bad, _ = finish(us, cwd)
    for server in servers:
        bad += server.wrong()
        server.end()
    return bad


def refused(cwd, what, argv, why, **more):
    done = subprocess.run(argv, cwd=cwd, env=live.clean_env(), capture_output=True, timeout=30, check=False, **more)
    bad = []
    if done.returncode != 125:
        bad.append(f"{what}: status {done.returncode}")
    if done.stdout or len(done.stderr.splitlines()) != 1 or not done.stderr.startswith(b"syscull: "):
        bad.append(f"{what}: said {done.stdout!r} {done.stderr!r}")
    if why.encode() not in done.stderr or (why and b"SYS_PTRACE" in done.stderr):
        bad.append(f"{what}: said {done.stderr!r}, not {why!r}")
    return bad


def on_terminal(target, cwd, *options):
    """What our terminal shows while attached for two seconds, up to an INT."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(cwd)
        os.execve(live.SYSCULL, [live.SYSCULL, "run", "-o", "report", *options, "-p", str(target)], live.clean_env())
    shown = b""
    end = time.monotonic() + 2
    while time.monotonic() < end:
        if select.select([terminal], [], [], 0.1)[0]:
            shown += os.read(terminal, 4096)
    os.write(terminal, b"\x03")
    try:
        while True:
            shown += os.read(terminal, 4096)
    except OSError:
        pass
    os.close(terminal)
    return shown.decode(), os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def case_progress(cwd):
    """One line that is taken back, on a terminal only, and not with -q."""
    server = Server(threads=1)
    bad = []
    try:
        shown, status = on_terminal(server.pid, cwd)
        if "watching for " not in shown or "\n" in shown.replace("^C", "").strip() or status != 0:
            bad.append(f"a terminal shows {shown!r}, status {status}")
        if not shown.endswith("\r\033[K"):
            bad.append(f"the line is left behind: {shown[-40:]!r}")
        shown, status = on_terminal(server.pid, cwd, "-q")
        if "watching" in shown:
            bad.append(f"-q shows {shown!r}")
        us = attach(server.pid, cwd)
        time.sleep(1.5)
        us.send_signal(signal.SIGINT)
        if b"watching" in us.communicate(timeout=20)[1]:
            bad.append("a pipe shows progress")
        bad += server.wrong()
    finally:
        server.end()
    return bad


def case_refused(cwd):
    """One clear line, and 125."""
    bad = refused(cwd, "a missing process", [live.SYSCULL, "run", "-p", "4194303"], "No such process")
    bad += refused(cwd, "ourselves", ["sh", "-c", f"exec '{live.SYSCULL}' run -p $$"], "that is syscull itself")
    # In a pid namespace of its own a machine shows none.
    if live.status(2, "Kthread") == "1":
        bad += refused(cwd, "a kernel thread", [live.SYSCULL, "run", "-p", "2"], "it is a thread of the kernel")
    zombie = subprocess.Popen(["true"])
    live.until(lambda: live.status(zombie.pid, "State")[0] == "Z", "a zombie")
    bad += refused(cwd, "a zombie", [live.SYSCULL, "run", "-p", str(zombie.pid)],
                   f"it has ended; what is left (a zombie) waits for its parent, process {os.getpid()}")
    zombie.wait()
    server = Server()
    us = attach(server.pid, cwd)
    bad += refused(cwd, "another tracer's", [live.SYSCULL, "run", "-p", str(server.pid)],
                   f"another tracer, process {us.pid}, holds it")
    # One of two cannot be had: the other is let go unharmed.
    other = Server(threads=2)
    bad += refused(cwd, "one of two", [live.SYSCULL, "run", "-p", str(other.pid), "-p", str(server.pid)],
                   f"another tracer, process {us.pid}, holds it")
    bad += other.wrong()
    other.end()
    bad += finish(us, cwd)[0] + server.wrong()
    server.end()
    if os.geteuid() == 0:
        copy = os.path.join(cwd, "syscull")
        shutil.copy(live.SYSCULL, copy)
        os.chmod(cwd, 0o755)
        bad += refused(cwd, "pid 1 of root", ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", copy,
                                              "run", "-p", "1"], "")
    else:
        bad += refused(cwd, "pid 1", [live.SYSCULL, "run", "-p", "1"], "")
    return bad


def main():
    live.need_tracing()
    probe = Server()
    cwd = live.workdir(files=0)
    us = attach(probe.pid, cwd)
    _, _, err = detach(us) if us.poll() is None else (us.returncode, b"", us.stderr.read())
    probe.end()
    if us.returncode != 0:
        live.skip("attaching does not work here: " + err.decode(errors="replace").strip())
    sys.exit(live.run_cases(globals(), cwd))


main()
