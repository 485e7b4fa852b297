#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 400
# Every counter equals its independent truth on an unmodified 6.1 kernel.
# shellcheck source=tests/guest/observer.inc
. "$(dirname "$0")/observer.inc"
and='sh cgroups.sh ""'
compare_with_truth stock:6.1 16
