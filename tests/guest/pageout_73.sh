#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# pageout on an unmodified 7.3 kernel with 16 CPUs obeys the published law, interrupts = pages x 15,
# and every count of it agrees with one taken another way.
# The conditions are evaluated by jq, for each run of a result as $run and its values as $v.
# shellcheck disable=SC2016 source=/dev/null
. "$(dirname "$0")/pageout.inc"
in_guest stock:7.3 16 4096 2 memcg-other memcg-idle memcg-spin madvise-other

for form in memcg-other memcg-idle memcg-spin madvise-other; do
	holds_always $form
	holds $form "asked equals handled" '$v.asked_cpus == $v.remote_ipis'
done

holds memcg-other "handled equals flushes x 15 within 2%" \
	'($v.remote_ipis / ($v.flushes * 15) - 1) | fabs <= 0.02'
holds memcg-other "handled equals pages x 15 within 2%" \
	'($v.remote_ipis / ($v.pages_done * 15) - 1) | fabs <= 0.02'
holds memcg-other "hardly any of it was useful" '$v.useful < 0.02 * $v.remote_ipis'
holds memcg-other "the mask stayed full, so there is nothing to note" '$run.notes == []'

holds memcg-idle "the mask was full" '$v.requested_cpus >= 0.98 * 16 * $v.pages_done'
holds memcg-idle "lazy CPUs are all that the funnel loses" \
	'$v.requested_cpus - $v.flushes - $v.asked_cpus == $v.filtered_lazy'
holds memcg-idle "most CPUs were lazy" '$v.filtered_lazy > 0.5 * $v.requested_cpus'

holds memcg-spin "handled equals flushes x 15 within 2%" \
	'($v.remote_ipis / ($v.flushes * 15) - 1) | fabs <= 0.02'
holds memcg-spin "at least 95% is useful" '$v.useful >= 0.95 * $v.remote_ipis'

holds madvise-other "only the first 2 MiB cause interrupts" \
	'$v.remote_ipis > 500 * 15 and $v.remote_ipis < 700 * 15'
holds madvise-other "pages that were just faulted in do not stay behind" \
	'$v.pages_done >= 0.998 * $v.pages_asked'
holds madvise-other "and a note says why" \
	'any($run.notes[]; test("MADV_PAGEOUT.*trims.*--via memcg"))'
exit "${failed:-1}"
