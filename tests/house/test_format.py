# SPDX-License-Identifier: BSD-2-Clause
"""clang-format has nothing to change.  Other versions than 14 format otherwise."""
import os
import re
import shutil
import subprocess
import sys

TOP = sys.argv[1]
tool = shutil.which("clang-format-14") or shutil.which("clang-format")
if not tool:
    print("no clang-format here", file=sys.stderr)
    sys.exit(77)
version = subprocess.run([tool, "--version"], capture_output=True, text=True, check=True).stdout
if not re.search(r"version 14\.", version):
    print(f"needs clang-format 14, here is: {version.strip()}", file=sys.stderr)
    sys.exit(77)
files = subprocess.run([os.path.join(TOP, "tools", "c-files")], capture_output=True, text=True, check=True).stdout.split()
run = subprocess.run([tool, "--dry-run", "--Werror", *files], cwd=TOP, capture_output=True, text=True, check=False)
places = re.findall(r"^(\S+?:\d+):\d+: error", run.stderr, re.M)
print("\n".join(places) or f"{len(files)} files")
if places:
    print("make format changes these")
sys.exit(run.returncode)
