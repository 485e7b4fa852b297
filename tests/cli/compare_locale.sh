#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The user's locale changes nothing in what tlbbench compare prints: no decimal commas.
tlbbench=${BUILD:-build}/tlbbench
results=tests/fixtures/results
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

if ! localedef -i de_DE -f UTF-8 "$work/de_DE.UTF-8" >/dev/null 2>&1; then
	echo "no sources of locales here (package locales)"
	exit 77
fi
for format in table markdown cover csv json; do
	LC_ALL=C "$tlbbench" compare -f $format $results/base.json $results/x1.json \
		>"$work/plain" 2>/dev/null || exit 1
	LOCPATH=$work LC_ALL=de_DE.UTF-8 "$tlbbench" compare -f $format $results/base.json \
		$results/x1.json >"$work/german" 2>/dev/null || exit 1
	if cmp "$work/plain" "$work/german"; then
		echo "ok $format"
	else
		echo "not ok $format"
		failed=1
	fi
done
exit "${failed:-0}"
