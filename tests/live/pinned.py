#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""On which CPUs the tasks of a launched tree may run, looked at from outside.

A tree whose tasks take turns shares our CPU; it gets its own mask back for
what could notice, and before anything of it can outlive us.

usage: pinned.py [CASE...]
"""
import os
import subprocess
import sys

import live

ALL = live.status(os.getpid(), "Cpus_allowed_list")

HEAD = """
import os, sys, threading
def say(*what):
    print(*what, flush=True)
def child(work):
    pid = os.fork()
    if pid == 0:
        work()
        os._exit(0)
    return pid
def until_told():
    sys.stdin.readline()
"""
# Each says the pids to look at, and goes on when it is told.
SCRIPTS = {
    "turns": "a = child(until_told); say(os.getpid(), a); os.waitpid(a, 0)",
    "thread": "a = child(until_told); t = threading.Thread(target=os.waitpid, args=(a, 0)); t.start();"
              "say(os.getpid(), a, t.native_id); t.join()",
    "session": "a = child(lambda: (os.setsid(), say(os.getppid(), os.getpid()), until_told())); os.waitpid(a, 0)",
    "set": "a = child(until_told); os.sched_setaffinity(a, {0}); say(os.getpid()); os.waitpid(a, 0)",
    # What is called like the file that would show the mask, and is not it.
    "names": "os.mkdir('status'); os.close(os.open('status', os.O_RDONLY | os.O_DIRECTORY)); os.rmdir('status');"
             "open('git-status', 'w').close(); os.unlink('git-status'); say(os.getpid()); until_told()",
    "shown": "f = os.open('/proc/self', os.O_PATH); os.close(os.open('status', os.O_RDONLY, dir_fd=f));"
             "say(os.getpid()); until_told()",
    "busy": """
def work():
    while not os.path.exists("enough"):
        sum(range(300000))
a = child(work); b = child(work); say(os.getpid(), a, b); os.waitpid(a, 0); os.waitpid(b, 0)""",
}


class Run:
    def __init__(self, name, cwd, options=(), before=()):
        self.cwd = cwd
        self.us = subprocess.Popen([*before, live.SYSCULL, "run", "-o", "report", *options, "--", live.PYTHON, "-c",
                                    HEAD + SCRIPTS[name]], cwd=cwd, env=live.clean_env(), stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, text=True)
        self.pids = [int(word) for word in self.us.stdout.readline().split()]

    def masks(self):
        return [live.status(pid, "Cpus_allowed_list") for pid in self.pids]

    def end(self):
        with open(os.path.join(self.cwd, "enough"), "w", encoding="ascii"):
            pass
        self.us.communicate("\n", timeout=30)
        os.unlink(os.path.join(self.cwd, "enough"))
        return [] if self.us.returncode == 0 else [f"status {self.us.returncode}"]


def looked_at(name, cwd, fits, **more):
    run = Run(name, cwd, **more)
    masks = run.masks()
    bad = [] if fits(masks) else [f"{name}: tasks may run on {masks}, all is {ALL}"]
    return bad + run.end()


def case_turns(cwd):
    """Tasks that take turns share one CPU, unless we are told otherwise."""
    def together(masks):
        return masks[0] != ALL and len(set(masks)) == 1
    return (looked_at("turns", cwd, together) + looked_at("thread", cwd, together)
            + looked_at("turns", cwd, lambda masks: set(masks) == {ALL}, options=["--pin=never"]))


def case_undone(cwd):
    """A session of its own gives all tasks their mask back."""
    return looked_at("session", cwd, lambda masks: set(masks) == {ALL})


def case_names(cwd):
    """Only a look at /proc/PID/status undoes it, and no folder or file that is called so."""
    return (looked_at("names", cwd, lambda masks: masks[0] != ALL)
            + looked_at("shown", cwd, lambda masks: masks == [ALL]))


def case_set(cwd):
    """A mask that the program gives a child stays; all others have their own."""
    return looked_at("set", cwd, lambda masks: masks == [ALL])


def case_busy(cwd):
    """Tasks that compute beside each other get all CPUs."""
    run = Run("busy", cwd)
    live.until(lambda: set(run.masks()) == {ALL}, "letting them apart")
    return run.end()


def case_real_time(cwd):
    """Of real-time tasks none may keep another from running: a second one undoes it."""
    before = ["chrt", "-r", "1"]
    if not live.have("chrt") or subprocess.run([*before, "true"], stderr=subprocess.DEVNULL, check=False).returncode:
        print("real-time: not allowed here")
        return []
    return looked_at("turns", cwd, lambda masks: set(masks) == {ALL}, before=before)


def case_left_behind(cwd):
    """What is left when the command ends may run where it could."""
    run = Run("turns", cwd)
    live.until(lambda: len(set(run.masks())) == 1, "pinning")
    run.us.terminate()  # passed on: the first task ends by it, its child does not
    run.us.wait(timeout=30)
    masks = [live.status(pid, "Cpus_allowed_list") for pid in run.pids[1:]]
    run.us.stdin.write("\n")
    run.us.stdin.close()
    return [] if masks == [ALL] else [f"it may run on {masks}, all is {ALL}"]


def main():
    live.need_tracing()
    if len(os.sched_getaffinity(0)) < 2:
        live.skip("one CPU: nothing to be pinned to")
    sys.exit(live.run_cases(globals(), live.workdir(files=0)))


main()
