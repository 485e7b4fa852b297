#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# tests/run itself: what fails, crashes, hangs, or ends too early is counted as a failure.
# timeout: 120
unset TEST_ONLY
top=$(pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bad=0
tests=

# shell NAME LINE...: a shell test.
shell() {
	name=$1
	shift
	printf '%s\n' '#!/bin/sh' "$@" >"$work/$name.sh"
	chmod +x "$work/$name.sh"
}

# expect WHAT CODE "CLOSING LINE" "PART OF A LINE": of the run of the tests named by $tests.
expect() {
	paths=
	for name in $tests; do
		paths="$paths $work/$name"
	done
	# shellcheck disable=SC2086
	"$top/tests/run" $paths >"$work/out" 2>&1
	code=$?
	if [ "$code" -eq "$2" ] && [ "$(tail -n 1 "$work/out")" = "$3" ] &&
		grep -qF -e "$4" "$work/out" &&
		[ "$(grep -c '^[0-9]* passed, [0-9]* failed, [0-9]* skipped$' "$work/out")" -le 1 ]; then
		echo "ok $1"
	else
		echo "not ok $1"
		echo "exit code $code, output:"
		cat "$work/out"
		bad=1
	fi
}

shell pass true
shell fail "seq 1 50" "exit 3"
shell skip "echo no swap here" "exit 77"
shell many "echo ok first" "echo not ok second" "echo ok third" "exit 1"
shell silent_fail "echo ok first" "exit 1"
shell lying "echo not ok first" "exit 0"
shell hang "# timeout: 1" "sleep 60"
shell stubborn "# timeout: 1" "trap '' TERM" "while :; do sleep 0.2; done"
shell crash "kill -SEGV \$\$"
shell closing "echo '9 passed, 9 failed, 9 skipped'" "exit 1"
shell unfinished "printf 'ok first\nok last'"

tests=pass.sh expect "a test that passes" 0 "1 passed, 0 failed, 0 skipped" "/pass ("
tests=fail.sh expect "a test that fails, with the end of its output" 1 \
	"0 passed, 1 failed, 0 skipped" "      | 50"
grep -q '| 10$' "$work/out" && echo "not ok only the last 40 lines are shown" && bad=1
tests=skip.sh expect "a test that is skipped, with its reason" 0 \
	"0 passed, 0 failed, 1 skipped" "/skip: no swap here ("
tests=many.sh expect "several tests in a file" 1 "2 passed, 1 failed, 0 skipped" "FAIL  "
tests=silent_fail.sh expect "a file that fails after its tests" 1 \
	"1 passed, 1 failed, 0 skipped" "exit code 1"
tests=lying.sh expect "exit 0 does not hide a failed test" 1 \
	"0 passed, 1 failed, 0 skipped" "/lying: first"
tests=hang.sh expect "a test over its limit" 1 "0 passed, 1 failed, 0 skipped" "over its limit of 1 s"
tests=crash.sh expect "a test that crashes" 1 "0 passed, 1 failed, 0 skipped" "killed by signal 11"
tests=closing.sh expect "output that looks like the closing line" 1 \
	"0 passed, 1 failed, 0 skipped" "      | 9 passed"
tests=unfinished.sh expect "a last line without its newline" 0 "2 passed, 0 failed, 0 skipped" "last"
tests="pass.sh skip.sh fail.sh" expect "one failure among others" 1 \
	"1 passed, 1 failed, 1 skipped" "/pass ("
tests=stubborn.sh expect "a test that ignores SIGTERM" 1 \
	"0 passed, 1 failed, 0 skipped" "over its limit of 1 s"
TEST_ONLY=pa export TEST_ONLY
tests="pass.sh fail.sh" expect "TEST_ONLY selects by a part of the path" 0 \
	"1 passed, 0 failed, 0 skipped" "/pass ("
TEST_ONLY="f*l.sh"
tests="pass.sh fail.sh" expect "TEST_ONLY selects by a pattern" 1 \
	"0 passed, 1 failed, 0 skipped" "/fail: exit code 3"
TEST_ONLY=nothing-like-it
tests=pass.sh expect "a selection of nothing is an error" 2 \
	"tests/run: no test has \"nothing-like-it\" in its path; 1 were given" ""
unset TEST_ONLY

cat >"$work/program.c" <<'END'
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

static void good(void **state)
{
	(void)state;
}

static void second(void **state)
{
	(void)state;
	SECOND;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(good),
		cmocka_unit_test(second),
		cmocka_unit_test(good),
	};

	return cmocka_run_group_tests(tests, NULL, NULL) + AT_END;
}
END

# program NAME SECOND [AT_END]
program() {
	if ! ${CC:-cc} -DSECOND="$2" -DAT_END="${3:-0}" "$work/program.c" -lcmocka -o "$work/$1"; then
		echo "not ok build of $1"
		bad=1
	fi
}

program test_good "(void)0"
program test_bad "assert_int_equal(1, 2)"
program test_skipped "skip()"
program test_abort "abort()"
program test_segv "*(volatile int *)8 = 1"
program test_exit "exit(0)"
program test_late "(void)0" 23

tests=test_good expect "each test of a cmocka program counts" 0 \
	"3 passed, 0 failed, 0 skipped" "/test_good: second ("
tests=test_bad expect "a cmocka test that fails, with the reason" 1 \
	"2 passed, 1 failed, 0 skipped" "0x1 != 0x2"
tests=test_skipped expect "a cmocka test that is skipped" 0 \
	"2 passed, 0 failed, 1 skipped" "skip  "
tests=test_abort expect "a cmocka program that aborts" 1 \
	"1 passed, 1 failed, 0 skipped" "killed by signal 6 after 1 of 3 tests"
tests=test_segv expect "a cmocka test that crashes" 1 "2 passed, 1 failed, 0 skipped" "Segmentation"
tests=test_exit expect "a cmocka program that ends too early with exit 0" 1 \
	"1 passed, 1 failed, 0 skipped" "exit code 0 after 1 of 3 tests"
tests=test_late expect "a program that fails after its tests, as with a leak" 1 \
	"3 passed, 1 failed, 0 skipped" "exit code 23 after its tests had passed"
tests=test_missing expect "a program that is not there" 1 \
	"0 passed, 1 failed, 0 skipped" "after 0 of ? tests"

cp "$work/fail.sh" "$work/fuzz_fails"
tests=fuzz_fails expect "a fuzz target that fails" 1 "0 passed, 1 failed, 0 skipped" "to run it again"
exit $bad
