#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 400
# demotion, move_pages and migrate_pages on an unmodified 7.3 kernel with 4 CPUs, two nodes and a lower
# tier: the pages are found where they went, a flush is for as many pages as the kernel's sources say,
# and interrupts = flushes x 3.
# The conditions are evaluated by jq, for each run of a result as $run and its values as $v.
# shellcheck disable=SC2016,SC2034,SC2154 source=/dev/null
. "$(dirname "$0")/workload.inc"
guest_options="--nodes 2 --lower-tier 256M --put $inside/migration_killed.sh:then.sh"
in_guest stock:7.3 4 demotion="demotion --pages 2048" all="move_pages --pages 4096" \
	rest="move_pages --pages 1500 --batch 700" one="move_pages --pages 64 --batch 1" \
	spin="move_pages --pages 1024 --bystander spin" read="migrate_pages --pages 4096" \
	write="migrate_pages --pages 4096 --access write --threads 1"

for form in demotion all rest one spin read write; do
	holds_counts $form
	holds $form "every page went, by the node each is on" '$v.pages_done == $v.pages_asked'
	# Seen by the observer a moment after the kernel, so that one may differ.
	holds $form "each flush asks 3 CPUs, but for those that were lazy" \
		'$funnel.handled.batch + $funnel.filtered_cpus.batch.lazy - $funnel.calls.batch * 3 |
			fabs <= 1'
	holds $form "and they are most" '$v.remote_ipis >= 0.5 * $funnel.calls.batch * 3'
	holds $form "there is nothing to note" '$run.notes == []'
done
for form in demotion:demoted all:called rest:called one:called spin:called; do
	counter=${form#*:} form=${form%:*}
	holds "$form" "the kernel counted as many for this reason" "\$kernel.$counter == \$v.pages_done"
	holds "$form" "and of the whole machine no fewer" '$v.pages_migrated >= $v.pages_done and
		$kernel.pgmigrate_success >= $v.pages_migrated'
done

holds demotion "and as many demoted" '$v.pages_demoted == $v.pages_done and $kernel.pswpout == 0'
holds demotion "a flush for each time that pages were handed over" \
	'$kernel.demotions >= 2048 / 64 and $funnel.calls.batch == $kernel.demotions'
holds demotion "expected is a flush for 44 pages" '$v.expected_ipis == 47 * 3'

# 4096 = 8 x 512; 1500 = 700 + 700 + 100, of which 700 = 512 + 188; 64 = 64 x 1.
for form in all:8:1 rest:5:3 one:64:64 spin:2:1; do
	calls=${form##*:} form=${form%:*}
	flushes=${form#*:} form=${form%:*}
	holds "$form" "$calls calls" "\$v.operations == $calls and \$v.pages_not_moved == 0"
	holds "$form" "$flushes flushes" "\$funnel.calls.batch == $flushes"
	holds "$form" "as is expected" "\$v.expected_ipis == $flushes * 3"
done
holds all "none of it was useful" '$v.useful <= 1'
holds spin "nearly all of it was useful" '$v.useful >= 4'

for form in read write; do
	holds $form "the kernel counted as many, and the few others that the process has" \
		'$kernel.called >= $v.pages_done and $kernel.called < $v.pages_done + 512 and
			$v.pages_migrated >= $v.pages_done'
	holds $form "threads were at work meanwhile" '$v.accesses > 0'
	holds $form "there and back, a flush for each 512 pages" \
		'$v.operations == 2 and $funnel.calls.batch >= 2 * 4 and
			$funnel.calls.batch <= 2 * 5'
	holds $form "as is expected" '$v.expected_ipis == $funnel.calls.batch * 3'
done

# A node without memory between two others: ids have a hole. CPU 1 is the one of that node.
guest_options="--nodes 3 --mem 768M --append memmap=256M\$0x10000000"
in_guest stock:7.3 3 hole="move_pages --pages 512 --cpus 1-2"
holds hole "every page went" '$v.pages_done == 512'
holds hole "from the first node with memory to the other" \
	'$workload.parameters.from_node == 0 and $workload.parameters.to_nodes == "2"'
exit "${failed:-1}"
