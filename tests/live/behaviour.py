#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Runs many commands untraced and under us: nothing may differ.

Compared are stdout, stderr (the report goes to a file), the status or signal,
and the files that are left.  Under us the books must also close.

usage: behaviour.py [--pin=WHEN | --scope] [CASE...]

SYSCULL_BEHAVE is the program of tests/live/programs.  --scope: under the engine
that watches some calls alone (live-scope, named by SYSCULL_SCOPE).
"""
import os
import resource
import shutil
import signal
import subprocess
import sys

import live

BEHAVE = os.environ["SYSCULL_BEHAVE"]
PY = live.PYTHON
DELETED = ["sh", "-c", 'mkdir gone && cd gone && rmdir ../gone && exec "$@"', "sh"]


def b(*words):
    return [BEHAVE, *words]


def sh(text, *words):
    return ["sh", "-c", text, "sh", *words]


# name: (command, what is special about its start)
CASES = {
    # CPUs and scheduling
    "nproc": (["nproc"], {}),
    "nproc-all": (["nproc", "--all"], {}),
    "affinity": (b("affinity"), {}),
    "affinity-one": (["nproc"], {"before": ["taskset", "-c", "0"]}),
    "python-affinity": ([PY, "-c", "import os; print(sorted(os.sched_getaffinity(0)), os.cpu_count())"], {}),
    "nproc-children": (sh("nproc; (nproc); x=$(nproc); echo $x; nproc | cat"), {}),
    "affinity-of-parent": (sh(PY + " -c 'import os; print(os.sched_getaffinity(os.getppid()), os.sched_getaffinity(0))'"
                              "; echo end"), {}),
    "cpus-allowed-child": (sh("true; grep Cpus_allowed_list /proc/self/status /proc/$$/status | cut -d: -f2; nproc"), {}),
    "cpus-allowed": (["grep", "Cpus_allowed", "/proc/self/status"], {}),
    "cpus-allowed-self-thread": (sh("cd /proc/thread-self && grep Cpus_allowed_list status"), {}),
    "taskset-get": (sh("taskset -pc $$ | sed s/[0-9]*.s//"), {}),
    "taskset-set": (["taskset", "-c", "0", "nproc"], {}),
    "chrt": (["chrt", "-f", "1", "nproc"], {}),
    "deadline": (b("deadline"), {}),
    "fifo": (b("fifo"), {}),
    "nice": (["nice", "-n", "5", "nice"], {}),
    "sort-threads": (sh("seq 200000 -1 1 | sort -n | md5sum"), {}),
    "xz-threads": (sh("seq 300000 | xz -0 -T0 | md5sum"), {}),
    "node": (["node", "-e", "const os=require('os');setTimeout(()=>console.log(os.cpus().length,"
              "require('child_process').execSync('echo hi').toString()),20)"], {"slow": True}),
    "python-threads": ([PY, "-c", "import threading as t\nl=[t.Thread(target=sum,args=[range(9999)]) "
                        "for _ in range(20)]\n[x.start() for x in l]\n[x.join() for x in l]\nprint('joined')"], {}),
    "python-pool": ([PY, "-c", "import multiprocessing as m\nif __name__=='__main__':\n with m.Pool(3) as p:"
                     "\n  print(p.map(abs,range(-9,0)))"], {"slow": True}),
    # signals
    "traps": (sh("trap 'echo got' TERM INT USR1 HUP; for s in TERM INT USR1 HUP; do kill -$s $$; done; echo end"), {}),
    "kill-self": (sh("kill -9 $$"), {}),
    "term-self": (sh("kill -TERM $$; echo not reached"), {}),
    "int-self": (sh("kill -INT $$"), {}),
    "quit-self": (sh("ulimit -c 0; kill -QUIT $$"), {}),
    "usr1-self": (sh("kill -USR1 $$"), {}),
    "pipe-self": (sh("kill -PIPE $$"), {}),
    "realtime-self": (sh("kill -40 $$"), {}),
    "segv-self": (sh("ulimit -c 0; kill -SEGV $$"), {"core": True}),
    "abrt-self": (sh("ulimit -c 0; kill -ABRT $$"), {"core": True}),
    "trap-self": (sh("ulimit -c 0; kill -TRAP $$"), {"core": True}),
    "child-killed": (sh("sh -c 'kill -9 $$'; echo $?"), {}),
    "killed-threads": (b("killed-child"), {}),
    "fault": (b("fault"), {}),
    "interrupted": (b("interrupted"), {}),
    "restarted": (b("restarted"), {}),
    "ticks": (b("ticks"), {}),
    "queued": (b("queued"), {}),
    "alarm-dies": ([PY, "-c", "import signal,time; signal.alarm(1); time.sleep(9)"], {"slow": True}),
    "inherited": (b("inherited"), {}),
    "inherited-ignored": (b("inherited"), {"ignore": ["SIGINT", "SIGTERM", "SIGUSR2", "SIGPIPE", "SIGHUP"]}),
    "inherited-blocked": (b("inherited"), {"block": ["SIGTERM", "SIGALRM", "SIGINT", "SIGRTMIN"]}),
    "inherited-tty-signals": (b("inherited"), {"ignore": ["SIGTTOU", "SIGTTIN", "SIGTSTP", "SIGQUIT"]}),
    "sigchld-ignored": (b("forks", "3"), {"ignore": ["SIGCHLD"]}),
    "sigchld-ignored-status": (sh("exit 5"), {"ignore": ["SIGCHLD"]}),
    "sigchld-blocked": (sh("ls d1k | wc -l; exit 6"), {"block": ["SIGCHLD"]}),
    # processes
    "vfork": (b("vfork"), {}),
    "spawn": (b("spawn"), {}),
    "churn": (b("churn"), {}),
    "forks": (b("forks", "200"), {}),
    "thread-exec": (b("thread-exec"), {}),
    "leader-exits": (b("leader-exits"), {}),
    "job": (b("job"), {}),
    "bash-job": (["bash", "-c", "set -m; sleep 0.05 & wait; jobs; (exit 3); echo $?"], {}),
    "pipeline": (sh("yes | head -n 1000 | tail -n 1"), {}),
    "subshells": (sh("for i in 1 2 3 4 5 6 7 8 9; do x=$(echo $i | tr 1-9 a-i); printf %s $x; done"), {}),
    "make": (["make", "-f", "-", "-j2", "all"], {"stdin": b"all: a b\na b:\n\t@sleep 0.02; echo made\n"}),
    "xargs": (sh("ls d1k | head -n 60 | xargs -n 1 -P 4 true; echo $?"), {}),
    "timeout": (["timeout", "0.1", "sleep", "9"], {}),
    "timeout-kill": (["timeout", "-s", "KILL", "0.1", "sleep", "9"], {}),
    "setsid": (["setsid", "-w", "sh", "-c", "exit 4"], {}),
    "script-without-shebang": (["./plain", "a", "b c"], {"before": ["env"]}),
    "script-by-path": (["plain", "x"], {"before": ["env", "PATH=.:/usr/bin:/bin"]}),
    "unshared": (["unshare", "-fp", "sh", "-c", "echo $$; exit 8"], {"root": True}),
    # odd calls
    "seccomp-kills": (b("seccomp-kills"), {"core": True}),
    "seccomp-refuses": (b("seccomp-refuses"), {}),
    "unknown-calls": (b("unknown-calls"), {}),
    "int80": (b("int80"), {"core": True}),
    "attributes": (b("attributes"), {}),
    # what a program is given
    "env": (["env"], {"env": {"A": "1", "EMPTY": "", "ODD NAME": "x\ny"}}),
    "env-empty": (["/usr/bin/env"], {"env": None}),
    "env-big": (sh("echo ${#BIG} ${#BIG2}"), {"env": {"BIG": "x" * 100000, "BIG2": "y" * 100000}}),
    "argv-big": (sh("echo $# ${#1}", "z" * 100000, "1", ""), {}),
    "argv-many": (sh("echo $#", *(["w"] * 20000)), {}),
    "argv-odd": (sh("printf '%s|' \"$@\"", "-v", "--", "", " ", "\n", "\x1b[31m", b"\xff\xfe"), {}),
    "id": (["id"], {}),
    "limits": (sh("ulimit -a; ulimit -Ha"), {}),
    "limits-set": (sh("ulimit -a"), {"core": True, "nofile": 100}),
    "umask": (sh("umask; touch made; stat -c %a made; rm made"), {"umask": 0o137}),
    "no-cwd": (sh("echo here; ls"), {"before": DELETED}),
    "stdin": (["sha256sum"], {"stdin": bytes(range(256)) * 500}),
    "stderr": (sh("echo out; echo err >&2; exit 3"), {}),
    "fds": (b("fds"), {}),
    "closed-stdin": (b("fds", "list"), {"close": [0]}),
    "closed-stdout": (b("fds", "list"), {"close": [1]}),
    "closed-stderr": (b("fds", "list"), {"close": [2]}),
    "closed-all": (b("fds", "list"), {"close": [0, 1, 2]}),
    "extra-fds": (b("fds"), {"pass": 3}),
    "deep-exit": (sh("exit 255"), {}),
    "exit-125": (sh("exit 125"), {}),
    "true": (["true"], {}),
    "false": (["false"], {}),
    "terminal": (["script", "-qec", "stty size; test -t 0 && test -t 1 && test -t 2 && echo terminal", "/dev/null"], {}),
    "git": (["git", "--version"], {}),
    "perl": (["perl", "-e", 'print "$0 @ARGV\n"; exec "sh", "-c", "exit 3"'], {}),
    "awk": (["awk", "BEGIN { while ((\"ls d1k\" | getline x) > 0) n++; print n; exit 2 }"], {}),
    "tar": (sh("tar cf - d1k --mtime=@0 --owner=0 --group=0 --sort=name | md5sum"), {}),
}


def start(special, spare):
    """What happens in the child before exec."""
    def prepare():
        if special.get("core"):
            resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        if "nofile" in special:
            resource.setrlimit(resource.RLIMIT_NOFILE, (special["nofile"], special["nofile"]))
        for name in special.get("ignore", ()):
            signal.signal(getattr(signal, name), signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_SETMASK, [getattr(signal, name) for name in special.get("block", ())])
        os.umask(special.get("umask", 0o022))
        for fd in special.get("close", ()):
            os.close(fd)
        for _ in range(special.get("pass", 0)):
            os.set_inheritable(os.dup(spare), True)
    return prepare


def run(case, cwd, prefix):
    argv, special = CASES[case]
    env = {} if special.get("env", {}) is None else live.clean_env(**special.get("env", {}))
    spare = os.open("/dev/null", os.O_RDONLY)
    try:
        done = subprocess.run([*special.get("before", []), *prefix, *argv], cwd=cwd, env=env,
                              input=special.get("stdin", b""), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              preexec_fn=start(special, spare), close_fds="pass" not in special,
                              timeout=100, check=False)
    finally:
        os.close(spare)
    listing = os.path.join(cwd, "list")
    listed = b""
    if os.path.exists(listing):
        with open(listing, "rb") as f:
            listed = f.read()
        os.unlink(listing)
    left = sorted(os.listdir(cwd))
    return {"status": done.returncode, "stdout": done.stdout, "stderr": done.stderr, "fds": listed, "files": left}


# Calls that nearly every case makes, and those by which tasks begin and end.
SCOPE = "@open,@close,execve,clone,exit_group,@wait,getppid"


def closed_scope(path):
    """What is wrong with the books that live-scope wrote."""
    _, books = live.read_scope(path)
    return live.books_of(books) + [f"{name} is {books[name]}" for name in ("lost", "aborted") if books[name]]


def compare(case, cwd, reports, options):
    path = os.path.join(reports, case)
    scope = "--scope" in options
    plain = run(case, cwd, [])
    ours = run(case, cwd, [os.environ["SYSCULL_SCOPE"], SCOPE, path] if scope else
               [live.SYSCULL, "run", "-v", *options, "-o", path, "--"])
    bad = [f"{what}: {ours[what]!r:.300} under us, {plain[what]!r:.300} without"
           for what in plain if plain[what] != ours[what]]
    try:
        if scope:
            bad += closed_scope(path)
            print(f"{case}: {'; '.join(bad) if bad else 'equal'} ({plain['status']})")
            return len(bad)
        with open(path, encoding="utf-8", errors="replace") as f:
            report = live.Report(f.read())
        # A real-time spinner may leave a reader no time: then what is lost is told.
        starved = case == "fifo" and " calls lost" in report.text and "times are taken in the kernel" in report.text
        if not report.closed and not starved:
            bad.append("books are not closed:\n" + report.text)
        elif sum(report.calls.values()) != report.total:
            bad.append("the table does not sum up:\n" + report.text)
    except FileNotFoundError:
        bad.append("no report")
    print(f"{case}: {'; '.join(bad) if bad else 'equal'} ({plain['status']})")
    return len(bad)


def main():
    live.need_tracing()
    cwd = live.workdir(files=100)
    reports = live.workdir(files=0)
    bad = 0
    try:
        with open(os.path.join(cwd, "plain"), "w", encoding="ascii") as f:
            f.write('echo "script: $# $1 $2"\nexit 6\n')
        os.chmod(f.name, 0o755)
        for case in [word for word in sys.argv[1:] if word[0] != "-"] or CASES:
            argv, special = CASES[case]
            if special.get("root") and os.geteuid() != 0:
                print(f"{case}: only for root")
            elif "/" not in argv[0] and argv[0] != "plain" and not live.have(argv[0]):
                print(f"{case}: no {argv[0]} here")
            else:
                bad += compare(case, cwd, reports, [word for word in sys.argv[1:] if word[0] == "-"])
    finally:
        shutil.rmtree(cwd, ignore_errors=True)
        shutil.rmtree(reports, ignore_errors=True)
    sys.exit(1 if bad else 0)


main()
