#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# The table of programs.
load helper

rows()
{
	grep -A20 '^Programs ' report.txt | awk 'NR > 1 && (/^Start/ || !NF) { exit } NR > 1 { print }'
}

@test "each program is told once, with all of its runs and calls" {
	run_apart "$SYSCULL" run --by exe -o report.txt -- dash -c 'for i in 1 2 3 4 5; do /usr/bin/test -e x; done; /usr/bin/true'
	[ "$status" -eq 0 ]
	rows >rows.txt
	[ "$(awk '{ print $1, $2 }' rows.txt | sort | tr '\n' ' ')" = "dash 1 test 5 true 1 " ]
	total=$(sed -n 's/.* \([0-9,]*\) calls$/\1/p' report.txt | head -1 | tr -d ,)
	sum=$(awk '{ gsub(",", ""); n += $3 } END { print n }' rows.txt)
	[ "$sum" -eq "$total" ]
	awk '{ gsub(",", ""); if ($4 > $3) exit 1 }' rows.txt
	[ "$(awk 'length > 80' report.txt | wc -l)" -eq 0 ]
}

@test "a start is told in its parts" {
	run_apart env LC_ALL=C.UTF-8 "$SYSCULL" run --by exe -o report.txt -- dash -c 'for i in 1 2 3; do ls /; done; :'
	[ "$status" -eq 0 ]
	grep -A6 '^Start ' report.txt | tr -s '\n ' ' ' >start
	grep -q '^Start ls, each of 3: exec 1 call .*, ld.so [0-9]* calls' start
	grep -q 'locale [0-9]* calls' start
	grep -q 'LC_ALL=C leaves the locale out' start
}

@test "an interpreter is told until it opens its script" {
	echo 'import os' >one.py
	run_apart "$SYSCULL" run --by exe --format json=report.json -- dash -c '/usr/bin/python3 one.py; /usr/bin/python3 -c 1'
	[ "$status" -eq 0 ]
	/usr/bin/python3 - <<-'END'
	import json
	report = json.load(open("report.json"))
	python, = [p for p in report["programs"] if "python3" in p["exe"]]
	assert python["runs"] == 2, python
	assert 50 < python["interpreter"]["count"] < python["count"] / 2, python
	END
}

@test "names of programs are redacted, and a baseline has none" {
	run_apart "$SYSCULL" run --redact paths --format json=report.json -- ls
	[ "$status" -eq 0 ]
	! grep -q '/usr/bin/ls' report.json
	run_apart "$SYSCULL" check --baseline base.json --update-baseline -- ls
	tr -d '\n ' <base.json | grep -q '"programs":\[\]'
}

@test "narrowed, it counts what is let through" {
	run_apart "$SYSCULL" run --by exe -e execve -o report.txt -- dash -c '/usr/bin/true; :'
	[ "$status" -eq 0 ]
	rows | awk '{ print $1, $3 }' | sort >rows.txt
	grep -q '^true 1$' rows.txt
}
