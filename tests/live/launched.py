#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What happens to a launched command when we, or it, get signals.

usage: launched.py [--check] [CASE...]

--check: under `check` with call budgets alone, which watches only their calls
and whose tracer never leaves what it watches.
"""
import json
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
import time

import live

# Says its pid, then whatever it gets; ends with 3 at TERM.
TALKER = """
trap 'echo got TERM; exit 3' TERM
for s in HUP USR1 USR2 QUIT; do trap "echo got $s" $s; done
trap '' INT
echo $$
while :; do sleep 0.02; done
"""


CHECK = "--check" in sys.argv
sys.argv = [word for word in sys.argv if word != "--check"]


def prefix(report):
    """The words before a command; in check the report is in JSON."""
    if CHECK:
        return [live.SYSCULL, "check", "--max", "@open=1000000", "--max", "@stat=100000000", "--format", "text=/dev/null",
                "--format", f"json={report}"]
    return [live.SYSCULL, "run", "-v", "--color", "never", "-o", report]


class CheckReport:
    """The same as of live.Report."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as f:
            report = json.load(f)
        self.text = " ".join(report["warnings"])
        self.closed = report["accounting"]["closed"] and report["accounting"]["scope"] is not None
        self.text += f" {report['accounting']['let_go']} still running" if report["accounting"]["let_go"] else ""


def read(path):
    return CheckReport(path) if CHECK else live.read_report(path)


class Run:
    """A command under us that is running."""

    def __init__(self, argv, cwd, options=(), **more):
        self.path = os.path.join(cwd, "report")
        if os.path.exists(self.path):
            os.unlink(self.path)
        self.us = subprocess.Popen([*prefix(self.path), *options, "--", *argv], cwd=cwd, env=live.clean_env(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, **more)

    def line(self):
        return self.us.stdout.readline().strip()

    def end(self, status):
        """Waits for us: (what is wrong, the rest of the output, the report)."""
        out, err = self.us.communicate(timeout=30)
        bad = [] if self.us.returncode == status else [f"status {self.us.returncode}, not {status}"]
        if err:
            bad.append(f"said {err!r}")
        report = read(self.path)
        if not report.closed:
            bad.append("no report with closed books\n" + report.text)
        return bad, out, report


def quiet(pid):
    """Ran nothing for a while: a stop at a call looks like a group stop."""
    before = live.status(pid, "voluntary_ctxt_switches")
    time.sleep(0.1)
    return live.status(pid, "State")[0] in "tT" and live.status(pid, "voluntary_ctxt_switches") == before


def is_well(tid):
    """Runs on: by itself, or with a tracer that is there and lets it."""
    if CHECK:
        return alive(int(live.status(tid, "TracerPid"))) and not quiet(tid)
    return live.status(tid, "TracerPid") == "0" and live.status(tid, "State")[0] not in "tT"


def alive(pid):
    return live.status(pid, "State")[0] not in "-ZX"


def case_forwarded(cwd):
    """TERM, HUP, USR1 and USR2 sent to us alone reach the command."""
    run = Run(["sh", "-c", TALKER], cwd)
    run.line()
    bad = []
    for name in ("HUP", "USR1", "USR2"):
        run.us.send_signal(getattr(signal, "SIG" + name))
        said = run.line()
        if said != "got " + name:
            bad.append(f"{name}: {said!r}")
    run.us.send_signal(signal.SIGTERM)
    wrong, out, _ = run.end(3)
    return bad + wrong + ([] if out == "got TERM\n" else [f"TERM: {out!r}"])


def case_fatal(cwd):
    """Without a handler the command dies of it, and so do we; the report is written."""
    bad = []
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1):
        run = Run(["sh", "-c", "echo $$; exec sleep 30"], cwd)
        pid = int(run.line())
        run.us.send_signal(number)
        wrong, _, _ = run.end(-number)
        bad += wrong
        if alive(pid):
            bad.append("the command lives on")
    return bad


def case_killed(cwd):
    """Our death by SIGKILL ends the command: it does not run on half-traced."""
    bad = []
    for command in ("echo $$; while :; do :; done", "echo $$; exec sleep 30", "echo $$; kill -STOP $$"):
        run = Run(["sh", "-c", command], cwd)
        pid = int(run.line())
        run.us.kill()
        run.us.communicate()
        live.until(lambda tid=pid: not alive(tid), "its death")
    return bad


