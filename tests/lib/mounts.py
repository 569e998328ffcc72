#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""libsyscull's attribute look-ups on real file systems, mounted in a mount
namespace of our own.

usage: mounts.py CASE...       (a function case_CASE below)

COMPARE, LL, FUSE_ANSWERS and SYSCULL are paths of the built programs.  A case
that cannot mount what it needs ends with 77 and says why.
"""
import errno
import json
import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile

ENV = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C", "TZ": "UTC0", "HOME": "/"}
ENV.update({name: os.environ[name] for name in os.environ if name.startswith(("ASAN", "UBSAN", "TSAN"))})
COLORS = dict(ENV, LS_COLORS="di=01;34:ln=01;36:pi=33:so=01;35:bd=01;33:cd=01;33:ex=01;32:su=37;41:ca=30;41:*.x=1")
FAMILY = ["getxattr", "lgetxattr", "fgetxattr", "getxattrat", "listxattr", "llistxattr", "flistxattr", "listxattrat"]
ACL = "u:5:r"
LABEL = "system_u:object_r:tmp_t:s0"


class Skip(Exception):
    pass


def run(*argv, env=None, check=True, **more):
    done = subprocess.run([str(word) for word in argv], env=env or ENV, capture_output=True, check=False,
                          stdin=subprocess.DEVNULL, **more)
    if check and done.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, argv))} ended with {done.returncode}: "
                             f"{(done.stdout + done.stderr).decode(errors='replace')[-2000:]}")
    return done


def need(*argv, **more):
    """What must work here for the case to say anything."""
    if not shutil.which(argv[0], path=ENV["PATH"]):
        raise Skip(f"no {argv[0]} here")
    done = run(*argv, check=False, **more)
    if done.returncode != 0:
        raise Skip(f"{' '.join(map(str, argv))}: {done.stderr.decode(errors='replace').strip()}")


class Mounts:
    """Folders of one case, unmounted and removed at its end."""

    def __init__(self):
        self.top = tempfile.mkdtemp(prefix="syscull-xattr-")
        self.mounted = []
        self.children = []

    def folder(self, name):
        path = os.path.join(self.top, name)
        os.makedirs(path, exist_ok=True)
        return path

    def mount(self, kind, name, options=None, source="none"):
        path = self.folder(name)
        need("mount", "-t", kind, *(["-o", options] if options else []), source, path)
        self.mounted.append(path)
        return path

    def image(self, kind, name, *make, size=64):
        """A loop mount of a fresh file system; make: the program that makes it and its options."""
        image = os.path.join(self.top, name + ".img")
        with open(image, "wb") as file:
            file.truncate(size << 20)
        need(*make, image)
        return self.mount(kind, name, "loop", image)

    def fuse(self, name, groups, count=10, delay=0, **more):
        if not os.path.exists("/dev/fuse"):
            raise Skip("no /dev/fuse here")
        if not os.environ.get("FUSE_ANSWERS"):
            raise Skip("built without libfuse3")
        path = self.folder(name)
        env = dict(ENV, FUSE_GROUPS=groups, FUSE_COUNT=str(count), FUSE_DELAY_US=str(delay), **more)
        child = subprocess.Popen([os.environ["FUSE_ANSWERS"], "-f", "-s", path], env=env, stdin=subprocess.DEVNULL,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        self.children.append(child)
        while not os.path.ismount(path):
            if child.poll() is not None:
                raise Skip(f"FUSE does not mount here: {child.stderr.read().decode(errors='replace').strip()}")
        self.mounted.append(path)
        return path

    def end(self):
        for path in reversed(self.mounted):
            run("umount", path, check=False)
        for child in self.children:
            child.terminate()
            child.wait()
        # Whatever is still mounted below is not ours to remove.
        if not any(os.path.ismount(path) for path in self.mounted):
            shutil.rmtree(self.top, ignore_errors=True)


def try_set(path, name, value):
    try:
        os.setxattr(path, name, value, follow_symlinks=False)
    except OSError:
        pass


def fill(top, prefix="", plain=5):
    """One of everything that the file system takes."""
    os.makedirs(top, exist_ok=True)

    def file(name, mode=0o644):
        path = os.path.join(top, prefix + name)
        with open(path, "w", encoding="ascii"):
            pass
        os.chmod(path, mode)
        return path

    def acl(*argv):
        run("setfacl", *argv, check=False)

    for i in range(plain):
        file(f"plain{i}")
    for name in ("acl", "acl-label", "all"):
        acl("-m", ACL, file(name))
    for name in ("label", "acl-label", "all"):
        file(name)
        try_set(os.path.join(top, prefix + name), "security.selinux", LABEL.encode() + b"\0")
    file("unlabeled")
    try_set(os.path.join(top, prefix + "unlabeled"), "security.selinux", b"unlabeled\0")
    for name in ("cap", "cap.x", "all"):
        run("setcap", "cap_net_raw+ep", file(name, 0o755), check=False)
    for name in ("user", "all"):
        try_set(file(name), "user.syscull", b"value")
    for i in range(40):
        try_set(os.path.join(top, prefix + "user"), f"user.{'x' * 100}{i}", b"")
    if os.path.exists(os.path.join(top, prefix + "all")):
        acl("-m", ACL, os.path.join(top, prefix + "all"))
    for name in ("dir", "dir-acl", "dir-default", "dir-both", "dir-label"):
        path = os.path.join(top, prefix + name)
        os.makedirs(path, exist_ok=True)
        if name in ("dir-acl", "dir-both"):
            acl("-m", ACL, path)
        if name in ("dir-default", "dir-both"):
            acl("-d", "-m", ACL, path)
        if name == "dir-label":
            try_set(path, "security.selinux", LABEL.encode())
    for make in (lambda path: os.symlink("plain0", path), lambda path: os.symlink("/nowhere", path), os.mkfifo,
                 lambda path: os.mknod(path, stat.S_IFCHR | 0o600, os.makedev(1, 3)),
                 lambda path: os.mknod(path, stat.S_IFBLK | 0o600, os.makedev(7, 200))):
        try:
            make(os.path.join(top, prefix + f"special{make.__code__.co_firstlineno if hasattr(make, '__code__') else 0}"
                              f"-{len(os.listdir(top))}"))
        except OSError:
            pass
    # A link with a label of its own, and the same for a fifo.
    for name in os.listdir(top):
        path = os.path.join(top, name)
        if os.path.islink(path) and name.startswith(prefix + "special"):
            try_set(path, "security.selinux", LABEL.encode())
            break


def compare(*argv, differs=False):
    done = run(os.environ["COMPARE"], *argv, check=False)
    said = re.search(rb"files (\d+) differences (\d+) asked (\d+) skipped (\d+) learnt (\d+)", done.stdout)
    assert said, f"compare {argv} ended with {done.returncode}: {done.stderr.decode(errors='replace')}"
    files, differences, asked, skipped, learnt = map(int, said.groups())
    assert files > 0
    if differs:
        assert differences > 0, f"{argv}: nothing differs, so this is no test of what goes wrong there"
    else:
        assert differences == 0 and done.returncode == 0, done.stderr.decode(errors="replace")
    return {"asked": asked, "skipped": skipped, "learnt": learnt}


def gnu_ls():
    done = run("ls", "--version", check=False)
    if not done.stdout.startswith(b"ls (GNU coreutils)"):
        raise Skip("ls is not GNU's")
    return done.stdout.split()[3]


def plain_capabilities(text, paths):
    """The listing as an ls without libcap prints it (Debian's has none), when just the right names have the color."""
    names = {os.path.basename(path) for path in paths}
    shown = re.findall(rb"\033\[30;41m(.*?)\033\[0m", text)
    assert {os.fsdecode(name) for name in shown} == names and len(shown) == len(paths), (shown, paths)

    def revert(match):
        name = os.fsdecode(match.group(1))
        mode = next(os.lstat(path).st_mode for path in paths if os.path.basename(path) == name)
        return b"\033[01;32m" + match.group(1) + b"\033[0m" if mode & 0o111 else match.group(1)

    return re.sub(rb"\033\[30;41m(.*?)\033\[0m", revert, text)


def with_capability(*tops):
    for top in tops:
        for where, _, names in os.walk(top):
            for name in names:
                path = os.path.join(where, name)
                try:
                    if stat.S_ISREG(os.lstat(path).st_mode) and os.getxattr(path, "security.capability"):
                        yield path
                except OSError:
                    pass


def like_ls(*options, env=None):
    """ll prints what ls prints; the paths come last."""
    gnu_ls()
    ours = run(os.environ["LL"], *options, env=env, check=False)
    theirs = run("ls", "-l", *options, env=env, check=False)
    shown = ours.stdout
    if shown != theirs.stdout and b"\033[30;41m" in shown:
        shown = plain_capabilities(shown, list(with_capability(*(path for path in options if path.startswith("/")))))
    if shown != theirs.stdout:
        pairs = zip(shown.split(b"\n") + [b""], theirs.stdout.split(b"\n") + [b""])
        first = next((pair for pair in pairs if pair[0] != pair[1]), None)
        raise AssertionError(f"ll {options}: {first[0]!r}\nls prints: {first[1]!r}")
    assert ours.returncode == theirs.returncode, f"ll {options} ended with {ours.returncode}, ls with {theirs.returncode}"
    return ours.stdout.decode(errors="replace")


def mark_of(path):
    """What ls is to show after the mode, from plain look-ups of this one file."""
    def has(name):
        try:
            return os.getxattr(path, name, follow_symlinks=False)
        except OSError as error:
            if error.errno not in (errno.ENODATA, errno.EOPNOTSUPP):
                return "?"
            return None

    mode = os.lstat(path).st_mode
    acls = [] if stat.S_ISLNK(mode) else [has("system.posix_acl_access")]
    if stat.S_ISDIR(mode):
        acls.append(has("system.posix_acl_default"))
    label = has("security.selinux")
    if any(acl not in (None, "?") for acl in acls):
        return "+"
    if "?" in (*acls, label):
        return "?"
    return " " if label is None or label.rstrip(b"\0") == b"unlabeled" else "."


def check_listing(top):
    """Every mark and every capability's color below top, against look-ups of each file by itself."""
    seen = set()
    for where, folders, names in os.walk(top):
        text = run(os.environ["LL"], "-a", "--color=always", where, env=dict(COLORS, LS_COLORS="ca=30;41"), check=False)
        lines = os.fsdecode(text.stdout).rstrip("\n").split("\n")[1:]
        assert len(lines) == len(folders) + len(names) + 2, f"{where}: {lines}"
        expected = {name: mark_of(os.path.join(where, name)) for name in (".", "..", *folders, *names)}
        seen.update(expected.values())
        capable = set(map(os.path.basename, (path for path in with_capability(where) if os.path.dirname(path) == where)))
        for line in lines:
            name = re.sub("\033\\[[0-9;]*m", "", line).split(" -> ")[0].split(" ")[-1]
            mark = line[10] if set(expected.values()) != {" "} else " "
            assert mark == expected[name], f"{where}/{name}: ll shows {mark!r}, it is {expected[name]!r}"
            assert ("\033[30;41m" in line) == (name in capable), f"{where}/{name}: {line!r}"
    return seen


def both(top, marks="", stacked=False):
    """Compares the look-ups, then the listings; marks must all occur after a mode.

    Where the files of a device differ, ls of 8.16 to 9.5 shows wrong marks: there each file is asked by itself only.
    """
    seen = compare(top)
    compare("--reverse", top)
    compare("--threads", "4", top)
    if not stacked:
        like_ls("-R", "-a", top)
        like_ls("-R", "--color=always", top, env=COLORS)
    shown = check_listing(top)
    assert shown.issuperset(marks), f"of {marks} only {shown} in the listing of {top}"
    return seen


def family_calls(*argv, env=None):
    """How many calls of the attribute family the command makes, at the kernel boundary."""
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "report.json")
        done = run(os.environ["SYSCULL"], "run", "--format", f"json={report}", "-e", ",".join(FAMILY), "--", *argv,
                   env=env, check=False)
        if not os.path.exists(report):
            raise Skip(f"syscull run does not work here: {done.stderr.decode(errors='replace')}")
        with open(report, encoding="utf-8") as file:
            told = json.load(file)
    assert told["accounting"]["closed"], "the books are not closed"
    assert told["exit"]["status"] == 0, f"{argv} ended with {told['exit']}"
    return sum(call["count"] for call in told["calls"] if call["name"] in FAMILY)


