#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Runs that are kept: report and show tell of them what run told.
load helper

setup()
{
	cd "$BATS_TEST_TMPDIR" || return 1
	export XDG_STATE_HOME=$PWD/state
	mkdir state d100
	(cd d100 && seq -f f%g 100 | xargs touch)
}

# same_report A B: the two JSON reports tell the same, but for time and what it is made of.
same_report()
{
	/usr/bin/python3 - "$1" "$2" <<-'EOF'
	import json, sys

	DROPPED = {"share", "worth", "source", "remedies", "saves_ns"}

	def plain(value):
	    if isinstance(value, dict):
	        return {k: plain(v) for k, v in sorted(value.items()) if not k.endswith("_ns") and not k.startswith("untraced")
	                and k not in DROPPED}
	    if isinstance(value, list):
	        return sorted((plain(v) for v in value), key=lambda v: json.dumps(v, sort_keys=True))
	    return value

	def told(path):
	    with open(path, encoding="utf-8") as file:
	        whole = json.load(file)
	    parts = {k: plain(whole[k]) for k in ("command", "exit", "accounting", "calls", "processes", "findings",
	                                          "environment", "host", "rules_not_run")}
	    parts["engine"] = whole["engine"]["name"]
	    return parts

	a, b = told(sys.argv[1]), told(sys.argv[2])
	for part in a:
	    if a[part] != b[part]:
	        sys.exit(f"{part} differs:\n{json.dumps(a[part])}\n{json.dumps(b[part])}")
	if not a["calls"]:
	    sys.exit("no calls at all")
	print(len(a["findings"]))
	EOF
}

@test "a kept run is reported as it was when it ran: all victims" {
	victims=$(dirname "$SYSCULL")/../../tests/victims
	found=0
	for victim in "$victims"/victim-*; do
		[ -x "$victim" ] && [ -f "$victim" ] || continue
		run_apart "$SYSCULL" run --format json=ran.json -- "$victim"
		[ "$status" != 77 ] || continue
		expect "$errors" ""
		run_apart "$SYSCULL" report --format json -o kept.json
		[ "$status" -le 1 ]
		expect "$errors" ""
		findings=$(same_report ran.json kept.json)
		found=$((found + findings))
	done
	[ "$found" -ge 5 ]
}

@test "record keeps the last run; report and show without a file take it" {
	run_apart "$SYSCULL" record -- ls -l d100
	expect "$status$errors" 0
	[ "$(grep -c f1 <<<"$output")" -ge 10 ]
	expect "$(stat -c %a state/syscull state/syscull/last.trace | tr '\n' ' ')" "700 600 "
	run_apart "$SYSCULL" report
	[[ $output == "ls -l d100: exit 0, 1 process, "* ]]
	[[ $output == *"closed: "* ]]
	expect "$errors" ""
	run_apart "$SYSCULL" show -e lgetxattr
	expect "$status" 0
	[[ $output == *'lgetxattr("d100/f1", "security.selinux", 0x'* ]] || [[ $output == *'lgetxattr('* ]]
	# The next run takes its place, whole or not at all; nothing else is left there.
	run_apart "$SYSCULL" run -q -- true
	run_apart "$SYSCULL" report
	[[ $output == "true: exit 0"* ]]
	expect "$(ls -A state/syscull)" last.trace
}

@test "--no-keep and record -o leave the last run alone" {
	"$SYSCULL" record -- true
	"$SYSCULL" run -q --no-keep -- ls >/dev/null
	"$SYSCULL" record -o ls.trace -- ls >/dev/null
	run_apart "$SYSCULL" report
	[[ $output == "true: exit 0"* ]]
	run_apart "$SYSCULL" report ls.trace
	[[ $output == "ls: exit 0"* ]]
}

@test "a trace is for its owner alone, whatever was there before" {
	umask 022
	touch there
	chmod 644 there
	"$SYSCULL" record -o there -- true
	"$SYSCULL" record -o new -- true
	"$SYSCULL" record -o fd:5 -- true 5>through
	expect "$(stat -c %a there new | tr '\n' ' ')" "600 600 "
	run_apart "$SYSCULL" report through
	[[ $output == "true: exit 0"* ]]
}

