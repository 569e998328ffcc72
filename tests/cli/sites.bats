#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# What reports tell of call sites, and the options for it.

load helper

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	printf '%s\n' '#include <unistd.h>' \
		'static __attribute__((noinline)) int ask(void) { return getgid() + 1; }' \
		'int main(void) { int sum = 0; for (int i = 0; i < 300; i++) sum += ask(); return sum == 1; }' >p.c
	gcc -g -o p p.c
	# A busy machine makes pauses; all calls are to be counted.
	printf '[rule identity-call]\ngap = 1000s\n' >.syscull.conf
	"$SYSCULL" run --engine ptrace -q --no-keep -- true || skip "no ptrace here"
	"$SYSCULL" run --engine ptrace -v --no-keep -- ./p 2>&1 | grep -q 'p ask+0x' || skip "built without libdw"
}

@test "a finding names function and line; -v the whole stack" {
	run_apart "$SYSCULL" run --engine ptrace --no-keep --floor 0%,0us -- ./p
	[ "$status" -eq 0 ]
	[[ $errors == *"299  p ask+0x"*" (p.c:2)"* ]]
	[[ $errors != *"p main+0x"* ]]
	run_apart "$SYSCULL" run --engine ptrace --no-keep -v -- ./p
	[[ $errors == *"p main+0x"*" (p.c:3)"* ]]
}

@test "--stacks off tells the instruction alone" {
	run_apart "$SYSCULL" run --engine ptrace --no-keep --stacks off --floor 0%,0us -- ./p
	[[ $errors == *"299  libc.so.6+0x"* ]]
	[[ $errors != *"p ask"* ]]
}

@test "--stacks wants one of three words" {
	run_apart "$SYSCULL" run --stacks all -- true
	[ "$status" -eq 125 ]
	[[ $errors == *"--stacks wants off, sites or deep, not 'all'"* ]]
}

@test "a trace carries stacks, and a file that has changed since is not looked at" {
	"$SYSCULL" record --engine ptrace -o trace -- ./p
	run_apart "$SYSCULL" report --floor 0%,0us trace
	[[ $output == *"299  p ask+0x"*" (p.c:2)"* ]]
	# Another file of the same name.
	gcc -O2 -o q p.c
	mv q p
	run_apart "$SYSCULL" report --floor 0%,0us trace
	[[ $output == *"299  p+0x"* ]]
	[[ $output != *"ask+0x"* ]]
}

@test "a trace holds no environment" {
	SECRET_OF_MINE=do-not-keep-me-anywhere "$SYSCULL" record --engine ptrace --stacks deep -o trace -- ./p
	! grep -q do-not-keep-me trace
}

@test "--by site has all calls" {
	run_apart "$SYSCULL" run --engine ptrace --no-keep --by site -- ./p
	[[ $errors == *"avoidable   most of it"* ]]
	[[ $errors == *"300        0"*"getgid 300"*"p ask+0x"* ]]
	"$SYSCULL" run --engine ptrace --no-keep --by site --format json=j -- ./p
	/usr/bin/python3 -c '
import json
report = json.load(open("j"))
site = [s for s in report["sites"] if s["frames"][s["caller"] or 0]["symbol"] == "ask"]
assert [(s["count"], s["most"], s["most_count"], s["failed"]) for s in site] == [(300, "getgid", 300, 0)], site
calls = sum(call["count"] for call in report["calls"])
assert sum(s["count"] for s in report["sites"]) + report["sites_unknown"] == calls, calls'
	run_apart "$SYSCULL" run --by place -- true
	[ "$status" -eq 125 ]
	[[ $errors == *"--by wants region"*"site"*"not 'place'"* ]]
}

@test "collapsed stacks, by calls and by what can be saved" {
	"$SYSCULL" run --engine ptrace --no-keep --format collapsed=c --format json=j -- ./p
	grep -q '^p;_start;.*;main;ask;getgid;getgid 300$' c
	# Every line is frames and a number, and the numbers are all calls.
	! grep -vE '^[^ ;]+(;.+)+ [0-9]+$' c
	/usr/bin/python3 -c '
import json
calls = sum(call["count"] for call in json.load(open("j"))["calls"])
assert sum(int(line.rsplit(" ", 1)[1]) for line in open("c")) == calls, calls'
	"$SYSCULL" run --engine ptrace --no-keep --weight saving --format collapsed=s -- ./p
	grep -qE '^p;_start;.*;main;ask;getgid;identity-call [1-9][0-9]+$' s
	[ "$(wc -l <s)" -eq 1 ]
	run_apart "$SYSCULL" run --weight time -- true
	[[ $errors == *"--weight wants calls or saving, not 'time'"* ]]
}