def case_let_go(cwd):
    """INTs are the command's affair, however many; two in a row let go of it."""
    run = Run(["sh", "-c", TALKER], cwd)
    pid = int(run.line())
    for _ in range(3):
        run.us.send_signal(signal.SIGINT)
        time.sleep(0.7)
    held = live.status(pid, "TracerPid") != "0" if CHECK else live.status(pid, "TracerPid") == str(run.us.pid)
    bad = [] if run.us.poll() is None and held else ["slow ones let go"]

    def gone():
        if run.us.poll() is not None or live.status(pid, "TracerPid") == "0":
            return True
        run.us.send_signal(signal.SIGINT)
        return False

    # One every few milliseconds, until two of them were told apart.
    live.until(gone, "letting go")
    if not alive(pid):
        bad.append("the command died")
    os.kill(pid, signal.SIGTERM)
    wrong, out, _ = run.end(-signal.SIGINT)
    return bad + wrong + ([] if out == "got TERM\n" else [f"after that it said {out!r}"])


def case_terminal(cwd):
    """A terminal's INT goes to the group: the command gets it once."""
    report = os.path.join(cwd, "report")
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(cwd)
        count = 'n=0; trap "n=\\$((n+1))" INT; echo ready; sleep 0.6; sleep 0.3; echo "INT $n times"; exit 4'
        os.execve(live.SYSCULL, [*prefix(report), "--", "sh", "-c", count], live.clean_env())
    text = b""
    sent = False
    while True:
        try:
            chunk = os.read(terminal, 4096)
        except OSError:
            break
        text += chunk
        if not sent and b"ready" in text:
            time.sleep(0.1)
            os.write(terminal, b"\x03")
            sent = True
    _, status = os.waitpid(pid, 0)
    os.close(terminal)
    bad = [] if os.waitstatus_to_exitcode(status) == 4 else [f"status {os.waitstatus_to_exitcode(status)}"]
    if b"INT 1 times" not in text:
        bad.append(f"it said {text!r}")
    if not read(report).closed:
        bad.append("no report with closed books")
    return bad


def case_stopped_group(cwd):
    """What a shell's ^Z and fg do: all stop, all go on."""
    run = Run(["sh", "-c", "echo $$; sleep 0.3; echo done; exit 6"], cwd, start_new_session=True)
    pid = int(run.line())
    # STOP, since TSTP does nothing in a group that no shell cares for.  A child that
    # is caught between vfork and exec leaves its parent in D.
    os.killpg(run.us.pid, signal.SIGSTOP)
    live.until(lambda: live.status(run.us.pid, "State")[0] == "T" and live.status(pid, "State")[0] in "tTD", "stopping")
    time.sleep(0.5)
    os.killpg(run.us.pid, signal.SIGCONT)
    bad, out, _ = run.end(6)
    return bad + ([] if out == "done\n" else [f"it said {out!r}"])


def case_stopped(cwd):
    """Stop and continue of the command alone, from outside."""
    run = Run([live.PYTHON, "-c", "import os,time\nprint(os.getpid(), flush=True)\n"
               "end = time.monotonic() + 1\nn = 0\nwhile time.monotonic() < end: n += 1; os.stat('/')\n"
               "print('done', flush=True)"], cwd)
    pid = int(run.line())
    for _ in range(3):
        os.kill(pid, signal.SIGSTOP)
        live.until(lambda: quiet(pid), "stopping")
        os.kill(pid, signal.SIGCONT)
    bad, out, _ = run.end(0)
    return bad + ([] if out == "done\n" else [f"it said {out!r}"])


def case_killed_from_outside(cwd):
    """The command is killed while stopped, or in the middle of threads."""
    bad = []
    for stop in (False, True):
        run = Run(["sh", "-c", "echo $$; exec sleep 30"], cwd)
        pid = int(run.line())
        if stop:
            os.kill(pid, signal.SIGSTOP)
            live.until(lambda tid=pid: live.status(tid, "State")[0] in "tT", "stopping")
        os.kill(pid, signal.SIGKILL)
        bad += run.end(-signal.SIGKILL)[0]
    return bad


def case_daemon(cwd):
    """What the command leaves behind does not hang us, is named, and lives."""
    run = Run(["sh", "-c", "setsid sleep 25 >/dev/null 2>&1 & echo $!"], cwd)
    pid = int(run.line())
    bad, _, report = run.end(0)
    if not alive(pid):
        bad.append("the daemon is dead")
    elif not is_well(pid):
        bad.append(f"the daemon is not well: {live.status(pid, 'State')}")
    else:
        os.kill(pid, signal.SIGKILL)
    if not re.search(r"still\s+running", report.text):
        bad.append("it is not told\n" + report.text)
    return bad


