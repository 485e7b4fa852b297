#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Inside a guest of at least 4 CPUs: the daemon at its shortest interval, while CPUs and cgroups come and
# go and its list changes. Each file is parsed, and no counter is smaller in it than in the one before;
# memory and descriptors do not grow.
#
# soak.sh CAPABILITIES UPDATES: those that the daemon gets, empty for all; and how many files there are to
# be, of 15 s each if they were not made as fast as can be.
# The conditions are evaluated by check().
# shellcheck disable=SC2016,SC2034
bound=$1 updates=$2
# shellcheck source=tests/guest/inside/counters.inc
. ./counters.inc
# shellcheck source=tests/guest/inside/daemon.inc
. ./daemon.inc
mkdir -p $folder
root=/sys/fs/cgroup
list=/tmp/list
samples=/tmp/samples
: >$samples

# sample: memory in kB, of its own and in all; open descriptors; CPU time in ns.
sample() {
	echo "$(sed -n 's/^RssAnon:[^0-9]*\([0-9]*\) kB/\1/p; s/^VmRSS:[^0-9]*\([0-9]*\) kB/\1/p' /proc/$pid/status | tac | xargs)" \
		"$(find /proc/$pid/fd -type l 2>/dev/null | wc -l) $(cut -d ' ' -f 1 /proc/$pid/schedstat)" >>$samples
}

# churn N: a CPU goes and comes; cgroups, too, and a process in them; the list changes.
churn() {
	echo 0 >/sys/devices/system/cpu/cpu3/online
	mkdir -p "$root/soak/a" "$root/soak/$1"
	sh -c 'echo $$ >"$0/cgroup.procs" && exec shoot 3 20 1 spin' "$root/soak/$1"
	sh -c 'echo $$ >"$0/cgroup.procs" && exec shoot 3 20 1 spin' $root/soak/a
	echo 1 >/sys/devices/system/cpu/cpu3/online
	printf '%s\n' /soak /soak/a "/soak/$(($1 % 50))" >$list
	kill -HUP $pid
	rmdir "$root/soak/$1" $root/soak/a
}

# of COLUMN HALF: the least and the most of it in one half of the samples.
of() {
	awk -v column="$1" -v half="$2" -v all="$(wc -l <$samples)" '
		half == 1 ? NR > all / 2 : NR <= all / 2 { next }
		!seen || $column < least { least = $column }
		!seen || $column > most { most = $column }
		{ seen = 1 }
		END { print least, most }' $samples
}

workload="soak of $updates updates"
mkdir -p $root/soak
echo /soak >$list
start --interval 10ms --cgroups $list
reread $file 1 "$updates" 1000 >/tmp/reread &
reader=$!
turns=0
while kill -0 $reader 2>/dev/null && kill -0 $pid; do
	turns=$((turns + 1))
	churn $turns
	sample
done
wait $reader
code=$?
check "each file is valid, and no counter decreases: $(cat /tmp/reread)" '[ $code -eq 0 ]'
check "CPUs and cgroups came and went ($turns times)" '[ $turns -ge 2 ]'
first=$(of 1 1) second=$(of 1 2)
echo "memory of its own: $first kB least and most in the first half, $second kB in the second"
# More than what a list or a text differs by: malloc() grows by 132 kB.
check "memory is flat" '[ ${second#* } -le $((${first#* } + 132)) ]'
check "memory is less than 10 MB ($(of 2 2))" '[ "$(of 2 2 | cut -d " " -f 2)" -lt 10000 ]'
first=$(of 3 1) second=$(of 3 2)
# One is open for a moment, to be read or written.
check "descriptors are flat ($first, $second)" '[ ${second% *} -le $((${first% *} + 1)) ]'
check "the set of cgroups has grown" '[ "$(grep -c "^tlbstat_cgroup_requested" $file)" -gt 3 ]'
check "some of them have counted" '[ "$(value "tlbstat_cgroup_requested_cpus_total{cgroup=\"/soak/a\"}")" -gt 0 ]'
check "nothing was told but what is expected" '! grep -qv "there is no $root/soak" /tmp/err'
end TERM
check "SIGTERM is exit 0" '[ $code -eq 0 ]'
exit $failed
