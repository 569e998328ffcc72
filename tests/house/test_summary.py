# SPDX-License-Identifier: BSD-2-Clause
"""tools/summary counts what meson's logs say, and SYSCULL_REQUIRE bites."""
import json
import os
import subprocess
import sys
import tempfile

TOP = sys.argv[1]
TESTS = [
    # name in the log, name and suites in the introspection, result, stderr
    ("plain", ["syscull:unit"], "OK", ""),
    ("known-bad", ["syscull:unit"], "EXPECTEDFAIL", ""),
    ("breaks", ["syscull:unit"], "FAIL", "boom"),
    ("hangs", ["syscull:live"], "TIMEOUT", ""),
    ("better", ["syscull:live"], "UNEXPECTEDPASS", ""),
    ("no-tool", ["syscull:house"], "SKIP", "first\nno tool here\n"),
    ("syscull:live+needs-ptrace / traces", ["syscull:live", "syscull:needs-ptrace"], "SKIP", "ptrace refused"),
]


def make_build(top, name, tests):
    build = os.path.join(top, name)
    os.makedirs(os.path.join(build, "meson-info"))
    os.makedirs(os.path.join(build, "meson-logs"))
    with open(os.path.join(build, "meson-info", "intro-tests.json"), "w", encoding="utf-8") as file:
        json.dump([{"name": t[0].split(" / ")[-1], "suite": t[1]} for t in tests], file)
    with open(os.path.join(build, "meson-logs", "testlog.json"), "w", encoding="utf-8") as file:
        for test in tests:
            file.write(json.dumps({"name": test[0], "result": test[2], "stdout": "", "stderr": test[3]}) + "\n")
    return build


def summary(arguments, require=""):
    env = dict(os.environ, SYSCULL_REQUIRE=require)
    run = subprocess.run([sys.executable, os.path.join(TOP, "tools", "summary"), *arguments],
                         env=env, capture_output=True, text=True, check=False)
    return run.returncode, run.stdout.splitlines()


def expect(got, status, last, *lines):
    assert got[0] == status, got
    assert got[1][-1] == last, got
    for line in lines:
        assert any(line in said for said in got[1]), (line, got)


with tempfile.TemporaryDirectory() as top:
    all_of = make_build(top, "all", TESTS)
    good = make_build(top, "good", [TESTS[0], TESTS[5], TESTS[6]])
    empty = make_build(top, "empty", [])
    expect(summary([all_of]), 1, "2 passed, 3 failed, 2 skipped",
           "breaks (fail)", "hangs (timeout)", "better (unexpectedpass)", "no-tool: no tool here")
    expect(summary([good]), 0, "1 passed, 0 failed, 2 skipped", "traces: ptrace refused")
    expect(summary([good], "bpf"), 0, "1 passed, 0 failed, 2 skipped")
    expect(summary([good], "bpf,ptrace"), 1, "1 passed, 1 failed, 1 skipped", "ptrace is required: ptrace refused")
    expect(summary([good, all_of]), 1, "3 passed, 3 failed, 4 skipped")
    expect(summary(["--failed", "b: compile", good]), 1, "1 passed, 1 failed, 2 skipped", "b: compile")
    expect(summary([empty]), 1, "0 passed, 1 failed, 0 skipped", "no test ran")
    expect(summary([os.path.join(top, "none")]), 1, "0 passed, 1 failed, 0 skipped", "no results")
    expect(summary([]), 1, "0 passed, 1 failed, 0 skipped")
