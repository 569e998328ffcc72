#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# syscull check: what is counted, three words, whose status it is.
load helper

check()
{
	run_apart "$SYSCULL" check "$@"
}

# A lister: asks for each file's status, and whatever else is named.
lister()
{
	cat >lister.py <<-'END'
	import os, sys
	for name in os.listdir(sys.argv[1]):
	    path = os.path.join(sys.argv[1], name)
	    os.lstat(path)
	    for question in sys.argv[2:]:
	        try:
	            if question == "list":
	                os.listxattr(path)
	            else:
	                os.getxattr(path, "user.x")
	        except OSError:
	            pass
	END
}

files()
{
	mkdir -p "$1"
	for i in $(seq "$2"); do : >"$1/f$i"; done
}

@test "a check that passes is as silent as the command alone" {
	check --max '@kill=0' --min 'execve=1' --canary '@exec>=1' -- sh -c 'echo out; echo err >&2'
	expect "$status" 0
	expect "$output" out
	expect "$errors" err
}

@test "a budget that is broken is told with the number, by whom, and what shows more" {
	files d 50
	lister
	check --max '@xattr=3' -- /usr/bin/python3 lister.py d get
	expect "$status" 121
	expect "$output" ""
	grep -q '^syscull: check failed: @xattr: 50, at most 3$' err
	grep -Eq '^ +50  getxattr ENODATA +d/f[0-9]+ and others in d$|^ +50  getxattr EOPNOTSUPP' err
	[ "$(awk 'length > 80' err)" = "" ]
	more=$(sed -n 's/^syscull: more: syscull //p' err)
	expect "$more" "run -e @xattr -- /usr/bin/python3 lister.py d get"
	# It is a command, and it shows that.
	eval "$SYSCULL $more" >out 2>err
	grep -Eq '^getxattr +50 +50 ' err
}

@test "a budget on what a suppression took says so" {
	mkdir d
	touch d/f{1..300}
	printf '[suppress]\nrule = xattr-probe\nreason = known\n' >s
	check --suppressions s --max xattr-probe=0 -- ls -l d
	expect "$status" 0
	tr -s '\n ' ' ' <err | grep -q 'not exercised: --max xattr-probe: what was found is suppressed; a --canary'
	check --max xattr-probe=0 -- true
	grep -q 'not exercised: --max xattr-probe: nothing of it was found' err
}

@test "what shows more is a command, however long" {
	long="two  blanks $(printf 'x%.0s' {1..200})"
	check --max read=0 -- sh -c ": $long"
	grep -qx "syscull: more: syscull run -e read -- sh -c ': $long'" err
	check --max read=0 -- sh -c ": $(printf 'x%.0s' {1..5000})"
	run grep more: err
	expect "$status" 1
}

@test "calls without a name are watched by their number" {
	check -v --max call_480=0 -- true
	grep -q 'watched: calls without a name (0 calls seen' err
}

@test "at most three contributors, largest first" {
	check --max 'total=3' -- sh -c 'for i in 1 2 3; do cat /dev/null; done'
	expect "$status" 121
	[ "$(grep -Ec '^ +[0-9,]+  [a-z]' err)" -eq 3 ]
	grep -Eo '^ +[0-9]+ ' err | sort -nrc
}

@test "the origin's own test in one line: a file system without attributes, a lister that asks, an empty folder" {
	need mount unshare -m true
	mkdir point empty
	files ext4 100
	need xattr /usr/bin/python3 -c 'import os; os.setxattr("ext4/f1", "user.x", b"")'
	cat >script.sh <<-'END'
	mount -t ramfs none point || exit 1
	mkdir point/d
	for i in $(seq 100); do : >point/d/f$i; done
	exec "$@"
	END
	run_apart unshare -m sh script.sh "$SYSCULL" check --max '@xattr=3' --canary '@stat>=100' -- ls -l --color=always point/d
	expect "$status" 0
	expect "$errors" ""
	[ "$(grep -c f100 out)" -eq 1 ]
	check --max '@xattr=3' --canary '@stat>=100' -- ls -l --color=always ext4
	expect "$status" 121
	check --max '@xattr=3' --canary '@stat>=100' --cannot-judge-exit 77 -- ls -l --color=always empty
	expect "$status" 77
	tr -s '\n ' ' ' <err | grep -q 'cannot judge: canary @stat: [0-9]*, at least 100'
}

