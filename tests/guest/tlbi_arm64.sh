#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 600
# TLBI instructions on arm64: tlbstat's kprobes count what the emulator executes. The emulator's plugin
# (tests/tcg/tlbi.c) counts while the program (tests/tcg/broadcasts.c) does its work, tlbstat from its
# exec to its end, and the rest of the machine as well: 10% of slack. The daemon writes such counts, and
# a real Prometheus has data for what the dashboards ask about them.
# The conditions are evaluated by holds().
# shellcheck disable=SC2016,SC2034
build=${BUILD:-build}
tcg=$(dirname "$0")/../tcg
times=500
# shellcheck source=tests/check.inc
. "$(dirname "$0")/../check.inc"
command -v aarch64-linux-gnu-gcc >/dev/null || {
	echo "no cross compiler for the program: make deps-arm64"
	exit 77
}
${CC:-gcc} -std=gnu17 -Wall -Werror -O2 -fPIC -shared -fvisibility=hidden "$tcg/tlbi.c" -o "$work/tlbi.so" &&
	aarch64-linux-gnu-gcc -std=gnu17 -D_GNU_SOURCE -Wall -Werror -O2 -static "$tcg/broadcasts.c" \
		-o "$work/program" || exit 1

"$build/tlbvm" run --arch arm64 --kernel stock:7.3 --cpus 2 --timeout 500s --boot-timeout 240s \
	--silence-timeout 240s --qemu-arg=-plugin --qemu-arg="$work/tlbi.so,out=$work/executed" \
	--put "$(dirname "$0")/inside/record.sh" --put "$work/program" --get "report.json:$work/report.json" \
	--get "fork.json:$work/fork.json" --get "0.prom:$work/before.prom" --get "1.prom:$work/after.prom" -- \
	sh -c "tlbstat run --tlbi=exact --json -o report.json -- ./program $times &&
		tlbbench run fork --pages 10240 --runs 1 --tlbi=exact -o fork.json &&
		sh record.sh --tlbi=exact './program 50'" >"$work/out" 2>"$work/err"
code=$?
if [ $code -eq 1 ] && grep -q "not all package lists could be read" "$work/err"; then
	echo "no arm64 kernel in the cache, and no Debian archive that can be reached"
	exit 77
fi

# executed PATTERN: by the emulator's count, in the four sections of the first program.
executed() {
	awk -v pattern="^($1)\$" '$1 <= 4 && $2 ~ pattern { sum += $3 } END { print sum + 0 }' "$work/executed"
}

# counted FILTER: a number of the report.
counted() {
	jq ".tlbi | $1" "$work/report.json"
}

# measured NAME: a value of the run of tlbbench.
measured() {
	jq ".workloads[0].runs[0].values.$1" "$work/fork.json"
}

# sum_of FILE: of all operations.
sum_of() {
	awk '/^tlbstat_tlbi_total/ { sum += $2 } END { print sum + 0 }' "$work/$1"
}

holds "the guest did its work" '[ $code -eq 0 ]'
[ $failed -eq 0 ] || exit 1
all=$(executed '.*')
slack=$((all / 10))
local=$(executed '[a-z0-9]*1')
echo "executed: $all, of which $local local; counted: $(counted .broadcast) broadcast, $(counted .local) local," \
	"$(counted .calls_not_counted_inside) calls of what cannot be probed;" \
	"$(counted .probed) of $(counted '.sites | length') instructions"
# What repairs a spurious fault, and what copies a page of a parent, stands in functions of their own.
holds "local TLBIs are counted as often as executed" \
	'[ "$(counted .local)" -ge $((local - local / 10)) ] && [ "$(counted .local)" -le $((local + slack)) ]'
holds "and so are broadcasts: at least that of each fork and of a page it copies, at most all" \
	'[ "$(counted .broadcast)" -ge $((2 * times)) ] &&
	[ "$(counted .broadcast)" -le $((all - local + slack)) ]'
# A call here is for one page or one address space, and executes one TLBI, or none.
together=$(counted ".broadcast + .local + .calls_not_counted_inside")
holds "with calls of what cannot be probed, nothing is missing ($together)" '[ "$together" -ge $((all - slack)) ]'
holds "missed runs are known" 'jq -e ".trust.missed_runs | type == \"number\"" "$work/report.json" >/dev/null'
holds "sites add up to operations, and these to local and broadcast" \
	'counted "([.sites[] | select(.repeat | not) | .count // 0] | add) == ([.operations[].count] | add) and
		([.operations[].count] | add) == .local + .broadcast" | grep -qx true'
holds "each site that is not counted has a reason, and no number" \
	'counted "([.sites[] | select(.not_counted)] | length) == .skipped and
		([.sites[] | (.count == null) == (.not_counted != null)] | all)" | grep -qx true'
# 40 forks, 256 pages written again after each, at two CPUs.
holds "tlbbench counts a broadcast for each fork ($(measured tlbi_broadcast), $(measured tlbi_local) local)" \
	'[ "$(measured operations)" -eq 40 ] && [ "$(measured tlbi_broadcast)" -ge 40 ] &&
		[ "$(measured tlbi_broadcast)" -le $((10 * 40 + 100)) ]'
holds "and a local one for each page written again" '[ "$(measured tlbi_local)" -ge 10000 ] &&
	[ "$(measured tlbi_local)" -le 11500 ]'
holds "and says nothing of interrupts" '[ "$(measured remote_ipis)" = null ] &&
	! grep -q remote_ipis "$work/fork.json" && grep -q "  broadcast  *local  not seen" "$work/out"'
holds "the daemon counts as well ($(sum_of before.prom), then $(sum_of after.prom))" \
	'[ "$(sum_of after.prom)" -ge $(($(sum_of before.prom) + 2 * 50)) ]'
holds "promtool finds no fault" \
	'"$build/promtool" check metrics <"$work/after.prom" >"$work/out" 2>&1 && [ ! -s "$work/out" ]'

# shellcheck source=tests/prometheus.inc
. "$(dirname "$0")/../prometheus.inc"
prometheus_start '' || exit 1
feed "$work/before.prom" "$work/after.prom"
queries | grep tlbstat_tlbi >"$work/queries"
answered "queries about TLBI instructions have data"
# By the time that this alert fires, the other would have.
unfed
fires TlbstatFileNotRefreshed "when no file is written"
holds "that no function can be probed is no alert" \
	'has_data "max(tlbstat_probe_attached) == 0" && ! firing TlbstatCannotCount && grep -q success "$work/answer"'
exit $failed
