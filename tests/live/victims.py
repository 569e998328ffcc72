#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Runs a victim under us and holds the report against what it printed.

usage: victims.py PROGRAM

The lines that a victim prints are described in tests/victims/victim.h.
"""
import os
import re
import shutil
import sys

import live

# Every variant of a call, as the table has them.
FAMILIES = {"@xattr": re.compile(r"^[lf]?(?:get|list|set|remove)xattr(?:at)?$")}


def words(rest):
    return dict(word.split("=", 1) for word in rest.split() if "=" in word)


def check_expect(report, rest, bad):
    want = words(rest)
    findings = report.finding(want["rule"])
    if len(findings) != 1:
        bad.append(f"{len(findings)} findings of {want['rule']}")
        return
    finding = findings[0]
    wasted = report.wasted(want["rule"])[0]
    tier = re.match(r"\d+\. \S+\s+(\S+)", finding).group(1)
    if "tier" in want and tier != want["tier"]:
        bad.append(f"{want['rule']} is {tier}, not {want['tier']}")
    if "errno" in want and want["errno"] not in finding:
        bad.append(f"{want['rule']} does not name {want['errno']}")
    if "with" in want and want["with"] not in finding:
        bad.append(f"{want['rule']} does not say {want['with']}")
    if "without" in want and want["without"] in finding:
        bad.append(f"{want['rule']} says {want['without']}")
    if "least" in want and wasted < int(want["least"]):
        bad.append(f"{want['rule']} has {wasted} calls, not {want['least']} or more")
    if wasted != int(want.get("calls", wasted)):
        bad.append(f"{want['rule']} has {wasted} calls, not {want['calls']}")


def check_count(report, rest, bad):
    calls, count = re.match(r"(\S+?)=(\d+)", rest).groups()
    options = words(rest.split(None, 1)[1]) if " " in rest else {}
    if "path" in options:
        return  # the report has no counts by path; the finding's count says it
    names = [n for n in report.calls if FAMILIES[calls].match(n)] if calls.startswith("@") else calls.split("+")
    table = report.failed if "errno" in options else report.calls
    seen = sum(table.get(name, 0) for name in names)
    if seen != int(count):
        bad.append(f"{calls}: {seen} here, {count} made")


def check(program, cwd):
    done, report = live.syscull([program], cwd, env=live.clean_env(TMPDIR=cwd))
    lines = done.stdout.decode().splitlines()
    bad, expectations = [], 0
    if done.returncode == 77:
        live.skip(done.stderr.decode().strip())
    if done.returncode != 0:
        bad.append(f"status {done.returncode}")
    if not report.closed:
        bad.append("books are not closed")
    if sum(report.calls.values()) != report.total:
        bad.append("the table does not sum up")
    for line in lines:
        what, _, rest = line.partition(" ")
        expectations += 1
        if what == "expect":
            check_expect(report, rest, bad)
        elif what == "expect-none":
            if report.finding(words(rest)["rule"]):
                bad.append(f"{words(rest)['rule']} where none is")
        elif what == "count":
            check_count(report, rest, bad)
        else:
            bad.append(f"what is this: {line}")
    if expectations == 0:
        bad.append("it expects nothing")
    print(f"{program.rsplit('/', 1)[-1]}: {expectations} expectations: {'; '.join(bad) if bad else 'met'}")
    if bad:
        print(report.text)
    return len(bad)


def main():
    live.need_tracing()
    cwd = live.workdir(files=0)
    try:
        bad = check(os.path.abspath(sys.argv[1]), cwd)
    finally:
        shutil.rmtree(cwd, ignore_errors=True)
    sys.exit(1 if bad else 0)


main()
