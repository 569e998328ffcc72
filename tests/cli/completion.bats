#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# What shells offer behind "syscull".
load helper

# What bash offers for this line, one a line.  It splits words at "@" and "=",
# and puts what is offered in the place of the last piece only, an "@" included.
offered()
{
	bash --norc -c '
	source ./syscull.bash
	COMP_LINE=$1 COMP_POINT=${#1}
	read -ra COMP_WORDS <<<"${1//[@=]/ & }"
	[[ $1 == *" " ]] && COMP_WORDS+=("")
	COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
	_syscull
	printf "%s\n" "${COMPREPLY[@]}"' bash "$1"
}

# Exactly these words are offered for the line.
offers()
{
	expect "$(offered "$1" | sort | tr '\n' ' ')" "$2 "
}

@test "bash completes subcommands, options, rules and commands" {
	"$SYSCULL" completion bash >syscull.bash
	offers 'syscull che' check
	# Subcommands alone, each once; programs where no subcommand is meant.
	expect "$(offered 'syscull ' | wc -l)" "$("$SYSCULL" --help | grep -c '^  [a-z][a-z]* ')"
	offers 'syscull ru' "rules run"
	offered 'syscull tru' | grep -qx true
	offered 'syscull run ' >all
	grep -qx env all
	expect "$(grep -cx 'while\|for\|{' all)" 0
	expect "$(sort all | uniq -d)" ""
	offered 'syscull check --ma' | grep -qx -- --max
	offers 'syscull run --form' --format
	offers 'syscull explain xat' xattr-probe
	offers 'syscull completion ' "bash fish zsh"
	offered 'syscull fix --with TZ -- fin' | grep -qx find
	offered 'syscull run tru' | grep -qx true
	# The value of an option is no operand, and options end at the command.
	offered 'syscull run -o lo fin' | grep -qx find
	touch operand
	offers 'syscull run ls opera' operand
	offers 'syscull report opera' operand
	offers 'syscull fix --comp' --compare
}

@test "bash completes the values of options" {
	"$SYSCULL" completion bash >syscull.bash
	offers 'syscull run --engine ' "auto bpf ptrace"
	offers 'syscull --engine=p' ptrace
	offers 'syscull record --pin ' "always auto never"
	offers 'syscull report --color=a' "always auto"
	offers 'syscull record --stacks ' "deep off sites"
	offers 'syscull show --format ' "strace tsv"
	offers 'syscull diff --format m' markdown
	offers 'syscull check --format ju' junit
	offers 'syscull report --format ju' ""
	offers 'syscull fix --with TZ,nofile-s' TZ,nofile-soft
	# The piece from the "@" on, at which bash split the word.
	offers 'syscull run -e @clo' @close
	offers 'syscull run -e open,@clo' @close
	offers 'syscull run -e !%fil' '!%file'
	offers 'syscull run --trace=lgetx' lgetxattr
	offers 'syscull check --max @xat' @xattr
	offers 'syscull check --max xat' xattr-probe
}

# What is offered is what is taken.
@test "every value that is offered is one" {
	"$SYSCULL" completion bash >syscull.bash
	need ptrace "$SYSCULL" run -q -- true
	for option in --color --pin --stacks --by --weight; do
		[ "$(offered "syscull run $option " | wc -l)" -gt 1 ]
		for value in $(offered "syscull run $option "); do
			with=
			[ $option != --weight ] || with="--format collapsed=stacks"
			# shellcheck disable=SC2086
			run_apart "$SYSCULL" run -q --no-keep --engine ptrace $with $option "$value" -- true
			expect "$status$errors" 0
		done
	done
	for value in $(offered 'syscull report --format '); do
		run_apart "$SYSCULL" report --format "$value" no-such-file
		[[ $errors == *"no-such-file: No such file"* ]]
	done
	offered 'syscull run -e ' >values
	[ "$(wc -l <values)" -gt 350 ]
	run_apart "$SYSCULL" run -q --no-keep -e "$(paste -sd , values)" -- true
	expect "$status$errors" 0
}

# What the real shells offer, with the user's settings left out: zsh at a pseudo-terminal.
@test "fish offers what bash offers" {
	command -v fish >/dev/null || skip "no fish"
	"$SYSCULL" completion fish >syscull.fish
	touch operand.trace
	fish_offers()
	{
		expect "$(HOME=$PWD fish -c "source syscull.fish; complete -C '$1'" | cut -f1 | sort | tr '\n' ' ')" "${2:+$2 }"
	}
	fish_offers 'syscull che' check
	fish_offers 'syscull run --max-o' --max-overhead
	fish_offers 'syscull --engine=p' --engine=ptrace
	fish_offers 'syscull --pin ' "always auto never"
	fish_offers 'syscull show --format ' "strace tsv"
	fish_offers 'syscull explain xat' xattr-probe
	fish_offers 'syscull fix --with TZ,nofile-s' TZ,nofile-soft
	fish_offers 'syscull run --trace=open,!@clo' '--trace=open,!@close'
	fish_offers 'syscull check --max xat' xattr-probe
	fish_offers 'syscull diff opera' operand.trace
	fish_offers 'syscull explain opera' ""
	fish_offers 'syscull run --pin auto syscull explain xat' xattr-probe
	fish_offers 'syscull fix --with TZ -- syscull explain xat' xattr-probe
	fish_offers 'syscull run -o opera' operand.trace
	fish_offers 'syscull run -o x ls opera' operand.trace
}

@test "zsh offers what bash offers" {
	command -v zsh >/dev/null || skip "no zsh"
	"$SYSCULL" completion zsh >_syscull
	touch operand.trace
	cat >wanted <<-'END'
		syscull che|check
		syscull run --max-o|--max-overhead
		syscull --engine=p|--engine=ptrace
		syscull --pin |always auto never
		syscull show --format |strace tsv
		syscull explain xat|xattr-probe
		syscull fix --with TZ,nofile-s|TZ,nofile-soft
		syscull run --trace=open,!@clo|--trace=open,!@close
		syscull check --max xat|xattr-probe
		syscull diff opera|operand.trace
		syscull explain opera|
		syscull run --pin auto syscull explain xat|xattr-probe
		syscull fix --with TZ -- syscull explain xat|xattr-probe
		syscull run -o opera|operand.trace
		syscull run -o x ls opera|operand.trace
	END
	cut -d'|' -f1 wanted | HOME=$PWD timeout 60 "$SYSCULL_TOP/tests/cli/zsh-offered" | diff wanted -
}

@test "every option of every subcommand is in each script" {
	for shell in bash zsh fish; do
		"$SYSCULL" completion $shell >script
		"$SYSCULL" --help | sed -n 's/^  \([a-z]*\) .*/\1/p' >subcommands
		[ "$(wc -l <subcommands)" -gt 6 ]
		while read -r subcommand; do
			"$SYSCULL" "$subcommand" --help | grep -o -- '--[a-z-]* ' | sort -u | while read -r option; do
				name=${option#--}
				grep -q -- "--$name\|-l $name" script || {
					echo "$shell: $subcommand $option" >&2
					exit 1
				}
			done
		done <subcommands
	done
}

@test "the scripts are in the language of their shells" {
	"$SYSCULL" completion bash >c.bash
	bash -n c.bash
	"$SYSCULL" completion zsh >_c
	"$SYSCULL" completion fish >c.fish
	if command -v zsh >/dev/null; then zsh -n _c; fi
	if command -v fish >/dev/null; then fish --no-execute c.fish; fi
	run_apart "$SYSCULL" completion tcsh
	[ "$status" -eq 125 ]
	expect "$errors" "syscull: completion wants one of bash, zsh, fish"
}
