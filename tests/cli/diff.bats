#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# syscull diff: before and after.
load helper

make_files()
{
	mkdir d
	for i in $(seq 200); do : >"d/$i"; done
}

run_json()
{
	"$SYSCULL" run --no-keep --engine ptrace -q --format json="$1" -- "${@:2}" >/dev/null
}

@test "what is gone, new and the same" {
	need ptrace "$SYSCULL" run -q -- true
	make_files
	run_json a.json ls -l d
	run_json b.json ls d
	run_apart "$SYSCULL" diff a.json b.json
	[ "$status" -eq 1 ]
	grep -Eq '^lgetxattr +201 +0 +-201' out
	grep -q '^gone .*xattr-probe: 402 to 0 calls' out
	[ "$(awk 'length > 80' out | wc -l)" -eq 0 ]
	run_apart "$SYSCULL" diff b.json a.json
	[ "$status" -eq 1 ]
	grep -q '^new .*xattr-probe: 0 to 402 calls' out
	run_json c.json ls -l d
	run_apart "$SYSCULL" diff a.json c.json
	[ "$status" -eq 0 ]
	grep -q 'the same numbers of each' out
	grep -q '^same .*1 finding' out
}

@test "grown and shrunk, whatever the names of temporary folders" {
	need ptrace "$SYSCULL" run -q -- true
	make_files
	run_json a.json ls -l d
	: >d/one-more
	run_json b.json ls -l d
	run_apart "$SYSCULL" diff a.json b.json
	[ "$status" -eq 1 ]
	grep -q '^grown .*xattr-probe: 402 to 404 calls' out
	run_apart "$SYSCULL" diff b.json a.json
	grep -q '^shrunk .*xattr-probe: 404 to 402 calls' out
}

@test "logs of strace, traces and reports can be mixed" {
	need ptrace "$SYSCULL" run -q -- true
	need strace strace -o /dev/null true
	make_files
	strace -f -o log ls -l d >/dev/null
	"$SYSCULL" record -o trace -- ls -l d >/dev/null
	run_json a.json ls -l d
	for pair in "log trace" "trace a.json" "a.json log"; do
		run_apart "$SYSCULL" diff $pair
		grep -q 'the same numbers of each' out
		# A log has no mounts: what the others say of them is no difference.
		grep -q '^same .*1 finding$' out
		expect "$status$(grep -Ec '^(gone|new|grown|shrunk)' out)" 00
	done
}

@test "a shell's loop is the same in a log, whatever the shell is called there" {
	need ptrace "$SYSCULL" run -q -- true
	need strace strace -o /dev/null true
	# As sh is a link to dash.
	cp "$(readlink -f "$(command -v dash)")" dash
	ln -s dash sh
	echo 'for i in 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0; do x=$(basename /a/$i); dirname /a/$i >/dev/null; done' >script
	strace -f -o log "$PWD/sh" script
	"$SYSCULL" record -o trace -- "$PWD/sh" script
	run_apart "$SYSCULL" diff -v trace log
	grep -q '^same .*trivial-process' out
	expect "$(grep -E '^(gone|new|grown|shrunk) ' out)" ""
}

@test "what a log cannot tell is neither gone nor new" {
	need ptrace "$SYSCULL" run -q -- true
	need strace strace -o /dev/null true
	make_files
	strace -f -o log ls -l d >/dev/null
	run_json a.json ls -l d
	# As if the rule were one that needs the mounts.
	sed -i 's/"rule": "xattr-probe"/"rule": "repeated-stat"/; s/"fingerprint": ".../"fingerprint": "000/' a.json
	run_apart "$SYSCULL" diff a.json log
	grep -q '^unjudged repeated-stat: 402 calls before, not judged after' out
	grep -q '^new .*xattr-probe: 0 to 402 calls' out
	run_apart "$SYSCULL" diff log a.json
	grep -q '^unjudged repeated-stat: 402 calls after, not judged before' out
	"$SYSCULL" diff --format json log a.json >out || true
	grep -q '"not-judged"' out
}

@test "what is not the same beside is told" {
	need ptrace "$SYSCULL" run -q -- true
	run_json a.json true
	LC_ALL=C TZ=UTC0 run_json b.json true
	run_apart "$SYSCULL" diff a.json b.json
	grep -q 'locale C.UTF-8 before, C after' out
	grep -q 'TZ unset before, UTC0 after' out
}

@test "Markdown is a table without foreign markup" {
	need ptrace "$SYSCULL" run -q -- true
	make_files
	run_json a.json ls -l d
	run_json b.json ls d
	"$SYSCULL" diff --format markdown a.json b.json >out || true
	grep -q '^| lgetxattr | 201 | 0 | -100 % |' out
	grep -q '^- gone: xattr-probe, 402 to 0 calls' out
}

@test "bad input is one line and 2" {
	printf '{"schema": 1' >torn.json
	printf '{"schema": 9, "kind": "run", "tool": {"name": "syscull"}}' >new.json
	printf 'prose\nand more\n' >prose
	printf '%% time     seconds  usecs/call     calls    errors\n' >table
	for file in torn.json new.json prose table missing /; do
		run_apart "$SYSCULL" diff "$file" "$file"
		[ "$status" -eq 2 ]
		expect "$(wc -l <err)" 1
		[ ! -s out ]
	done
	run_apart "$SYSCULL" diff a b c
	[ "$status" -eq 2 ]
}
