#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# What is written about the programs is what they understand: each option in its man page and no
# other, and every command line, file and target that the documents name.
# shellcheck source=tests/check.inc
. tests/check.inc
build=${BUILD:-build}
programs="tlbstat tlbbench tlbvm"
documents="README.md CONTRIBUTING.md CHANGELOG.md dashboards/RUNBOOK.md"
command -v mandoc >/dev/null || {
	echo "mandoc is not installed: make deps-test"
	exit 77
}

# empty NAME FILE: what is wrong stands in FILE.
empty() {
	if [ ! -s "$2" ]; then
		echo "ok $1"
	else
		echo "not ok $1"
		sed 's/^/  /' "$2"
		failed=1
	fi
}

commands() {
	"$build/$1" --help |
		sed -n "/^Commands:/,/^$/{s/^  $1 \([a-z]*\) .*/\1/p;t;s/^  \([a-z]*\) .*  .*/\1/p}" |
		grep -vx "$1"
}

# "o --output=" and " --csv" for "  -o, --output=FILE" and "      --csv"; sorted.
options_of_help() {
	# shellcheck disable=SC2086 # the command can be empty
	"$build/$1" $2 --help |
		sed -n 's/^  \( \|-\(.\),\)  *\(--[a-z-]*\)\(=\?\).*/\2 \3\4/p' | sort
}

# The same, of the lines ".It Fl o , Fl -output Ns = Ns Ar file" in the section OPTIONS.
options_of_man() {
	awk -v part="$1${2:+ $2}" '
		/^\.Sh / { options = $2 == "OPTIONS"; here = 1 }
		/^\.Ss / { name = substr($0, 5); here = name == part || name == "All commands" }
		options && here && /^\.It Fl / {
			short = $4 == "," ? $3 : ""
			sub(/^\\&/, "", short)
			match($0, /Fl -[a-z-]+/)
			print short " -" substr($0, RSTART + 3, RLENGTH - 3) (/ Ns = Ns / ? "=" : "")
		}' "man/$1.1" | sort
}

for program in $programs; do
	mandoc -T lint -W warning "man/$program.1" >"$work/lint" 2>&1 || [ -s "$work/lint" ] ||
		echo "mandoc -T lint failed" >"$work/lint"
	empty "man page of $program has no fault" "$work/lint"
	for command in "" $(commands "$program"); do
		line="$program${command:+ $command}"
		options_of_help "$program" "$command" >"$work/help"
		options_of_man "$program" "$command" >"$work/man"
		{
			diff "$work/help" "$work/man"
			[ -s "$work/help" ] || echo "--help shows no option"
			grep -q "^.Nm $line\$" "man/$program.1" || echo "not in the synopsis"
		} >"$work/wrong"
		empty "man page and --help of $line" "$work/wrong"
		sed "s/^/$program .$command /" "$work/help" >>"$work/table"
	done
done
"$build/tlbbench" list | grep '^[a-z]' >"$work/workloads"

# A command per line, of a document's blocks and spans of code.
code_of_document() {
	awk '
		/^```/ { block = !block; next }
		block && /\\$/ { line = line substr($0, 1, length - 1); next }
		block { print line $0; line = ""; next }
		{
			n = split($0, part, "`")
			for (i = 2; i <= n; i += 2)
				print part[i]
		}' "$1"
}

code_of_man() {
	sed -n '/^\.Bd -literal/,/^\.Ed/{/^\./d;s/\\e$/\\/p;t;p}; s/^\.Dl //p' "$1" |
		sed 's/\\-/-/g' | sed ':a;/\\$/{N;s/\\\n//;ba}'
}

# The lines after "Examples:"; where they were broken, the rest begins at the margin.
examples_of_help() {
	# shellcheck disable=SC2086 # the command can be empty
	"$build/$1" $2 --help | sed -n '/^Examples:/,/^$/p' | awk '
		/^  / { printf "\n" }
		!/^Examples:/ { printf "%s ", $0 }'
}

