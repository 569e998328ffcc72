# SPDX-License-Identifier: BSD-2-Clause
# Options of run: each of them, abbreviated, wrong, without its argument.
load helper

# fails_with TEXT COMMAND...: status 125, TEXT in one line on stderr, no output.
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

@test "every option that the help names is taken" {
	run_apart "$SYSCULL" run --help
	expect "$status" 0
	expect "$errors" ""
	# Options and the names of their arguments, as the help has them.
	declare -A values=([EXPR]=read [FILE]=report [FORMAT]=text [LIST]=argv [N]=100 [NAME]=ptrace [PATH]=/
		[SHARE,TIME]=1%,100us [HOW]=sites [SIZE]=1M [USER]=root [WHAT]=region [WHEN]=auto)
	tried=0
	while read -r name argument; do
		case $name in
		# Those that take no command, or want --count, have tests of their own.
		--attach | --help | --version | --system | --cgroup | --weight) continue ;;
		--count | --duration | --interval | --max-overhead | --times) continue ;;
		--user) [ "$(id -u)" -eq 0 ] || continue ;;
		esac
		# A report is no configuration.
		case $name in --config | --suppressions) values[FILE]=/dev/null ;; *) values[FILE]=report ;; esac
		[ -z "$argument" ] || [ -n "${values[$argument]-}" ] || expect "an argument that this test knows" "$argument"
		run_apart "$SYSCULL" run "$name" ${argument:+"${values[$argument]}"} -- true
		expect "$name $status" "$name 0"
		[ -z "$argument" ] || {
			run_apart "$SYSCULL" run "$name=${values[$argument]}" -- true
			expect "$name= $status" "$name= 0"
			fails_with "option $name needs $argument" "$SYSCULL" run "$name"
		}
		tried=$((tried + 1))
	done < <(sed -n 's/^  *\(-[a-zA-Z], \)\{0,1\}\(--[a-z-]*\) \{0,1\}\([^ ]*\).*/\2 \3/p' out)
	[ "$tried" -ge 8 ]
}

@test "--user takes a number, with the groups of the user that has it, or with none" {
	[ "$(id -u)" -eq 0 ] || skip "only root can be somebody else"
	chmod 755 .
	run_apart "$SYSCULL" run -q --user 65534 -- id
	expect "$output" "$(setpriv --reuid 65534 --regid "$(id -g nobody)" --init-groups id)"
	run_apart "$SYSCULL" run -q --user 123456 -- sh -c 'id -u; id -G'
	expect "$output" "$(printf '123456\n123456')"
	# What is root's folder cannot be written to in the end: said before, and of run with -v alone.
	mkdir -m 700 state
	XDG_STATE_HOME=$PWD/state run_apart "$SYSCULL" run -q --user 65534 -- true
	expect "$status$errors" 0
	XDG_STATE_HOME=$PWD/state run_apart "$SYSCULL" record --user 65534 -- touch ran
	expect "$status" 125
	grep -q 'no run can be kept: .*; give -o FILE' err
	for wrong in 4294967295 -1 12x ''; do
		run_apart "$SYSCULL" run -q --user "$wrong" -- touch ran
		expect "$status" 125
		grep -q "there is no user" err
	done
	[ ! -e ran ]
}

@test "short options, joined and apart" {
	run_apart "$SYSCULL" run -qo report true
	expect "$status$errors" 0
	run_apart "$SYSCULL" run -voreport true
	expect "$status$errors" 0
	[ -s report ]
	run_apart "$SYSCULL" run -V
	expect "$status" 0
	expect "$output" "$("$SYSCULL" --version)"
	run_apart "$SYSCULL" run -h
	[[ $output == "usage: syscull "* ]]
}

@test "long options can be abbreviated" {
	run_apart "$SYSCULL" run --verb --col=never --out report true
	expect "$status$errors" 0
	[ -s report ]
	fails_with "--verbos" "$SYSCULL" run --verbos=1 true
	fails_with "more than one" "$SYSCULL" run --ver true
}

