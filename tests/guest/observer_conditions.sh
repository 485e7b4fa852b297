#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 400
# Counting works with far more possible CPUs than online ones, with CPUs that come and go, hidden
# addresses, sampling, Ctrl-C; without privilege or under lockdown it falls back and says why.
build=${BUILD:-build}
inside=$(dirname "$0")/inside
failed=0

# conditions KERNEL WHICH [TLBVM OPTIONS]
conditions() {
	kernel=$1 which=$2
	shift 2
	"$build/tlbvm" run --kernel "$kernel" --cpus 4 "$@" --put "$inside/conditions.sh" \
		--put "$inside/counters.inc" --put "$build/guest/x86_64/tests/shoot" -- \
		sh -c "PATH=\$PATH:/root sh conditions.sh $which" || failed=1
}

conditions stock:7.3 usual
# Since 6.9 the kernel no longer believes in CPUs that the firmware does not list.
conditions stock:6.1 possible --append possible_cpus=300

out=$("$build/tlbvm" run --kernel stock:6.12 --cpus 2 --append lockdown=confidentiality -- \
	sh -c 'tlbstat 0.2 2; echo "exit $?"; tlbstat --strict 0.2 2; echo "strict $?"' 2>&1)
if echo "$out" | grep -q "kernel refuses BPF" && echo "$out" | grep -q "^exit 0" &&
	echo "$out" | grep -q "^strict 77"; then
	echo "ok lockdown: falls back and says why"
else
	echo "not ok lockdown: $out"
	failed=1
fi
exit $failed
