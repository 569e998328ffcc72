#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# syscull check: wrong words, what stands in the way of judging, and crowds.
load helper

check()
{
	run_apart "$SYSCULL" check "$@"
}

# refused MESSAGE OPTION...: with that line, and nothing is run.
refused()
{
	local message=$1
	shift
	check "$@" -- touch ran
	[ "$status" -eq 125 ] && [ ! -e ran ] && grep -qF -- "$message" err || {
		printf 'status %s, %s, for %s\n' "$status" "$errors" "$*" >&2
		return 1
	}
}

@test "what is not understood is refused before anything runs" {
	refused "--max: there is no call 'getxatr'; did you mean 'getxattr'?" --max getxatr=3
	refused "--max: there is no family '@xatr'; did you mean '@xattr'?" --max @xatr=3
	refused "--max: there is no rule 'fd-swep'; did you mean 'fd-sweep'?" --max fd-swep=0
	refused "--min: 'x' is no number" --min read=x
	refused "--canary is the least that is wanted" --canary 'read<=3'
	refused "--max is the most that is allowed" --max 'read>=3'
	refused "nothing can be both" --max read=3 --min read=4
	refused "given twice" --max read=3 --max read=4
	refused "nothing to check"
	refused "needs --per-item" --max 'read per item=3'
	refused "say 'read per item' or 'read fixed'" --per-item n=1:2 --prepare ': {n}' --max read=3
	refused "'call_1' is write" --max call_1=3
	refused "'call_999999': no kernel has calls of such numbers" --max call_999999=0
	refused "needs two sizes" --per-item n=1 --max 'read per item=3'
	refused "given twice" --per-item n=1:1 --max 'read per item=3'
	refused "no number" --per-item n=1:x --max 'read per item=3'
	refused "a name and sizes" --per-item 1:2 --max 'read per item=3'
	refused "all runs would be the same" --per-item n=1:2 --max 'read per item=3'
	refused "all runs would be the same" --per-item n=1:2 --prepare 'true {m}' --max 'read per item=3'
	refused "--prepare goes with --per-item" --prepare true --max read=3
	refused "--expect-status wants numbers" --expect-status 0,x --max read=3
	refused "--expect-status wants numbers" --expect-status '' --max read=3
	refused "--expect-status wants numbers" --expect-status 256 --max read=3
	refused "--error-exitcode wants a number from 0 to 255" --error-exitcode 256 --max read=3
	refused "--cannot-judge-exit wants a number" --cannot-judge-exit -1 --max read=3
	refused "needs a file here" --format json --max read=3
	refused "after '%' comes p, n, h or %" --verdict-file %q --max read=3
	refused "-n goes with --suggest" -n 3 --max read=3
	for option in '--max read=3' '--strict' '--baseline b' '--format json=j' '--verdict-file v'; do
		# shellcheck disable=SC2086
		refused "--suggest judges nothing" --suggest $option
	done
	refused "-n wants a number" -n 1 --suggest
	check --max read=3
	expect "$status" 125
	grep -q 'no command given' err
}

@test "no engine, or one that may not be used: cannot judge, and nothing runs" {
	check --engine frob --cannot-judge-exit 77 --max read=3 --verdict-file v -- touch ran
	expect "$status" 77
	expect "$(head -1 v)" cannot-judge
	[ ! -e ran ]
	[ -n "${SYSCULL_REFUSE-}" ] || skip "no SYSCULL_REFUSE"
	run_apart "$SYSCULL_REFUSE" EPERM ptrace -- \
		"$SYSCULL" check --cannot-judge-exit 77 --max read=3 --verdict-file v --format json=r.json -- touch ran
	expect "$status" 77
	grep -q '^syscull: cannot judge: cannot trace' err
	[ "$(grep -c . err)" -lt 8 ]
	expect "$(head -1 v)" cannot-judge
	/usr/bin/python3 - <<-'END'
	import json
	report = json.load(open("r.json"))
	assert report["kind"] == "check" and report["verdict"]["state"] == "cannot-judge", report["verdict"]
	assert report["budgets"][0]["verdict"] == "cannot-judge", report["budgets"]
	END
	[ ! -e ran ]
}

@test "another tracer in the tree: cannot judge, whatever the command says then" {
	need strace strace -o /dev/null true
	check --max read=1000 --cannot-judge-exit 77 -- strace -o /dev/null true
	expect "$status" 77
	grep -q 'cannot judge: a program in the tree traces others itself' err
	check --engine ptrace --max read=1000 --max total=100000 --cannot-judge-exit 77 -- strace -o /dev/null true
	expect "$status" 77
}

