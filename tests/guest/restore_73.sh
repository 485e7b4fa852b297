#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Whenever tlbbench is killed or told to end, everything it changed is as before, and a swap of the
# user's own was never touched.
exec "${BUILD:-build}/tlbvm" run --kernel stock:7.3 --cpus 4 --module zram \
	--put "$(dirname "$0")/inside/restore.sh" -- sh restore.sh
