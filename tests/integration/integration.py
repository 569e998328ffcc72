# SPDX-License-Identifier: BSD-2-Clause
"""Small real projects whose own test runner runs syscull check: each is run with
its budget kept, broken, and where the budget cannot be judged.

usage: integration.py NAME TOP SYSCULL
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

NAME, TOP, SYSCULL = sys.argv[1:]
HERE = os.path.join(TOP, "tests", "integration")
BROKEN = "check failed: @xattr: 20, at most 3"
bad = []


def skip(why):
    print(why, file=sys.stderr)
    sys.exit(77)


def need(*programs):
    for program in programs:
        if not shutil.which(program):
            skip(f"no {program} here")


def run(*argv, status=None, **env):
    """Its output, both streams; the test ends here when the status is another one."""
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace", check=False, env={**os.environ, **env}, timeout=300)
    if status is not None and done.returncode != status:
        print(f"{' '.join(argv)} ended with {done.returncode}, not {status}:\n{done.stdout}")
        sys.exit(1)
    return done.returncode, done.stdout


def expect(what, wanted, got):
    if wanted != got:
        bad.append(f"{what}: expected {wanted!r}, got {got!r}")


def three(project, test, told):
    """test(env) runs the project's tests; told(output) is what it says of each:
    (passed, failed, skipped)."""
    status, text = test({})
    expect(f"{project}: kept", (0, (1, 0, 0)), (status, told(text)))
    status, text = test({"LISTER_ASKS": "1"})
    expect(f"{project}: broken", (True, (0, 1, 0)), (status != 0, told(text)))
    expect(f"{project}: says why", True, BROKEN in text)
    for name in os.listdir("files"):
        os.unlink(os.path.join("files", name))
    status, text = test({})
    expect(f"{project}: cannot judge", (0, (0, 0, 1)), (status, told(text)))


def count(pattern, text):
    match = re.search(pattern, text, re.M)
    return int(match.group(1)) if match else 0


def project_meson():
    need("meson", "ninja", "cc")
    run("meson", "setup", "build", status=0)
    run("ninja", "-C", "build", status=0)
    three("meson", lambda env: run("meson", "test", "-C", "build", "--no-rebuild", "--print-errorlogs", "--wrapper",
                                   f"syscull check --config {os.getcwd()}/.syscull.conf --cannot-judge-exit 77 --", **env),
          lambda text: tuple(count(rf"^{word}: +(\d+)", text) for word in ("Ok", "Fail", "Skipped")))


def project_automake():
    need("autoreconf", "automake", "make", "cc")
    run("autoreconf", "-i", status=0)
    run("./configure", status=0)
    run("make", status=0)
    three("automake", lambda env: run("make", "check", "VERBOSE=1", **env),
          lambda text: tuple(count(rf"^# {word}: +(\d+)", text) for word in ("PASS", "FAIL", "SKIP")))


def project_cmake():
    need("cmake", "ctest", "cc", "make")
    run("cmake", "-G", "Unix Makefiles", "-S", ".", "-B", "build", status=0)
    run("make", "-C", "build", status=0)

    def told(text):
        skipped = len(re.findall(r"^\s*1/1 Test.*\*\*\*Skipped", text, re.M))
        failed = len(re.findall(r"^\s*1/1 Test.*\*\*\*Failed", text, re.M))
        return (len(re.findall(r"^\s*1/1 Test.*Passed", text, re.M)), failed, skipped)

    three("cmake", lambda env: run("ctest", "--test-dir", "build", "--output-on-failure", **env), told)


def project_shell():
    need("cc")
    run("cc", "-o", "lister", "lister.c", status=0)
    status, text = run("./tests.sh", "./lister", "files")
    expect("shell: kept", (0, "ok - asks no file for attributes\nok - closes what is open only\n"), (status, text))
    status, text = run("./tests.sh", "./lister", "files", LISTER_ASKS="1")
    expect("shell: broken", (1, True, True, True),
           (status, "not ok - asks no file for attributes (failed)\n" in text, BROKEN in text,
            "ok - closes what is open only\n" in text))
    os.mkdir("empty")
    status, text = run("./tests.sh", "./lister", "empty")
    expect("shell: cannot judge", (1, True), (status, "not ok - asks no file for attributes (cannot-judge)\n" in text))


def verdicts(path):
    """{name of a test case: what became of it} of a JUnit file."""
    from xml.etree import ElementTree
    return {case.get("name"): case[0].tag if len(case) else "passed" for case in ElementTree.parse(path).iter("testcase")}


def project_pytest():
    python = "/usr/bin/python3" if os.path.exists("/usr/bin/python3") else sys.executable
    status, text = run(python, "-m", "pytest", "--version")
    if status != 0:
        skip("no pytest here")
    os.environ["PYTHONPATH"] = os.path.join(TOP, "integrations", "pytest-syscull")
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    pytest = (python, "-m", "pytest", "-p", "pytest_syscull", "-p", "no:cacheprovider", "--strict-markers")
    run(*pytest, "--syscull-conf=calls.conf", status=0)
    with open("calls.conf", encoding="ascii") as file:
        conf = file.read()
    expect("pytest: budgets", 7, len(re.findall(r"^(?:max|canary) = ", conf, re.M)))
    expect("pytest: a budget", True, "\nmax = @xattr in region test_lister.py::test_sizes=3\n" in conf)
    # Without syscull it is a pytest like any other.
    status, text = run(*pytest)
    expect("pytest: alone", (0, True), (status, "4 passed, 1 skipped" in text))

    check = ("syscull", "check", "--config", "calls.conf", "--format", "junit=calls.xml", "--")
    status, text = run(*check, *pytest)
    expect("pytest: kept", (0, True), (status, "4 passed, 1 skipped" in text))
    cases = verdicts("calls.xml")
    expect("pytest: kept, each", "passed", cases["max @xattr in region test_lister.py::test_sizes"])
    expect("pytest: none broken", [], [name for name, word in cases.items() if word in ("failure", "error")])
    # The tests still pass, their budgets do not.
    status, text = run(*check, *pytest, LISTER_ASKS="1")
    expect("pytest: broken", (121, True), (status, "4 passed, 1 skipped" in text))
    broken = sorted(name for name, word in verdicts("calls.xml").items() if word == "failure")
    expect("pytest: which", ["max @xattr in region test_lister.py::test_few", "max @xattr in region test_lister.py::test_sizes"],
           [re.sub(r"(test_few)\[two_files.*", r"\1", name) for name in broken])
    expect("pytest: how many", True, "@xattr in region test_lister.py::test_sizes: 20, at most 3" in " ".join(text.split()))
    # Of another selection than that of the budgets nothing can be said.
    status, text = run(*check, *pytest, "-k", "test_few")
    expect("pytest: not run", (125, True), (status, "no region 'test_lister.py::test_sizes' began" in " ".join(text.split())))

    for mark, words in (("max=3", 'wants calls and numbers, as in {"@xattr": 3}'), ("most={'read': 1}", "takes max="),
                        ("max={'read': -1}", "wants a whole number"), ("max={'read = 1': 1}", "names no calls"), ("", "wants max=")):
        with open("test_bad.py", "w", encoding="ascii") as file:
            file.write(f"import pytest\n@pytest.mark.calls({mark})\ndef test():\n    pass\n")
        status, text = run(*pytest, "--syscull-conf=bad.conf", "test_bad.py")
        expect(f"pytest: calls({mark})", (4, True, False), (status, words in text, os.path.exists("bad.conf")))
    with open("test_bad.py", "w", encoding="ascii") as file:
        file.write("def test():\n    pass\n")
    status, text = run(*pytest, "--syscull-conf=bad.conf", "test_bad.py")
    expect("pytest: no budgets", (4, True), (status, "no test that was collected" in text))


def record(engine, *argv):
    if os.path.exists("trace"):
        os.unlink("trace")
    run("syscull", "record", "--engine", engine, "-o", "trace", "--", *argv, status=0)


def regions_of(engine, *options):
    """{name: region} of what was recorded, and the report's table as text."""
    # 1: something is worth fixing, on a slow disk the syncs for one.
    status, text = run("syscull", "report", "--by", "region", "--format", "json=report.json", "--format", "text", *options, "trace")
    expect(f"{engine}: report", True, status in (0, 1))
    with open("report.json", encoding="utf-8") as file:
        return {region["name"]: region for region in json.load(file)["regions"]}, text


