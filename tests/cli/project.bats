# SPDX-License-Identifier: BSD-2-Clause
# .syscull.conf, --config, --suppressions and --gen-suppressions, in run, check
# and explain.
load helper

# A command whose waste is the same everywhere: closes of what is not open.
sweep()
{
	cat >sweep.py <<-'END'
		import os
		for fd in range(100, 200):
		    try:
		        os.close(fd)
		    except OSError:
		        pass
	END
	sweep=(/usr/bin/python3 -S -E sweep.py)
	"${sweep[@]}" || skip "no python3"
}

# What a report has under a name: json FILE EXPRESSION.
json()
{
	/usr/bin/python3 -c 'import json, sys; r = json.load(open(sys.argv[1])); print(eval(sys.argv[2]))' "$@"
}

# count of findings of fd-sweep.
sweeps()
{
	json report.json 'sum(f["rule"] == "fd-sweep" for f in r["findings"])'
}

@test "limits of rules are those of the file" {
	sweep
	"$SYSCULL" run --format json=report.json -- "${sweep[@]}"
	expect "$(sweeps)" 1
	printf '[rule fd-sweep]\ncalls = 101\n' >.syscull.conf
	"$SYSCULL" run --format json=report.json -- "${sweep[@]}"
	expect "$(sweeps)" 0
	expect "$(json report.json 'r["warnings"]')" "['.syscull.conf sets limits of fd-sweep']"
	"$SYSCULL" run -- "${sweep[@]}" 2>err
	grep -q '^Note    .syscull.conf sets limits of fd-sweep$' err
	printf '[rule fd-sweep]\ncalls = 100\n' >other.conf
	"$SYSCULL" run --config other.conf --format json=report.json -- "${sweep[@]}"
	expect "$(sweeps)" 1
}

@test "explain prints what the file sets beside the default" {
	printf '[rule fd-sweep]\ncalls = 256\nfloor = 5%%,1ms\n' >.syscull.conf
	run_apart "$SYSCULL" explain fd-sweep
	expect "$status$errors" 0
	expect "$(grep -A 5 '^## Set here, in .syscull.conf$' out | tail -n 2)" "$(printf '%s\n' \
		'| `calls` | 256 | 64 |' '| `floor` | 5 % and 1.00 ms, or 100 ms | that of the run |')"
	run_apart "$SYSCULL" explain xattr-probe
	! grep -q 'Set here' out
	run_apart "$SYSCULL" explain --config nope.conf fd-sweep
	expect "$status$output" 125
	grep -q '^syscull: nope.conf: No such file' err
}

