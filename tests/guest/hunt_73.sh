#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 240
# The hunter finds nothing in Debian's kernel, after work in each of its attacks; and where an attack
# can not be made it says so. That it finds something where there is something: make mutants.
# The conditions are evaluated by holds().
# shellcheck disable=SC2016
tlbvm=${BUILD:-build}/tlbvm
# shellcheck source=tests/check.inc
. tests/check.inc
attacks="reclaim switch duel many migrate demote protect lifecycle home leave birth forks"

"$tlbvm" run --kernel stock:7.3 --module zram --accel tcg-multi --nodes 2 --lower-tier 256M --mem 512M \
	--timeout 200s -- sh -c 'tlbbench hunt --time 30s --seed 1; code=$?; \
		ls /sys/block /var/lib/tlbbench; cat /sys/devices/system/cpu/online; exit $code' \
	>"$work/out" 2>"$work/err"
code=$?
[ $code -eq 77 ] && exit 77
holds "the hunt is clean" '[ $code -eq 0 ] && grep -q "^hunt: clean after .* seed 1$" "$work/out"'
for attack in $attacks; do
	# rounds, work, writes, stale
	holds "$attack did work, with writers, and found nothing" \
		'grep -qE "^$attack +[1-9][0-9]* +[1-9][0-9]* +[1-9][0-9]* +0  " "$work/out"'
done
holds "a kernel without the oracle is said to have none" 'grep -q "^oracle: n/a" "$work/out"'
holds "the machine is as before" '! grep -qxE "zram1|journal" "$work/out" && grep -qx "0-3" "$work/out"'

"$tlbvm" run --kernel stock:7.3 --cpus 2 --timeout 100s -- sh -c \
	'tlbbench hunt --list; tlbbench hunt reclaim migrate; echo "code $?"' >"$work/out" 2>"$work/err"
code=$?
holds "without zram and a second node the attacks that need them are named, with the reason" \
	'grep -q "not possible here: .*zram" "$work/out" && grep -q "one memory node only" "$work/out" &&
		grep -q "there is one tier\|one memory node" "$work/out"'
holds "a hunt of which nothing is possible ends with 77" 'grep -qx "code 77" "$work/out"'
exit $failed
