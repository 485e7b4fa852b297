#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# What cannot be understood is refused with exit 2, and the message names what was given.
# shellcheck source=tests/check.inc
. tests/check.inc
program=${BUILD:-build}/tlbstat

refuses "an interval that is no time" '"1e"' 1e
refuses "a command that there is not" "neither a time nor a command" chek
refuses "an interval of zero" "'0'" 0
refuses "an interval below 10 ms" "'1ms'" 1ms
refuses "an interval of centuries" "'18446744073'" 18446744073
refuses "a negative interval" "-1" -- -1
refuses "a count of zero" '"0"' 1 0
refuses "a count that is no number" '"3x"' 1 3x
refuses "a third argument" "'9'" 1 2 9
refuses "JSON and CSV at once" "exclude" --json --csv
refuses "an unknown option" "--nonsense" --nonsense
refuses "an unknown way to classify" "'often'" --classify=often
refuses "an unknown method" "'magic'" --method=magic
refuses "an unknown way to count TLBIs" "'maybe'" --tlbi=maybe
refuses "TLBIs without kprobes" "needs kprobes" --tlbi=exact --method=fentry
[ "$(uname -m)" = aarch64 ] ||
	gives 77 "TLBIs where there are none" "only arm64 has TLBI instructions" --tlbi=exact 1 1
refuses "a command behind the options" "tlbstat check" -v check
refuses "CSV of check" "--csv" check --csv
refuses "run without a command" "which command" run
refuses "an argument to check" "Too many" check x
exit $failed
