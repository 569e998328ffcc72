# SPDX-License-Identifier: BSD-2-Clause
"""usage: steady_state.py SYSCULL STEADY-STATE
In the steady state only openat, read and close are made, counted at the kernel
boundary by our own command: one openat and one close per file, and no lseek,
fstat, fcntl, mmap, munmap, brk or anything else."""
import json
import os
import re
import subprocess
import sys
import tempfile

SYSCULL, PROGRAM = sys.argv[1:]
PROCESSES, ROUNDS = 10, 5

with tempfile.TemporaryDirectory() as top:
    report = os.path.join(top, "report.json")
    for kind in ("buffer", "pool", "own"):
        run = subprocess.run([SYSCULL, "run", "--format", f"json={report}", "--", PROGRAM, kind,
                              str(PROCESSES), str(ROUNDS)], capture_output=True, text=True, check=False,
                             env=dict(os.environ, ASAN_OPTIONS="detect_leaks=0"))
        if run.returncode != 0:
            print(run.stdout, run.stderr, sep="\n", file=sys.stderr)
            # 125 and 77 are ours: tracing is not allowed here.
            sys.exit(77 if "ptrace" in run.stderr and "steady" not in run.stderr else 1)
        files = int(re.search(r"(\d+) files", run.stdout).group(1))
        assert files == 7 * PROCESSES * ROUNDS, files
        with open(report, encoding="utf-8") as file:
            regions = json.load(file)["regions"]
        steady = [region for region in regions if region["name"] == "steady"]
        assert len(steady) == 1, regions
        counts = {call["name"]: call["count"] for call in steady[0]["top"]}
        assert sum(counts.values()) == steady[0]["count"], (counts, steady[0])
        assert set(counts) == {"openat", "read", "close"}, counts
        assert counts["openat"] == counts["close"] == files, (counts, files)
        assert steady[0]["failed"] == 0, steady[0]
        print(kind, files, "files:", counts)
