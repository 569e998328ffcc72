#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Runs the rows of rows.tbl: real programs that must or must not be flagged.

usage: rows.py RULE [NEED]

Only rows that need NEED are run, or, without it, those that need nothing.
SYSCULL_VICTIMS is where the victims are, by the name victim-NAME.
"""
import os
import re
import shlex
import shutil
import subprocess
import sys

import live

RAMFS = 'mount -t ramfs ramfs RAM && for i in $(seq 1000); do echo x > RAM/f$i; done && exec "$@"'
NOT_WORTH, WORTH = "not worth fixing", "worth fixing"
COLUMNS = ("rule", "must", "worth", "also", "needs", "command")


def rows():
    with open(os.path.join(live.TOP, "tests/live/rows.tbl"), encoding="utf-8") as table:
        for number, line in enumerate(table, 1):
            if line.startswith("#") or not line.strip():
                continue
            cells = [cell.strip() for cell in line.split("|", len(COLUMNS) - 1)]
            if len(cells) != len(COLUMNS):
                sys.exit(f"rows.tbl:{number}: {len(cells)} columns")
            yield dict(zip(COLUMNS, cells), number=number)


def command_of(row):
    """(variables, words)"""
    words = [word.replace("{python}", live.PYTHON) for word in shlex.split(row["command"])]
    if row["needs"] == "victims":
        words = [re.sub(r"^\{(.*)\}$", lambda m: f"{os.environ['SYSCULL_VICTIMS']}/victim-{m.group(1)}", word)
                 for word in words]
    variables = {}
    while "=" in words[0]:
        name, value = words.pop(0).split("=", 1)
        variables[name] = value
    return variables, words


def judge(row, report):
    bad = []
    found = report.findings()
    if row["must"] == "silent":
        if any(rule == row["rule"] for rule, _ in found):
            bad.append("flagged")
    else:
        _, tier, calls = row["must"].split()
        tiers = [t for rule, t in found if rule == row["rule"]]
        if tier not in tiers:
            bad.append(f"no {tier} finding" + (f", but {tiers}" if tiers else ""))
        elif max(report.wasted(row["rule"])) < int(calls):
            bad.append(f"{report.wasted(row['rule'])} calls, not {calls}")
    allowed = {row["rule"], *row["also"].split(",")}
    bad += [f"{rule} fires too" for rule, _ in found if rule not in allowed]
    worth = report.worth()
    if row["worth"] == "yes" and worth == 0:
        bad.append(NOT_WORTH)
    if row["worth"] == "no" and worth > 0 and row["also"] == "-":
        bad.append(WORTH)
    if not report.closed:
        bad.append("books are not closed")
    return bad


def run(row, cwd):
    variables, words = command_of(row)
    kind, _, name = row["needs"].partition(":")
    for program in [words[0], name] if kind == "have" else [words[0]]:
        if not live.have(program):
            print(f"no {program}")
            return None
    before = ["unshare", "-m", "sh", "-c", RAMFS, "sh"] if row["needs"] == "mount" else []
    # What is worth fixing hangs on times, which a busy machine spoils: what
    # the row says must hold in one of three runs, all else in the first.
    for _ in range(3):
        done, report = live.syscull(words, cwd, before=before, env=live.clean_env(**variables))
        bad = judge(row, report)
        if not bad or not set(bad) <= {NOT_WORTH, WORTH}:
            break
    if done.returncode != 0:
        bad.append(f"status {done.returncode}")
    print(f"{row['rule']}: {row['must']}: {row['command']}: {'; '.join(bad) if bad else 'as it must be'}")
    if bad:
        print(report.text, done.stderr.decode(errors="replace"))
    return len(bad)


def main():
    live.need_tracing()
    rule, need = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "-"
    cwd = live.workdir()
    try:
        os.mkdir(os.path.join(cwd, "RAM"))
        if need == "mount":
            tried = subprocess.run(["unshare", "-m", "mount", "-t", "ramfs", "ramfs", "RAM"], cwd=cwd,
                                   capture_output=True, check=False)
            if tried.returncode != 0:
                live.skip("mounting in a namespace does not work here: " + tried.stderr.decode().strip())
        wanted = [row for row in rows() if row["rule"] == rule and
                  ("-" if row["needs"].startswith("have:") else row["needs"]) == need]
        results = [run(row, cwd) for row in wanted]
    finally:
        shutil.rmtree(cwd, ignore_errors=True)
    if not wanted:
        sys.exit(f"no rows for {rule} {need}")
    if all(result is None for result in results):
        live.skip("none of the programs is here")
    sys.exit(1 if any(results) else 0)


main()
