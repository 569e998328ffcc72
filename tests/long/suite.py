# SPDX-License-Identifier: BSD-2-Clause
"""Runs a real test suite twice untraced and once under us and compares.

A test whose two untraced results differ is flaky: told, not compared.  All
others must have the same result under us, the books must be closed, and the
report must hold together.  A shard says what it runs (class Suite); here is
how it is judged, and that this judging can fail.  Never retries a difference.

With SYSCULL_LONG_FIX=1 the third run is not traced, but has the remedies that
`syscull fix` uses by itself.
"""
import os
import re
import shutil
import signal
import subprocess
import sys
import time

import fetch

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SYSCULL = os.path.abspath(os.environ.get("SYSCULL", os.path.join(TOP, "build", "syscull")))
LONG = os.path.abspath(os.environ.get("SYSCULL_LONG", os.path.join(TOP, "build", "long")))
GONE = "did not run"
RUN_SECONDS = 3600
WIDTH = 80
LINES = 60
FIXED = os.environ.get("SYSCULL_LONG_FIX") == "1"
UNDER = "with fixes" if FIXED else "traced"
FIX = [SYSCULL, "fix", "-q", "--with", "xattr,closefrom", "--"]


class Suite:
    """What a shard says of its suite."""

    name = None
    least = 1  # fewer tests than this: the suite did not really run
    # pattern of test names: (pattern of the result that it may have under us, why)
    cannot_judge = {}

    def prepare(self, folder):
        """Lays out the suite's files; called once before each run."""
        raise NotImplementedError

    def command(self, folder):
        """(argv, cwd, environment) of a run in the folder."""
        raise NotImplementedError

    def results(self, folder, output):
        """{name of a test: result} of a finished run."""
        raise NotImplementedError


class Run:
    def __init__(self, results, seconds, status):
        self.results, self.seconds, self.status = results, seconds, status


def skip(why):
    print(f"skipped: {why}")
    sys.exit(77)


def run(suite, name, before=(), inside=()):
    # The path is the same for every run: results may quote it.
    folder = os.path.join(LONG, suite.name, "run")
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    suite.prepare(folder)
    argv, cwd, env = suite.command(folder)
    env = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": folder, "LANG": "C.UTF-8", **env}
    output = os.path.join(LONG, suite.name, f"{name}.out")
    start = time.monotonic()
    with open(output, "wb") as out:
        # The suite's environment is its own, syscull keeps ours.
        child = subprocess.Popen([*before, "env", "-i", *(f"{key}={value}" for key, value in env.items()),
                                  *inside, *argv],
                                 cwd=cwd, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT,
                                 start_new_session=True)
        try:
            child.wait(RUN_SECONDS)
        except subprocess.TimeoutExpired:
            print(f"{name}: not done after {RUN_SECONDS} s: ended")
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()
    seconds = time.monotonic() - start
    with open(output, encoding="utf-8", errors="replace") as out:
        return Run(suite.results(folder, out.read()), seconds, child.returncode)


def compare(first, second, traced, cannot_judge):
    """(differences, flaky, not judged): each {test: text}."""
    differ, flaky, unjudged = {}, {}, {}
    for test in sorted({*first, *second, *traced}):
        a, b, t = first.get(test, GONE), second.get(test, GONE), traced.get(test, GONE)
        why = next((why for pattern, (result, why) in cannot_judge.items()
                    if re.fullmatch(pattern, test) and re.fullmatch(result, t)), None)
        if a != b:
            flaky[test] = f"{a} / {b}, {UNDER} {t}"
        elif a != t and why:
            unjudged[test] = f"untraced {a}, {UNDER} {t}: {why}"
        elif a != t:
            differ[test] = f"untraced {a}, {UNDER} {t}"
    return differ, flaky, unjudged


def self_check(first, second, traced, cannot_judge):
    """Results changed by hand must be noticed, one by one."""
    before = compare(first, second, traced, cannot_judge)[0]
    steady = [test for test in first if first[test] == second.get(test) == traced.get(test)
              and not any(re.fullmatch(pattern, test) for pattern in cannot_judge)]
    wrong = []
    for test in steady[:1] + steady[-1:]:
        for what, spoilt in (("changed", {**traced, test: "spoilt"}),
                             ("missing", {t: r for t, r in traced.items() if t != test})):
            if set(compare(first, second, spoilt, cannot_judge)[0]) != {*before, test}:
                wrong.append(f"self-check: a {what} result of {test} is not noticed")
    more = compare(first, second, {**traced, "a test that was not there": "passed"}, cannot_judge)[0]
    if set(more) != {*before, "a test that was not there"}:
        wrong.append("self-check: a test that only runs under us is not noticed")
    if not steady:
        wrong.append("self-check: no test has the same result three times")
    return wrong