@test "the first run of an account is kept: the folders are made" {
	unset XDG_STATE_HOME
	mkdir h
	export HOME=$PWD/h
	"$SYSCULL" run -q -- true
	run_apart "$SYSCULL" report
	[[ $output == "true: exit 0"* ]]
	expect "$(stat -c %a h/.local h/.local/state | tr '\n' ' ')" "700 700 "
	export XDG_STATE_HOME=$PWD/a/b/c
	"$SYSCULL" record -- true
	[ -f a/b/c/syscull/last.trace ]
}

@test "where nothing can be kept run goes on, record and report say what to do" {
	export XDG_STATE_HOME=/dev/null
	run_apart "$SYSCULL" run -q -- true
	expect "$status$errors" 0
	run_apart "$SYSCULL" run -v -o report -- true
	expect "$status" 0
	grep -q 'no run can be kept in $XDG_STATE_HOME (~/.local/state): Not a' report
	run_apart "$SYSCULL" run -v --no-keep -o report -- true
	run grep 'no run can be kept' report
	expect "$status" 1
	run_apart env -u XDG_STATE_HOME HOME="$PWD/nowhere" "$SYSCULL" run -v --format json=report -- true
	grep -q 'no run can be kept.*the home folder is not there' report
	[ ! -e nowhere ]
	run_apart "$SYSCULL" record -- touch ran
	expect "$status" 125
	[[ $errors == *"give -o FILE"* ]]
	[ ! -e ran ]
	export XDG_STATE_HOME=$PWD/state
	run_apart "$SYSCULL" report
	expect "$status" 2
	[[ $errors == *"no run was kept yet"* ]]
	expect "$(wc -l <err)" 1
}

@test "record ends as the command did, and with 125 when the trace cannot be written" {
	run_apart "$SYSCULL" record -- sh -c 'exit 7'
	expect "$status" 7
	run_apart "$SYSCULL" record -- sh -c 'kill -TERM $$'
	expect "$status" 143
	run_apart "$SYSCULL" report
	[[ $output == *"SIGTERM"* ]]
	run_apart "$SYSCULL" record -- no-such-command
	expect "$status" 127
	run_apart "$SYSCULL" record -o no/such/folder -- true
	expect "$status" 125
	run_apart "$SYSCULL" record -o - -- true
	expect "$status" 125
	[ -c /dev/full ] || skip "no /dev/full"
	run_apart "$SYSCULL" record -o /dev/full -- true
	expect "$status" 125
	[[ $errors == *"could not be written"* ]]
	expect "$(wc -l <err)" 1
	run_apart "$SYSCULL" record -o /dev/full -- sh -c 'exit 3'
	expect "$status" 3
}

@test "report: 0 nothing to fix, 1 something, 2 trouble" {
	"$SYSCULL" record -o clean -- true
	"$SYSCULL" record -o waste -- ls -l d100 >/dev/null
	run_apart "$SYSCULL" report clean
	expect "$status" 0
	run_apart "$SYSCULL" report --floor 0%,0us waste
	expect "$status" 1
	run_apart "$SYSCULL" report -q clean
	expect "$status$output" 0
	run_apart "$SYSCULL" report nothing-here
	expect "$status" 2
	run_apart "$SYSCULL" report clean waste
	expect "$status" 2
	run_apart "$SYSCULL" report --no-such-option clean
	expect "$status" 2
	run_apart "$SYSCULL" report -o /dev/full clean
	expect "$status" 2
}