def case_ext4(mounts):
    top = mounts.image("ext4", "ext4", "mkfs.ext4", "-q", "-F")
    fill(top)
    seen = both(top, "+.")
    assert seen["learnt"] > 0
    # Also on a second mount of the same device, one without ACLs at that.
    other = mounts.folder("bind")
    run("mount", "--bind", top, other)
    mounts.mounted.append(other)
    compare(top, other)


def case_xfs(mounts):
    top = mounts.image("xfs", "xfs", "mkfs.xfs", "-q", size=320)
    fill(top)
    both(top, "+.")


def case_btrfs(mounts):
    top = mounts.image("btrfs", "btrfs", "mkfs.btrfs", "-q", size=256)
    fill(top)
    need("btrfs", "subvolume", "create", f"{top}/sub")
    need("btrfs", "subvolume", "create", f"{top}/sub/a-nested")
    fill(f"{top}/sub")
    # In a snapshot a nested subvolume is an empty directory without handlers.
    need("btrfs", "subvolume", "snapshot", f"{top}/sub", f"{top}/snapshot")
    both(top, "+.")
    both(f"{top}/snapshot", "+.")
    # The same files on a mount without ACLs.
    run("umount", top)
    need("mount", "-o", "loop,noacl", f"{mounts.top}/btrfs.img", top)
    assert "+" not in {line[10:11] for line in like_ls("-R", top).split("\n")}
    both(top, ".")


