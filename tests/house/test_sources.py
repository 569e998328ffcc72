# SPDX-License-Identifier: BSD-2-Clause
"""Every source has its licence line, and no include climbs out of its folder."""
import os
import re
import sys

TOP = sys.argv[1]
FOLDERS = ["bench", "data", "examples", "include", "integrations", "lib", "preload", "src", "tests", "tools", ".ci"]
LICENSE = "SPDX-License-Identifier: BSD-2-Clause"
bad = []
seen = 0


def is_source(path):
    if path.endswith((".c", ".h", ".py", ".sh", ".bash", ".bats", "meson.build")):
        return True
    with open(path, "rb") as file:
        return file.read(2) == b"#!"


for folder in FOLDERS:
    for where, _, names in os.walk(os.path.join(TOP, folder)):
        if "__pycache__" in where:
            continue
        for name in names:
            path = os.path.join(where, name)
            if os.path.islink(path) or not is_source(path):
                continue
            shown = os.path.relpath(path, TOP)
            with open(path, encoding="utf-8") as file:
                lines = file.read().split("\n")
            seen += 1
            c_file = name.endswith((".c", ".h"))
            if not any(LICENSE in line for line in lines[:1 if c_file else 2]):
                bad.append(f"{shown}:1: no line \"{LICENSE}\"")
            if not c_file:
                continue
            for number, line in enumerate(lines, 1):
                if re.match(r'\s*#\s*include\s*["<](\.\./|.*/\.\./)', line):
                    bad.append(f"{shown}:{number}: an include with \"..\"")
                if len(line.expandtabs(8)) > 120:
                    bad.append(f"{shown}:{number}: longer than 120 columns")

if seen < 20:
    bad.append(f"only {seen} sources found below {TOP}")
print("\n".join(bad) or f"{seen} sources")
sys.exit(1 if bad else 0)
