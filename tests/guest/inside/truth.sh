#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Inside a guest: each counter of tlbstat against an independent truth, while known workloads run.
# The truths: the number of flushes that were made, the kernel's kprobe hits and its histogram of
# the tracepoint tlb_flush (neither has anything to do with our BPF programs), /proc/interrupts.
#
# truth.sh CPUS [TLBSTAT OPTIONS]
cpus=$1
shift
options=$*
flushes=500
tracing=/sys/kernel/tracing
failed=0

for function in flush_tlb_mm_range arch_tlbbatch_flush native_flush_tlb_multi flush_tlb_func \
	flush_tlb_kernel_range flush_tlb_all do_flush_tlb_all do_kernel_range_flush; do
	echo "p:truth/$function $function" >>$tracing/kprobe_events || exit 1
done
echo 1 >$tracing/events/truth/enable
echo 'hist:keys=reason,pages:size=2048' >$tracing/events/tlb/tlb_flush/trigger

# equal NAME A B, near NAME A LOW HIGH: numbers, both shown when they differ.
equal() {
	if [ "$2" = "$3" ]; then
		echo "ok $workload: $1 ($2)"
	else
		echo "not ok $workload: $1: $2 is not $3"
		failed=1
	fi
}

near() {
	if [ "$2" -ge "$3" ] && [ "$2" -le "$4" ]; then
		echo "ok $workload: $1 ($2)"
	else
		echo "not ok $workload: $1: $2 is not within $3 and $4"
		failed=1
	fi
}

# The counters of the last run: our "$(ours calls.mm_range)", the kernel's "$(truth sent)".
ours() {
	awk -F, -v name="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) column = i }
		NR == 2 { print $column }' /tmp/ours
}

truth() {
	sed -n "s/^$1=//p" /tmp/truth
}

# measure WORKLOAD CMD...
measure() {
	workload=$1
	shift
	# shellcheck disable=SC2086 # several options
	tlbstat run --csv -o /tmp/ours $options -- window.sh /tmp/truth "$@" || {
		echo "not ok $workload: exit $?"
		exit 1
	}
	# Nothing may be skipped, on either side.
	equal "missed runs" "$(ours missed_runs)" 0
	equal "kernel's own missed runs" \
		"$(awk -F= '/_missed=/ { sum += $2 } END { print sum + 0 }' /tmp/truth)" 0
	equal "handled and the TLB row" \
		"$(($(ours handled.mm_range) + $(ours handled.batch)))" "$(ours kernel_interrupts)"
	equal "difference" "$(ours difference)" 0
	equal "handled is useful and unneeded" \
		"$(($(ours handled.mm_range) + $(ours handled.batch)))" \
		"$(($(ours useful) + $(ours unneeded.wrong_mm) + $(ours unneeded.init_mm) + \
			$(ours unneeded.global_asid) + $(ours unneeded.lazy) + $(ours unneeded.current)))"
	equal "every requested CPU is accounted for" \
		"$(($(ours requested_cpus.mm_range) - $(ours self_cpus.mm_range) - \
			$(ours filtered_cpus.mm_range.lazy) - \
			$(ours filtered_cpus.mm_range.not_loaded) - \
			$(ours filtered_cpus.mm_range.preempted_vcpu)))" \
		"$(($(ours asked_cpus.mm_range) + $(ours lost.moved)))"
	equal "asked is handled" "$(($(ours asked_cpus.mm_range) + $(ours asked_cpus.batch)))" \
		"$(($(ours handled.mm_range) + $(ours handled.batch)))"
	# The window is a little smaller than ours: it leaves out the shell's start and end.
	near "useful and the tracepoint's" "$(ours useful)" "$(truth useful)" \
		"$(($(truth useful) + cpus))"
	near "flushes sent and the tracepoint's" \
		"$(($(ours flushes.mm_range.ipi) + $(ours flushes.batch.ipi)))" "$(truth sent)" \
		"$(($(truth sent) + 5))"
	near "calls of flush_tlb_mm_range and its kprobe" "$(ours calls.mm_range)" \
		"$(truth flush_tlb_mm_range)" "$(($(truth flush_tlb_mm_range) + 200))"
	equal "calls of arch_tlbbatch_flush and its kprobe" "$(ours calls.batch)" \
		"$(truth arch_tlbbatch_flush)"
}

