# SPDX-License-Identifier: BSD-2-Clause
"""What the live tests share: running the command and reading its report.

A test script prints one line per thing that is wrong and ends with 1, or
says why it cannot run and ends with 77.
"""
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

SYSCULL = os.path.abspath(os.environ.get("SYSCULL", "build/syscull"))
TOP = os.path.abspath(os.environ.get("SYSCULL_TOP", os.path.join(os.path.dirname(__file__), "..", "..")))
PYTHON = "/usr/bin/python3"  # the system's own: what shadows it on PATH is a shell script

ROW = re.compile(r"([a-z][a-z0-9_-]*(?: \(\w+\))?)\s+([\d,]+)\s+([\d,]+)\s+[<\d.]+ (?:ns|us|ms|s|min)")


def as_from_a_terminal():
    """Signals that our caller ignores or blocks (nohup, a background job) are
    inherited by all we start, and a shell cannot trap them: undone here."""
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        if signal.getsignal(number) == signal.SIG_IGN and number != signal.SIGPIPE:
            signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, set())


as_from_a_terminal()


def skip(why):
    print(why, file=sys.stderr)
    sys.exit(77)


def clean_env(**more):
    """The same environment everywhere: nothing that changes what programs call."""
    env = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": os.environ.get("HOME", "/"), "LANG": "C.UTF-8",
           "XDG_CACHE_HOME": "/dev/null", "XDG_STATE_HOME": "/dev/null"}  # what the user has kept stays
    if "ASAN_OPTIONS" in os.environ:
        # A build with sanitizers, of us and of our own victims: leaks cannot
        # be looked for under a tracer, and limits must stay as they are.
        env["ASAN_OPTIONS"] = "detect_leaks=0:disable_coredump=0"
    env.update(more)
    return env


def need_tracing():
    done = subprocess.run([SYSCULL, "doctor"], capture_output=True, check=False)
    if done.returncode != 0:
        skip("tracing does not work here: " + done.stdout.decode(errors="replace").strip().splitlines()[-1])


def workdir(files=1000):
    """A new directory; d1k in it holds so many small files."""
    path = tempfile.mkdtemp(prefix="syscull-live.")
    folder = os.path.join(path, "d1k")
    os.mkdir(folder)
    for i in range(1, files + 1):
        with open(os.path.join(folder, f"f{i}"), "w", encoding="ascii") as f:
            f.write("x\n")
    return path


class Report:
    """The text of `run -v`, taken apart."""

    def __init__(self, text):
        self.text = text
        self.calls = {}
        self.failed = {}
        for name, count, failed in ROW.findall(self.section("Calls")):
            self.calls[name] = int(count.replace(",", ""))
            self.failed[name] = int(failed.replace(",", ""))
        # What may stand before the head line is a warning, which can name calls, too.
        head = re.search(r"([\d,]+) calls?\b", re.sub(r"^Beware.*\n(?: .*\n)*", "", text))
        self.total = int(head.group(1).replace(",", "")) if head else -1
        self.closed = re.search(r"^Books\s+closed:", text, re.M) is not None

    def section(self, name):
        lines, inside = [], False
        for line in self.text.splitlines():
            if re.match(rf"{name}\b", line):
                inside = True
            elif re.match(r"(Books|Next|Note)\b", line):
                inside = False
            if inside:
                lines.append(line)
        return "\n".join(lines)

    def finding(self, rule):
        """The texts of a rule's findings, each with its first line."""
        return re.findall(rf"^\d+\. {re.escape(rule)}\s(?:.|\n)*?(?=\n\d+\. |\nCalls |\Z)", self.text, re.M)

    def wasted(self, rule):
        """How many calls each finding of a rule lists as wasted."""
        whats = [re.search(r"^   What (?:.|\n)*?(?=\n   [A-Z])", text, re.M).group(0) for text in self.finding(rule)]
        return [sum(int(n.replace(",", "")) for n in re.findall(r"^\s+([\d,]+)  [a-z]", what, re.M))
                for what in whats]

    def worth(self):
        """How many findings are worth fixing."""
        line = re.search(r"^Waste\s+(.*(?:\n .*)*)", self.text, re.M).group(1)
        number = re.search(r"(\d+)\s+findings?\s+worth\s+fixing", line)
        return int(number.group(1)) if number else 0

    def findings(self):
        """[(rule, tier)] in the order of the report."""
        return re.findall(r"^\s*\d+\. ([a-z-]+)\s+(certain|likely|by-design)", self.text, re.M)


