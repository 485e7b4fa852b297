#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Runs fuzz targets, each for the same time, and says in a line what came of it.
#
# run.sh SECONDS TARGET...
seconds=$1
shift
seeds=$(dirname "$0")/corpus
failed=0

# Address layouts of more than 28 random bits are too wide for the sanitizers of older compilers.
fixed=$(setarch -R true 2>/dev/null && echo "setarch -R")

for target; do
	name=$(basename "$target")
	grown=$target.corpus
	log=$target.log
	mkdir -p "$grown"
	set -- "$grown"
	[ -d "$seeds/${name#fuzz_}" ] && set -- "$@" "$seeds/${name#fuzz_}"
	# shellcheck disable=SC2086
	if $fixed "$target" -max_total_time="$seconds" -print_final_stats=1 -timeout=10 \
		-artifact_prefix="$target." "$@" >"$log" 2>&1; then
		inputs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
		echo "$name: $inputs inputs in $seconds s, every promise kept"
	else
		failed=1
		echo "$name: failed, see $log:"
		grep -E -A12 'broken promise|ERROR:|runtime error' "$log" | head -n 30
		grep 'Test unit written to' "$log"
		echo "to run it again: $target FILE"
	fi
done
exit $failed
