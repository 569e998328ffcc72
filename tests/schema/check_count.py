# SPDX-License-Identifier: BSD-2-Clause
"""Counted calls in JSON against docs/schema/count.schema.json, which names all
that is written; docs/json.md explains all that it names.

usage: check_count.py TOP SYSCULL
"""
import os
import subprocess
import sys
import tempfile

from schema import Schema, end

TOP, PROGRAM = sys.argv[1], os.path.abspath(sys.argv[2])
def main():
    schema = Schema(TOP, "count.schema.json")
    bad = schema.unexplained()
    hostile = b"\x1b[31m\xff\"\n"
    with tempfile.TemporaryDirectory(prefix="syscull-count.") as work:
        out = os.path.join(work, "report.json")
        for options, command in ((["--count"], ["true"]), (["--count", "--times", "never"], ["sh", "-c", "exit 3"]),
                                 (["--count"], ["sh", "-c", "kill -KILL $$"]), (["--count"], ["echo", hostile]),
                                 (["--count", "--interval", "0.1"], ["sleep", "0.3"]),
                                 (["--count", "--max-overhead", "0.001%"], ["sh", "-c", "while :; do :; done & sleep 1; kill $!"]),
                                 (["-a", "--duration", "0.3", "--interval", "0.1"], [])):
            if os.path.exists(out):
                os.unlink(out)
            done = subprocess.run([PROGRAM, "run", *options, "--format", "json=" + out, *(["--"] if command else []), *command],
                                  stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False,
                                  timeout=60)
            if done.returncode == 125 and b"doctor" in done.stderr:
                print(done.stderr.decode(), file=sys.stderr)
                sys.exit(77)
            with open(out, "rb") as file:
                bad += schema.errors_of_bytes(str(options), file.read())[1]
    end(bad)


main()
