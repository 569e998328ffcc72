# SPDX-License-Identifier: BSD-2-Clause
"""Schemas of docs/schema as the tests here take them: strictly, so that what is
written has no name that its schema lacks, and docs/json.md explains them all."""
import json
import os
import re
import sys

try:
    import jsonschema
except ImportError:
    print("no python3-jsonschema here", file=sys.stderr)
    sys.exit(77)


def _strict(node, names):
    """Allows no name but those that it has, which go to `names`."""
    if isinstance(node, dict):
        if isinstance(node.get("properties"), dict):
            names.update(node["properties"])
            node.setdefault("additionalProperties", False)
        for value in node.values():
            _strict(value, names)
    elif isinstance(node, list):
        for value in node:
            _strict(value, names)
    return node


class Schema:
    """One of docs/schema below the folder `top`; `others` are those that it refers to."""

    def __init__(self, top, name, others=()):
        self.top = top
        self.names = set()
        schema = self._load(name, self.names)
        store = {other: self._load(other, set()) for other in others}
        self.validator = jsonschema.Draft202012Validator(
            schema, resolver=jsonschema.RefResolver(base_uri="", referrer=schema, store=store))

    def _load(self, name, names):
        with open(os.path.join(self.top, "docs", "schema", name), encoding="utf-8") as file:
            schema = json.load(file)
        jsonschema.Draft202012Validator.check_schema(schema)
        return _strict(schema, names)

    def errors(self, name, report):
        return [f"{name}: {'/'.join(map(str, e.absolute_path))}: {e.message[:300]}"
                for e in self.validator.iter_errors(report)]

    def errors_of_bytes(self, name, text):
        """The report, and what is wrong with what was written."""
        raw = [byte for byte in text if byte < 0x20 and byte != 0x0A]
        if raw:
            return None, [f"{name}: byte {raw[0]} is not escaped"]
        try:
            report = json.loads(text.decode("utf-8"))
        except ValueError as error:
            return None, [f"{name}: {error}"]
        return report, self.errors(name, report)

    def unexplained(self):
        with open(os.path.join(self.top, "docs", "json.md"), encoding="utf-8") as document:
            said = set(re.findall(r"\w+", " ".join(re.findall(r"`([^`]+)`", document.read()))))
        return [f"docs/json.md lacks {name}" for name in sorted(self.names - said)]


def need(done):
    """Skips where nothing can be traced: `done` is a run that has to work."""
    if done.returncode != 0:
        print(f"nothing can be traced here: {done.stderr.decode(errors='replace').strip()}", file=sys.stderr)
        sys.exit(77)


def end(bad, good="all as described"):
    print("\n".join(bad) or good)
    sys.exit(1 if bad else 0)
