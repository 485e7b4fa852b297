# SPDX-License-Identifier: GPL-2.0-only
# Reads what tests/selftests/guest printed (*.txt) and guests' consoles (*.log), of one kernel, in the
# order of the boots. Prints tab-separated rows; RUN counts from 1 for each test:
#
# test	NAME	RUN	STATUS	SECONDS	REASON	pass, skip, fail, timeout or died; the words it ended with
# sub	NAME	RUN	STATUS	SUBTEST	pass, skip or fail, of the TAP line for a part of the test
# splat	NAME	RUN	LINE		what the kernel complained of meanwhile

BEGIN {
	FS = "\n"
	OFS = "\t"
	# The kernel's complaints, as in bench/vm/console.c.
	complaint = "^(WARNING: |BUG: |BUG |kernel BUG at |Oops: |Internal error: |Unable to handle kernel |" \
		"UBSAN: |unchecked MSR access error|watchdog: BUG: |watchdog: .*LOCKUP|Kernel panic - not syncing|" \
		"INFO: task .* for more than|rcu: INFO: .* stall|rcu: .*starved for|INFO: rcu_.* stall)|" \
		" \\[#1\\] |: Bad swap "
}

{
	gsub(/\t/, " ")
}

FILENAME ~ /\.log$/ {
	read_console($0)
	next
}

/^@begin / {
	name = substr($0, 8)
	run = ++runs[name]
	last = said = ""
	split("", seen)
}
/^@end / {
	seconds = code = $0
	sub(/.* /, "", seconds)
	sub(/ [^ ]*$/, "", code)
	sub(/.* /, "", code)
	ends(code == "0" ? "pass" : code == "4" ? "skip" : code == "timeout" ? "timeout" : "fail", seconds)
}
/^@stuck / {
	said = "could not be ended"
	ends("timeout", "-")
}
/^@died / {
	said = substr($0, 7)
	ends("died", "-")
}
/^\| / {
	line = substr($0, 3)
	if (line ~ /^(not )?ok [0-9]+/)
		subtest(line)
	else if (line ~ /SKIP|skip|[Ff]ail|FAIL|[Ee]rror|[Bb]ail/)
		said = line
	if (line ~ /[^ ]/ && line !~ /^# Totals/ && line !~ /^(not )?ok /)
		last = line
}

function ends(status, seconds) {
	if (status == "pass")
		said = last = ""
	if (said == "")
		said = last
	sub(/^[# ]+/, "", said)
	print "test", name, run, status, seconds, substr(said, 1, 100)
}

# A line such as "ok 3 # SKIP words", "not ok 4 words" or "ok 5 - words # SKIP why". Addresses differ
# from run to run.
function subtest(line,	status, words) {
	status = line ~ /^not / ? "fail" : "pass"
	if (line ~ /# *(SKIP|XFAIL)/)
		status = "skip"
	words = line
	sub(/^(not )?ok [0-9]+ */, "", words)
	sub(/^# *(SKIP|XFAIL|XPASS|error) */, "", words)
	sub(/ *# *(SKIP|XFAIL).*/, "", words)
	sub(/^- */, "", words)
	gsub(/0x[0-9a-f]+/, "0x..", words)
	if (words == "")
		words = "a part without a name"
	if (++seen[words] > 1)
		words = words " (" seen[words] ")"
	print "sub", name, run, status, words
}

function read_console(line) {
	sub(/\r$/, "", line)
	while (sub(/^\[[^\]]*\] */, "", line))
		;
	if (line ~ /^selftest: begins /) {
		during = substr(line, 18)
		console_runs[during]++
	} else if (during != "" && line ~ complaint)
		print "splat", during, console_runs[during], substr(line, 1, 100)
}
