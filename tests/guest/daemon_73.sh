#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 300
# The daemon counts what the kernel counts, with no more privileges than its unit gives it, and goes on
# through all that can happen to a machine. What it wrote is valid for Prometheus.
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
"$build/tlbvm" run --kernel stock:7.3 --cpus 4 --timeout 4m --get "/tmp/tlbstat.prom:$work/tlbstat.prom" \
	--put "$inside/daemon.sh" --put "$inside/cgroups.sh" --put "$inside/daemon.inc" \
	--put "$inside/counters.inc" --put "$guest/tests/shoot" \
	--put "$guest/tests/reread" --put "$guest/tests/bounded" -- \
	sh -c "export PATH=\$PATH:/root; sh daemon.sh $bound; code=\$?; sh cgroups.sh $bound && exit \$code" || failed=1
holds "the unit names its capabilities ($bound)" 'echo "$bound" | grep -q "^[0-9]*\(,[0-9]*\)\{3\}\$"'
holds "promtool finds no fault" '$build/promtool check metrics <"$work/tlbstat.prom" >"$work/out" 2>&1 && [ ! -s "$work/out" ]'
exit $failed
