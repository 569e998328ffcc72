#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""test-fds-safe and test-spawn under the thread sanitizer, and with ASan where the build has none.

usage: threads.py TOP
"""
import glob
import os
import shutil
import subprocess
import sys
import tempfile

TOP = sys.argv[1]


def build(compiler, sanitizer, name, folder):
    program = os.path.join(folder, f"{name}-{sanitizer}")
    done = subprocess.run([compiler, "-std=gnu11", "-g", "-O1", "-D_GNU_SOURCE", "-Wall", "-Wextra", f"-fsanitize={sanitizer}",
                           "-I", f"{TOP}/include", "-iquote", f"{TOP}/lib", "-iquote", f"{TOP}/tests/lib",
                           f"{TOP}/tests/lib/fds/test-{name}.c",
                           *sorted(glob.glob(f"{TOP}/lib/fds*.c")), f"{TOP}/lib/spawn.c", "-pthread", "-o", program],
                          capture_output=True, text=True, check=False)
    if done.returncode != 0 and ("-lasan" in done.stderr or "tsan" in done.stderr or "clang_rt" in done.stderr):
        return None
    assert done.returncode == 0, done.stderr
    return program


def main():
    compiler = next((name for name in ("clang", "gcc") if shutil.which(name)), None)
    if not compiler:
        print("no C compiler here", file=sys.stderr)
        sys.exit(77)
    ran = 0
    with tempfile.TemporaryDirectory(prefix="syscull-threads-") as folder:
        for sanitizer in ("thread", "address,undefined"):
            for name in ("fds-safe", "spawn"):
                program = build(compiler, sanitizer, name, folder)
                if not program:
                    continue
                done = subprocess.run([program], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
                                      env=dict(os.environ, TSAN_OPTIONS="exitcode=66"))
                if "unexpected memory mapping" in done.stderr:
                    continue
                assert done.returncode == 0, f"{program}: {done.returncode}\n{done.stdout}{done.stderr}"
                assert "WARNING: ThreadSanitizer" not in done.stderr, done.stderr
                ran += 1
    if ran == 0:
        print("no sanitizer runs here", file=sys.stderr)
        sys.exit(77)
    print(f"{ran} programs")


main()
