#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Inside a guest: each counter of tlbstat against an independent truth, while known workloads run.
# The truths: the number of flushes that were made, the kernel's kprobe hits and its histogram of
# the tracepoint tlb_flush (neither has anything to do with our BPF programs), /proc/interrupts.
#
# truth.sh CPUS [TLBSTAT OPTIONS]
# WORKLOADS: which (default: all): spin full sleep alone gone module
cpus=$1
shift
options=$*
flushes=500
# A kprobe is skipped when it interrupts another BPF program, and not counted as missed before 6.6.
case $options in *kprobe*) inexact=5 ;; *) inexact=0 ;; esac
tracing=/sys/kernel/tracing
# shellcheck source=tests/guest/inside/counters.inc
. ./counters.inc

# Left by an earlier run in this guest.
[ ! -e $tracing/events/truth ] || echo 0 >$tracing/events/truth/enable
echo >$tracing/kprobe_events
echo '!hist:keys=reason,pages:size=2048' >>$tracing/events/tlb/tlb_flush/trigger 2>/dev/null
for function in flush_tlb_mm_range arch_tlbbatch_flush native_flush_tlb_multi flush_tlb_func \
	flush_tlb_kernel_range flush_tlb_all do_flush_tlb_all do_kernel_range_flush; do
	echo "p:truth/$function $function" >>$tracing/kprobe_events || exit 1
done
echo 1 >$tracing/events/truth/enable
echo 'hist:keys=reason,pages:size=2048' >$tracing/events/tlb/tlb_flush/trigger

# truth NAME: what the kernel's tracing counted meanwhile.
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
	# A probe that is preempted by a task which comes to the same probe makes that one miss: rare,
	# and told. The handler's probes run with interrupts off and cannot miss.
	slack=$(ours missed_runs)
	near "missed runs" "$slack" 0 3
	unseen=$(awk -F= '/_missed=/ { sum += $2 } END { print sum + 0 }' /tmp/truth)
	near "missed runs of the kernel's kprobes" "$unseen" 0 50
	near "handled and the TLB row" \
		"$(($(ours handled.mm_range) + $(ours handled.batch)))" \
		"$(($(ours kernel_interrupts) - inexact))" "$(ours kernel_interrupts)"
	near "difference" "$(ours difference)" $((-inexact)) 0
	[ -z "$(ours useful)" ] || equal "handled is useful and unneeded" \
		"$(($(ours handled.mm_range) + $(ours handled.batch)))" \
		"$(($(ours useful) + $(ours unneeded.wrong_mm) + $(ours unneeded.init_mm) + \
			$(ours unneeded.global_asid) + $(ours unneeded.lazy) + $(ours unneeded.current)))"
	if [ -n "$(ours filtered_cpus.mm_range.lazy)" ]; then
		# Since 7.3 the initiator can move between the probe and the cross-CPU call.
		rest=$(($(ours requested_cpus.mm_range) - $(ours self_cpus.mm_range) - \
			$(ours filtered_cpus.mm_range.lazy) - \
			$(ours filtered_cpus.mm_range.not_loaded) - \
			$(ours filtered_cpus.mm_range.preempted_vcpu) - $(ours asked_cpus.mm_range)))
		near "every requested CPU is accounted for" "$rest" \
			$((-2 - slack * cpus)) $((2 + slack * cpus))
	fi
	near "asked is handled" "$(($(ours asked_cpus.mm_range) + $(ours asked_cpus.batch)))" \
		"$(($(ours handled.mm_range) + $(ours handled.batch)))" \
		"$(($(ours handled.mm_range) + $(ours handled.batch) + inexact))"
	# The window is a little smaller than ours: it leaves out the shell's start and end.
	[ -z "$(ours useful)" ] || near "useful and the tracepoint's" "$(ours useful)" \
		"$(truth useful)" "$(($(truth useful) + 4 * cpus))"
	near "flushes sent and the tracepoint's" \
		"$(($(ours flushes.mm_range.ipi) + $(ours flushes.batch.ipi)))" \
		"$(($(truth sent) - slack))" "$(($(truth sent) + 4 * cpus))"
	near "calls of flush_tlb_mm_range and its kprobe" "$(ours calls.mm_range)" \
		"$(($(truth flush_tlb_mm_range) - slack))" \
		"$(($(truth flush_tlb_mm_range) + 200 + unseen))"
	near "calls of arch_tlbbatch_flush and its kprobe" "$(ours calls.batch)" \
		"$(truth arch_tlbbatch_flush)" "$(($(truth arch_tlbbatch_flush) + unseen))"
}

others=$((cpus - 1))
most=$((flushes + 4 * cpus)) # starting and ending threads flushes too

