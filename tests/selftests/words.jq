# SPDX-License-Identifier: GPL-2.0-only
# The words of tests/selftests/report about what compare.jq found.

# { "pass": 5, "fail": 1 } is "5 pass, 1 fail", and a single run its result.
def counts: to_entries
	| if . == [] then "-"
	elif length == 1 and .[0].value == 1 then .[0].key
	else map("\(.value) \(.key)") | join(", ") end;

def verdict:
	if .verdict == "same" then "\(.a | keys[0]) on both"
	elif .verdict == "worse" then "WORSE WITH THE CHANGE"
	elif .verdict == "better" then "better with the change"
	else .verdict end;

def sides: (.a | counts), (.b | counts);

def longest: map(select(. != null)) | max // "-";

def complained: .kernel.verdict != "same" or (.kernel.a | has("complaint"));

def tests: .tests[] | [.name, sides, (.seconds.a | longest), (.seconds.b | longest), verdict];

def parts: .tests[] | .name as $test | .parts[] | select(.verdict != "same")
	| ["\($test), \(.name)", sides, verdict];

def complaints: .tests[] | select(complained) | .name as $test | .kernel
	| [$test, sides, verdict, (.lines.a[0] // "-"), (.lines.b[0] // "-")];

def reasons: .tests[] | select(.a + .b | keys != ["pass"])
	| [.name, (.reason.a | if . == "" then "-" else . end), (.reason.b | if . == "" then "-" else . end)]
	| if .[1] == .[2] then .[2] = "the same" else . end;

# "4, of which on both: 3 pass, 1 fail; 0 worse, ..."
def tally(results): [results] as $all
	| ($all | map(select(.verdict == "same") | .a | keys[0])) as $same
	| "\($all | length), of which on both: "
	+ (["pass", "fail", "timeout", "died", "not reached", "skip"]
		| map(. as $word | "\($same | map(select(. == $word)) | length) \($word)") | join(", "))
	+ "; " + (["worse", "flaky", "better", "not compared"]
		| map(. as $word | "\($all | map(select(.verdict == $word)) | length) \($word)") | join(", "));

def summary:
	"tests: " + tally(.tests[]),
	"parts of tests: " + tally(.tests[].parts[]),
	"",
	(if .worse != [] then "WORSE WITH THE CHANGE: \(.worse | join("; "))"
	elif .not_compared != [] then "NOT COMPARED: \(.not_compared | join("; "))"
	else "No selftest that passes on the base and fails with the change." end);
