#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# syscull fix: remedies applied, and what they gain.
load helper

@test "--list names each remedy, what it serves and when it is unsafe" {
	run_apart "$SYSCULL" fix --list
	[ "$status" -eq 0 ]
	for name in TZ=:/etc/localtime xattr=off xattr closefrom nofile MALLOC_TOP_PAD_ nofile-soft PYTHONUNBUFFERED; do
		grep -q "^$name" out
	done
	grep -q 'serves localtime-stat' out
	tr -s '\n ' ' ' <out >line
	[ "$(grep -o 'unsafe: ' line | wc -l)" -eq "$(grep -o 'serves ' line | wc -l)" ]
	[ "$(awk 'length > 80' out | wc -l)" -eq 0 ]
}

@test "every rule that the list names exists" {
	"$SYSCULL" rules >rules
	"$SYSCULL" fix --list | tr -s '\n ' ' ' | grep -o 'serves [a-z -]*[a-z] unsafe' |
		sed 's/serves //; s/ unsafe//' | tr ' ' '\n' | sort -u >named
	[ -s named ]
	while read -r rule; do
		case " exec-startup " in *" $rule "*) continue ;; esac # not in this version
		grep -q "^$rule " rules || {
			echo "no rule $rule" >&2
			return 1
		}
	done <named
}

@test "the command gets the remedy, its status and its signal" {
	unset TZ
	run_apart "$SYSCULL" fix --with TZ -- sh -c 'echo "$TZ"; exit 7'
	[ "$status" -eq 7 ]
	expect "$output" ":/etc/localtime"
	expect "$errors" "syscull: with TZ=:/etc/localtime"
	run_apart "$SYSCULL" fix -q --with TZ=UTC0,LC_ALL=C -- sh -c 'echo "$TZ $LC_ALL"; kill -TERM $$'
	[ "$status" -eq 143 ]
	expect "$output" "UTC0 C"
	expect "$errors" ""
	run_apart env PYTHONUNBUFFERED=1 "$SYSCULL" fix -q --with PYTHONUNBUFFERED -- sh -c 'echo "${PYTHONUNBUFFERED-gone}"'
	expect "$output" "gone"
}

@test "limits are those that were asked for" {
	run_apart "$SYSCULL" fix -q --with nofile-soft=77 -- sh -c 'ulimit -Sn; ulimit -Hn'
	expect "$(head -n 1 out)" 77
	expect "$(tail -n 1 out)" "$(ulimit -Hn)"
	run_apart "$SYSCULL" fix -q --with nofile-hard=88 -- sh -c 'ulimit -Sn; ulimit -Hn'
	expect "$output" "88
88"
	run_apart "$SYSCULL" fix --with nofile-hard=99999999999 -- true
	[ "$status" -eq 125 ]
	grep -q 'the hard limit is' err
}

@test "xattr=off: the kernel answers every attribute look-up itself" {
	touch file
	setfattr -n user.x -v 1 file 2>/dev/null || skip "no user attributes here"
	/usr/bin/python3 -c 'import os; assert os.getxattr("file", "user.x") == b"1"'
	run_apart "$SYSCULL" fix -q --with xattr=off -- /usr/bin/python3 -c '
import errno, os
for ask in (lambda: os.getxattr("file", "user.x"), lambda: os.listxattr("file"),
            lambda: os.getxattr("file", "user.x", follow_symlinks=False)):
    try:
        ask()
        raise SystemExit("answered")
    except OSError as e:
        assert e.errno == errno.EOPNOTSUPP, e
os.setxattr("file", "user.y", b"2")
print("ok")'
	expect "$output" "ok"
	[ "$status" -eq 0 ]
}

# A user without privileges.
unprivileged()
{
	if [ "$(id -u)" -eq 0 ]; then
		set -- setpriv --reuid=65534 --regid=65534 --clear-groups -- "$@"
	fi
	"$@"
}

