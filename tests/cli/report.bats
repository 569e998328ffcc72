# SPDX-License-Identifier: BSD-2-Clause
# What the report says with which option, and that what it suggests works.
load helper

setup()
{
	cd "$BATS_TEST_TMPDIR" || return 1
	mkdir d1k
	(cd d1k && seq -f f%g 1000 | xargs touch)
}

# try_suggestions: runs what the report in `err` tells the reader to type.
try_suggestions()
{
	local line tried=0
	# Next has alternatives; `try now` stands alone.
	while read -r line; do
		[ -n "$line" ] || continue
		tried=$((tried + 1))
		[[ $line == "syscull "* ]] && line="\"\$SYSCULL\" ${line#syscull }"
		bash -c "$line" >suggested 2>&1 </dev/null || {
			echo "what the report suggests fails: $line" >&2
			cat suggested >&2
			return 1
		}
	done < <(sed -n 's/^Next  *//p' "$1" | tr '|' '\n'
		sed -n 's/^  *try now  *//p' "$1" | sed 's/  *[-+][0-9,]* calls.*//')
	[ "$tried" -gt 0 ]
}

@test "what a report says to type works: ls -l" {
	run_apart "$SYSCULL" run -- ls -l d1k
	expect "$status" 0
	[[ $errors == *xattr-probe* ]]
	try_suggestions err
}

@test "what a report says to type works: find -ls" {
	[ -r /etc/localtime ] || skip "no /etc/localtime"
	run_apart "$SYSCULL" run -- find d1k -ls
	[[ $errors == *localtime-stat*"try now"* ]]
	try_suggestions err
	# The cure cures.
	cure=$(sed -n 's/^  *try now  *//p' err)
	run_apart bash -c "${cure% find d1k -ls} \"\$SYSCULL\" run -q -- find d1k -ls"
	expect "$status$errors" 0
}

@test "what a report says to type works: names that need quotes" {
	mv d1k 'a b;$(c)'
	run_apart "$SYSCULL" run -- ls -l 'a b;$(c)'
	[[ $errors == *xattr-probe* ]]
	try_suggestions err
	run_apart "$SYSCULL" run -- find 'a b;$(c)' -ls
	[[ $errors == *localtime-stat* ]] || skip "no /etc/localtime"
	try_suggestions err
}

@test "-q says nothing about a clean run, all about another" {
	run_apart "$SYSCULL" run -q -- ls d1k
	expect "$status$errors" 0
	run_apart "$SYSCULL" run -q -o report -- true
	expect "$status$errors" 0
	run_apart "$SYSCULL" run -q -- ls -l d1k
	[[ $errors == *xattr-probe* ]]
}

@test "a clean report is short and says so" {
	run_apart "$SYSCULL" run -- true
	[ "$(wc -l <err)" -le 10 ]
	[[ $errors == *"none worth fixing"* ]]
	[[ $errors == *"closed: "* ]]
}

@test "-v names every call" {
	run_apart "$SYSCULL" run -v -- ls d1k
	[[ $errors != *" more "* ]]
	[[ $errors == *exit_group* ]]
	[[ $errors == *"Engine"* ]]
	run_apart "$SYSCULL" run -- ls d1k
	[[ $errors == *" more "* ]]
}

@test "colours: on a terminal, when asked, not with NO_COLOR" {
	escapes()
	{
		LC_ALL=C grep -c $'\e\\[' "$1" || true
	}
	"$SYSCULL" run -- true 2>err
	expect "$(escapes err)" 0
	"$SYSCULL" run --color=always -- true 2>err
	[ "$(escapes err)" -gt 0 ]
	"$SYSCULL" run --color=always -o report -- true
	[ "$(escapes report)" -gt 0 ]
	need script script -qec true /dev/null
	TERM=xterm script -qec "'$SYSCULL' run -- true" /dev/null >err </dev/null
	[ "$(escapes err)" -gt 0 ]
	NO_COLOR=1 TERM=xterm script -qec "'$SYSCULL' run -- true" /dev/null >err </dev/null
	expect "$(escapes err)" 0
	TERM=xterm script -qec "'$SYSCULL' run --color=never -- true" /dev/null >err </dev/null
	expect "$(escapes err)" 0
	TERM=xterm script -qec "'$SYSCULL' run -o report -- true" /dev/null >err </dev/null
	expect "$(escapes report)" 0
	NO_COLOR=1 "$SYSCULL" run --color=always -- true 2>err
	[ "$(escapes err)" -gt 0 ]
}

@test "ASCII where the locale is not UTF-8" {
	mkdir $'caf\303\251'
	LC_ALL=C "$SYSCULL" run -v -- ls $'caf\303\251' 2>err
	! LC_ALL=C grep -q $'[\200-\377]' err
	LC_ALL=C.UTF-8 "$SYSCULL" run -v -- ls $'caf\303\251' 2>err
	LC_ALL=C grep -q $'caf\303\251' err
}

@test "no line is wider than 80 columns" {
	for command in "ls -l d1k" "find d1k -ls" "sh -c true;:"; do
		# shellcheck disable=SC2086
		"$SYSCULL" run -v -- $command >/dev/null 2>err || true
		expect "$(awk 'length > 80' err)" ""
	done
}

@test "the command's end is told" {
	run_apart "$SYSCULL" run -- sh -c 'exit 3'
	[[ $errors == "sh -c 'exit 3': exit 3,"* ]]
	run_apart "$SYSCULL" run -- sh -c 'kill -TERM $$'
	expect "$status" 143
	[[ $errors == *"TERM"* ]]
}

@test "a foreign file name cannot steer the terminal" {
	mv d1k $'d\e[31m\e]0;x\a\n1k'
	run_apart "$SYSCULL" run -v -- ls -l $'d\e[31m\e]0;x\a\n1k'
	! LC_ALL=C grep -q $'\e' err
	[[ $errors == *xattr-probe* ]]
}