def case_squashfs(mounts):
    fill(mounts.folder("from"))
    for name, options in (("with", []), ("without", ["-no-xattrs"])):
        image = os.path.join(mounts.top, name + ".squashfs")
        need("mksquashfs", mounts.folder("from"), image, "-quiet", "-no-progress", *options)
        both(mounts.mount("squashfs", name, "loop,ro", image))


def case_erofs(mounts):
    fill(mounts.folder("from"))
    image = os.path.join(mounts.top, "erofs")
    need("mkfs.erofs", image, mounts.folder("from"))
    both(mounts.mount("erofs", "erofs-mount", "loop,ro", image))


def case_tmpfs(mounts):
    top = mounts.mount("tmpfs", "tmpfs")
    fill(top)
    both(top, "+.")


def case_ramfs(mounts):
    top = mounts.mount("ramfs", "ramfs")
    fill(top, plain=200)
    seen = both(top)
    assert seen["skipped"] > 10 * seen["asked"] / 10, seen


def case_procfs(mounts):
    top = mounts.mount("proc", "proc")
    compare("--rounds", "1", f"{top}/sys/kernel", f"{top}/sys/fs", f"{top}/1", f"{top}/fs", f"{top}/tty")
    # Below the top, whose links are as many as there are processes.
    like_ls("-a", f"{top}/sys/kernel/random", f"{top}/tty/driver")
    like_ls(f"{top}/fs", f"{top}/tty")