@test "a lister that moved to another call of the family is caught" {
	files d 100
	lister
	check --max '@xattr=3' --canary '@stat>=100' -- /usr/bin/python3 lister.py d
	expect "$status" 0
	check --max '@xattr=3' --canary '@stat>=100' -- /usr/bin/python3 lister.py d list
	expect "$status" 121
	grep -Eq '^ +100  listxattr ' err
	# A budget on the old call alone says so itself: nothing was counted.
	check --max 'getxattr=3' -- /usr/bin/python3 lister.py d list
	expect "$status" 0
	tr -s '\n ' ' ' <err | grep -q 'not exercised: --max getxattr: no such call was seen'
	check --strict --max 'getxattr=3' -- /usr/bin/python3 lister.py d list
	expect "$status" 125
	tr -s '\n ' ' ' <err | grep -q 'cannot judge: getxattr: 0, at most 3: nothing was counted (--strict)'
	# A canary proves that the work was done: no line.
	check --max 'getxattr=3' --canary '@stat>=100' -- /usr/bin/python3 lister.py d list
	expect "$status" 0
	expect "$errors" ""
}

@test "errors, sums, classes, --min, comparisons" {
	printf 'import os\nfor i in range(20):\n    try: os.close(700 + i)\n    except OSError: pass\n' >close.py
	check --max close:EBADF=20 --min 'close:EBADF>=20' --min 'close>20' --max 'close:EBADF<21' \
		--max 'openat:EBADF+close:EBADF<=20' --min '%desc>=20' -- /usr/bin/python3 close.py
	expect "$status" 0
	check --max close:EBADF=19 -- /usr/bin/python3 close.py
	expect "$status" 121
	check --min close:EBADF=21 -- /usr/bin/python3 close.py
	expect "$status" 121
	grep -q 'check failed: close:EBADF: 20, at least 21' err
}

@test "one program of the tree, one region of the run" {
	cat >script.sh <<-'END'
	cat /dev/null
	test -e /.syscull/mark/one
	cat /dev/null; cat /dev/null
	test -e /.syscull/mark/two
	/bin/true
	END
	check --max 'execve in program cat=3' --min 'execve in program cat=3' --max 'execve in region one=2' \
		--min 'execve in region one=2' --max 'execve in region two=1' -- dash script.sh
	expect "$status" 0
	check --max 'execve in region one=1' -- dash script.sh
	expect "$status" 121
	grep -q 'syscull: more: syscull run --by region -e execve -- dash script.sh' err
	check --max 'execve in region three=1' -- dash script.sh
	expect "$status" 125
	grep -q "no region 'three' began" err
	check --max 'execve in program ls=1' -- dash script.sh
	expect "$status" 125
	grep -q "no program 'ls' ran" err
}

@test "budgets on rules" {
	printf 'import os\nfor i in range(1000):\n    try: os.close(3 + i)\n    except OSError: pass\n' >close.py
	check --max fd-sweep=0 -- /usr/bin/python3 close.py
	expect "$status" 121
	grep -Eq 'check failed: fd-sweep: [0-9]+, at most 0' err
	grep -Eq '^ +[0-9]+  fd-sweep +numbers [0-9]+ to' err
	# Below the rule's own floor of 4,096 calls: counted, but not worth fixing.
	check --max fd-sweep:worth=0 --canary 'close>=1000' -- /usr/bin/python3 close.py
	expect "$status" 0
	check --max fd-sweep=0 --canary 'close>=1' -- /usr/bin/python3 -c 0
	expect "$status" 0
}