@test "suppressions name a function or a module that called" {
	printf '[suppress]\nrule = identity-call\nsite = p:ask\nreason = known\n' >s
	run_apart "$SYSCULL" run --engine ptrace --no-keep --suppressions s -- ./p
	[[ $errors == *"Hidden  1 finding in 299 calls"* ]]
	printf '[suppress]\nrule = identity-call\nsite = p:main\nreason = other\n' >s
	run_apart "$SYSCULL" run --engine ptrace --no-keep --floor 0%,0us --suppressions s -- ./p
	[[ $errors == *"299  p ask+0x"* ]]
}

@test "a budget counts the calls of one place, and does not pass where that is not known" {
	run_apart "$SYSCULL" check --engine ptrace --max 'getgid at site p:ask=3' --max 'getgid at site p:main=0' \
		--format json=j -- ./p
	[ "$status" -eq 121 ]
	[[ $errors == *"getgid at site p:ask: 300, at most 3"*"300  getgid; p ask+0x"*"--by site"* ]]
	/usr/bin/python3 -c '
import json
a, b = json.load(open("j"))["budgets"]
assert (a["verdict"], a["seen"], a["site"], b["verdict"], b["seen"]) == ("broken", 300, "p:ask", "not-exercised", 0), (a, b)
assert a["top"][0]["count"] == 300, a'
	run_apart "$SYSCULL" check --engine ptrace --max 'getgid at site p:a?k=300' --min 'identity-call at site p=299' -- ./p
	[ "$status" -eq 0 ]
	# What the loader does before the program is no call of it.
	run_apart "$SYSCULL" check --engine ptrace --max '@open at site p:*=0' --max '@open at site ld-*=9' -- ./p
	[ "$status" -eq 0 ]
	# Without names of functions nobody knows; of the file it is known.
	strip -o q p
	run_apart "$SYSCULL" check --engine ptrace --max 'getgid at site q:ask=3' -- ./q
	[ "$status" -eq 125 ]
	[[ $errors == *"cannot judge"*"where 300 of the calls come from"* ]]
	run_apart "$SYSCULL" check --engine ptrace --max 'getgid at site q:ask=300' --max 'getgid at site q=300' -- ./q
	[ "$status" -eq 0 ]
	run_apart "$SYSCULL" check --engine ptrace --stacks off --max 'getgid at site p:ask=3' -- ./p
	[ "$status" -eq 125 ]
	[[ $errors == *"leave --stacks off out"* ]]
	printf '[budget]\nmax = getgid at site p:ask=3\n' >.syscull.conf
	run_apart "$SYSCULL" check --engine ptrace -- ./p
	[ "$status" -eq 121 ]
}

@test "--redact hides the files of frames" {
	"$SYSCULL" run --engine ptrace --no-keep --redact paths --format json=j --format collapsed=c -- ./p
	! grep -qE 'p\.c|/p"' j
	! grep -qE '^p;' c
}

@test "a broken budget names who made the calls" {
	run_apart "$SYSCULL" check --engine ptrace --max getgid=3 --max identity-call=0 -- ./p
	[ "$status" -eq 121 ]
	[[ $errors == *"300  getgid; p ask+0x"*" (p.c:2)"* ]]
}

@test "a program in a subvolume, whose device the kernel's maps call another one, is known" {
	need mount unshare -m true
	command -v mkfs.btrfs >/dev/null || skip "no mkfs.btrfs"
	truncate -s 150M image
	mkfs.btrfs -q image
	mkdir top
	# The loop device and the mount go with the namespace.
	run_apart unshare -m sh -c 'mount -o loop image top && btrfs subvolume create top/sub >ignored &&
		cp p top/sub/p && sleep 0.1 && "$0" run --engine ptrace --no-keep --floor 0%,0us -- top/sub/p' "$SYSCULL"
	[[ $errors != *"mount: "* ]] || skip "$errors"
	[ "$status" -eq 0 ]
	[[ $errors == *"299  p ask+0x"*" (p.c:2)"* ]]
}
