#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# What shells offer behind "syscull".
load helper

# What bash offers for these words, one a line.
offered()
{
	bash --norc -c '
	source ./syscull.bash
	COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
	_syscull
	printf "%s\n" "${COMPREPLY[@]}"' bash "$@"
}

@test "bash completes subcommands, options, rules and commands" {
	"$SYSCULL" completion bash >syscull.bash
	offered syscull che | grep -qx check
	offered syscull '' | grep -qx doctor
	offered syscull check --ma | grep -qx -- --max
	offered syscull run --form | grep -qx -- --format
	offered syscull explain xat | grep -qx xattr-probe
	offered syscull fix --with TZ -- fin | grep -qx find
	offered syscull run tru | grep -qx true
	# The value of an option is no operand, and options end at the command.
	offered syscull run -o lo fin | grep -qx find
	touch operand
	offered syscull run ls opera | grep -qx operand
	offered syscull fix --comp | grep -qx -- --compare
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
