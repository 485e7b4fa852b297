#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# On this very host, whatever it allows: tlbstat counts, or falls back with the cause.
# The conditions are evaluated by holds().
# shellcheck disable=SC2016,SC2034
tlbstat=${BUILD:-build}/tlbstat
# shellcheck source=tests/check.inc
. tests/check.inc

"$tlbstat" 0.2 3 >"$work/out" 2>"$work/err"
code=$?
holds "three intervals end with exit 0" '[ $code -eq 0 ]'
holds "a line for each" '[ "$(grep -c "^ *[0-9]" "$work/out")" -eq 3 ]'
if "$tlbstat" check >"$work/check" 2>&1; then
	holds "BPF is allowed here: the trust line names the probes" \
		'tail -n 1 "$work/out" | grep -q "^trust: [0-9]* of [0-9]* probes"'
else
	holds "BPF is refused here: the cause is told" 'grep -q "refuses BPF" "$work/err"'
	holds "and the columns that are gone" 'grep -q "^tlbstat: hint: .* gone: " "$work/err"'
	"$tlbstat" --strict 1 3 >"$work/out" 2>"$work/err"
	code=$?
	holds "--strict is exit 77 and the reason" \
		'[ $code -eq 77 ] && grep -q "refuses BPF" "$work/err"'
fi
exit $failed
