# SPDX-License-Identifier: GPL-2.0-only
# Whether two measurements of one change agree: two kernels, and one kernel with a switch. Of each the
# answer of "tlbbench compare --json" with one metric: --slurpfile kernels FILE --slurpfile switch FILE.
#
# They agree where the two changes of the medians are at most $points percentage points apart, or where
# the ranges of the runs overlap on both sides, before and after the change: then no run tells one
# measurement from the other. A change from 0 has no percentage, so that only the ranges count.

def points: 2;

def overlap(x; y): x.min <= y.max and y.min <= x.max;

# A metric of a workload that both sides have; else why not.
def why: if . == null then "not run"
	elif .a.n == 0 then .a.state elif .b.n == 0 then .b.state else null end;

def change: if . == null or .change_percent == null then null
	else (.change_percent * 100 | round / 100) end;

def verdict(k; s):
	(k | why) as $k | (s | why) as $s
	| if $k or $s then "not compared: \([if $k then "kernels " + $k else empty end,
			if $s then "switch " + $s else empty end] | join(", "))"
	elif k.change_percent != null and s.change_percent != null and
		(k.change_percent - s.change_percent | fabs) <= points then "agree"
	elif overlap(k.a; s.a) and overlap(k.b; s.b) then "agree: the ranges overlap"
	else "DIFFER" end;

[$kernels[0].workloads[] as $of_kernels
	| ($switch[0].workloads | map(select(.name == $of_kernels.name and
		.parameters == $of_kernels.parameters))[0]) as $of_switch
	| $of_kernels.metrics[0] as $k | $of_switch.metrics[0] as $s
	| { test: $of_kernels.name, pages: $of_kernels.parameters.pages,
	    kernels_change_percent: ($k | change), switch_change_percent: ($s | change),
	    verdict: verdict($k; $s) }]