def syscull(argv, cwd, options=(), before=(), env=None, results=None, **more):
    """Runs a command under us: (completed process, report).  results: a file for the same as JSON."""
    path = os.path.join(cwd, "report.txt")
    if os.path.exists(path):
        os.unlink(path)
    out = ["--format", f"text={path}", "--format", f"json={results}"] if results else ["-o", path]
    done = subprocess.run([*before, SYSCULL, "run", "-v", "--color", "never", *out, *options, "--", *argv],
                          cwd=cwd, env=env or clean_env(), stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, **more)
    return done, read_report(path)


def read_report(path):
    if not os.path.exists(path):
        return Report("")
    with open(path, encoding="utf-8", errors="replace") as f:
        return Report(f.read())


def read_scope(path):
    """What live-scope wrote: ({call: (count, failed)}, {name of the books: number})."""
    calls, books = {}, {}
    with open(path, encoding="ascii") as f:
        for line in f:
            *name, value, last = line.split()
            if value.endswith("=") and not name:
                books[value[:-1]] = int(last)
            else:
                calls[" ".join(name)] = (int(value), int(last))
    return calls, books


def books_of(books):
    """What does not add up in them."""
    bad = []
    if books["seen"] != books["delivered"] + books["lost"] + books["in_flight"] + books["marks"]:
        bad.append(f"books are not closed: {books}")
    if books["children"] != books["followed"] + books["not_followed"]:
        bad.append(f"children are missing: {books}")
    return bad


def status(tid, field):
    """A field of /proc/TID/status; "-" when there is no such task."""
    try:
        with open(f"/proc/{tid}/status", encoding="utf-8", errors="replace") as f:
            return re.search(rf"^{field}:\s*(.*)$", f.read(), re.M).group(1)
    except (OSError, AttributeError):
        return "-"


def attached(us, pids):
    """Do we hold all of these, with either engine?  (bpf: the last link is the last thing before the tasks.)"""
    if us.poll() is not None or all(status(tid, "TracerPid") == str(us.pid) for pid in pids for tid in threads(pid)):
        return True
    links = 0
    try:
        for fd in os.listdir(f"/proc/{us.pid}/fd"):
            try:
                links += "bpf_link" in os.readlink(f"/proc/{us.pid}/fd/{fd}")
            except OSError:
                pass
    except OSError:
        pass
    return links >= 5


def threads(pid):
    try:
        return [int(tid) for tid in os.listdir(f"/proc/{pid}/task")]
    except OSError:
        return []


def until(condition, what):
    """Waits for something that happens soon on any machine."""
    for _ in range(3000):
        if condition():
            return
        time.sleep(0.01)
    raise TimeoutError(f"{what} took more than 30 s")


def end_children():
    """A case that gave up leaves nobody behind: a run that is stopped would go on slowing the machine."""
    try:
        with open(f"/proc/self/task/{os.getpid()}/children", encoding="ascii") as f:
            for pid in f.read().split():
                os.kill(int(pid), signal.SIGKILL)
    except OSError:
        pass


def run_cases(names, cwd):
    """Runs the functions case_NAME that were asked for: the exit status."""
    cases = {name[5:].replace("_", "-"): case for name, case in names.items() if name.startswith("case_")}
    bad = 0
    try:
        for name in sys.argv[1:] or cases:
            try:
                wrong = cases[name](cwd)
            except (TimeoutError, subprocess.TimeoutExpired) as late:
                wrong = [str(late)]
                end_children()
            bad += len(wrong)
            print(f"{name}: {'; '.join(wrong) if wrong else 'ok'}", flush=True)
    finally:
        shutil.rmtree(cwd, ignore_errors=True)
    return 1 if bad else 0


def have(program):
    return shutil.which(program, path=clean_env()["PATH"]) is not None
