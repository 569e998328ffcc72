#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The library's pages: one for each part, with every function of its header,
and an example that compiles and runs as it stands there.

usage: pages.py TOP LIBSYSCULL_A
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

TOP, LIBRARY = sys.argv[1:3]


def read(*path):
    with open(os.path.join(TOP, *path), encoding="utf-8") as file:
        return file.read()


def example(page, text):
    """The first literal display of EXAMPLES, as mandoc would show it."""
    section = re.search(r"^\.Sh EXAMPLES\n(.*?)(?=^\.Sh |\Z)", text, re.M | re.S)
    code = section and re.search(r"^\.Bd -literal.*?\n(.*?)^\.Ed", section.group(1), re.M | re.S)
    assert code, f"{page}: no example"
    return code.group(1).replace("\\&", "").replace("\\e", "\\")


compiler = next((name for name in ("cc", "gcc", "clang") if shutil.which(name)), None)
if not compiler:
    print("no C compiler here", file=sys.stderr)
    sys.exit(77)
sanitizers = [word for word in os.environ.get("SYSCULL_SANITIZE", "").split() if word]
overview = read("man", "libsyscull.3")
done = 0
for line in read("lib", "parts.tbl").split("\n"):
    if not line or line.startswith("#"):
        continue
    part = line.split()[0]
    page = f"man/syscull_{part}.3"
    text = read(page)
    assert f".Xr syscull_{part} 3" in overview, f"man/libsyscull.3 does not name {page}"
    header = re.sub(r"/\*.*?\*/", "", read("include", "syscull", part + ".h"), flags=re.S)
    for name in set(re.findall(r"\b(syscull_\w+)\s*\(", header)) - {"syscull_" + part}:
        assert re.search(rf"^\.Nm {name}\b", text, re.M), f"{page} lacks {name}"
        assert re.search(rf"^\.Fn {name}\b", text, re.M), f"{page} lacks the prototype of {name}"
    assert "\n.Sh COST\n" in text, f"{page}: no COST"
    with tempfile.TemporaryDirectory(prefix="syscull-page-") as folder:
        source, program = os.path.join(folder, "example.c"), os.path.join(folder, "example")
        with open(source, "w", encoding="utf-8") as file:
            file.write(example(page, text))
        run = subprocess.run([compiler, "-std=gnu11", "-Wall", "-Wextra", "-Werror", *sanitizers, "-I",
                              os.path.join(TOP, "include"), source, LIBRARY, "-o", program], capture_output=True, text=True, check=False)
        assert run.returncode == 0, f"{page}: the example does not compile:\n{run.stderr}"
        run = subprocess.run([program], cwd=folder, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
        assert run.returncode == 0, f"{page}: the example ends with {run.returncode}: {run.stderr}"
    done += 1
print(f"{done} pages")
