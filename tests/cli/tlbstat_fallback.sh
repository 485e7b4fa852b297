#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Without BPF, by refusal or by choice, tlbstat counts what the kernel counts, and says what is gone.
# The conditions are evaluated by holds().
# shellcheck disable=SC2016,SC2034
tlbstat=${BUILD:-build}/tlbstat
# shellcheck source=tests/check.inc
. tests/check.inc

"$tlbstat" --method=none 0.1 3 >"$work/out" 2>"$work/err"
code=$?
holds "three intervals end with exit 0" '[ $code -eq 0 ]'
holds "three lines, a header and the trust line" '[ "$(wc -l <"$work/out")" -eq 5 ]'
holds "the columns that are gone are named" 'grep -q "gone: calls" "$work/err"'
holds "the trust line names the cause" 'tail -1 "$work/out" | grep -q "^trust: .*--method=none"'

"$tlbstat" --method=none --strict 0.1 3 >"$work/out" 2>"$work/err"
code=$?
holds "--strict is exit 77" '[ $code -eq 77 ]'
holds "--strict prints no data" '[ ! -s "$work/out" ]'
holds "--strict says why" 'grep -q "method=none" "$work/err"'

"$tlbstat" check --method=none >"$work/out" 2>"$work/err"
code=$?
holds "check without anything to count is exit 77" '[ $code -eq 77 ]'

"$tlbstat" --method=none --json 0.1 2 >"$work/out" 2>"$work/err"
holds "JSON lines parse" 'jq -e . "$work/out" >/dev/null'
holds "JSON has null for what cannot be seen" \
	'[ "$(jq -s ".[0].funnel.ipis_sent" "$work/out")" = null ]'
holds "JSON says why" 'jq -es ".[0].unsupported.all" "$work/out" >/dev/null'

"$tlbstat" --method=none --csv 0.1 2 >"$work/out" 2>"$work/err"
holds "CSV is a header and two rows" '[ "$(wc -l <"$work/out")" -eq 3 ]'
holds "all CSV rows have the same number of fields" \
	'[ "$(awk -F, "{print NF}" "$work/out" | sort -u | wc -l)" -eq 1 ]'

LC_ALL=de_DE.UTF-8 "$tlbstat" --method=none --csv 0.1 1 >"$work/out" 2>"$work/err"
holds "a decimal point in any locale" 'tail -1 "$work/out" | grep -q "^0\.[0-9]*,"'

"$tlbstat" run --method=none -- sh -c 'exit 7' >"$work/out" 2>"$work/err"
code=$?
holds "run passes the exit code on" '[ $code -eq 7 ]'
"$tlbstat" run --method=none -- sh -c 'kill -9 $$' >"$work/out" 2>"$work/err"
code=$?
holds "run tells a signal as 128+N" '[ $code -eq 137 ]'
"$tlbstat" run --method=none -- /nowhere/at/all >"$work/out" 2>"$work/err"
code=$?
holds "run of what is not there is exit 127" '[ $code -eq 127 ] && grep -q /nowhere "$work/err"'
"$tlbstat" run --method=none -o "$work/report" -J -- echo data >"$work/out" 2>"$work/err"
holds "-o keeps the report out of the command's output" \
	'[ "$(cat "$work/out")" = data ] && jq -e .trust "$work/report" >/dev/null'
"$tlbstat" run --method=none -- sh -c 'sleep 0.1; echo $1' sh -x >"$work/out" 2>"$work/err"
holds "the command's own options are its own" 'head -1 "$work/out" | grep -q -- "^-x"'

"$tlbstat" run --method=none -o "$work/nowhere/report" -- touch "$work/ran" >"$work/out" 2>"$work/err"
code=$?
holds "an output that cannot be written is told before the command is run" \
	'[ $code -eq 1 ] && grep -q "nowhere/report" "$work/err" && [ ! -e "$work/ran" ]'

"$tlbstat" --method=none 0.1 >/dev/full 2>"$work/err"
code=$?
holds "a full disk is a failure with its cause" \
	'[ $code -eq 1 ] && grep -q "No space left" "$work/err"'
"$tlbstat" --method=none 0.05 2>"$work/err" | head -1 >"$work/out"
holds "a closed pipe ends it quietly" '[ -s "$work/out" ] && ! grep -qi "pipe" "$work/err"'

"$tlbstat" --method=none 30 >"$work/out" 2>"$work/err" &
pid=$!
sleep 0.5
kill -TERM $pid
wait $pid
code=$?
holds "SIGTERM ends it with exit 0 and the partial interval" \
	'[ $code -eq 0 ] && [ "$(wc -l <"$work/out")" -eq 3 ]'
exit $failed
