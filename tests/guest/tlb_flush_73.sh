#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# tlb_flush on an unmodified 7.3 kernel with 4 CPUs: interrupts = calls x other threads.
# The conditions are evaluated by jq, for each run of a result as $run and its values as $v.
# shellcheck disable=SC2016 source=/dev/null
. "$(dirname "$0")/workload.inc"
in_guest stock:7.3 4 all="tlb_flush --pages 8200" two="tlb_flush --pages 8200 --threads 2" \
	spin="tlb_flush --pages 8200 --threads 2 --bystander spin" \
	alone="tlb_flush --pages 8200 --threads 1"

for form in all two spin alone; do
	holds_counts $form
	holds $form "a call discards 16 pages, and a rest is left" \
		'$v.operations == 512 and $v.pages_done == 8192 and $v.pages_asked == 8200'
	holds $form "the kernel faulted each page in again" '$kernel.pgfault >= 8192'
done
for form in all:3 two:1 spin:3; do
	others=${form#*:} form=${form%:*}
	holds "$form" "a flush per call" '$v.flushes >= 512 and $v.flushes <= 520'
	holds "$form" "handled equals calls x $others within 2%" \
		"(\$v.remote_ipis / (512 * $others) - 1) | fabs <= 0.02"
	holds "$form" "as is expected" "\$v.expected_ipis == 512 * $others"
done
holds alone "one thread interrupts nobody" \
	'$v.remote_ipis <= 8 and $v.expected_ipis == 0 and $v.local_flushes >= 512'
exit "${failed:-1}"
