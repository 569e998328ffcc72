# SPDX-License-Identifier: BSD-2-Clause
"""Real comparisons against docs/schema/diff.schema.json, strictly.

usage: check_diff.py TOP SYSCULL
"""
import json
import os
import re
import subprocess
import sys
import tempfile

try:
    import jsonschema
except ImportError:
    print("no python3-jsonschema here", file=sys.stderr)
    sys.exit(77)

TOP, SYSCULL = sys.argv[1:]
SYSCULL = os.path.abspath(SYSCULL)
with open(os.path.join(TOP, "docs", "schema", "diff.schema.json"), encoding="utf-8") as file:
    SCHEMA = json.load(file)
jsonschema.Draft202012Validator.check_schema(SCHEMA)
NAMES = set()


def strict(node):
    if isinstance(node, dict):
        if isinstance(node.get("properties"), dict) and "type" in node:
            NAMES.update(node["properties"])
            node.setdefault("additionalProperties", False)
        for value in node.values():
            strict(value)
    elif isinstance(node, list):
        for value in node:
            strict(value)
    return node


validator = jsonschema.Draft202012Validator(strict(SCHEMA))
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
            diff = json.loads(done.stdout)
            errors = [f"{list(e.path)}: {e.message}" for e in validator.iter_errors(diff)]
            assert not errors, errors
            changed = any(c["before"] != c["after"] for c in diff["calls"])
            assert done.returncode == (1 if changed else 0), (pair, done.stderr)
            assert changed == (pair[0] != pair[1])
            with open(pair[1], encoding="utf-8") as file:
                after = json.load(file)
            assert diff["calls_after"] == sum(c["count"] for c in after["calls"])
with open(os.path.join(TOP, "docs", "json.md"), encoding="utf-8") as file:
    explained = set(re.findall(r"`([a-z_0-9]+)`", file.read()))
missing = NAMES - explained - {"b64"}
assert not missing, f"docs/json.md does not explain {sorted(missing)}"
print(f"{len(NAMES)} names")
