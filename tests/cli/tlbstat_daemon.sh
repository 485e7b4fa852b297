#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The daemon without BPF: its file holds what the kernel counts and is whole at any moment, it goes on
# through a folder that is gone, and it leaves nothing. The unit for systemd is a tight sandbox.
# The conditions are evaluated by holds().
# shellcheck disable=SC2016,SC2034
tlbstat=${BUILD:-build}/tlbstat
promtool=${BUILD:-build}/promtool
# shellcheck source=tests/check.inc
. tests/check.inc
program="timeout 60 $tlbstat" # one that is not refused would go on
folder=$work/metrics
file=$folder/tlbstat.prom
mkdir "$folder"
pid=

# start [OPTIONS]: a daemon in the background, once its file is there, also where one is left.
start() {
	left=$(stat -c %i "$file" 2>/dev/null)
	: >"$work/err"
	"$tlbstat" daemon --method=none --textfile-dir "$folder" "$@" >"$work/out" 2>"$work/err" &
	pid=$!
	wait_for '[ -e "$file" ] && [ "$(stat -c %i "$file")" != "$left" ] || ! kill -0 $pid'
}

# wait_for CONDITION: for a minute at most.
wait_for() {
	for _ in $(seq 600); do
		if eval "$1" 2>/dev/null; then
			return 0
		fi
		sleep 0.1
	done
	return 1
}

# end SIGNAL: sends it, and waits.
end() {
	kill "-$1" $pid
	wait $pid
	code=$?
}

refuses "no folder is a usage error" "--textfile-dir" daemon
refuses "an interval that is none" '"soon"' daemon --textfile-dir "$folder" --interval soon
refuses "an interval out of range" "10 ms and an hour" daemon --textfile-dir "$folder" --interval 2h
refuses "an argument too many" "'5'" daemon --textfile-dir "$folder" 5
refuses "an option of other commands" "--json" daemon --json
gives 1 "a folder that is not there" "$work/nowhere" daemon --textfile-dir "$work/nowhere"
printf '/\n/a/../b\n' >"$work/list"
if grep -q " cgroup2 " /proc/self/mounts; then
	gives 2 "a list of cgroups that is at fault" "line 2" daemon --method=none --textfile-dir "$folder" \
		--cgroups "$work/list"
	gives 2 "a list of cgroups that is not there" "$work/none" daemon --method=none \
		--textfile-dir "$folder" --cgroups "$work/none"
else
	gives 77 "a list where there are no cgroups" "cgroup2" daemon --method=none \
		--textfile-dir "$folder" --cgroups "$work/list"
fi
gives 77 "--strict" "method=none" daemon --method=none --strict --textfile-dir "$folder"
holds "no file then" '[ -z "$(ls -A "$folder")" ]'

start --interval 15s
holds "promtool finds no fault" '$promtool check metrics <"$file" >"$work/promtool" 2>&1 && [ ! -s "$work/promtool" ]'
holds "it can be read by all" '[ "$(stat -c %a "$file")" = 644 ]'
holds "it ends with a newline" '[ -z "$(tail -c 1 "$file")" ]'
holds "no probe is attached" \
	'[ "$(grep -c "^tlbstat_probe_attached{.*} 0\$" "$file")" -gt 10 ] && ! grep -q "^tlbstat_probe_attached{.*} 1" "$file"'
holds "what cannot be counted is left out" '! grep -q "flushes_total\|ipis_sent\|requested\|difference" "$file"'
holds "no time stands behind a number" '! grep -v "^#" "$file" | sed "s/{.*}//" | grep -q " .* "'
holds "it says which program writes" 'grep -q "^tlbstat_build_info{version=\".*\",revision=\".\+\"} 1$" "$file"'
holds "it has no capability left" '[ -z "$(sed -n "/^Cap\(Inh\|Prm\|Eff\|Amb\)/s/^.*:.0*//p" /proc/$pid/status)" ]'
holds "nor can it gain any" 'grep -q "^NoNewPrivs:.1" /proc/$pid/status'
holds "its system calls are filtered" 'grep -q "^Seccomp:.2" /proc/$pid/status'
gives 1 "a second one is refused" "another tlbstat daemon" daemon --method=none --textfile-dir "$folder"
holds "and leaves the first one's file" '[ -s "$file" ]'
before=$(stat -c %i "$file")
kill -HUP $pid
holds "SIGHUP writes at once" 'wait_for "[ \$(stat -c %i \"$file\") != $before ]"'
end TERM
holds "SIGTERM is exit 0" '[ $code -eq 0 ]'
holds "and leaves nothing" '[ -z "$(ls -A "$folder")" ]'

