# SPDX-License-Identifier: BSD-2-Clause
"""bench/remedies.tbl names rules and remedies that exist.

usage: test_remedies.py TOP
"""
import glob
import os
import re
import sys

TOP = sys.argv[1]
KINDS = {"upgrade", "source", "configuration", "environment", "preload", "seccomp"}
THINGS = {"d1k", "n5k", "sub40", "e8", "four.c", "-"}


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


rules = {name.replace("_", "-") for name in re.findall(r"^RULE\((\w+)\)", read(f"{TOP}/src/rules/rules.def"), re.M)}
sources = "".join(read(path) for path in glob.glob(os.path.join(TOP, "src", "rules", "*.c")))
ids = set(re.findall(r'"([a-z0-9-]+)"', sources))
bad, seen = [], set()
for number, line in enumerate(read(f"{TOP}/bench/remedies.tbl").splitlines(), 1):
    if line.startswith("#") or not line.strip():
        continue
    cells = [cell.strip() for cell in line.split(" || ")]
    if len(cells) != 5:
        bad.append(f"line {number}: {len(cells)} columns")
        continue
    for rule in cells[0].split("+"):
        seen.add(rule)
        if rule not in rules:
            bad.append(f"line {number}: no rule is called {rule}")
    for remedy in cells[1].split("+"):
        if remedy not in KINDS and remedy not in ids:
            bad.append(f"line {number}: no remedy is called {remedy}")
    for need in cells[2].split():
        if need not in THINGS and not need.startswith("have:"):
            bad.append(f"line {number}: nothing is called {need}")
    if cells[3] == cells[4]:
        bad.append(f"line {number}: the commands are the same")
if len(seen) < 10:
    bad.append(f"only {len(seen)} rules: this test no longer reads what it should")
print("\n".join(bad) or f"{len(seen)} rules")
sys.exit(1 if bad else 0)
