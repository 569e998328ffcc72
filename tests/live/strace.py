#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Compares our counts and failures per call with `strace -f -o` of another run.

Only programs whose calls are the same in every run.  Known differences that
are taken out here:
 * exit and exit_group return nowhere: strace prints "= ?" and its -c leaves
   them out; both have them as one call that did not fail;
 * rt_sigreturn "returns" the restored register, which strace may print as an
   error; with us it never fails;
 * interrupted calls (ERESTARTSYS and its kin) are no failures.
"""
import collections
import os
import re
import shutil
import subprocess
import sys

import live

START = re.compile(r"^\d+ +([a-z0-9_]+)\((.*)$")
RESUMED = re.compile(r"^\d+ +<\.\.\. ([a-z0-9_]+) resumed>(.*)$")
FAILED = re.compile(r" = -1 (E[A-Z0-9]+) ")

CASES = {
    "ls": ["ls", "-l", "d1k"],
    "sh": ["sh", "-c", "echo; :"],
    "cat": ["cat", "d1k/f1", "d1k/f2", "missing"],
    "cp": ["cp", "d1k/f1", "copy"],
    "perl": ["perl", "-e", "1"],
    "python3": [live.PYTHON, "-c", "pass"],
    "grep": ["grep", "-r", "y", "d1k"],
    "sort": ["sort", "d1k/f1"],
    "find": ["find", "d1k", "-newer", "d1k/f1"],
    "subshell": ["sh", "-c", "(exit 3); ls d1k/f1 missing; trap 'echo got' USR1; kill -USR1 $$"],
}
RETURNS_NOWHERE = {"rt_sigreturn", "exit", "exit_group"}


def strace_counts(argv, cwd):
    log = os.path.join(cwd, "strace.log")
    done = subprocess.run(["strace", "-f", "-o", log, *argv], cwd=cwd, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                          env=live.clean_env(PYTHONDONTWRITEBYTECODE="1"))
    calls, failed = collections.Counter(), collections.Counter()
    with open(log, encoding="utf-8", errors="replace") as lines:
        for line in lines:
            start, resumed = START.match(line), RESUMED.match(line)
            if start:
                calls[start.group(1)] += 1
            match = start or resumed
            if match and match.group(1) not in RETURNS_NOWHERE and FAILED.search(match.group(2)):
                failed[match.group(1)] += 1
    return done, calls, failed


def compare(label, argv, cwd):
    theirs, calls, failed = strace_counts(argv, cwd)
    if label == "cp":
        os.unlink(os.path.join(cwd, "copy"))
    ours, report = live.syscull(argv, cwd, env=live.clean_env(PYTHONDONTWRITEBYTECODE="1"))
    bad = []
    for name in sorted(set(calls) | set(report.calls)):
        if calls[name] != report.calls.get(name, 0):
            bad.append(f"{name}: {report.calls.get(name, 0)} here, {calls[name]} there")
        if failed[name] != report.failed.get(name, 0):
            bad.append(f"{name} failed: {report.failed.get(name, 0)} here, {failed[name]} there")
    if (theirs.returncode, theirs.stdout) != (ours.returncode, ours.stdout):
        bad.append(f"status or output differ: {ours.returncode} here, {theirs.returncode} there")
    if not report.closed:
        bad.append("books are not closed")
    print(f"{label}: {sum(calls.values())} calls: {'; '.join(bad) if bad else 'equal'}")
    return len(bad)


def main():
    if not live.have("strace"):
        live.skip("no strace")
    live.need_tracing()
    cwd = live.workdir()
    try:
        wanted = sys.argv[1:] or CASES
        bad = sum(compare(label, CASES[label], cwd) for label in wanted if live.have(CASES[label][0]))
    finally:
        shutil.rmtree(cwd, ignore_errors=True)
    sys.exit(1 if bad else 0)


main()
