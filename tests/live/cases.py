#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The bug reports of docs/cases are what their first line gives today.

The first line of code of a page, run in an empty folder, prints a report; its
counts have to be those of the page.  Times, addresses and stacks are not
compared.  With another version of the program than the page has, or without it,
the page is skipped.

usage: cases.py PAGE.md...

SYSCULL_CASES_UPDATE=1 writes what the line gives into the page, behind its
first line, up to the last report that is in it.
"""
import os
import re
import shlex
import subprocess
import sys
import tempfile

import live

SEEN = re.compile(r"^Seen with (\S+) (\S+) on ", re.MULTILINE)
TOTAL = re.compile(r"^([\d,]+) of its ([\d,]+) system calls are of no use to it \(rule ([a-z-]+), ([a-z-]+)\)",
                   re.MULTILINE)
# | 299 | newfstatat | /etc/localtime | 292 us |: all but the time
ROW = re.compile(r"^(\| [\d,]+ \|.*\|) [^|]+ \|$", re.MULTILINE)
BEGIN, END = "<!-- report -->\n", "<!-- end of the report -->\n"


def split(page):
    """The first line of code, and what stands before, in and behind the report."""
    before, rest = page.split(BEGIN, 1)
    report, behind = rest.split(END, 1)
    line = next(text[4:] for text in before.splitlines() if text.startswith("    "))
    return line, before, report, behind


def run(line, folder):
    tools = os.path.join(folder, "bin")
    empty = os.path.join(folder, "empty")
    os.mkdir(tools)
    os.mkdir(empty)
    with open(os.path.join(tools, "syscull"), "w", encoding="utf-8") as file:
        file.write("#!/bin/sh\nexec %s \"$@\"\n" % shlex.quote(live.SYSCULL))
    os.chmod(file.name, 0o755)
    env = live.clean_env()
    env["PATH"] = tools + ":" + env["PATH"]
    # A finding is worth fixing: the status of the report is 1.
    done = subprocess.run(["bash", "-c", line], cwd=empty, env=env, stdin=subprocess.DEVNULL, capture_output=True,
                          timeout=200, check=False)
    return done.stdout.decode(), done.stderr.decode()


def facts(report):
    seen = SEEN.findall(report)
    total = TOTAL.findall(report)
    rows = ROW.findall(report)
    return seen, total, rows


def check(path):
    """What is wrong, why it is skipped."""
    with open(path, encoding="utf-8") as file:
        line, before, kept, behind = split(file.read())
    if "as root" in before and os.geteuid() != 0:
        return [], "%s has to be root" % os.path.basename(path)
    # On a busy machine a pause between two looks at a file can make the second one look wanted.
    for _ in range(3):
        with tempfile.TemporaryDirectory(prefix="syscull-cases.") as folder:
            report, errors = run(line, folder)
        if facts(report) == facts(kept):
            break
    if os.environ.get("SYSCULL_CASES_UPDATE"):
        with open(path, "w", encoding="utf-8") as file:
            file.write(before + BEGIN + report + END + behind)
        return [], None
    seen, total, rows = facts(report)
    kept_seen, kept_total, kept_rows = facts(kept)
    if not kept_seen or not kept_total or not kept_rows:
        return ["%s: no counts in the page" % path], None
    if "not found" in errors:
        return [], errors.strip().splitlines()[-1]
    if seen and seen != kept_seen:
        return [], "%s: made with %s, here is %s" % (path, kept_seen, seen)
    wrong = ["%s: %s is now %s" % (path, old, new) for old, new in ((kept_total, total), (kept_rows, rows)) if old != new]
    return wrong + (errors.splitlines() if wrong else []), None


def main():
    live.need_tracing()
    wrong, skipped = [], []
    for path in sys.argv[1:]:
        bad, why = check(path)
        wrong += bad
        if why:
            skipped.append(why)
    for text in wrong:
        print(text)
    if wrong:
        return 1
    if skipped:
        live.skip("; ".join(skipped))
    return 0


if __name__ == "__main__":
    sys.exit(main())
