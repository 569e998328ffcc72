# SPDX-License-Identifier: BSD-2-Clause
"""Each rule's page names what `syscull fix` can do about it, as --list has it,
or says why there is nothing.

usage: test_fixes.py TOP SYSCULL
"""
import os
import re
import subprocess
import sys

TOP, SYSCULL = sys.argv[1:]
PAGES = os.path.join(TOP, "docs", "rules")
bad = []

listed = subprocess.run([SYSCULL, "fix", "--list"], capture_output=True, text=True, check=True).stdout
served = {}  # rule: names of remedies
for entry in re.findall(r"^(\S+?)(?:=\S*)?(?:  \(on by default\))?\n((?:    .*\n)+)", listed, re.M):
    name, text = entry[0], " ".join(entry[1].split())
    rules = re.search(r"; serves ([a-z -]+?) unsafe: ", text)
    if not rules:
        bad.append(f"--list: {name} serves nothing")
        continue
    for rule in rules.group(1).split():
        served.setdefault(rule, set()).add(name)
if len(served) < 5:
    bad.append(f"--list was not understood: {served}")

pages = {page[:-3] for page in os.listdir(PAGES)} - {"README"}
for rule in sorted(served):
    if rule not in pages:
        bad.append(f"--list: {rule} has no page")
for rule in sorted(pages):
    with open(os.path.join(PAGES, rule + ".md"), encoding="utf-8") as file:
        parts = re.findall(r"^### syscull fix: (.*)\n((?:(?!#).*\n)*)", file.read(), re.M)
    if len(parts) != 1:
        bad.append(f"{rule}: {len(parts)} parts \"### syscull fix: ...\", there should be one")
        continue
    title, text = parts[0][0], " ".join(parts[0][1].split())
    if rule not in served:
        # Why not, and not only that.
        if title != "none" or not re.match(r"\s*There is none: \S+ .{20}", text):
            bad.append(f"{rule}: --list has nothing for it; its page should say \"There is none: ...\" and why")
        continue
    named = set(re.findall(r"(?:--with |,)([A-Za-z_-]+)", text))
    for name in sorted(served[rule] - named):
        bad.append(f"{rule}: its page does not name --with {name}")
    for name in sorted(named - set().union(*served.values())):
        bad.append(f"{rule}: its page names --with {name}, which is none")

print("\n".join(bad) or f"{len(pages)} pages, {len(served)} rules that fix serves")
sys.exit(1 if bad else 0)
