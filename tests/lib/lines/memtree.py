# SPDX-License-Identifier: BSD-2-Clause
"""usage: memtree.py MEMTREE
examples/memtree: the tree of processes of our own, its sums, 80 columns, and
names that try to steer the terminal."""
import os
import re
import subprocess
import sys

MEMTREE = sys.argv[1]
CHILD = """
import ctypes, os, signal, sys
for _ in range(2):
    if os.fork() == 0:
        break
ctypes.CDLL(None).prctl(15, b"\\x1b[31m\\\\a\\nb")
sys.stdout.write("x"); sys.stdout.flush()
signal.pause()
"""


def run(*args):
    done = subprocess.run([MEMTREE, *args], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def bytes_of(word):
    number, unit = re.fullmatch(r"([0-9.]+)([KMG]?)", word).groups()
    return float(number) * {"": 1, "K": 2**10, "M": 2**20, "G": 2**30}[unit]


parent = subprocess.Popen([sys.executable, "-c", CHILD], stdout=subprocess.PIPE, start_new_session=True)
try:
    assert parent.stdout.read(3) == b"xxx"
    status, out, err = run(str(parent.pid))
    assert status == 0 and err == "", (status, err)
    lines = out.splitlines()
    assert lines[0].split() == ["PID", "RSS", "PSS", "PRIV", "SHARE", "SWAP", "FDS", "NAME"], lines[0]
    assert len(lines) == 5, out
    rows = [line.split() for line in lines[1:]]
    assert rows[0][0] == str(parent.pid) and rows[1][0] == "sum" and rows[1][7:] == ["=", "3", "processes"], out
    assert all(row[7] == "\\x1b[31m\\x5ca\\x0ab" for row in (rows[0], rows[2], rows[3])), out
    assert re.fullmatch(r"[ -~\n]*", out), out
    assert max(map(len, lines)) <= 80
    for column in range(1, 6):
        parts = sum(bytes_of(rows[i][column]) for i in (0, 2, 3))
        # Three digits are shown of each.
        assert abs(parts - bytes_of(rows[1][column])) <= 0.05 * parts + 2048, (column, out)
    assert int(rows[1][6]) == sum(int(rows[i][6]) for i in (0, 2, 3)), out
    assert bytes_of(rows[2][2]) >= bytes_of(rows[3][2]) * 0.99, "the largest comes first"
    with open(f"/proc/{parent.pid}/smaps_rollup", encoding="ascii") as file:
        rss = int(re.search(r"^Rss:\s+(\d+) kB", file.read(), re.M).group(1)) * 1024
    assert abs(rss - bytes_of(rows[0][1])) <= 0.05 * rss, (rss, rows[0])
finally:
    os.killpg(parent.pid, 9)
    parent.wait()

status, out, err = run()
assert status == 0, err
assert max(map(len, out.splitlines())) <= 80, out
assert f"{os.getpid():7d} " in out, out
assert run("999999999")[0] == 1
assert run("x")[0] == 2 and run("-1")[0] == 2 and run("1", "2")[0] == 2
print("tree, sums, names, 80 columns")
