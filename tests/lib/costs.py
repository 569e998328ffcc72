#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Holds the rows of COST in a manual page against what arrives at the kernel.

usage: costs.py PAGE PROGRAM [OPTION...]

PROGRAM begins a region (syscull_mark) with the name of each row, makes what the
row is about, and begins region "-".  SYSCULL is the built command.  The page
and the program must have the same rows.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

ENV = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C", "HOME": "/"}


def promised(page):
    """{row: {call: count}}"""
    rows = {}
    with open(page, encoding="utf-8") as file:
        section = file.read().split(".Sh COST")[1].split("\n.Sh ")[0]
    # .It Li NAME, then lines of text: "what is counted: CALL N, CALL N"
    for item in section.split("\n.Bl")[1].split("\n.El")[0].split("\n.It ")[1:]:
        row = re.fullmatch(r"Li (\S+) .*: (none|(?:\w+ \d+(?:, )?)+)", " ".join(item.split("\n")))
        assert row, f"{page}: cannot be read: {item}"
        calls = re.findall(r"(\w+) (\d+)", row.group(2))
        assert row.group(1) not in rows, f"{page}: twice: {row.group(1)}"
        rows[row.group(1)] = {name: int(count) for name, count in calls}
    assert rows, f"{page}: no rows in COST"
    return rows


def regions(program):
    """{region: (all its calls, {call: count})}, and the number of marks."""
    with tempfile.TemporaryDirectory(prefix="syscull-costs-") as folder:
        report = os.path.join(folder, "report.json")
        work = os.path.join(folder, "work")
        os.mkdir(work)
        run = subprocess.run([os.environ["SYSCULL"], "run", "--by", "region", "--format", f"json={report}", "--",
                              *program, work], env=ENV, capture_output=True, text=True, check=False,
                             stdin=subprocess.DEVNULL)
        if run.returncode == 77 or not os.path.exists(report):
            print(run.stderr.strip() or "syscull run does not work here", file=sys.stderr)
            sys.exit(77)
        assert run.returncode == 0, f"{program} ended with {run.returncode}: {run.stderr}"
        with open(report, encoding="utf-8") as file:
            told = json.load(file)
    assert told["accounting"]["closed"], "the books are not closed"
    return {region["name"]: (region["count"], {call["name"]: call["count"] for call in region["top"]})
            for region in told["regions"]}, told["accounting"]["marks"]


def check_marks(page, rows, program):
    """Marks are no calls of a region: each look-up of the program is one of the accounting."""
    assert rows == {"mark": {"faccessat": 1}}, rows
    _, marks = regions(program)
    assert marks == 4, f"{marks} marks arrived, the program makes 4"


def main():
    page, program = sys.argv[1], sys.argv[2:]
    rows = promised(page)
    if os.path.basename(page) == "syscull_mark.3":
        check_marks(page, rows, program)
        print(f"{len(rows)} rows")
        return
    seen, _ = regions(program)
    bad = []
    for row, calls in rows.items():
        if row not in seen:
            bad.append(f"{row}: in the page, not in the program")
            continue
        total, made = seen[row]
        # A report names the dearest calls of a region only.
        some = {name: calls.get(name) for name in made}
        if total != sum(calls.values()) or made != some:
            bad.append(f"{row}: the page says {calls or 'none'}, the kernel saw {total}: {made or 'none'}")
    bad += [f"{row}: in the program, not in the page" for row in seen if row not in (*rows, "", "-")]
    print("\n".join(bad) or f"{len(rows)} rows")
    sys.exit(1 if bad else 0)


main()