@test "calls per item, and the fixed part" {
	lister
	check --per-item n=20:120 --prepare 'cat; mkdir -p d{n}; i=0; while [ $i -lt {n} ]; do : >d{n}/$i; i=$((i+1)); done; echo made' \
		--max '@stat per item=1' --max '@xattr per item=0' --canary '@stat>=20' -v -- /usr/bin/python3 lister.py 'd{n}'
	expect "$status" 0
	grep -q 'ok: @stat per item: 1, at most 1' err
	grep -q 'not exercised: @xattr per item: 0, at most 0' err
	[ "$(grep -c '^made$' err)" -eq 2 ]
	check --per-item n=20:120 --max '@stat per item=0.5' -- /usr/bin/python3 lister.py 'd{n}'
	expect "$status" 121
	grep -q '@stat per item: 1, at most 0.500' err
	fixed=$("$SYSCULL" check --per-item n=20:120 --max '@stat fixed=1' -- /usr/bin/python3 lister.py 'd{n}' 2>&1 >/dev/null |
		sed -n 's/.*@stat fixed: \([0-9]*\), at most 1$/\1/p')
	[ "$fixed" -gt 1 ]
	check --per-item n=20:120 --max "@stat fixed=$fixed" --min "@stat fixed=$fixed" -- /usr/bin/python3 lister.py 'd{n}'
	expect "$status" 0
	check --per-item n=20:120 --prepare 'exit 3' --max '@stat per item=1' -- touch 'ran{n}'
	expect "$status" 125
	grep -q -- '--prepare ended with 3 with the size 20' err
	[ ! -e ran20 ]
}

@test "whose status it is: ours, a signal, the command's, cannot judge, broken" {
	check --max total=100000 -- sh -c 'exit 3'
	expect "$status" 3
	# The command's failure goes before ours, and the budget is still told.
	check --max total=1 --canary 'listxattr>=1' -- sh -c 'exit 3'
	expect "$status" 3
	grep -q 'check failed: total' err
	grep -q 'cannot judge: canary listxattr' err
	check --max total=1 --canary 'listxattr>=1' -- true
	expect "$status" 125
	check --max total=1 --canary 'listxattr>=1' --cannot-judge-exit 77 -- true
	expect "$status" 77
	check --max total=1 --error-exitcode 9 -- true
	expect "$status" 9
	check --max total=1 -- sh -c 'kill -TERM $$'
	expect "$status" 143
	grep -q 'check failed: total' err
	check --max total=1 -- ./nothing-there
	expect "$status" 127
	: >plain
	check --max total=1 -- ./plain
	expect "$status" 126
}

@test "stderr says whose one of our numbers is" {
	for number in 121 125 126 127 9; do
		check --error-exitcode 9 --max 'listxattr=0' --canary '@exec>=1' -- sh -c "exit $number"
		expect "$status" "$number"
		# 121 is not ours here.
		[ $number -ne 121 ] || continue
		expect "$errors" "syscull: the status $number is the command's own"
	done
	check --max total=1 --expect-status 0,1 -- sh -c 'exit 1'
	expect "$status" 121
	grep -q 'the status 121 is ours; the command ended with 1' err
	check --max total=1 -- true
	expect "$status" 121
	! grep -q 'the status' err
}

@test "expected statuses" {
	check --max listxattr=0 --canary @exec --expect-status 0,1 -- grep nothing /dev/null
	expect "$status" 1
	expect "$errors" ""
	check --max total=1 --expect-status 0,1 -- grep nothing /dev/null
	expect "$status" 121
	check --max total=1 --expect-status 0,2 -- grep nothing /dev/null
	expect "$status" 1
	# A status of 0 that was not expected does not look like success.
	check --max listxattr=0 --canary @exec --expect-status 1 -- true
	expect "$status" 125
	expect "$errors" "syscull: the command ended with 0, which --expect-status does not name"
}

