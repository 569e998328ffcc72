#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""examples/ll prints the bytes of GNU `ls -l` in the C locale.

usage: ll.py LL

Marks and capabilities on real file systems are in mounts.py.
"""
import os
import shutil
import stat
import subprocess
import sys
import tempfile

LL = os.path.abspath(sys.argv[1])
ENV = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C", "TZ": "UTC0", "HOME": "/"}
DEFAULTS = subprocess.run(["dircolors", "-b"], env=dict(ENV, TERM="xterm"), capture_output=True, text=True,
                          check=False).stdout.partition("'")[2].partition("'")[0]
COLORS = {
    "built in": None,
    "dircolors": DEFAULTS or "di=1",
    "targets": "ln=target:or=31:mi=05;37;41:no=1:ex=32:*.so=7:ca=30;41",
    "escapes": "lc=<:rc=>:ec=END:no=00:fi=0:di=\\e[1m:*.conf=^A\\x41\\101\\_:mh=4",
    "orphans": "ln=01:mi=2:or=3:ca=5:no=7;1:fi=3:mh=44:su=0:sg=00:tw=:ow=1",
    "one suffix after the other": "*.c=1:*.tar.c=2:*c=3:*.c=4:*.C=5",
    "nonsense": "bad",
    "unknown key": "xx=1:di=2",
    "no end": "di=\\",
}
checks = 0


def ls_is_gnu():
    done = subprocess.run(["ls", "--version"], capture_output=True, check=False)
    return done.stdout.startswith(b"ls (GNU coreutils)")


def same(where, *options, env=None, stderr=True):
    global checks
    done = [subprocess.run([*program, *options], cwd=where, env=env or ENV, capture_output=True, check=False,
                           stdin=subprocess.DEVNULL) for program in ([LL], ["ls", "-l"])]
    ours, theirs = done
    assert ours.stdout == theirs.stdout, (options, next(
        (pair for pair in zip(ours.stdout.split(b"\n") + [b""], theirs.stdout.split(b"\n") + [b""]) if pair[0] != pair[1]), None))
    assert ours.returncode == theirs.returncode, (options, ours.returncode, theirs.returncode, ours.stderr)
    if stderr:
        assert ours.stderr.replace(b"ll: ", b"") == theirs.stderr.replace(b"ls: ", b""), (ours.stderr, theirs.stderr)
    checks += 1


def make(top):
    def file(name, mode=0o644, size=0, when=None, ids=None):
        path = os.path.join(os.fsencode(top), name if isinstance(name, bytes) else name.encode())
        with open(path, "wb") as one:
            one.truncate(size)
        if ids and os.geteuid() == 0:
            os.chown(path, *ids)
        os.chmod(path, mode)
        if when is not None:
            os.utime(path, ns=(when, when))

    day = 86400 * 10**9
    import time
    now = time.time_ns()
    os.mkdir(top)
    for i, name in enumerate(["plain", "with blank", "tab\there", "new\nline", "'quote'", '"double"', "-dash", "\\back", "$money",
                              "grün", b"\xff\xfe", ".hidden", "a" * 255, "UPPER", "x.c", "x.C", "x.tar.c", "lib.so", "x.conf", "*", "~"]):
        file(name, size=10**(i % 12))
    for i, age in enumerate([0, 1, 181, 182, 183, 184, 365, 400, 5000, 20000]):
        file(f"age{i}", when=now - age * day)
    for i, when in enumerate([0, 1, -1, -day * 30000, 253402300799 * 10**9, now + 3600 * 10**9, now + day * 400]):
        try:
            file(f"when{i}", when=when)
        except OSError:
            pass
    for mode in (0, 0o777, 0o4755, 0o2755, 0o6755, 0o4644, 0o2644, 0o1644, 0o1755, 0o7777):
        file(f"mode{mode:o}", mode)
        os.mkdir(f"{top}/dir{mode:o}")
        os.chmod(f"{top}/dir{mode:o}", mode)
    for i, ids in enumerate([(1, 1), (65534, 65534), (123456, 7), (4294967294, 1000000)]):
        file(f"ids{i}", ids=ids)
    os.link(f"{top}/plain", f"{top}/second")
    for name, target in {"link": "plain", "orphan": "nowhere", "to-dir": "dir777", "to-exec": "mode777", "to-link": "link",
                         "loop": "loop", "to-c": "x.c", "long": "/" + "y/" * 1500, "odd": "new\nline"}.items():
        os.symlink(target, f"{top}/{name}")
    os.mkfifo(f"{top}/fifo")
    for i, (kind, major, minor) in enumerate([(stat.S_IFCHR, 1, 3), (stat.S_IFCHR, 10, 229), (stat.S_IFBLK, 7, 0),
                                              (stat.S_IFBLK, 4095, 1048575)]):
        try:
            os.mknod(f"{top}/device{i}", kind | 0o600, os.makedev(major, minor))
        except OSError:
            pass
    for path in ("deep/deeper/deepest", "deep/.hidden-dir/below", "deep/empty"):
        os.makedirs(f"{top}/{path}")
    for name in ("deep/one", "deep/deeper/two", "deep/.three"):
        file(name)


def main():
    if not ls_is_gnu():
        print("ls is not GNU's", file=sys.stderr)
        sys.exit(77)
    folder = tempfile.mkdtemp(prefix="syscull-ll-")
    try:
        top = os.path.join(folder, "tree")
        make(top)
        for options in ([], ["-a"], ["-n"], ["-R"], ["-Ra"], ["-d"], ["-d", "."], ["-an", "."], ["-dR", "deep"], [".", "deep"],
                        ["plain"], ["plain", "deep"], ["deep", "plain"], ["link", "to-dir"], ["to-dir/"], ["deep//"], ["-R", "deep//"],
                        ["missing"], ["missing", "plain"], ["missing", "deep"], ["missing", "missing2"], ["plain/x"], ["./deep/../plain"],
                        ["-R", "deep", "plain"], ["--", "-dash"], ["-d", "deep", "link", "fifo"], ["loop"], ["-d", "/", "/dev", "/dev/null"],
                        ["/dev"], ["-n", "/etc"]):
            same(top, *options)
            same(top, *options, "--color=never")
        for name, value in COLORS.items():
            env = dict(ENV, COLORTERM="1", **({"LS_COLORS": value} if value is not None else {}))
            for options in ([], ["-R"], ["-a", "deep"], ["-d", "link", "orphan", "to-dir"], ["/dev", "plain"]):
                same(top, "--color=always", *options, env=env)
            same(top, "--color=always", env=dict(env, COLUMNS="20"))
            same(top, "--color=auto", env=env)
        same(top, "--color=always", env=dict(ENV, TERM="dumb"))
        for zone in ("America/New_York", "Asia/Kolkata", ":nonsense"):
            same(top, env=dict(ENV, TZ=zone))
        # What may not be read; root may read all.
        if os.geteuid() == 0:
            os.mkdir(f"{folder}/closed", 0o700)
            # Names may be read there, and nothing of the files.
            os.makedirs(f"{folder}/names/d")
            for name in ("a", "b"):
                open(f"{folder}/names/{name}", "wb").close()
            os.chmod(f"{folder}/names", 0o744)
            os.chmod(folder, 0o755)
            setpriv = shutil.which("setpriv")
            for options in ([f"{folder}/closed"], ["-R", folder], [f"{folder}/closed/x"],
                            [f"{folder}/names"], ["-a", f"{folder}/names"]):
                if setpriv:
                    done = [subprocess.run([setpriv, "--reuid=65534", "--regid=65534", "--clear-groups", *program, *options], env=ENV,
                                           capture_output=True, check=False) for program in ([LL], ["ls", "-l"])]
                    if b"setpriv" in done[0].stderr:
                        break
                    assert done[0].stdout == done[1].stdout and done[0].returncode == done[1].returncode, (options, done)
        bad = subprocess.run([LL, "--no-such-option"], env=ENV, capture_output=True, check=False)
        assert bad.returncode == 2 and b"usage" in bad.stderr
        full = subprocess.run([LL, "/etc"], env=ENV, stdout=open("/dev/full", "wb"), stderr=subprocess.PIPE, check=False)
        assert full.returncode == 2 and b"write error" in full.stderr, full
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(f"{checks} comparisons")


main()
