#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Inside a guest of 4 CPUs: conditions under which counting must still work.
# The conditions are evaluated by check().
# shellcheck disable=SC2016,SC2034
flushes=300
# shellcheck source=tests/guest/inside/counters.inc
. ./counters.inc

# run_shoot WORKLOAD CPUS KIND [TLBSTAT OPTIONS]: and what must hold whatever the condition.
run_shoot() {
	workload=$1 cpus=$2 kind=$3
	shift 3
	tlbstat run --csv -o /tmp/ours "$@" -- shoot "$cpus" $flushes 1 "$kind" 2>/tmp/err ||
		{ echo "not ok $workload: exit $?"; cat /tmp/err; exit 1; }
	equal "handled and the TLB row" \
		"$(($(ours handled.mm_range) + $(ours handled.batch)))" "$(ours kernel_interrupts)"
	equal "difference" "$(ours difference)" 0
	equal "missed runs" "$(ours missed_runs)" 0
	near "flushes" "$(ours flushes.mm_range.ipi)" $flushes $((flushes + 4 * cpus))
}

if [ "$1" = possible ]; then
	workload="possible CPUs"
	check "are far more than those online" \
		'[ "$(sed "s/.*-//" /sys/devices/system/cpu/possible)" -gt 200 ]'
	run_shoot "possible > online" 4 spin
	near "requested" "$(ours requested_cpus.mm_range)" $((flushes * 4)) $(((flushes + 16) * 4))
fi

run_shoot "sampled" 4 sleep --classify=sampled
near "lazy or not loaded CPUs in the sample" \
	"$(($(ours sampled.mm_range.lazy) + $(ours sampled.mm_range.not_loaded)))" \
	$((flushes * 3 * 98 / 100)) $(((flushes + 16) * 3))
equal "exact cells are empty" "$(ours filtered_cpus.mm_range.lazy)" ""

run_shoot "classification off" 4 sleep --classify=off
equal "no sample either" "$(ours sampled.mm_range.lazy)" ""

workload="no batch filter"
equal "no number" "$(ours filtered_cpus.batch.batch_filter)$(ours batch_mms.overflow)" ""
check "and why" 'tlbstat check | grep -q "batch_mms  *no  *this kernel does not filter batches"'

sysctl -q -w kernel.kptr_restrict=2
run_shoot "addresses hidden" 4 spin
near "asked" "$(ours asked_cpus.mm_range)" $((flushes * 3)) $(((flushes + 16) * 3))
equal "kernel ranges' mask cannot be seen" "$(ours requested_cpus.kernel_range)" ""
sysctl -q -w kernel.kptr_restrict=0

workload="a CPU offline"
echo 0 >/sys/devices/system/cpu/cpu1/online
check "ids have a hole" 'grep -q "^0,2-3$" /sys/devices/system/cpu/online'
# shoot needs CPUs 0 and 1 only by number: run it where there is no hole.
tlbstat run --csv -o /tmp/ours -- sh -c 'shoot 1 300 1 alone; usleep 100000'
equal "difference" "$(ours difference)" 0
near "local flushes" "$(ours flushes.mm_range.local)" 300 900
echo 1 >/sys/devices/system/cpu/cpu1/online

workload="settled"
tlbstat run --json -o /tmp/json -- shoot 4 100 1 spin
check "what is compared is read while nothing moves" 'grep -q "\"settled\": true" /tmp/json'

workload="a CPU comes and goes"
tlbstat run --json -o /tmp/json -- sh -c '
	shoot 4 100 1 spin
	echo 0 >/sys/devices/system/cpu/cpu3/online
	shoot 3 100 1 spin
	echo 1 >/sys/devices/system/cpu/cpu3/online
	shoot 4 100 1 spin'
check "counting goes on" 'grep -q "\"difference\": 0" /tmp/json'
tlbstat run -o /tmp/text -- sh -c 'shoot 4 100 1 spin; echo 0 >/sys/devices/system/cpu/cpu3/online'
check "a CPU that left is told" 'grep -q "came or went" /tmp/text'
echo 1 >/sys/devices/system/cpu/cpu3/online

workload="live"
tlbstat 30 >/tmp/live 2>/tmp/err &
pid=$!
# The probe that is attached last.
until grep -q "^flush_tlb_mm_range " /sys/kernel/tracing/enabled_functions; do sleep 1; done
sleep 1
shoot 4 $flushes 1 spin
kill -INT $pid
wait $pid
code=$?
check "Ctrl-C is exit 0" '[ $code -eq 0 ]'
check "the partial interval is printed" '[ "$(wc -l </tmp/live)" -eq 3 ]'
check "with the flushes in it" 'awk "NR == 2 { exit !(\$2 > 0 && \$6 > 0) }" /tmp/live'
check "no line is over 100 columns" '[ "$(awk "NR < 3 { print length }" /tmp/live | sort -n | tail -1)" -le 100 ]'
check "the trust line is the last" 'tail -n 1 /tmp/live | grep -q "^trust: 1[0-9] of 17 probes, 0 missed"'

if [ "$1" != possible ]; then
	workload="--strict"
	check "nothing is missing" 'tlbstat --strict 0.2 1 >/tmp/out 2>/tmp/err || ! cat /tmp/err'
fi

workload="no privilege"
adduser -D -H nobody2 2>/dev/null || echo "nobody2:x:4242:4242::/:/bin/sh" >>/etc/passwd
su nobody2 -c "tlbstat 0.2 1" >/tmp/out 2>/tmp/err
code=$?
check "falls back with exit 0" '[ $code -eq 0 ]'
check "says: run as root" 'grep -q "run as root" /tmp/err'
su nobody2 -c "tlbstat --strict 0.2 1" >/tmp/out 2>/tmp/err
code=$?
check "--strict is exit 77" '[ $code -eq 77 ]'
exit $failed
