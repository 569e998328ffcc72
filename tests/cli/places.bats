#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# What becomes of files that reports are written to.
load helper

@test "a report keeps the mode of the file that it replaces" {
	touch keep
	chmod 600 keep
	run_apart "$SYSCULL" run -o keep true
	[ "$status" -eq 0 ]
	[ "$(stat -c %a keep)" = 600 ]
	grep -q '^true: exit 0' keep
	umask 027
	run_apart "$SYSCULL" run -o fresh true
	[ "$(stat -c %a fresh)" = 640 ]
}

@test "two reports do not go to one file" {
	run_apart "$SYSCULL" run --format json=a --format text=a -- true
	[ "$status" -eq 125 ]
	[[ $errors == *"two reports would go to a"* ]]
	[ ! -e a ]
}

@test "a limit on the size of files is an error, not our death" {
	said=$( (ulimit -f 0; "$SYSCULL" run -o lim true; echo "status $?") 2>&1)
	[[ $said == *"File too large"* ]]
	[[ $said == *"status 125" ]]
	[ -z "$(ls -A | grep lim)" ]
}

@test "help and version that cannot be written are told" {
	for words in 'run --help' 'run --version' '--help' '--version' doctor rules; do
		status=0
		"$SYSCULL" $words >/dev/full 2>err || status=$?
		[ "$status" -eq 125 ]
		[ -s err ] || { echo "nothing said: $words"; return 1; }
	done
}

@test "an attached run says what it watched" {
	sleep 30 &
	pid=$!
	timeout -s INT 1 "$SYSCULL" run -o report -p $pid || true
	kill $pid
	head -1 report | grep -q "^attached to $pid (sleep): "
}
