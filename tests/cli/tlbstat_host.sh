#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# On this very host, whatever it allows: tlbstat counts, or falls back with the cause.
tlbstat=${BUILD:-build}/tlbstat
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

result() {
	if [ "$2" -eq 0 ]; then
		echo "ok $1"
	else
		echo "not ok $1"
		cat "$work/out" "$work/err"
		failed=1
	fi
}

"$tlbstat" 0.2 3 >"$work/out" 2>"$work/err"
result "three intervals end with exit 0" $?
[ "$(grep -c '^ *[0-9]' "$work/out")" -eq 3 ]
result "a line for each" $?
if "$tlbstat" check >"$work/check" 2>&1; then
	tail -n 1 "$work/out" | grep -q '^trust: [0-9]* of [0-9]* probes'
	result "BPF is allowed here: the trust line names the probes" $?
else
	grep -q 'refuses BPF' "$work/err" && grep -q '^tlbstat: hint: .* gone: ' "$work/err"
	result "BPF is refused here: the cause and the columns that are gone are told" $?
	"$tlbstat" --strict 1 3 >"$work/out" 2>"$work/err"
	[ $? -eq 77 ] && grep -q 'refuses BPF' "$work/err"
	result "BPF is refused here: --strict is exit 77 and the reason" $?
fi
exit $failed
