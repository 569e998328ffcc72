# SPDX-License-Identifier: BSD-2-Clause
# Where the report goes, and what happens when it cannot be written.
load helper

unprivileged()
{
	[ "$(id -u)" -ne 0 ] || need setpriv setpriv --reuid=65534 --regid=65534 --clear-groups true
}

# As somebody to whom permissions matter.
as_nobody()
{
	if [ "$(id -u)" -eq 0 ]; then
		setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
	else
		"$@"
	fi
}

@test "the report never goes to stdout" {
	run_apart "$SYSCULL" run -v -- echo hello
	expect "$output" hello
	[[ $errors == "echo hello: exit 0"* ]]
	run_apart "$SYSCULL" run -o report -- sh -c 'echo out; echo err >&2'
	expect "$output" out
	expect "$errors" err
	grep -q '^Books  *closed' report
}

@test "- is stderr" {
	run_apart "$SYSCULL" run -o - -- true
	[[ $errors == "true: exit 0"* ]]
	[ ! -e - ]
}

@test "the mode of a new file follows the umask" {
	for mask in 022 077 000 137; do
		rm -f report
		(umask $mask && "$SYSCULL" run -o report -- true)
		expect "$mask $(stat -c %a report)" "$mask $(printf %o $((0666 & ~0$mask)))"
	done
}

@test "a file is renamed into place, whole" {
	echo old >report
	ln report other
	run_apart "$SYSCULL" run -o report -- cat report
	expect "$output" old
	grep -q '^Books' report
	expect "$(cat other)" old
	expect "$(ls)" $'err\nother\nout\nreport'
}

@test "no file is left when the command cannot be run" {
	run_apart "$SYSCULL" run -o report -- ./missing
	expect "$status" 127
	[ ! -e report ]
	echo old >report
	run_apart "$SYSCULL" run -o report -- ./missing
	expect "$(cat report)" old
	expect "$(ls)" $'err\nout\nreport'
}

@test "a link stays one, and its target is replaced" {
	mkdir folder
	echo old >folder/real
	ln -s folder/real link
	ln -s "$PWD/link" absolute
	"$SYSCULL" run -o absolute -- true
	[ -L absolute ] && [ -L link ] && [ ! -L folder/real ]
	grep -q '^Books' folder/real
	ln -s folder/new dangling
	"$SYSCULL" run -o dangling -- true
	[ -L dangling ]
	grep -q '^Books' folder/new
	ln -s loop loop
	run_apart "$SYSCULL" run -o loop -- echo ran
	expect "$status$output" 125
	expect "$(ls folder)" $'new\nreal'
}

@test "an open file by its name in /proc is appended to, never replaced" {
	# A copy of /dev/stdout: should this fail, the machine's own must survive.
	ln -s /proc/self/fd/1 stdout
	run_apart "$SYSCULL" run -o stdout -- echo hello
	[ -L stdout ]
	[[ $output == hello*Books* ]]
	echo before >kept
	"$SYSCULL" run -o /proc/self/fd/7 -- true 7>>kept
	expect "$(head -n 1 kept)" before
	grep -q '^Books' kept
}

@test "pipes and devices are written to as they are" {
	"$SYSCULL" run -o /dev/null -- true
	[ -c /dev/null ]
	mkfifo pipe
	cat pipe >copy &
	"$SYSCULL" run -o pipe -- true
	wait
	[ -p pipe ]
	grep -q '^Books' copy
}

@test "a report that cannot be written is 125 only when the command succeeded" {
	need full test -c /dev/full
	run_apart "$SYSCULL" run -o /dev/full -- true
	expect "$status" 125
	expect "$(wc -l <err)" 1
	[[ $errors == "syscull: "*"/dev/full: "* ]]
	run_apart "$SYSCULL" run -o /dev/full -- sh -c 'exit 3'
	expect "$status" 3
	expect "$(wc -l <err)" 1
	run_apart "$SYSCULL" run -o /dev/full -- sh -c 'kill -9 $$'
	expect "$status" 137
	status=0
	"$SYSCULL" run -- true 2>/dev/full || status=$?
	expect "$status" 125
	status=0
	"$SYSCULL" run -- sh -c 'exit 4' 2>/dev/full || status=$?
	expect "$status" 4
}

