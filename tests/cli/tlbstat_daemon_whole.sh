#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 600
# The daemon's file is whole and valid at any moment: at 10,000 looks while it is rewritten as fast as it
# can be, and after each of 200 kills at random moments, which leave no heap of temporary files either.
# The conditions are evaluated by holds().
# shellcheck disable=SC2016,SC2034
tlbstat=${BUILD:-build}/tlbstat
reread=${BUILD:-build}/guest/$(uname -m)/tests/reread
# shellcheck source=tests/check.inc
. tests/check.inc
folder=$work/metrics
file=$folder/tlbstat.prom
mkdir "$folder"

# Inherited: SIGHUP does nothing to the daemon until it knows what it is for.
trap '' HUP

# start: a daemon, and signals that have it write without a pause.
start() {
	"$tlbstat" daemon --method=none --textfile-dir "$folder" --interval 10ms >"$work/out" 2>"$work/err" &
	pid=$!
	(while kill -HUP "$pid"; do :; done) 2>/dev/null &
	storm=$!
}

# end SIGNAL: the daemon is waited for last, so that its pid is nobody else's meanwhile.
end() {
	kill "-$1" "$pid"
	kill "$storm"
	wait "$storm"
	wait "$pid"
	code=$?
} 2>/dev/null

# A file of this daemon's own, not one that was left.
wait_for_file() {
	for _ in $(seq 600); do
		[ "$(stat -c %i "$file" 2>/dev/null)" = "$left" ] || break
		sleep 0.1
	done
}

left=
start
wait_for_file
"$reread" "$file" 10000 50 >"$work/reread"
code=$?
holds "whole and valid, and never less than before: $(cat "$work/reread")" '[ $code -eq 0 ]'
end KILL

# Delays of up to 100 ms: from before it has started to many files later. How many hit it while it writes
# depends on the disk: most where it is slow, few in memory.
midst=0 whole=0 kills=0
for delay in $(od -An -v -N 400 -t u2 /dev/urandom | tr -s ' ' '\n' | awk 'NF { printf "%.4f\n", $1 / 65536 * 0.1 }'); do
	start
	sleep "$delay"
	end KILL
	kills=$((kills + 1))
	[ ! -e "$folder/.tlbstat.prom.tmp" ] || midst=$((midst + 1))
	"$reread" "$file" 1 0 >>"$work/reread" && whole=$((whole + 1))
done
holds "whole after $whole of $kills kills, the writing of $midst files cut short" '[ $whole -eq 200 ]'
holds "nothing but the file and one temporary one is left" \
	'[ -z "$(ls -A "$folder" | grep -vx -e tlbstat.prom -e .tlbstat.prom.tmp)" ]'
left=$(stat -c %i "$file")
start
wait_for_file
end TERM
holds "the next one clears up" '[ $code -eq 0 ] && [ -z "$(ls -A "$folder")" ]'
exit $failed
