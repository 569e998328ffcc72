# SPDX-License-Identifier: BSD-2-Clause
"""Real proofs against docs/schema/prove.schema.json, which has no name that
docs/json.md does not explain and lacks none that is written.

usage: check_prove.py TOP SYSCULL
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
with open(os.path.join(TOP, "docs", "schema", "prove.schema.json"), encoding="utf-8") as file:
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
RUNS = (
    (["--with", "TZ", "-n", "2"], ["find", ".", "-ls"], True, True),
    (["--with", "TZ,LC_ALL", "-n", "5"], ["true", b"\xff\x1b[m"], True, True),
    (["--with", "TZ", "-n", "1"], ["sh", "-c", "exit ${#TZ}"], True, False),
    (["--with", "TZ", "-n", "1"], ["sh", "-c", "echo >>grown; wc -l <grown"], False, False),
)
with tempfile.TemporaryDirectory() as place:
    for options, command, steady, same in RUNS:
        environment = {k: v for k, v in os.environ.items() if k not in ("TZ", "LC_ALL")}
        done = subprocess.run([SYSCULL, "fix", "--prove", "--format", "json", *options, "--", *command], cwd=place,
                              env=environment, capture_output=True, stdin=subprocess.DEVNULL, check=False)
        proof = json.loads(done.stdout)
        errors = [f"{list(e.path)}: {e.message}" for e in validator.iter_errors(proof)]
        assert not errors, errors
        assert (proof["steady"], proof["same_output"]) == (steady, same), proof
        assert done.returncode == (0 if same else 1), done
with open(os.path.join(TOP, "docs", "json.md"), encoding="utf-8") as file:
    explained = set(re.findall(r"`([a-z_0-9]+)`", file.read()))
missing = NAMES - explained - {"name", "version", "min", "max", "median", "low", "high", "b64"}
assert not missing, f"docs/json.md does not explain {sorted(missing)}"
print(f"{len(RUNS)} proofs, {len(NAMES)} names")
