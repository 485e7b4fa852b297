# SPDX-License-Identifier: GPL-2.0-only
# Compares the runs of the selftests on two kernels: jq -n --rawfile a ROWS --rawfile b ROWS -f compare.jq,
# with the rows of read.awk. Each test has a result, and so has each part of it that says so (subtest),
# and each test is clean or not, as the kernel complained meanwhile.
#
# worse:  the change does worse than the base at its worst, and does so again when it is run again; or it
#         never does as well as the base at its best. "died" is worse than a failure, which is worse than
#         a skip; a part that is not reached counts as failed, unless its test is skipped or better.
# flaky:  results differ from run to run, and not as above.
# better: the other way round.

def rank: { pass: 0, clean: 0, skip: 1, fail: 2, timeout: 2, "not reached": 2, complaint: 2, died: 3 }[.];

def rows($text): $text | split("\n") | map(select(. != "") | split("\t"));

# { NAME: [RUN...] }, each { status, seconds, reason, subtests: {}, complaints: [] }
def runs($text): rows($text) as $rows
	| reduce ($rows[] | select(.[0] == "test")) as $row ({};
		.[$row[1]][($row[2] | tonumber) - 1] = { status: $row[3], seconds: ($row[4] | tonumber? // null),
			reason: $row[5], subtests: {}, complaints: [] })
	| reduce ($rows[] | select(.[0] == "sub")) as $row (.;
		.[$row[1]][($row[2] | tonumber) - 1].subtests[$row[4]] = $row[3])
	| reduce ($rows[] | select(.[0] == "splat")) as $row (.;
		.[$row[1]][($row[2] | tonumber) - 1].complaints += [$row[3]]);

# Of the results of all runs on the base and with the change.
def verdict($a; $b):
	($a | map(rank)) as $x | ($b | map(rank)) as $y
	| if ($x | length) == 0 or ($y | length) == 0 then "not compared"
	elif ($y | min) > ($x | min) then "worse"
	elif ($y | max) > ($x | max) and (($y | length) == 1 or ($y[1:] | max) > ($x | max)) then "worse"
	elif ($y | max) < ($x | min) then "better"
	elif ($x + $y | unique | length) == 1 then "same"
	else "flaky" end;

# { pass: 5, fail: 1 }
def counts: reduce .[] as $status ({}; .[$status] += 1);

def compared($a; $b): { a: ($a | counts), b: ($b | counts), verdict: verdict($a; $b) };

# Of a part in each run: not reached counts only where the test got to running.
def part($runs; $name): [$runs[] | .subtests[$name] //
	(if .status == "pass" or .status == "skip" then empty else "not reached" end)];

def parts($a; $b):
	[($a + $b)[].subtests | keys_unsorted[]] | unique
	| map({ name: . } + compared(part($a; .); part($b; .)));

def complaint($runs): [$runs[] | if (.complaints | length) > 0 then "complaint" else "clean" end];

def lines($runs): [$runs[].complaints[]] | unique;

def last_reason($runs): [$runs[].reason | select(. != "" and . != null)] | last // "";

runs($a) as $a | runs($b) as $b
| ($a + $b | keys_unsorted) as $names
| [$names[] | . as $name | ($a[$name] // []) as $x | ($b[$name] // []) as $y
	| { name: $name }
	+ compared([$x[].status]; [$y[].status])
	+ { seconds: { a: [$x[].seconds], b: [$y[].seconds] },
	    reason: { a: last_reason($x), b: last_reason($y) },
	    kernel: (compared(complaint($x); complaint($y)) + { lines: { a: lines($x), b: lines($y) } }),
	    parts: parts($x; $y) }]
| def named(condition): [.[] | select([.verdict, .kernel.verdict, .parts[].verdict] | condition) | .name];
  { tests: .,
    again: named(. - ["same"] != []),
    worse: named(index("worse")),
    not_compared: [.[] | select(.verdict == "not compared") | .name] }
