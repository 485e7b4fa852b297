#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 900
# The tests of the observer are worth something: each fault of broken_counters.txt, built into a
# scratch copy, makes the comparison with the truth fail, and the unbroken copy passes it.
# shellcheck source=tests/guest/broken_counters.inc
. "$(dirname "$0")/broken_counters.inc"
here=$(dirname "$0")
catch_faults "$here/broken_counters.txt" stock:7.3 truth.sh 'spin sleep' \
	--put "$here/inside/truth.sh" --put "$here/inside/window.sh" \
	--put "$here/inside/counters.inc" --put "$build/guest/x86_64/tests/shoot"
