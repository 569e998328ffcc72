#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What is said to be the program's own time, beside what the kernel's account
says of it: not when it was stopped, and all of it when we came later.  The
two clocks are compared with each other and never with a limit.

usage: user_time.py [CASE...]

SYSCULL is the command with one engine.
"""
import json
import os
import signal
import subprocess
import sys

import live

# Computes when told to, without a call in between, tells what that took by the
# kernel's account, and does the same once more.
COMPUTES = """
import os, sys, time
def turn():
    for _ in range(20000):
        pass
begin, turns = time.process_time(), 0
while time.process_time() - begin < 0.05:
    turn()
    turns += 1
print("ready", flush=True)
for line in sys.stdin:
    begin = time.process_time()
    for _ in range(turns * 8):
        turn()
    print(time.process_time() - begin, flush=True)
    for _ in range(turns * 8):
        turn()
"""


def user_ns(path):
    with open(path, encoding="utf-8") as f:
        return json.load(f)["time"]["user_ns"]


def ticks(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as f:
        return int(f.read().rsplit(")", 1)[1].split()[11])


def case_stopped(cwd):
    """It stands still for a second, which it did not compute."""
    path = os.path.join(cwd, "result.json")
    us = subprocess.Popen([live.SYSCULL, "run", "--no-keep", "--format", "json=" + path, "--", "sh", "-c",
                           "echo $$; kill -STOP $$"], cwd=cwd, env=live.clean_env(), stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, text=True)
    pid = int(us.stdout.readline())
    live.until(lambda: live.status(pid, "State")[0] in "Tt", "its stop")
    signal.sigtimedwait([], 1)
    begin = ticks(pid)
    os.kill(pid, signal.SIGCONT)
    us.wait(timeout=30)
    told = user_ns(path)
    return [f"{told} ns of its own, {begin} ticks were"] if us.returncode or told > 1e9 / 4 else []


def case_attached(cwd):
    """It computes, makes a call, computes, and goes on when we let go."""
    program = subprocess.Popen([live.PYTHON, "-c", COMPUTES], env=live.clean_env(), stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, text=True)
    program.stdout.readline()
    path = os.path.join(cwd, "result.json")
    us = subprocess.Popen([live.SYSCULL, "run", "-q", "--no-keep", "--format", "json=" + path, "-p", str(program.pid)],
                          cwd=cwd, env=live.clean_env(), stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
    live.until(lambda: live.attached(us, [program.pid]), "attaching")
    signal.sigtimedwait([], 0.3)
    program.stdin.write("on\n")
    program.stdin.flush()
    took = float(program.stdout.readline())
    # In the middle of the second half.
    signal.sigtimedwait([], took / 2)
    before = ticks(program.pid)
    us.send_signal(signal.SIGINT)
    err = us.communicate(timeout=30)[1]
    program.stdin.close()
    program.wait()
    bad = [f"status {us.returncode} {err!r}"] if us.returncode else []
    told = user_ns(path) / 1e9
    if not 0.7 * took < told < 3 * took + 0.2:
        bad.append(f"{told} s of its own, of {took} s until its call; {before} ticks in all")
    return bad


def case_refused(cwd):
    """Whom nobody can watch; one clear line."""
    bad = []
    for what, argv, why in (("ourselves", ["sh", "-c", f"exec '{live.SYSCULL}' run -p $$"], "that is syscull itself"),
                            ("the kernel's", [live.SYSCULL, "run", "-p", "2"], "it is a thread of the kernel")):
        if what == "the kernel's" and live.status(2, "Kthread") != "1":
            continue
        done = subprocess.run(argv, cwd=cwd, env=live.clean_env(), stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=30, check=False)
        if done.returncode != 125 or why not in done.stderr or len(done.stderr.splitlines()) != 1:
            bad.append(f"{what}: {done.returncode} {done.stderr!r}")
    return bad


if __name__ == "__main__":
    live.need_tracing()
    sys.exit(live.run_cases(globals(), live.workdir(files=0)))
