#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Two observers of the same run: perf counts in the kernel while we trace.

Every call's count must be equal.  What is counted where:
 * most calls by sys_exit of tasks that are not ourselves (by comm);
 * exit, exit_group (never return), rt_sigreturn (returns under another
   number) and the fork family (returns twice) by sys_enter;
 * the first execve enters under our own name, so execve goes by sys_exit;
 * all of them together by sys_enter, plus that first execve.

--scope CASE: the engine that watches some calls alone, against the same counts.
"""
import os
import shutil
import subprocess
import sys

import live

BY_ENTER = {"exit", "exit_group", "rt_sigreturn", "fork", "vfork", "clone", "clone3"}
OURS = ("syscull", "syscull-keeper", "live-scope", "live-on-bpf", "live-on-ptrace", "perf")
ONLY_US = " && ".join(f'comm != "{name}"' for name in OURS)

def numbers():
    table = {}
    machine = {"x86_64": "x86_64.tbl", "aarch64": "aarch64.tbl"}[os.uname().machine]
    with open(os.path.join(live.TOP, "data/syscalls", machine), encoding="utf-8") as f:
        for line in f:
            words = line.split("#")[0].split()
            if len(words) >= 2:
                table[words[1]] = int(words[0])
    return table


def perf(names, table, out):
    """The words before a command."""
    events = ["-e", "raw_syscalls:sys_enter", "--filter", ONLY_US]
    for name in names:
        for event in ("sys_enter", "sys_exit"):
            events += ["-e", f"raw_syscalls:{event}", "--filter", f"id == {table[name]} && {ONLY_US}"]
    return ["perf", "stat", "-x", ",", "-o", out, *events, "--"]


def counted(names, out):
    """(enters, exits, all enters)."""
    with open(out, encoding="utf-8") as f:
        values = [int(line.split(",")[0]) for line in f if "raw_syscalls" in line]
    return dict(zip(names, values[1::2])), dict(zip(names, values[2::2])), values[0]


def observed(argv, cwd, names, table):
    """One run under both: (status, report, enters, exits, all enters)."""
    out = os.path.join(cwd, "perf.txt")
    done, report = live.syscull(argv, cwd, before=perf(names, table, out))
    return done.returncode, report, *counted(names, out)


# Calls that threads, children and signals interrupt, and such as end tasks.
SCOPE = ["openat", "close", "read", "newfstatat", "statx", "getxattr", "lgetxattr", "execve", "exit", "exit_group",
         "clone", "clone3", "vfork", "wait4", "futex", "rt_sigreturn", "faccessat2", "brk"]


def compare_scope(label, argv, cwd, table):
    names = [name for name in SCOPE if name in table]
    out, path = os.path.join(cwd, "perf.txt"), os.path.join(cwd, "scope.txt")
    done = subprocess.run([*perf(names, table, out), os.environ["SYSCULL_SCOPE"], ",".join(names), path, *argv], cwd=cwd,
                          env=live.clean_env(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, check=False)
    seen, books = live.read_scope(path)
    enters, exits, _ = counted(names, out)
    bad = live.books_of(books) + ([] if done.returncode == 0 else [f"status {done.returncode}"])
    for name in names:
        theirs = enters[name] if name in BY_ENTER else exits[name]
        if seen.get(name, (0,))[0] != theirs:
            bad.append(f"{name}: {seen.get(name, (0,))[0]} here, {theirs} in the kernel")
    bad += [f"{name} was not asked for" for name in seen if name not in names]
    print(f"{label}: {books['seen']} calls, {len(seen)} kinds, {books['stops']} stops: "
          f"{'; '.join(bad) if bad else 'equal'}")
    return len(bad)


def compare(label, argv, cwd, table):
    # The calls to watch come from a first run; anything else that the second
    # one makes is found by the total.
    _, first = live.syscull(argv, cwd)
    names = sorted(n for n in first.calls if n in table)
    status, report, enters, exits, total = observed(argv, cwd, names, table)
    bad = []
    if status != 0:
        bad.append(f"status {status}")
    if not report.closed:
        bad.append("books are not closed")
    for name in names:
        theirs = enters[name] if name in BY_ENTER else exits[name]
        if report.calls.get(name, 0) != theirs:
            bad.append(f"{name}: {report.calls.get(name, 0)} here, {theirs} in the kernel")
    if report.total != total + 1:
        bad.append(f"in all: {report.total} here, {total} + the first execve in the kernel")
    if sum(report.calls.values()) != report.total:
        bad.append(f"the table sums to {sum(report.calls.values())}, the head says {report.total}")
    print(f"{label}: {report.total} calls, {len(names)} kinds: {'; '.join(bad) if bad else 'equal'}")
    return len(bad)


def main():
    if not shutil.which("perf"):
        live.skip("no perf")
    probe = subprocess.run(["perf", "stat", "-e", "raw_syscalls:sys_enter", "true"], capture_output=True, check=False)
    if probe.returncode != 0 or b"not supported" in probe.stderr:
        live.skip("perf cannot count raw_syscalls here")
    table = numbers()
    cwd = live.workdir()
    bad = 0
    try:
        with open(os.path.join(cwd, "mk"), "w", encoding="ascii") as f:
            f.write("all: %s\n%%.o: %%.c\n\tgcc -c $<\n" % " ".join(f"s{i}.o" for i in range(20)))
        for i in range(20):
            with open(os.path.join(cwd, f"s{i}.c"), "w", encoding="ascii") as f:
                f.write(f"int f{i}(void) {{ return {i}; }}\n")
        subprocess.run(["git", "init", "-q", "."], cwd=cwd, env=live.clean_env(), check=True)
        cases = {
            "ls": ["ls", "-l", "d1k"],
            "shell": ["bash", "-c", "for i in $(seq 10); do x=$(echo $i | sed s/1/2/); done"],
            "python3": [live.PYTHON, "-c", "import json, subprocess; subprocess.run(['true'])"],
            "git": ["git", "status", "--short"],
            "threads": [os.environ.get("SYSCULL_THREADS", "")],
            "churn": [os.environ.get("SYSCULL_BEHAVE", ""), "churn"],
            "make": ["make", "-B", "-j2", "-f", "mk"],
            "tar": ["tar", "czf", "x.tgz", "d1k"],
        }
        words = sys.argv[1:]
        judge = compare_scope if "--scope" in words else compare
        for label in [word for word in words if word != "--scope"] or cases:
            bad += judge(label, cases[label], cwd, table)
    finally:
        shutil.rmtree(cwd, ignore_errors=True)
    sys.exit(1 if bad else 0)


main()