def four(suite, engine, names, argv, sleep):
    """Which of four tests sleeps, syncs, starts processes and reads again, by its region."""
    record(engine, *argv)
    regions, text = regions_of(engine)
    missing = [name for name in names.values() if name not in regions]
    expect(f"{suite}, {engine}: no region", [], missing)
    if missing:
        return
    test = {what: regions[name] for what, name in names.items()}
    for calls, wanted in (("fsync", {"fsyncs": 40}), ("execve", {"spawns": 30}), (sleep, {"sleeps": 1})):
        if calls:
            of, _ = regions_of(engine, "-e", calls)
            expect(f"{suite}, {engine}: {calls}", wanted,
                   {what: of[name]["count"] for what, name in names.items() if of[name]["count"] > 0})
    of, _ = regions_of(engine, "-e", "openat")
    opened = {what: of[name]["count"] for what, name in names.items() if what != "spawns"}
    expect(f"{suite}, {engine}: reads again", True, opened["rereads"] >= 200 > max(opened["sleeps"], opened["fsyncs"]))
    # Who sleeps waits and does not work; a disk is waited for too, nobody knows how long.
    expect(f"{suite}, {engine}: more than it works", True, test["sleeps"]["waiting_ns"] > test["sleeps"]["work_ns"])
    expect(f"{suite}, {engine}: waits", True, test["sleeps"]["waiting_ns"] > test["rereads"]["waiting_ns"])
    expect(f"{suite}, {engine}: the others work", True, all(test[what]["work_ns"] > 0 for what in ("fsyncs", "spawns", "rereads")))
    rows = re.findall(r"^(\S+) +[\d,]+ +\S+ \S+ +\S+ \S+ +\S+ \S+ ", text, re.M)
    expect(f"{suite}, {engine}: in the table", [],
           [name for name in names.values() if not any(name.startswith(row.rstrip(".")) for row in rows)])


