#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The house is tidy: sources laid out by clang-format, scripts clean for shellcheck, man pages for
# mandoc; every file says its licence, and every script can be run as it is.
failed=0

if ! git rev-parse --git-dir >/dev/null 2>&1; then
	echo "this is no git checkout, so which files belong to it is not known"
	exit 77
fi
if out=$(make -s lint 2>&1); then
	echo "ok make lint"
else
	echo "not ok make lint"
	echo "$out" | tail -n 30
	failed=1
fi
missing=$(git ls-files '*.c' '*.h' '*.sh' '*.inc' Makefile .ci/run bench/demo tests/run kernel-patches/build kernel-patches/check |
	xargs grep -L 'SPDX-License-Identifier: GPL-2.0-only')
if [ -z "$missing" ]; then
	echo "ok every source says its licence"
else
	echo "not ok these do not say their licence: $missing"
	failed=1
fi
# Where a mode is lost on the way here, git still knows it.
dull=$(git ls-files -s '*.sh' | sed -n 's/^100644 [^	]*	//p')
if [ -z "$dull" ]; then
	echo "ok every script is executable"
else
	echo "not ok these scripts are not executable: $dull"
	failed=1
fi
exit $failed
