# SPDX-License-Identifier: BSD-2-Clause
"""Reports in JSON against docs/schema/run.schema.json: golden cases with
hostile texts and real runs.  The schema names all that is written, docs/json.md
explains all that the schema names, and the numbers agree with each other.

usage: check_run.py cases|runs TOP PROGRAM [CASE...]
"""
import json
import os
import subprocess
import sys
import tempfile

from schema import Schema, end, need

WHAT, TOP, PROGRAM, *CASES = sys.argv[1:]
PROGRAM = os.path.abspath(PROGRAM)
SCHEMA = Schema(TOP, "run.schema.json")
bad = SCHEMA.unexplained()


def check(name, text):
    """The report, or None."""
    report, errors = SCHEMA.errors_of_bytes(name, text)
    bad.extend(errors)
    return None if errors else report


def check_cases():
    for case in CASES:
        for flags in ([], ["--redacted"], ["--baseline"]):
            run = subprocess.run([PROGRAM, *flags, case], capture_output=True, check=False)
            if run.returncode != 0:
                bad.append(f"{case}: {run.stderr.decode(errors='replace')}")
                continue
            check(" ".join([*flags, case]), run.stdout)


def expect(name, wanted, got):
    if wanted != got:
        bad.append(f"{name}: expected {wanted!r}, got {got!r}")


def run(name, *command, options=(), status=0, env=None):
    """Runs a command; the report when it is well formed."""
    out = os.path.join(os.getcwd(), "report.json")
    if os.path.exists(out):
        os.unlink(out)
    done = subprocess.run(
        [os.fsencode(word) for word in (PROGRAM, "run", *options, "--format", "json=" + out, "--", *command)],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False,
        env=env and {**os.environ, **env})
    expect(name + ": status", status, done.returncode)
    expect(name + ": stderr", b"", done.stderr)
    if not os.path.exists(out):
        bad.append(f"{name}: no report")
        return None
    with open(out, "rb") as report:
        return check(name, report.read())


def sums(calls):
    return {call["name"]: call["count"] for call in calls}


def amounts(name, report):
    """Every amount has its range, and times fit into each other."""
    time = report["time"]
    sets = [(call["low_ns"], call["time_ns"], call["high_ns"]) for call in report["calls"] + report["regions"]]
    sets += [(cost["low_ns"], cost["cost_ns"], cost["high_ns"])
             for finding in report["findings"] for cost in finding["costs"] + finding["scales"]]
    sets += [(time["calls_low_ns"], time["calls_ns"], time["calls_high_ns"]),
             (time["task_low_ns"], report["task_ns"], time["task_high_ns"]),
             (time["untraced_low_ns"], report["untraced_ns_estimate"], time["untraced_high_ns"]),
             (0, time["calls_ns"], report["task_ns"] + 1), (0, report["untraced_ns_estimate"], report["wall_ns"])]
    if report["accounting"]["tasks"] == 1:
        sets.append((0, time["calls_ns"], report["untraced_ns_estimate"] + 1))
    bad.extend(f"{name}: {low} {amount} {high}" for low, amount, high in sets if not low <= amount <= high)
    if time["user_ns"] == 0:
        bad.append(f"{name}: no user time")


def agree(name, report, whole=True):
    """Numbers that have to be the same wherever they stand."""
    books = report["accounting"]
    expect(name + ": closed", True, books["closed"])
    expect(name + ": books", books["seen"], books["delivered"] + books["lost"] + books["in_flight"] + books["marks"])
    if whole:
        expect(name + ": calls", books["delivered"], sum(sums(report["calls"]).values()))
    by_process = {}
    for process in report["processes"]:
        expect(name + ": of a process", process["count"], sum(sums(process["calls"]).values()))
        if "programs" in process:
            expect(name + ": of its programs", process["count"], sum(p["count"] for p in process["programs"]))
        for call in process["calls"]:
            by_process[call["name"]] = by_process.get(call["name"], 0) + call["count"]
            if sum(call["errors"].values()) > call["count"]:
                bad.append(f"{name}: more errors than calls: {call}")
    expect(name + ": by process", sums(report["calls"]), by_process)
    for call in report["calls"]:
        if sum(call["errors"].values()) > call["count"]:
            bad.append(f"{name}: more errors than calls: {call}")
    for program in report["programs"]:
        parts = [program[part] for part in ("exec", "loader", "libraries", "locale", "interpreter")]
        expect(name + ": parts of a start", program["startup"]["count"], sum(part["count"] for part in parts))
        if program["startup"]["count"] > program["count"] or program["startup"]["time_ns"] > program["time_ns"] + 1:
            bad.append(f"{name}: more to start than in all: {program}")
    expect(name + ": by program", sum(sums(report["calls"]).values()), sum(p["count"] for p in report["programs"]))
    amounts(name, report)
    for finding in report["findings"]:
        expect(name + ": costs", finding["calls"], sum(cost["count"] for cost in finding["costs"]))
        if not finding["low_ns"] <= finding["cost_ns"] <= finding["high_ns"]:
            bad.append(f"{name}: range {finding['low_ns']} {finding['cost_ns']} {finding['high_ns']}")


