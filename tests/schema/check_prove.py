# SPDX-License-Identifier: BSD-2-Clause
"""Real proofs against docs/schema/prove.schema.json, which has no name that
docs/json.md does not explain and lacks none that is written.

usage: check_prove.py TOP SYSCULL
"""
import os
import subprocess
import sys
import tempfile

from schema import Schema, end

TOP, SYSCULL = sys.argv[1:]
SYSCULL = os.path.abspath(SYSCULL)
SCHEMA = Schema(TOP, "prove.schema.json")
bad = SCHEMA.unexplained()
RUNS = (
    (["--with", "TZ", "-n", "2"], ["find", ".", "-ls"], True, True),
    (["--with", "TZ,LC_ALL", "-n", "5"], ["true", b"\xff\x1b[m"], True, True),
    (["--with", "TZ", "-n", "1"], ["sh", "-c", "exit ${#TZ}"], True, False),
    (["--with", "TZ", "-n", "1"], ["sh", "-c", "echo >>grown; wc -l <grown"], False, False),
)
with tempfile.TemporaryDirectory() as place:
    for options, command, steady, same in RUNS:
        environment = {k: v for k, v in os.environ.items() if k not in ("TZ", "LC_ALL")}
        done = subprocess.run([SYSCULL, "fix", "--prove", "--format", "json", *options, "--", *command], cwd=place,
                              env=environment, capture_output=True, stdin=subprocess.DEVNULL, check=False)
        proof, errors = SCHEMA.errors_of_bytes(str(command), done.stdout)
        bad += errors
        if errors:
            continue
        assert (proof["steady"], proof["same_output"]) == (steady, same), proof
        assert done.returncode == (0 if same else 1), done
end(bad, f"{len(RUNS)} proofs, {len(SCHEMA.names)} names")