others=$((cpus - 1))
most=$((flushes + 4 * cpus)) # starting and ending threads flushes too

measure spin shoot "$cpus" $flushes 1 spin
near "flushes" "$(ours flushes.mm_range.ipi)" $flushes $most
near "pages" "$(ours flushed_pages.mm_range.ipi)" $flushes $((most * 8))
near "requested" "$(ours requested_cpus.mm_range)" $((flushes * cpus)) $((most * cpus))
near "asked" "$(ours asked_cpus.mm_range)" $((flushes * others)) $((most * others))
near "useful" "$(ours useful)" $((flushes * others * 99 / 100)) $((most * others))
near "lazy" "$(ours filtered_cpus.mm_range.lazy)" 0 $((4 * cpus * others))
if [ -n "$(ours ipis_sent)" ]; then
	# An idle CPU that polls takes the call without an interrupt.
	near "raised" "$(ours ipis_sent)" $((flushes * others)) "$(ours asked_cpus.mm_range)"
fi

measure full shoot "$cpus" $flushes 64 spin
near "flushes of everything" "$(ours full_flushes.mm_range.ipi)" $flushes $most

measure sleep shoot "$cpus" $flushes 1 sleep
near "lazy" "$(ours filtered_cpus.mm_range.lazy)" $((flushes * others * 98 / 100)) \
	$((most * others))
near "asked" "$(ours asked_cpus.mm_range)" 0 $((4 * cpus * others))

measure alone shoot "$cpus" $flushes 1 alone
near "local flushes" "$(ours flushes.mm_range.local)" $flushes $((flushes + 300))
near "local flushes and the tracepoint's" "$(ours flushes.mm_range.local)" "$(truth local)" \
	"$(($(truth local) + 200))"
near "flushes sent" "$(ours flushes.mm_range.ipi)" 0 $((2 * cpus))

# Stale bits last only where a context switch does not clear them: since 6.13.
flushes=200
measure gone shoot "$cpus" $flushes 1 gone
if [ "$(uname -r | cut -d. -f1)" -ge 7 ]; then
	near "not loaded" "$(ours filtered_cpus.mm_range.not_loaded)" \
		$((flushes * others * 80 / 100)) $((most * others))
	near "wrong mm, the trim" "$(ours unneeded.wrong_mm)" 1 $((6 * others))
fi

# Kernel mappings: unloading and loading a module takes vmalloc ranges away.
if [ -n "$MODULE" ]; then
	measure module sh -c "for i in 1 2 3 4 5; do rmmod zram && insmod $MODULE || exit 1; done"
	near "kernel ranges and their kprobe" "$(ours calls.kernel_range)" \
		"$(truth flush_tlb_kernel_range)" "$(($(truth flush_tlb_kernel_range) + 5))"
	near "calls of flush_tlb_all and its kprobe" "$(ours calls.all)" "$(truth flush_tlb_all)" \
		"$(($(truth flush_tlb_all) + 5))"
	near "runs on all CPUs and their kprobes" "$(ours kernel_runs)" \
		"$(($(truth do_flush_tlb_all) + $(truth do_kernel_range_flush)))" \
		"$(($(truth do_flush_tlb_all) + $(truth do_kernel_range_flush) + 5 * cpus))"
	near "there was something to see" "$(ours calls.kernel_range)" 1 100000
	equal "handled by the others" "$(ours handled.kernel)" \
		"$((($(ours calls.kernel_range) + $(ours calls.all)) * others))"
	equal "asked is handled (kernel)" \
		"$(($(ours asked_cpus.kernel_range) + $(ours asked_cpus.all)))" \
		"$(ours handled.kernel)"
fi
exit $failed
