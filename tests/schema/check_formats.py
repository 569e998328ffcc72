# SPDX-License-Identifier: BSD-2-Clause
"""The formats of a check for other tools, read by readers that others wrote:
JUnit by xmllint and junitparser, Prometheus' by its client's parser.
Annotations are read by a parser of GitHub's published grammar, below.  What
they say is compared with the JSON report of the same check.

usage: check_formats.py cases CASE-CHECK     made-up checks, hostile texts
       check_formats.py checks SYSCULL       real ones
"""
import json
import os
import re
import subprocess
import sys
import tempfile

try:
    from junitparser import JUnitXml
    from prometheus_client.parser import text_string_to_metric_families
except ImportError as missing:
    print(f"no {missing.name} here", file=sys.stderr)
    sys.exit(77)

MODE, PROGRAM = sys.argv[1], os.path.abspath(sys.argv[2])
bad = []
compared = 0


def expect(what, wanted, got):
    global compared
    compared += 1
    if wanted != got:
        bad.append(f"{what}: expected {wanted!r}, got {got!r}")


def annotations(text):
    """GitHub's workflow commands: ::NAME KEY=VALUE,KEY=VALUE::MESSAGE, a line each."""
    found = []
    for line in re.split(r"\r\n|\r|\n", text):
        if not line:
            continue
        match = re.fullmatch(r"::([a-z-]+)(?: ([^:]*(?::(?!:)[^:]*)*))?::(.*)", line)
        if not match:
            bad.append(f"no workflow command: {line!r}")
            continue
        name, properties, message = match.groups()
        values = {}
        for part in (properties or "").split(","):
            key, equals, value = part.partition("=")
            if not equals or ":" in value:
                bad.append(f"no property: {part!r} in {line!r}")
            for code, plain in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
                value = value.replace(code, plain)
            values[key] = value
        if re.search(r"%(?!25|0D|0A)", message):
            bad.append(f"a '%' that is not escaped: {message!r}")
        for code, plain in (("%0D", "\r"), ("%0A", "\n"), ("%25", "%")):
            message = message.replace(code, plain)
        if name not in ("error", "warning", "notice"):
            bad.append(f"no level of annotations: {name!r}")
        found.append((name, values, message))
    return found


class Junit:
    """{name of a test case: (what became of it, its message)}, and the sums that it states."""

    def __init__(self, path):
        lint = subprocess.run(["xmllint", "--noout", path], capture_output=True, text=True, check=False)
        expect("xmllint", (0, ""), (lint.returncode, lint.stderr))
        xml = JUnitXml.fromfile(path)
        suites = list(xml)
        expect("suites", 1, len(suites))
        suite = suites[0]
        self.suite = suite.name
        self.cases = {}
        count = {"passed": 0, "failure": 0, "error": 0, "skipped": 0}
        for case in suite:
            results = case.result
            expect(f"results of {case.name}", True, len(results) <= 1)
            word = type(results[0]).__name__.lower() if results else "passed"
            count[word] += 1
            expect("classname", suite.name, case.classname)
            expect(f"{case.name} stands once", False, case.name in self.cases)
            self.cases[case.name] = (word, results[0].message if results else None, results[0].text if results else None)
        said = (suite.tests, suite.failures, suite.errors, suite.skipped)
        expect("sums", (len(self.cases), count["failure"], count["error"], count["skipped"]), said)
        expect("sums of all", (xml.tests, xml.failures, xml.errors), said[:3])


def prom(text):
    """{(name, labels): value}; families are gauges that explain themselves, no sample stands twice."""
    samples = {}
    for family in text_string_to_metric_families(text):
        expect(f"type of {family.name}", "gauge", family.type)
        expect(f"{family.name} is explained", True, len(family.documentation) > 10)
        for sample in family.samples:
            expect("family", family.name, sample.name)
            key = (sample.name, tuple(sorted(sample.labels.items())))
            expect(f"{key} stands once", False, key in samples)
            samples[key] = sample.value
    # The parser forgives what node_exporter does not.
    expect("ends with a line", True, text.endswith("\n"))
    declared = re.findall(r"^# TYPE (\S+)", text, re.M)
    expect("each family once", len(set(declared)), len(declared))
    return samples


