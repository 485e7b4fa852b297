#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# tlbbench compare: what comes out, and where.
# The conditions are evaluated by holds().
# shellcheck disable=SC2016,SC2034
tlbbench=${BUILD:-build}/tlbbench
results=tests/fixtures/results
# shellcheck source=tests/check.inc
. tests/check.inc

compare() {
	"$tlbbench" compare "$@" $results/base.json $results/x1.json >"$work/out" 2>"$work/err"
}

compare
holds "the table is on stdout and stderr is silent" '[ -s "$work/out" ] && [ ! -s "$work/err" ]'
holds "the table is under 100 columns, but for reasons" \
	'! sed "/^Warnings/,\$d" "$work/out" | grep -q "^.\{100\}"'
holds "each kernel is named" 'grep -q "kernel 7.3.4-base" "$work/out" &&
	grep -q "kernel 7.3.4-x1" "$work/out"'
holds "all workloads are shown, also those of one side" \
	'[ "$(grep -c "^pageout  \|^demotion  \|^fork  \|^manymm  " "$work/out")" -eq 5 ]'

compare --metrics elapsed_ms,useful
holds "the metrics named are shown, and no others" \
	'grep -q "^elapsed ms" "$work/out" && grep -q "^useful flushes .*none: not measured" "$work/out" &&
	! grep -q "^remote IPIs" "$work/out"'
compare --all-metrics
holds "all metrics include those that are no headline" 'grep -q "^IPIs raised" "$work/out"'
compare
holds "without it they are left out" '! grep -q "^IPIs raised" "$work/out"'

compare --csv
holds "CSV has only records" '! grep -qv "^workload,\|^[a-z]*,[a-z]*=" "$work/out"'
holds "CSV tells its warnings on stderr" \
	'grep -q "warning: the environments differ in kernel.release: A 7.3.4-base, B 7.3.4-x1" \
		"$work/err" && grep -q "warning: fork, B: this file does not have the workload" "$work/err"'

compare -J
holds "JSON parses and holds the changes" \
	'jq -e ".workloads[0].metrics[0] | .name == \"remote_ipis\" and .verdict == \"better\" and
		.change_percent < -99 and .test.p < 0.01" "$work/out" >/dev/null'
holds "JSON has every warning with its cause" \
	'[ "$(jq -r "[.warnings[].cause] | unique | join(\" \")" "$work/out")" = \
	"drift emulated excluded no_work one_side outlier slow_first_run unsupported unverified" ]'
holds "JSON names what differs in the environments" \
	'[ "$(jq -c "[.environment_differences[].key]" "$work/out")" = \
	"[\"kernel.release\",\"memory.swappiness\"]" ]'

compare --format markdown
holds "Markdown has a table for each workload that ran" \
	'[ "$(grep -c "^| metric | | median " "$work/out")" -eq 4 ]'

compare --format cover
holds "a cover letter shows the metrics of one" \
	'[ "$(sed -n "s/^| pageout, 4096 pages (via=memcg) .*(tcg) | \([a-zA-Z ]*[a-zA-Z]\)[ *]* |.*/\1/p" "$work/out" |
		tr "\n" ,)" = "remote IPIs,pages done,elapsed ms," ]'
holds "and tells its warnings on stderr" 'grep -q "differ in kernel.release" "$work/err"'
compare --format cover --metrics useful,remote_ipis
holds "or those that were named" 'grep -q "^| pageout, .*| useful flushes |.*- (none)" "$work/out"'

"$tlbbench" compare --control --metrics remote_ipis --json $results/base.json >"$work/out" 2>"$work/err"
holds "a control has every second run of a result on each side" \
	'[ "$(jq -c ".workloads[0].metrics[0] | [.a.values, .b.values] | add | sort" "$work/out")" = \
		"$(jq -c "[.workloads[0].runs[].values.remote_ipis] | sort" $results/base.json)" ] &&
	jq -e ".workloads[0].metrics[0] | .a.n == 3 and .b.n == 3" "$work/out" >/dev/null'

compare -o "$work/file"
holds "the output goes to the file and nowhere else" \
	'[ ! -s "$work/out" ] && grep -q "remote IPIs" "$work/file"'
echo old >"$work/file"
"$tlbbench" compare -o "$work/file" $results/base.json $results/kvm.json 2>"$work/err"
holds "a comparison that fails leaves the old file alone" '[ "$(cat "$work/file")" = old ]'

"$tlbbench" compare $results/base.json $results/base.json >"$work/out" 2>"$work/err"
holds "a result against itself differs in nothing" \
	'! grep -q "better\|worse\|The environments differ" "$work/out"'

# The reader is gone before anything is written, as behind "| head -1".
{
	sleep 0.5
	"$tlbbench" compare $results/base.json $results/x1.json 2>"$work/err"
} | true
holds "a reader that leaves early is no error" '[ ! -s "$work/err" ]'
exit $failed