def case_sysfs(mounts):
    top = mounts.mount("sysfs", "sysfs")
    # Among its directories are some without handlers: kernel/tracing, kernel/debug.
    try_set(f"{top}/kernel/mm", "security.selinux", LABEL.encode())
    try:
        compare("--rounds", "1", f"{top}/kernel", f"{top}/fs")
        compare("--rounds", "1", "--reverse", f"{top}/kernel/mm", f"{top}/kernel/tracing", f"{top}/kernel/debug")
        like_ls("-R", f"{top}/kernel/mm", f"{top}/fs")
    finally:
        try:
            os.removexattr(f"{top}/kernel/mm", "security.selinux")
        except OSError:
            pass


def case_kernel_made(mounts):
    """What else is in the table of classes."""
    done = 0
    for kind in ("tracefs", "debugfs", "cgroup2", "devpts"):
        try:
            top = mounts.mount(kind, kind)
        except Skip:
            continue
        done += 1
        below = [os.path.join(top, name) for name in sorted(os.listdir(top))[:12]]
        compare("--rounds", "1", *(path for path in below if not os.path.isdir(path)), top if kind == "devpts" else below[0])
    if done == 0:
        raise Skip("none of tracefs, debugfs, cgroup2 and devpts mounts here")


def overlay(mounts, upper_kind, order, xino):
    if upper_kind == "ext4":
        upper = mounts.image("ext4", "upper", "mkfs.ext4", "-q", "-F")
    else:
        upper = mounts.mount("tmpfs", "upper")
    lower = mounts.mount("ramfs", "lower")
    os.mkdir(f"{upper}/u")
    os.mkdir(f"{upper}/w")
    # Names decide which layer is asked first.
    fill(lower, prefix="a-" if order == "lower" else "z-")
    merged = mounts.mount("overlay", "merged", f"lowerdir={lower},upperdir={upper}/u,workdir={upper}/w,xino={xino}")
    fill(merged, prefix="m-")
    # Directories that are merged, and files copied up.
    lower_dir = os.path.join(merged, ("a-" if order == "lower" else "z-") + "dir")
    fill(lower_dir, prefix="n-")
    return merged


