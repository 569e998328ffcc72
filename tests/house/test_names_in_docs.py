# SPDX-License-Identifier: BSD-2-Clause
"""What the documents name exists: make targets, files of the tree, links."""
import glob
import os
import re
import sys

TOP = sys.argv[1]
ROOTS = r"(?:src|docs|tests|tools|data|man|bench|lib|preload|include|integrations|examples|packaging|\.ci)"

with open(os.path.join(TOP, "Makefile"), encoding="utf-8") as makefile:
    targets = set(re.findall(r"^([a-z-]+):", makefile.read(), re.M))
bad = []
seen = 0


def code_of(text):
    """What stands in code: fenced or indented blocks, and spans."""
    for number, line in enumerate(text.split("\n"), 1):
        if line.startswith(("    ", "\t", "$ ")):
            yield number, line
        for span in re.findall(r"`([^`]+)`", line):
            yield number, span


for path in [*glob.glob(os.path.join(TOP, "*.md")), *glob.glob(os.path.join(TOP, "docs", "**", "*.md"), recursive=True)]:
    shown = os.path.relpath(path, TOP)
    with open(path, encoding="utf-8") as file:
        text = file.read()
    for number, code in code_of(text):
        for target in re.findall(r"(?:^|[\s(])make ([a-z][a-z-]*)", code):
            seen += 1
            # `make -j2`, `make something` of other programs are no targets of ours.
            if target not in targets:
                bad.append(f"{shown}:{number}: no target: make {target}")
        for name in re.findall(rf"(?:^|(?<=[\s(\"']))({ROOTS}/[\w./-]+)", code):
            seen += 1
            if not os.path.exists(os.path.join(TOP, name.rstrip("."))):
                bad.append(f"{shown}:{number}: no such file: {name}")
    for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text):
        seen += 1
        if not os.path.exists(os.path.join(os.path.dirname(path), link)):
            bad.append(f"{shown}: dead link: {link}")

if seen < 10:
    bad.append(f"only {seen} names found: this test no longer reads what it should")
print("\n".join(bad) or f"{seen} names")
sys.exit(1 if bad else 0)
