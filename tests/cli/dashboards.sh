#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Rules and alerts are valid and do what their unit tests say; each alert has its test and its section in
# the runbook; and they name no metric that the daemon does not write, and no rule that is not there.
# The conditions are evaluated by holds().
# shellcheck disable=SC2016
promtool=${BUILD:-build}/promtool
# shellcheck source=tests/check.inc
. tests/check.inc

# same NAME A B: two lists, sorted and without doubles; what is in one only is shown.
same() {
	sort -u "$2" >"$work/one"
	sort -u "$3" >"$work/other"
	diff "$work/one" "$work/other" >"$work/out"
	code=$?
	holds "$1 ($(wc -l <"$work/one"))" '[ $code -eq 0 ] && [ -s "$work/one" ]'
}

# known NAME A B: each of A is in B.
known() {
	sort -u "$2" >"$work/one"
	sort -u "$3" | comm -23 "$work/one" - >"$work/out"
	holds "$1 ($(wc -l <"$work/one"))" '[ -s "$work/one" ] && [ ! -s "$work/out" ]'
}

# named PATTERN FILES...: words that match, one per line.
named() {
	pattern=$1
	shift
	cat "$@" | sed 's/^ *#.*//; s/^ *- name: .*//' | grep -oE "$pattern"
}

program=$promtool
gives 0 "rules are valid" "SUCCESS" check rules dashboards/rules.yml dashboards/alerts.yml
gives 0 "rules record what they should" "SUCCESS" test rules dashboards/tests/rules.yml
gives 0 "alerts fire and resolve when they should" "SUCCESS" test rules dashboards/tests/alerts.yml

sed -n 's/^ *- alert: //p' dashboards/alerts.yml >"$work/alerts"
sed -n 's/^## //p' dashboards/RUNBOOK.md >"$work/sections"
same "each alert has a section of the runbook" "$work/alerts" "$work/sections"
sed -n 's/^ *runbook_url: //p' dashboards/alerts.yml >"$work/links"
sed 's/.*/RUNBOOK.md#\L&/' "$work/alerts" >"$work/anchors"
same "each alert links to it" "$work/anchors" "$work/links"
# A test in which it is silent, and one in which it fires.
awk '/alertname:/ { name = $NF } /exp_alerts: \[\]/ { print name }' dashboards/tests/alerts.yml >"$work/silent"
awk '/alertname:/ { name = $NF } /exp_labels:/ { print name }' dashboards/tests/alerts.yml >"$work/firing"
same "each alert is tested to be silent" "$work/alerts" "$work/silent"
same "each alert is tested to fire" "$work/alerts" "$work/firing"

sed -n 's/^ *- record: //p' dashboards/rules.yml >"$work/records"
named '\<[a-z_]+:tlbstat_[a-z0-9_]+:[a-z0-9_]+' dashboards/tests/rules.yml >"$work/tested"
same "each recorded name is tested" "$work/records" "$work/tested"

# Families of the daemon; histograms have three kinds of series.
grep -ohE '"tlbstat_[a-z0-9_]+"' src/metrics.c | tr -d '"' |
	sed 'p; s/$/_bucket/; p; s/bucket$/sum/; p; s/sum$/count/' >"$work/families"
named '(^|[^:a-z_])tlbstat_[a-z0-9_]+' dashboards/rules.yml dashboards/alerts.yml |
	grep -o 'tlbstat_.*' >"$work/metrics"
known "each metric is one of the daemon's" "$work/metrics" "$work/families"
named '\<[a-z_]+:tlbstat_[a-z0-9_]+:[a-z0-9_]+' dashboards/rules.yml dashboards/alerts.yml >"$work/used"
known "each recorded metric is recorded" "$work/used" "$work/records"
grep -oE 'tlbstat_[a-z0-9_]+' dashboards/RUNBOOK.md >"$work/metrics"
known "the runbook names the daemon's metrics" "$work/metrics" "$work/families"
exit $failed
