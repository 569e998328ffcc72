#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""examples/run-clean: what the command has, what it costs, and how it fails.

usage: run-clean.py RUN_CLEAN
"""
import json
import os
import subprocess
import sys
import tempfile

RUN = sys.argv[1]
TELL = [sys.executable, "-I", "-S", "-c", """
import os, fcntl
print(*[n for n in range(2000) if os.path.exists(f"/proc/self/fd/{n}") and not fcntl.fcntl(n, fcntl.F_GETFD) & 1])
"""]


def run(*arguments, pass_fds=(), **more):
    return subprocess.run([RUN, *arguments], pass_fds=pass_fds, capture_output=True, text=True, check=False,
                          stdin=subprocess.DEVNULL, **more)


def told(*arguments, **more):
    done = run(*arguments, *TELL, **more)
    assert done.returncode == 0, done.stderr
    return [int(word) for word in done.stdout.split()]


def main():
    fds = [os.open("/dev/null", os.O_RDONLY) for _ in range(40)]
    for high in (500, 1200):
        os.dup2(fds[0], high)
        fds.append(high)
    for fd in fds:
        os.set_inheritable(fd, True)
    plain = subprocess.run(TELL, pass_fds=fds, capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL)
    assert len(plain.stdout.split()) == 3 + len(fds), plain.stdout
    assert told("--", pass_fds=fds) == [0, 1, 2]
    assert told("--keep", "1200", "--keep=7", "-k", "7", "--keep", "2000000", pass_fds=fds) == [0, 1, 2, 7, 1200]
    # What is the command's is not ours.
    done = run("sh", "-c", 'echo "$@"', "x", "--keep", "5")
    assert done.stdout == "--keep 5\n", done.stdout
    assert run("--", "false").returncode == 1
    done = run("/nowhere/at-all")
    assert done.returncode == 127 and "nowhere" in done.stderr, done
    assert run("/dev/null").returncode == 126
    for wrong in (["--keep", "x", "true"], ["--keep", "-1", "true"], ["--keep", "", "true"], ["--keep", "99999999999", "true"],
                  ["--other", "true"], []):
        assert run(*wrong).returncode == 125, wrong
    assert run("--help").stdout.startswith("usage: run-clean")

    # One call for each gap, whatever the limit is.
    if "SYSCULL" not in os.environ:
        return
    with tempfile.TemporaryDirectory(prefix="syscull-clean-") as folder:
        report = os.path.join(folder, "report.json")
        done = subprocess.run([os.environ["SYSCULL"], "run", "--format", f"json={report}", "--", RUN, "--keep", "7", "--",
                               "true"], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
        if done.returncode == 77 or not os.path.exists(report):
            print("syscull run does not work here: calls are not counted", file=sys.stderr)
            return
        with open(report, encoding="utf-8") as file:
            calls = {call["name"]: call["count"] for call in json.load(file)["calls"]}
        assert calls["close_range"] == 2, calls


main()
