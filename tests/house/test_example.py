# SPDX-License-Identifier: BSD-2-Clause
"""The rule that docs/howto/add-a-rule.md goes through is in the sources as it is
quoted, and takes under 100 lines, as that page says."""
import re
import sys
import textwrap
from pathlib import Path

top = Path(sys.argv[1])
page = (top / "docs/howto/add-a-rule.md").read_text()
source = (top / "src/rules/noop-seek.c").read_text()
lines = [line.strip() for line in source.splitlines()]
wrong = []
blocks = [textwrap.dedent(block).strip("\n") for block in re.findall(r"(?:^(?:    .*)?\n)+", page, re.M)]
blocks = [block for block in blocks if block.startswith("static ")]

for block in blocks:
    # How far a line is indented under an opening brace differs with what is before it.
    quoted = [line.strip() for line in block.splitlines()]
    if not any(lines[i:i + len(quoted)] == quoted for i in range(len(lines))):
        wrong.append("not in noop-seek.c: " + quoted[0])
if len(blocks) < 3:
    wrong.append("add-a-rule.md quotes %d parts of noop-seek.c, not 3" % len(blocks))
if len(lines) >= 100:
    wrong.append("noop-seek.c has %d lines" % len(lines))
print("\n".join(wrong) or "%d parts quoted" % len(blocks))
sys.exit(bool(wrong))
