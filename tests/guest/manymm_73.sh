#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# manymm on an unmodified 7.3 kernel with 4 CPUs: interrupts = pages x 3 in whatever way the pages are
# in address spaces, and fewer only where pages need not be written.
# The conditions are evaluated by jq, for each run of a result as $run and its values as $v.
# shellcheck disable=SC2016 source=/dev/null
. "$(dirname "$0")/workload.inc"
in_guest stock:7.3 4 shared="manymm --pages 500 --mms 9" \
	spin="manymm --pages 500 --mms 3 --bystander spin" \
	processes="manymm --pages 500 --mms 7 --via processes" \
	lazyfree="manymm --pages 500 --mms 9 --via lazyfree"

for form in shared spin processes lazyfree; do
	holds_counts $form
	holds $form "nearly all pages are gone from every process" '$v.pages_done >= 475'
done
for form in shared spin processes; do
	holds $form "the kernel wrote each page to swap once" '$kernel.pswpout == $v.pages_done'
	holds $form "a flush for each page" \
		'$v.flushes >= $v.pages_done and $v.flushes <= 1.02 * $v.pages_done'
	holds $form "handled equals pages x 3 within 2%" \
		'($v.remote_ipis / ($v.pages_done * 3) - 1) | fabs <= 0.02'
	holds $form "as is expected" '$v.expected_ipis == $v.pages_done * 3'
	holds $form "there is nothing to note" '$run.notes == []'
done
holds spin "at least 95% is useful" '$v.useful >= 0.95 * $v.remote_ipis'
holds shared "hardly any of it was useful" '$v.useful < 0.02 * $v.remote_ipis'

holds lazyfree "the kernel discarded each page, and swapped none" \
	'$kernel.pglazyfreed == $v.pages_done and $kernel.pswpout == 0'
holds lazyfree "a flush is for many pages" '$v.flushes >= 16 and $v.flushes < $v.pages_done / 8'
holds lazyfree "and asks all other CPUs" '($v.remote_ipis / ($v.flushes * 3) - 1) | fabs <= 0.02'
holds lazyfree "there is no law for it" '$v.expected_ipis == null and ($run.absent.expected_ipis | length > 0)'
exit "${failed:-1}"
