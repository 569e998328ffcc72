# SPDX-License-Identifier: BSD-2-Clause
# check --baseline, --update-baseline, --prune-baseline.
load helper

json()
{
	/usr/bin/python3 -c 'import json, sys; r = json.load(open(sys.argv[1])); print(eval(sys.argv[2]))' "$@"
}

count()
{
	json base.json "sum(c['count'] for c in r['calls'] if c['name'] == '$1')"
}

# Looks at so many files.
look()
{
	local n=$1 names=()
	while [ "$n" -gt 0 ]; do
		names+=("nope$n")
		n=$((n - 1))
	done
	look=(sh -c 'for i; do test -e "$i"; done; :' sh "${names[@]}")
}

check()
{
	run_apart "$SYSCULL" check --baseline base.json "$@" -- "${look[@]}"
}

@test "what is new or has grown fails, what is less passes" {
	look 5
	check
	expect "$status" 125
	[[ $errors == *"cannot judge: the baseline base.json: No such file"*update-baseline* ]]
	[ ! -e base.json ]
	check --update-baseline
	expect "$status$errors" 0
	check
	expect "$status$errors" 0
	look 6
	check
	expect "$status" 121
	[[ $errors == *"has grown since the baseline"* ]]
	look 4
	check
	expect "$status$errors" 0
	check -v
	[[ $(tr -s '\n ' ' ' <err) == *"base.json: 0 new or grown, 1 gone or fewer; --prune-baseline takes these out"* ]]
	# A call that was not made before.
	look=(sh -c 'cd /; test -e nope1; :')
	check --format json=report.json
	expect "$status" 121
	expect "$(json report.json '[(c["kind"], c["before"], c["after"]) for c in r["baseline"]["changes"] if c["name"] == "chdir"]')" \
		"[('call', 0, 1)]"
	expect "$(json report.json 'r["verdict"]["state"]')" failed
}

@test "updating raises, pruning lowers, both replace" {
	local few many
	look 3
	check --update-baseline
	few=$(json base.json 'sum(c["count"] for c in r["calls"])')
	look 8
	check --update-baseline
	expect "$status$errors" 0
	many=$(json base.json 'sum(c["count"] for c in r["calls"])')
	expect "$many" $((few + 5))
	look 3
	check --update-baseline
	expect "$(json base.json 'sum(c["count"] for c in r["calls"])')" "$many"
	check --prune-baseline
	expect "$status$errors" 0
	expect "$(json base.json 'sum(c["count"] for c in r["calls"])')" "$few"
	look 8
	check --prune-baseline
	expect "$status" 121
	expect "$(json base.json 'sum(c["count"] for c in r["calls"])')" "$few"
	check --prune-baseline --update-baseline
	expect "$status$errors" 0
	expect "$(json base.json 'sum(c["count"] for c in r["calls"])')" "$many"
}

@test "equal runs make equal files, which are reports" {
	look 3
	check --update-baseline
	cp base.json first.json
	rm base.json
	check --update-baseline
	cmp base.json first.json
	# Through the reader and back.
	check --update-baseline
	cmp <(json base.json 'json.dumps(r)') <(json first.json 'json.dumps(r)')
	need python3-jsonschema /usr/bin/python3 -c 'import jsonschema'
	/usr/bin/python3 -c 'import json, jsonschema, sys
jsonschema.validate(json.load(open("base.json")), json.load(open(sys.argv[1])))' "$SYSCULL_TOP/docs/schema/run.schema.json"
}

@test "findings are compared by fingerprint" {
	mkdir d
	cat >sweep.py <<-'END'
		import os, sys
		for fd in range(300, 300 + int(sys.argv[1])):
		    try:
		        os.close(fd)
		    except OSError:
		        pass
	END
	look=(/usr/bin/python3 -S -E sweep.py 10)
	"${look[@]}" || skip "no python3"
	check --update-baseline
	look=(/usr/bin/python3 -S -E sweep.py 200)
	check
	expect "$status" 121
	tr -s '\n ' ' ' <err | grep -q 'the finding fd-sweep by python3[^ ]* is new since the baseline: 200 calls'
	check --update-baseline
	look=(/usr/bin/python3 -S -E sweep.py 300)
	check
	tr -s '\n ' ' ' <err | grep -q 'the finding fd-sweep by python3[^ ]* has grown since the baseline: 300 calls, there 200'
	printf '[suppress]\nrule = fd-sweep\nreason = known\n' >known
	check --suppressions known --format json=report.json
	expect "$(json report.json '[c["name"] for c in r["baseline"]["changes"]]')" "['close']"
}

