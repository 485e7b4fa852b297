#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Inside a guest: a process of lifecycle is killed while the others work. They would wait for it for
# ever.
tlbbench run lifecycle --pages 400000000 --runs 1 -q --threads 3 >/dev/null 2>/tmp/said &
run=$!
members() {
	grep -l '^tlbbench-work$' /proc/[0-9]*/comm 2>/dev/null | cut -d/ -f3 | sort -n
}
# The worker, the three that it has, and what these have made, which may be gone again.
until [ "$(members | wc -l)" -ge 4 ]; do
	kill -0 $run || break
	sleep 0.1
done
kill -KILL "$(members | sed -n 2p)"
wait $run
code=$?
result=ok
[ $code -eq 1 ] && grep -q 'ended by signal 9' /tmp/said || result="not ok"
echo "$result lifecycle: a killed process ends the run, and is told"
[ "$result" = ok ] || { echo "exit $code" && cat /tmp/said; }
left=$(members)
[ -z "$left" ] || { echo "not ok lifecycle: left behind: $left" && exit 1; }
echo "ok lifecycle: none of its processes is left"
[ "$result" = ok ]
