#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Rules and alerts are valid and do what their unit tests say; each alert has its test and its section in
# the runbook; dashboards can be imported as they are; and all of them name no metric that the daemon does
# not write, and no rule that is not there. That their queries find data: tests/guest/daemon_73.sh.
# The conditions are evaluated by holds().
# shellcheck disable=SC2016,SC2034
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

# panels NAME CONDITION: true for each panel of a dashboard that is no row, in jq.
panels() {
	jq "[.panels[] | select(.type != \"row\") | select(($2) | not) | .title] | .[]" "$board" >"$work/out"
	code=$?
	holds "$(basename "$board"): $1" '[ $code -eq 0 ] && [ ! -s "$work/out" ]'
}

: >"$work/queries"
for board in dashboards/*.json; do
	jq -e '.id == null and (.uid | test("^[a-z-]+$")) and .schemaVersion >= 36 and (.title | length > 0)' "$board" >"$work/out"
	code=$?
	holds "$(basename "$board"): it can be imported" '[ $code -eq 0 ]'
	jq -r '[.panels[].id] | group_by(.)[] | select(length > 1)[0]' "$board" >"$work/out"
	holds "$(basename "$board"): no two panels have the same id" '[ ! -s "$work/out" ]'
	# Each cell of the grid, once for each panel that covers it; what is beyond its width is given twice.
	jq -r '.panels[].gridPos | range(.x; .x + .w) as $x | range(.y; .y + .h) as $y | "\($x) \($y)"' "$board" |
		awk '{ print } $1 > 23' | sort | uniq -d >"$work/out"
	holds "$(basename "$board"): no two panels lie on each other" '[ ! -s "$work/out" ]'
	panels "each panel says what it shows" '(.title | length > 0) and (.description | length > 20)'
	panels "each panel has a unit and a query" \
		'(.fieldConfig.defaults.unit | length > 0) and (.targets | length > 0)'
	panels "several lines have names" \
		'.type != "timeseries" or ([.targets[] | (.legendFormat // "") | length > 0] | all)'
	jq -c '.. | .datasource? // empty | select(. != {type: "prometheus", uid: "${datasource}"})' "$board" >"$work/out"
	holds "$(basename "$board"): the data source is the one that is chosen" \
		'[ ! -s "$work/out" ] && jq -e "[.panels[].targets[]?.datasource] | all" "$board" >"$work/out"'
	jq -r '.templating.list[].name' "$board" >"$work/variables"
	echo __rate_interval >>"$work/variables"
	jq -r '.panels[] | .targets[]?.expr' "$board" | tee -a "$work/queries" | grep -o '\$[a-z_]*' | tr -d '$' >"$work/used"
	known "$(basename "$board"): variables are defined" "$work/used" "$work/variables"
	jq -r '.templating.list[] | select(.type == "query") | .query.query' "$board" >>"$work/queries"
done
for board in dashboards/*.json; do
	[ -s "${board%.json}.png" ] || echo "$board has no picture"
done >"$work/out"
find dashboards -name '*.png' -size +150k >>"$work/out"
holds "each dashboard has a picture, of 150 KB at most" '[ ! -s "$work/out" ]'
jq -r '.. | .url? // empty' dashboards/*.json | sed 's|^/d/||; s/?.*//' >"$work/links"
jq -r .uid dashboards/*.json >"$work/uids"
known "dashboards link to each other" "$work/links" "$work/uids"

# Families of the daemon; histograms have three kinds of series.
grep -ohE '"tlbstat_[a-z0-9_]+"' src/metrics.c | tr -d '"' |
	sed 'p; s/$/_bucket/; p; s/bucket$/sum/; p; s/sum$/count/' >"$work/families"
rules="dashboards/rules.yml dashboards/alerts.yml $work/queries"
# shellcheck disable=SC2086 # several files
named '(^|[^:a-z_])tlbstat_[a-z0-9_]+' $rules | grep -o 'tlbstat_.*' >"$work/metrics"
known "each metric is one of the daemon's" "$work/metrics" "$work/families"
# shellcheck disable=SC2086
named '\<[a-z_]+:tlbstat_[a-z0-9_]+:[a-z0-9_]+' $rules >"$work/used"
known "each recorded metric is recorded" "$work/used" "$work/records"
known "each recorded metric is used" "$work/records" "$work/used"
grep -oE 'tlbstat_[a-z0-9_]+' dashboards/RUNBOOK.md >"$work/metrics"
known "the runbook names the daemon's metrics" "$work/metrics" "$work/families"
exit $failed
