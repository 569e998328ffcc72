# SPDX-License-Identifier: BSD-2-Clause
"""libsyscull-preload.so, from outside: the same answers with it as without,
with fewer calls of the kernel, and where the named remedies are unsafe.

usage: preload.py CASE...       (a function case_CASE below)

SYSCULL, PRELOAD, PROGRAMS, MODULE and OTHER are paths of what was built.  Runs
in a mount namespace of its own; a case that cannot have what it needs ends
with 77.
"""
import collections
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

SYSCULL, PRELOAD, PROGRAMS = (os.path.abspath(os.environ[name]) for name in ("SYSCULL", "PRELOAD", "PROGRAMS"))
ENV = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C", "HOME": "/"}
FAMILY = ("getxattr", "lgetxattr", "fgetxattr", "getxattrat")
LABEL = b"label\0"


class Skip(Exception):
    pass


def run(argv, env=None, **more):
    more.setdefault("stdin", subprocess.DEVNULL)
    return subprocess.run([str(word) for word in argv], env={**ENV, **(env or {})}, capture_output=True, check=False,
                          timeout=200, **more)


def said(argv, env=None, **more):
    """What it printed and how it ended, for comparison."""
    done = run(argv, env, **more)
    assert done.returncode != 2, f"{argv}: {done.stderr!r} {done.stdout[-300:]!r}"
    return done.returncode, done.stdout


def preload(parts=None):
    return {"LD_PRELOAD": PRELOAD, **({} if parts is None else {"SYSCULL_PRELOAD": parts})}


