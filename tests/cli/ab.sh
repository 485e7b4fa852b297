#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The rows of make ab (bench/ab.jq), and what bench/ab refuses before it boots anything.
# The conditions are evaluated by holds().
# shellcheck disable=SC2016,SC2034,SC2317
. tests/check.inc
command -v jq >/dev/null || {
	echo "jq is not installed: make deps"
	exit 77
}
export BUILD="${BUILD:-build}" KERNEL_A=none KERNEL_B=none OUT="$work/ab"

# workload NAME STATUS IPIS...: as in a result, a run for each number of interrupts.
workload() {
	name=$1
	status=$2
	shift 2
	jq -n --arg name "$name" --arg status "$status" '{ $name, parameters: { pages: 100 },
		runs: [$ARGS.positional[] | { $status, values: { remote_ipis: . }, absent: {} }] }' \
		--jsonargs "$@"
}

result() {
	jq -s '{ workloads: . }'
}

{
	workload falls ok 1000 2000
	workload still ok 0 0
	workload rises ok 0 0
	workload refused unsupported null
	workload alone ok 5
	workload mixed ok 8 null
	workload idle no_work 7
} | result >"$work/a"
{
	workload falls ok 3 0 0
	workload still ok 0
	workload rises ok 4
	workload refused unsupported null
	workload mixed ok 10
	workload idle no_work 7
} | result >"$work/b"
jq -n --slurpfile a "$work/a" --slurpfile b "$work/b" --argjson metrics '["remote_ipis"]' \
	-f bench/ab.jq >"$work/rows" 2>"$work/err"

# row TEST CONDITION
row() {
	jq -e --arg test "$1" ".[] | select(.test == \$test) | $2" "$work/rows" >/dev/null
}

holds "every workload has its row" '[ "$(jq length "$work/rows")" -eq 7 ]'
holds "means, each with its number of runs" \
	'row falls ".baseline == { n: 2, mean: 1500 } and .patched == { n: 3, mean: 1 }"'
holds "the change is of the means" 'row falls ".change == \"-99.93%\""'
holds "0 to 0 is no change" 'row still ".change == \"0%\""'
holds "a change from 0 has no percentage" 'row rises ".change == \"new\""'
holds "what cannot run is no 0" \
	'row refused ".baseline == { n: 0, mean: null, why: \"unsupported\" } and .change == null"'
holds "a run without work is not counted" 'row idle ".baseline == { n: 0, mean: null, why: \"no_work\" }"'
holds "what one side does not have is no 0" \
	'row alone ".patched == { n: 0, mean: null, why: \"not run\" } and .change == null"'
holds "a value that is absent is not counted" 'row mixed ".baseline == { n: 1, mean: 8 }"'

printf 'test\tn\tchange\nlong name\t7\t-1%%\n' >"$work/cells"
(
	# shellcheck source=bench/guests.inc
	. bench/guests.inc
	text_table 1 "$work/cells" >"$work/table.txt"
	markdown_table 1 "$work/cells" >"$work/table.md"
)
holds "columns are as wide as their widest cell" \
	'printf "test       n  change\nlong name  7     -1%%\n" | cmp -s - "$work/table.txt"'
holds "in Markdown each column has its rule" \
	'printf "| test | n | change |\n|---|---:|---:|\n| long name | 7 | -1%% |\n" | cmp -s - "$work/table.md"'

# refuses_setting NAME VALUE
refuses_setting() {
	setting=$1
	env "$1=$2" bench/ab >"$work/out" 2>"$work/err"
	code=$?
	holds "$1='$2' is refused by name" \
		'[ $code -eq 2 ] && grep -qF "$setting: expected a number" "$work/err" && [ ! -e "$OUT" ]'
}
refuses_setting CPUS 1
refuses_setting CPUS '16 many'
refuses_setting RUNS 0
refuses_setting BOOTS -1
refuses_setting PAGES 1k
exit $failed
