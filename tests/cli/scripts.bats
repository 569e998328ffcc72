#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Findings name the script that an interpreter runs.

load helper

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	mkdir d
	printf '%s\n' '#!/bin/bash -e' 'for ((i = 0; i < 300; i++)); do [ -e /etc/passwd ]; done' >d/look.sh
	cp d/look.sh other.sh
	printf '%s\n' 'import os' 'for i in range(300): os.stat("/etc/passwd")' >d/look.py
	chmod +x d/look.sh other.sh
	# A busy machine makes pauses; all calls are to be counted.
	printf '[rule repeated-stat]\ngap = 1000s\n' >.syscull.conf
	"$SYSCULL" run --engine ptrace -q --no-keep -- true || skip "no ptrace here"
}

# What is said of the finding in JSON: kind and name.
script_in() {
	/usr/bin/python3 -c '
import json, sys
found = [f for f in json.load(open(sys.argv[1]))["findings"] if f["rule"] == "repeated-stat" and not f["information"]]
assert len(found) == 1, found
print(found[0]["script"] and "{kind} {name}".format(**found[0]["script"]))' "$1"
}

look() {
	run_apart "$SYSCULL" run --engine ptrace --no-keep -v --format text --format json=j --format html=h \
		--format issue=i "$@"
	expect "$status" 0
}

@test "a script, by its whole path" {
	look -- /usr/bin/python3 -u -W ignore d/look.py
	expect "$(script_in j)" "file $PWD/d/look.py"
	# A long path is on lines of its own.
	[[ $errors == *" script: "* ]]
	grep -qF "script: $PWD/d/look.py" h
	grep -q '^# look.py: ' i
	look -- bash -e d/look.sh
	expect "$(script_in j)" "file $PWD/d/look.sh"
	look -- d/look.sh
	expect "$(script_in j)" "file $PWD/d/look.sh"
}

@test "no script: a command line, a module, an unknown option" {
	look -- bash -c '. d/look.sh'
	expect "$(script_in j)" "command-line None"
	[[ $errors == *" a command line"* ]]
	(cd d && look -- /usr/bin/python3 -m look && cp j ..)
	expect "$(script_in j)" "module look"
}

@test "of several scripts none is named, of one in several processes that one" {
	look -- sh -c 'd/look.sh; d/look.sh'
	expect "$(script_in j)" "file $PWD/d/look.sh"
	look -- sh -c 'd/look.sh; ./other.sh'
	expect "$(script_in j)" None
	[[ $errors != *"script: "* ]]
}

@test "a script's name is foreign text, and can be hidden" {
	local name=$'d/\e[31mred<b>.sh'
	cp d/look.sh "$name"
	look -- bash "$name"
	[[ $errors == *"033[31mred<b>.sh"* || $errors == *"x1b[31mred<b>.sh"* || $errors == *"\\e[31mred<b>.sh"* ]]
	! grep -q $'\e' err h i
	grep -q 'red&lt;b&gt;.sh' h
	look --redact paths,argv -- bash d/look.sh
	! grep -qF look.sh err j h i
}
