# SPDX-License-Identifier: BSD-2-Clause
"""Four tests, each of which does one thing too often, or takes its time."""
import os
import subprocess
import time


def test_sleeps():
    time.sleep(0.3)


def test_fsyncs(tmp_path):
    with open(tmp_path / "f", "w", encoding="ascii") as file:
        for _ in range(40):
            file.write("x\n")
            file.flush()
            os.fsync(file.fileno())


def test_spawns():
    for _ in range(30):
        subprocess.run(["/bin/true"], check=True)


def test_rereads(tmp_path):
    path = tmp_path / "config"
    path.write_text("a = 1\n", encoding="ascii")
    for _ in range(200):
        assert path.read_text(encoding="ascii") == "a = 1\n"