def engines():
    _, text = run("syscull", "doctor")
    return [name for name in ("ptrace", "bpf") if re.search(rf"^{name} .*\bok:", text, re.M)]


def project_suite_pytest():
    python = "/usr/bin/python3" if os.path.exists("/usr/bin/python3") else sys.executable
    if run(python, "-m", "pytest", "--version")[0] != 0:
        skip("no pytest here")
    os.environ["PYTHONPATH"] = os.path.join(TOP, "integrations", "pytest-syscull")
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    for engine in engines():
        four("pytest", engine, {what: f"test_four.py::test_{what}" for what in ("sleeps", "fsyncs", "spawns", "rereads")},
             (python, "-m", "pytest", "-q", "-p", "pytest_syscull", "-p", "no:cacheprovider", "test_four.py"), "clock_nanosleep")


def project_suite_node():
    need("node")
    shutil.copy(os.path.join(TOP, "integrations", "node-syscull", "syscull.mjs"), ".")
    status, text = run("node", "--test", "four.test.mjs")
    if status != 0:
        skip(f"node here is another one: {text.splitlines()[0] if text else status}")
    for engine in engines():
        four("node", engine, {what: f"four.test.mjs::{what}" for what in ("sleeps", "fsyncs", "spawns", "rereads")},
             ("node", "--test", "four.test.mjs"), None)


def project_github():
    """The step of the workflow in docs/howto as the runner runs it: bash -e, a file for the summary."""
    need("cc", "bash")
    try:
        import yaml
    except ImportError:
        skip("no python3-yaml here")
    with open(os.path.join(TOP, "docs", "howto", "github-workflow.yml"), encoding="utf-8") as file:
        steps = yaml.safe_load(file)["jobs"]["calls"]["steps"]
    named = {step.get("name"): step for step in steps}
    run("bash", "-e", "-c", named["build"]["run"], status=0)
    for env, status, level, state in (({}, 0, None, "passed"), ({"LISTER_ASKS": "1"}, 121, "error", "failed")):
        with open("summary", "w", encoding="ascii"):
            pass
        got, text = run("bash", "-e", "-c", named["budgets"]["run"], GITHUB_STEP_SUMMARY=os.path.abspath("summary"),
                        GITHUB_ACTIONS="true", **env)
        levels = re.findall(r"^::(\w+) title=[^:,]*::", text, re.M)
        expect(f"github: {state}", (status, [level] if level else []), (got, levels))
        with open("summary", encoding="utf-8") as file:
            expect(f"github: summary, {state}", f"### syscull check: {state}\n", file.readline())
        expect(f"github: kept, {state}", "failure" if status else "passed", verdicts("calls.xml")["max @xattr"])
    expect("github: the report is kept", True, any("upload-artifact" in step.get("uses", "") and step.get("if") == "always()"
                                                   and step["with"]["path"] == "calls.xml" for step in steps))


with tempfile.TemporaryDirectory(prefix="syscull-") as top:
    # "syscull" is what the projects call, as on a machine where it is installed.
    os.mkdir(os.path.join(top, "bin"))
    os.symlink(os.path.abspath(SYSCULL), os.path.join(top, "bin", "syscull"))
    work = os.path.join(top, "project")
    source = os.path.join(HERE, "suites" if NAME.startswith("suite-") else NAME)
    if os.path.isdir(source):
        shutil.copytree(source, work, ignore=shutil.ignore_patterns("__pycache__"))
    else:
        os.mkdir(work)
    shutil.copy(os.path.join(HERE, "lister.c"), work)
    shutil.copy(os.path.join(HERE, "syscull.conf"), os.path.join(work, ".syscull.conf"))
    os.mkdir(os.path.join(work, "files"))
    for number in range(20):
        with open(os.path.join(work, "files", f"f{number}"), "w", encoding="ascii"):
            pass
    os.chdir(work)
    if NAME in ("shell", "pytest", "github") or NAME.startswith("suite-"):
        # Budgets are said elsewhere: two places would be judged together.
        os.unlink(".syscull.conf")
    for variable in ("GITHUB_STEP_SUMMARY", "LISTER_ASKS", "MAKEFLAGS", "MFLAGS", "MAKELEVEL", "CFLAGS", "LDFLAGS", "DESTDIR"):
        os.environ.pop(variable, None)
    os.environ.update(PATH=os.path.join(top, "bin") + os.pathsep + os.environ["PATH"], LC_ALL="C.UTF-8", TERM="dumb",
                      XDG_CACHE_HOME=top, XDG_STATE_HOME=top)
    globals()["project_" + NAME.replace("-", "_")]()
    os.chdir("/")
print("\n".join(bad) or f"{NAME}: as it must be")
sys.exit(1 if bad else 0)
