#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# What cannot be understood is refused with exit 2, and the message names what was given; what cannot
# be done here is exit 77, and says so in the result too. Needs no root, and changes nothing.
# The conditions are evaluated by holds().
# shellcheck disable=SC2016,SC2034
tlbbench=${BUILD:-build}/tlbbench
# shellcheck source=tests/check.inc
. tests/check.inc
program=$tlbbench
export XDG_STATE_HOME="$work/state"

echo 1 >"$work/on"

refuses "no command" "which command"
refuses "an unknown command" "'walk'" walk
refuses "run without a workload" "which workload" run
refuses "an unknown workload" "'pagein'" run pagein
refuses "a workload given twice" "'pageout' is given twice" run pageout pageout
refuses "a workload beside the suite that has it" "'pageout' is given twice" run suite pageout
refuses "an option that is for none of several workloads" "--mms is not for any" \
	run pageout demotion --mms 3
refuses "a way that none of several workloads has" "'fax'" run suite --via fax
refuses "no pages" '"0"' run pageout --pages 0
refuses "pages that are no number" '"1k"' run pageout --pages 1k
refuses "a negative number of pages" '"-5"' run pageout --pages=-5
refuses "no runs" '"0"' run pageout --runs 0
refuses "an unknown bystander" "'cat'" run pageout --bystander cat
refuses "an unknown way" "'fax'" run pageout --via fax
refuses "the ways that there are" "--via=memcg" run pageout --via fax
refuses "address spaces for a workload that has one" "not for it" run pageout --mms 2
refuses "more address spaces than there may be" '"65"' run manymm --mms 65
gives 77 "fewer pages than address spaces" "try --pages=3" run manymm --mms 3 --pages 2
refuses "threads for a workload that has one" "not for it" run pageout --threads 2
refuses "a number of threads that is none, in a list" '"x"' run mmap --threads 1,x
refuses "an empty number of threads" '""' run mmap --threads 1,,2
refuses "more numbers of threads than there may be" "more than 16" \
	run mmap --threads 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17
refuses "threads for move_pages" "--threads is not for it" run move_pages --threads 2
refuses "a batch of nothing" '"0"' run move_pages --batch 0
refuses "a batch that is no number" '"some"' run move_pages --batch some
refuses "a batch for a workload that has none" "--batch is not for it" run demotion --batch 512
refuses "an unknown access" "'poke'" run migrate_pages --access poke
refuses "access for a workload that has none" "--access is not for it" \
	run move_pages --access read
refuses "an unknown way to classify" "'often'" run pageout --classify often
refuses "an unknown way to count TLBIs" "'bpf'" run fork --tlbi bpf
refuses "CPUs that are no list" '"0-"' run pageout --cpus 0-
refuses "CPUs that are not there" "8191" run pageout --cpus 8191
refuses "no CPUs" "--cpus" run pageout --cpus ''
refuses "a switch and JSON on stdout" "--switch and --json exclude each other" \
	run pageout --switch /proc/sys/kernel/printk --json
refuses "a switch and a result on stdout" "--switch and --output - exclude each other" \
	run pageout --switch /proc/sys/kernel/printk -o -
refuses "a switch that is a file of the user" "it is no setting of the kernel" \
	run pageout --switch "$work/on"
refuses "a switch that is a number" "it reads \"" run pageout --switch /proc/sys/vm/swappiness
refuses "a switch that is a folder" "Is a directory" run pageout --switch /proc/sys
gives 77 "a switch that is not there" "this kernel has no such switch" \
	run pageout --switch /proc/sys/vm/none
gives 77 "a switch below a file" "Not a directory" run pageout --switch /proc/sys/vm/swappiness/on
refuses "an unknown option" "--nonsense" run pageout --nonsense
refuses "an argument to restore" "Too many" restore x
refuses "an argument to list" "Too many" list x

gives 0 "help" "" --help
holds "help has examples" 'grep -q "tlbbench run pageout" "$work/out"'
gives 0 "list" "" list
holds "list names the workloads" 'grep -q "^pageout$" "$work/out"'
holds "list says for each way whether it runs here" \
	'! grep -e "--via" "$work/out" | grep -qv "^  --via [a-z]*: \(runs here\|unsupported here: .\)" &&
	[ "$(grep -c "^  --via" "$work/out")" -ge 2 ]'
gives 0 "list as JSON" "" list --json
holds "the JSON parses" 'jq -e ".[0].name == \"pageout\"" "$work/out" >/dev/null'
"$tlbbench" list >/dev/full 2>"$work/err"
code=$?
holds "a full disk is a failure with its cause" \
	'[ $code -eq 1 ] && grep -q "No space left" "$work/err"'

gives 0 "restore with nothing to do" "" restore
holds "restore says so" 'grep -q "^nothing to put back" "$work/out"'

# One CPU: no other can be interrupted, so there is nothing to measure. That is no zero.
cpu=$(sed -n 's/^Cpus_allowed_list:[[:space:]]*\([0-9]*\).*/\1/p' /proc/self/status)
gives 77 "one CPU" "only one CPU" run pageout --cpus "$cpu" -o "$work/result"
holds "the result says unsupported, and why" \
	'jq -e ".workloads[0].runs[0] | .status == \"unsupported\" and (.reason | test(\"one CPU\"))" \
		"$work/result" >/dev/null'
holds "the result has no values" \
	'[ "$(jq -c ".workloads[0].runs[0].values" "$work/result")" = "{}" ]'
gives 77 "the same as JSON on stdout" "only one CPU" run pageout --cpus "$cpu" -J
holds "the JSON on stdout parses" \
	'jq -e ".environment.cpu.allowed and .schema" "$work/out" >/dev/null'
gives 1 "a result that cannot be written" "/nowhere" \
	run pageout --cpus "$cpu" -o /nowhere/result
exit $failed
