#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Inside a guest of a kernel that filters batches: what tlbstat counts of them against the kernel's own
# tracing, batch by batch, and against what each workload predicts.
#
# filter.sh CPUS [TLBSTAT OPTIONS]
# WORKLOADS: which: other spin off gone several long crowd shown suite
cpus=$1
shift
options=$*
others=$((cpus - 1))
pages=256
# A kprobe of ours is skipped when it interrupts another BPF program.
case $options in *kprobe*) inexact=5 ;; *) inexact=0 ;; esac
tracing=/sys/kernel/tracing
switch=/sys/kernel/debug/x86/tlb_batch_filter
# shellcheck source=tests/guest/inside/counters.inc
. ./counters.inc

# What cannot be set up ends it all.
need() {
	"$@" || { echo "not ok $*: exit $?" && exit 1; }
}

# shellcheck disable=SC2016 # the kernel's own $arg1
set_up() {
	echo 0 >$tracing/events/enable
	echo >$tracing/kprobe_events
	# initiating_cpu is at 32 in struct flush_tlb_info.
	for event in 'p:truth/batch arch_tlbbatch_flush mms=batch->nr_mms:u8 mask=+0($arg1):u64' \
		'p:truth/multi native_flush_tlb_multi mm=+0($arg2):u64 mask=+0($arg1):u64' \
		'p:truth/func flush_tlb_func mm=+0($arg1):u64 from=+32($arg1):u32' \
		'r:truth/end arch_tlbbatch_flush'; do
		echo "$event" >>$tracing/kprobe_events || exit 1
	done
	echo 4096 >$tracing/buffer_size_kb
	echo 1 >$tracing/events/truth/enable
	[ -e /sys/block/zram0/disksize ] || need insmod "$MODULE"
	if ! grep -q zram0 /proc/swaps; then
		echo 64M >/sys/block/zram0/disksize
		need mkswap /dev/zram0 >/dev/null
		need swapon /dev/zram0
	fi
	echo +memory >/sys/fs/cgroup/cgroup.subtree_control
}

truth() {
	sed -n "s/^$1=//p" /tmp/truth
}

# measure WORKLOAD CMD...: /tmp/ours and /tmp/truth, which must agree.
measure() {
	workload=$1
	shift
	echo >$tracing/trace
	# shellcheck disable=SC2086 # several options
	tlbstat run --csv -o /tmp/ours $options -- "$@" >/tmp/said 2>&1 || {
		cat /tmp/said
		echo "not ok $workload: exit $?"
		exit 1
	}
	awk -f batches.awk $tracing/trace >/tmp/truth
	equal "events the trace lost" \
		"$(awk '$1 == "overrun:" { sum += $2 } END { print sum + 0 }' $tracing/per_cpu/cpu*/stats)" 0
	# Either side can be skipped, when it interrupts its like: rare, and told.
	unseen=$(awk '{ sum += $3 } END { print sum + 0 }' $tracing/kprobe_profile)
	near "missed runs of the kernel's kprobes" "$unseen" 0 10
	slack=$(ours missed_runs)
	near "missed runs" "$slack" 0 5
	slack=$(((slack + unseen) * cpus))
	near "batches lost sight of" "$(ours lost.batch)" 0 $slack
	agree "batches" calls.batch batches
	agree "batches sent" flushes.batch.ipi sent
	agree "local batches" flushes.batch.local local
	agree "batches without a flush" empty_batches empty
	agree "requested" requested_cpus.batch requested
	agree "self" self_cpus.batch self
	agree "filtered" filtered_cpus.batch.batch_filter filtered
	for length in 1 2 3 4 5 6 7 8 overflow; do
		agree "lists of $length" batch_mms.$length mms$length
	done
	[ -z "$(ours filtered_cpus.batch.lazy)" ] || account
	near "difference" "$(ours difference)" $((-inexact)) 0
}

