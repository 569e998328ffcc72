# SPDX-License-Identifier: BSD-2-Clause
"""Our noun is "call" or "system call" in all that users read: it is one letter
from our own name.  Names that belong to others are excepted."""
import os
import re
import sys

TOP = sys.argv[1]
WORD = re.compile(r"[\w:./-]*syscall[\w:./-]*(\(2\))?", re.I)
OTHERS = re.compile(
    r"""^(
      [A-Z0-9_]*SYSCALL[A-Z0-9_]*     # PTRACE_GET_SYSCALL_INFO, __NR_SYSCALL_BASE
    | SYS_\w+
    | .*\braw_syscalls\b.*            # the kernel's tracepoints
    | \[?vsyscall\]?                 # a page of its
    | .*\bsys(/kernel)?/.*            # a path in the kernel's file systems
    | .*data/syscalls\b.*             # where our own table is
    | syscalls?\(2\)                  # the manual page of section 2
    | (\w+_syscalls?|syscalls?_\w+)(\.\w+)?  # identifiers of kernel and libraries
    | .*asm/.*
    )$""",
    re.X,
)


def words_of(text):
    for match in WORD.finditer(text):
        word = match.group(0).strip(".:,-")
        if not OTHERS.match(word):
            yield word


def c_strings(text):
    """The string literals of C source, with line numbers."""
    text = re.sub(r"/\*.*?\*/", lambda m: "\n" * m.group(0).count("\n"), text, flags=re.S)
    for number, line in enumerate(text.split("\n"), 1):
        if re.match(r"\s*#\s*include", line):
            continue
        for literal in re.findall(r'"((?:[^"\\]|\\.)*)"', line):
            yield number, literal


def documents():
    for folder in ("docs", "man", "data"):
        for where, _, names in os.walk(os.path.join(TOP, folder)):
            for name in names:
                if name.endswith((".md", ".1", ".3", ".5", ".7")) or folder == "man":
                    yield os.path.join(where, name)
    for name in ("README.md", "HACKING.md", "NEWS.md", "integrations/pytest-syscull/README.md"):
        yield os.path.join(TOP, name)


bad = []
seen = 0
for path in documents():
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            line = re.sub(r"\.Xr syscalls? 2", "", line)
            bad += [f"{os.path.relpath(path, TOP)}:{number}: {word}" for word in words_of(line)]
    seen += 1
for folder in ("src", "lib", "preload"):
    for where, _, names in os.walk(os.path.join(TOP, folder)):
        for name in names:
            if not name.endswith((".c", ".h", ".def")):
                continue
            path = os.path.join(where, name)
            with open(path, encoding="utf-8") as file:
                for number, literal in c_strings(file.read()):
                    bad += [f"{os.path.relpath(path, TOP)}:{number}: {word}" for word in words_of(literal)]
            seen += 1

assert list(words_of("a syscall and Syscalls")) == ["syscall", "Syscalls"]
assert not list(words_of("raw_syscalls:sys_exit SYS_getpid syscall(2) data/syscalls/x86-64.tbl PTRACE_GET_SYSCALL_INFO"))
print("\n".join(bad) or f"{seen} files")
sys.exit(1 if bad else 0)
