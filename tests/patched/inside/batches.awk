# SPDX-License-Identifier: GPL-2.0-only
# What the kernel's own tracing says of batches: reads the trace of the events that filter.sh sets up,
# prints lines "name=count". Each batch is followed by its task, from its call to its end.

function bits(mask,	sum) {
	for (sum = 0; mask > 0; mask = int(mask / 2))
		sum += mask % 2
	return sum
}

function has(mask, cpu) {
	while (cpu-- > 0)
		mask = int(mask / 2)
	return mask % 2
}

# value(NAME): of "NAME=value" in this line.
function value(name,	i) {
	for (i = 5; i <= NF; i++)
		if (index($i, name "=") == 1)
			return substr($i, length(name) + 2)
}

function count_mask(task, own, left) {
	requested += bits(mask[task])
	self += own
	filtered += bits(mask[task]) - own - left
}

BEGIN {
	for (i = 1; i <= 8; i++)
		list[i] = 0
}

$1 ~ /^#/ { next }

{ task = $1; cpu = substr($2, 2) + 0 }

$5 == "batch:" {
	batches++
	mms = value("mms")
	if (mms > 8)
		overflows++
	else
		list[mms + 0]++
	mask[task] = value("mask")
	from[task] = cpu
	state[task] = "open"
}

$5 == "multi:" && value("mm") == 0 && state[task] == "open" {
	left = value("mask")
	sent++
	own = cpu == from[task] ? has(mask[task], cpu) : has(left, cpu)
	count_mask(task, own, bits(left) - has(left, cpu))
	moved += cpu != from[task]
	state[task] = "sent"
}

$5 == "func:" && value("mm") == 0 && value("from") == cpu && state[task] == "open" {
	own_flushes++
	state[task] = "local"
}

$5 == "end:" {
	own = state[task] == "local" || has(mask[task], from[task])
	if (state[task] != "sent" && bits(mask[task]) > own)
		count_mask(task, own, 0)
	empty += state[task] == "open"
	delete state[task]
}

END {
	print "batches=" batches + 0
	print "requested=" requested + 0
	print "self=" self + 0
	print "filtered=" filtered + 0
	print "sent=" sent + 0
	print "local=" own_flushes + 0
	print "empty=" empty + 0
	print "moved=" moved + 0
	for (i = 1; i <= 8; i++)
		print "mms" i "=" list[i]
	print "mmsoverflow=" overflows + 0
}
