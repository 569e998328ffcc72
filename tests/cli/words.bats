# SPDX-License-Identifier: BSD-2-Clause
# The first word: a subcommand, else a program; and what cannot be run.
load helper

# one_line STATUS TEXT COMMAND...: that status, and one clean line with TEXT.
one_line()
{
	local wanted=$1 text=$2
	shift 2
	run_apart "$@"
	expect "$status" "$wanted"
	expect "$output" ""
	expect "$(wc -l <err)" 1
	! LC_ALL=C grep -q '[[:cntrl:]]' err
	[[ $errors == "syscull: "*"$text"* ]] || expect "$errors" "syscull: ...$text..."
}

@test "run is the default" {
	for words in "run --" "run" "--" "" "-q" "-q --" "run -q --"; do
		# shellcheck disable=SC2086
		run_apart "$SYSCULL" $words sh -c 'echo hello; exit 3'
		expect "$words: $status $output" "$words: 3 hello"
	done
}

@test "a subcommand comes before a program of that name" {
	mkdir bin
	printf '#!/bin/sh\necho program\n' >bin/rules
	chmod +x bin/rules
	PATH=$PWD/bin:$PATH run_apart "$SYSCULL" rules
	[[ $output == *xattr-probe* ]]
	PATH=$PWD/bin:$PATH run_apart "$SYSCULL" -- rules
	expect "$output" program
}

@test "help goes to stdout" {
	for words in --help -h help "run --help" "rules -h" "explain --help" "doctor --help"; do
		# shellcheck disable=SC2086
		run_apart "$SYSCULL" $words
		expect "$words: $status$errors" "$words: 0"
		[[ $output == "usage: syscull"* ]]
	done
	"$SYSCULL" --help >help
	for name in run rules explain doctor; do
		grep -q "^  $name  *[a-z]" help
	done
}

@test "no word at all is an error, told on stderr" {
	run_apart "$SYSCULL"
	expect "$status$output" 125
	[[ $errors == "usage: syscull"* ]]
}

@test "version" {
	for word in --version -V; do
		run_apart "$SYSCULL" $word
		expect "$status$errors" 0
		[[ $output =~ ^syscull\ [0-9]+\.[0-9]+\.[0-9]+$ ]]
	done
}

@test "stdout that cannot be written is an error" {
	need full test -c /dev/full
	for words in --help --version "run --help" rules "explain xattr-probe" doctor; do
		status=0
		# shellcheck disable=SC2086
		"$SYSCULL" $words >/dev/full 2>err || status=$?
		expect "$words: $status" "$words: 125"
	done
}

@test "an unknown word is 127 and names the nearest subcommand" {
	one_line 127 "did you mean 'run'?" "$SYSCULL" runn
	one_line 127 "did you mean 'rules'?" "$SYSCULL" rulez
	one_line 127 "did you mean 'explain'?" "$SYSCULL" explian
	one_line 127 "no-such-program: command not found" "$SYSCULL" no-such-program
	one_line 127 "command not found" "$SYSCULL" run -- runn
}

@test "a program with a subcommand's name is run with run" {
	mkdir bin
	printf '#!/bin/sh\necho program\n' >bin/show
	chmod +x bin/show
	PATH=$PWD/bin:$PATH run_apart "$SYSCULL" run -q -- show x
	expect "$status $output" "0 program"
}

@test "what is missing is 127" {
	one_line 127 "./missing: No such file or directory" "$SYSCULL" run -- ./missing
	one_line 127 "/nowhere/missing" "$SYSCULL" run -- /nowhere/missing
	one_line 127 "name of the command is empty" "$SYSCULL" run -- ''
	one_line 127 "not found" env PATH= "$SYSCULL" run -- ls
	: >file
	one_line 127 "file/x" "$SYSCULL" run -- ./file/x
	ln -s loop loop
	run_apart "$SYSCULL" run -- ./loop
	[ "$status" -eq 126 ] || [ "$status" -eq 127 ]
}

@test "what cannot be executed is 126" {
	mkdir folder
	: >plain
	one_line 126 "folder: Is a directory" "$SYSCULL" run -- ./folder
	one_line 126 "plain: Permission denied" "$SYSCULL" run -- ./plain
	one_line 126 "Permission denied" "$SYSCULL" ./plain
	PATH=$PWD:$PATH one_line 126 "plain: Permission denied" "$SYSCULL" run -- plain
	printf '#!/nowhere/interpreter\n' >script
	printf '\177ELF' >broken
	chmod +x script broken
	run_apart ./script
	one_line "$status" "./script: its interpreter /nowhere/interpreter is missing" "$SYSCULL" run -- ./script
	run_apart env ./broken
	theirs=$status
	run_apart "$SYSCULL" run -q -- ./broken
	expect "$status" "$theirs"
}

@test "an interpreter or loader that is missing is named" {
	mkdir folder
	printf '#! ./second -x\n' >first
	printf '#!/nowhere/interpreter -y\n' >second
	printf '#!/bin/sh\r\necho ran\r\n' >foreign
	printf '#!./folder\n' >odd
	chmod +x first second foreign odd
	one_line 127 "./first: its interpreter /nowhere/interpreter is missing" "$SYSCULL" run -- ./first
	one_line 127 "./foreign: its interpreter /bin/sh? is missing; the line" "$SYSCULL" run -- ./foreign
	one_line 126 "./odd: " "$SYSCULL" run -- ./odd
	need python3 python3 -c ''
	python3 - "$(command -v ls)" <<-'END'
		import sys
		text = open(sys.argv[1], "rb").read()
		at = text.index(b"/ld-linux")
		at = text.rindex(b"/lib", 0, at)
		open("program", "wb").write(text[:at] + b"/nil" + text[at + 4:])
	END
	chmod +x program
	one_line 127 "./program: its loader /nil" "$SYSCULL" run -- ./program
}

@test "PATH goes on after what cannot be executed" {
	mkdir one two
	: >one/tool
	printf '#!/bin/sh\necho two\n' >two/tool
	chmod +x two/tool
	PATH=$PWD/one:$PWD/two:$PATH run_apart "$SYSCULL" run -q -- tool
	expect "$status $output" "0 two"
	cd two
	PATH=:/usr/bin:/bin run_apart "$SYSCULL" run -q -- tool
	expect "$output" two
}

@test "names with escape sequences make one clean line" {
	one_line 127 "No such file or directory" "$SYSCULL" run -- $'./\e[31mred\e]0;title\a\n\tx'
	one_line 127 "not found" "$SYSCULL" $'\e[31mred\nline'
	one_line 127 "No such file or directory" "$SYSCULL" run -- $'./\xff\xfe\xc2\x9b31m'
	one_line 127 "File name too long" "$SYSCULL" run -- "./$(printf '%0300d' 0)"
	printf -v long '%05000d' 0
	one_line 127 "00: File name too long" "$SYSCULL" run -- "./$long"
	one_line 127 "00: command not found" "$SYSCULL" "$long"
	[[ $errors == "syscull: 000"*"..."* ]]
	printf '#!/bin/sh\necho ran\n' >$'bad\e[31m\nname'
	chmod +x $'bad\e[31m\nname'
	run_apart "$SYSCULL" run -v -- $'./bad\e[31m\nname'
	expect "$status $output" "0 ran"
	! LC_ALL=C grep -q $'\e' err
	[[ $errors == *'bad\033[31m\nname'* ]]
}

@test "the status is the command's own" {
	for code in 0 1 2 77 121 124 125 126 127 128 255; do
		run_apart "$SYSCULL" run -q -- sh -c "exit $code"
		expect "$status" "$code"
	done
}