def case_overlay(mounts):
    for upper in ("ext4", "tmpfs"):
        for order in ("lower", "upper"):
            for xino in ("on", "off"):
                inner = Mounts()
                try:
                    both(overlay(inner, upper, order, xino), "+.", stacked=True)
                    # The old way, one answer per device, is wrong there.
                    if order == "lower":
                        compare("--trust", "--rounds", "1", f"{inner.top}/merged/a-dir-acl",
                                f"{inner.top}/merged/m-dir-label", differs=True)
                finally:
                    inner.end()


def case_fuse(mounts):
    top = mounts.fuse("all", "nodata notsup notsup-nolist nosys eio busy acl acls nfs4 label cap grow denied-list")
    compare("--rounds", "1", top)
    compare("--rounds", "1", "--reverse", top)
    # The last of a type decides for all when it is trusted.
    compare("--trust", "--rounds", "1", "--reverse", mounts.fuse("mixed", "notsup-nolist acl"), differs=True)


def case_fuse_each(mounts):
    for groups in ("nodata acl", "acls nfs4", "label nodata", "notsup acl", "acl notsup", "cap notsup-nolist",
                   "grow acl", "busy acl", "eio label", "denied-list nodata"):
        compare("--rounds", "1", mounts.fuse(groups.replace(" ", "-"), groups, count=4))
    top = mounts.fuse("ls", "acl cap label nodata notsup-nolist", count=6)
    assert check_listing(top) == {"+", ".", " "}
    top = mounts.fuse("refuses", "eio nodata", count=6)
    assert check_listing(top) == {"?", " "}


def case_fuse_nosys(mounts):
    """A server that has no attributes at all: the kernel keeps that, and so may whoever trusts it."""
    top = mounts.fuse("nosys", "nosys", count=20, FUSE_NOSYS="1")
    compare("--rounds", "1", top)
    compare("--rounds", "1", "--trust", top)


def case_fuse_slow(mounts):
    top = mounts.fuse("slow", "notsup", count=200, delay=500)
    plain = family_calls(os.environ["LL"], top)
    trusted = family_calls(os.environ["LL"], "--trust-device", top)
    assert plain == 400, plain
    assert trusted == 2, trusted