@test "a program that was refused strict mode because of us: everybody is told" {
	check --max @xattr=0 --canary execve -- /usr/bin/python3 -c '
import ctypes
assert ctypes.CDLL(None).prctl(22, 1, 0, 0, 0) == -1'
	expect "$status" 0
	expect "$errors" "syscull: note: a program was refused seccomp's strict mode (EINVAL), which
    cannot stand beside our filter"
}

@test "LeakSanitizer: cannot judge, and no fault of the program" {
	printf 'int main(void) { return 0; }\n' >main.c
	need lsan cc -fsanitize=leak -o leak main.c
	./leak
	check --max 'listxattr=0' --canary @exec --cannot-judge-exit 77 -- ./leak
	expect "$status" 77
	grep -q 'cannot judge: a program in the tree traces others itself' err
	grep -q 'the status 77 is ours; the command ended with' err
}

@test "io_uring: cannot judge a budget on what it can do, but others" {
	cat >uring.py <<-'END'
	import ctypes, sys
	libc = ctypes.CDLL(None, use_errno=True)
	params = ctypes.create_string_buffer(120)
	sys.exit(libc.syscall(425, 4, params) < 0)
	END
	need io_uring /usr/bin/python3 uring.py
	check --max '@open=1000' --cannot-judge-exit 77 -- /usr/bin/python3 uring.py
	expect "$status" 77
	tr -s '\n ' ' ' <err | grep -q 'cannot judge: @open: io_uring was used'
	check --max 'fd-sweep=0' --cannot-judge-exit 77 -- /usr/bin/python3 uring.py
	expect "$status" 77
	check --max '@kill=1000' --canary '@open>=1' -- /usr/bin/python3 uring.py
	expect "$status" 0
}

@test "children beyond the task limit hide nothing" {
	check --task-limit 1 --max 'execve=100' --max total=100000 -- sh -c 'sleep 0.1 & /bin/true; wait'
	expect "$status" 125
	grep -q 'cannot judge: execve: .* ran untraced' err
}

@test "a command that writes megabytes to stderr" {
	head -c 8000000 /dev/zero | tr '\0' x >big
	check --max '@exec=0' --error-exitcode 7 -- sh -c 'cat big >&2'
	expect "$status" 7
	[ "$(head -c 8000000 err | tr -d x | wc -c)" -eq 0 ]
	tail -c +8000001 err | grep -q '^syscull: check failed: @exec: 2, at most 0$'
}

@test "a hundred checks at once in one folder, each with a report and a verdict of its own" {
	cat >one.sh <<-'END'
	"$SYSCULL" check --max '@exec=1' --canary @exec --verdict-file 'v.%p' --format 'json=r.%p.json' -- true || echo failed
	END
	seq 100 | xargs -P 8 -I{} sh one.sh >all 2>&1
	expect "$(cat all)" ""
	[ "$(find . -name 'v.*' | wc -l)" -eq 100 ]
	[ "$(cat v.* | grep -c '^passed$')" -eq 100 ]
	/usr/bin/python3 - <<-'END'
	import glob, json
	names = glob.glob("r.*.json")
	assert len(names) == 100, len(names)
	for name in names:
	    with open(name) as file:
	        assert json.load(file)["verdict"]["state"] == "passed"
	END
	# Nothing half-written is left behind.
	[ "$(find . -type f | wc -l)" -eq 202 ]
}

@test "a proposal is kept by the next run, and says what it left out" {
	mkdir d
	for i in $(seq 50); do : >d/$i; done
	"$SYSCULL" check --suggest -n 3 -o proposal -- ls -l d >out
	[ "$(grep -c ' 50$' out)" -eq 3 ]
	head -1 proposal | grep -q '^Budgets that all of 3 runs kept$'
	grep -q '@mmap .*made by the loader and the allocator' proposal
	grep -q 'fewer than 10 calls each' proposal
	[ "$(awk 'length > 80' proposal | wc -l)" -eq 0 ]
	command=$(sed -n '/^syscull check/,$p' proposal)
	grep -q -- "--canary '@" <<<"$command"
	PATH=$(dirname "$SYSCULL"):$PATH
	run_apart sh -c "$command"
	expect "$status" 0
	for i in $(seq 100); do : >d/more$i; done
	run_apart sh -c "$command"
	expect "$status" 121
	check --suggest -n 2 -- sh -c 'exit 3'
	expect "$status" 3
	grep -q 'run 2 ended with 3' err
}