@test "a cut, damaged or foreign file gives what is whole and one line" {
	"$SYSCULL" record -o whole -- ls -l d100 >/dev/null
	bytes=$(stat -c %s whole)
	head -c $((bytes - 1)) whole >cut
	run_apart "$SYSCULL" report cut
	[[ $errors == *"cut: the file is cut off"* ]]
	expect "$(wc -l <err)" 1
	[[ $output == *"Beware"*"not all is"* ]]
	[[ $output == *"xattr-probe"* ]]
	# What is missing may be the waste.
	expect "$status" 2
	bytes=$((bytes / 2))
	{ head -c $bytes whole; printf 'damaged block'; tail -c +$((bytes + 14)) whole; } >damaged
	run_apart "$SYSCULL" report damaged
	expect "$status" 2
	expect "$(wc -l <err)" 1
	run_apart "$SYSCULL" show cut
	expect "$status" 0
	[ "$(wc -l <out)" -gt 300 ]
	head -c 7 whole >short
	run_apart "$SYSCULL" report short
	expect "$status" 2
	expect "$(wc -l <err)" 1
	for file in /bin/ls /dev/null .; do
		run_apart "$SYSCULL" show "$file"
		expect "$status" 2
		expect "$(wc -l <err)" 1
	done
}

# zstd_here: this build writes compressed traces.
zstd_here()
{
	"$SYSCULL" record -q -o here.zst -- true 2>/dev/null
}

@test "record -o FILE.zst is compressed, and every reader takes it" {
	zstd_here || skip "built without libzstd"
	"$SYSCULL" record -o t.zst -- ls -l d100 >/dev/null
	expect "$(head -c 4 t.zst | od -An -tx1)" " 28 b5 2f fd"
	expect "$(stat -c %a t.zst)" 600
	zstd -q -t t.zst
	zstd -q -d t.zst -o t
	[ "$(stat -c %s t.zst)" -lt "$(($(stat -c %s t) * 2 / 3))" ]
	# The kept run is any trace, too.
	install -D -m 600 t.zst state/syscull/last.trace
	for option in "report --format json" "report -v" show "show --format tsv"; do
		"$SYSCULL" $option t >plain || [ $? -eq 1 ]
		"$SYSCULL" $option t.zst >packed || [ $? -eq 1 ]
		"$SYSCULL" $option >kept || [ $? -eq 1 ]
		[ -s plain ]
		sed -i 's/[0-9.]* [mu]s//g; s/_ns": [0-9]*//g; s/"share": [0-9.]*//g; s/([0-9<]* %)//g' plain packed kept
		[[ $option != show* ]] || cmp plain packed
		expect "$(wc -l <packed)" "$(wc -l <plain)"
		expect "$(wc -l <kept)" "$(wc -l <plain)"
	done
	run_apart "$SYSCULL" diff t t.zst
	expect "$status" 0
	# Compressed by somebody else, and through a pipe.
	zstd -q -19 t -o other.zst
	"$SYSCULL" show t >plain
	"$SYSCULL" show other.zst | cmp plain -
	mkfifo pipe
	cat t.zst >pipe &
	"$SYSCULL" show pipe | cmp plain -
	wait
}

@test "a cut, damaged or foreign compressed file gives what is whole and one line" {
	zstd_here || skip "built without libzstd"
	"$SYSCULL" record -o whole.zst -- ls -l d100 >/dev/null
	zstd -q -d whole.zst -o whole
	bytes=$(stat -c %s whole.zst)
	for cut in $((bytes - 60)) $((bytes / 2)) 700 30 5; do
		head -c $cut whole.zst >cut.zst
		run_apart "$SYSCULL" report cut.zst
		expect "$status" 2
		expect "$(wc -l <err)" 1
		[[ $errors == *cut.zst:*"cut off"* ]]
	done
	{ head -c $((bytes / 2)) whole.zst; printf 'damaged block'; tail -c +$((bytes / 2 + 14)) whole.zst; } >damaged.zst
	run_apart "$SYSCULL" report damaged.zst
	expect "$status" 2
	expect "$(wc -l <err)" 1
	[[ $errors == *damaged* ]]
	seq 20000 | zstd -q -o text.zst
	run_apart "$SYSCULL" report text.zst
	expect "$status" 2
	expect "$errors" "syscull: text.zst is no trace of syscull"
	# A few bytes for gigabytes, and for whoever has much memory: neither takes any.
	{ cat whole; head -c 1G /dev/zero; } | zstd -q -1 -o bomb.zst
	(
		ulimit -v 400000
		run_apart "$SYSCULL" show bomb.zst
		expect "$status" 0
		expect "$(wc -l <out)" "$("$SYSCULL" show whole | wc -l)"
	)
	{ head -c 200 whole; head -c 1G /dev/zero; } | zstd -q -1 -o bomb2.zst
	run_apart "$SYSCULL" show bomb2.zst
	expect "$status" 2
	expect "$errors" "syscull: bomb2.zst: the trace is cut off before it begins"
	{ cat whole; head -c 9M /dev/zero; } | zstd -q -1 --long=27 -o wide.zst
	run_apart "$SYSCULL" report wide.zst
	expect "$(wc -l <err)" 1
	[[ $errors == *"zstd -d makes a file that can be read"* ]]
}

