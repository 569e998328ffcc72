# SPDX-License-Identifier: BSD-2-Clause
"""Every manual page can be read on a terminal of 80 columns: groff has nothing to
warn of, since a table that does not fit is told by no other means."""
import glob
import os
import re
import shutil
import subprocess
import sys

TOP = sys.argv[1]
PAGES = sorted(glob.glob(os.path.join(TOP, "man", "*.[1-8]")))
assert PAGES, "no manual pages"
if not shutil.which("groff"):
    print("no groff here: the pages are not rendered", file=sys.stderr)
    sys.exit(77)
bad = []
for page in PAGES:
    name = os.path.basename(page)
    shown = subprocess.run(["groff", "-mandoc", "-Tutf8", "-P-cbou", "-rLL=80n", "-rLT=80n", page],
                           capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    if re.search(r"can.t open|cannot (open|load|find)", shown.stderr):
        print(f"groff here cannot render pages: {shown.stderr.strip()}", file=sys.stderr)
        sys.exit(77)
    bad += [f"{name}: {line}" for line in shown.stderr.splitlines()]
    lines = [re.sub("\x1b\\[[0-9;]*m", "", line) for line in shown.stdout.splitlines()]
    assert len(lines) > 20, f"{name}: groff wrote {len(lines)} lines"
    bad += [f"{name}: {len(line)} columns: {line}" for line in lines if len(line) > 80]
print("\n".join(bad) or f"{len(PAGES)} pages")
sys.exit(1 if bad else 0)
