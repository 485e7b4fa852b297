#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 600
# The daemon counts what the kernel counts, with no more privileges than its unit gives it, and goes on
# through all that can happen to a machine. A real Prometheus scrapes what it wrote, and answers all
# queries of the dashboards and rules; each alert fires and resolves.
# The conditions are evaluated by holds().
# shellcheck disable=SC2016
build=${BUILD:-build}
# shellcheck source=tests/check.inc
. "$(dirname "$0")/../check.inc"
guest=$build/guest/x86_64
inside=$(dirname "$0")/inside

# The capabilities that the unit names, as numbers (linux/capability.h).
bound=$(sed -n 's/^CapabilityBoundingSet=//p' packaging/tlbstat.service | tr ' ' '\n' |
	while read -r name; do
		sed -n "s/^#define ${name}[[:space:]]*\([0-9]*\)\$/\1/p" /usr/include/linux/capability.h
	done | paste -s -d,)
"$build/tlbvm" run --kernel stock:7.3 --cpus 4 --timeout 8m --get "/tmp/tlbstat.prom:$work/tlbstat.prom" \
	--get "/tmp/files.tar:$work/files.tar" \
	--put "$inside/daemon.sh" --put "$inside/cgroups.sh" --put "$inside/soak.sh" --put "$inside/daemon.inc" \
	--put "$inside/counters.inc" --put "$guest/tests/shoot" \
	--put "$guest/tests/reread" --put "$guest/tests/bounded" -- \
	sh -c "export PATH=\$PATH:/root; sh daemon.sh $bound; code=\$?; sh cgroups.sh $bound || code=1
		sh soak.sh $bound 300 && exit \$code" || failed=1
holds "the unit names its capabilities ($bound)" 'echo "$bound" | grep -q "^[0-9]*\(,[0-9]*\)\{3\}\$"'
holds "promtool finds no fault" '$build/promtool check metrics <"$work/tlbstat.prom" >"$work/out" 2>&1 && [ ! -s "$work/out" ]'

# shellcheck source=tests/prometheus.inc
. "$(dirname "$0")/../prometheus.inc"
mkdir "$work/files"
tar -C "$work/files" -xf "$work/files.tar" || exit 1
prometheus_start 'cluster: guests' || exit 1
feed "$work"/files/[0-9].prom
# The kernel is x86's, and alerts have no series before there is one.
queries | grep -v "tlbstat_tlbi\|ALERTS" >"$work/queries"
answered "queries of dashboards and rules have data"
fires TlbstatReconciliationOff "if any difference is one"
fires TlbstatNeedlessShareHigh "if any share is high"
unfed
fires TlbstatFileNotRefreshed "when no file is written"
queries | grep ALERTS >"$work/queries"
answered "queries of alerts have data"
feed "$work"/files/[0-9].prom
resolves TlbstatFileNotRefreshed "when files are written"
unfed
put "$work/files/kprobe.prom"
fires TlbstatProbeLost "when ends of functions are not seen any more"
put "$work/files/none.prom"
fires TlbstatCannotCount "when no probe is attached"
resolves TlbstatProbeLost "when none is"
resolves TlbstatReconciliationOff "when nothing is compared"
resolves TlbstatNeedlessShareHigh "when no reasons are seen"
feed "$work"/files/[0-9].prom
resolves TlbstatCannotCount "when they are attached again"
unfed
rm "$text/tlbstat.prom"
fires TlbstatGone "when the file is gone"
feed "$work"/files/[0-9].prom
resolves TlbstatGone "when it is back"
unfed
exit $failed