@test "suppressed findings are counted and listed, and are in no sum" {
	sweep
	cat >.syscull.conf <<-'END'
		[suppress]
		rule = fd-sweep
		exe = python3*
		reason = closes a hundred numbers, \e[31mnot more
		[suppress]
		rule = brk-churn
		reason = none here
	END
	"$SYSCULL" run --format json=report.json -- "${sweep[@]}" 2>err
	expect "$(sweeps)" 0
	expect "$(json report.json '[(s["rule"], s["used"], s["findings"], s["calls"], s["line"], len(s["fingerprints"])) for s in r["suppressed"]]')" \
		"[('fd-sweep', True, 1, 100, 1, 1), ('brk-churn', False, 0, 0, 5, 0)]"
	"$SYSCULL" run -- "${sweep[@]}" 2>err
	grep -q '^Hidden  1 finding in 100 calls, by 1 of 2 suppressions$' err
	grep -q '^        100 calls by .syscull.conf:1 (fd-sweep): closes a hundred' err
	grep -q '^        unused: .syscull.conf:5 (brk-churn): none here$' err
	! grep -q '^1\. *fd-sweep' err
	! LC_ALL=C grep -q $'\e' err
	expect "$(awk 'length > 80' err)" ""
	# No budget on the rule counts them; one on the calls does.
	run_apart "$SYSCULL" check --max fd-sweep=0 --canary close -- "${sweep[@]}"
	expect "$status$errors" 0
	run_apart "$SYSCULL" check --max close:EBADF=0 -- "${sweep[@]}"
	expect "$status" 121
}

@test "files of suppressions add up, and have nothing else" {
	sweep
	printf '[suppress]\nrule = fd-sweep\nexe = nobody\nreason = a\n' >one
	printf '[suppress]\nrule = fd-sweep\nexe = */python3*\nreason = b\n' >two
	"$SYSCULL" run --suppressions one --suppressions two --format json=report.json -- "${sweep[@]}"
	expect "$(json report.json '[(s["file"], s["used"]) for s in r["suppressed"]]')" "[('one', False), ('two', True)]"
	printf '[budget]\nmax = close=0\n' >two
	run_apart "$SYSCULL" run --suppressions two -- "${sweep[@]}"
	expect "$status" 125
	expect "$errors" "syscull: two:1: only [suppress] can stand here, not [budget]"
	run_apart "$SYSCULL" check --max close=1000 --suppressions two -- "${sweep[@]}"
	expect "$status" 125
	expect "$errors" "syscull: cannot judge: two:1: only [suppress] can stand here, not [budget]"
}

@test "a suppression is made for each finding and takes it" {
	sweep
	"$SYSCULL" run -q --gen-suppressions -o /dev/null -- "${sweep[@]}" 2>made
	expect "$(head -n 2 made)" "$(printf '[suppress]\nrule = fd-sweep')"
	expect "$(grep -c '^reason = ' made)" 1
	"$SYSCULL" run --suppressions made --format json=report.json -- "${sweep[@]}"
	expect "$(json report.json '[s["used"] for s in r["suppressed"]]')" '[True]'
	expect "$(sweeps)" 0
	# Nothing is left to be made.
	"$SYSCULL" run -q --suppressions made --gen-suppressions -o /dev/null -- "${sweep[@]}" 2>left
	expect "$(cat left)" ""
	run_apart "$SYSCULL" check --max fd-sweep=0 --gen-suppressions -- "${sweep[@]}"
	expect "$status" 121
	grep -q '^\[suppress\]$' err
}

@test "budgets of the file, and the command line before them" {
	printf '[budget]\nmax = @xattr=0\nmin = read=1\ncanary = @open>=1\n' >.syscull.conf
	run_apart "$SYSCULL" check -- cat /dev/null
	expect "$status$errors" 0
	printf '[budget]\nmax = openat=0\n' >.syscull.conf
	run_apart "$SYSCULL" check -- cat /dev/null
	expect "$status" 121
	grep -q '^syscull: check failed: openat' err
	run_apart "$SYSCULL" check --max openat=1000 -- cat /dev/null
	expect "$status$errors" 0
	printf '[budget]\nmax = @xattr=0\nstrict = yes\n' >.syscull.conf
	run_apart "$SYSCULL" check -- true
	expect "$status" 125
}

@test "a file that cannot be used is never passed by" {
	local text
	while IFS='|' read -r text says; do
		printf '%b' "$text" >.syscull.conf
		run_apart "$SYSCULL" check --max @xattr=5 --canary @stat=0 -- sh -c 'echo ran'
		expect "$text: $status $output" "$text: 125 ran"
		tr -s '\n ' ' ' <err | grep -qF "syscull: cannot judge: .syscull.conf$says" || expect "$errors" "...$says..."
		run_apart "$SYSCULL" check --max @xattr=5 --cannot-judge-exit 77 -- true
		expect "$status" 77
	done <<-'END'
		[budget]\nmax = opennat=3\n|:2: there is no call 'opennat'
		[budget]\n\nmax = open\n|:3: 
		[budget]\nmax = fd-sweeep=0\n|:2: 
		[budget]\nmaxx = open=3\n|:2: the key 'maxx' is not known; did you mean 'max'?
		[budget]\nstrict = maybe\n|:2: strict wants yes or no, not 'maybe'
		[bugdet]\n|:1: the section 'bugdet' is not known; did you mean 'budget'?
		[rule xattr-prob]\n|:1: no rule is called 'xattr-prob'; did you mean 'xattr-probe'?
		[rule xattr-probe]\ncalls = many\n|:2: 'many' is no count
		[suppress]\nrule = fd-sweep\n|:2: the suppression gives no reason
		what is this\n|:1: neither KEY = VALUE, nor a [section], nor a comment
	END
	# The command's own failure comes first.
	run_apart "$SYSCULL" check --max @xattr=5 -- sh -c 'exit 3'
	expect "$status" 3
	rm .syscull.conf
	mkdir .syscull.conf
	run_apart "$SYSCULL" check --max @xattr=5 -- true
	expect "$status" 125
	rmdir .syscull.conf
	mkfifo .syscull.conf
	run_apart timeout -s KILL 20 "$SYSCULL" check --max @xattr=5 -- true
	expect "$status" 125
	rm .syscull.conf
	run_apart "$SYSCULL" check --config nope --max @xattr=5 -- true
	expect "$status" 125
	grep -q 'cannot judge: nope: No such file' err
}

@test "elsewhere it is one line, unless it was named" {
	printf '[budget]\nrun = rm -rf /\n' >.syscull.conf
	run_apart "$SYSCULL" run -q -- sh -c 'echo ran'
	expect "$status $output" "0 ran"
	expect "$errors" "syscull: not used: .syscull.conf:2: the key 'run' is not known"
	run_apart "$SYSCULL" explain fd-sweep
	expect "$status" 0
	expect "$(wc -l <err)" 1
	run_apart "$SYSCULL" run --config .syscull.conf -- sh -c 'echo ran'
	expect "$status$output" 125
	expect "$errors" "syscull: .syscull.conf:2: the key 'run' is not known"
	# Who does not judge need not know the calls.
	printf '[budget]\nmax = call_of_tomorrow=1\n' >.syscull.conf
	run_apart "$SYSCULL" run -q -- true
	expect "$status$errors" 0
}
