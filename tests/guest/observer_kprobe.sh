#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 400
# The counters that need no trampoline equal their truths when all is attached by kprobes.
# shellcheck source=tests/guest/observer.inc
. "$(dirname "$0")/observer.inc"
and='sh cgroups.sh "" --method=kprobe'
compare_with_truth stock:6.12 4 --method=kprobe
