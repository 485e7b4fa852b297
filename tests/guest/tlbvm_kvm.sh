#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 200
# KVM is used where a guest truly runs under it, and given up where it only seems to be there.
# The conditions are evaluated by holds().
# shellcheck disable=SC2016,SC2034
tlbvm=${BUILD:-build}/tlbvm
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

if ! { : <>/dev/kvm; } 2>/dev/null; then
	echo "no /dev/kvm that can be opened"
	exit 77
fi

holds() {
	if eval "$2"; then
		echo "ok $1"
	else
		echo "not ok $1"
		echo "exit code $code; stdout, then stderr:"
		cat "$work/out" "$work/err"
		failed=1
	fi
}

# The kernel from the usual cache; all else from one of our own.
"$tlbvm" run --cpus 1 -v -- true 2>"$work/err" || { cat "$work/err"; exit 1; }
kernel=$(sed -n 's/^tlbvm: kernel: \(.*\)\/vmlinuz .*/\1/p' "$work/err")
export XDG_CACHE_HOME="$work/cache"

run() {
	"$tlbvm" run --cpus 1 --kernel "$kernel" "$@" >"$work/out" 2>"$work/err"
	code=$?
}

run --accel kvm -- sh -c 'echo $TLBVM_ACCEL'
verdict=$(cat "$work/cache/tlbstat/kvm-x86_64")
case $verdict in
*" works")
	holds "a guest under KVM runs there" '[ $code -eq 0 ] && [ "$(cat "$work/out")" = kvm ]'
	;;
*" broken")
	holds "KVM that does not work is refused as not supported here" \
		'[ $code -eq 77 ] && grep -q "a guest does not run under it" "$work/err"'
	# As if the small probe had been fooled.
	echo "${verdict% broken} works" >"$work/cache/tlbstat/kvm-x86_64"
	run -- sh -c 'echo $TLBVM_ACCEL'
	holds "a guest that does not come up under KVM is emulated" \
		'[ $code -eq 0 ] && [ "$(cat "$work/out")" = "tcg,thread=single" ]'
	holds "that is said" 'grep -q "did not come up under KVM; trying once more" "$work/err"'
	holds "and remembered" '[ "$(cat "$work/cache/tlbstat/kvm-x86_64")" = "$verdict" ]'
	;;
*)
	holds "there is a verdict" false
	;;
esac

echo "another-boot 1.0 works" >"$work/cache/tlbstat/kvm-x86_64"
run --timeout 2s --qemu-arg -S -- true
holds "a verdict of another boot is not believed" \
	'[ "$(cat "$work/cache/tlbstat/kvm-x86_64")" = "$verdict" ]'
exit $failed
