# SPDX-License-Identifier: BSD-2-Clause
"""Fetches Debian packages and sources for the long tests into a folder.

Uses apt with lists and a cache of its own: nothing is installed, nothing of
the machine's configuration is touched, root is not needed.  What was fetched
stays and is used again.  SYSCULL_MIRROR names another mirror.
"""
import glob
import os
import shutil
import subprocess

MIRROR = os.environ.get("SYSCULL_MIRROR", "http://deb.debian.org/debian")
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"


class CannotFetch(Exception):
    pass


def codename():
    with open("/etc/os-release", encoding="utf-8") as release:
        facts = dict(line.rstrip("\n").split("=", 1) for line in release if "=" in line)
    if facts.get("ID") != "debian" or "VERSION_CODENAME" not in facts:
        raise CannotFetch("this is no Debian: its packages cannot be fetched")
    return facts["VERSION_CODENAME"]


def run(argv, cwd):
    done = subprocess.run(argv, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace", check=False)
    if done.returncode != 0:
        said = [line for line in done.stdout.splitlines() if line.startswith("E:")] or done.stdout.splitlines()[-1:]
        raise CannotFetch(f"{' '.join(argv[:1] + argv[-2:])}: {'; '.join(said)}")


class Apt:
    """apt with a configuration of its own, in `top`."""

    def __init__(self, top):
        self.top = top
        self.fresh = False
        for folder in ("lists/partial", "cache/archives/partial", "etc"):
            os.makedirs(os.path.join(top, folder), exist_ok=True)
        for program in ("apt-get", "dpkg-deb", "dpkg-source"):
            if not shutil.which(program):
                raise CannotFetch(f"no {program} here (tools/deps long installs it)")
        sources = os.path.join(top, "etc", "sources.list")
        with open(sources, "w", encoding="utf-8") as file:
            for kind in ("deb", "deb-src"):
                file.write(f"{kind} [signed-by={KEYRING}] {MIRROR} {codename()} main\n")
        self.options = ["-q"]
        for option in (f"Dir::Etc::SourceList={sources}", "Dir::Etc::SourceParts=/dev/null",
                       f"Dir::State::Lists={top}/lists", f"Dir::Cache={top}/cache", "APT::Sandbox::User="):
            self.options += ["-o", option]

    def get(self, words, cwd):
        if not self.fresh:
            run(["apt-get", *self.options, "update"], self.top)
            self.fresh = True
        run(["apt-get", *self.options, *words], cwd)


def fetched(top, kind, name, unpack):
    """A folder that `unpack` fills once: half of one is never used."""
    done = os.path.join(top, kind, name)
    if not os.path.isdir(done):
        half = done + ".half"
        shutil.rmtree(half, ignore_errors=True)
        os.makedirs(half)
        unpack(half)
        os.rename(half, done)
    return done


def source(top, name):
    """The folder of a source package, with Debian's patches."""
    def unpack(folder):
        Apt(os.path.join(top, "apt")).get(["source", name], folder)

    return next(path for path in glob.glob(os.path.join(fetched(top, "source", name, unpack), "*"))
                if os.path.isdir(path))


def binary(top, name):
    """The files of a binary package, unpacked and not installed."""
    def unpack(folder):
        Apt(os.path.join(top, "apt")).get(["download", name], folder)
        for package in glob.glob(os.path.join(folder, "*.deb")):
            run(["dpkg-deb", "-x", package, folder], folder)
            os.unlink(package)

    return fetched(top, "binary", name, unpack)
