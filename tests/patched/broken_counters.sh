#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 900
# The test of the batch filter's counters is worth something: each fault of broken_counters.txt makes
# it fail, and the unbroken copy passes it.
here=$(dirname "$0")
guest=$here/../guest

if [ -z "$KERNEL" ]; then
	echo "KERNEL is not set to a kernel with the patches of kernel-patches/linux-7.3"
	exit 77
fi
# shellcheck source=tests/guest/broken_counters.inc
. "$guest/broken_counters.inc"
catch_faults "$here/broken_counters.txt" "$KERNEL" filter.sh 'other gone several' \
	--put "$here/inside/filter.sh" --put "$here/inside/batches.awk" \
	--put "$guest/inside/counters.inc" --put "$build/guest/x86_64/tests/share"
