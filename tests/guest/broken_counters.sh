#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 900
# The tests of the observer are worth something: each fault of broken_counters.txt, built into a
# scratch copy, makes the comparison with the truth fail, and the unbroken copy passes it.
build=${BUILD:-build}
here=$(dirname "$0")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
tab=$(printf '\t')
failed=0

# build_copy DIR: tlbstat for guests, from the sources in $scratch/tree.
build_copy() {
	make -s -C "$scratch/tree" B=build build/guest/x86_64/tlbstat >"$scratch/log" 2>&1 || {
		cat "$scratch/log"
		echo "not ok building a scratch copy"
		exit 1
	}
	mkdir -p "$scratch/programs/$1"
	cp "$scratch/tree/build/guest/x86_64/tlbstat" "$scratch/programs/$1/tlbstat"
}

mkdir -p "$scratch/tree/build"
cp -a Makefile src bpf "$scratch/tree/"
cp -a "$build/common" "$build/src" "$scratch/tree/build/"
cp -a "$build"/*.skel.h "$build"/*.bpf.o "$scratch/tree/build/"
build_copy 0
set -- --put "$scratch/programs/0/tlbstat:/root/0/tlbstat"
count=0
while IFS=$tab read -r name fault; do
	case $name in '#'*) continue ;; esac
	count=$((count + 1))
	sed "$fault" bpf/shootdown.bpf.c >"$scratch/tree/bpf/shootdown.bpf.c"
	if cmp -s bpf/shootdown.bpf.c "$scratch/tree/bpf/shootdown.bpf.c"; then
		echo "not ok $name: there is no such line to break"
		exit 1
	fi
	build_copy "$count"
	set -- "$@" --put "$scratch/programs/$count/tlbstat:/root/$count/tlbstat"
	echo "$name" >>"$scratch/names"
done <"$here/broken_counters.txt"

"$build/tlbvm" run --kernel stock:7.3 --cpus 4 --timeout 12m "$@" \
	--put "$here/inside/truth.sh" --put "$here/inside/window.sh" \
	--put "$here/inside/counters.inc" --put "$build/guest/x86_64/tests/shoot" -- \
	sh -c "for i in \$(seq 0 $count); do
		WORKLOADS='spin sleep' PATH=/root/\$i:\$PATH:/root sh truth.sh 4 >/tmp/log 2>&1
		echo \"verdict \$i \$? \$(grep -m 1 '^not ok' /tmp/log)\"
	done" >"$scratch/verdicts" || {
	cat "$scratch/verdicts"
	echo "not ok the guest"
	exit 1
}
if grep -q '^verdict 0 0' "$scratch/verdicts"; then
	echo "ok the unbroken copy passes"
else
	echo "not ok the unbroken copy: $(grep '^verdict 0' "$scratch/verdicts")"
	failed=1
fi
i=0
while read -r name; do
	i=$((i + 1))
	caught=$(sed -n "s/^verdict $i 1 not ok //p" "$scratch/verdicts")
	if [ -n "$caught" ]; then
		echo "ok $name: caught by $caught"
	else
		echo "not ok $name: $(grep "^verdict $i " "$scratch/verdicts")"
		failed=1
	fi
done <"$scratch/names"
exit $failed
