# SPDX-License-Identifier: BSD-2-Clause
"""Real checks against docs/schema/check.schema.json, which has no name that
docs/json.md does not explain and lacks none that is written.

usage: check_check.py TOP SYSCULL
"""
import json
import os
import subprocess
import sys
import tempfile

from schema import Schema, end, need

TOP, SYSCULL = sys.argv[1:]
SYSCULL = os.path.abspath(SYSCULL)
SCHEMA = Schema(TOP, "check.schema.json", ["run.schema.json"])
bad = SCHEMA.unexplained()


def run(name, *command, options=(), status=0):
    """A check of a command; its report when it is well formed."""
    out = os.path.join(os.getcwd(), "report.json")
    if os.path.exists(out):
        os.unlink(out)
    done = subprocess.run([SYSCULL, "check", *options, "--format", "json=" + out, "--", *command],
                          stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
    expect(name + ": status", status, done.returncode)
    if not os.path.exists(out):
        bad.append(f"{name}: no report, {done.stderr.decode(errors='replace')}")
        return None
    with open(out, "rb") as file:
        report, errors = SCHEMA.errors_of_bytes(name, file.read())
    bad.extend(errors)
    if errors:
        return None
    verdict = report["verdict"]
    states = {budget["verdict"] for budget in report["budgets"]}
    expect(name + ": exit_status", done.returncode if done.returncode >= 0 else 128 - done.returncode,
           verdict["exit_status"])
    if not report["baseline"]:
        expect(name + ": state", "cannot-judge" if "cannot-judge" in states else "failed" if "broken" in states else "passed",
               verdict["state"])
    expect(name + ": reasons", verdict["state"] == "passed", not verdict["reasons"])
    for budget in report["budgets"]:
        if budget["verdict"] == "broken" and budget["kind"] == "max":
            counts = [top["count"] for top in budget["top"]]
            if not counts or counts != sorted(counts, reverse=True) or sum(counts) > max(r["count"] for r in budget["runs"]):
                bad.append(f"{name}: contributors {counts} of {budget}")
    return report


def expect(name, wanted, got):
    if wanted != got:
        bad.append(f"{name}: expected {wanted!r}, got {got!r}")


def budgets_of(report):
    return [(budget["kind"], budget["what"], budget["limit"], budget["verdict"]) for budget in report["budgets"]]


def checks():
    report = run("passed", "true", options=("--canary", "@exec", "--max", "@exec=1", "--max", "@xattr=0"))
    if report:
        expect("passed: budgets", [("max", "@exec", 1, "ok"), ("max", "@xattr", 0, "not-exercised"),
                                   ("canary", "@exec", 1, "ok")], budgets_of(report))
        expect("passed: seen", [1, 0, 1], [budget["seen"] for budget in report["budgets"]])
        scope = report["accounting"]["scope"]
        expect("passed: scope", (True, True, False), ("execve" in scope, "getxattr" in scope, "read" in scope))
        expect("passed: calls", ["execve"], [call["name"] for call in report["calls"]])
        expect("passed: findings", [], report["findings"])
        if not report["rules_not_run"] or report["time"]["calls_ns"] is not None:
            bad.append("passed: rules or times of a run that saw some calls alone")
    report = run("failed", "sh", "-c", "cat /dev/null; exit 0", status=121,
                 options=("--max", "@open=0", "--max", "total=1", "--max", "fd-sweep=0", "--min", "listxattr=1"))
    if report:
        expect("failed: budgets", ["broken", "broken", "not-exercised", "broken"],
               [budget["verdict"] for budget in report["budgets"]])
        expect("failed: scope", None, report["accounting"]["scope"])
        expect("failed: rules", [], report["rules_not_run"])
        expect("failed: total", report["accounting"]["delivered"], report["budgets"][1]["seen"])
        expect("failed: reasons", 3, len(report["verdict"]["reasons"]))
    report = run("cannot", "sh", "-c", "exit 3", status=3,
                 options=("--max", "read in region x=1", "--max", "read in program nothing=1", "--canary", "listxattr"))
    if report:
        expect("cannot: verdict", ("cannot-judge", 3), (report["verdict"]["state"], report["verdict"]["command_status"]))
        expect("cannot: region", ["x", None, None], [budget["region"] for budget in report["budgets"]])
        expect("cannot: program", [None, "nothing", None], [budget["program"] for budget in report["budgets"]])
    report = run("signal", "sh", "-c", "kill -KILL $$", status=-9, options=("--max", "total=100000"))
    if report:
        expect("signal: verdict", 137, report["verdict"]["command_status"])
    report = run("slope", "sh", "-c", "i=0; while [ $i -lt {n} ]; do test -e /none; i=$((i+1)); done", status=121,
                 options=("--per-item", "n=10:20:30", "--max", "@stat+@access per item=0.25", "--max", "@write fixed=0"))
    if report:
        expect("slope: seen", (1, 0.25), (report["budgets"][0]["seen"], report["budgets"][0]["limit"]))
        expect("slope: runs", [10, 20, 30], [one["item"] for one in report["budgets"][0]["runs"]])
    report = run("not run", "true", status=125,
                 options=("--per-item", "n=1:2", "--prepare", "false {n}", "--max", "read per item=1"))
    if report:
        expect("not run: seen", None, report["budgets"][0]["seen"])
        expect("not run: command", None, report["verdict"]["command_status"])


def hostile():
    """Names of files with anything in them, redacted and not."""
    os.mkdir("secret\x1b[31m")
    for number in range(5):
        os.mkdir(os.path.join(os.fsencode("secret\x1b[31m"), b"\xff\n%d" % number))
    for options in ((), ("--redact", "argv,paths")):
        report = run("hostile", "ls", "-lR", "secret\x1b[31m", status=121, options=(*options, "--max", "@open=1", "--max", "@stat=0"))
        if not report:
            continue
        text = json.dumps(report)
        if "\\u001b" in json.dumps(report["budgets"]) or (options and "secret" in text):
            bad.append(f"hostile {options}: {report['budgets']}")
        places = [top["place"] for budget in report["budgets"] for top in budget["top"]]
        if not any(places):
            bad.append(f"hostile {options}: no places")


def with_baseline():
    run("baseline made", "true", options=("--baseline", "base.json", "--update-baseline"))
    report = run("baseline", "sh", "-c", "exit", status=121, options=("--baseline", "base.json"))
    if report and (not report["baseline"]["changes"] or report["verdict"]["state"] != "failed"):
        bad.append(f"baseline: {report['baseline']}")


need(subprocess.run([SYSCULL, "check", "--max", "total=100000", "--", "true"], capture_output=True, check=False))
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    checks()
    hostile()
    with_baseline()
    os.chdir("/")
end(bad)
