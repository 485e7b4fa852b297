#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 300
# A kernel comes from the archive into an empty cache: without root, once even if two ask at a time,
# and is used without a network from then on. The conditions are evaluated by holds().
# shellcheck disable=SC2016,SC2034
build=$(cd "${BUILD:-build}" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 0755 "$work"
failed=0

# What a user without any right has: root's own files would do for root only.
cp "$build/tlbvm" "$work/tlbvm"
mkdir -p "$work/guest/x86_64"
cp "$build/guest/x86_64/agent" "$work/guest/x86_64"
mkdir "$work/home"
user=
if [ "$(id -u)" -eq 0 ]; then
	chown 65534:65534 "$work/home"
	user="setpriv --reuid=65534 --regid=65534 --clear-groups"
fi

holds() {
	if eval "$2"; then
		echo "ok $1"
	else
		echo "not ok $1"
		cat "$work"/*.err
		failed=1
	fi
}

# tlbvm NAME ARGS...: as that user; output to NAME.out and NAME.err.
tlbvm() {
	name=$1
	shift
	# shellcheck disable=SC2086
	$user env -i PATH="$PATH" HOME="$work/home" TLBVM_MIRROR="$mirror" "$work/tlbvm" "$@" \
		>"$work/$name.out" 2>"$work/$name.err"
}

mirror=
tlbvm first kernels --fetch stock:6.1 &
first=$!
# The same series by another way: it waits for the first one, and finds what it needs.
sleep 0.5
tlbvm second run --kernel stock:6.1 --accel tcg-single --boot-timeout 1s --qemu-arg -S -- true
wait $first
code=$?
if [ $code -eq 1 ] && grep -q "not all package lists could be read" "$work/first.err"; then
	echo "no network, or no Debian archive that can be reached"
	exit 77
fi
holds "a user without rights gets a kernel" '[ $code -eq 0 ]'
kernel=$(cat "$work/first.out")
holds "its folder is told" '[ -s "$kernel/vmlinuz" ]'
holds "modules and configuration are there" \
	'[ -n "$(find "$kernel/modules" -name "zram.ko*")" ] && grep -q CONFIG_ZRAM=m "$kernel/config"'
holds "what it was made of is recorded" \
	'jq -e ".origin == \"stock\" and (.version | startswith(\"6.1.\")) and
		(.packages | length) >= 1 and .arch == \"x86_64\"" "$kernel/meta.json" >/dev/null'
holds "a log has plain lines, with sizes" \
	'grep -q "downloading: .* MiB in .* s" "$work/first.err" &&
	! grep -q "$(printf "\r")" "$work/first.err"'
holds "a second one waited for the first" 'grep -q "waiting for another tlbvm" "$work/second.err"'
holds "and did not fetch the kernel again" \
	'! grep -q downloading "$work/second.err" && grep -q "did not come up" "$work/second.err"'
holds "nothing unfinished is left" '[ ! -e "$work/home/.cache/tlbstat/kernels/.fetch" ]'

mirror=http://127.0.0.1:9/debian
tlbvm source kernels --fetch source:6.1
code=$?
holds "a source cannot be had without a network" \
	'[ $code -eq 1 ] && [ ! -s "$work/source.out" ] && [ ! -e "$work/home/.cache/tlbstat/sources/.fetch" ]'
tlbvm offline run --kernel stock:6.1 --accel tcg-single --boot-timeout 1s --qemu-arg -S -- true
holds "a kernel in the cache needs no network" \
	'grep -q "did not come up" "$work/offline.err" && ! grep -q "apt" "$work/offline.err"'
tlbvm refresh kernels --fetch stock:6.1
code=$?
holds "a refresh without a network says so" \
	'[ $code -eq 1 ] || grep -q "is the newest" "$work/refresh.err"'
holds "and leaves the kernel there" '[ -s "$kernel/vmlinuz" ]'

mirror=
tlbvm again kernels --fetch stock:6.1
code=$?
holds "a refresh downloads nothing that is there" \
	'[ $code -eq 0 ] && grep -q "is the newest, and is in the cache" "$work/again.err" &&
	! grep -q downloading "$work/again.err"'
tlbvm list kernels --json
holds "the list has it in the cache" \
	'jq -e ".cached | length == 1 and (.[0].version | startswith(\"6.1.\"))" \
		"$work/list.out" >/dev/null'
holds "the list has what can be had" \
	'jq -e "[.available[] | select(.name == \"stock:7.3\" or .name == \"stock:6.12\")] |
		length >= 1 and (map(.bytes) | min) > 1000000" "$work/list.out" >/dev/null'
holds "with the sources, each with a full version" \
	'jq -e "(.sources | length) == 0 and ([.available[] | select(.name | startswith(\"source:\"))] |
		length >= 1 and all(\"source:\" + (.version | split(\".\")[:2] | join(\".\")) == .name))" \
		"$work/list.out" >/dev/null'
exit $failed