def simple_runs():
    report = run("true", "true")
    if report:
        agree("true", report)
        expect("true: programs", [1], [program["runs"] for program in report["programs"]])
        expect("true: execs", [1], [program["exec"]["count"] for program in report["programs"]])
        expect("true: command", ["true"], report["command"])
        expect("true: exit", {"status": 0, "signal": None}, report["exit"])
        expect("true: processes", 1, len(report["processes"]))
        expect("true: argv", ["true"], report["processes"][0]["argv"])
    report = run("status", "sh", "-c", "true; /bin/false; exit 3", status=3)
    if report:
        agree("status", report)
        expect("status: processes", 2, len(report["processes"]))
        expect("status: parent", report["processes"][0]["pid"], report["processes"][1]["parent"])
        expect("status: of the child", {"status": 1, "signal": None}, report["processes"][1]["exit"])
        expect("status: verdict", ("passed", 3, 3),
               tuple(report["verdict"][key] for key in ("state", "command_status", "exit_status")))
    report = run("signal", "sh", "-c", "kill -KILL $$", status=-9)
    if report:
        agree("signal", report)
        expect("signal: exit", {"status": None, "signal": 9, "signal_name": "SIGKILL"}, report["exit"])
        expect("signal: verdict", 137, report["verdict"]["command_status"])


def environment_runs():
    env = {"LC_ALL": "C", "TZ": ":/etc/localtime", "PATH": "/usr/bin:/bin:/nonesuch"}
    report = run("environment", "sh", "-c", "ulimit -n 100; true", options=(), env=env)
    if report:
        agree("environment", report)
        seen = report["environment"]
        expect("environment", ("C", ":/etc/localtime", 3), (seen["locale"], seen["tz"], seen["path_entries"]))
        if seen["nofile_soft"] == 100:
            bad.append("environment: the limit is not that of the beginning")
    report = run("no environment", "env", "-u", "LC_ALL", "-u", "LANG", "-u", "TZ", "true")
    if report:
        # What `env` got, not what it gave.
        expect("no environment", os.environ.get("TZ"), report["environment"]["tz"])


def waste_runs():
    os.mkdir("d100")
    for number in range(100):
        with open(f"d100/f{number}", "w", encoding="ascii"):
            pass
    prints = []
    for options in ((), ("--redact", "argv,paths,users")):
        report = run("waste", "ls", "-l", "d100", options=options)
        if report:
            agree("waste", report)
            prints.append([finding["fingerprint"] for finding in report["findings"]])
            if options and "d100" in json.dumps(report):
                bad.append("waste: --redact left a name")
    expect("waste: fingerprints with --redact", prints[:1], prints[1:])
    report = run("narrowed", "ls", "-l", "d100", options=("-e", "%file", "-P", "d100/f7", "--failed"))
    if report:
        agree("narrowed", report, whole=False)
        expect("narrowed: options", ["-e %file", "-P d100/f7", "--failed"], report["selection"])
        for call in report["calls"]:
            expect("narrowed: " + call["name"], call["count"], sum(call["errors"].values()))


def hostile_runs():
    names = [b"plain", b"line\nfeed", b"\x1b[31mred", b"quote\"s\\", b"bad\xff\xfeutf8", b"\xc2\x9b31m", b"caf\xc3\xa9", b"%s%n", b" "]
    os.mkdir("hostile")
    for name in names:
        with open(os.path.join(b"hostile", name), "wb"):
            pass
    report = run("hostile", "ls", "-l", "hostile", *(os.fsdecode(os.path.join(b"hostile", name)) for name in names))
    if report:
        agree("hostile", report)
        expect("hostile: UTF-8", "hostile/caf\u00e9", report["command"][9])
        expect("hostile: bytes", {"b64": "aG9zdGlsZS9iYWT//nV0Zjg="}, report["command"][7])
        expect("hostile: argv", report["command"], report["processes"][0]["argv"])
    odd = os.path.join(os.getcwd(), "hostile", "exe\udcff")
    os.symlink("/bin/true", odd)
    report = run("hostile program", odd)
    if report:
        agree("hostile program", report)


def many_runs():
    report = run("many", "sh", "-c", "i=0; while [ $i -lt 1010 ]; do (:); i=$((i+1)); done")
    if report:
        agree("many", report)
        expect("many: truncated", True, report["truncated"])
        expect("many: processes", report["accounting"]["processes"],
               sum(process.get("processes", 1) for process in report["processes"]))
        expect("many: one by one", 1000, sum(process["pid"] is not None for process in report["processes"]))
    report = run("regions", "sh", "-c", "test -e /.syscull/mark/one; true; test -e /.syscull/mark/two; true")
    if report:
        agree("regions", report)
        expect("regions", ["", "one", "two"], [region["name"] for region in report["regions"]])


if WHAT == "cases":
    check_cases()
else:
    need(subprocess.run([PROGRAM, "run", "-q", "--", "true"], capture_output=True, check=False))
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        simple_runs()
        environment_runs()
        waste_runs()
        hostile_runs()
        many_runs()
        os.chdir("/")
end(bad)
