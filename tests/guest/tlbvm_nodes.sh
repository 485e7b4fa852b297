#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 120
# The nodes that were asked for are in the guest, with their share of CPUs and memory, and the lower
# tier is one to the kernel. The conditions are evaluated by holds().
# shellcheck disable=SC2016
tlbvm=${BUILD:-build}/tlbvm
# shellcheck source=tests/check.inc
. tests/check.inc

cat >"$work/job" <<'END'
#!/bin/sh
cd /sys/devices/system/node || exit 1
for node in node*; do
	echo "$node: $(cat $node/cpulist), $(awk '/MemTotal/ { print int(($4 + 65535) / 65536) * 64 }' $node/meminfo)M"
done
for tier in /sys/devices/virtual/memory_tiering/memory_tier*; do
	echo "tier: $(cat "$tier/nodelist")"
done
tr -d ' "\n' </run/tlbvm.json | grep -o 'memory_bytes:[0-9]*,nodes:[0-9]*,lower_tier_bytes:[0-9]*'
END
chmod +x "$work/job"
"$tlbvm" run --nodes 2 --lower-tier 256M --mem 512M --timeout 100s --put "$work/job" -- ./job \
	>"$work/out" 2>"$work/err"
code=$?
[ $code -eq 77 ] && exit 77
holds "the guest comes up without a complaint" '[ $code -eq 0 ]'
holds "node 0 has half of CPUs and memory" 'grep -qx "node0: 0-1, 256M" "$work/out"'
holds "node 1 has the other half" 'grep -qx "node1: 2-3, 256M" "$work/out"'
holds "node 2 has memory alone" 'grep -qx "node2: , 256M" "$work/out"'
holds "the nodes with CPUs are a tier" 'grep -qx "tier: 0-1" "$work/out"'
holds "slower memory is another" 'grep -qx "tier: 2" "$work/out" && [ "$(grep -c ^tier "$work/out")" -eq 2 ]'
holds "the job can read of them" \
	'grep -qx "memory_bytes:536870912,nodes:2,lower_tier_bytes:268435456" "$work/out"'
exit $failed
