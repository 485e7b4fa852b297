#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Inside a guest: no work, no support and a killed worker are three different ends, none of them a
# zero, and none leaves anything behind. The conditions are evaluated by ok().
# shellcheck disable=SC2016,SC2034,SC2086,SC2317
failed=0
journal=/var/lib/tlbbench/journal

ok() {
	if eval "$2"; then
		echo "ok $stage: $1"
	else
		echo "not ok $stage: $1"
		cat /tmp/said
		failed=1
	fi
}

clean() {
	! grep -q zram1 /proc/swaps && [ ! -e /sys/block/zram1 ] && [ ! -e $journal ] &&
		[ -z "$(find /sys/fs/cgroup -name 'tlbbench-*')" ]
}

run() {
	tlbbench run pageout --pages "$1" --runs 2 -q -o result.json >/tmp/said 2>&1
	code=$?
}

# A cgroup of the user's, whose limits hold for ours too.
mkdir -p /sys/fs/cgroup/user/shell
echo +memory >/sys/fs/cgroup/cgroup.subtree_control
echo +memory >/sys/fs/cgroup/user/cgroup.subtree_control
echo $$ >/sys/fs/cgroup/user/shell/cgroup.procs

stage="in a cgroup"
run 512
ok "a run works" '[ $code -eq 0 ]'
ok "nothing is left" clean

stage="with a switch"
printk=/sys/module/printk/parameters/time
was=$(cat $printk)
tlbbench run pageout --pages 256 --runs 2 -q --switch $printk -o switched >/tmp/said 2>&1
code=$?
ok "a run works" '[ $code -eq 0 ]'
ok "off and on take turns" '[ "$(sed -n "/^ run/,/^medians/s/^ *\(on\|off\) .*/\1/p" /tmp/said | tr "\n" " ")" = "off on on off " ]'
ok "each state has its result" 'grep -q "\"state\": \"off\"" switched.off.json && grep -q "\"state\": \"on\"" switched.on.json &&
	[ "$(cat switched.*.json | grep -c "\"status\": \"ok\"")" -eq 4 ]'
ok "the switch is as it was" '[ "$(cat $printk)" = "$was" ]'
ok "nothing is left" clean
tlbbench run pageout --pages 256 --runs 1 -q --switch /sys/module/zswap/parameters/enabled >/tmp/said 2>&1
code=$?
ok "one that the workload sets too is a failure" \
	'[ $code -eq 1 ] && grep -q "the workload, or somebody else, sets it too" /tmp/said'
ok "nothing is left" clean

stage="without the switch of the patch"
tlbbench run pageout --pages 256 -q --switch /sys/kernel/debug/x86/tlb_batch_filter -o none >/tmp/said 2>&1
code=$?
ok "exit 77" '[ $code -eq 77 ]'
ok "the reason is told" 'grep -q "this kernel has no such switch" /tmp/said'
ok "there is no result" '[ ! -e none.off.json ] && [ ! -e none.on.json ]'
umount /sys/kernel/debug
tlbbench run pageout --pages 256 -q --switch /sys/kernel/debug/x86/tlb_batch_filter >/tmp/said 2>&1
code=$?
ok "without debugfs it says how to mount it" '[ $code -eq 77 ] && grep -q "mount -t debugfs" /tmp/said'
mount -t debugfs none /sys/kernel/debug

stage="without leave to swap"
echo 0 >/sys/fs/cgroup/user/memory.swap.max
run 512
ok "exit 1" '[ $code -eq 1 ]'
ok "the reason is told" \
	'tr -s "\n " "  " </tmp/said | grep -q "no page went to swap.*memory.swap.max"'
ok "the result says no_work, twice" '[ "$(grep -c "\"status\": \"no_work\"" result.json)" -eq 2 ]'
ok "and has no interrupts per page" 'grep -q "\"ipis_per_page\": \"no page was done\"" result.json'
ok "nothing is left" clean

stage="without memory for all pages"
echo 128M >/sys/fs/cgroup/user/memory.max
run 50000
ok "exit 1" '[ $code -eq 1 ]'
ok "the worker's end is told" 'grep -q "worker was killed by signal 9" /tmp/said'
ok "and what to do" 'grep -q "fewer --pages" /tmp/said'
ok "nothing is left" clean
echo max >/sys/fs/cgroup/user/memory.max
echo max >/sys/fs/cgroup/user/memory.swap.max

stage="with more pages than memory"
run 10000000
ok "exit 77" '[ $code -eq 77 ]'
ok "the reason is told" 'grep -q "MiB are available" /tmp/said'

stage="with a file that is no journal"
echo something >$journal
run 512
ok "exit 1" '[ $code -eq 1 ]'
ok "the line is told" 'grep -q "line 1 " /tmp/said'
tlbbench restore >/tmp/said 2>&1
code=$?
ok "restore fails too" '[ $code -eq 1 ] && grep -q "line 1 " /tmp/said'
rm $journal

stage="with one node"
tlbbench run move_pages --pages 512 -q >/tmp/said 2>&1
code=$?
ok "move_pages ends with 77" '[ $code -eq 77 ]'
ok "the reason is told" 'grep -q "two nodes with memory, and here is only node 0" /tmp/said'
tlbbench run migrate_pages --pages 512 -q >/tmp/said 2>&1
code=$?
ok "migrate_pages ends with 77" '[ $code -eq 77 ] && grep -q "only node 0" /tmp/said'
tlbbench run demotion --pages 512 -q >/tmp/said 2>&1
code=$?
ok "demotion ends with 77" '[ $code -eq 77 ]'
ok "the reason is told, and the tier" 'grep -q "tier below node 0.s (memory_tier[0-9]" /tmp/said'

stage="without zram"
rmmod zram
run 512
ok "exit 77" '[ $code -eq 77 ]'
ok "what to do is told" 'grep -q "modprobe zram" /tmp/said'
ok "the result says unsupported" 'grep -q "\"status\": \"unsupported\"" result.json'
exit $failed