def harmless(what, text):
    for char in text:
        if (ord(char) < 32 and char != "\n") or 0x7f <= ord(char) < 0xa0 or char in "\ufffe\uffff":
            bad.append(f"{what}: has the character {char!r}")
            return


def made(case, form):
    done = subprocess.run([PROGRAM, case, form], capture_output=True, check=False)
    expect(f"{case} as {form}", (0, b""), (done.returncode, done.stderr))
    text = done.stdout.decode("utf-8")
    harmless(f"{case} as {form}", text)
    return text


def made_junit(case):
    path = os.path.join(os.getcwd(), case + ".xml")
    text = made(case, "junit")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return text, Junit(path)


def cases():
    text, junit = made_junit("hostile")
    expect("junit has no arguments", False, "SECRET" in text)
    expect("hostile suite", 're"port<\\n', junit.suite)
    expect("hostile cases", ["counting", "failure", "error", "command"],
           ["counting", *(junit.cases[name][0] for name in junit.cases if " " in name), "command"])
    broken = [junit.cases[name] for name in junit.cases if name.startswith("max ")][0]
    expect("a broken one says so", True, "13, at most 3" in broken[1] and "12 getxattr ENODATA" in broken[2])
    expect("markup is text", True, "a<b>&\"'c]]>" in broken[2])
    text = made("hostile", "prom")
    expect("prom has no arguments", False, "SECRET" in text)
    samples = prom(text)
    labels = {dict(key[1])["report"] for key in samples}
    expect("hostile report", {'re"port<\\n'}, labels)
    expect("hostile budgets", 2, len([key for key in samples if key[0] == "syscull_budget_limit"]))
    found = annotations(made("hostile", "github"))
    # The whole run, the broken budget, the one that cannot be judged.
    expect("hostile annotations", ["error"] * 3, [a[0] for a in found])
    expect("foreign annotations", [], [a for a in found if a[1].get("title") == "no"])
    expect("percent is kept", True, "%0A%25" in found[1][2])
    text = made("hostile", "markdown")
    rows = [line for line in text.split("\n") if line.startswith("| ")]
    expect("hostile rows", 4, len(rows))
    for row in rows:
        expect("cells of a row", 5, len(re.findall(r"(?<!\\)\|", row)))
    for line in text.split("\n"):
        expect("code is closed", 0, 0 if line.startswith("    ") else line.count("`") % 2)

    found = annotations(made("many", "github"))
    expect("at most ten", 10, len(found))
    expect("the last one", (True, "notice"), (found[-1][2].startswith("and 16 more"), found[-1][0]))
    expect("what is broken goes first", ["error"] * 9, [a[0] for a in found[:9]])
    _, junit = made_junit("many")
    expect("many", [20, 5], [sum(case[0] == word for case in junit.cases.values()) for word in ("failure", "skipped")])

    _, junit = made_junit("skip")
    expect("skip", ("passed", "skipped", "passed"),
           tuple(junit.cases[name][0] for name in ("max @stat per item", "canary @open", "counting")))
    expect("a warning", ["warning"], [a[0] for a in annotations(made("skip", "github"))])
    samples = prom(made("skip", "prom"))
    expect("a slope", [0.125], [value for key, value in samples.items()
                               if key[0] == "syscull_budget_seen" and ("kind", "max") in key[1]])

    _, junit = made_junit("command")
    expect("a command that failed", ("failure", "the command ended with 3"), junit.cases["command"][:2])
    expect("its budget", "passed", junit.cases["max @xattr"][0])


