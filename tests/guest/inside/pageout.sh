#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Inside a guest: pageout in each of its forms, the results in files of their names.
#
# pageout.sh PAGES RUNS FORM...     a form is a way and a bystander: memcg-other, madvise-spin, ...
# khugepaged is kept busy: it must not get in the way of the workload.
for file in scan_sleep_millisecs alloc_sleep_millisecs; do
	echo 200 >/sys/kernel/mm/transparent_hugepage/khugepaged/$file
done
pages=$1
runs=$2
shift 2
for form; do
	tlbbench run pageout --pages "$pages" --runs "$runs" --via "${form%-*}" \
		--bystander "${form#*-}" -q -o "$form.json" || exit
done