# agree NAME COUNTER TRUTH: exactly, unless one of the two was skipped. Without trampolines local flushes
# are not seen.
agree() {
	[ -n "$(ours "$2")" ] || [ "$2" != flushes.batch.local ] || return 0
	near "$1" "$(ours "$2")" $(($(truth "$3") - slack)) $(($(truth "$3") + slack))
}

# Between the last probe and the cross-CPU call the initiator can still move: told as lost. CPUs enter
# and leave the mask of an address space then, while that of a batch is its own.
account() {
	for path in mm_range batch; do
		off=$(($(ours lost.moved) + slack))
		[ $path = batch ] || off=$((off + cpus))
		rest=$(($(ours requested_cpus.$path) - $(ours self_cpus.$path) - \
			$(ours filtered_cpus.$path.lazy) - $(ours asked_cpus.$path)))
		for reason in batch_filter not_loaded preempted_vcpu; do
			filtered=$(ours filtered_cpus.$path.$reason)
			rest=$((rest - ${filtered:-0}))
		done
		near "every requested CPU of $path is accounted for" $rest -$off $off
	done
}

# start_share CGROUP MMS KIND: processes that share $pages pages, in a cgroup of theirs.
start_share() {
	mkdir -p "/sys/fs/cgroup/$1"
	rm -f "/tmp/$1"
	sh -c "echo \$\$ >/sys/fs/cgroup/$1/cgroup.procs && exec share $2 $pages $cpus $3" \
		>"/tmp/$1" &
	until grep -q ready "/tmp/$1" 2>/dev/null; do usleep 10000; done
}

stop_shares() {
	for cgroup in "$@"; do
		echo 1 >"/sys/fs/cgroup/$cgroup/cgroup.kill"
		until rmdir "/sys/fs/cgroup/$cgroup" 2>/dev/null; do usleep 10000; done
	done
	wait
}

# reclaim CGROUP: the command for it. Less can be found than is asked for.
reclaim() {
	echo "echo $((pages * 4096)) >/sys/fs/cgroup/$1/memory.reclaim || true"
}

# lists MMS KIND: the pages leave one by one, so each is a batch of all the processes. The shell that
# reclaims has CPU 0, which one of the processes has left, and which is therefore in the mask.
lists() {
	start_share lists "$1" "$2"
	measure "$1 address spaces, $2" taskset 1 sh -c "$(reclaim lists)"
	stop_shares lists
	pages_out=$(ours "batch_mms.$([ "$1" -le 8 ] && echo "$1" || echo overflow)")
	near "batches" "$pages_out" $((pages * 95 / 100)) $((pages + 50))
	near "requested" "$(ours requested_cpus.batch)" $((pages_out * cpus)) \
		$((pages_out * cpus + 50 * cpus))
	near "self" "$(ours self_cpus.batch)" "$pages_out" $((pages_out + 50))
}

# pageout BYSTANDER: what the other CPUs do tells what the filter takes out.
pageout() {
	measure "pageout, $1" tlbbench run pageout --pages 1024 --runs 1 --bystander "$1" -q -o /tmp/result
	pages_out=$(sed -n 's/^ *"pages_done": \([0-9]*\),*$/\1/p' /tmp/result)
	near "pages" "$pages_out" 1000 1024
}

filtered() {
	ours filtered_cpus.batch.batch_filter
}

other() {
	pageout other
	near "filtered" "$(filtered)" $((pages_out * others * 98 / 100)) $((1100 * others))
	near "asked" "$(ours asked_cpus.batch)" 0 $((pages_out * others * 2 / 100))
}

spin() {
	pageout spin
	near "filtered" "$(filtered)" 0 $((pages_out * others * 2 / 100))
	near "asked" "$(ours asked_cpus.batch)" $((pages_out * others * 98 / 100)) $((1100 * others))
}

# Off, the counter counts, and there is nothing.
off() {
	echo 0 >$switch
	pageout other
	echo 1 >$switch
	workload="pageout, filter off"
	equal "filtered" "$(filtered)" 0
	equal "batches without a flush" "$(ours empty_batches)" 0
	near "asked" "$(ours asked_cpus.batch)" $((pages_out * others * 98 / 100)) $((1100 * others))
}

