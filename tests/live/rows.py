#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Runs the rows of rows.tbl: real programs that must or must not be flagged.

usage: rows.py RULE [NEED]

RULE may be a group, innocent-NAME.  Only rows that need NEED are run, or,
without it, those that need nothing.  SYSCULL_VICTIMS is where the victims are,
by the name victim-NAME.
"""
import json
import os
import random
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


def make_repo(path):
    """A repository of 1,000 files with one commit and a staged change."""
    git = ["git", "-C", path, "-c", "user.name=n", "-c", "user.email=n@localhost"]
    files = os.path.join(path, "files")
    os.makedirs(files)
    for i in range(1000):
        write(os.path.join(files, f"f{i}"), f"{i}\n")
    for words in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "first"]):
        subprocess.run([*git, *words], env=live.clean_env(GIT_CONFIG_GLOBAL="/dev/null"), check=True)
    write(os.path.join(files, "f1"), "changed\n")
    subprocess.run([*git, "add", "."], env=live.clean_env(GIT_CONFIG_GLOBAL="/dev/null"), check=True)


def write(path, text):
    with open(path, "w", encoding="ascii") as file:
        file.write(text)


def make_random(path):
    with open(path, "wb") as file:
        file.write(random.Random(1).randbytes(1000000))


def make_empty(path):
    for name in "abcdefgh":
        os.makedirs(os.path.join(path, name))


def make_folders(path):
    """40 targets in 40 folders, which make has no rule of its own for."""
    for i in range(40):
        os.makedirs(os.path.join(path, f"d{i}"))
        write(os.path.join(path, f"d{i}/f"), "\n")
    write(os.path.join(path, "Makefile"), "all: " + " ".join(f"d{i}/f" for i in range(40)) + "\n")


INSERTS = "".join(f"insert into t values('row {i}');\n" for i in range(200))
# What the words of a command can name besides d1k.
THINGS = {
    "n5k": lambda path: write(path, "".join(f"{i}\n" for i in range(1, 5001))),
    "big.bin": make_random,
    "gone": lambda path: shutil.copytree(os.path.join(os.path.dirname(path), "d1k"), path),
    "many.mk": lambda path: write(path, "T = " + " ".join(f"t{i}" for i in range(40)) +
                                  "\nMAKEFLAGS += -r\n.PHONY: all $(T)\nall: $(T)\n$(T):\n\t@git version\n"),
    "few.mk": lambda path: write(path, "all: a b c\na:\n\t@true\nb:\n\t@true; true\nc: a\n\t@:\n"),
    "true200.mk": lambda path: write(path, "all: " + " ".join(f"t{i}" for i in range(200)) + "\n" +
                                     "".join(f"t{i}:\n\t@/usr/bin/true {i}\n" for i in range(200))),
    "many.sql": lambda path: write(path, f"create table t(a);\n{INSERTS}"),
    "one.sql": lambda path: write(path, f"create table t(a);\nbegin;\n{INSERTS}commit;\n"),
    "four.c": lambda path: write(path, "".join(f"#include <{name}.h>\n" for name in
                                               ("stdio", "stdlib", "string", "unistd"))),
    "repo": make_repo,
    "e8": make_empty,
    "sub40": make_folders,
}


def set_up(row, cwd):
    for name, make in THINGS.items():
        path = os.path.join(cwd, name)
        if re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w.-])", row["command"]) and not os.path.exists(path):
            make(path)


def allowed(row):
    """{(rule, tier): worth} of what else may fire."""
    if row["also"] == "-":
        return {}
    entries = [entry.split("/") for entry in row["also"].split(",")]
    return {(rule, tier): worth for rule, tier, worth in entries}


def judge(row, report, findings):
    bad = []
    own = [f for f in findings if f["rule"] == row["rule"] and not f["information"]]
    if row["must"] != "silent":
        _, tier, calls = row["must"].split()
        tiers = [f["tier"] for f in own]
        if tier not in tiers:
            bad.append(f"no {tier} finding" + (f", but {tiers}" if tiers else ""))
        elif max(report.wasted(row["rule"])) < int(calls):
            bad.append(f"{report.wasted(row['rule'])} calls, not {calls}")
        if row["worth"] == "yes" and not any(f["worth"] for f in own):
            bad.append(NOT_WORTH)
        if row["worth"] == "no" and any(f["worth"] for f in own):
            bad.append(WORTH)
    also = allowed(row)
    for finding in findings:
        tier = "information" if finding["information"] else finding["tier"]
        worth = "yes" if finding["worth"] else "no"
        if row["must"] != "silent" and finding in own:
            continue
        expected = also.get((finding["rule"], tier))
        if expected is None:
            bad.append(f"{finding['rule']}/{tier}/{worth} fires, {finding['exe']}")
        elif expected not in (worth, "any"):
            bad.append(WORTH if finding["worth"] else NOT_WORTH)
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
    results = os.path.join(cwd, "report.json")
    for _ in range(3):
        set_up(row, cwd)
        done, report = live.syscull(words, cwd, before=before, env=live.clean_env(**variables), results=results)
        try:
            with open(results, encoding="utf-8") as file:
                findings = json.load(file)["findings"]
            os.unlink(results)
            bad = judge(row, report, findings)
        except (OSError, ValueError, KeyError) as error:
            bad = [f"no results: {error!r}"]
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