@test "closed stderr is the same" {
	status=0
	"$SYSCULL" run -- true 2>&- || status=$?
	expect "$status" 125
	status=0
	"$SYSCULL" run -- sh -c 'exit 3' 2>&- || status=$?
	expect "$status" 3
	"$SYSCULL" run -o report -- true 2>&-
	grep -q '^Books' report
	"$SYSCULL" run -q -- true 2>&-
	"$SYSCULL" run -o report -- sh -c 'echo >&2; exit 0' <&- >&- 2>&- || expect "$?" 0
	expect "$(grep -c '^Books' report)" 1
}

@test "an output that cannot be opened is told before the command runs" {
	run_apart "$SYSCULL" run -o no/such/folder -- sh -c 'echo ran'
	expect "$status$output" 125
	expect "$(wc -l <err)" 1
	run_apart "$SYSCULL" run -o . -- sh -c 'echo ran'
	expect "$status$output" 125
	run_apart "$SYSCULL" run -o '' -- sh -c 'echo ran'
	expect "$status$output" 125
	expect "$(wc -l <err)" 1
}

@test "an existing file is kept when writing fails" {
	need mount unshare -m true
	need tmpfs unshare -m sh -c "mount -t tmpfs -o size=4k none '$PWD'"
	cat >try <<-'END'
		mount -t tmpfs -o size=8k none "$PWD/small" && cd small || exit 99
		echo old >report
		# No room for another page.
		head -c 4096 /dev/zero >filler
		status=0
		"$SYSCULL" run -v -o report -- true 2>../err || status=$?
		echo "$status $(cat report) $(ls)"
	END
	mkdir small
	run_apart env SYSCULL="$SYSCULL" unshare -m sh try
	expect "$output" "125 old filler"$'\n'report
	expect "$(wc -l <err)" 1
}

@test "a file that can be written in a folder that cannot" {
	unprivileged
	mkdir shut
	echo old >shut/report
	chmod 666 shut/report
	chmod 555 shut
	chmod 755 . "$BATS_TEST_TMPDIR"
	need reach as_nobody test -w shut/report
	cp "$SYSCULL" syscull
	run_apart as_nobody ./syscull run -o shut/report -- true
	expect "$status$errors" 0
	grep -q '^Books' shut/report
	! grep -q old shut/report
	expect "$(ls shut)" report
}

@test "why something could not be written is said, in every format" {
	[ -c /dev/full ] || skip "no /dev/full"
	need ptrace "$SYSCULL" run -q -- true
	"$SYSCULL" record -o trace -- ls -l / >/dev/null
	for format in text json html issue collapsed prom; do
		"$SYSCULL" report --floor 0%,0us --format $format trace >/dev/full 2>err && return 1
		expect "$(<err)" "syscull: writing the report to stdout: No space left on device"
	done
	"$SYSCULL" diff --format markdown trace trace >/dev/full 2>err && return 1
	expect "$(<err)" "syscull: writing the report: No space left on device"
	for command in "show trace" "rules" "--help" "completion bash"; do
		# shellcheck disable=SC2086
		"$SYSCULL" $command >/dev/full 2>err && return 1
		expect "$(<err)" "syscull: stdout could not be written: No space left on device"
	done
	for command in "report trace" "diff trace trace" "show trace" "rules" "--help"; do
		# shellcheck disable=SC2086
		"$SYSCULL" $command >&- 2>err && return 1
		expect "$(<err)" "syscull: stdout is closed"
	done
}

@test "a trace that is larger than files may be names that limit" {
	need ptrace "$SYSCULL" run -q -- true
	mkdir many
	(cd many && seq -f f%g 1000 | xargs touch)
	(
		ulimit -f 8
		"$SYSCULL" record -o big -- ls -l many >/dev/null 2>err
	) || true
	expect "$(<err)" "syscull: big: the trace could not be written: a file may have at most 8 KiB here (RLIMIT_FSIZE; ulimit -f)"
	(
		ulimit -f 8
		XDG_STATE_HOME=$PWD/state "$SYSCULL" record -- ls -l many >/dev/null 2>err
	) || true
	expect "$(<err)" "syscull: the trace of this run could not be kept: a file may have at most 8 KiB here (RLIMIT_FSIZE; ulimit -f)"
}