@test "traces, logs and reports can come through a pipe, and from stdin" {
	"$SYSCULL" record -o t -- ls -l d100 >/dev/null
	"$SYSCULL" show t >log
	"$SYSCULL" report --format json -o r.json t || true
	"$SYSCULL" show --finding 1 t >plain
	# Twice read: for the finding, and for its calls.
	for from in - /dev/stdin; do
		cat t | "$SYSCULL" show --finding 1 $from | cmp plain -
	done
	"$SYSCULL" show --finding 1 - <t | cmp plain -
	"$SYSCULL" show --finding 1 <(cat t) | cmp plain -
	for file in t log; do
		cat $file | "$SYSCULL" report - >piped || true
		grep -q 'xattr-probe' piped
		"$SYSCULL" report <(cat $file) >piped || true
		grep -q 'xattr-probe' piped
	done
	"$SYSCULL" diff <(cat t) <(cat t) >differences
	cat r.json | "$SYSCULL" diff - <(cat t) >differences
	run_apart "$SYSCULL" report - </dev/null
	expect "$status$errors" "2syscull: stdin is no trace of syscull: it is empty"
	[ ! -e - ]
}

@test "what follows behind a trace's end is told, and the books are not complete" {
	"$SYSCULL" record -o t -- ls -l d100 >/dev/null
	{ cat t; echo text; } >more
	cat t t >two
	for file in more two; do
		run_apart "$SYSCULL" report $file
		expect "$status" 2
		expect "$(wc -l <err)" 1
		[[ $errors == "syscull: $file: behind its end comes "* ]]
		grep -q '^Beware  the books are not complete' out
	done
	[[ $errors == *"another trace"* ]]
}

@test "a record that is killed leaves its calls, in a name that no log has" {
	need ptrace "$SYSCULL" run -q -- true
	mkfifo ready
	"$SYSCULL" record --engine ptrace -o k.trace -- sh -c 'cd d100; cd ..; echo >ready; sleep 9' &
	pid=$!
	read -r _ <ready
	for _ in $(seq 100); do
		"$SYSCULL" show k.trace.* 2>/dev/null | grep -q 'chdir(".*d100")' && break
		sleep 0.1
	done
	kill -KILL $pid
	wait $pid || true
	"$SYSCULL" show k.trace.* >calls 2>err
	grep -q 'chdir(".*d100") = 0' calls
	grep -q 'the file has no end' err
	[[ $(echo k.trace.*) == k.trace.~* ]]
	# Such a name is no file of strace -ff, and neither is one with letters in its number.
	mv k.trace.* k.trace.2ZDevY
	run_apart "$SYSCULL" report k.trace
	expect "$status$errors" "2syscull: k.trace: No such file or directory"
}

@test "show: as many lines as calls, in strace's syntax" {
	"$SYSCULL" record -o t -- sh -c 'cat d100/f1 d100/none; true' 2>/dev/null
	run_apart "$SYSCULL" report --format json -o r.json t
	calls=$(/usr/bin/python3 -c 'import json; print(sum(c["count"] for c in json.load(open("r.json"))["calls"]))')
	run_apart "$SYSCULL" show t
	expect "$status$errors" 0
	expect "$(grep -vc '+++ exited' out)" "$calls"
	# Every line: thread, time, a call with its result and time, or an end.
	expect "$(grep -vcE '^[0-9]+ +[0-9]+\.[0-9]{9} ([a-z_0-9]+\(.*\) = (-?[0-9]+|0x[0-9a-f]+|\?)( E[A-Z0-9]+( \([^)]*\))?)?( <[0-9]+\.[0-9]{9}>)?|\+\+\+ exited with [0-9]+ \+\+\+)$' out)" 0
	[[ $output == *'openat(AT_FDCWD, "d100/none", '*') = -1 ENOENT (No such file or directory) <'* ]]
	run_apart "$SYSCULL" show --files -P d100/f1 t
	[[ $output == *"/d100/f1>"* ]]
	[[ $output == *"close("*"/d100/f1>)"* ]]
}

