#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 400
# The counters that need no trampoline equal their truths when all is attached by kprobes.
kernel=stock:6.12 cpus=4 options=--method=kprobe
. "$(dirname "$0")/observer.inc"