def counts(argv, parts=None, env=None):
    """Calls that the kernel saw, with the remedies of these names or without any."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "report")
        fix = [] if parts is None else [SYSCULL, "fix", "-q", "--with", parts, "--"]
        done = run([SYSCULL, "run", "-q", "--no-keep", "--format", "json", "-o", path, "--", *fix, *argv], env)
        with open(path, encoding="utf-8") as file:
            report = json.load(file)
    assert report["accounting"]["closed"], done.stderr
    return collections.Counter({call["name"]: call["count"] for call in report["calls"]})


def same(*argv, parts=None, env=None):
    """The same with the library as without; returns what was said."""
    without = said([PROGRAMS, *argv], env)
    with_it = said([PROGRAMS, *argv], {**(env or {}), **preload(parts)})
    if without != with_it:
        pairs = zip(without[1].split(b"\n"), with_it[1].split(b"\n"))
        first = next((pair for pair in pairs if pair[0] != pair[1]), None)
        raise AssertionError(f"{argv}: {without[0]} {with_it[0]}, {first}")
    return without[1].decode()


class Place:
    """Folders and mounts of one case, gone at its end."""

    def __init__(self):
        self.top = tempfile.mkdtemp(prefix="syscull-preload-")
        os.chmod(self.top, 0o755)
        self.mounted = []

    def folder(self, name):
        path = os.path.join(self.top, name)
        os.makedirs(path, exist_ok=True)
        return path

    def mount(self, kind, name, options=None, source="none"):
        path = self.folder(name)
        done = run(["mount", "-t", kind, *(["-o", options] if options else []), source, path])
        if done.returncode != 0:
            raise Skip(f"no {kind} can be mounted here: {done.stderr.decode().strip()}")
        self.mounted.append(path)
        return path

    def image(self, kind, name):
        image = os.path.join(self.top, name + ".img")
        with open(image, "wb") as file:
            file.truncate((128 if kind == "btrfs" else 16) << 20)
        if not shutil.which(f"mkfs.{kind}", path=ENV["PATH"]):
            raise Skip(f"no mkfs.{kind} here")
        done = run([f"mkfs.{kind}", "-q", image])
        assert done.returncode == 0, done.stderr
        return image

    def end(self):
        for path in reversed(self.mounted):
            run(["umount", "-l", path])
        shutil.rmtree(self.top, ignore_errors=True)


def files(folder, count=40, label=False):
    for i in range(count):
        path = os.path.join(folder, f"f{i}")
        with open(path, "wb"):
            pass
        if label:
            os.setxattr(path, "security.selinux", LABEL)
    return folder


def everything(folder):
    """Files of each kind, with what the file system takes."""
    files(folder)
    os.mkdir(os.path.join(folder, "closed"), 0o700)
    with open(os.path.join(folder, "closed", "inside"), "wb"):
        pass
    os.symlink("loop", os.path.join(folder, "loop"))
    os.symlink("f1", os.path.join(folder, "link"))
    os.mkfifo(os.path.join(folder, "pipe"))
    for i, (name, value) in enumerate((("security.selinux", LABEL), ("user.syscull", b"value"),
                                       ("trusted.syscull", b"hidden"))):
        try:
            os.setxattr(os.path.join(folder, f"f{i + 2}"), name, value)
        except OSError:
            pass
    run(["setfacl", "-m", "u:5:r", os.path.join(folder, "f5")])
    run(["setfacl", "-d", "-m", "u:5:r", os.path.join(folder, "closed")])
    run(["setcap", "cap_net_raw+ep", os.path.join(folder, "f6")])
    os.chmod(folder, 0o755)
    return folder


def two(place):
    """A folder whose files cannot have a label, one whose files have one."""
    return (files(place.mount("ramfs", "without", "mode=755")),
            files(place.mount("tmpfs", "with", "mode=755"), label=True))


def walk(folder):
    text = same("walk", folder, 65534)
    assert text.count("EOPNOTSUPP") > 100 and text.count("EBADF") > 50, text[:1000]
    return text


def case_ramfs(place):
    folder = everything(place.mount("ramfs", "ram", "mode=755"))
    text = walk(folder)
    assert "closed/inside" not in text and "EACCES" in text and "ELOOP" in text and "ENAMETOOLONG" in text
    without, with_it = counts([PROGRAMS, "walk", folder, 65534]), counts([PROGRAMS, "walk", folder, 65534], "xattr")
    before, after = (sum(count[name] for name in FAMILY) for count in (without, with_it))
    assert after < before * 0.75, (before, after)


def case_ext4(place):
    text = walk(everything(place.mount("ext4", "disk", "loop", place.image("ext4", "disk"))))
    assert "security.selinux 300: 6" in text


def case_overlay(place):
    lower, upper = place.mount("ramfs", "lower", "mode=755"), place.mount("tmpfs", "upper", "mode=755")
    everything(lower)
    for name in ("up", "work"):
        os.mkdir(os.path.join(upper, name))
    folder = place.mount("overlay", "both", f"lowerdir={lower},upperdir={upper}/up,workdir={upper}/work")
    # One device, files that can have a label and such as cannot.
    os.setxattr(os.path.join(folder, "f3"), "security.selinux", LABEL)
    text = walk(folder)
    assert "f3 security.selinux 300: 6" in text


def case_fewer(place):
    """The pattern of a lister on a file system without attributes: hardly a look-up is left."""
    folder = files(place.mount("ramfs", "ram"), 1000)
    without, with_it = (counts([PROGRAMS, "pattern", folder, 1000], parts) for parts in (None, "xattr"))
    before, after = (sum(count[name] for name in FAMILY) for count in (without, with_it))
    assert before >= 3000 and after <= 150, (before, after)
    # Nothing of it was only moved.
    assert sum(with_it.values()) < sum(without.values()) - 2700, (with_it, without)
    same("pattern", folder, 1000)
    without, with_it = (counts([PROGRAMS, "descriptors", folder, 1000], parts) for parts in (None, "xattr"))
    assert sum(with_it.values()) < sum(without.values()) - 700, (with_it, without)
    same("descriptors", folder, 1000)
    # Where everything can be there nothing is done at all.
    folder = files(place.mount("tmpfs", "tmp"), 1000)
    without, with_it = (counts([PROGRAMS, "pattern", folder, 1000], parts) for parts in (None, "xattr"))
    for name in (*FAMILY, "statx", "newfstatat", "statfs"):
        # What starts the command, and loads its libraries, has some stats of its own.
        assert abs(with_it[name] - without[name]) < 20, (with_it, without)


CHANGES = ("rename", "unlink", "number", "shell", "chdir", "fchdir", "chroot", "fork", "thread", "time", "mount", "descriptor", "vfork",
           "walk", "user")


def case_changes(place):
    """What a path meant is forgotten when it may mean something else."""
    without, with_it = two(place)
    for name in CHANGES:
        ours = place.folder(name)
        text = same("by_" + name, without, with_it, ours)
        assert ": 6\n" in text or name == "user", (name, text)
        assert "EOPNOTSUPP" in text and (name != "user" or "EACCES" in text), (name, text)
        command = [PROGRAMS, "by_" + name, without, with_it, ours]
        before, after = counts(command)["lgetxattr"], counts(command, "xattr")["lgetxattr"]
        assert after < before - 50, f"{name}: {before} {after}: the library did not even try"


def case_busy(place):
    """Signal handlers that stat, jumps out of them, threads, children, modules."""
    folders = two(place)
    for name in ("signals", "jumping", "threads", "storm"):
        text = same(name, *folders)
        assert text.endswith("wrong 0\n"), (name, text)
    text = same("loaded", *folders, os.path.abspath(os.environ["MODULE"]))
    assert text.endswith("wrong 0\n") and "dlerror none" in text and text.count("with: 6") == 20, text


def case_others(place):
    """Another library, before ours and behind it: its word counts."""
    without, with_it = two(place)
    other = os.path.abspath(os.environ["OTHER"])
    for argv in (("walk", with_it, 65534), ("pattern", without, 40), ("answers",)):
        alone = said([PROGRAMS, *argv], {"LD_PRELOAD": other})
        for both in (f"{other}:{PRELOAD}", f"{PRELOAD}:{other}"):
            together = said([PROGRAMS, *argv], {"LD_PRELOAD": both, "SYSCULL_PRELOAD": "xattr,unsupported"})
            assert alone == together, (argv, both)
    assert b"4\n" in said([PROGRAMS, "walk", with_it, 65534], {"LD_PRELOAD": other})[1]
    # A limit that the other one invents is not improved either.
    together = said([PROGRAMS, "answers"], {"LD_PRELOAD": f"{PRELOAD}:{other}", "SYSCULL_PRELOAD": "nofile"})
    assert together[1].startswith(b"77 "), together


def case_words(place):
    """SYSCULL_PRELOAD: unset, empty, and words that nobody knows."""
    plain = said([PROGRAMS, "answers"])
    small = said([PROGRAMS, "answers"], preload("nofile"))
    assert plain != small and small[1].split()[0] == b"3", (plain, small)
    for parts, expected in ((None, plain), ("", plain), ("nofilex", plain), ("nofil", plain), ("xattr,closefrom", plain),
                            ("later,nofile,,future", small), (",,nofile", small)):
        assert said([PROGRAMS, "answers"], preload(parts)) == expected, parts
    folder = files(place.mount("ramfs", "ram"), 200)
    plain = said([PROGRAMS, "pattern", folder, 200])
    assert said([PROGRAMS, "pattern", folder, 200], preload("")) == plain


def case_setuid(place):
    """A program that gains privileges is left alone."""
    program = os.path.join(place.mount("tmpfs", "tmp", "mode=755"), "program")
    shutil.copy(PROGRAMS, program)
    os.chown(program, 65534, 65534)
    os.chmod(program, 0o6755)
    assert said([program, "maps"], preload())[1] == b"preloaded 0, secure 1\n"
    os.chmod(program, 0o755)
    assert said([program, "maps"], preload())[1] == b"preloaded 1, secure 0\n"
    done = run([SYSCULL, "fix", "--", program, "maps"])
    assert done.stdout == b"preloaded 1, secure 0\n" and done.stderr.count(b"\n") == 1, done
    os.chmod(program, 0o6755)
    done = run([SYSCULL, "fix", "--", program, "maps"])
    assert done.stdout == b"preloaded 0, secure 1\n", done
    assert b"is a set-user-id program: it is not reached" in done.stderr, done


def case_nofile(place):
    """Sweeps close what is open, and limits stay what they were."""
    for how in ("getdtablesize", "sysconf", "getrlimit"):
        assert same("sweep", how, parts="nofile") == "open 0\n"
        before, after = (counts([PROGRAMS, "sweep", how], parts)["close"] for parts in (None, "nofile"))
        assert before > 1000 and after < 400, (before, after)
    # The child of a vfork, and the parent's descriptors after it.
    text = same("sweep_vfork", parts="nofile")
    assert "open 0\n" in text and "status 0, parent 11\n" in text, text
    assert same("sweep_dup", "each", parts="nofile") == "open 0\n"
    same("limits", parts="nofile")
    # Unsafe: who asks once and then opens higher numbers.
    assert said([PROGRAMS, "sweep_dup", "once"])[1] == b"open 0\n"
    assert said([PROGRAMS, "sweep_dup", "once"], preload("nofile"))[1] != b"open 0\n"


def case_procfs_stdio(place):
    for path in ("/proc/kallsyms", "/proc/self/mountinfo", "/proc/devices", "/sys/kernel/notes", "/etc/passwd"):
        if os.access(path, os.R_OK):
            same("stream", path, 5000, parts="procfs-stdio")
    same("streams", "/proc/devices", parts="procfs-stdio")
    before, after = (counts([PROGRAMS, "stream", "/proc/kallsyms", 5000], parts)["read"]
                     for parts in (None, "procfs-stdio"))
    assert after < before / 2, (before, after)
    # Unsafe: who reads the descriptor beside the stream.
    assert said([PROGRAMS, "beside", "/proc/kallsyms"]) != said([PROGRAMS, "beside", "/proc/kallsyms"],
                                                                preload("procfs-stdio"))


def case_unsupported(place):
    disk, memory = place.folder("disk"), place.mount("tmpfs", "memory")
    if os.stat(disk).st_dev == os.stat(memory).st_dev:
        raise Skip("no two devices")
    text = same("copy", disk, memory, 50, parts="unsupported")
    assert "EXDEV" in text and text.endswith("within: 1\n"), text
    before, after = (counts([PROGRAMS, "copy", disk, memory, 50], parts) for parts in (None, "unsupported"))
    assert before["copy_file_range"] == 51 and after["copy_file_range"] == 2, (before, after)
    assert before["ioctl"] - after["ioctl"] == 49, (before, after)


def case_unsupported_remount(place):
    """Unsafe: another file system of the same device number, where it would work."""
    image = place.image("btrfs", "disk")

    def answers(parts):
        """(device, answer) before another file system came there, and after."""
        # The lowest free numbers of devices are used again, if nobody mounts in
        # between: btrfs takes two, and its files have the second.
        spare, folder = place.mount("tmpfs", "spare"), place.mount("tmpfs", "there")
        with subprocess.Popen([PROGRAMS, "later", folder], env={**ENV, **preload(parts)}, stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, text=True) as child:
            first = child.stdout.readline(), child.stdout.readline()
            run(["umount", folder])
            run(["umount", spare])
            place.mount("btrfs", "there", "loop", image)
            second = tuple(child.communicate("go\n", timeout=60)[0].splitlines(keepends=True))
        run(["umount", folder])
        return first, second

    refused, works = "FICLONE : EOPNOTSUPP\n", "FICLONE : 0\n"
    first, second = answers("")
    assert first[1] == refused and second[1] == works, (first, second)
    for _ in range(8):
        first, second = answers("unsupported")
        assert first[1] == refused
        if first[0] == second[0]:
            assert second[1] == refused, "the condition of the remedy is gone: say so in its table"
            return
        assert second[1] == works, (first, second)
    raise Skip("somebody else mounts: the device numbers differ")


def case_closefrom(place):
    assert same("close_from", parts="closefrom") == "3 is open, open from 4: 0\n"
    # Refused, and without /proc: libc ends the process.
    empty = place.folder("empty")
    plain = run([PROGRAMS, "close_from", empty])
    ours = run([PROGRAMS, "close_from", empty], preload("closefrom"))
    if plain.returncode == 2:
        raise Skip("no filter can be installed here")
    assert plain.returncode == -6, plain
    assert (ours.returncode, ours.stdout) == (0, b"3 is open, open from 4: 0\n"), ours


def case_asan(place):
    """What the manual says of AddressSanitizer: it ends the program, unless it is told not to look."""
    program = os.environ["ASAN"]
    assert said([program]) == (0, b"")
    done = run([SYSCULL, "fix", "-q", "--", program])
    assert done.returncode != 0 and b"does not come first" in done.stderr, done
    done = run([SYSCULL, "fix", "-q", "--", program], {"ASAN_OPTIONS": "verify_asan_link_order=0"})
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b""), done


def case_static(place):
    """fix says of whom the library does not reach, in one line."""
    static = os.environ.get("STATIC")
    if not static:
        raise Skip("no static program can be linked here")
    done = run([SYSCULL, "fix", "--", static])
    assert done.returncode == 0, done
    lines = done.stderr.decode().splitlines()
    assert len(lines) == 2 and re.search("linked statically.*not reached", lines[1]), lines
    # Of what needs no library nothing is said, nor when nobody wants to hear it.
    done = run([SYSCULL, "fix", "--with", "LC_ALL", "--", static])
    assert done.stderr.decode().splitlines() == ["syscull: with LC_ALL=C"], done
    assert run([SYSCULL, "fix", "-q", "--", static]).stderr == b""
    assert len(run([SYSCULL, "fix", "--", "true"]).stderr.splitlines()) == 1
    # Others, by their files alone: such as are none, they do not run.
    with open(static, "rb") as file:
        image = file.read()

    def obstacle(data):
        path = os.path.join(place.top, "made")
        with open(path, "wb") as file:
            file.write(data)
        os.chmod(path, 0o755)
        done = run([SYSCULL, "fix", "--", path])
        return done.stderr.decode(errors="replace")

    def elf(*segments, count=None, size=56):
        """An ELF header and program headers, (type, bytes) each, with the bytes behind them."""
        at = 64 + 56 * len(segments)
        table, rest = b"", b""
        for kind, data in segments:
            table += struct.pack("<IIQQQQQQ", kind, 4, at + len(rest), 0, 0, len(data), len(data), 4)
            rest += data
        head = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\x02\x01\x01", 2, 62, 1, 0, 64, 0, 0, 64, size,
                           len(segments) if count is None else count, 0, 0, 0)
        return head + table + rest

    note = struct.pack("<III4s4s", 4, 4, 4, b"Go\0\0", b"idid")
    other = struct.pack("<III4s4s", 4, 4, 1, b"GNU\0", b"idid")
    interpreter = (3, b"/lib64/ld-linux-x86-64.so.2\0")
    assert "is a 32-bit program: " in obstacle(image[:4] + b"\1" + image[5:])
    assert "is a Go program" in obstacle(elf(interpreter, (4, other + note)))
    assert "linked statically" in obstacle(elf((1, b"code")))
    huge = struct.pack("<III4s", 0xffffffff, 0xffffffff, 1, b"XXXX")
    for nothing in (elf(interpreter, (4, other)), elf(interpreter, (4, huge)), elf(interpreter, (4, note[:10])),
                    elf((1, b"code"), count=60000), elf((1, b"code"), count=9), elf((1, b"code"), size=32), b"\x7fELF",
                    b"#!", b"#! ", b"", image[:70]):
        assert "not reached" not in obstacle(nothing), nothing
    # A script is its interpreter, and what cannot be read is left to exec.
    script = os.path.join(place.top, "script")
    with open(script, "w", encoding="ascii") as file:
        file.write(f"#!{static}\n")
    os.chmod(script, 0o755)
    assert len(run([SYSCULL, "fix", "--", script]).stderr.splitlines()) == 2


def main(cases):
    if os.geteuid() != 0:
        print("mounting needs root", file=sys.stderr)
        sys.exit(77)
    if os.environ.get("SYSCULL_OWN_MOUNTS") != "1":
        if run(["unshare", "-m", "true"]).returncode != 0:
            print("no mount namespace of our own here", file=sys.stderr)
            sys.exit(77)
        os.execvpe("unshare", ["unshare", "-m", "--propagation", "private", sys.executable, *sys.argv],
                   dict(os.environ, SYSCULL_OWN_MOUNTS="1"))
    for name in sys.argv[1:]:
        place = Place()
        try:
            cases["case_" + name](place)
        except Skip as why:
            print(f"{name}: {why}", file=sys.stderr)
            sys.exit(77)
        finally:
            place.end()


if __name__ == "__main__":
    main(globals())