@test "a baseline holds no pids, homes, or names of machines" {
	mkdir -p home/me/project
	HOME=$PWD/home/me
	host=$(uname -n)
	export HOME
	: >"home/me/project/$host.txt"
	look=(sh -c 'sleep 0 & echo $! $$ $PPID >pids; wait; test -e "$1"; exec find "$2" -name "*.none"' sh
		"$HOME/project/$host.txt" "$HOME/project")
	check --update-baseline
	expect "$status$errors" 0
	[ -s pids ]
	# Nothing of it, whatever its name is.
	/usr/bin/python3 - "$HOME" "$host" $(cat pids) <<-'END'
		import json, re, sys
		home, host, *pids = sys.argv[1:]
		text = open("base.json").read()
		report = json.loads(text)
		bad = []
		if home in text or "/root" in text or "/home/" in text:
		    bad.append("a home")
		if re.search(r"\b" + re.escape(host) + r"\b", text) and host != "localhost":
		    bad.append("the machine")
		strings = []
		def walk(node, key=None):
		    if isinstance(node, dict):
		        for name, value in node.items():
		            if name in ("pid", "parent") and value is not None:
		                bad.append(name)
		            walk(value, name)
		    elif isinstance(node, list):
		        for value in node:
		            walk(value, key)
		    elif isinstance(node, str):
		        strings.append(node)
		walk(report)
		bad += [pid for pid in pids if len(pid) > 3 and any(re.search(rf"\b{pid}\b", s) for s in strings)]
		if report["processes"]:
		    bad.append("processes")
		assert report["command"][0] == "sh" and "~/project" in report["command"][-1], report["command"]
		sys.exit("found: " + ", ".join(bad) if bad else 0)
	END
}

@test "where it was made is told when it fails" {
	look 3
	LC_ALL=C PATH=/usr/bin:/bin check --update-baseline
	look 5
	(ulimit -Sn 64 && LC_ALL=C PATH=/usr/bin:/bin:/nonesuch check)
	text=$(tr -s '\n ' ' ' <err)
	[[ $text == *"the baseline was made elsewhere: soft limit of open files"*"(baseline), 64 (here)"* ]]
	[[ $text == *"entries of PATH 2 (baseline), 3 (here)"* ]]
	! [[ $text == *"locale"* ]]
}

@test "what is no baseline cannot be judged by, and is not overwritten" {
	look 3
	check --update-baseline
	cp base.json good.json
	while IFS='|' read -r edit says; do
		/usr/bin/python3 -c "import json; text = open('good.json').read(); r = json.loads(text); $edit
open('base.json', 'w').write(text)"
		cp base.json before.json
		check
		expect "$edit: $status" "$edit: 125"
		tr -s '\n ' ' ' <err | grep -qF "syscull: cannot judge: base.json $says" || expect "$errors" "...$says..."
		case $says in
		"has schema"*) ;;
		*)
			check --update-baseline
			expect "$edit: $status" "$edit: 125"
			cmp base.json before.json
			;;
		esac
	done <<-'END'
		text = ''|is no report of syscull, or torn
		text = text[:len(text) // 2]|is no report of syscull, or torn
		text = '[budget]'|is no report of syscull, or torn
		text = '[' * 100000|is no report of syscull, or torn
		text = '{}'|is no report of syscull: 'tool', 'schema' or 'kind' is missing or odd
		text = '{"name": "left-pad", "version": "1.0.0"}'|is no report of syscull
		r['schema'] = 2; text = json.dumps(r)|has schema 2, this version compares with 1
		r['calls'] = 7; text = json.dumps(r)|is no report of syscull: 'calls' is missing or odd
		r['calls'][0]['count'] = -1; text = json.dumps(r)|is no report of syscull
	END
	# Of another schema it is ours, and is made again.
	sed 's/"schema": 1/"schema": 2/' good.json >base.json
	check --update-baseline
	expect "$status$errors" 0
	cmp base.json good.json
	chmod 0 base.json
	if [ "$(id -u)" -ne 0 ]; then
		check
		expect "$status" 125
	fi
}

@test "nothing is written by a run to go by nothing" {
	look=(sh -c 'exit 3')
	check --update-baseline
	expect "$status" 3
	[ ! -e base.json ]
	grep -q 'base.json is left as it is' err
	look 3
	check --update-baseline --canary 'mount>=1'
	expect "$status" 125
	[ ! -e base.json ]
	look=(sh -c 'kill -TERM $$')
	check --update-baseline
	expect "$status" 143
	[ ! -e base.json ]
	look 3
	run_apart "$SYSCULL" check --update-baseline -- true
	expect "$status" 125
	expect "$errors" "syscull: --update-baseline goes with --baseline FILE"
	run_apart "$SYSCULL" check --baseline base.json --per-item n=1:2 -- sh -c ': {n}'
	expect "$status" 125
	check --baseline nowhere/base.json --update-baseline
	expect "$status" 125
	grep -q 'nowhere/base.json' err
}

@test "any report of a run is a baseline" {
	look 3
	"$SYSCULL" run -q --format json=base.json -- "${look[@]}"
	check
	expect "$status$errors" 0
	"$SYSCULL" run -q -e %file --format json=base.json -- "${look[@]}"
	check
	expect "$status" 125
	[[ $errors == *"look at"*"different calls"* ]]
}
