# SPDX-License-Identifier: GPL-2.0-only
# The rows of a cover letter of two results: --slurpfile a A.json --slurpfile b B.json, and metrics as
# an array in --argjson metrics. Means, as published, each with the number of runs behind it.

def mean: if length == 0 then null else add / length end;

# The runs of the workload that did work; why there are none.
def numbers(runs; metric): [runs[] | select(.status == "ok") | .values[metric] | select(. != null)];
def why(runs; metric):
	if (runs | length) == 0 then "not run"
	else runs[0] | if .status != "ok" then .status else .absent[metric] // "absent" end end;

# Nothing to compare is null, and a change from 0 has no percentage.
def change(from; to):
	if from == null or to == null then null
	elif from == 0 then (if to == 0 then "0%" else "new" end)
	else (100 * (to - from) / from * 100 | round / 100) | (if . > 0 then "+" else "" end) + "\(.)%" end;

def side(runs; metric):
	numbers(runs; metric) as $all | { n: ($all | length), mean: ($all | mean) } +
		if ($all | length) == 0 then { why: why(runs; metric) } else {} end;

[$a[0].workloads[] as $of_a
	| ($b[0].workloads | map(select(.name == $of_a.name and .parameters == $of_a.parameters))[0]) as $of_b
	| $metrics[] as $metric
	| side($of_a.runs; $metric) as $before
	| side($of_b.runs // []; $metric) as $after
	| { test: $of_a.name, pages: $of_a.parameters.pages, $metric, baseline: $before, patched: $after,
	    change: change($before.mean; $after.mean) }]