def check(name, options, command, status, env=None):
    """All formats of one check; compared with its JSON, which is returned with the rest."""
    paths = {form: os.path.join(os.getcwd(), f"{name}.{form}") for form in ("json", "junit", "prom", "markdown", "github")}
    formats = [word for form, path in paths.items() for word in ("--format", f"{form}={path}")]
    done = subprocess.run([PROGRAM, "check", *options, *formats, "--", *command], stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False,
                          env={**os.environ, **(env or {})})
    expect(f"{name}: status ({done.stderr.decode(errors='replace')})", status, done.returncode)
    texts = {}
    for form, path in paths.items():
        with open(path, encoding="utf-8") as file:
            texts[form] = file.read()
        if form != "json":
            harmless(f"{name}.{form}", texts[form])
    report = json.loads(texts["json"])
    junit, samples = Junit(paths["junit"]), prom(texts["prom"])
    expect(f"{name}: suite", name, junit.suite)
    expect(f"{name}: reports", {name}, {dict(key[1])["report"] for key in samples})
    words = {"ok": "passed", "broken": "failure", "cannot-judge": "error"}
    idle = "passed" if any(b["kind"] == "canary" for b in report["budgets"]) else "skipped"
    for budget in report["budgets"]:
        key = (("budget", budget["what"]), ("kind", budget["kind"]), ("report", name))
        expect(f"{name}: {budget['what']} in JUnit", words.get(budget["verdict"], idle),
               junit.cases[f"{budget['kind']} {budget['what']}"][0])
        expect(f"{name}: {budget['what']} in prom", (budget["limit"], budget["seen"]),
               (samples[("syscull_budget_limit", key)], samples.get(("syscull_budget_seen", key))))
        for state in ("ok", "broken", "not-exercised", "cannot-judge"):
            expect(f"{name}: {budget['what']} {state}", int(state == budget["verdict"]),
                   samples[("syscull_budget_state", tuple(sorted((*key, ("state", state)))))])
    state = report["verdict"]["state"]
    expect(f"{name}: state", 1, samples[("syscull_check_state", (("report", name), ("state", state)))])
    expect(f"{name}: head", f"### syscull check: {state.replace('-', ' ')}", texts["markdown"].split("\n", 1)[0])
    for call in report["calls"]:
        expect(f"{name}: {call['name']}", call["count"],
               samples[("syscull_calls", (("call", call["name"]), ("report", name)))])
    found = annotations(texts["github"])
    expect(f"{name}: an error says so", state != "passed", any(a[0] == "error" for a in found))
    for form in ("junit", "prom"):
        expect(f"{name}: no arguments in {form}", False, "SECRET" in texts[form])
    return report, junit, samples, found, done.stderr.decode(errors="replace")


