#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The table of bench/reproduce: published counts beside ours, of a whole run and of a scaled one.
# The conditions are evaluated by holds().
# shellcheck disable=SC2016,SC2034,SC2317
. tests/check.inc
command -v jq >/dev/null || {
	echo "jq is not installed: make deps"
	exit 77
}

# half WORKLOAD HALF PAGES IPIS: as bench/reproduce hands it to rows.jq.
half() {
	jq -n --arg workload "$1" --arg half "$2" --argjson pages "$3" --argjson ipis "$4" '{
		$workload, $half, result: {
			workloads: [{ parameters: { $pages }, runs: [{ status: "ok", values: {
				pages_done: $pages, remote_ipis: $ipis,
				kernel_tlb_interrupts: $ipis, elapsed_ms: 12345 } }] }],
			environment: { machine: { guest: { emulated: true } } } } }'
}

# rows CPUS: of the halves on stdin.
rows() {
	jq -s . | jq --slurpfile published bench/published/x1.json --argjson cpus "$1" \
		-f bench/published/rows.jq >"$work/rows" 2>"$work/err"
	jq -r -f bench/published/table.jq "$work/rows" >"$work/out" 2>>"$work/err"
}

# row WORKLOAD HALF CONDITION
row() {
	jq -e --arg workload "$1" --arg half "$2" \
		".[] | select(.workload == \$workload and .half == \$half) | $3" "$work/rows" >/dev/null
}

{
	half pageout before 81920 9092156
	half pageout after 81920 382
	half move_pages before 33160 3669
	jq -n '{ workload: "demotion", half: "before", result: null, why: "see the log" }'
} | rows 112
holds "a whole run is compared by its count" \
	'row pageout before ".scale == 1 and .ratio == 1 and .ratio_is == \"of the counts\""'
holds "so is the half with the change" 'row pageout after ".ratio == 2 and .published_ipis == 191"'
holds "and the fall is that per page" \
	'row pageout after "(.fall_percent - 99.9958 | fabs < 0.0001) and (.published_fall_percent - 99.9979 | fabs < 0.0001)"'
holds "a scaled run is compared per page" \
	'row move_pages before "(.scale - 0.1 | fabs < 1e-9) and (.ratio - 0.50007 | fabs < 0.0001) and .ratio_is == \"per page\""'
holds "what is not published has a law" \
	'row demotion before ".published_from == \"law\" and .published_ipis == (81876 / 44 * 111 | round)"'
holds "a run that is missing is no zero" \
	'row demotion before ".remote_ipis == null and .status == \"not run\""'
holds "the table shows it" 'grep -q "demotion to a lower tier	before	-	not run	-	-	206,551 (law)	-	" "$work/out"'
holds "and groups digits" 'grep -q "	81,920	full	9,092,156	9,092,156	9,092,156	1.000	" "$work/out"'

half migrate_pages before 656940 650000 | rows 255
holds "other numbers of CPUs have the law only" \
	'row migrate_pages before ".published_from == \"law\" and .published_ipis == (656940 / 512 * 254 | round)"'
half migrate_pages after 656940 9000 | rows 512
holds "a fall needs both halves" \
	'row migrate_pages after ".fall_percent == null and .published_ipis == 9685"'

CPUS=1 bench/reproduce >"$work/out" 2>"$work/err"
code=$?
holds "one CPU is too few" '[ "$code" -eq 2 ] && grep -q "2 or more" "$work/err"'
LIMIT=soon bench/reproduce >"$work/out" 2>"$work/err"
code=$?
holds "a limit that is no time is refused" '[ "$code" -eq 2 ] && grep -q "LIMIT=soon" "$work/err"'
exit "$failed"
