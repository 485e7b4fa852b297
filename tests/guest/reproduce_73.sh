#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# bench/reproduce in guests with 4 CPUs: what is counted stands beside the law where nothing is
# published; a finished run is not done again; one that is ended leaves no result, and no guest.
# timeout: 400
# The conditions are evaluated by holds().
# shellcheck disable=SC2016,SC2034,SC2317
. tests/check.inc
export OUT="$work/kept" WORKLOADS=pageout KERNEL_A=stock:7.3 KERNEL_B=stock:7.3 CPUS=4

reproduce() {
	bench/reproduce >"$work/out" 2>"$work/err"
	code=$?
}

# row HALF CONDITION: of the report.
row() {
	jq -e --arg half "$1" ".rows[] | select(.half == \$half) | $2" "$OUT/4/report.json" >/dev/null
}

export LIMIT=4s
reproduce
holds "it runs both halves" '[ "$code" -eq 0 ] && [ "$(jq ".rows | length" "$OUT/4/report.json")" -eq 2 ]'
for half in before after; do
	holds "$half: the limit scales it, and the scale is told" \
		'row $half "(.pages_asked / 81920 - .scale | fabs < 0.00001) and .scale < 1 and .scale > 0"'
	holds "$half: ours is the kernel's own count" \
		'row $half ".remote_ipis > 0 and .remote_ipis == .kernel_tlb_interrupts"'
	holds "$half: it is marked as emulated" 'row $half ".emulated == true"'
done
holds "an unpatched kernel keeps the law, per page" \
	'row before ".published_from == \"law\" and .ratio_is == \"per page\" and (.ratio - 1 | fabs < 0.02)"'
holds "where nothing is published there is no ratio" 'row after ".ratio == null and .published_ipis == null"'
holds "the same kernel twice shows no fall" 'row after ".fall_percent | fabs < 2"'
for file in report.txt report.md; do
	holds "$file has both rows" '[ "$(grep -c "pageout to zram" "$OUT/4/$file")" -eq 2 ]'
done

reproduce
holds "what is finished is not run again" \
	'[ "$code" -eq 0 ] && [ "$(grep -c "finished before" "$work/out")" -eq 2 ]'

rm "$OUT/4/pageout-after.json"
bench/reproduce >"$work/out" 2>"$work/err" &
pid=$!
until grep -q "after: a guest" "$work/out"; do sleep 1; done
sleep 3
guest=$(pgrep -P "$pid" -x tlbvm)
kill -TERM "$pid"
wait "$pid"
code=$?
holds "a signal ends it, and it says how to go on" \
	'[ "$code" -eq 130 ] && grep -q "the same command goes on" "$work/out"'
holds "no guest is left" '[ -n "$guest" ] && ! kill -0 "$guest" 2>/dev/null'
holds "nor half a result" '[ ! -e "$OUT/4/pageout-after.json" ] && [ -s "$OUT/4/pageout-before.json" ]'
exit "$failed"