# All of the mask goes, with the CPU that reclaims: what is left to do is nothing.
gone() {
	lists 1 sleep
	near "batches without a flush" "$(ours empty_batches)" "$pages_out" $((pages_out + 50))
	near "filtered" "$(filtered)" $((pages_out * others)) $(((pages_out + 50) * others))
	equal "asked" "$(ours asked_cpus.batch)" 0
}

# With a process on each of all CPUs but that of the shell and LEFT others.
several() {
	for left in 0 1; do
		lists $((cpus - left)) spin
		near "filtered" "$(filtered)" $((pages_out * left)) $(((pages_out + 50) * (left + 1)))
		near "asked" "$(ours asked_cpus.batch)" $((pages_out * (others - left) * 98 / 100)) \
			$(((pages_out + 50) * others))
	done
	lists 9 sleep
}

long() {
	lists 8 sleep
	lists 12 spin
}

# Tasks that reclaim at once, more than there are CPUs: one can be preempted while its batch is open, and
# another one begin. That it is moved then is rare; the truth knows it too.
crowd() {
	set -- a b c d e f g h
	commands=
	for name; do
		start_share "$name" 3 spin
		commands="$commands ($(reclaim "$name")) &"
	done
	measure "crowd" sh -c "$commands wait"
	echo "moved between call and flush: $(truth moved)"
	near "batches" "$(ours calls.batch)" $(($# * pages * 95 / 100)) $(($# * (pages + 50)))
	stop_shares "$@"
}

# All there is to run, with both settings of the switch. It needs two nodes and a lower tier.
suite() {
	for setting in 0 1; do
		echo $setting >$switch
		for form in "pageout --pages 512" "pageout --pages 512 --bystander spin" \
			"pageout --pages 512 --bystander idle" "pageout --pages 512 --via madvise" \
			"pageout --pages 512 --via madvise --bystander spin" "tlb_flush --pages 512" \
			"manymm --pages 256 --mms 7" "manymm --pages 256 --mms 9 --bystander spin" \
			"manymm --pages 256 --mms 9 --via processes" \
			"manymm --pages 256 --mms 9 --via lazyfree" "demotion --pages 1024" \
			"move_pages --pages 1024" "move_pages --pages 1024 --bystander spin" \
			"move_pages --pages 64 --batch 1" "migrate_pages --pages 1024" \
			"migrate_pages --pages 1024 --access write"; do
			# shellcheck disable=SC2086 # several words
			measure "$form, filter $setting" tlbbench run $form --runs 1 -q -o /tmp/result
			equal "difference in the timed section" \
				"$(sed -n 's/^ *"reconciliation_difference": \(-*[0-9]*\),*$/\1/p' /tmp/result)" 0
		done
	done
}

# shellcheck disable=SC2016 # evaluated by check()
shown() {
	workload="shown"
	tlbstat check >/tmp/check
	for counter in filtered_cpus empty_batches batch_mms; do
		check "$counter is counted" "grep -q '^  $counter  *yes ' /tmp/check"
	done
	tlbstat 0.2 1 >/tmp/live
	check "the filter has a column" 'head -n 1 /tmp/live | grep -q "req   filter     lazy"'
	check "which has a number" 'awk "NR == 2 { exit \$4 !~ /^[0-9]+\$/ }" /tmp/live'
	check "no line is over 100 columns" '[ "$(awk "NR < 3 { print length }" /tmp/live | sort -n | tail -1)" -le 100 ]'
	tlbstat run --json -o /tmp/json -- true
	check "none is a 0 in JSON" 'grep -q "\"batch_filter\": 0" /tmp/json && grep -q "\"overflow\": 0" /tmp/json'
}

set_up
for name in $WORKLOADS; do
	case $name in
	other) other ;;
	spin) spin ;;
	off) off ;;
	gone) gone ;;
	several) several ;;
	long) long ;;
	crowd) crowd ;;
	suite) suite ;;
	shown) shown ;;
	*) echo "not ok there is no workload '$name'" && exit 1 ;;
	esac
done
exit $failed
