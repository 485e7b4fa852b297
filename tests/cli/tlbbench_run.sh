#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# A run on this very machine: either it works, with or without BPF, and leaves nothing behind, or it
# is exit 77 with a reason. The conditions are evaluated by holds().
# shellcheck disable=SC2016,SC2034
tlbbench=${BUILD:-build}/tlbbench
# shellcheck source=tests/check.inc
. tests/check.inc
export XDG_STATE_HOME="$work/state"

machine() {
	cat /proc/swaps
	ls /sys/block
	cat /proc/sys/vm/swappiness /proc/sys/kernel/numa_balancing \
		/sys/module/zswap/parameters/enabled 2>/dev/null
}

machine >"$work/before"
"$tlbbench" run pageout --via madvise --pages 700 --runs 2 -o "$work/result" \
	>"$work/out" 2>"$work/err"
code=$?
if [ $code -eq 77 ]; then
	holds "unsupported here, with a reason" 'grep -q "not supported here: ." "$work/err"'
	exit $failed
fi
holds "a run ends with exit 0" '[ $code -eq 0 ]'
holds "two runs, each of which did work" \
	'jq -e "[.workloads[0].runs[].status] == [\"ok\", \"ok\"]" "$work/result" >/dev/null'
holds "most pages left, by pagemap" \
	'jq -e "[.workloads[0].runs[].values.pages_done] | min > 600" "$work/result" >/dev/null'
holds "no fewer were written to swap" \
	'jq -e "[.workloads[0].runs[].values | .pages_swapped_out >= .pages_done] | all" \
		"$work/result" >/dev/null'
holds "every value that is absent has a reason" \
	'jq -e "[.workloads[0].runs[] | . as \$run | .values | to_entries[] |
		select(.value == null) | \$run.absent[.key] | length > 0] | all" \
		"$work/result" >/dev/null'
holds "the table has a line per run and one of medians" \
	'[ "$(grep -c "^ *[12] \|^ med " "$work/out")" -eq 3 ]'
holds "progress is a plain line per run in a log" \
	'[ "$(grep -c "^pageout: run [12] of 2" "$work/err")" -eq 2 ]'
machine >"$work/after"
holds "the machine is as before" 'cmp -s "$work/before" "$work/after"'

"$tlbbench" run pageout --via madvise --pages 700 --runs 1 -q -J >"$work/out" 2>"$work/err"
holds "-J prints the result and nothing else" 'jq -e .schema "$work/out" >/dev/null'
holds "-q shows no progress" '! grep -q "run 1 of 1" "$work/err"'

start=$(date +%s)
"$tlbbench" run pageout --via madvise --pages 40000 --runs 3 -q --time-limit 2s -o "$work/result" \
	>"$work/out" 2>"$work/err"
took=$(($(date +%s) - start))
holds "a limit of time is kept by taking fewer pages, or there was time for all" \
	'[ $took -le 6 ] && { grep -q "scaled by 0\.[0-9]* to" "$work/err" ||
		grep -q "40000 pages" "$work/out"; }'
holds "the result has the pages that were taken" \
	'[ "$(jq .workloads[0].parameters.pages "$work/result")" = \
		"$(jq .workloads[0].runs[0].values.pages_asked "$work/result")" ]'

# A call of fork takes 256 pages.
"$tlbbench" run fork --pages 100000 --runs 1 -q --time-limit 1ms -o "$work/result" >"$work/out" 2>"$work/err"
code=$?
holds "however short the time, each thread has work" '[ $code -eq 0 ] &&
	[ "$(jq -c ".workloads[0].runs[0].values | [.pages_asked, .operations]" "$work/result")" = "[256,1]" ]'

# One after the other; a number that is there already is left out.
"$tlbbench" run mmap fork --threads max,1,1 --pages 512 --runs 1 -q -o "$work/result" >"$work/out" 2>"$work/err"
rows=$(jq -r '.workloads[] | "\(.name) \(.parameters.threads) \(.runs | length)"' "$work/result" | xargs)
max=$(nproc)
expected="mmap $max 1 mmap 1 1 fork $max 1 fork 1 1"
[ "$max" -ne 1 ] || expected="mmap 1 1 fork 1 1"
holds "several numbers of threads are a row each, with its run" '[ "$rows" = "$expected" ]'

# Workloads of the suite that cannot run are rows of the result as well.
"$tlbbench" run suite --pages 700 --runs 1 -q -o "$work/result" >"$work/out" 2>"$work/err"
code=$?
holds "the suite ends with exit 0 if one of its workloads could run" '[ $code -eq 0 ]'
holds "the suite's result has every workload that there is" \
	'[ "$(jq -c "[.workloads[].name]" "$work/result")" = "$("$tlbbench" list --json |
		jq -c "[.[].name] | reduce .[] as \$name ([]; . + ([\$name] - .))")" ]'
holds "each did its run, or is unsupported with a reason" \
	'jq -e "[.workloads[].runs | length == 1 and (.[0] | .status == \"ok\" or
		(.status == \"unsupported\" and (.reason | length > 0)))] | all" "$work/result" >/dev/null'
machine >"$work/after"
holds "the machine is as before the suite" 'cmp -s "$work/before" "$work/after"'

# The second of two is refused, and the first is ended by a signal, with what it has so far.
"$tlbbench" run pageout --via madvise --pages 2000 --runs 10000 -o "$work/result" \
	>"$work/out" 2>"$work/err" &
pid=$!
for _ in $(seq 100); do
	[ -s "$work/out" ] && grep -q "^ *1 " "$work/out" && break
	sleep 0.1
done
"$tlbbench" restore >"$work/second" 2>&1
code=$?
holds "restore is refused while a run goes on" \
	'[ $code -eq 1 ] && grep -q "process $pid" "$work/second"'
"$tlbbench" run pageout --via madvise >"$work/second" 2>&1
code=$?
holds "a second run is refused" '[ $code -eq 1 ] && grep -q "process $pid" "$work/second"'
kill -TERM $pid
wait $pid
code=$?
holds "SIGTERM ends it with exit 0" '[ $code -eq 0 ]'
holds "the runs so far are printed and written" \
	'grep -q "^ med " "$work/out" && jq -e ".workloads[0].runs | length > 0" "$work/result" >/dev/null'
machine >"$work/after"
holds "the machine is as before the signal" 'cmp -s "$work/before" "$work/after"'

"$tlbbench" run pageout --via madvise --pages 2000 --runs 10000 >"$work/out" 2>"$work/err" &
pid=$!
for _ in $(seq 100); do
	grep -q "^swap " "$XDG_STATE_HOME/tlbbench/journal" 2>/dev/null && break
	sleep 0.1
done
kill -KILL $pid
wait $pid 2>/dev/null
"$tlbbench" restore >"$work/out" 2>"$work/err"
code=$?
holds "restore puts back what SIGKILL left" '[ $code -eq 0 ] && grep -q "^put back" "$work/out"'
machine >"$work/after"
holds "the machine is as before SIGKILL" 'cmp -s "$work/before" "$work/after"'
exit $failed
