#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""--redact paths leaves our own words: those with which src/ describes places
are all in known_words of src/report/redact-text.c, so that none is hashed as
if it were a name.  Must not judge what a rule says elsewhere: there only words
with a slash are names."""
import pathlib
import re
import sys

# What is written into a place piece by piece is written here.
PIECES = {
    "rules/places.c",
    "rules/streams.c",
    "rules/mmap-churn-tell.c",
    "rules/trivial-process-tell.c",
    "rules/search-path-miss-tell.c",
    "verdict/budget-groups.c",
    "verdict/site.c",
}
STATEMENT = re.compile(r"finding_set\([^;]*?->(?:where|object)\b[^;]*;|finding_add_cost\([^;]*;|buf_(?:puts|printf)\([^;]*;"
                       # The tables of rules that follow the law, and of reopen.h.
                       r"|\.(?:where|object|nameless|detail) = [^,;]*")
# Of commands and paths that stand in such a text, not of our sentences.
NO_WORDS = {"dev", "env", "u", "urandom", "x"}
LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"')


def literals(text, pieces):
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    text = LITERAL.sub(lambda match: match.group(0).replace(";", " "), text)
    for statement in STATEMENT.findall(text):
        if statement.startswith("buf_") and not pieces:
            continue
        yield " ".join(LITERAL.findall(statement))


def words(literal):
    literal = re.sub(r"%[-0-9.*]*(?:l|ll|z|h)*[a-zA-Z%]", " ", literal)
    literal = re.sub(r"\\.", " ", literal)
    return re.findall(r"[A-Za-z][A-Za-z0-9_'-]*", literal)


def main():
    src = pathlib.Path(sys.argv[1]) / "src"
    table = re.search(r"known_words\[\] = \{(.*?)\};", (src / "report/redact-text.c").read_text(), re.S).group(1)
    known = set(LITERAL.findall(table))
    missing = {}
    files = sorted(src.glob("rules/*.c")) + sorted(src.glob("verdict/*.c"))
    for file in files:
        name = str(file.relative_to(src))
        for literal in literals(file.read_text(), name in PIECES):
            for word in words(literal):
                if word not in known and word not in NO_WORDS:
                    missing.setdefault(word, set()).add(name)
    for word, where in sorted(missing.items()):
        print(f"{word}: {', '.join(sorted(where))}")
    return 1 if missing else 0


sys.exit(main())