def case_origin(mounts):
    """The test that ls once had, at the kernel boundary: 100 files, at most 3 calls of the whole family."""
    env = dict(COLORS)
    for kind in ("ramfs",):
        top = mounts.mount(kind, kind)
        for i in range(100):
            with open(f"{top}/file{i}", "w", encoding="ascii"):
                pass
        count = family_calls(os.environ["LL"], "--color=always", top, env=env)
        assert 1 <= count <= 3, f"{count} calls on {kind}"
        count = family_calls(os.environ["LL"], "--color=always", top, env=dict(ENV, COLORTERM="1"))
        assert 1 <= count <= 3, f"{count} calls on {kind}"
    top = mounts.image("ext4", "ext4", "mkfs.ext4", "-q", "-F")
    for i in range(100):
        with open(f"{top}/file{i}", "w", encoding="ascii"):
            pass
    count = family_calls(os.environ["LL"], "--color=always", top, env=env)
    # One list for each; a run that sees none does not see the calls.
    assert 100 <= count <= 100 + 6, f"{count} calls on ext4"


def many(top, count):
    for part in range(count // 1000):
        os.mkdir(f"{top}/{part}")
        for i in range(1000):
            os.close(os.open(f"{top}/{part}/{i}", os.O_CREAT | os.O_WRONLY, 0o644))


def case_targets(mounts):
    """100,000 files: a constant where there are no attributes, one call a file where there could be."""
    env = dict(COLORS)
    top = mounts.mount("ramfs", "ramfs")
    many(top, 100000)
    # Regular files: label, ACL, capability; directories: label, two ACLs.
    count = family_calls(os.environ["LL"], "-R", "--color=always", top, env=env)
    assert count == 6, f"{count} calls on ramfs"
    run("umount", top)
    mounts.mounted.remove(top)
    top = mounts.mount("tmpfs", "tmpfs")
    many(top, 10000)
    count = family_calls(os.environ["LL"], "-R", "--color=always", top, env=env)
    assert 10010 <= count <= 10010 + 6, f"{count} calls on tmpfs"
    run("umount", top)
    mounts.mounted.remove(top)
    image = os.path.join(mounts.top, "ext4.img")
    with open(image, "wb") as file:
        file.truncate(512 << 20)
    need("mkfs.ext4", "-q", "-F", "-N", "120000", image)
    top = mounts.mount("ext4", "ext4", "loop", image)
    many(top, 100000)
    count = family_calls(os.environ["LL"], "-R", "--color=always", top, env=env)
    assert 100100 <= count <= 100101 + 6, f"{count} calls on ext4"


def case_target_procfs(mounts):
    """200 processes walked in procfs."""
    sleepers = [subprocess.Popen(["sleep", "600"], env=ENV, stdin=subprocess.DEVNULL) for _ in range(200)]
    mounts.children += sleepers
    top = mounts.mount("proc", "proc")
    folders = [f"{top}/{child.pid}" for child in sleepers]
    count = family_calls(os.environ["LL"], "-R", "--color=always", *folders, env=COLORS)
    # Regular files 3, directories 3, links 1 (the label), and whatever types links are not followed to.
    assert 3 <= count <= 7, f"{count} calls in procfs"


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    if os.geteuid() != 0:
        print("mounting needs root", file=sys.stderr)
        sys.exit(77)
    if os.environ.get("SYSCULL_OWN_MOUNTS") != "1":
        if run("unshare", "-m", "true", check=False).returncode != 0:
            print("no mount namespace of our own here", file=sys.stderr)
            sys.exit(77)
        os.execvpe("unshare", ["unshare", "-m", "--propagation", "private", sys.executable, *sys.argv],
                   dict(os.environ, SYSCULL_OWN_MOUNTS="1"))
    for name in sys.argv[1:]:
        mounts = Mounts()
        try:
            globals()["case_" + name](mounts)
        except Skip as why:
            print(f"{name}: {why}", file=sys.stderr)
            sys.exit(77)
        finally:
            mounts.end()


main()
