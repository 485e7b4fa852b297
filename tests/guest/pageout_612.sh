#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# pageout on an unmodified 6.12 kernel, where a CPU leaves the mask when it runs something else.
# shellcheck disable=SC2016 source=/dev/null
. "$(dirname "$0")/pageout.inc"
before_613 stock:6.12
exit "${failed:-1}"