@test "show: the words of a command, so that what is read back knows it" {
	"$SYSCULL" record -o t -- sh -c 'exec /bin/echo "a b" $(printf "c\nd")' >/dev/null
	"$SYSCULL" show -e execve t >calls
	grep -qF 'execve("/bin/echo", ["/bin/echo", "a b", "c", "d"], 0x' calls
	"$SYSCULL" show t >log
	"$SYSCULL" report log >text || true
	grep -q '^sh -c .*: exit 0, ' text
}

@test "show: what is selected" {
	"$SYSCULL" record -o t -- ls -l d100 >/dev/null
	expect "$("$SYSCULL" show -e lgetxattr t | wc -l)" 101
	expect "$("$SYSCULL" show --failed -e statx t | wc -l)" 0
	run_apart "$SYSCULL" show --failed -e statx t
	expect "$status" 1
	pid=$("$SYSCULL" show t | head -n 1 | cut -d ' ' -f 1)
	[ "$("$SYSCULL" show --pid "$pid" t | wc -l)" -gt 300 ]
	run_apart "$SYSCULL" show --pid 1 t
	expect "$status" 1
	run_apart "$SYSCULL" report --format json -o r.json t
	calls=$(/usr/bin/python3 -c 'import json; f = json.load(open("r.json"))["findings"]; print(f[0]["calls"])')
	shown=$("$SYSCULL" show --finding 1 t 2>/dev/null | wc -l)
	[ "$shown" -ge "$calls" ]
	[ "$shown" -le $((calls + 5)) ]
	run_apart "$SYSCULL" show --finding 99 t
	expect "$status" 2
	[[ $errors == *"--finding 99: the report of this run has "* ]]
}

@test "show --format tsv: columns for programs" {
	printf 'x' >"$(printf 'd100/tab\there')"
	"$SYSCULL" record -o t -- cat "$(printf 'd100/tab\there')" >/dev/null
	run_apart "$SYSCULL" show --format tsv t
	expect "$(head -n 1 out)" "$(printf 'time_ns\tpid\ttid\tcall\tresult\terrno\tduration_ns\tip\tpath\tpath2\tfile\ttext')"
	expect "$(awk -F '\t' 'NF != 12' out | wc -l)" 0
	expect "$(awk -F '\t' '$4 == "openat" && $9 ~ /tab\\there$/ && $5 >= 3' out | wc -l)" 1
	expect "$(awk -F '\t' '$4 == "execve" && $5 == 0' out | wc -l)" 1
	expect "$(awk -F '\t' 'NR > 1 && $6 != "" && $5 != -1' out | wc -l)" 0
}

@test "show, read as a log of strace's, keeps the counts" {
	"$SYSCULL" record -o t -- sh -c 'ls -l d100; cat d100/none; exit 3' >/dev/null 2>&1 || [ $? = 3 ]
	"$SYSCULL" show t >log
	run_apart "$SYSCULL" report --format json -o log.json log
	[[ $errors != *"no trace of syscull"* ]] || skip "this version reads no logs"
	[ "$status" -le 1 ]
	run_apart "$SYSCULL" report --format json -o t.json t
	/usr/bin/python3 - <<-'EOF'
	import json, sys

	def counts(path):
	    with open(path, encoding="utf-8") as file:
	        return {c["name"]: (c["count"], c.get("errors", {})) for c in json.load(file)["calls"]}

	a, b = counts("t.json"), counts("log.json")
	if a != b or not a:
	    sys.exit(f"{a}\n{b}")
	EOF
}

