# SPDX-License-Identifier: GPL-2.0-only
# Writes the files of many hosts, of what one daemon wrote one after the other (0.prom, 1.prom, ...).
# Each host does what happened between two of them again and again: its counters grow by the differences,
# each times a factor of its own, that swings. Which file grows how is decided by the host's number, so
# that counters go on from where they were.
#
# awk -v first=N -v last=N -v elapsed=SECONDS -v now=SECONDS -v folder=DIR -f advance.awk 0.prom 1.prom ...
function host_factors(host, phase) {
	srand(host)
	rand()
	for (phase = 1; phase < files; phase++) {
		# From a twentieth to ten times a second, as many hosts in each power.
		factor = exp(log(0.05) + rand() * log(200))
		period = 300 + 600 * rand()
		offset = 6.2832 * rand()
		# The integral of factor * (1 - 0.8 cos(...)): it never falls.
		swing = 6.2832 * elapsed / period + offset
		times[phase] = factor * (elapsed - 0.8 * period / 6.2832 * (sin(swing) - sin(offset)))
	}
}

function counter(line, phase, sum) {
	sum = value[1, line]
	for (phase = 1; phase < files; phase++)
		sum += (value[phase + 1, line] - value[phase, line]) * times[phase]
	return whole[line] ? sprintf("%.0f", int(sum)) : sprintf("%.9g", sum)
}

FNR == 1 { files++ }
files == 1 {
	text[FNR] = $0
	if ($1 == "#" && $2 == "TYPE")
		type = $4
	if ($1 != "#") {
		series[FNR] = substr($0, 1, length($0) - length($NF))
		counts[FNR] = type != "gauge"
		whole[FNR] = 1
	}
	lines = FNR
}
$1 != "#" {
	if (substr($0, 1, length($0) - length($NF)) != series[FNR]) {
		print "advance.awk: other series in " FILENAME >"/dev/stderr"
		exit failed = 1
	}
	value[files, FNR] = $NF
	if ($NF !~ /^[0-9]*$/)
		whole[FNR] = 0
}

END {
	if (failed)
		exit 1
	for (host = first; host <= last; host++) {
		file = sprintf("%s/host-%03d", folder, host)
		host_factors(host)
		for (line = 1; line <= lines; line++) {
			if (series[line] ~ /^tlbstat_last_update_timestamp_seconds/)
				print series[line] now >file
			else if (counts[line])
				print series[line] counter(line) >file
			else
				print text[line] >file
		}
		close(file)
	}
}