# What our programs would not understand in command lines: options, workloads, commands.
misunderstood() {
	awk '
		FILENAME != "-" && NF == 1 { workload[$1] = 1; next }
		FILENAME != "-" {
			command[$1 $2] = 1
			long = $NF
			value = sub(/=$/, "", long)
			known[$1 $2 long] = known[$1 $2 "-" (NF == 4 ? $3 : "")] = 1 + value
			next
		}
		{
			program = ""
			for (i = 1; i <= NF; i++) {
				word = $i
				if (word ~ /^(build\/)?(tlbstat|tlbbench|tlbvm)$/) {
					sub(/^build\//, "", word)
					program = word
					here = program "."
					if ((program "." $(i + 1)) in command)
						here = here $(++i)
					else if (program != "tlbstat" && $(i + 1) ~ /^[a-z]/)
						print $0 ": no command " $(i + 1)
				} else if (word == "--" || word ~ /^[|;&>#]/) {
					program = ""
				} else if (program == "") {
					continue
				} else if (word ~ /^-/) {
					option = word
					sub(/=.*/, "", option)
					if (!((here option) in known))
						print $0 ": no option " option
					else if (known[here option] == 2 && word !~ /=/)
						i++
				} else if (here == "tlbbench.run" && word != "suite" && !(word in workload)) {
					print $0 ": no workload " word
				}
			}
		}' "$work/table" "$work/workloads" -
}

for document in $documents; do
	code_of_document "$document" >"$work/code"
	misunderstood <"$work/code" >"$work/wrong"
	empty "commands in $document" "$work/wrong"

	grep -o '\<make\( [A-Z_]*=[^ ]*\| -[^ ]*\)* [a-z][a-z0-9-]*' "$work/code" | sed 's/.* //' |
		sort -u | while read -r target; do
		grep -q "^$target:" Makefile || echo "no target $target"
	done >"$work/wrong"
	grep -o '\<[A-Z][A-Z_]*=' "$work/code" | sort -u | while read -r variable; do
		grep -qE "\b${variable%=}\b" Makefile tests/run bench/ab bench/demo bench/reproduce tests/fuzz/run.sh bench/vm/*.c packaging/* ||
			echo "no variable $variable"
	done >>"$work/wrong"
	empty "make targets and variables in $document" "$work/wrong"

	{
		grep -oE '(^|[^/[:alnum:]])(src|bpf|bench|tests|man|completions|dashboards|kernel-patches|\.ci)/[[:alnum:]_./*-]*' \
			"$work/code" | sed 's/^[^.[:alnum:]]//; s/NAME/*/'
		# From the document's own folder.
		grep -o '](\([^):]*\))' "$document" |
			sed "s|](\\(.*\\))|$(dirname "$document")/\\1|; s/#.*//"
	} | sort -u | while read -r path; do
		# shellcheck disable=SC2086 # a pattern
		ls -d $path >/dev/null 2>&1 || echo "no file $path"
	done >"$work/wrong"
	empty "files in $document" "$work/wrong"
done

for program in $programs; do
	code_of_man "man/$program.1" | misunderstood >"$work/wrong"
	empty "commands in the man page of $program" "$work/wrong"
	for command in "" $(commands "$program"); do
		examples_of_help "$program" "$command" | misunderstood >"$work/wrong"
		empty "examples in $program${command:+ $command} --help" "$work/wrong"
	done
done

# The words explained in a section of a man page: ".It Li a , b".
explained() {
	awk -v title="$2" '
		/^\.S[hs] / { here = substr($0, 5) == title }
		here && sub(/^\.It Li /, "") { gsub(/ , /, "\n"); print }' "man/$1.1"
}

# head_is_explained NAME PAGE SECTION: of the table whose columns are on stdin.
head_is_explained() {
	sort >"$work/head"
	explained "$2" "$3" | sort | diff "$work/head" - >"$work/wrong"
	[ -s "$work/head" ] || echo "there are no columns" >>"$work/wrong"
	empty "$1" "$work/wrong"
}

# header NAME: of the live table.
header() {
	sed -n "/char $1\[\] =/,/;/"'s/.*"\( *[a-z]*  .*\)".*/\1/p' src/cmd_live.c
}
# shellcheck disable=SC2046 # a word per column
printf '%s\n' $(header header_filter) | head_is_explained "columns of tlbstat" tlbstat "Columns of the live table"
# shellcheck disable=SC2046
printf '%s\n' $(header header_tlbi) | head_is_explained "columns of tlbstat on arm64" tlbstat "Columns on arm64"
sed -n '/tables\[\]\[.*\] = {/,/^};/p' bench/run_table.c | grep -o '{ "[^"]*' | sed 's/{ "//' | sort -u |
	head_is_explained "columns of tlbbench run" tlbbench "OUTPUT OF RUN"
{ grep -qxF -e "$(header header)" README.md || echo "the columns are $(header header)"; } >"$work/wrong"
empty "columns of tlbstat in README.md" "$work/wrong"

# The report that README.md shows has the rows that tlbstat prints.
sed -n '/^flush calls/,/^trust:/p' README.md | sed 's/\([^ ]\)  .*/\1/; s/^\(trust\|n\/a\):.*/\1:/' >"$work/rows"
while IFS= read -r row; do
	grep -qF -e "\"$row" src/report_print.c || echo "no row \"$row\""
done <"$work/rows" >"$work/wrong"
[ "$(wc -l <"$work/rows")" -gt 15 ] || echo "there is no report" >>"$work/wrong"
empty "rows of the report in README.md" "$work/wrong"

version=$(sed -n 's/^VERSION := //p' Makefile)
{
	grep -q "^## \[\?$version" CHANGELOG.md || echo "no $version in CHANGELOG.md"
	head -n 1 debian/changelog | grep -qF "tlbstat ($version) " || echo "not the newest in debian/changelog"
	for program in $programs; do
		[ "$("$build/$program" --version)" = "$program $version" ] || echo "$program is not $version"
	done
} >"$work/wrong"
empty "the version is the same everywhere" "$work/wrong"
exit $failed
