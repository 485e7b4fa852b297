#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Inside a guest: tlbbench is killed at each stage of a run, and restore puts everything back. The
# guest has a zram swap and a zswap of its own, which must stay as they are.
failed=0
options=
journal=/var/lib/tlbbench/journal
zswap=/sys/module/zswap/parameters/enabled
# A switch that any kernel has.
switch=/sys/module/printk/parameters/time

# Everything that a run changes, and what lies beside it.
machine() {
	cat /proc/swaps
	for device in /sys/block/zram*; do
		echo "$device $(cat "$device"/disksize "$device"/initstate)"
	done
	find /dev -name 'zram*' | sort
	for setting in /proc/sys/vm/* /proc/sys/kernel/numa_balancing $zswap \
		/sys/kernel/mm/transparent_hugepage/enabled /sys/kernel/mm/ksm/run \
		/sys/kernel/mm/lru_gen/enabled /sys/kernel/mm/numa/demotion_enabled $switch; do
		echo "$setting $(cat "$setting" 2>/dev/null)"
	done
	find /sys/fs/cgroup -type d | sort
	cat /sys/fs/cgroup/cgroup.subtree_control
	find /var/lib/tlbbench ! -name lock 2>/dev/null | sort
	grep -l tlbbench /proc/[0-9]*/comm
}

ok() {
	if "$@" >/tmp/said 2>&1; then
		echo "ok $stage: $*"
	else
		echo "not ok $stage: $*"
		cat /tmp/said
		failed=1
	fi
}

# What the last command said.
said() {
	cp /tmp/said /tmp/answer
	ok grep "$1" /tmp/answer
}

# shellcheck disable=SC2317 # called by ok()
same() {
	machine >/tmp/after
	diff /tmp/before /tmp/after
}

# What tells that a run has come to a stage.
written() {
	grep -q "^$1" $journal 2>/dev/null
}

some_pages_out() {
	[ "$(awk '$1 ~ /zram1/ { print $4 }' /proc/swaps)" -gt 100 ] 2>/dev/null
}

# shellcheck disable=SC2317 # called by kill_at()
switched_off() {
	grep -q N "$switch"
}

# kill_at STAGE CONDITION... : starts a run and kills it once the condition holds.
kill_at() {
	stage=$1
	shift
	# shellcheck disable=SC2086 # several words or none
	tlbbench run pageout --pages 8192 --runs 1 -q $options >/tmp/out 2>&1 &
	pid=$!
	until "$@" || ! kill -0 $pid; do
		usleep 5000
	done
	kill -KILL $pid || {
		echo "not ok $stage: the run had ended before"
		cat /tmp/out
		failed=1
	}
	ok tlbbench restore
	ok same
	stage="$stage, again"
	ok tlbbench restore
	said 'nothing to put back'
	ok same
}

echo 64M >/sys/block/zram0/disksize
mkswap /dev/zram0 >/dev/null
swapon /dev/zram0
echo Y >$zswap
mkdir -p /var/lib/tlbbench
machine >/tmp/before

stage=before
ok grep -q '^/dev/zram0' /proc/swaps
ok grep -q Y $zswap
kill_at "killed when it had turned zswap off" written setting
kill_at "killed when it had made a device" written zram
kill_at "killed when it had turned swap on" written swap
kill_at "killed when it had made a cgroup" written cgroup
kill_at "killed when pages were going out" some_pages_out
echo Y >$switch
machine >/tmp/before
options="--switch $switch"
kill_at "killed when it had turned a switch off" switched_off
kill_at "killed with the switch off, when pages were going out" some_pages_out
options=

stage="a run after one that was killed"
tlbbench run pageout --pages 8192 --runs 1 -q >/tmp/out 2>&1 &
pid=$!
until written cgroup; do usleep 5000; done
kill -KILL $pid
ok tlbbench run pageout --pages 512 --runs 1 -q
said 'put back first'
ok same

for signal in INT TERM HUP QUIT USR1; do
	stage="SIG$signal while pages were going out"
	tlbbench run pageout --pages 8192 --runs 100 -q --switch $switch >/tmp/out 2>&1 &
	pid=$!
	until some_pages_out; do usleep 5000; done
	kill -$signal $pid
	ok wait $pid
	ok same
done
exit $failed
