#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 900
# The switch of the benchmarking patch: with it off, reclaim interrupts every other CPU for each page,
# with it on none, and it is put back whatever ends the run. And make ab compares it with two kernels.
# The conditions are evaluated by holds().
# shellcheck disable=SC2016,SC2034,SC2317
. tests/check.inc
export BUILD="${BUILD:-build}"
here=$(dirname "$0")

if [ -z "$KERNEL" ]; then
	echo "KERNEL is not set to a kernel with the patches of kernel-patches/linux-7.3"
	exit 77
fi
"$BUILD/tlbvm" run --kernel "$KERNEL" --cpus 4 --timeout 5m --get r.off.json:"$work/off.json" \
	--get r.on.json:"$work/on.json" --put "$here/inside/switch.sh" -- sh switch.sh || failed=1

# ipis STATE CONDITION: on the interrupts of each run, with 256 pages and 3 other CPUs.
ipis() {
	jq -e "[.workloads[0].runs[].values.remote_ipis] | $2" "$work/$1.json" >/dev/null
}
holds "off, each page interrupts all others" 'ipis off "length == 3 and min >= 0.95 * 256 * 3"'
holds "on, next to none does" 'ipis on "length == 3 and max <= 0.05 * 256 * 3"'
holds "the two results say which they are" \
	'[ "$(jq -r .environment.switch.state "$work/off.json" "$work/on.json" | tr "\n" " ")" = "off on " ]'

# The same kernel twice shows no change, its switch does: they differ. A workload that the change does not
# concern has so few interrupts here that one more or less can decide.
KERNEL_A=$KERNEL KERNEL_B=$KERNEL SWITCH=1 AA=0 CPUS=2 BOOTS=1 RUNS=2 PAGES=256 LIMIT=5m \
	WORKLOADS="pageout tlb_flush" OUT="$work/ab" bench/ab >"$work/out" 2>"$work/err"
code=$?
holds "make ab runs the suite with the switch too" '[ $code -eq 0 ]'
holds "it tells where the switch and the kernels differ" \
	'jq -e ".agreement[0] | .test == \"pageout\" and .verdict == \"DIFFER\"" "$work/ab/2/report.json" >/dev/null'
holds "and for all it could be told" \
	'grep -q "^[01] of 2 agree.$" "$work/ab/2/report.txt" && ! grep -q "not compared" "$work/ab/2/report.txt"'
exit $failed