# What it tells systemd, which stops and starts what does not tell. perl is there on each Debian.
perl -MSocket -e '$| = 1; socket(S, PF_UNIX, SOCK_DGRAM, 0) && bind(S, pack_sockaddr_un($ARGV[0])) || die $!;
	print "$text\n" while defined recv(S, $text, 4096, 0)' "$work/socket" >>"$work/told" &
listener=$!
# told TEXT: waits until it is.
# shellcheck disable=SC2317 # called by holds()
told() {
	wait_for "grep -q '$1' \"$work/told\""
}
holds "somebody listens" 'wait_for "[ -S \"$work/socket\" ]"'
export NOTIFY_SOCKET="$work/socket" WATCHDOG_USEC=200000
start --interval 1h
holds "without BPF it is ready, and tells why it counts less" 'told "^READY=1" && told "^STATUS=the kernel.s own counters only: BPF"'
holds "it tells that it is alive" 'told "^WATCHDOG=1"'
: >"$work/told"
kill -HUP $pid
holds "it tells a reload, since when, and its end" 'told "^RELOADING=1" && told "^MONOTONIC_USEC=[1-9]" && told "^READY=1"'
end TERM
holds "and its own end" 'told "^STOPPING=1"'
unset NOTIFY_SOCKET WATCHDOG_USEC
kill $listener

# At the shortest interval: whole at each of many looks, and told once what fails in each.
start --interval 10ms
torn=0 looks=0 last=0
while [ $looks -lt 100 ]; do
	looks=$((looks + 1))
	cat "$file" >"$work/copy" 2>/dev/null || torn=$((torn + 1))
	grep -q '^tlbstat_build_info.* 1$' "$work/copy" && [ -z "$(tail -c 1 "$work/copy")" ] ||
		torn=$((torn + 1))
done
holds "100 looks at a file that is always rewritten see a whole one ($torn torn)" '[ $torn -eq 0 ]'
inodes=$(for _ in 1 2 3 4 5 6 7 8; do stat -c %i "$file"; sleep 0.1; done | sort -u | wc -l)
holds "it was rewritten meanwhile" '[ $inodes -gt 1 ]'
mv "$folder" "$folder.gone"
holds "a folder that is gone is told" 'wait_for "grep -q \"No such file\" \"$work/err\""'
sleep 0.5
mkdir "$folder"
holds "and found again" 'wait_for "[ -s \"$file\" ] && grep -q again \"$work/err\""'
holds "once" '[ "$(grep -c "No such file" "$work/err")" -eq 1 ]'
holds "the failures are counted" 'grep -q "^tlbstat_write_failures_total [1-9]" "$file"'
gives 1 "the new folder is locked, too" "another tlbstat daemon" daemon --method=none --textfile-dir "$folder"
: >"$work/err"
end KILL
holds "kill -9 leaves a whole file" '$promtool check metrics <"$file"'
start --interval 10ms
end INT
holds "the next one starts, and leaves nothing" '[ $code -eq 0 ] && [ -z "$(ls -A "$folder")" ]'

# More than is good is lost: an exposure of 10 is none of it.
score=$(systemd-analyze security --offline=yes packaging/tlbstat.service 2>&1 |
	sed -n 's/.*exposure level.*: \([0-9.]*\) .*/\1/p')
holds "the unit's exposure is 2.0 or less (${score:-unknown})" '[ "$(echo "${score:-10} <= 2.0" | bc)" -eq 1 ]'
exit $failed
