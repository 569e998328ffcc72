# SPDX-License-Identifier: BSD-2-Clause
"""Real comparisons against docs/schema/diff.schema.json, strictly.

usage: check_diff.py TOP SYSCULL
"""
import json
import os
import subprocess
import sys
import tempfile

from schema import Schema, end

TOP, SYSCULL = sys.argv[1:]
SYSCULL = os.path.abspath(SYSCULL)
SCHEMA = Schema(TOP, "diff.schema.json")
bad = SCHEMA.unexplained()
with tempfile.TemporaryDirectory() as place:
    os.chdir(place)
    os.mkdir("d")
    for i in range(100):
        open(f"d/{i}", "w", encoding="ascii").close()
    runs = {"a.json": ["ls", "-l", "d"], "b.json": ["ls", "d"], "c.json": ["true", b"\xff\x1b"]}
    for name, command in runs.items():
        subprocess.run([SYSCULL, "run", "--no-keep", "-q", "--format", f"json={name}", "--", *command], check=True,
                       stdout=subprocess.DEVNULL)
    for options in ([], ["-v"]):
        for pair in (("a.json", "b.json"), ("b.json", "a.json"), ("a.json", "a.json"), ("b.json", "c.json")):
            done = subprocess.run([SYSCULL, "diff", "--format", "json", *options, *pair], capture_output=True,
                                  check=False)
            diff, errors = SCHEMA.errors_of_bytes(" ".join(pair), done.stdout)
            bad += errors
            if errors:
                continue
            changed = any(c["before"] != c["after"] for c in diff["calls"])
            assert done.returncode == (1 if changed else 0), (pair, done.stderr)
            assert changed == (pair[0] != pair[1])
            with open(pair[1], encoding="utf-8") as file:
                after = json.load(file)
            assert diff["calls_after"] == sum(c["count"] for c in after["calls"])
end(bad, f"{len(SCHEMA.names)} names")