def absurd(report):
    """Lines of a report that cannot be right, whatever ran."""
    wrong = []
    for line in report.splitlines():
        if len(line) > WIDTH:
            wrong.append(f"a line of {len(line)} columns: {line}")
        if any(float(share.replace(",", "")) > 100 for share in re.findall(r"([\d.,]*\d) ?%", line)):
            wrong.append(f"more than all: {line}")
        if re.search(r"(?<![\w/.-])-\d[\d.,]* (ns|us|ms|s|min|h)\b|\bnan\b|\binf\b|\b1844674407\d+", line):
            wrong.append(f"no possible number: {line}")
    return wrong


def books(report):
    """What is wrong with the books of a report."""
    line = re.search(r"^Books\s+(.*(?:\n .*)*)", report, re.M)
    text = " ".join(line.group(1).split()) if line else "none"
    return ([] if text.startswith("closed:") else [f"books: {text}"]), text


def judge(suite, first, second, traced, report):
    """(what is wrong, what else to say, the last line)."""
    differ, flaky, unjudged = compare(first.results, second.results, traced.results, suite.cannot_judge)
    wrong = [f"differs: {test}: {text}" for test, text in differ.items()]
    wrong += self_check(first.results, second.results, traced.results, suite.cannot_judge)
    if first.status == second.status != traced.status and not flaky and not unjudged:
        wrong.append(f"differs: exit status: untraced {first.status}, {UNDER} {traced.status}")
    if len(first.results) < suite.least:
        wrong.append(f"only {len(first.results):,} tests ran, at least {suite.least:,} should")
    books_wrong, text = ([], "") if FIXED else books(report)
    wrong += books_wrong + [f"report: {line}" for line in absurd(report)]
    said = [f"flaky: {test}: {text}" for test, text in flaky.items()]
    said += [f"not judged: {test}: {text}" for test, text in unjudged.items()]
    seen = re.search(r"([\d,]+) seen", text)
    same = len({*first.results, *second.results, *traced.results}) - len(differ) - len(flaky) - len(unjudged)
    last = f"{same:,} tests the same, {len(differ)} differ, {len(flaky)} flaky, {len(unjudged)} not judged; "
    if not FIXED:
        last += f"{seen.group(1) if seen else 'no'} calls, books {'closed' if not books_wrong else 'NOT closed'}; "
    last += f"{min(first.seconds, second.seconds):.0f} s untraced, {traced.seconds:.0f} s {UNDER}"
    return wrong, said, last


def under_us(suite, path):
    """The third run, and the report."""
    if not FIXED:
        traced = run(suite, "traced", [SYSCULL, "run", "-v", "--color", "never", "-o", path, "--"])
        with open(path, encoding="utf-8", errors="replace") as file:
            return traced, file.read()
    # A library that is not there changes nothing.
    there = subprocess.run([*FIX, "grep", "-c", "libsyscull-preload", "/proc/self/maps"], capture_output=True,
                           check=False)
    if there.returncode != 0:
        print(f"the library is not reached: {there.stderr.decode(errors='replace').strip()}")
        sys.exit(1)
    return run(suite, "fixed", inside=FIX), ""


def main(suite):
    if not os.access(SYSCULL, os.X_OK):
        skip(f"no {SYSCULL}: make build")
    if not FIXED and subprocess.run([SYSCULL, "doctor"], capture_output=True, check=False).returncode != 0:
        skip("tracing does not work here: syscull doctor says why")
    os.makedirs(os.path.join(LONG, suite.name), exist_ok=True)
    path = os.path.join(LONG, suite.name, "report")
    try:
        first, second = run(suite, "untraced-1"), run(suite, "untraced-2")
    except fetch.CannotFetch as why:
        skip(why)
    wrong, said, last = judge(suite, first, second, *under_us(suite, path))
    for lines in (said, wrong):
        for line in lines[:LINES]:
            print(line)
        if len(lines) > LINES:
            print(f"and {len(lines) - LINES:,} more lines")
    print(last)
    return 1 if wrong else 0
