# SPDX-License-Identifier: BSD-2-Clause
"""Counted calls in JSON against docs/schema/count.schema.json, which names all
that is written; docs/json.md explains all that it names.

usage: check_count.py TOP SYSCULL
"""
import copy
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

TOP, PROGRAM = sys.argv[1], os.path.abspath(sys.argv[2])
with open(os.path.join(TOP, "docs", "schema", "count.schema.json"), encoding="utf-8") as file:
    SCHEMA = json.load(file)
jsonschema.Draft202012Validator.check_schema(SCHEMA)


def strict(node):
    """A schema that allows no name but those that it has."""
    if isinstance(node, dict):
        if "properties" in node:
            node.setdefault("additionalProperties", False)
        for value in node.values():
            strict(value)
    elif isinstance(node, list):
        for value in node:
            strict(value)
    return node


def names_of(node, found):
    if isinstance(node, dict):
        found.update(node.get("properties", {}))
        for value in node.values():
            names_of(value, found)
    elif isinstance(node, list):
        for value in node:
            names_of(value, found)
    return found


def main():
    validator = jsonschema.Draft202012Validator(strict(copy.deepcopy(SCHEMA)))
    with open(os.path.join(TOP, "docs", "json.md"), encoding="utf-8") as document:
        said = set(re.findall(r"\w+", " ".join(re.findall(r"`([^`]+)`", document.read()))))
    bad = [f"docs/json.md lacks {name}" for name in sorted(names_of(SCHEMA, set()) - said)]
    hostile = b"\x1b[31m\xff\"\n"
    with tempfile.TemporaryDirectory(prefix="syscull-count.") as work:
        out = os.path.join(work, "report.json")
        for options, command in ((["--count"], ["true"]), (["--count", "--times", "never"], ["sh", "-c", "exit 3"]),
                                 (["--count"], ["sh", "-c", "kill -KILL $$"]), (["--count"], ["echo", hostile]),
                                 (["--count", "--interval", "0.1"], ["sleep", "0.3"]),
                                 (["--count", "--max-overhead", "0.001%"], ["sh", "-c", "while :; do :; done & sleep 1; kill $!"]),
                                 (["-a", "--duration", "0.3", "--interval", "0.1"], [])):
            if os.path.exists(out):
                os.unlink(out)
            done = subprocess.run([PROGRAM, "run", *options, "--format", "json=" + out, *(["--"] if command else []), *command],
                                  stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False,
                                  timeout=60)
            if done.returncode == 125 and b"doctor" in done.stderr:
                print(done.stderr.decode(), file=sys.stderr)
                sys.exit(77)
            with open(out, "rb") as file:
                text = file.read()
            if any(byte < 0x20 and byte != 0x0A for byte in text):
                bad.append(f"{options}: a control character")
            bad += [f"{options}: {'/'.join(map(str, error.absolute_path))}: {error.message[:300]}"
                    for error in validator.iter_errors(json.loads(text))]
    print("\n".join(bad))
    sys.exit(1 if bad else 0)


main()
