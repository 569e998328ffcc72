# SPDX-License-Identifier: BSD-2-Clause
"""Logs of the strace that is installed, in all the forms that it writes,
against what the live engine counts of the same deterministic programs.

usage: strace_logs.py SYSCULL
"""
import collections
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile

SYSCULL = os.path.abspath(sys.argv[1])
if not shutil.which("strace"):
    print("no strace here", file=sys.stderr)
    sys.exit(77)

FORMS = [
    [], ["-f"], ["-f", "-t"], ["-f", "-tt"], ["-f", "-ttt"], ["-f", "-r"], ["-f", "-T"], ["-f", "-ttt", "-T"],
    ["-f", "-y"], ["-f", "-yy"], ["-f", "-v"], ["-f", "-s", "4096"], ["-f", "-s", "0"], ["-f", "-i"], ["-f", "-n"],
    ["-f", "-x"], ["-f", "-xx"], ["-f", "-yy", "-Y", "-i", "-n", "-ttt", "-T", "-v", "-xx"],
    ["-f", "--relative-timestamps=s"], ["-f", "-X", "verbose"], ["-f", "-e", "read=all"], ["-f", "-e", "raw=all"],
    ["--absolute-timestamps=format:unix,precision:s"], ["-f", "-ttt", "-T", "-v", "-yy", "-s", "256"],
    ["-ff"], ["-ff", "-ttt"], ["-ff", "-y", "-r"], ["-f", "-C"], ["-f", "-Y"], ["-f", "--decode-pids=comm", "-yy"],
]
# To stderr, where strace's messages and what programs write there come in between.
STREAM_FORMS = [["-f"], ["-f", "-C"], ["-f", "-Y", "-ttt"]]
if "libunwind" in subprocess.run(["strace", "-V"], capture_output=True, text=True, check=False).stdout:
    FORMS.append(["-f", "-k"])
ONE = ["ls", "-l", "d"]
# strace itself writes "Process N attached" into the line of the call that made it; ls writes in pieces.
LOUD = ["sh", "-c", "ls d none; (ls none/a; true) & wait; echo three >&2; echo >&2; true"]
TREE = ["sh", "-c", "for i in 1 2 3; do ls d >/dev/null; done; echo $(cat 'odd (name), <\"x\">')"]
# What depends on how the tracer is told of a task's end, or that it is traced.
BESIDE = {"exit_group", "exit", "restart_syscall", "execve"}


# How a shell waits depends on which of its children was quicker.
WAITS = {"wait4", "rt_sigsuspend", "rt_sigprocmask", "rt_sigreturn"}


def settled(table):
    return collections.Counter({key: count for key, count in table.items() if key[0] not in WAITS})


def counts(report):
    table = collections.Counter()
    for call in report["calls"]:
        if call["name"] in BESIDE:
            continue
        failed = 0
        for error, count in call["errors"].items():
            # Interruptions are how a signal's arrival is seen.
            table[call["name"], error] += count
            failed += count
        table[call["name"], None] += call["count"] - failed
    return +table


def run(*argv):
    return subprocess.run(argv, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)


def live(command):
    done = run(SYSCULL, "run", "--engine", "ptrace", "--no-keep", "--format", "json=live.json", "--", *command)
    assert done.returncode == 0, done
    with open("live.json", encoding="utf-8") as file:
        return counts(json.load(file))


def of_log(form, command, log):
    for old in glob.glob(log + "*"):
        os.unlink(old)
    if form in STREAM_FORMS and command is LOUD:
        with open(log, "w", encoding="ascii") as stream:
            subprocess.run(["strace", *form, *command], stderr=stream, stdout=subprocess.PIPE, check=True,
                           stdin=subprocess.DEVNULL)
    else:
        done = run("strace", *form, "-o", log, *command)
        assert done.returncode == 0, (form, done)
    done = run(SYSCULL, "report", "--format", "json=log.json", log)
    assert done.returncode in (0, 1) and not done.stderr, (form, done)
    with open("log.json", encoding="utf-8") as file:
        report = json.load(file)
    assert report["accounting"]["lost"] == 0, (form, report["warnings"])
    return counts(report), report


os.environ["LC_ALL"] = "C"
with tempfile.TemporaryDirectory() as place:
    os.chdir(place)
    os.mkdir("d")
    for i in range(60):
        open(f"d/f{i}", "w", encoding="ascii").close()
    with open('odd (name), <"x">', "w", encoding="ascii") as file:
        file.write("odd\n")
    wanted = {tuple(command): live(command) for command in (ONE, TREE, LOUD)}
    bad = 0
    for form in FORMS:
        for command in (ONE, TREE):
            if command is TREE and not any(word.startswith("-f") for word in form):
                continue
            got, report = of_log(form, command, "log")
            if got != wanted[tuple(command)]:
                bad += 1
                print(form, command[0], "more in the log", got - wanted[tuple(command)], "less",
                      wanted[tuple(command)] - got)
            assert report["engine"]["name"] == "strace-log"
            assert report["exit"]["status"] in (0, None)
            assert len(report["processes"]) == (1 if command is ONE else 5), (form, len(report["processes"]))
    for form in STREAM_FORMS:
        got, report = of_log(form, LOUD, "log")
        got, right = settled(got), settled(wanted[tuple(LOUD)])
        assert got == right and got["newfstatat", None] > 0, (form, got - right, right - got)
        assert len(report["processes"]) == 4, (form, report["processes"])
    assert not bad, f"{bad} forms differ"
    print(f"{len(FORMS) + len(STREAM_FORMS)} forms")
