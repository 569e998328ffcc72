# SPDX-License-Identifier: BSD-2-Clause
"""How tests/long/suite.py judges, on a made-up suite and a made-up syscull:
whatever differs under us must make the shard fail."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

TOP = sys.argv[1]
SHARD = '''
import os, sys
sys.path.insert(0, os.path.join(%r, "tests", "long"))
import fetch, suite

class Small(suite.Suite):
    name = "small"
    least = 3
    cannot_judge = {"looks-.*": ("us|we", "it looks for a tracer")}
    runs = 0

    def prepare(self, folder):
        Small.runs += 1
        if os.environ.get("OFFLINE"):
            raise fetch.CannotFetch("no network")

    def command(self, folder):
        env = {"FIRST": "one"} if Small.runs == 1 else {}
        return ["sh", "-c", os.environ["TESTS"]], folder, env

    def results(self, folder, output):
        return dict(line.split(" ") for line in output.splitlines())

sys.exit(suite.main(Small()))
''' % TOP
TESTS = "echo a ok; echo b ok; echo c ok; echo d ok"
SYSCULL = '''#!/bin/sh
[ "$1" = doctor ] && exit ${DOCTOR:-0}
if [ "$1" = fix ]; then
	while [ "$1" != -- ]; do shift; done
	shift
	[ "$1" = grep ] && exit ${REACHED:-0}
	UNDER=us exec "$@"
fi
while [ "$1" != -- ]; do
	[ "$1" = -o ] && report=$2
	shift
done
shift 3 # -- env -i
printf '%s\\n' "$REPORT" > "$report"
exec env -i UNDER=us "$@"
'''
REPORT = """sh: exit 0, 1 process, 7 calls
Waste   none worth fixing
Books   closed: 7 seen = 7 analysed + 0 lost + 0 in flight"""


def shard(tests=TESTS, report=REPORT, **env):
    with tempfile.TemporaryDirectory() as top:
        for name, text in (("syscull", SYSCULL), ("shard", SHARD)):
            with open(os.path.join(top, name), "w", encoding="utf-8") as file:
                file.write(text)
        os.chmod(os.path.join(top, "syscull"), 0o755)
        run = subprocess.run([sys.executable, os.path.join(top, "shard")], text=True, capture_output=True, check=False,
                             env={**os.environ, "SYSCULL": os.path.join(top, "syscull"), "TESTS": tests,
                                  "SYSCULL_LONG": os.path.join(top, "long"), "REPORT": report,
                                  "PYTHONDONTWRITEBYTECODE": "1", **env})
    assert run.stderr == "", run.stderr
    return run.returncode, run.stdout


status, said = shard()
assert status == 0, said
assert said.startswith("4 tests the same, 0 differ, 0 flaky, 0 not judged; 7 calls, books closed; "), said
assert said.count("\n") == 1, said


def fails(what, **case):
    status, said = shard(**case)
    assert status == 1 and what in said, (what, status, said)


fails("differs: b: untraced ok, traced bad", tests=TESTS + "; [ -z \"$UNDER\" ] || echo b bad")
fails("differs: e: untraced ok, traced did not run", tests=TESTS + "; [ -n \"$UNDER\" ] || echo e ok")
fails("differs: e: untraced did not run, traced ok", tests=TESTS + "; [ -z \"$UNDER\" ] || echo e ok")
fails("differs: exit status: untraced 0, traced 3", tests=TESTS + "; [ -z \"$UNDER\" ] || exit 3")
fails("at least 3 should", tests="echo a ok")
fails("self-check", tests="true")
fails("books: NOT closed: 7 seen", report=REPORT.replace("closed", "NOT closed"))
fails("books: none", report="sh: exit 0")
fails("more than all", report="Waste   3 ms (120 %) in 7 calls\n" + REPORT)
fails("columns", report="x" * 81 + "\n" + REPORT)
fails("no possible number", report="Time    about 18446744073709551615 ns\n" + REPORT)
fails("no possible number", report="Time    about -3.1 ms\n" + REPORT)

status, said = shard(tests=TESTS + "; [ -z \"$FIRST\" ] || echo sometimes ok")
assert status == 0 and "flaky: sometimes: ok / did not run, traced did not run" in said and "1 flaky" in said, said
status, said = shard(tests=TESTS + "; echo looks-up ${UNDER:-ok}")
assert status == 0 and "not judged: looks-up: untraced ok, traced us: it looks for a tracer" in said, said

fails("differs: looks-up: untraced ok, traced worse",
      tests=TESTS + "; if [ \"$UNDER\" ]; then echo looks-up worse; else echo looks-up ok; fi")

# Untraced with the remedies of fix.
FIXED = {"SYSCULL_LONG_FIX": "1", "DOCTOR": "1"}
status, said = shard(**FIXED)
assert status == 0 and said.startswith("4 tests the same, 0 differ, 0 flaky, 0 not judged; 0 s untraced, "), said
fails("differs: b: untraced ok, with fixes bad", tests=TESTS + "; [ -z \"$UNDER\" ] || echo b bad", **FIXED)
fails("the library is not reached", REACHED="1", **FIXED)

status, said = shard(OFFLINE="1")
assert status == 77 and said == "skipped: no network\n", said
status, said = shard(DOCTOR="1")
assert status == 77 and "tracing does not work here" in said, said

# The page: what each shard said last, kept over runs of others, not replaced by a skip.
with tempfile.TemporaryDirectory() as top:
    for folder in ("tools", "docs", "tests/long"):
        os.makedirs(os.path.join(top, folder))
    shutil.copy(os.path.join(TOP, "tools", "check-long"), os.path.join(top, "tools"))

    def check_long(*names, **shards):
        for name, text in shards.items():
            with open(os.path.join(top, "tests/long", name), "w", encoding="utf-8") as file:
                file.write("#!/bin/sh\n" + text + "\n")
            os.chmod(os.path.join(top, "tests/long", name), 0o755)
        run = subprocess.run([os.path.join(top, "tools/check-long"), *names], text=True, capture_output=True,
                             check=False)
        with open(os.path.join(top, "docs/check-long.md"), encoding="utf-8") as file:
            return run.returncode, run.stdout.splitlines()[-1], file.read()

    status, last, page = check_long(one="echo 'flaky: x'; echo '3 the same'",
                                    two="echo 'differs: y'; echo '1 differs'; exit 1")
    assert (status, last) == (1, "1 passed, 1 failed, 0 skipped"), (status, last)
    assert re.search(r"^\| one \| passed \| \d{4}-\d\d-\d\d \| \d+ \| 3 the same \|$", page, re.M), page
    assert re.search(r"^\| two \| failed \| .* 1 differs \|$", page, re.M), page
    assert "\n## one\n\n    flaky: x\n" in page and "\n## two\n\n    differs: y\n" in page, page
    status, last, again = check_long("two", two="echo 'all well'")
    assert (status, last) == (0, "1 passed, 0 failed, 0 skipped"), (status, last)
    assert "3 the same" in again and "flaky: x" in again and "all well" in again and "## two" not in again, again
    status, last, third = check_long("one", one="echo 'no network'; exit 77")
    assert (status, last, third) == (0, "0 passed, 0 failed, 1 skipped", again), (status, last, third)
