#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# mmap, fork and lifecycle on an unmodified 7.3 kernel with 4 CPUs: what each call flushes, and that
# address spaces that were never on a second CPU interrupt none.
# The conditions are evaluated by jq, for each run of a result as $run and its values as $v.
# shellcheck disable=SC2016,SC2034,SC2154 source=/dev/null
. "$(dirname "$0")/workload.inc"
guest_options="--put $inside/storms_killed.sh:then.sh"
in_guest stock:7.3 4 mmap="mmap --pages 4100" spin="mmap --pages 4100 --bystander spin" \
	several="mmap --pages 4100 --threads 4" fork="fork --pages 16400" \
	exec="fork --pages 1100 --via exec --threads 2" lifecycle="lifecycle --pages 4100"

for form in mmap spin several fork exec lifecycle; do
	holds_counts $form
	holds $form "each call has its time" \
		'$v.operation_p50_ns > 0 and $v.operation_p99_ns >= $v.operation_p50_ns'
done
for form in mmap spin several; do
	holds $form "a call maps 16 pages, and a rest is left" \
		'$v.operations == 256 and $v.pages_done == 4096 and $v.pages_asked == 4100'
	holds $form "the kernel faulted each page in" '$kernel.pgfault >= 4096'
done
holds fork "a call writes 256 pages, and a rest is left" '$v.operations == 64 and $v.pages_done == 16384'
holds exec "and those of two processes" '$v.operations == 4 and $v.pages_done == 1024'
holds lifecycle "a call writes 16 pages, and a rest is left" \
	'$v.operations == 256 and $v.pages_done == 4096'
# The fork makes each page read-only, so that each write faults. (Without the writes there were 5,976.)
holds fork "the kernel faulted each page again" '$kernel.pgfault >= 16384'

holds mmap "one thread interrupts nobody" '$v.expected_ipis == 0 and $v.remote_ipis <= 8'
holds mmap "and flushes twice per call" '$v.local_flushes >= 512'
holds spin "a flush by mprotect and one by munmap" '$v.flushes >= 512 and $v.flushes <= 520'
holds spin "handled equals calls x 2 x 3, but for threads that are preempted" \
	'$v.expected_ipis == 1536 and $v.remote_ipis <= 1560 and $v.remote_ipis >= 1380'
holds several "two flushes per call with several threads as well" \
	'$v.flushes + $v.local_flushes >= 512'
holds several "which wait for each other: nothing is predicted" '$v.expected_ipis == null'
# Each process is forked by one that was on another CPU before: a flush of that one, not of theirs.
for form in fork exec lifecycle; do
	holds $form "no process interrupts another" '$v.remote_ipis <= 8 and $v.local_flushes >= $v.operations'
done
exit "${failed:-1}"
