# SPDX-License-Identifier: BSD-2-Clause
"""tools/deps against a made-up dpkg, apt-get and id: whom it asks, what it
installs, and that the policy that keeps services from starting is only there
for as long.  Installs nothing."""
import os
import pty
import shutil
import subprocess
import sys
import tempfile

TOP = sys.argv[1]
DEPS = os.path.join(TOP, "tools", "deps")
FAKES = {
    # Installed is what $FAKE/installed lists.
    "dpkg-query": '''for last; do :; done; grep -qx "$last" "$FAKE/installed" && printf installed; exit 0''',
    "apt-get": '''echo "$@" >> "$FAKE/apt"
if [ -x "$SYSCULL_POLICY_RC_D" ]; then "$SYSCULL_POLICY_RC_D" x start; echo "policy $?" >> "$FAKE/apt"; fi
case $1 in
update) : > "$FAKE/updated" ;;
install) [ ! -e "$FAKE/broken" ] && { [ ! -e "$FAKE/stale" ] || [ -e "$FAKE/updated" ]; } ;;
esac''',
    "id": 'cat "$FAKE/uid"',
    "meson": "exit 0",
    "ninja": "exit 0",
}


class Machine:
    def __init__(self, top, name, installed=(), uid=0, without=(), marks=(), policy=None):
        self.home = os.path.join(top, name)
        os.makedirs(os.path.join(self.home, "bin"))
        for program, text in FAKES.items():
            if program not in without:
                self.write(os.path.join("bin", program), "#!/bin/sh\n" + text + "\n", 0o755)
        for program in ("sh", "grep", "cat", "awk", "sort", "dirname", "rm", "mv", "chmod", "sed", "printf"):
            path = next(p for p in ("/usr/bin/" + program, "/bin/" + program) if os.path.exists(p))
            os.symlink(path, os.path.join(self.home, "bin", program))
        self.write("installed", "".join(p + "\n" for p in installed))
        self.write("uid", f"{uid}\n")
        for mark in marks:
            self.write(mark, "")
        self.policy = os.path.join(self.home, "policy-rc.d")
        if policy:
            self.write("policy-rc.d", policy, 0o755)
        self.env = {"PATH": os.path.join(self.home, "bin"), "FAKE": self.home, "SYSCULL_POLICY_RC_D": self.policy}

    def write(self, name, text, mode=0o644):
        path = os.path.join(self.home, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, mode)

    def run(self, *arguments, answer=None, **env):
        stdin = subprocess.DEVNULL
        if answer is not None:
            control, stdin = pty.openpty()
            os.write(control, answer.encode())
        run = subprocess.run([DEPS, *arguments], env={**self.env, **env}, stdin=stdin,
                             capture_output=True, text=True, check=False)
        if answer is not None:
            os.close(control)
            os.close(stdin)
        return run

    def apt(self):
        try:
            with open(os.path.join(self.home, "apt"), encoding="utf-8") as file:
                return file.read().splitlines()
        except FileNotFoundError:
            return []


ALL = subprocess.run([DEPS, "--list"], capture_output=True, text=True, check=True).stdout.split()
BUT_BATS = [p for p in ALL if p != "bats"]

with tempfile.TemporaryDirectory() as top:
    complete = Machine(top, "complete", ALL)
    assert complete.run().returncode == 0 and complete.apt() == []

    root = Machine(top, "root", BUT_BATS)
    assert root.run("--wanted", "build").returncode == 0 and root.apt() == [], "bats is no part of build"
    assert root.run("--wanted", "test").returncode == 0
    assert len(root.apt()) == 2 and root.apt()[0].split()[0] == "install" and root.apt()[0].split()[-1] == "bats", root.apt()
    assert "--no-remove" in root.apt()[0] and root.apt()[1] == "policy 101", root.apt()
    assert not os.path.exists(root.policy)

    stale = Machine(top, "stale", BUT_BATS, marks=["stale"])
    assert stale.run().returncode == 0
    assert [line.split()[0] for line in stale.apt() if not line.startswith("policy")] == ["install", "update", "install"]

    broken = Machine(top, "broken", BUT_BATS, marks=["broken"])
    assert broken.run().returncode == 1
    assert not os.path.exists(broken.policy), "the policy stayed behind"

    lax = "#!/bin/sh\nexit 0\n"
    guarded = Machine(top, "guarded", BUT_BATS, marks=["broken"], policy=lax)
    assert guarded.run().returncode == 1 and "policy 101" in guarded.apt()
    with open(guarded.policy, encoding="utf-8") as file:
        assert file.read() == lax, "the machine's own policy was not put back"
    assert os.listdir(guarded.home).count("policy-rc.d.before-syscull") == 0

    user = Machine(top, "user", BUT_BATS, uid=1000)
    run = user.run("--wanted", "test")
    assert run.returncode == 0 and "apt-get install --no-install-recommends bats" in run.stderr, run
    assert user.run("test").returncode == 1, "make deps without root is a failure"
    assert user.apt() == []

    bare = Machine(top, "bare", BUT_BATS, uid=1000, without=["meson"])
    run = bare.run("--wanted", "test")
    assert run.returncode == 1 and "apt-get install" in run.stderr, run

    # One line says what to install; what make adds is its own "Error 1".
    make = shutil.which("make")
    nothing = Machine(top, "nothing", uid=1000, without=["meson"])
    run = subprocess.run([make, "--no-print-directory", "-C", TOP, "run"], env=nothing.env, stdin=subprocess.DEVNULL,
                         capture_output=True, text=True, check=False)
    assert run.returncode == 2 and run.stdout == "", run
    ours = [line for line in run.stderr.splitlines() if not line.startswith("make")]
    assert len(ours) == 1 and "apt-get install" in ours[0] and nothing.apt() == [], run
    run = subprocess.run([make, "-C", TOP, "run", "CMD="], env=complete.env, stdin=subprocess.DEVNULL,
                         capture_output=True, text=True, check=False)
    assert run.returncode != 0 and "CMD= needs a command" in run.stderr, run

    # On a terminal: asks; in CI it does not.
    for answer, env, times in (("n\n", {}, 0), ("y\n", {}, 1), ("", {"CI": "1"}, 1)):
        asked = Machine(top, f"asked-{answer.strip()}-{len(env)}", BUT_BATS)
        run = asked.run("--wanted", "test", answer=answer, **env)
        installs = [line for line in asked.apt() if line.startswith("install")]
        assert run.returncode == 0 and len(installs) == times, (answer, env, run, asked.apt())
        assert ("[y/N]" in run.stderr) == (not env)

    # Never at the price of the compiler that the machine has.
    multilib = Machine(top, "multilib", [p for p in ALL if "aarch64" not in p and "arm64" not in p] + ["gcc-multilib"])
    assert multilib.run().returncode == 0 and multilib.apt() == []

    other = Machine(top, "other", without=["apt-get", "dpkg-query"])
    run = other.run("--wanted", "build")
    assert run.returncode == 0 and "no Debian" in run.stderr, run