spin() {
	measure spin shoot "$cpus" $flushes 1 spin
	near "flushes" "$(ours flushes.mm_range.ipi)" $flushes $most
	near "pages" "$(ours flushed_pages.mm_range.ipi)" $flushes $((most * 8))
	near "requested" "$(ours requested_cpus.mm_range)" $((flushes * cpus)) $((most * cpus))
	# A CPU that a kernel thread has for a moment is lazy, and counted as that where it is seen.
	lazy=$(ours filtered_cpus.mm_range.lazy)
	awake=$((flushes * others - ${lazy:-0}))
	near "asked" "$(ours asked_cpus.mm_range)" $awake $((most * others))
	[ -z "$(ours useful)" ] || near "useful" "$(ours useful)" $((awake * 99 / 100)) \
		$((most * others))
	[ -z "$(ours filtered_cpus.mm_range.lazy)" ] ||
		near "lazy" "$(ours filtered_cpus.mm_range.lazy)" 0 $((4 * cpus * others))
	# An idle CPU that polls takes the call without an interrupt.
	[ -z "$(ours ipis_sent)" ] ||
		near "raised" "$(ours ipis_sent)" $awake "$(ours asked_cpus.mm_range)"
	# What is left of the local flushes is other processes', in the time it takes to start some.
	[ -z "$(ours flushes.mm_range.local)" ] ||
		near "local flushes" "$(ours flushes.mm_range.local)" 1 $((flushes - 1))
}

full() {
	measure full shoot "$cpus" $flushes 64 spin
	near "flushes of everything" "$(ours full_flushes.mm_range.ipi)" $flushes $most
}

# An idle CPU that runs no user's address space even lazily has init_mm loaded, and is not lazy.
sleep_() {
	measure sleep shoot "$cpus" $flushes 1 sleep
	near "asked" "$(ours asked_cpus.mm_range)" 0 $((4 * cpus * others))
	[ -n "$(ours filtered_cpus.mm_range.lazy)" ] || return
	near "lazy or not loaded" \
		"$(($(ours filtered_cpus.mm_range.lazy) + $(ours filtered_cpus.mm_range.not_loaded)))" \
		$((flushes * others * 90 / 100)) $((most * others))
	near "lazy" "$(ours filtered_cpus.mm_range.lazy)" $flushes $((most * others))
	[ -z "$(ours unneeded.lazy)" ] ||
		near "handled while lazy" "$(ours unneeded.lazy)" 1 $((4 * cpus * others))
}

alone() {
	measure alone shoot "$cpus" $flushes 1 alone
	near "flushes sent" "$(ours flushes.mm_range.ipi)" 0 $((2 * cpus))
	[ -n "$(ours flushes.mm_range.local)" ] || return
	near "local flushes" "$(ours flushes.mm_range.local)" $flushes $((flushes + 300))
	near "local flushes and the tracepoint's" "$(ours flushes.mm_range.local)" \
		"$(truth local)" "$(($(truth local) + 200))"
}

# Stale bits last only where a context switch does not clear them: since 6.13; and for a second only,
# so on few CPUs, which are visited fast enough.
gone() {
	measure gone shoot 4 $flushes 1 gone
	[ "$(uname -r | cut -d. -f1)" -ge 7 ] || return
	[ -z "$(ours filtered_cpus.mm_range.not_loaded)" ] ||
		near "not loaded" "$(ours filtered_cpus.mm_range.not_loaded)" \
			$((flushes * 3 * 80 / 100)) $(((flushes + 16) * 3))
	[ -z "$(ours unneeded.wrong_mm)" ] ||
		near "wrong mm, the trim" "$(ours unneeded.wrong_mm)" 1 18
}

# Kernel mappings: unloading and loading a module takes vmalloc ranges away. Our window is the larger
# one, and freeing what tlbstat loaded takes ranges away too. A kernel thread does it, a moment later:
# the window is not to end in the middle of that.
module() {
	measure module sh -c \
		"for i in 1 2 3 4 5; do rmmod zram && insmod $MODULE || exit 1; done; sleep 2"
	near "kernel ranges and their kprobe" "$(ours calls.kernel_range)" \
		"$(truth flush_tlb_kernel_range)" "$(($(truth flush_tlb_kernel_range) + 25))"
	near "calls of flush_tlb_all and its kprobe" "$(ours calls.all)" "$(truth flush_tlb_all)" \
		"$(($(truth flush_tlb_all) + 25))"
	near "runs on all CPUs and their kprobes" "$(ours kernel_runs)" \
		"$(($(truth do_flush_tlb_all) + $(truth do_kernel_range_flush)))" \
		"$(($(truth do_flush_tlb_all) + $(truth do_kernel_range_flush) + 25 * cpus))"
	near "there was something to see" "$(ours calls.kernel_range)" 1 100000
	expected=$((($(ours calls.kernel_range) + $(ours calls.all)) * others))
	near "handled by the others" "$(ours handled.kernel)" $((expected - inexact)) $expected
	[ -z "$(ours asked_cpus.all)" ] || near "asked is handled (kernel)" \
		"$(($(ours asked_cpus.kernel_range) + $(ours asked_cpus.all)))" \
		"$(ours handled.kernel)" "$(($(ours handled.kernel) + inexact))"
}

for name in ${WORKLOADS:-spin full sleep alone gone module}; do
	case $name in
	spin) spin ;;
	full) full ;;
	sleep) sleep_ ;;
	alone) alone ;;
	gone) gone ;;
	module) module ;;
	*) echo "not ok there is no workload '$name'" && exit 1 ;;
	esac
done
exit $failed
