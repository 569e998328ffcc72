# SPDX-License-Identifier: BSD-2-Clause
"""Real programs with the remedies of `syscull fix`: how many calls are left.
bench/fix takes the table for its figures.

usage: real.py CASE...

VICTIMS is a folder of the built victims; the rest is as for preload.py.
"""
import os
import shutil
import sys

import preload
from preload import FAMILY, PROGRAMS, Skip

FILES = 1000


def have(*names):
    for name in names:
        if not shutil.which(name, path=preload.ENV["PATH"]):
            raise Skip(f"no {name} here")


def family(count):
    return sum(count[name] for name in FAMILY)


def filled(folder, count=FILES):
    for i in range(count):
        with open(os.path.join(folder, f"f{i}"), "w", encoding="ascii") as file:
            file.write("x" * (i % 7))
    return folder


class Case:
    """A command with one remedy, and what its calls have to be without and with."""

    title = remedy = prepare = None

    def command(self, place):
        raise NotImplementedError

    def check(self, before, after):
        raise NotImplementedError


class Tar(Case):
    title, remedy = "tar --xattrs --acls --selinux, ramfs", "xattr"

    def command(self, place):
        have("tar")
        return ["tar", "--xattrs", "--acls", "--selinux", "-cf", "/dev/null", "-C",
                filled(place.mount("ramfs", "ram")), "."]

    def check(self, before, after):
        return family(before) >= 2 * FILES and family(after) <= 40


class FindLabels(Case):
    title, remedy = "find -printf %Z, ramfs", "xattr"

    def command(self, place):
        have("find")
        # It says of each file that there is no label, and ends with 1: so without us as well.
        return ["find", filled(place.mount("ramfs", "ram")), "-printf", "%Z\n"]

    def check(self, before, after):
        return family(before) >= 2 * FILES and family(after) <= 40


class StartStopDaemon(Case):
    title, remedy = "start-stop-daemon --background", "nofile"

    def command(self, place):
        have("start-stop-daemon")
        folder = place.folder("daemon")
        shutil.copy("/usr/bin/touch", os.path.join(folder, "own"))
        # By a file for its number, since one that just ends may still be found by
        # its name.  The limit is that of the machine.
        return ["sh", "-c", f"cd {folder}; rm -f pid; ulimit -n $(ulimit -Hn); {PROGRAMS} reap start-stop-daemon "
                "--start --background --make-pidfile --pidfile $PWD/pid --startas $PWD/own -- $PWD/done"]

    def check(self, before, after):
        return before["close"] > 4096 and after["close"] < 1000


class Fakeroot(Case):
    title, remedy = "fakeroot true", "nofile"

    def command(self, place):
        have("fakeroot")
        # Its server, which sweeps, goes on in the background for a moment.
        return [PROGRAMS, "reap", "fakeroot", "true"]

    def check(self, before, after):
        return before["close"] > 1000 and after["close"] < 1000


class CloseLoop(Case):
    title, remedy = "a C close loop up to the limit", "nofile"

    def command(self, place):
        return [PROGRAMS, "sweep", "getrlimit"]

    def check(self, before, after):
        return before["close"] > 4096 and after["close"] < 400


class ListOff(Case):
    title, remedy = "ls -l, ext4", "xattr=off"

    def command(self, place):
        have("ls")
        return ["ls", "-l", filled(place.mount("ext4", "disk", "loop", place.image("ext4", "disk")))]

    def check(self, before, after):
        # 9.6 and later list once per file, and stop as well.
        return sum(before.values()) - sum(after.values()) > FILES * 0.8


class FindZone(Case):
    title, remedy = "find -ls", "TZ"

    def command(self, place):
        have("find")
        if not os.access("/etc/localtime", os.R_OK):
            raise Skip("no /etc/localtime")
        return ["find", filled(place.folder("files")), "-ls"]

    def check(self, before, after):
        return sum(before.values()) - sum(after.values()) > FILES * 0.8


class Malloc(Case):
    title, remedy = "malloc and free of two blocks", "MALLOC_TOP_PAD_"

    def command(self, place):
        program = os.path.join(os.environ["VICTIMS"], "victim-brk-churn")
        if not os.access(program, os.X_OK):
            raise Skip("no victim")
        return [program, "2000"]

    def check(self, before, after):
        return before["brk"] > 3900 and after["brk"] < 100


class ProcReader(Case):
    title, remedy = "5,000 lines of /proc/kallsyms, stdio", "procfs-stdio"

    def command(self, place):
        return [PROGRAMS, "stream", "/proc/kallsyms", "5000"]

    def check(self, before, after):
        return after["read"] < before["read"] / 2


class Copy(Case):
    title, remedy = "cp -r to another file system", "unsupported"

    def command(self, place):
        have("cp")
        source, there = filled(place.folder("from")), place.mount("tmpfs", "there")
        if os.stat(source).st_dev == os.stat(there).st_dev:
            raise Skip("no two devices")
        self.prepare = f"rm -rf {there}/to"
        return ["cp", "-r", source, f"{there}/to"]

    def check(self, before, after):
        return before["copy_file_range"] == 0 or after["copy_file_range"] < before["copy_file_range"] / 10


class Move(Copy):
    title = "mv to another file system"

    def command(self, place):
        have("cp", "mv")
        source, there = place.folder("from"), place.mount("tmpfs", "there")
        self.prepare = f"rm -rf {there}/to {source}/gone; cp -r {source}/kept {source}/gone"
        filled(place.folder("from/kept"))
        return ["mv", f"{source}/gone", f"{there}/to"]


CASES = {"tar": Tar, "find_labels": FindLabels, "start_stop_daemon": StartStopDaemon, "fakeroot": Fakeroot,
         "close_loop": CloseLoop, "ls_off": ListOff, "find_zone": FindZone, "malloc": Malloc,
         "proc_reader": ProcReader, "cp": Copy, "mv": Move}


def judge(kind):
    def case(place):
        one = kind()
        command = one.command(place)
        seen = []
        for remedy in (None, one.remedy):
            if one.prepare:
                assert preload.run(["sh", "-c", one.prepare]).returncode == 0
            seen.append(preload.counts(command, remedy))
        assert one.check(*seen), (one.title, one.remedy, *seen)
    return case


if __name__ == "__main__":
    preload.main({"case_" + name: judge(kind) for name, kind in CASES.items()})
