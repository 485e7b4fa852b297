#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 900
# make ab, and with it tlbvm ab, on two stock kernels: boots in turn, the runs of each side joined, the
# table, and the control. Linux 6.12
# takes a CPU that runs something else out of the mask, 7.3 does not: 0 against pages x (CPUs - 1).
# The conditions are evaluated by holds().
# shellcheck disable=SC2016,SC2034,SC2317
. tests/check.inc
export BUILD="${BUILD:-build}"
KERNEL_A=stock:6.12 KERNEL_B=stock:7.3 CPUS=4 BOOTS=2 RUNS=2 PAGES=300 \
	WORKLOADS=pageout LIMIT=5m OUT="$work/ab" timeout 880 bench/ab >"$work/out" 2>"$work/err"
code=$?
if [ $code -eq 77 ] || grep -q "could not be fetched" "$work/err"; then
	tail -n 1 "$work/err"
	exit 77
fi
folder=$work/ab/4

# of SIDE CONDITION: on its joined result.
of() {
	jq -e ".workloads[0] | $2" "$folder/$1.json" >/dev/null
}

holds "it ends with exit 0" '[ $code -eq 0 ]'
holds "the kernels take turns: A B B A" \
	'[ "$(sed -n "s/.*boot [1-4] of 4: \([ab].[12]\), kernel .*/\1/p" "$work/err" | tr "\n" " ")" = "a.1 b.1 b.2 a.2 " ]'
for side in a b; do
	holds "each run of both boots of $side is kept, numbered anew" \
		'of $side "[.runs[].index] == [0, 1, 2, 3]" && [ "$(jq -s "[.[].workloads[0].runs[].values] | sort" \
			"$folder/$side".[12].json)" = "$(jq "[.workloads[0].runs[].values] | sort" "$folder/$side.json")" ]'
done
holds "none of 6.12 interrupts" 'of a "[.runs[].values.remote_ipis] | max == 0"'
holds "each of 7.3 interrupts all others for nearly each page" \
	'of b "[.runs[].values.remote_ipis] | min > 0.95 * 300 * 3 and max <= 1.05 * 300 * 3"'
holds "the table has the means and their n" \
	'grep -q "^| pageout, 300 pages | 4-CPU guest (tcg) | remote IPIs | *0 (n=4) | *[0-9,.]* (n=4) | *new |$" "$folder/report.txt"'
holds "the environments differ in the kernel" \
	'jq -e "[.compare.environment_differences[].key] | index(\"kernel.release\")" "$folder/report.json" >/dev/null'
holds "the control compares the boots of A" \
	'jq -e ".control.workloads[0].metrics[0] | .a.values + .b.values == [0, 0, 0, 0]" "$folder/report.json" >/dev/null &&
		grep -q "^The control: A against itself" "$folder/report.txt"'
holds "why there is no run with the switch is told" 'grep -q "no run with the switch" "$work/out"'
holds "the difference to the kernel's own count is told" \
	'grep -q "8 of 8 runs, largest difference 0 " "$folder/report.txt"'
holds "the report parses" 'jq -e ".compare.workloads | length == 1" "$folder/report.json" >/dev/null'

# A switch that any kernel has, and that changes no flush.
"$BUILD/tlbvm" ab --kernel stock:7.3 --switch /sys/module/printk/parameters/time --control \
	--module zram --timeout 5m --out "$work/switch" -- tlbbench run pageout --pages 300 --runs 2 \
	>"$work/out" 2>"$work/err"
code=$?
holds "a switch is compared within one boot" \
	'[ $code -eq 0 ] && [ "$(grep -c "boot 1 of 1: 1, kernel stock:7.3" "$work/err")" -eq 1 ]'
holds "its two states are the sides" \
	'[ "$(jq -r .environment.switch.state "$work/switch/a.json" "$work/switch/b.json" | tr "\n" " ")" = "off on " ] &&
		[ "$(grep -A 2 "^  switch.state" "$work/out" | tr -s " \n" "  ")" = " switch.state A off B on " ]'
holds "its control compares the runs of one state" 'grep -q "^A  a.json, runs 1, 3, 5 ...$" "$work/out" &&
	grep -q "^B  a.json, runs 2, 4, 6 ...$" "$work/out"'
exit $failed
