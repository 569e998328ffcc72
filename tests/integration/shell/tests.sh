#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# usage: tests.sh LISTER FOLDER
failed=0

# budget NAME OPTION... -- COMMAND...
budget()
{
	name=$1
	shift
	if syscull check --verdict-file verdict "$@" >out 2>err; then
		echo "ok - $name"
	else
		echo "not ok - $name ($(head -n 1 verdict))"
		sed 's/^/# /' err
		failed=1
	fi
}

budget 'asks no file for attributes' --max '@xattr=3' --canary '@stat>=20' -- "$1" "$2"
budget 'closes what is open only' --max close:EBADF=0 --canary 'close>=1' -- "$1" "$2"
exit $failed
