#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Marks and the table of regions.
load helper

rows()
{
	grep -A20 '^Regions ' report.txt | awk 'NR > 1 && NF && !/^Books/ { print }'
}

@test "marks begin regions and are no calls" {
	cat >script.sh <<-'END'
	test -e /.syscull/mark/first
	exec 3</dev/null; exec 3</dev/null; exec 3</dev/null
	test -e /.syscull/mark/second
	true
	END
	run_apart "$SYSCULL" run --by region -o report.txt -- dash script.sh
	[ "$status" -eq 0 ]
	grep -q '^Books .*closed: .* + 2 marks$' report.txt
	rows | grep -q '^first '
	rows | grep -q '^second '
	rows | grep -q '^(before the first mark) '
	# The marks themselves are in no region and in no row.
	total=$(sed -n 's/.* \([0-9,]*\) calls$/\1/p' report.txt | head -1 | tr -d ,)
	sum=$(rows | sed 's/(before the first mark)/before/' | awk '{ gsub(",", "", $2); n += $2 } END { print n }')
	[ "$sum" -eq "$total" ]
}

@test "a region counts what was called in it, exactly" {
	cat >three.py <<-'END'
	import os
	os.path.exists("/.syscull/mark/stats")
	for _ in range(250):
	    os.stat("/")
	os.path.exists("/.syscull/mark/end")
	END
	run_apart "$SYSCULL" run --by region -o report.txt -- /usr/bin/python3 three.py
	[ "$status" -eq 0 ]
	rows | grep -Eq '^stats +250 '
}

@test "a region counts what the report is narrowed to" {
	cat >three.py <<-'END'
	import os
	os.stat("/")
	os.path.exists("/.syscull/mark/stats")
	for _ in range(250):
	    os.stat("/")
	    os.getppid()
	try:
	    os.stat("/nowhere")
	except OSError:
	    pass
	os.path.exists("/.syscull/mark/end")
	END
	run_apart "$SYSCULL" run --by region -e @stat,getppid -o report.txt -- /usr/bin/python3 three.py
	rows | grep -Eq '^stats +501 '
	run_apart "$SYSCULL" run --by region -e getppid --format json=report.json -- /usr/bin/python3 three.py
	python3 - <<-'END'
	import json
	regions = {r["name"]: r for r in json.load(open("report.json"))["regions"]}
	assert regions["stats"]["count"] == 250 and regions["stats"]["failed"] == 0, regions
	assert regions["stats"]["top"] == [{"name": "getppid", "count": 250}], regions
	assert regions[""]["count"] == 0 and regions["end"]["count"] == 0, regions
	END
	run_apart "$SYSCULL" run --by region --failed -P /nowhere -o report.txt -- /usr/bin/python3 three.py
	rows | grep -Eq '^stats +1 '
}

@test "a region that comes again goes on" {
	printf 'for i in 1 2 3; do test -e /.syscull/mark/a; test -e /.syscull/mark/b; done; true\n' >script.sh
	run_apart "$SYSCULL" run --by region -o report.txt -- dash script.sh
	[ "$(rows | grep -c '^a ')" -le 1 ]
	[ "$(rows | grep -c '^b ')" -eq 1 ]
	grep -q ' + 6 marks$' report.txt
}

@test "syscull mark is a mark too" {
	run_apart "$SYSCULL" run --by region -o report.txt -- "$SYSCULL" mark 'my test/1'
	[ "$status" -eq 0 ]
	rows | grep -q '^my test/1 '
}

@test "without marks the table says how to make one" {
	run_apart "$SYSCULL" run --by region -o report.txt -- true
	grep -q '^Regions no mark was seen' report.txt
}

@test "mark wants a name; --by wants region" {
	run_apart "$SYSCULL" mark
	[ "$status" -eq 125 ]
	run_apart "$SYSCULL" mark ''
	[ "$status" -eq 125 ]
	run_apart "$SYSCULL" run --by rainbow -- true
	[ "$status" -eq 125 ]
	[[ $errors == *"--by wants region"* ]]
}
