#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 400
# Every counter equals its independent truth on an unmodified 6.1 kernel.
kernel=stock:6.1 cpus=16 options=
. "$(dirname "$0")/observer.inc"
