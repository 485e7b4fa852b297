#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# pageout on an unmodified 6.1 kernel, whose memory.reclaim takes no swappiness.
# shellcheck disable=SC2016 source=/dev/null
. "$(dirname "$0")/pageout.inc"
before_613 stock:6.1
exit "${failed:-1}"
