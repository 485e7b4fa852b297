#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 900
# make ab on two stock kernels: boots in turn, the runs of each side joined, and the table. Linux 6.12
# takes a CPU that runs something else out of the mask, 7.3 does not: 0 against pages x (CPUs - 1).
# The conditions are evaluated by holds().
# shellcheck disable=SC2016,SC2034,SC2317
. tests/check.inc
BUILD=${BUILD:-build} KERNEL_A=stock:6.12 KERNEL_B=stock:7.3 CPUS=4 BOOTS=2 RUNS=2 PAGES=300 \
	WORKLOADS=pageout LIMIT=5m OUT="$work/ab" timeout 880 bench/ab >"$work/out" 2>"$work/err"
code=$?
if grep -qs "could not be fetched\|do not run here" "$work"/ab/4/*.log; then
	tail -n 1 "$work/ab/4/a.1.log"
	exit 77
fi
folder=$work/ab/4

# of SIDE CONDITION: on its joined result.
of() {
	jq -e ".workloads[0] | $2" "$folder/$1.json" >/dev/null
}

holds "it ends with exit 0" '[ $code -eq 0 ]'
holds "the kernels take turns: A B B A" \
	'[ "$(sed -n "s/.*boot \([12]\) of kernel \([ab]\), try 1.*/\2\1/p" "$work/out" | tr "\n" " ")" = "a1 b1 b2 a2 " ]'
for side in a b; do
	holds "each run of both boots of $side is kept, numbered anew" \
		'of $side "[.runs[].index] == [0, 1, 2, 3]" && [ "$(jq -s "[.[].workloads[0].runs[].values] | sort" \
			"$folder/$side".[12].json)" = "$(jq "[.workloads[0].runs[].values] | sort" "$folder/$side.json")" ]'
done
holds "none of 6.12 interrupts" 'of a "[.runs[].values.remote_ipis] | max == 0"'
holds "each of 7.3 interrupts all others for nearly each page" \
	'of b "[.runs[].values.remote_ipis] | min > 0.95 * 300 * 3 and max <= 1.05 * 300 * 3"'
holds "the table has the means and their n" \
	'grep -q "^pageout, 300 pages .*remote_ipis  *0 (n=4)  *[0-9.]* (n=4)  *new$" "$folder/report.txt"'
holds "the difference to the kernel's own count is told" \
	'grep -q "8 of 8 runs, largest difference 0 " "$folder/report.txt"'
holds "the report parses" 'jq -e ".rows | length == 4" "$folder/report.json" >/dev/null'
exit $failed
