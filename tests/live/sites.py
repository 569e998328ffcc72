#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Call sites: every one exactly right, or said to be unknown.

Programs with known places (tests/live/sites) are built in many ways and run;
lines marked /*@ name */ are what their calls have to be told by.  The counts
of all sites of a program are exact.

usage: SYSCULL=build/tests/live/live-on-bpf sites.py [CASE...]
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import live

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "sites")
SYSCULL = os.path.abspath(os.environ["SYSCULL"])
MUSL = shutil.which("musl-gcc")
CLANG = shutil.which("clang") or shutil.which("clang-14")
LIB = ["-shared", "-fPIC"]


def skip(why):
    print(why, file=sys.stderr)
    sys.exit(77)


def sh(*words, **how):
    return subprocess.run(words, check=True, capture_output=True, text=True, timeout=120, **how).stdout


def line_of(source, mark):
    with open(os.path.join(HERE, source), encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if f"/*@ {mark} */" in line:
                return number
    raise SystemExit(f"{source} has no mark {mark}")


class Built:
    """A folder with what one case built and what its run told."""

    def __init__(self, folder, compiler="gcc", flags=()):
        self.folder, self.compiler, self.flags = folder, compiler, list(flags)

    def cc(self, out, source, *flags):
        sh(self.compiler, "-g", *self.flags, *flags[:0], "-o", out, os.path.join(HERE, source), *flags,
           cwd=self.folder)

    def run(self, *command, stacks="sites", status=0, rule="identity-call", trace=None):
        report = os.path.join(self.folder, "report.json")
        # A busy machine makes pauses; all calls are to be counted.
        with open(os.path.join(self.folder, ".syscull.conf"), "w", encoding="utf-8") as conf:
            conf.write("[rule identity-call]\ngap = 1000s\n[rule repeated-stat]\ngap = 1000s\n")
        told = ["--format", "json=" + report]
        words = [SYSCULL, "run", "--stacks", stacks, "--no-keep", *told]
        if trace:
            sh(SYSCULL, "record", "--stacks", stacks, "-o", trace, "--", *command, cwd=self.folder)
            words = [SYSCULL, "report", *told, trace]
        done = subprocess.run(
            words if trace else [*words, "--", *command], cwd=self.folder, capture_output=True, text=True, timeout=120, check=False)
        # A report says by its status whether something is worth fixing, which is a matter of time.
        if done.returncode not in ((0, 1) if trace else (status,)):
            raise SystemExit(f"{command}: status {done.returncode}\n{done.stderr}")
        self.output = done.stdout
        with open(report, encoding="utf-8") as file:
            self.report = json.load(file)
        return self.sites(rule)

    def told(self, form, trace, *words):
        done = subprocess.run([SYSCULL, "report", "--format", form, *words, trace], cwd=self.folder, check=False,
                              capture_output=True, text=True, timeout=120)
        return done.stdout + done.stderr

    def sites(self, rule="identity-call"):
        found = [f for f in self.report["findings"] if f["rule"] == rule]
        if len(found) != 1:
            raise SystemExit(f"{len(found)} findings of {rule}")
        told = sum(site["count"] for site in found[0]["call_sites"]) + found[0]["call_sites_other"]
        if told != found[0]["calls"]:
            raise SystemExit(f"{told} calls told of {found[0]['calls']}")
        return found[0]["call_sites"]


def frame(site, index):
    return site["frames"][index] if index is not None else None


def words(one):
    """A frame as a test writes it: FUNCTION:SOURCE:LINE, or MODULE+OFFSET."""
    if one is None:
        return None
    text = f"{one['symbol']}:{os.path.basename(one['file'])}:{one['line']}" if one.get("file") and one["symbol"] else \
        one["symbol"] or f"{os.path.basename(one['module'] or '')}+{one['offset']}"
    return text + (f" by way of {one['by_way_of']}" if "by_way_of" in one else "")


def at(function, source, mark):
    return f"{function}:{source}:{line_of(source, mark)}"


def expect(sites, wanted, sampled=False):
    """wanted: {(caller, in the program): count}; exactly these."""
    got = {}
    for site in sites:
        if site["caller_varies"] or site["program_varies"]:
            raise SystemExit(f"varies: {site}")
        if site["caller_sampled"] or (site["program_sampled"] and not sampled):
            raise SystemExit(f"sampled: {site}")
        key = (words(frame(site, site["caller"])), words(frame(site, site["program"])))
        got[key] = got.get(key, 0) + site["count"]
    if got != wanted:
        raise SystemExit(f"wanted {wanted}\n   got {got}")


def frames_of(sites, index=0):
    return [words(one) for one in sites[index]["frames"]]


def contains(sites, *wanted):
    """These frames follow each other, without others between them."""
    got = frames_of(sites)
    if not any(got[i:i + len(wanted)] == list(wanted) for i in range(len(got))):
        raise SystemExit(f"wanted {wanted}\n   in {got}")


def direct(built):
    built.cc("p", "direct.c")
    expect(built.run("./p"), {
        (at("twice", "direct.c", "first"),) * 2: 150,
        (at("twice", "direct.c", "second"),) * 2: 150,
        (at("main", "direct.c", "third"),) * 2: 50,
    })


def newline(built):
    """Names that the kernel's list of mappings writes with an escape, and one that only looks like it."""
    built.cc("p", "direct.c")
    for name in "new\nline", "new\\012line":
        shutil.copy(os.path.join(built.folder, "p"), os.path.join(built.folder, name))
        sites = built.run("./" + name)
        expect(sites, {
            (at("twice", "direct.c", "first"),) * 2: 150,
            (at("twice", "direct.c", "second"),) * 2: 150,
            (at("main", "direct.c", "third"),) * 2: 50,
        })
        assert frame(sites[0], sites[0]["caller"])["module"].endswith("/" + name), sites


def library(built):
    built.cc("libask.so", "ask.c", *LIB)
    built.cc("p", "library.c", "-L.", "-lask", "-Wl,-rpath,.")
    expect(built.run("./p"), {
        (at("ask", "ask.c", "ask"), at("main", "library.c", "main")): 100,
        (at("visit", "library.c", "visit"),) * 2: 210,
    })


def callback(built):
    built.cc("libask.so", "ask.c", *LIB)
    built.cc("p", "library.c", "-L.", "-lask", "-Wl,-rpath,.")
    contains(built.run("./p"), at("visit", "library.c", "visit"), at("each", "ask.c", "each"),
             at("main", "library.c", "back"))


def handler(built):
    built.cc("p", "handler.c")
    expect(built.run("./p", stacks="deep"), {
        (at("handler", "handler.c", "handler"),) * 2: 230,
        (at("apart", "handler.c", "apart"),) * 2: 115,
        # The ids that raise(3) asks for are not counted.
    })
    # Through the frame that the kernel made, to who was interrupted.
    got = frames_of(built.sites())
    if at("main", "handler.c", "raise") not in got:
        raise SystemExit(f"main is not in {got}")


def thread(built):
    built.cc("p", "thread.c", "-pthread")
    sites = built.run("./p")
    expect(sites, {(at("work", "thread.c", "work"),) * 2: 240})
    if not sites[0]["whole"]:
        raise SystemExit(f"not whole: {sites[0]['why']}")
    built.run("./p", trace="p.trace")
    text, html = (built.told(form, "p.trace") for form in ("text", "html"))
    scale = re.search(r"1 process, 2 threads, [\d,]+ calls", text)[0]
    assert scale in html, html


def load(built):
    built.cc("liba.so", "loaded.c", *LIB, "-DWHO=who_a")
    built.cc("libb.so", "loaded.c", *LIB, "-DWHO=who_b")
    built.cc("p", "load.c", "-ldl")
    expect(built.run("./p"), {
        (at("who_a", "loaded.c", "who"), at("use", "load.c", "use")): 240,
        (at("who_b", "loaded.c", "who"), at("use", "load.c", "use")): 110,
    })


def tail(built):
    built.cc("libask.so", "ask.c", "-O2", *LIB)
    built.cc("p", "tail.c", "-O2", "-L.", "-lask", "-Wl,-rpath,.")
    main = [at("main", "tail.c", mark) for mark in ("main", "library", "last")]
    expect(built.run("./p"), {
        (main[0] + " by way of before_last",) * 2: 120,
        (main[1] + " by way of jump",) * 2: 120,
        (main[2] + " by way of last",) * 2: 120,
    })


def frames(built):
    built.cc("p", "frames.c", "-O2", "-fomit-frame-pointer")
    sites = built.run("./p")
    expect(sites, {(at("inner", "frames.c", "inner"),) * 2: 260})
    contains(sites, *[at(name, "frames.c", name) for name in ("inner", "sized", "aligned", "main")])


def inline(built):
    built.cc("p", "inline.c", "-O1")
    sites = built.run("./p")
    expect(sites, {(at("own", "inline.c", "own"),) * 2: 222})
    contains(sites, at("own", "inline.c", "own"), at("main", "inline.c", "main"))


def stripped(built):
    """Without symbols: module and offset, the same that a copy with symbols explains."""
    built.cc("p", "direct.c")
    shutil.copy(os.path.join(built.folder, "p"), os.path.join(built.folder, "p.debug"))
    sh("strip", "p", cwd=built.folder)
    got = {}
    for site in built.run("./p"):
        one = frame(site, site["caller"])
        assert one["symbol"] is None and one["file"] is None and one["build_id"], one
        # The file's only code segment lies at addresses equal to its offsets in a PIE by gcc.
        told = sh("addr2line", "-f", "-e", "p.debug", hex(int(one["offset"], 16) - 1), cwd=built.folder).split("\n")
        got[told[0] + ":" + re.sub(r".*/", "", told[1]).split(" ")[0]] = site["count"]
    wanted = {at("twice", "direct.c", "first"): 150, at("twice", "direct.c", "second"): 150,
              at("main", "direct.c", "third"): 50}
    assert got == wanted, got


def exported(built):
    """A static function of a stripped library is not named after the nearest export."""
    built.cc("liba.so", "loaded.c", *LIB, "-DWHO=who_a")
    built.cc("libb.so", "loaded.c", *LIB, "-DWHO=who_b")
    built.cc("p", "load.c", "-ldl")
    sh("strip", "liba.so", "libb.so", cwd=built.folder)
    for site in built.run("./p"):
        one = frame(site, site["caller"])
        assert one["symbol"] is None and os.path.basename(one["module"]) in ("liba.so", "libb.so"), one
        assert site["frames"][site["caller"] + 1]["symbol"] == "ask_here", site["frames"]


def static(built):
    built.cc("p", "direct.c", "-static")
    expect(built.run("./p"), {
        (at("twice", "direct.c", "first"),) * 2: 150,
        (at("twice", "direct.c", "second"),) * 2: 150,
        (at("main", "direct.c", "third"),) * 2: 50,
    })


def no_rules(built):
    """The library's own rules find its caller; beyond, nothing is guessed."""
    built.cc("p", "direct.c", "-fno-asynchronous-unwind-tables", "-fno-unwind-tables", "-g0", "-O0")
    for site in built.run("./p"):
        assert frame(site, site["caller"])["symbol"] in ("twice", "main"), site
        assert not site["whole"] and site["why"] == "no unwind information there", site


def deep(built):
    built.cc("p", "deep.c")
    sites = built.run("./p")
    expect(sites, {(at("down", "deep.c", "bottom"),) * 2: 205})
    assert not sites[0]["whole"] and sites[0]["why"] == "the copy of the stack ends there", sites[0]["why"]
    sites = built.run("./p", stacks="deep")
    contains(sites, *[at("down", "deep.c", "down")] * 10, at("main", "deep.c", "main"))
    assert sites[0]["whole"], sites[0]["why"]


def replaced(built):
    """Files that are not the ones that ran: module and offset alone."""
    for how in ("keep", "delete", "replace", "touch"):
        built.cc("liba.so", "loaded.c", *LIB, "-DWHO=who_a")
        built.cc("libb.so", "loaded.c", *LIB, "-DWHO=who_b")
        built.cc("p", "replaced.c", "-ldl")
        sites = built.run("./p", how)
        if how == "keep":
            expect(sites, {(at("who_a", "loaded.c", "who"), at("main", "replaced.c", "main")): 210})
            continue
        assert len(sites) == 1 and sites[0]["count"] == 210, sites
        one = frame(sites[0], sites[0]["caller"])
        # The C library's rules still find who called it.
        assert one["symbol"] is None and one["file"] is None and one["build_id"] is None, one
        assert os.path.basename(one["module"]).startswith("liba.so"), one
        assert sites[0]["program"] is None and sites[0]["why"] == "the file is not the one that ran", sites[0]


def jit(built):
    built.cc("p", "jit.c")
    sites = built.run("./p")
    assert len(sites) == 1 and sites[0]["count"] == 201, sites
    assert sites[0]["frames"][0]["module"] is None and sites[0]["caller"] is None, sites
    sites = built.run("./p", "made_here:12")
    assert len(sites) == 1 and sites[0]["count"] == 201, sites
    one = frame(sites[0], sites[0]["caller"])
    os.unlink(built.output.strip())
    assert one["jit"] and one["symbol"] == "made_here:12" and one["symbol_offset"] == "0x7", one
    assert not sites[0]["whole"], sites


def many(built):
    """Forty libraries: each caller is told by its own, with counts that are exact."""
    built.cc("lib00.so", "loaded.c", *LIB, "-DWHO=who")
    for n in range(1, 40):
        shutil.copy(os.path.join(built.folder, "lib00.so"), os.path.join(built.folder, f"lib{n:02}.so"))
    built.cc("p", "many.c", "-ldl")
    got = {}
    sites = built.run("./p")
    expect(sites, {(at("who", "loaded.c", "who"), at("use", "many.c", "use")): 2000})
    for site in sites:
        name = os.path.basename(frame(site, site["caller"])["module"])
        got[name] = got.get(name, 0) + site["count"]
        assert [words(one) for one in site["frames"][1:4]] == [
            at("who", "loaded.c", "who"), at("ask_here", "loaded.c", "here"), at("use", "many.c", "use")], site
    assert got == {f"lib{n:02}.so": 400 for n in (2, 19, 20, 31, 39)}, got


def ranges(built):
    """Code in more places than are kept in mind: right, or said to be as sampled or not known."""
    built.cc("p", "ranges.c")
    sites = built.run("./p")
    assert sum(site["count"] for site in sites) == 750, sites
    for site in sites:
        if site["caller"] is not None:
            assert words(frame(site, site["caller"])) == at("ask", "ranges.c", "ask"), site
        # Beyond made code nothing is known.
        if len(site["frames"]) > 2:
            assert site["frames"][2]["module"] is None or words(site["frames"][2]) == at("main", "ranges.c", "main"), site
            assert site["frames"][2]["module"] is None or site["count"] <= 150 or site["caller_sampled"], site


def late(built):
    """However many callers a place had before, a stack of the one that counts is copied."""
    built.cc("p", "late.c")
    sites = built.run("./p")
    # Who called is told in the same words for all; the stack is that of most calls.
    assert sites[0]["count"] >= 1000, sites
    contains(sites, at("ask", "late.c", "ask"), at("main", "late.c", "main"))


def ways(built):
    """Of calls that are told in the same words each stack has its own count."""
    built.cc("p", "ways.c")
    sites = built.run("./p")
    expect(sites, {(at("leaf", "ways.c", "leaf"),) * 2: 600})
    got = [(one["count"], [words(it) for it in one["frames"]][1:4], one["whole"]) for one in sites[0]["stacks"]]
    wanted = [(count, [at("leaf", "ways.c", "leaf"), at(who, "ways.c", who), at("main", "ways.c", "main")], True)
              for count, who in ((300, "three"), (200, "two"), (100, "one"))]
    assert got == wanted and sites[0]["stacks_other"] == 0, got
    assert sites[0]["frames"] == sites[0]["stacks"][0]["frames"], sites
    built.run("./p", trace="p.trace")
    for form in "text", "html":
        told = built.told(form, "p.trace", "-v")
        got = re.findall(r"(\d+) of them by\n(?:.*\n){2}\W*(?:p )?(\w+)\+", told)
        assert got == [("300", "three"), ("200", "two"), ("100", "one")], (form, told)


def booked(built):
    """The table has calls of all stacks in one sum, and what can be saved where it is called."""
    built.cc("p", "reread.c")
    sh(SYSCULL, "record", "-o", "p.trace", "--", "./p", cwd=built.folder)
    report = json.loads(built.told("json", "p.trace", "--by", "site"))
    assert any(one["saves_ns"] > 0 and {cost["call"] for cost in one["costs"]} == {"openat", "read", "close"}
               for one in report["findings"]), report["findings"]
    rows = {words(frame(one, one["caller"])): one for one in report["sites"] if one["caller"] is not None}
    for mark, call in ("open", "openat"), ("read", "read"), ("close", "close"):
        row = rows[at("look", "reread.c", mark)]
        assert (row["count"], row["most"], row["most_count"]) == (300, call, 300), row
        assert row["saves_ns"] > 0, row
        assert [(one["count"], words(one["frames"][2])[:6]) for one in row["stacks"]] == [
            (270, "often:"), (30, "seldom")], row
    for row in report["sites"]:
        assert row["saves_ns"] <= row["time_ns"], row


def unkeyed(built):
    """Who comes when a place has had too many callers is named: by a copy, or by what others prove."""
    built.cc("p", "unkeyed.c")
    hot = at("hot", "unkeyed.c", "hot")
    for how in "same", "varied":
        sites = built.run("./p", how, rule="repeated-stat")
        expect(sites, {(hot, hot): 599})
        if how == "same":
            contains(sites, hot, at("main", "unkeyed.c", "main"))


def container(built):
    """Files that only the process sees, by its root, and below the root of its mounts."""
    built.cc("p", "rests.c", "-static")
    os.mkdir(os.path.join(built.folder, "ns"))
    for last in "ns/p", "chroot ns /p":
        script = f"mount -t tmpfs none ns && cp p ns && exec {last}"
        if subprocess.run(["unshare", "-m", "sh", "-c", "mount -t tmpfs none ns"], cwd=built.folder, check=False,
                          capture_output=True).returncode != 0:
            print("container: no mount namespaces here")
            return
        sites = built.run("unshare", "-m", "sh", "-c", script)
        assert sites[0]["count"] == 300, sites
        contains(sites, at("ask", "rests.c", "ask"), at("main", "rests.c", "main"))
        assert not os.path.exists(os.path.join(built.folder, "ns/p"))


def made(built):
    """Out of code made at run time, where Python or V8 made it; a map of another time names nothing."""
    built.cc("p", "made.c", "-ldl")
    py, js = "py::f:/w/x.py", "JS:~f /w/x.js:1:1"

    def run(*words):
        sites = built.run("./p", *words)
        os.unlink(built.output.strip())
        assert len(sites) == 1 and sites[0]["count"] == 300, sites
        return sites

    contains(run("p"), at("ask", "made.c", "ask"), py, at("main", "made.c", "python"))
    contains(run("v"), at("ask", "made.c", "ask"), "Builtins_Exit", js, "Builtins_Entry", at("main", "made.c", "v8"))
    for words_of, last in (["n"], "made"), (["p", "old"], None):
        sites = run(*words_of)
        assert len(sites[0]["frames"]) == 3 and sites[0]["frames"][2]["symbol"] == last, sites
        assert not sites[0]["whole"], sites


def real_maps(built):
    """The makers themselves, where they are here."""
    with open(os.path.join(built.folder, "x.py"), "w", encoding="utf-8") as file:
        file.write("import os\ndef look():\n    for i in range(400): os.stat('/etc/passwd')\nlook()\n")
    with open(os.path.join(built.folder, "x.js"), "w", encoding="utf-8") as file:
        file.write("const fs = require('fs');\nfunction look() {\n  for (let i = 0; i < 400; i++) fs.statSync('/etc/passwd');\n"
                   "}\nlook();\n")
    for command, wanted in (["python3.12", "-X", "perf", "x.py"], "py::look:.*/x.py"), \
            (["python3.13", "-X", "perf", "x.py"], "py::look:.*/x.py"), \
            (["node", "--perf-basic-prof", "--interpreted-frames-native-stack", "x.js"], "JS:.look .*/x.js:2:14"):
        program = shutil.which(command[0])
        if not program or subprocess.run([program, "--version"], capture_output=True, check=False).returncode != 0:
            print(f"real-maps: no {command[0]} here")
            continue
        sites = built.run(*command, stacks="deep", rule="repeated-stat")
        for name in os.listdir("/tmp"):
            if name == f"perf-{built.report['processes'][0]['pid']}.map":
                os.unlink(os.path.join("/tmp", name))
        names = [one["symbol"] or "" for one in sites[0]["frames"]]
        assert any(re.fullmatch(wanted, name) for name in names), names
        assert sites[0]["whole"], sites[0]["why"]


def recorded(built):
    """The same from a trace."""
    built.cc("libask.so", "ask.c", *LIB)
    built.cc("p", "library.c", "-L.", "-lask", "-Wl,-rpath,.")
    expect(built.run("./p", trace="p.trace"), {
        (at("ask", "ask.c", "ask"), at("main", "library.c", "main")): 100,
        (at("visit", "library.c", "visit"),) * 2: 210,
    })


def vdso(built):
    """The kernel's own page has a name, and is gone through."""
    built.cc("p", "clock.c")
    sites = built.run("./p", rule="clock-call")
    expect(sites, {(at("main", "clock.c", "main"),) * 2: 2100})
    assert sites[0]["frames"][0]["module"] == "[vdso]", sites
    assert sites[0]["frames"][0]["symbol"].endswith("clock_gettime"), sites


def attached(built):
    """What runs already: its mappings are told when we come."""
    built.cc("p", "waits.c", "-O0")
    report = os.path.join(built.folder, "report.json")
    with open(os.path.join(built.folder, ".syscull.conf"), "w", encoding="utf-8") as conf:
        conf.write("[rule identity-call]\ngap = 1000s\n")
    with subprocess.Popen(["./p"], cwd=built.folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as program:
        program.stdout.read(1)
        with subprocess.Popen([SYSCULL, "run", "--no-keep", "-v", "--format", "json=" + report, "-p", str(program.pid)],
                              cwd=built.folder, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as us:
            live.until(lambda: live.attached(us, [program.pid]), "attaching")
            # Who waits again and again for records has attached.
            turns = int(live.status(us.pid, "voluntary_ctxt_switches"))
            live.until(lambda: live.status(program.pid, "TracerPid") == str(us.pid) or
                       int(live.status(us.pid, "voluntary_ctxt_switches")) > turns + 20, "waiting for records")
            program.stdin.write(b"go")
            program.stdin.flush()
            rest = us.communicate(timeout=120)[1]
    if us.returncode != 0:
        raise SystemExit(f"status {us.returncode}\n{rest}")
    with open(report, encoding="utf-8") as file:
        built.report = json.load(file)
    expect(built.sites(), {
        (at("ask", "waits.c", "ask"),) * 2: 199,
        (at("main", "waits.c", "main"),) * 2: 200,
    })


def left_out(built):
    """Copies that found no room are told of, and few they are: calls are not copied each."""
    built.cc("p", "direct.c")
    os.environ["SYSCULL_TEST_BPF"] = "stacks=1"
    try:
        sites = built.run("./p")
    finally:
        del os.environ["SYSCULL_TEST_BPF"]
    assert sum(site["count"] for site in sites) == 350, sites
    told = [one for one in built.report["warnings"] if "left out" in one]
    if built.report["engine"]["name"] != "bpf":
        assert told == [], told
        return
    numbers = re.match(r"(\d+) copies of stacks were left out, 1 were made: ", told[0])
    # Three places with 7, 8 and 8 copies; the program's start has not 100 calls.
    assert numbers and 20 <= int(numbers[1]) < 120, told


def off(built):
    built.cc("p", "direct.c")
    sites = built.run("./p", stacks="off")
    assert len(sites) == 1 and sites[0]["count"] == 350, sites
    assert list(sites[0]["frames"][0]) == ["module", "offset"] and "caller" not in sites[0], sites
    built.run("./p", stacks="off", trace="p.trace")
    place = re.search(r" 350  (libc\.so\.6[ +][\w+]+)", built.told("text", "p.trace", "-v"))[1]
    assert f"<code>{place}" in built.told("html", "p.trace"), place


CASES = {
    "direct": (direct, {}),
    "newline": (newline, {}),
    "optimised": (direct, {"flags": ["-O1", "-fno-optimize-sibling-calls"]}),
    "no-pie": (direct, {"flags": ["-no-pie"]}),
    "no-plt": (library, {"flags": ["-fno-plt"]}),
    "library": (library, {}),
    "callback": (callback, {}),
    "handler": (handler, {}),
    "thread": (thread, {}),
    "load": (load, {}),
    "tail": (tail, {}),
    "tail-no-plt": (tail, {"flags": ["-fno-plt"]}),
    "frames": (frames, {}),
    "inline": (inline, {}),
    "prelinked": (library, {"flags": ["-Wl,-Ttext-segment=0x41000000"]}),
    "stripped": (stripped, {}),
    "exported": (exported, {}),
    "static": (static, {}),
    "static-pie": (direct, {"flags": ["-static-pie"]}),
    "no-rules": (no_rules, {}),
    "deep": (deep, {}),
    "replaced": (replaced, {}),
    "jit": (jit, {}),
    "many": (many, {}),
    "ranges": (ranges, {}),
    "late": (late, {}),
    "unkeyed": (unkeyed, {}),
    "ways": (ways, {}),
    "booked": (booked, {}),
    "container": (container, {}),
    "made": (made, {}),
    "real-maps": (real_maps, {}),
    "recorded": (recorded, {}),
    "vdso": (vdso, {}),
    "attached": (attached, {}),
    "left-out": (left_out, {}),
    "off": (off, {}),
    "musl": (direct, {"compiler": MUSL}),
    "musl-static": (direct, {"compiler": MUSL, "flags": ["-static"]}),
    "clang": (direct, {"compiler": CLANG}),
    "clang-tail": (tail, {"compiler": CLANG}),
}


def main():
    bad = 0
    if os.environ.get("SYSCULL_DW") == "no":
        skip("built without libdw: sites are told by module and offset")
    if subprocess.run([SYSCULL, "doctor"], capture_output=True, check=False).returncode != 0:
        skip("this engine cannot be used here: see syscull doctor")
    if not shutil.which("gcc"):
        skip("gcc builds the programs: make deps installs it")
    for name in sys.argv[1:] or CASES:
        case, how = CASES[name]
        if "compiler" in how and not how["compiler"]:
            print(f"{name}: no such compiler here")
            continue
        with tempfile.TemporaryDirectory(prefix="syscull-sites-") as folder:
            try:
                case(Built(folder, **how))
                print(f"{name}: good")
            except (SystemExit, AssertionError) as why:
                print(f"{name}: BAD: {why}")
                bad += 1
    sys.exit(1 if bad else 0)


main()
