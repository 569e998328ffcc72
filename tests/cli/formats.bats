# SPDX-License-Identifier: BSD-2-Clause
# --format: several at once, names of files, descriptors, pipes, full disks.
load helper

# fails_with TEXT COMMAND...: status 125, TEXT in one line on stderr, the
# command did not run.
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

# is_json FILE: and it is a report.
is_json()
{
	python3 -c 'import json, sys; assert json.load(open(sys.argv[1]))["schema"] == 1' "$1"
}

@test "json goes to a file, and nothing to stderr" {
	run_apart "$SYSCULL" run --format json=report -- echo hello
	expect "$status" 0
	expect "$output" hello
	expect "$errors" ""
	is_json report
}

@test "one format without a file goes where -o says" {
	run_apart "$SYSCULL" run -o report --format json -- true
	expect "$status$errors" 0
	is_json report
	run_apart "$SYSCULL" run --format text -- true
	[[ $errors == "true: exit 0"* ]]
}

@test "several formats at once" {
	run_apart "$SYSCULL" run --format text --format json=a --format json=b --format text=c -- sh -c 'exit 3'
	expect "$status" 3
	[[ $errors == "sh -c 'exit 3': exit 3"* ]]
	is_json a
	is_json b
	[[ $(<c) == "sh -c 'exit 3': exit 3"* ]]
	run_apart "$SYSCULL" run --format json=a --format text -o c -- true
	expect "$errors" ""
	[[ $(<c) == "true: exit 0"* ]]
}

@test "%p, %n, %h and %% in names" {
	run_apart "$SYSCULL" run --format 'json=%n-%%-%h.json' -- /bin/true
	expect "$status$errors" 0
	is_json "true-%-$(uname -n).json"
	for _ in 1 2; do
		run_apart "$SYSCULL" run --format 'json=by-%p' -- true
		expect "$status$errors" 0
	done
	names=(by-[0-9]*)
	expect "${#names[@]}" 2
	fails_with "after '%' comes" "$SYSCULL" run --format 'json=%x' -- echo ran
	fails_with "after '%' comes" "$SYSCULL" run --format 'json=x%' -- echo ran
}

@test "a descriptor, and the command does not have it" {
	run_apart "$SYSCULL" run --format json=fd:7 -- sh -c '[ ! -e /proc/self/fd/7 ]' 7>report
	expect "$status$errors" 0
	is_json report
	echo first >report
	run_apart "$SYSCULL" run -o fd:7 -- true 7>>report
	expect "$(head -n 1 report)" first
	grep -q '^Books' report
	fails_with "descriptor 9 is not open" "$SYSCULL" run --format json=fd:9 -- echo ran 9>&-
	fails_with "for reading only" "$SYSCULL" run --format json=fd:9 -- echo ran 9</dev/null
	fails_with "the number of an open descriptor" "$SYSCULL" run --format json=fd:x -- echo ran
	fails_with "the number of an open descriptor" "$SYSCULL" run --format json=fd:-1 -- echo ran
}

@test "stderr as a descriptor stays the command's too" {
	run_apart "$SYSCULL" run --format json=fd:2 -- sh -c 'echo mine >&2'
	expect "$status" 0
	expect "$(head -n 1 err)" mine
	tail -n +2 err >report
	is_json report
}

@test "pipes and devices are written to as they are" {
	mkfifo pipe
	cat pipe >report &
	run_apart "$SYSCULL" run --format json=pipe -- true
	wait
	expect "$status$errors" 0
	is_json report
	[ -p pipe ]
	run_apart "$SYSCULL" run --format json=/dev/null -- true
	expect "$status$errors" 0
	[ -c /dev/null ]
}

@test "a full disk is one line, and 125 unless the command failed" {
	fails_with "/dev/full: No space left on device" "$SYSCULL" run --format json=/dev/full -- true
	run_apart "$SYSCULL" run --format json=/dev/full -- sh -c 'exit 3'
	expect "$status" 3
	expect "$(wc -l <err)" 1
	run_apart "$SYSCULL" run --format json=/dev/full --format json=report -- true
	expect "$status" 125
	is_json report
}

@test "a pipe that nobody reads is one line" {
	status=0
	"$SYSCULL" run --format json=fd:7 -- sleep 0.2 7> >(:) 2>err || status=$?
	expect "$status" 125
	expect "$(wc -l <err)" 1
	grep -q 'Broken pipe' err
}

@test "what cannot be is said before the command starts" {
	fails_with "did you mean 'json'" "$SYSCULL" run --format jsn -- echo ran
	fails_with "there are text, json" "$SYSCULL" run --format nonesuch -- echo ran
	fails_with "needs a file here: --format json=FILE" "$SYSCULL" run --format json -- echo ran
	fails_with "needs a file here" "$SYSCULL" run -o - --format json -- echo ran
	fails_with "the name of a file is missing" "$SYSCULL" run --format json= -- echo ran
	fails_with "same place" "$SYSCULL" run --format json --format text -o x -- echo ran
	fails_with "has a file already" "$SYSCULL" run --format json=y -o x -- echo ran
	fails_with "No such file or directory" "$SYSCULL" run --format json=no/such/folder -- echo ran
	# shellcheck disable=SC2046
	fails_with "at most" "$SYSCULL" run $(printf -- '--format json=/dev/null %.0s' $(seq 20)) -- echo ran
	expect "$(ls)" $'err\nout'
}

@test "no file is left when another cannot be opened" {
	fails_with "No such file" "$SYSCULL" run --format json=report --format text=no/such -- echo ran
	expect "$(ls)" $'err\nout'
}