@test "the verdict in a file" {
	check --max total=1 --verdict-file 'v.%n' -- true
	expect "$status" 121
	expect "$(head -1 v.true)" failed
	grep -q '^reason total: [0-9]*, at most 1$' v.true
	grep -q '^command 0$' v.true
	grep -q '^exit 121$' v.true
	check --max listxattr=0 --canary @exec --verdict-file v -- sh -c 'exit 4'
	expect "$status" 4
	expect "$(cat v)" "$(printf 'passed\ncommand 4\nexit 4')"
	check --max removexattr=0 --canary listxattr --verdict-file v -- true
	expect "$(head -1 v)" cannot-judge
	# One that was left there is not taken for that of a check that never was.
	echo passed >v
	check --max read=1 --min read=2 --verdict-file v -- true
	expect "$status" 125
	expect "$(head -1 v)" cannot-judge
	echo passed >v
	check --verdict-file v --max reed=1 -- true
	expect "$(head -1 v)" cannot-judge
	echo passed >v
	check --verdict-file v --engine frob --max read=1 -- true
	expect "$(head -1 v)" cannot-judge
	check --max total=1 --verdict-file v -- ./nothing-there
	expect "$status" 127
	expect "$(head -1 v)" cannot-judge
	check --max total=1 --verdict-file none/v -- touch ran
	expect "$status" 125
	[ ! -e ran ]
}

@test "nothing of an earlier check is left by one that was not understood, wherever the reports are named" {
	for wrong in '--max @statx=1' '--frob x' --verbose=1 -Z '--redact what' '-n 3' '--format xml' '--max read'; do
		echo passed | tee v st.xml s.md m.prom r.json >/dev/null
		# shellcheck disable=SC2086
		check $wrong --verdict-file v --format junit=st.xml --format json=r.json --format markdown=s.md \
			--format prom=m.prom --max read=1 -- touch ran
		expect "$status" 125
		[ ! -e ran ]
		expect "$(wc -l <err)" 1
		expect "$(head -1 v)" cannot-judge
		expect "$(sed 's/^syscull: //' err)" "$(sed -n 's/^reason //p' v)"
		grep -q '<error ' st.xml
		grep -q '"state": "cannot-judge"' r.json
		grep -q 'cannot judge' s.md
		grep -q 'syscull_check_state{.*state="cannot-judge"} 1' m.prom
	done
	echo passed | tee v v.touch st.xml >/dev/null
	check --max @statx=1 --format junit=st.xml --verdict-file v.%n -- touch ran
	expect "$(head -1 v.touch)" cannot-judge
	check --max read=1 --min read=2 --format junit=st.xml -- touch ran
	grep -q '<error ' st.xml
	echo passed >st.xml
	check --max read=1 --format junit=st.xml --verdict-file v
	expect "$status$(head -1 v)" 125cannot-judge
	grep -q '<error ' st.xml
	# What stands behind a command is the command's.
	echo passed >v
	check --max @statx=1 touch --verdict-file v
	expect "$(cat v)" passed
}

@test "interrupted: what was counted is told, and the signal is the command's" {
	cat >int.py <<-'END'
	import os, signal, subprocess, sys, time
	run = subprocess.Popen([os.environ["SYSCULL"], "check", "--max", "total=1", "--verdict-file", "v", "--", "sh", "-c",
	                        "echo ready; exec sleep 30"], stdout=subprocess.PIPE, stderr=open("err", "w"), start_new_session=True)
	run.stdout.readline()
	os.killpg(run.pid, signal.SIGINT)
	print(run.wait(20))
	END
	expect "$(/usr/bin/python3 int.py)" -2
	grep -q 'check failed: total' err
	expect "$(head -1 v)" failed
	grep -q '^command 130$' v
}

@test "-v and -o" {
	check -v -o text --max '@exec=1' --canary @exec -- true
	expect "$status" 0
	expect "$errors" ""
	grep -q '^syscull: ok: @exec: 1, at most 1$' text
	grep -q '^syscull: ok: canary @exec: 1, at least 1$' text
	tr -s '\n ' ' ' <text | grep -q 'watched: execve, execveat (1 call seen; others were not counted)'
	grep -q '^syscull: check passed$' text
	check -o text --max '@exec=0' -- true
	expect "$errors" ""
	grep -q 'check failed: @exec: 1, at most 0' text
	check -v --max 'total=1000' -- true
	grep -q 'watched: all calls' err
}
