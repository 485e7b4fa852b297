#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# tlbbench compare: what it refuses, with which exit code, and that the message names what was given.
tlbbench=${BUILD:-build}/tlbbench
results=tests/fixtures/results
# shellcheck source=tests/check.inc
. tests/check.inc
program="$tlbbench compare"

a=$results/base.json b=$results/x1.json

gives 2 "no result" "two results are needed"
gives 2 "one result" "two results are needed" $a
gives 2 "three results" '"third.json"' $a $b third.json
gives 2 "a control of two results" "\"$b\": --control takes one" --control $a $b
gives 2 "a control of none" "--control: a result is needed" --control
gives 1 "a control of a file that is not there" "read /nowhere.json: No such file" \
	--control /nowhere.json
gives 2 "an unknown format" "'html'" --format html $a $b
gives 2 "the formats that there are" "--format=markdown" --format html $a $b
gives 2 "two formats at once" "--csv and --json exclude each other" --csv --json $a $b
gives 2 "an unknown metric" '"frobs"' --metrics remote_ipis,frobs $a $b
gives 2 "the metrics that there are" "elapsed_ms" --metrics frobs $a $b
gives 2 "an empty list of metrics" '""' --metrics '' $a $b
gives 2 "a list of metrics and all of them" "--metrics and --all-metrics" \
	--metrics elapsed_ms --all-metrics $a $b
gives 2 "an unknown option" "--nonsense" --nonsense $a $b
gives 0 "the same format twice" "" --json --format json $a $b

gives 1 "a file that is not there" "read /nowhere.json: No such file" $a /nowhere.json
gives 1 "a folder" "read tests: Is a directory" tests $b
gives 1 "another schema" 'schema is "tlbbench-result/2", expected "tlbbench-result/1"' \
	$a $results/schema2.json
gives 1 "another accelerator" "the accelerators differ: tcg,thread=single and kvm" \
	$a $results/kvm.json
gives 1 "the way to do it all the same" "--allow-different-accelerator" $a $results/kvm.json
gives 0 "another accelerator, when told so" "" --allow-different-accelerator $a $results/kvm.json
head -c 3000 $a >"$work/cut.json"
gives 1 "half a file" "$work/cut.json:" "$work/cut.json" $b
: >"$work/empty.json"
gives 1 "an empty file" "$work/empty.json:" "$work/empty.json" $b
sed 's/"remote_ipis": 56912/"remote_ipis": "many"/' $a >"$work/bad.json"
gives 1 "the key at fault" "workloads[0].runs[0].values.remote_ipis is a string" "$work/bad.json" $b
gives 1 "an output that cannot be written" "/nowhere" -o /nowhere/out $a $b

"$tlbbench" compare $a $b 2>"$work/err" >/dev/full
code=$?
if [ $code -eq 1 ] && grep -q "No space left" "$work/err"; then
	echo "ok a full disk is a failure with its cause"
else
	echo "not ok a full disk is a failure with its cause: exit $code, $(cat "$work/err")"
	failed=1
fi
exit $failed
