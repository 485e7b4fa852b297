#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Inside a guest: what "tlbstat daemon" writes before the first of some commands (0.prom), and after each
# of them (1.prom, 2.prom, ...).
#
# record.sh OPTIONS COMMAND...	options of the daemon, and commands as for sh -c
options=$1
shift
mkdir metrics
# shellcheck disable=SC2086 # several options, or none
tlbstat daemon $options --textfile-dir metrics --interval 1h &
daemon=$!
until [ -s metrics/tlbstat.prom ]; do
	kill -0 $daemon || exit 1
	sleep 1
done
cp metrics/tlbstat.prom 0.prom
count=0
for command; do
	sh -c "$command" || exit 1
	kill -HUP $daemon
	while cmp -s metrics/tlbstat.prom $count.prom; do
		kill -0 $daemon || exit 1
		sleep 1
	done
	count=$((count + 1))
	cp metrics/tlbstat.prom $count.prom
done
kill $daemon
wait $daemon
