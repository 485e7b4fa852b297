#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Inside a guest: workloads with the options that are given, each once. Their results go to
# NAME.json, and after each the machine is to be as it was before. If there is a script then.sh, it is
# run at the end.
#
# workload.sh NAME="WORKLOAD OPTIONS"...
failed=0

# What a run changes, and what lies beside it.
machine() {
	cat /proc/swaps
	find /dev -name 'zram*' | sort
	for setting in /proc/sys/vm/swappiness /proc/sys/kernel/numa_balancing \
		/sys/module/zswap/parameters/enabled \
		/sys/kernel/mm/transparent_hugepage/enabled \
		/sys/kernel/mm/numa/demotion_enabled; do
		echo "$setting $(cat $setting 2>/dev/null)"
	done
	find /sys/fs/cgroup -type d | sort
	find /var/lib/tlbbench ! -name lock 2>/dev/null | sort
	grep -l tlbbench /proc/[0-9]*/comm
}

# pages REASON: that the kernel migrated for it; compaction, which can come at any time, is another.
pages() {
	awk -v reason="reason=$1" '/mm_migrate_pages:/ && $NF == reason {
		for (i = 1; i <= NF; i++)
			if (sub(/^nr_succeeded=/, "", $i))
				sum += $i
	} END { print sum + 0 }' /sys/kernel/tracing/trace
}

# A counter of the kernel's, of the whole machine. "demotions" is how often pages were handed over to
# be demoted, the other two of the trace are pages.
counter() {
	case $1 in
	demotions) grep -c 'nr_succeeded=[1-9].* reason=demotion' /sys/kernel/tracing/trace ;;
	demoted) pages demotion ;;
	called) pages syscall_or_cpuset ;;
	*) awk -v name="$1" '$1 == name { print $2 }' /proc/vmstat ;;
	esac
}
counters="pgfault pswpout pglazyfreed pgmigrate_success demotions demoted called"
echo 1 >/sys/kernel/tracing/events/migrate/mm_migrate_pages/enable
# Its flushes would be among those that are counted one by one.
echo 0 >/proc/sys/vm/compaction_proactiveness 2>/dev/null

mkdir -p /var/lib/tlbbench
machine >/tmp/before
for form; do
	name=${form%%=*}
	for name_of in $counters; do
		counter "$name_of"
	done >/tmp/counters
	# shellcheck disable=SC2086 # several words
	tlbbench run ${form#*=} --runs 1 -q -o "$name.json" >/tmp/said 2>&1
	code=$?
	[ $code -eq 0 ] || {
		echo "not ok $name: exit $code"
		cat /tmp/said
		failed=1
	}
	for name_of in $counters; do
		read -r old && echo "\"$name_of\": $(($(counter "$name_of") - old)),"
	done </tmp/counters >"$name.vmstat"
	sed -i "1s/{/{ \"vmstat\": { $(tr -d '\n' <"$name.vmstat" | sed 's/,$//') },/" "$name.json"
	machine >/tmp/after
	if diff /tmp/before /tmp/after; then
		echo "ok $name: the machine is as before"
	else
		echo "not ok $name: the machine is not as before"
		failed=1
	fi
done
[ ! -f then.sh ] || sh then.sh || failed=1
exit $failed
