#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Memory runs out after N allocations of ours, for many N.

The command is never harmed: its output and status are those without us, but
where one line of ours says that it was not started.

usage: hostile-memory.py [CASE...]

SYSCULL_NO_MEMORY is the preload of tests/live/programs.
"""
import os
import re
import subprocess
import sys

import live

# Several processes and threads, failing calls, a finding, an own status.
COMMAND = ["sh", "-c", "ls -l d1k | wc -l; echo err >&2; (exit 4); ls missing 2>/dev/null; exit 5"]


def failing(after, cwd, argv, **more):
    env = live.clean_env(SYSCULL_FAIL_IN="syscull", SYSCULL_FAIL_AFTER=str(after),
                         LD_PRELOAD=os.environ["SYSCULL_NO_MEMORY"])
    env.update((name, os.environ[name]) for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS") if name in os.environ)
    return subprocess.run(argv, cwd=cwd, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, check=False, timeout=60, **more)


def steps(all_below, last):
    """All small numbers, then wider and wider steps."""
    number = 0
    while number <= last:
        yield number
        number += 1 if number < all_below else 7 if number < 900 else number // 6


def books(cwd, path):
    report = live.read_report(os.path.join(cwd, path))
    if os.path.exists(os.path.join(cwd, path)):
        os.unlink(os.path.join(cwd, path))
    if report.closed and "Beware" not in report.text and sum(report.calls.values()) != report.total:
        return "a table that does not sum up\n" + report.text
    return ""


def case_command(cwd):
    alone = subprocess.run(COMMAND, cwd=cwd, env=live.clean_env(), capture_output=True, check=False)
    bad = []
    started = complete = 0
    for after in steps(60, 300000):
        done = failing(after, cwd, [live.SYSCULL, "run", "-v", "-o", "report", "--", *COMMAND])
        ours = [line for line in done.stderr.splitlines() if line.startswith(b"syscull: ")]
        wrong = []
        if done.returncode == 125 and done.stdout == b"":
            if len(ours) != 1 or done.stderr.count(b"\n") != 1:
                wrong.append(f"not started, and said {done.stderr!r}")
        else:
            started += 1
            rest = b"".join(line + b"\n" for line in done.stderr.splitlines() if line not in ours)
            if (done.returncode, done.stdout, rest) != (alone.returncode, alone.stdout, alone.stderr) or len(ours) > 1:
                wrong.append(f"status {done.returncode}, said {done.stdout!r} {done.stderr!r}")
            report = os.path.join(cwd, "report")
            if not ours and not os.path.exists(report):
                wrong.append("no report and no word")
            text = books(cwd, "report")
            if text:
                wrong.append(text)
            complete = not ours
        bad += [f"after {after}: {one}" for one in wrong]
        bad += [f"after {after}: {name} is left" for name in os.listdir(cwd) if name != "d1k"]
        for name in os.listdir(cwd):
            if name != "d1k":
                os.unlink(os.path.join(cwd, name))
    if started < 20 or not complete:
        bad.append(f"it was started {started} times")
    return bad[:20]


def case_attached(cwd):
    """What we attach to lives on, whenever memory runs out."""
    bad = []
    for after in [*range(0, 120, 4), 150, 200, 300, 500, 1000, 3000]:
        with subprocess.Popen(["sh", "-c", "echo $$; read x; i=0; while [ $i -lt 300 ]; do i=$((i+1)); test -e /; "
                               "done; (exit 3); exit 7"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as victim:
            pid = victim.stdout.readline().strip().decode()
            with subprocess.Popen([live.SYSCULL, "run", "-v", "-o", "report", "-p", pid], cwd=cwd, stderr=subprocess.PIPE,
                                  env=live.clean_env(SYSCULL_FAIL_IN="syscull", SYSCULL_FAIL_AFTER=str(after),
                                                     LD_PRELOAD=os.environ["SYSCULL_NO_MEMORY"])) as us:
                live.until(lambda tracer=us, tid=pid: tracer.poll() is not None or
                           live.status(tid, "TracerPid") == str(tracer.pid), "attaching")
                victim.stdin.write(b"\n")
                victim.stdin.close()
                status = victim.wait(60)
                _, err = us.communicate(timeout=60)
        if status != 7:
            bad.append(f"after {after}: the process ended with {status}")
        if us.returncode not in (0, 125) or not re.fullmatch(rb"(syscull: [^\n]*\n)?", err):
            bad.append(f"after {after}: status {us.returncode}, said {err!r}")
        text = books(cwd, "report")
        if text:
            bad.append(f"after {after}: {text}")
    return bad


def case_others(cwd):
    """The other subcommands end with one line."""
    bad = []
    for words in (["rules"], ["explain", "xattr-probe"], ["doctor"], ["--help"], ["mark", "x"]):
        for after in [*range(12), 20, 30, 50, 80, 200, 1000, 100000]:
            done = failing(after, cwd, [live.SYSCULL, *words])
            if done.returncode not in (0, 1, 125) or not re.fullmatch(rb"(syscull: [^\n]*\n)?", done.stderr):
                bad.append(f"{words} after {after}: status {done.returncode}, said {done.stderr!r}")
    return bad


def main():
    live.need_tracing()
    sys.exit(live.run_cases(globals(), live.workdir(files=100)))


main()