@test "xattr=off works without privileges, and says what is given up" {
	need setpriv unprivileged "$SYSCULL" --version
	run_apart unprivileged "$SYSCULL" fix --with xattr=off -- /usr/bin/python3 -c '
import errno, os, re
try:
    os.getxattr("/", "user.x")
except OSError as e:
    assert e.errno == errno.EOPNOTSUPP, e
print(re.search(r"^NoNewPrivs:\s*(\d)", open("/proc/self/status").read(), re.M)[1])'
	[ "$status" -eq 0 ]
	expect "$output" 1
	grep -q 'no_new_privs' err
	expect "$(wc -l <err)" 2
	run_apart unprivileged "$SYSCULL" fix --with TZ -- true
	expect "$(wc -l <err)" 1
}

@test "--prove asks on a terminal, and takes no for an answer" {
	cat >ask.py <<-'END'
	import os, pty, sys
	pid, fd = pty.fork()
	if pid == 0:
	    os.execv(os.environ["SYSCULL"], ["syscull", "fix", "--prove", "-n", "1", "--with", "TZ", *sys.argv[2:], "--",
	                                     "sh", "-c", "echo >>runs"])
	said = b""
	try:
	    while more := os.read(fd, 4096):
	        said += more
	        if said.endswith(b"[y/N] "):
	            os.write(fd, sys.argv[1].encode() + b"\n")
	            said += b"?"
	except OSError:
	    pass
	print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), b"run 6 times" in said, b"[y/N]" in said)
	END
	expect "$(/usr/bin/python3 ask.py n)" "125 True True"
	expect "$(/usr/bin/python3 ask.py '')" "125 True True"
	[ ! -e runs ]
	expect "$(/usr/bin/python3 ask.py y)" "0 True True"
	expect "$(wc -l <runs)" 6
	expect "$(/usr/bin/python3 ask.py n -y)" "0 True False"
}

@test "--prove finds the calls that TZ spares, and the same output" {
	need ptrace "$SYSCULL" run -q -- true
	mkdir d
	for i in $(seq 300); do : >"d/$i"; done
	run_apart "$SYSCULL" fix --prove -n 6 --with TZ -- find d -ls
	[ "$status" -eq 0 ]
	grep -q 'the same on both sides (status 0)' out
	grep -Eq '^ +newfstatat +[0-9,]+ ' out
	grep -Eq '^CPU +without [0-9.]+ [mu]?s, with [0-9.]+ [mu]?s \(medians\): ' out
	run_apart "$SYSCULL" fix --prove -n 5 --with TZ --format json -o p.json -- find d -ls
	/usr/bin/python3 - <<-'END'
	import json
	p = json.load(open("p.json"))
	assert p["kind"] == "prove" and p["same_output"] and p["steady"]
	assert p["calls_before"] - p["calls_after"] >= 300, p
	assert p["runs"] == 5
	assert p["ratio"]["low"] <= p["ratio"]["median"] <= p["ratio"]["high"]
	assert 0 < p["cpu_before_ns"]["min"] <= p["cpu_before_ns"]["median"] <= p["cpu_before_ns"]["max"]
	assert p["cpu_ratio"]["low"] <= p["cpu_ratio"]["median"] <= p["cpu_ratio"]["high"]
	[tz] = p["remedies"]
	assert tz["name"] == "TZ=:/etc/localtime" and tz["estimated_ns"] > 0
	assert tz["saves_calls"] == p["calls_before"] - p["calls_after"]
	END
}

@test "--prove does not praise what changes the output" {
	run_apart "$SYSCULL" fix --prove -n 5 --with TZ=UTC+5 -- sh -c 'echo "$TZ"'
	[ "$status" -eq 1 ]
	grep -q 'NOT the same: with TZ=UTC+5: stdout, line 1' out
	run_apart "$SYSCULL" fix --prove -n 5 --with TZ=UTC+5 --format json -- sh -c 'exit ${#TZ}'
	[ "$status" -eq 1 ]
	grep -q '"same_output": *false' out
	grep -q 'the status is 5, not 0' out
}

@test "--prove does not praise what is said on stderr alone" {
	run_apart "$SYSCULL" fix --prove --runs 1 --with TZ=UTC0 -- sh -c '[ -z "$TZ" ] || echo "a
b" >&2'
	[ "$status" -eq 1 ]
	grep -q 'NOT the same: with TZ=UTC0: stderr has 2 lines more' out
	# What differs anyway says nothing, and of the first run it is shown.
	"$SYSCULL" fix --prove --runs 1 --with TZ=UTC0 -- sh -c 'echo "pid $$" >&2' >out 2>err
	grep -q 'the same on both sides' out
	expect "$(grep -c '^pid' err)" 1
}

