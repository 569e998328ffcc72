# SPDX-License-Identifier: BSD-2-Clause
"""The package list is well formed, and tools/deps reads it.  Installs nothing."""
import os
import subprocess
import sys

TOP = sys.argv[1]
PARTS = {"build", "test", "cross", "long", "package"}
rows = []
with open(os.path.join(TOP, "tools", "debian-packages"), encoding="utf-8") as file:
    for line in file:
        words = line.split("#")[0].split()
        if words:
            assert len(words) == 2 and words[0] in PARTS, line
            rows.append(tuple(words))
assert len(rows) == len(set(rows)), "a row stands twice"
assert {part for part, _ in rows} == PARTS
# It conflicts with the cross compiler.
assert "gcc-multilib" not in {package for _, package in rows}


def listed(*parts):
    run = subprocess.run([os.path.join(TOP, "tools", "deps"), "--list", *parts], capture_output=True, text=True, check=True)
    return run.stdout.split()


# What only the long checks want is installed by them alone, and so with the Debian packages.
assert listed() == sorted({package for part, package in rows if part not in ("long", "package")})
assert listed("long") == sorted({package for part, package in rows if part == "long"})
for part in PARTS:
    assert listed(part) == sorted(package for p, package in rows if p == part), part
unknown = subprocess.run([os.path.join(TOP, "tools", "deps"), "--list", "nope"], capture_output=True, text=True, check=False)
assert unknown.returncode == 2 and "nope" in unknown.stderr
