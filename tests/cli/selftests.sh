#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# What make selftests makes of results: of made-up output of two kernels, that what does worse with the
# change is found, told and is a failure, and nothing else is. The conditions are evaluated by holds().
# shellcheck disable=SC2016,SC2317
# shellcheck source=tests/check.inc
. tests/check.inc
folder=$work/results
command -v jq >/dev/null || {
	echo "not installed: jq: make deps"
	exit 77
}

# ran NAME CODE [LINE...]: a test as the guest prints it.
ran() {
	echo "@begin $1"
	code_of_test=$2 name=$1
	shift 2
	for line; do
		echo "| $line"
	done
	echo "@end $name $code_of_test 3"
}

# report: of what is in $folder.
report() {
	tests/selftests/report "$folder" >"$work/out" 2>"$work/err"
	code=$?
}

# new_results: an empty folder.
new_results() {
	rm -rf "$folder" && mkdir "$folder"
}

verdict() {
	jq -r --arg name "$1" '.tests[] | select(.name == $name) | .verdict' "$folder/report.json"
}

new_results
for side in a b; do
	{
		ran "mmap: one" 0 "ok 1 maps" "ok 2 # SKIP no such device"
		ran "thp: two" 4 "# SKIP no huge pages"
		ran "cow: three" 1 "not ok 1 copies"
		echo "@finished"
	} >"$folder/$side.1.txt"
	: >"$folder/$side.1.log"
done
report
holds "the same on both is no failure, also if it fails on both" '[ $code -eq 0 ]'
holds "and it is said" 'grep -q "^No selftest that passes on the base and fails with the change" "$work/out"'
holds "what fails on both is told as such" 'grep -q "^cow: three .*fail on both" "$work/out"'

ran "mmap: one" 1 "ok 1 maps" "not ok 2 unmaps" >"$folder/b.1.txt"
ran "mmap: one" 0 "ok 1 maps" "ok 2 unmaps" >"$folder/a.1.txt"
report
holds "what fails with the change only is a failure" '[ $code -eq 1 ] && [ "$(verdict "mmap: one")" = worse ]'
holds "it is named, and the part that failed" \
	'grep -q "^WORSE WITH THE CHANGE: mmap: one" "$work/out" && grep -q "^mmap: one, unmaps .*WORSE" "$work/out"'

cp "$folder/a.1.txt" "$folder/good" && cp "$folder/b.1.txt" "$folder/bad"
cp "$folder/bad" "$folder/a.1.txt" && cp "$folder/good" "$folder/b.1.txt"
report
holds "what fails on the base only is none" '[ $code -eq 0 ] && [ "$(verdict "mmap: one")" = better ]'

cat "$folder/good" "$folder/bad" >"$folder/a.1.txt"
cat "$folder/bad" "$folder/good" >"$folder/b.1.txt"
report
holds "what fails now and then on both is flaky, with the counts" \
	'[ $code -eq 0 ] && [ "$(verdict "mmap: one")" = flaky ] && grep -q "^mmap: one .*1 pass, 1 fail .*flaky" "$work/out"'

cat "$folder/good" "$folder/good" >"$folder/a.1.txt"
cat "$folder/bad" "$folder/good" "$folder/bad" >"$folder/b.1.txt"
report
holds "what never fails on the base, and fails again with the change, is a failure" \
	'[ $code -eq 1 ] && [ "$(verdict "mmap: one")" = worse ]'

cat "$folder/good" "$folder/bad" >"$folder/a.1.txt"
cat "$folder/bad" "$folder/bad" >"$folder/b.1.txt"
report
holds "so is what passes now and then on the base, and never with the change" \
	'[ $code -eq 1 ] && [ "$(verdict "mmap: one")" = worse ]'

cp "$folder/good" "$folder/a.1.txt"
printf '@begin mmap: one\n| ok 1 maps\n\n@died the kernel panicked\n' >"$folder/b.1.txt"
report
holds "a guest that is lost with the change is a failure" '[ $code -eq 1 ] && grep -q "the kernel panicked" "$work/out"'

: >"$folder/b.1.txt"
ran "other" 0 >"$folder/b.1.txt"
report
holds "what was run on one kernel only is a failure" '[ $code -eq 1 ] && grep -q "^NOT COMPARED: .*mmap: one" "$work/out"'

cp "$folder/good" "$folder/b.1.txt"
printf '[    1.0] selftest: begins mmap: one\n[    2.0] WARNING: mm/rmap.c:1 at x\n' >"$folder/b.1.log"
printf '[    1.0] selftest: begins mmap: one\n' >"$folder/a.1.log"
report
holds "a complaint of the kernel with the change only is a failure" \
	'[ $code -eq 1 ] && grep -q "^mmap: one .*WARNING: mm/rmap.c:1" "$work/out"'

holds "no folder is a usage error" '! tests/selftests/report 2>/dev/null; tests/selftests/report "$work/none" 2>/dev/null; [ $? -eq 2 ]'
holds "a limit that is no number is refused, by its name" \
	'! LIMIT=soon tests/selftests/run >"$work/out" 2>&1 && grep -q "LIMIT: expected a number" "$work/out"'
holds "so are categories that are no words" \
	'! CATEGORIES="a;b" tests/selftests/run >"$work/out" 2>&1 && grep -q "CATEGORIES: expected" "$work/out"'
exit $failed