def checks():
    os.mkdir("d")
    for i in range(20):
        with open(f"d/f{i}", "w", encoding="ascii"):
            pass
    lister = ["/usr/bin/python3", "-c", "import os\nfor n in os.listdir('d'):\n os.lstat('d/'+n)\n"
              " try: os.getxattr('d/'+n, 'user.SECRE')\n except OSError: pass\n", "SECRET"]
    check("passed", ["--max", "@xattr=20", "--canary", "@stat>=20"], lister, 0)
    _, junit, _, found, told = check("broken", ["--max", "@xattr=3", "--max", "@stat=100000", "--max", "@kill=0"], lister, 121)
    expect("in words too", True, "syscull: check failed: @xattr: 20, at most 3" in told)
    expect("broken: message", "@xattr: 20, at most 3", junit.cases["max @xattr"][1])
    expect("broken: levels", ["error", "notice"], [a[0] for a in found])
    expect("broken: title", "syscull: max @xattr", found[0][1]["title"])
    expect("broken: where", True, "20 getxattr" in found[0][2])
    _, junit, _, _, _ = check("unmet", ["--max", "@xattr=30", "--canary", "@stat>=100000"], lister, 125)
    expect("unmet: counting", "passed", junit.cases["counting"][0])
    _, junit, samples, _, _ = check("rules", ["--max", "fd-sweep=0", "--max", "total=100000"], lister, 0)
    expect("rules: findings are told", True, any(key[0] == "syscull_findings_worth" for key in samples))
    _, junit, _, _, _ = check("failing", ["--max", "@xattr=3"], ["sh", "-c", "exit 3"], 3)
    expect("failing: command", ("failure", "the command ended with 3"), junit.cases["command"][:2])
    _, junit, _, _, told = check("absent", ["--max", "@xattr=3"], ["/nonexistent/program"], 127)
    expect("absent: counting", "error", junit.cases["counting"][0])
    expect("absent: told once", 1, len(told.strip().split("\n")))
    _, junit, _, _, _ = check("unread", ["--baseline", "none.json"], ["true"], 125)
    expect("unread: baseline", "error", junit.cases["baseline"][0])
    subprocess.run([PROGRAM, "check", "--baseline", "base.json", "--update-baseline", "--", "true"], check=True,
                   stderr=subprocess.DEVNULL)
    check("same", ["--baseline", "base.json"], ["true"], 0)
    _, junit, _, found, _ = check("grown", ["--baseline", "base.json"], lister, 121)
    expect("grown: baseline", "failure", junit.cases["baseline"][0])
    expect("grown: at most ten", 10, len(found))

    # Where GitHub reads: stderr, and a summary that is appended to.
    with open("summary", "w", encoding="ascii") as file:
        file.write("before\n")
    env = {**os.environ, "GITHUB_STEP_SUMMARY": os.path.abspath("summary")}
    for limit, status in (("3", 121), ("20", 0)):
        done = subprocess.run([PROGRAM, "check", "--format", "github", "--max", "@xattr=" + limit, "--", *lister],
                              env=env, stderr=subprocess.PIPE, text=True, check=False)
        expect("github: status", status, done.returncode)
        expect("github: levels", ["error"] if status else [], [a[0] for a in annotations(done.stderr)])
    with open("summary", encoding="utf-8") as file:
        text = file.read()
    expect("summary: appended", (True, ["failed", "passed"]),
           (text.startswith("before\n"), re.findall(r"^### syscull check: (.*)$", text, re.M)))
    done = subprocess.run([PROGRAM, "check", "--format", "github", "--max", "@xattr=20", "--", *lister],
                          env={**env, "GITHUB_STEP_SUMMARY": "/nonexistent/summary"}, stderr=subprocess.PIPE, text=True,
                          check=False)
    expect("summary: what cannot be written is told", (0, "syscull: no summary: "), (done.returncode, done.stderr[:21]))

    # There is no verdict in a run, and there are counts.
    for form in ("junit", "github", "markdown"):
        done = subprocess.run([PROGRAM, "run", "--format", form + "=x", "--", "echo", "ran"], capture_output=True, text=True,
                              check=False)
        expect(f"run as {form}", (125, "", f"syscull: --format {form} tells a verdict, which syscull check alone has\n"),
               (done.returncode, done.stdout, done.stderr))
    sweep = "import os\nfor n in range(3, 6000):\n try: os.close(n)\n except OSError: pass\n"
    subprocess.run([PROGRAM, "run", "--no-keep", "--format", "prom=run.prom", "--format", "json=run.json", "--",
                    "/usr/bin/python3", "-c", sweep, "SECRET"], check=True)
    with open("run.prom", encoding="utf-8") as file:
        text = file.read()
    with open("run.json", encoding="utf-8") as file:
        report = json.load(file)
    samples = prom(text)
    expect("run: no arguments", False, "SECRET" in text)
    expect("run: calls", {call["name"]: call["count"] for call in report["calls"]},
           {dict(key[1])["call"]: value for key, value in samples.items() if key[0] == "syscull_calls"})
    expect("run: there are findings", True, len(report["findings"]) > 0)
    expect("run: findings", sum(finding["calls"] for finding in report["findings"]),
           sum(value for key, value in samples.items() if key[0] == "syscull_finding_calls"))
    expect("run: no verdict", False, "syscull_check" in text)


with tempfile.TemporaryDirectory(prefix="syscull-") as top:
    os.chdir(top)
    os.environ.update(XDG_CACHE_HOME=top, XDG_STATE_HOME=top, LC_ALL="C.UTF-8")
    os.environ.pop("GITHUB_STEP_SUMMARY", None)
    {"cases": cases, "checks": checks}[MODE]()
    os.chdir("/")
print("\n".join(bad) or f"{compared} comparisons")
sys.exit(1 if bad else 0)
