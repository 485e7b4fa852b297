#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Inside a guest: pageout in each of its forms, the results in files of their names.
#
# pageout.sh PAGES RUNS FORM...     a form is a way and a bystander: memcg-other, madvise-spin, ...
pages=$1
runs=$2
shift 2
for form; do
	tlbbench run pageout --pages "$pages" --runs "$runs" --via "${form%-*}" \
		--bystander "${form#*-}" -q -o "$form.json" || exit
done