@test "show, read as a log of strace's, tells threads from processes" {
	cat >threads.py <<-'END'
	import subprocess
	import threading

	threads = [threading.Thread(target=subprocess.run, args=(["true"],)) for _ in range(4)]
	for thread in threads:
	    thread.start()
	for thread in threads:
	    thread.join()
	END
	"$SYSCULL" record -o t -- /usr/bin/python3 threads.py
	"$SYSCULL" show t >log
	grep -q 'clone3\?({\?flags=[A-Z_|]*CLONE_THREAD\|clone([A-Z_|]*CLONE_THREAD' log
	for file in t log; do
		"$SYSCULL" report --format json "$file" >$file.json || [ $? -eq 1 ]
	done
	/usr/bin/python3 - <<-'END'
	import json

	def told(path):
	    with open(path, encoding="utf-8") as file:
	        report = json.load(file)
	    return (len(report["processes"]),
	            sorted((c["name"], c["count"], sorted(c["errors"].items())) for c in report["calls"]))

	trace, log = told("t.json"), told("log.json")
	assert trace == log, (trace, log)
	assert trace[0] == 5, trace
	END
}

@test "a log of strace that is not whole: one line and 2" {
	need strace strace -o /dev/null true
	strace -f -o log sh -c 'ls d100 >/dev/null; true'
	run_apart "$SYSCULL" report log
	expect "$status$errors" 0
	head -c 9000 log >torn
	run_apart "$SYSCULL" report torn
	expect "$status" 2
	[[ $errors == *"torn: 1 of "*" lines could not be read, the first is line "* ]]
	expect "$(wc -l <err)" 1
	[[ $output == *"not judged, because"* ]]
	head -n 60 log >short
	run_apart "$SYSCULL" report short
	expect "$status" 2
	[[ $errors == *"short: the log lacks a program's end: it was cut off, "* ]]
	expect "$(wc -l <err)" 1
}

@test "what strace writes that is no log of calls says so" {
	need strace strace -o /dev/null true
	strace -c -o table true
	run_apart "$SYSCULL" report table
	expect "$status" 2
	expect "$errors" \
		"syscull: table: a table of strace -c has sums and no calls; write a log: strace -f -T -ttt -o FILE"
	strace -ff -o set sh -c 'ls >/dev/null; true'
	run_apart "$SYSCULL" report set.*
	expect "$status" 2
	expect "$errors" \
		"syscull: report takes one FILE; there are 2: of the files of strace -ff give what they begin with, set"
	run_apart "$SYSCULL" report set
	expect "$status$errors" 0
}

@test "our own report closes by the list, never number by number" {
	local low=256 count='[.calls[] | select(.name == "fcntl" or .name == "close") | .count] | add'
	[ "$(ulimit -n)" -gt "$low" ] || skip "the limit of descriptors is $(ulimit -n)"
	mkdir d300
	(cd d300 && seq -f f%g 300 | xargs touch)
	"$SYSCULL" record -q --engine ptrace -o run.trace -- ls -l d300 >ignored 2>&1
	run_apart "$SYSCULL" run --no-keep --engine ptrace --format json -o own.json -- "$SYSCULL" report run.trace
	[ "$status" -le 1 ]
	# The process that reads files of programs is what this is about.
	[ "$(jq ".processes | length" own.json)" -ge 2 ] || skip "no call sites here"
	(ulimit -n "$low"; "$SYSCULL" run -q --no-keep --engine ptrace --format json -o low.json -- \
		"$SYSCULL" report run.trace) >ignored 2>&1 || [ $? -eq 1 ]
	# How often prices are measured differs by a few; a sweep would differ by the limit.
	[ $(($(jq "$count" own.json) - $(jq "$count" low.json))) -lt $((($(ulimit -n) - low) / 2)) ]
}

@test "bpf: the execve that begins the command takes time, however long it had waited for a CPU" {
	need bpf "$SYSCULL" run --engine bpf -q -- true
	for _ in $(seq 12); do
		"$SYSCULL" record --engine bpf -o t -- true
		"$SYSCULL" show -e execve t
	done >all
	expect "$(grep -c 'execve(' all)" 12
	expect "$(grep -c '<0.000000000>' all)" 0
}