@test "wrong options name the nearest" {
	fails_with "did you mean --color?" "$SYSCULL" run --colr=never true
	fails_with "did you mean --quiet?" "$SYSCULL" run --quit true
	fails_with "unknown option --zzzzzz" "$SYSCULL" run --zzzzzz true
	fails_with "unknown option -Z" "$SYSCULL" run -Z true
	fails_with "unknown option -Z" "$SYSCULL" -Z true
	fails_with "takes no value" "$SYSCULL" run --quiet=3 true
}

@test "wrong values say what is right" {
	fails_with "auto, always or never, not 'x'" "$SYSCULL" run --color=x true
	fails_with "auto, always or never, not ''" "$SYSCULL" run --pin= true
	fails_with "no engine is called 'magic'" "$SYSCULL" run --engine magic true
	fails_with "--floor: the time '0' needs a unit" "$SYSCULL" run --floor 0,0 true
	fails_with "--floor: a share is at most 100%, not 200%" "$SYSCULL" run --floor 200%,1us true
	fails_with "-e: '' names no call" "$SYSCULL" run -e '' true
	fails_with "-e: there is no call 'opne'; did you mean 'open'?" "$SYSCULL" run -e opne true
	fails_with "region" "$SYSCULL" run --by=day true
	for number in 0 -1 x 1x 1000001 99999999999999999999 ''; do
		fails_with "a number from 1 to 1000000, not '$number'" "$SYSCULL" run "--task-limit=$number" true
	done
	for number in 0 -1 x 2147483648 ''; do
		fails_with "a number from 1 to 2147483647, not '$number'" "$SYSCULL" run "--attach=$number"
	done
	fails_with "no command can be given" "$SYSCULL" run -p 1 ls
}

@test "--duration ends what was attached, and a process that is named twice is watched once" {
	need ptrace "$SYSCULL" run -q -- true
	sleep 60 &
	pid=$!
	for engine in auto ptrace; do
		timeout 30 "$SYSCULL" run --no-keep --engine $engine -p $pid -p $pid --duration 0.3 -o report
		head -n 1 report | grep -q "^attached to $pid (sleep): 1 process"
		timeout 30 "$SYSCULL" record --engine $engine -p $pid --duration 0.3 -o trace
	done
	kill $pid
	# By the link that it was started by.
	ln -s "$(command -v sleep)" dozer
	"$PWD/dozer" 60 &
	pid=$!
	timeout 30 "$SYSCULL" run --no-keep -p $pid --duration 0.3 -o report
	kill $pid
	head -n 1 report | grep -q "^attached to $pid (dozer): 1 process"
	run_apart "$SYSCULL" show trace
	[ "$status" -lt 2 ]
	fails_with "a command is watched to its end" "$SYSCULL" run --duration 1 true
	fails_with "a command is watched to its end" "$SYSCULL" record --duration 1 -o trace true
}

@test "missing arguments" {
	for name in output attach color engine pin task-limit; do
		fails_with "option --$name needs" "$SYSCULL" run "--$name"
	done
	fails_with "option -o needs FILE" "$SYSCULL" run -o
	fails_with "option -p needs PID" "$SYSCULL" run -qp
	fails_with "no command given" "$SYSCULL" run
	fails_with "no command given" "$SYSCULL" run --
	fails_with "no command given" "$SYSCULL" run -q
	fails_with "no command given" "$SYSCULL" --
}

@test "options stop at the first word that is none" {
	run_apart "$SYSCULL" run -q echo -q --color x -- y
	expect "$output" "-q --color x -- y"
	run_apart "$SYSCULL" run -q -- echo -- -v
	expect "$output" "-- -v"
	run_apart "$SYSCULL" -q -- echo a
	expect "$output" a
}

@test "at most 64 processes can be named" {
	pids=()
	for n in $(seq 65); do pids+=(-p $((4194303 - n))); done
	fails_with "at most 64 processes" "$SYSCULL" run "${pids[@]}"
}
