#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# window.sh FILE CMD...: runs CMD and writes to FILE what the kernel's own tracing counted meanwhile,
# as lines "name=count". The tracing was set up by truth.sh.
tracing=/sys/kernel/tracing
file=$1
shift

counts() {
	# "  name    hits    missed"
	awk '{ print $1 "=" $2; print $1 "_missed=" $3 }' $tracing/kprobe_profile
	# { reason: N, pages: N } hitcount: N
	sed -n 's/.*reason: *\([0-9]*\), pages: *\([0-9]*\) } hitcount: *\([0-9]*\).*/\1 \2 \3/p' \
		$tracing/events/tlb/tlb_flush/hist |
		awk '{ sent += $1 == 4 ? $3 : 0; useful += $1 == 1 && $2 != 0 ? $3 : 0
		       current += $1 == 1 && $2 == 0 ? $3 : 0
		       local += ($1 == 2 || $1 == 3) ? $3 : 0 }
		     END { print "sent=" sent + 0; print "useful=" useful + 0
		           print "current=" current + 0; print "local=" local + 0 }'
	awk '$1 == "TLB:" { for (i = 2; i <= NF; i++) if ($i ~ /^[0-9]+$/) sum += $i
	                    print "interrupts=" sum + 0 }' /proc/interrupts
}

counts >"$file.before"
"$@"
code=$?
counts >"$file.after"
awk -F= 'NR == FNR { before[$1] = $2; next } { print $1 "=" $2 - before[$1] }' \
	"$file.before" "$file.after" >"$file"
exit $code
