# SPDX-License-Identifier: BSD-2-Clause
# rules, explain, doctor.
load helper

@test "rules lists what explain explains" {
	run_apart "$SYSCULL" rules
	expect "$status$errors" 0
	mapfile -t ids < <(cut -d ' ' -f 1 out)
	[ "${#ids[@]}" -ge 2 ]
	for id in "${ids[@]}"; do
		run_apart "$SYSCULL" explain "$id"
		expect "$status$errors" 0
		[[ $output == *"$id"* ]]
		[ "$(wc -l <out)" -ge 10 ]
		# Tables, code and addresses are as they are.
		expect "$(grep -vE '^\||^    |^ *(- )?https?://' out | awk 'length > 80' | grep -c ' ')" 0
	done
}

@test "every rule has its page in docs" {
	for id in $("$SYSCULL" rules | cut -d ' ' -f 1); do
		[ -f "$SYSCULL_TOP/docs/rules/$id.md" ]
	done
	expect "$(cd "$SYSCULL_TOP/docs/rules" && ls | grep -v README | sed -n 's/\.md$//p' | sort)" \
		"$("$SYSCULL" rules | cut -d ' ' -f 1 | sort)"
}

@test "mistakes are told in one line" {
	local text
	while IFS='|' read -r words text; do
		# shellcheck disable=SC2086
		run_apart "$SYSCULL" $words
		expect "$words: $status$output" "$words: 125"
		expect "$(wc -l <err)" 1
		[[ $errors == *"$text"* ]] || expect "$errors" "...$text..."
	done <<-'END'
		rules xattr-probe|syscull explain xattr-probe
		explain|wants one rule
		explain a b|wants one rule
		explain xattr|did you mean 'xattr-probe'?
		explain localtime|did you mean
		explain nope|no rule is called 'nope'; 'syscull rules' lists them
		explain fd-sweeep|did you mean 'fd-sweep'?
		explain nothing-like-it-at-all|'syscull rules' lists them
		doctor now|takes no operand
		rules --all|unknown option --all
		doctor -x|unknown option -x
	END
	run_apart "$SYSCULL" explain $'\e[31mx'
	expect "$status" 125
	! LC_ALL=C grep -q $'\e' err
}

@test "doctor says whether tracing works" {
	run_apart "$SYSCULL" doctor
	expect "$errors" ""
	[[ $output == *"system    Linux"* ]]
	[[ $output == *ptrace* ]]
	if "$SYSCULL" run -q -- true; then
		expect "$status" 0
		[[ $output == *"ptrace    ok"* ]]
	fi
}

@test "doctor tells of another tracer" {
	# A tree that another tracer holds cannot be traced again.
	need strace strace -f -o /dev/null true
	status=0
	strace -f -o trace "$SYSCULL" doctor >out 2>err || status=$?
	# The bpf engine does not mind.
	grep -q '^bpf *ok' out || expect "$status" 1
	grep -q 'NOT USABLE: another tracer, process [0-9]*, holds this tree' out
	status=0
	strace -f -o trace "$SYSCULL" run --engine ptrace -- true >out 2>err || status=$?
	expect "$status" 125
	grep -q 'another tracer.*end the other.*syscull doctor' err
	expect "$(wc -l <err)" 1
}

@test "doctor fits into 80 columns and leaves no child behind" {
	run_apart "$SYSCULL" doctor
	expect "$(awk 'length > 80' out)" ""
	for name in system ptrace memory pinning prices files; do
		grep -q "^$name  " out
	done
	setsid bash -c 'echo $$ >session; exec "$SYSCULL" doctor' >out
	for _ in $(seq 100); do
		left=$(pgrep -s "$(<session)") || break
		sleep 0.1
	done
	expect "$left" ""
}
