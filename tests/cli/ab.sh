#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# When make ab says that two measurements agree (bench/agree.jq), and what bench/ab refuses before it
# boots anything.
# The conditions are evaluated by holds().
# shellcheck disable=SC2016,SC2034,SC2317
. tests/check.inc
command -v jq >/dev/null || {
	echo "jq is not installed: make deps"
	exit 77
}
export BUILD="${BUILD:-build}" KERNEL_A=none KERNEL_B=none OUT="$work/ab"

# answer NAME MIN_A MAX_A MIN_B MAX_B CHANGE...: as of "tlbbench compare --json --metrics remote_ipis". In
# place of a number, a word is why a side has none.
answer() {
	while [ $# -gt 0 ]; do
		jq -n --arg name "$1" --arg low_a "$2" --arg high_a "$3" --arg low_b "$4" --arg high_b "$5" \
			--argjson change "$6" 'def cell($low; $high):
				if $low | test("^[0-9]") then { n: 5, min: ($low | tonumber), max: ($high | tonumber) }
				else { n: 0, state: $low } end;
			{ $name, parameters: { pages: 100 }, metrics: [{ name: "remote_ipis",
				a: cell($low_a; $high_a), b: cell($low_b; $high_b), change_percent: $change }] }'
		shift 6
	done | jq -s '{ workloads: . }'
}

answer same 100 100 0 0 -100 near 1000 1000 80 80 -92 far 1000 1000 80 80 -92 \
	wide 50 60 3 6 -91.5 half 50 60 3 6 -91.5 still 0 0 0 0 0 rises 0 0 5 7 null \
	apart 0 0 5 7 null refused unsupported - 3 3 null alone 1 2 1 2 0 >"$work/kernels"
answer same 100 100 0 0 -100 near 1000 1000 60 60 -94 far 1000 1000 59 59 -94.1 \
	wide 55 70 6 9 -87 half 55 70 7 9 -85 still 0 0 0 0 0 rises 0 0 7 9 null \
	apart 0 0 8 9 null refused 3 3 3 3 0 >"$work/switch"
jq -n --slurpfile kernels "$work/kernels" --slurpfile switch "$work/switch" -f bench/agree.jq \
	>"$work/rows" 2>"$work/err"

# says TEST VERDICT
says() {
	verdict=$(jq -r --arg test "$1" '.[] | select(.test == $test) | .verdict' "$work/rows")
	expected=$2
	holds "two measurements: $1" '[ "$verdict" = "$expected" ]'
}
holds "every workload has its row" '[ "$(jq length "$work/rows")" -eq 10 ]'
says same "agree"
says near "agree"
says far "DIFFER"
says wide "agree: the ranges overlap"
says half "DIFFER"
says still "agree"
says rises "agree: the ranges overlap"
says apart "DIFFER"
says refused "not compared: kernels unsupported"
says alone "not compared: switch not run"

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
		'[ $code -eq 2 ] && grep -qE "$setting: expected (a number|one of)" "$work/err" && [ ! -e "$OUT" ]'
}
refuses_setting CPUS 1
refuses_setting CPUS '16 many'
refuses_setting RUNS 0
refuses_setting BOOTS -1
refuses_setting PAGES 1k
refuses_setting AA yes
refuses_setting SWITCH 2
exit $failed
