#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Inside an idle guest: what the daemon costs at its default interval. The guest's clock counts the
# instructions of all its CPUs, one a nanosecond, and leaps while they are idle.
#
# idle.sh SECONDS
# The conditions are evaluated by check().
# shellcheck disable=SC2016
seconds=$1
# shellcheck source=tests/guest/inside/counters.inc
. ./counters.inc
# shellcheck source=tests/guest/inside/daemon.inc
. ./daemon.inc
mkdir -p $folder

# Its time on CPUs and the guest's, in ns.
now() {
	echo "$(cut -d ' ' -f 1 /proc/$pid/schedstat) $(awk '{ printf "%.0f\n", $1 * 1e9 }' /proc/uptime)"
}

status() {
	sed -n "s/^$1:[^0-9]*\([0-9]*\) kB/\1/p" /proc/$pid/status
}

workload="idle, $(nproc) CPUs, for $seconds s"
start --interval 15s
sleep 20
before=$(now)
sleep "$seconds"
after=$(now)
# shellcheck disable=SC2086 # two numbers each
cost=$(echo $before $after | awk -v updates=$((seconds / 15)) '{
	printf "%.0f %.4f\n", ($3 - $1) / updates, 100 * ($3 - $1) / ($4 - $2) }')
echo "instructions per update: ${cost% *}, which is ${cost#* }% of a CPU that does one a nanosecond"
check "less than 0.1% of a CPU" 'awk "BEGIN { exit !(${cost#* } < 0.1) }"'
echo "memory: $(status VmRSS) kB resident, $(status RssAnon) kB of them its own; most at the start: $(status VmHWM) kB"
check "less than 10 MB" '[ "$(status VmRSS)" -lt 10000 ]'
end TERM
exit $failed
