# SPDX-License-Identifier: BSD-2-Clause
# -e, -P, --failed narrow what is looked at; --redact hides names.
load helper

setup()
{
	cd "$BATS_TEST_TMPDIR" || return 1
	mkdir secret
	for i in $(seq 100); do : >"secret/name$i"; done
}

# calls FILE: "name count failed" of each call.
calls()
{
	python3 - "$1" <<-'END'
		import json, sys
		for call in json.load(open(sys.argv[1]))["calls"]:
		    print(call["name"], call["count"], sum(call["errors"].values()))
	END
}

# get FILE EXPRESSION: of the report r.
get()
{
	python3 -c 'import json, sys; r = json.load(open(sys.argv[1])); print(eval(sys.argv[2]))' "$@"
}

ls_with()
{
	run_apart "$SYSCULL" run --format json=report "$@" -- ls -l secret
	expect "$status$errors" 0
}

fails_with()
{
	local text=$1
	shift
	run_apart "$@"
	expect "$status" 125
	expect "$output" ""
	expect "$(wc -l <err)" 1
	[[ $errors == "syscull: "*"$text"* ]] || expect "$errors" "syscull: ...$text..."
}

# lacks PATTERN FILE...: a bare "! grep" fails no test.
lacks()
{
	if grep -E "$@" >&2; then return 1; fi
}

@test "nothing left is said, and is no empty table" {
	run_apart "$SYSCULL" run -o report -e fsync -- true
	expect "$status$errors" 0
	expect "$(grep '^Calls' report)" "Calls   none of those that this report is narrowed to"
	expect "$(grep -c '^Books .*closed' report)" 1
}

@test "the books count everything, whatever is looked at" {
	ls_with
	seen=$(get report 'r["accounting"]["seen"]')
	while read -r said options; do
		# shellcheck disable=SC2086
		ls_with $options
		expect "$(get report 'r["accounting"]["seen"]')" "$seen"
		expect "$(get report 'r["accounting"]["complete"]')" True
		expect "$(get report 'len(r["selection"])')" "$said"
	done <<-'END'
		1 -e %file
		1 -e none
		1 --failed
		1 -P secret/name7
		3 -e @xattr --failed -P secret
	END
	ls_with -e none
	expect "$(calls report)" ""
	expect "$(get report 'r["findings"]')" "[]"
}

@test "names, classes, families, negation" {
	ls_with
	calls report | sort >all
	ls_with -e getxattr,close
	calls report | sort >part
	expect "$(cat part)" "$(grep -E '^(getxattr|close) ' all)"
	ls_with -e trace=@xattr
	calls report | sort >part
	expect "$(cat part)" "$(grep -E 'xattr' all)"
	ls_with -e '!@xattr'
	calls report | sort >part
	expect "$(cat part)" "$(grep -vE 'xattr' all)"
	ls_with -e '!getxattr' -e '!lgetxattr' -e @xattr -e close
	calls report | sort >part
	expect "$(cat part)" "$(grep -E '^(close|listxattr|llistxattr) ' all)"
}

@test "calls without a name, as the table prints them" {
	need python3 python3 -c 'import ctypes'
	cat >odd.py <<-'END'
		import ctypes
		libc = ctypes.CDLL(None)
		for number in 999, 999, 998, -5:
		    libc.syscall(ctypes.c_long(number))
	END
	run_apart "$SYSCULL" run --format json=report -e call_999 -- python3 odd.py
	expect "$status$errors" 0
	expect "$(calls report)" "call_999 2 2"
	run_apart "$SYSCULL" run --format json=report -e call_999,call_-5 -e '!call_999' -- python3 odd.py
	expect "$(calls report)" "call_-5 1 1"
	# A negative number is no call of another table.
	run_apart "$SYSCULL" run -v --color never -o text -- python3 odd.py
	grep -q 'call_-5 ' text
	! grep -qE '\bx32\b|32-bit' text
}

@test "failed ones only" {
	ls_with --failed
	calls report >part
	[ -s part ]
	while read -r _ count failed; do expect "$failed" "$count"; done <part
}

@test "a path, however it is written, and its descriptors" {
	run_apart "$SYSCULL" run --format json=report -P ./secret//name7 -- cat secret/name7 "$PWD/secret/name7" secret/name8
	expect "$status$errors" 0
	expect "$(get report '{c["name"]: c["count"] for c in r["calls"]}["openat"]')" 2
	expect "$(get report '{c["name"]: c["count"] for c in r["calls"]}["read"]')" 2
	ln -s name7 secret/link
	run_apart "$SYSCULL" run --format json=report -P secret/link -- cat secret/name7
	expect "$(get report '{c["name"]: c["count"] for c in r["calls"]}["openat"]')" 1
}

