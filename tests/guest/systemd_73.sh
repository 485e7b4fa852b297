#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 3000
# The Debian package on a machine with systemd: installed, started, scraped by the packaged node_exporter
# and Prometheus, with the counts that the kernel has; stopped, upgraded, removed, and nothing is left.
# The conditions are evaluated by holds().
# shellcheck disable=SC2016,SC2034
build=${BUILD:-build}
# shellcheck source=tests/check.inc
. "$(dirname "$0")/../check.inc"

env -u MAKEFLAGS -u MFLAGS make deb OUT="$work/deb" >"$work/out" 2>"$work/err"
code=$?
holds "the package is built, and lintian finds no fault" '[ $code -eq 0 ]'
mv "$work"/deb/tlbstat_*.deb "$work/tlbstat.deb" || exit 1

# The same content under a higher number.
dpkg-deb -R "$work/tlbstat.deb" "$work/next" && sed -i 's/^Version: .*/&+next/' "$work/next/DEBIAN/control" &&
	dpkg-deb -b --root-owner-group "$work/next" "$work/next.deb" >/dev/null || exit 1

depends=$(dpkg-deb -f "$work/tlbstat.deb" Depends | tr ',' '\n' | sed 's/^ *\([^ ]*\).*/\1/')
# shellcheck disable=SC2086 # several packages
image=$(tests/systemd/image $depends)
code=$?
if [ $code -ne 0 ]; then
	echo "$image"
	exit $code
fi
before=$(stat -c '%y %s' "$image")
"$build/tlbvm" run --kernel stock:7.3 --cpus 2 --module zram --timeout 25m --root "$image" \
	--append "systemd.show_status=no systemd.default_timeout_start_sec=10min" --put tests/systemd/inside --put tests/guest/inside/counters.inc \
	--put "$work/tlbstat.deb" --put "$work/next.deb" -- bash inside || failed=1
holds "the image is as it was" '[ "$(stat -c "%y %s" "$image")" = "$before" ]'
exit $failed
