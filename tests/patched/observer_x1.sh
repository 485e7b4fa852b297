#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 1500
# On a kernel that filters batches, what the filter takes out is a stage of the funnel that equals the
# kernel's own tracing, batch by batch, and the funnel adds up.
build=${BUILD:-build}
here=$(dirname "$0")
guest=$here/../guest/inside
failed=0

if [ -z "$KERNEL" ]; then
	echo "KERNEL is not set to a kernel with the patches of kernel-patches/linux-7.3"
	exit 77
fi

# compare WORKLOADS GUEST TLBSTAT: the last two are options.
compare() {
	# shellcheck disable=SC2086 # several options
	"$build/tlbvm" run --kernel "$KERNEL" --cpus 4 --timeout 8m $2 --put "$here/inside/filter.sh" \
		--put "$here/inside/batches.awk" --put "$guest/counters.inc" \
		--put "$build/guest/x86_64/tests/share" -- \
		sh -c "PATH=\$PATH:/root WORKLOADS='$1' sh filter.sh 4 $3" || failed=1
}

all="other spin off gone several long crowd"
compare "$all shown" "" ""
compare "$all" "" --classify=sampled
compare "$all" "" --method=kprobe
compare suite "--nodes 2 --lower-tier 256M" ""
exit $failed
