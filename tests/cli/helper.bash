# SPDX-License-Identifier: BSD-2-Clause
# What every .bats file loads.  The command under test is $SYSCULL, which meson
# sets; sources are in $SYSCULL_TOP; every test works in a directory of its own.

if [ -z "${SYSCULL-}" ]; then
	SYSCULL=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)/build/syscull
fi
SYSCULL_TOP=${SYSCULL_TOP:-$(cd "$BATS_TEST_DIRNAME/../.." && pwd)}
export SYSCULL SYSCULL_TOP

# The reports are compared as text: what the user's environment says is out.
export LC_ALL=C.UTF-8 TERM=dumb XDG_CACHE_HOME=/dev/null XDG_STATE_HOME=/dev/null
unset NO_COLOR TZ CI

setup()
{
	cd "$BATS_TEST_TMPDIR" || return 1
}

# need NAME COMMAND...: skips this test when COMMAND fails, unless
# SYSCULL_REQUIRE names NAME: then it fails.
need()
{
	local name=$1
	shift
	"$@" >/dev/null 2>&1 && return 0
	case ,${SYSCULL_REQUIRE-}, in
	*,$name,*)
		echo "$name is required, but this failed: $*" >&2
		return 1
		;;
	esac
	skip "no $name: $*"
}

# Both streams of a run apart, in $output, $errors, and its $status.
run_apart()
{
	status=0
	"$@" >out 2>err </dev/null || status=$?
	output=$(<out)
	errors=$(<err)
}

# Says what was there when a comparison fails.
expect()
{
	[ "$1" = "$2" ] || {
		printf 'expected: %s\ngot:      %s\n' "$2" "$1" >&2
		return 1
	}
}
