#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# What tlbbench hunt refuses before it changes anything, and what it lists. The conditions are evaluated.
# shellcheck disable=SC2016
# shellcheck source=tests/check.inc
. tests/check.inc
# shellcheck disable=SC2034 # gives() uses it
program="${BUILD:-build}/tlbbench"

refuses "an attack that there is not" "there is no attack 'rowhammer'" hunt rowhammer
refuses "a time that is none" '--time' hunt --time soon
refuses "a seed of 0, which would mean any" '--seed' hunt --seed 0
refuses "CPUs that are not there" 'not all of these may be used here' hunt --cpus 8000
refuses "an unknown option" 'unrecognized option' hunt --bpf
gives 0 "help names each attack" "lifecycle" hunt --help
gives 0 "the list" "reclaim" hunt --list
for attack in reclaim switch duel many migrate demote protect lifecycle home leave birth forks; do
	holds "$attack is in the list and in the help" 'grep -q "^$attack " "$work/out" &&
		$program hunt --help | grep -q "^  $attack "'
done
gives 0 "only the attacks that are named are listed" "demote" hunt --list demote demote
holds "and each once" '[ "$(grep -c "^[a-z]" "$work/out")" -eq 1 ]'
gives 77 "with one CPU nothing is possible, and why" "one CPU only may be used" \
	hunt --cpus "$(sed 's/[-,].*//' /sys/devices/system/cpu/online)" protect
exit $failed
