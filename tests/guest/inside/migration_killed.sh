#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Inside a guest with a lower tier: a demotion that is killed leaves a setting and a cgroup behind, and
# restore puts them back. The conditions are evaluated by ok().
# shellcheck disable=SC2016,SC2034
failed=0
demotion=/sys/kernel/mm/numa/demotion_enabled

ok() {
	if eval "$2"; then
		echo "ok killed: $1"
	else
		echo "not ok killed: $1"
		cat /tmp/said
		failed=1
	fi
}

some_pages_demoted() {
	[ "$(awk '/^pgdemote/ { sum += $2 } END { print sum }' /proc/vmstat)" -gt "$1" ]
}

before=$(cat $demotion)
demoted=$(awk '/^pgdemote/ { sum += $2 } END { print sum }' /proc/vmstat)
tlbbench run demotion --pages 16000 --runs 1 -q >/tmp/said 2>&1 &
pid=$!
until some_pages_demoted $((demoted + 100)) || ! kill -0 $pid; do
	usleep 5000
done
kill -KILL $pid
ok "demotion is on" '[ "$before" = false ] && [ "$(cat $demotion)" = true ]'
ok "there is a cgroup" '[ -n "$(find /sys/fs/cgroup -name "tlbbench-*")" ]'
tlbbench restore >/tmp/said 2>&1
ok "restore puts back what it was" 'grep -q "put back" /tmp/said && [ "$(cat $demotion)" = false ]'
ok "and removes the cgroup" '[ -z "$(find /sys/fs/cgroup -name "tlbbench-*")" ]'
exit $failed