@test "--prove: what is estimated is the remedy's own" {
	mkdir d
	touch d/f{1..300}
	"$SYSCULL" fix --prove --runs 1 --with xattr,xattr=off -- ls -l d >out 2>err
	tr -s '\n ' ' ' <out | grep -q 'xattr alone: [^;]*; run finds nothing that it serves'
	tr -s '\n ' ' ' <out | grep -q 'xattr=off alone: [^;]*; estimated by run: '
}

@test "--prove stops when the command does not agree with itself" {
	run_apart "$SYSCULL" fix --prove -n 5 --with TZ -- sh -c 'echo run >>count; wc -l <count'
	[ "$status" -eq 1 ]
	grep -q 'two runs without a remedy differ' out
	# It was not run any more.
	expect "$(wc -l <count)" 2
}

@test "--prove compares files, and runs --prepare and --cleanup around each run" {
	run_apart "$SYSCULL" fix --prove -n 2 --with TZ --compare result --prepare 'rm -f result; echo p >>log' \
		--cleanup 'echo c >>log' -- sh -c 'echo "${TZ+set}" >result'
	[ "$status" -eq 1 ]
	grep -q 'NOT the same: with TZ=:/etc/localtime: result, line 1' out
	# 2 to begin with, 2 a side, 1 traced a side.
	expect "$(grep -c p log)" 8
	expect "$(grep -c c log)" 8
	run_apart "$SYSCULL" fix --prove -n 2 --with TZ --prepare false -- true
	[ "$status" -eq 125 ]
	grep -q 'prepare ended with 1' err
}

@test "the share of each remedy is measured alone" {
	run_apart "$SYSCULL" fix --prove -n 2 --with TZ,LC_ALL --format json -- sh -c 'echo >>runs'
	/usr/bin/python3 - <<-'END'
	import json
	p = json.load(open("out"))
	assert [r["name"] for r in p["remedies"]] == ["TZ=:/etc/localtime", "LC_ALL=C"]
	END
	grep -q 'run 14 times' err
	expect "$(wc -l <runs)" 14
}

@test "options that would do nothing are refused" {
	for line in '--format json' '--compare f' '-o f' '-n 3' -y '--warmup 1' '--prepare true' '--cleanup true'; do
		# shellcheck disable=SC2086
		run_apart "$SYSCULL" fix $line --with TZ -- touch ran
		expect "$status" 125
		[[ $errors == *" goes with --prove" ]]
	done
	run_apart "$SYSCULL" fix --list x
	expect "$status$output" 125
	run_apart "$SYSCULL" fix --list --with TZ
	expect "$status$errors" "125syscull: --list tells all remedies: nothing goes with it"
	[ ! -e ran ]
}

@test "bad remedies and bad commands get one line" {
	for words in "--with TX" "--with nofile-soft=many" "--with TZ,TZ" "--with PYTHONUNBUFFERED=1" "--with ''" \
		"--with GLIBC_TUNABLES" "--prove -n 0" "--prove --format xml"; do
		run_apart bash -c "'$SYSCULL' fix $words -- true"
		[ "$status" -eq 125 ]
		expect "$(wc -l <err)" 1
	done
	run_apart "$SYSCULL" fix --with TZZ -- true
	grep -q "did you mean 'TZ'" err
	run_apart "$SYSCULL" fix --with TZ
	[ "$status" -eq 125 ]
	run_apart "$SYSCULL" fix -q --with TZ -- ./not-there
	[ "$status" -eq 127 ]
	echo data >data
	run_apart "$SYSCULL" fix -q --with TZ -- ./data
	[ "$status" -eq 126 ]
	run_apart "$SYSCULL" fix --prove -q --with TZ -- ./data
	[ "$status" -eq 126 ]
}

