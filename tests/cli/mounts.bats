#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# What a command mounts while we watch is known by its own name.
load helper

# The report as one line: Where is wrapped.
as_one_line()
{
	tr -s '\n ' ' ' <"$1"
}

@test "a file system that the command mounts is named" {
	need mount unshare -m true
	mkdir point
	cat >script.sh <<-'END'
	mount -t ramfs none point || exit 1
	mkdir point/d
	i=0
	while [ $i -lt 60 ]; do : >point/d/$i; i=$((i + 1)); done
	ls -l point/d >/dev/null
	tar --xattrs --acls --selinux -cf /dev/null point/d
	END
	# Once within the new namespace, once with the namespace made under our eyes.
	run_apart "$SYSCULL" run -v -o new.txt -- unshare -m sh script.sh
	[ "$status" -eq 0 ]
	as_one_line new.txt | grep -q 'Where 60 files in [^;]*; ramfs'
	run_apart unshare -m "$SYSCULL" run -v -o inside.txt -- sh script.sh
	[ "$status" -eq 0 ]
	as_one_line inside.txt | grep -q 'Where 60 files in [^;]*; ramfs'
}
