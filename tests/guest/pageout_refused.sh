#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# "Unsupported here", "did no work" and a failure are told apart, with the cause.
exec "${BUILD:-build}/tlbvm" run --kernel stock:7.3 --cpus 2 --module zram --ignore-splat \
	--put "$(dirname "$0")/inside/refused.sh" -- sh refused.sh