@test "without names the safe ones are used, and the tree has them" {
	run_apart "$SYSCULL" fix -- sh -c 'sh -c "grep -c libsyscull-preload /proc/self/maps; echo \$SYSCULL_PRELOAD"'
	[ "$status" -eq 0 ]
	expect "$errors" "syscull: with xattr, closefrom (always safe; it has no kept run)"
	[ "$(head -n 1 out)" -gt 0 ]
	expect "$(tail -n 1 out)" "xattr,closefrom"
	# What was preloaded before stays first.
	run_apart env LD_PRELOAD=libc.so.6 "$SYSCULL" fix -q -- sh -c 'echo "$LD_PRELOAD"'
	[[ "$output" == libc.so.6:/*/libsyscull-preload.so ]]
}

@test "without names: what the kept run of the same command asked for" {
	need ptrace "$SYSCULL" run -q -- true
	local churn=$SYSCULL_VICTIMS/victim-brk-churn
	export XDG_STATE_HOME=$PWD/state
	"$SYSCULL" run -q -- "$churn" 2000 >/dev/null 2>&1
	run_apart "$SYSCULL" fix -- "$churn" 2000
	[ "$status" -eq 0 ]
	expect "$errors" "syscull: with MALLOC_TOP_PAD_=1000000 (its kept run asks for it: brk-churn)"
	# Another command has none, also where it only begins in the same way.
	for words in "2001" "2000 more" ""; do
		run_apart "$SYSCULL" fix -- "$churn" $words
		expect "$errors" "syscull: with xattr, closefrom (always safe; it has no kept run)"
	done
	# What is not safe is asked for in vain: a time zone, a file system's answers.
	mkdir d
	seq -f d/%g 300 | xargs touch
	"$SYSCULL" run -q -- find d -ls >/dev/null 2>report
	grep -q localtime-stat report
	run_apart "$SYSCULL" fix -- find d -ls
	expect "$errors" "syscull: with xattr, closefrom (always safe; its kept run asks for none that is)"
	# --prove chooses in the same way, and a named one is not asked about.
	run_apart "$SYSCULL" fix --prove -n 1 -y -- true
	[[ $errors == "syscull: with xattr, closefrom (always safe; it has no kept run)"* ]]
	run_apart "$SYSCULL" fix --with TZ -- true
	expect "$errors" "syscull: with TZ=:/etc/localtime"
	# A kept run that is no trace any more.
	echo rubbish >"$(find state -name last.trace)"
	run_apart "$SYSCULL" fix -- "$churn" 2000
	[ "$status" -eq 0 ]
	expect "$errors" "syscull: with xattr, closefrom (always safe; it has no kept run)"
}

@test "findings name the remedy that fix has" {
	need ptrace "$SYSCULL" run -q -- true
	mkdir d1k
	seq -f d1k/%g 300 | xargs touch
	"$SYSCULL" run --format json -o r.json -- ls -l d1k >/dev/null 2>&1
	/usr/bin/python3 - <<-'END'
	import json
	[found] = [f for f in json.load(open("r.json"))["findings"] if f["rule"] == "xattr-probe"]
	[remedy] = [r for r in found["remedies"] if r["kind"] == "seccomp"]
	assert remedy["changes_output"] and remedy["saves_calls"] >= 598, remedy
	END
	run_apart "$SYSCULL" run -- ls -l d1k
	grep -q 'try now *syscull fix --with xattr=off -- ls -l d1k' err
}

@test "--prove: the command's descriptors are its own, not those that syscull has" {
	need ptrace "$SYSCULL" run -q -- true
	# On a terminal nobody says that lines should wait; the command's stdout is none.
	/usr/bin/python3 - <<-'END'
	import json, os, pty, sys
	words = ["fix", "--prove", "-y", "-n", "1", "--with", "PYTHONUNBUFFERED", "--format", "json", "-o", "p.json", "--",
	         "/usr/bin/python3", "-c", "for i in range(1000): print(i)"]
	os.environ["PYTHONUNBUFFERED"] = "1"
	pid, fd = pty.fork()
	if pid == 0:
	    os.execv(os.environ["SYSCULL"], ["syscull", *words])
	said = b""
	try:
	    while more := os.read(fd, 4096):
	        said += more
	except OSError:
	    pass
	status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
	assert status == 0, (status, said)
	proof = json.load(open("p.json"))
	[remedy] = proof["remedies"]
	assert remedy["saves_calls"] > 900 and remedy["estimated_ns"] is not None, remedy
	END
}
