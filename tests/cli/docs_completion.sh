#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Completion in bash offers what the programs understand: all of it, and nothing else. What they
# understand is asked of them.
build=${BUILD:-build}
failed=0
# shellcheck source=/dev/null
. completions/tlbvm
COMP_WORDBREAKS=$' \t\n"\'><=;|&(:'

# offers LINE: what bash would be told, a word per line, sorted.
offers() {
	local COMP_LINE=$1 COMP_POINT=${#1}

	__tlbstat_start "${1%% *}" 2>/dev/null
	printf '%s\n' "${COMPREPLY[@]}" | sort -u
}

# same NAME GOT EXPECTED
same() {
	if [[ $2 == "$3" ]]; then
		echo "ok $1"
	else
		echo "not ok $1"
		diff <(echo "$2") <(echo "$3")
		failed=1
	fi
}

# Options as in "  -o, --output=FILE" and "      --csv".
help_of() {
	# shellcheck disable=SC2086 # the command can be empty
	"$build/$1" $2 --help
}

long_options() {
	help_of "$1" "$2" | sed -n 's/^  \(-.,\|   \) \(--[a-z-]*\).*/\2/p' | sort
}

options_with_value() {
	help_of "$1" "$2" |
		sed -n 's/^  \(-.,\|   \) \(--[a-z-]*\)=.*/\2/p;
			s/^  \(-[a-zA-Z]\), --[a-z-]*=.*/\1/p'
}

# The choices that a program names when it is given none of them.
choices() {
	# shellcheck disable=SC2086 # several words
	"$build/${1%% *}" ${1#* } "$2" '?' 2>&1 |
		sed -n "s/.*hint: $2=//p; s/^.*: expected \(.*\), got.*/\1/p; s/^.*\": expected //p" |
		sed 's/,\? or /, /; s/, /\n/g' | sort
}

commands() {
	"$build/$1" --help |
		sed -n "/^Commands:/,/^$/{s/^  $1 \([a-z]\+\) .*/\1/p;t;s/^  \([a-z]\+\) .*  .*/\1/p}" |
		grep -vx "$1" | sort
}

for program in tlbstat tlbbench tlbvm; do
	same "commands of $program" "$(offers "$program ")" "$(commands $program)"
	for command in "" $(commands $program); do
		line="$program${command:+ $command}"
		options=$(long_options "$program" "$command")
		same "options of $line" "$(offers "$line --")" "$options"
		wanting=$(for option in $(options_with_value "$program" "$command"); do
			offers "$line $option --" | grep -q . && echo "$option offers an option"
		done)
		same "values of $line" "$wanting" ""
		wanting=$(for option in $options; do
			options_with_value "$program" "$command" | grep -qx -e "$option" ||
				offers "$line $option --" | grep -q . ||
				echo "$option takes no value"
		done)
		same "options of $line without value" "$wanting" ""
	done
done

for option in --classify --method; do
	same "choices of tlbstat $option" "$(offers "tlbstat $option ")" "$(choices tlbstat $option)"
done
for option in --bystander --classify; do
	same "choices of tlbbench run $option" "$(offers "tlbbench run $option ")" \
		"$(choices "tlbbench run" $option)"
done
same "choices of tlbbench run --via" "$(offers "tlbbench run --via ")" \
	"$("$build/tlbbench" list | sed -n 's/^  --via \([a-z]*\):.*/\1/p' | sort -u)"
same "choices of tlbbench compare --format" "$(offers "tlbbench compare --format ")" \
	"$(choices "tlbbench compare" --format)"
same "metrics of tlbbench compare" "$(offers "tlbbench compare --metrics ")" \
	"$("$build/tlbbench" compare --metrics '?' a b 2>&1 | awk '/^  / { print $1 }' | sort)"
same "workloads of tlbbench run" "$(offers "tlbbench run ")" \
	"$({ echo suite; "$build/tlbbench" list | grep -o '^[a-z_]*$'; } | sort)"
same "choices of tlbvm run --accel" "$(offers "tlbvm run --accel ")" \
	"$(choices "tlbvm run" --accel)"

same "a value behind =" "$(offers "tlbstat --classify=ex")" exact
same "a value behind = that holds a colon" "$(offers "tlbvm run --kernel=stock:6.12")" 6.12
same "a value that holds a colon" "$(offers "tlbvm run --kernel stock:7")" 7.3
same "the second metric" "$(offers "tlbbench compare -m flushes,elapsed")" flushes,elapsed_ms
same "an option behind a value" "$(offers "tlbstat --method none --str")" --strict
same "a further workload" "$(offers "tlbbench run pageout demo")" demotion
same "files" "$(offers "tlbstat -o completions/tlbst")" completions/tlbstat
same "the command to run" "$(offers "tlbstat run -- unam")" uname
same "files for a command" "$(offers "tlbstat run cat completions/tlbv")" completions/tlbvm
same "options of a job in a guest" "$(offers "tlbvm run --cpus 4 -- tlbbench run pageout --by")" \
	--bystander
same "the same under its path" "$(offers "build/tlbvm run build/tlbbench run --vi")" --via
same "a line that is completed in its middle" \
	"$(COMP_LINE="tlbstat --st 5" COMP_POINT=12 && __tlbstat_start tlbstat; echo "${COMPREPLY[*]}")" \
	--strict
exit $failed