@test "findings and samples follow, and keep their price" {
	ls_with
	get report '[(f["rule"], f["calls"]) for f in r["findings"]]' >all
	grep -q xattr-probe all
	ls_with -e @xattr
	grep -q xattr-probe <(get report '[(f["rule"], f["calls"]) for f in r["findings"]]')
	expect "$(get report '[f["calls"] for f in r["findings"] if f["rule"] == "xattr-probe"]')" \
		"$(python3 -c 'print([c for n, c in eval(open("all").read()) if n == "xattr-probe"])')"
	ls_with -e '!@xattr'
	expect "$(get report '[f for f in r["findings"] if f["rule"] == "xattr-probe"]')" "[]"
	ls_with -e lgetxattr
	expect "$(get report '{s.split("(")[0] for f in r["findings"] for s in f["samples"]}')" "{'lgetxattr'}"
}

@test "the text says that it is narrowed" {
	run_apart "$SYSCULL" run -e %file --failed -- ls -l secret
	grep -q '^Note .*narrowed by -e %file, --failed$' err
}

@test "unknown names are told with the nearest" {
	fails_with "there is no call 'opnat'; did you mean 'openat'?" "$SYSCULL" run -e opnat -- echo ran
	fails_with "no class '%fil'; did you mean '%file'?" "$SYSCULL" run -e '%fil' -- echo ran
	fails_with "no family '@xatr'; did you mean '@xattr'?" "$SYSCULL" run -e close,@xatr -- echo ran
	fails_with "'!' negates a whole list" "$SYSCULL" run -e '%file,!stat' -- echo ran
	fails_with "'signal=' is not understood" "$SYSCULL" run -e signal=none -- echo ran
	fails_with "-P wants a path" "$SYSCULL" run -P '' -- echo ran
}

@test "redacted names are gone, in text and JSON" {
	run_apart "$SYSCULL" run --redact argv,paths -v --format text --format json=report -- ls -l secret
	expect "$status" 0
	[ -s err ]
	lacks 'secret|name[0-9]|/usr/|libc[.]so' err report
	run_apart "$SYSCULL" run --redact paths -v --format text --format json=report -- ls -l secret
	lacks 'secret|name[0-9]|/usr/|libc[.]so' err report
	grep -q '^_[0-9a-f]* -l _[0-9a-f]*: exit 0' err
	run_apart "$SYSCULL" run --redact paths -P secret/name7 -v --format text --format json=report -- ls -l secret
	lacks 'secret|name[0-9]' err report
}

@test "arguments only" {
	run_apart "$SYSCULL" run --redact argv --format json=report -- sh -c 'true secret-word; exec ls'
	lacks secret-word report
	expect "$(get report 'r["processes"][0]["exe"].split("/")[-1]')" ls
}

@test "users and their homes" {
	mkdir -p home/alice
	HOME=$PWD/home/alice USER=alice run_apart "$SYSCULL" run --redact users --format json=report -- \
		ls home/alice /home/bob/nonesuch alice
	lacks 'alice|bob' report
	grep -q nonesuch report
}

@test "hashes are the same in every report, and fingerprints stay" {
	ls_with
	get report 'sorted(f["fingerprint"] for f in r["findings"])' >plain
	for n in 1 2; do
		ls_with --redact argv,paths,users
		get report '[r["command"], sorted((f["fingerprint"], f["object"]["name"], f["exe"]) for f in r["findings"])]' >redacted$n
	done
	cmp redacted1 redacted2
	expect "$(get report 'sorted(f["fingerprint"] for f in r["findings"])')" "$(<plain)"
}

@test "what cannot be redacted is said" {
	fails_with "--redact wants a list of argv, paths and users, not 'name'" "$SYSCULL" run --redact argv,name -- echo ran
	fails_with "--redact wants" "$SYSCULL" run --redact '' -- echo ran
}

@test "-P leaves no finding on another path, and sums that fit" {
	# Two built-ins of dash: stat and lstat.
	cat >two <<-'END'
		i=0
		while [ $i -lt 300 ]; do [ -e secret/name1 ]; [ -L secret/name2 ]; i=$((i + 1)); done
	END
	"$SYSCULL" record -o t -- dash two
	for from in "report" "run --no-keep"; do
		operand=t
		[ "$from" = report ] || operand="-- dash two"
		# shellcheck disable=SC2086
		"$SYSCULL" $from -P secret/name1 --format json=report --format text=text $operand || true
		expect "$(get report '[(f["rule"], f["calls"]) for f in r["findings"]]')" "[('repeated-stat', 299)]"
		expect "$(grep -c 'name2' text)" 0
		expect "$(calls report | grep newfstatat)" "newfstatat 300 0"
		grep -q '^Waste .* in 299 calls' text
	done
	# A finding in a folder, of which only a part is looked at: told, and said to be whole.
	ls_with -P secret/name7
	expect "$(get report '[f["rule"] for f in r["findings"]]')" "['xattr-probe']"
	"$SYSCULL" run --no-keep -o text -P secret/name7 -- ls -l secret >/dev/null
	grep -q '^Note    findings and their sum are whole: they have calls, too, that the table' text
	"$SYSCULL" run --no-keep -o text -e @xattr -- ls -l secret >/dev/null
	expect "$(grep -c 'findings and their sum are whole' text)" 0
}