def case_busy_daemon(cwd):
    """The same when it makes calls all the time, in threads."""
    busy = ("import os,threading,time\n[threading.Thread(target=lambda: [os.stat('/') for _ in range(10**9)], "
            "daemon=True).start() for _ in range(3)]\ntime.sleep(25)")
    run = Run(["bash", "-c", f'setsid {live.PYTHON} -c "$1" >/dev/null 2>&1 & echo $!; sleep 0.5', "bash", busy], cwd)
    pid = int(run.line())
    bad, _, _ = run.end(0)
    time.sleep(0.1)
    if not alive(pid):
        bad.append("the daemon is dead")
    bad += [f"a thread is not well: {live.status(tid, 'State')}" for tid in live.threads(pid) if not is_well(tid)]
    if alive(pid):
        os.kill(pid, signal.SIGKILL)
    return bad


def case_broken_pipe(cwd):
    """The command dies of SIGPIPE as ever, and we with it."""
    done = subprocess.run(["bash", "-c", f"{' '.join(prefix('report'))} -- yes | head -n 1; echo ${{PIPESTATUS[0]}}"],
                          cwd=cwd, env=live.clean_env(), capture_output=True, check=False, timeout=30)
    if done.stdout != b"y\n141\n" or done.stderr:
        return [f"said {done.stdout!r} {done.stderr!r}"]
    return []


def case_tracer_inside(cwd):
    """A tracer inside gets what it starts; where it cannot, in a check, that is told."""
    if not live.have("strace"):
        return []
    run = Run(["strace", "-c", "true"], cwd)
    out, err = run.us.communicate(timeout=30)
    if CHECK:
        good = run.us.returncode == 125 and "not permitted" in err
        words = r"tried\s+to\s+trace\s+and\s+was\s+refused"
    else:
        good = run.us.returncode == 0 and "execve" in err
        words = r"to\s+be\s+traced\s+by\s+its\s+parent"
    bad = [] if good else [f"status {run.us.returncode}: {out!r} {err!r}"]
    report = read(run.path)
    return bad + ([] if report.closed and re.search(words, report.text) else ["it is not told\n" + report.text])


def case_setuid(cwd):
    """A setuid program runs without its privileges, which is said."""
    if os.geteuid() != 0 or not live.have("setpriv"):
        print("setuid: only for root")
        return []
    copy, su = os.path.join(cwd, "syscull"), os.path.join(cwd, "idu")
    os.chmod(cwd, 0o777)
    shutil.copy(live.SYSCULL, copy)
    shutil.copy("/usr/bin/id", su)
    os.chmod(su, 0o4755)
    nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    plain = subprocess.run([*nobody, su, "-u"], capture_output=True, check=False)
    if plain.stdout != b"0\n":
        print("setuid: set-user-ID does nothing here")
        return []
    report = os.path.join(cwd, "report-nobody")
    done = subprocess.run([*nobody, copy, "run", "-v", "-o", report, "--", su, "-u"], capture_output=True, check=False,
                          timeout=30)
    bad = [] if done.stdout == b"65534\n" and done.returncode == 0 else [f"said {done.stdout!r} {done.stderr!r}"]
    if "setuid" not in live.read_report(report).text:
        bad.append("it is not told\n" + live.read_report(report).text)
    return bad


def case_task_limit(cwd):
    """Beyond the limit tasks run untraced and are counted; nobody is killed."""
    path = os.path.join(cwd, "report")
    done, report = live.syscull(["sh", "-c", "for i in 1 2 3 4 5; do (sleep 0.1; echo $i) & done; wait; exit 5"], cwd,
                                options=["--task-limit", "2"])
    bad = [] if done.returncode == 5 else [f"status {done.returncode}"]
    if sorted(done.stdout.split()) != [b"1", b"2", b"3", b"4", b"5"]:
        bad.append(f"said {done.stdout!r}")
    if not re.search(r"\d+\s+of\s+\d+\s+children\s+ran\s+untraced", report.text):
        bad.append(f"it is not told in {path}\n" + report.text)
    if not report.closed:
        bad.append("books are not closed\n" + report.text)
    return bad


def main():
    live.need_tracing()
    cases = dict(globals())
    if CHECK:
        # scope.py has the one; no limit holds for the other.
        del cases["case_setuid"], cases["case_task_limit"]
    sys.exit(live.run_cases(cases, live.workdir(files=0)))


main()
