#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 400
# Every counter equals its independent truth on an unmodified 7.3 kernel.
kernel=stock:7.3 cpus=16 options=
. "$(dirname "$0")/observer.inc"
