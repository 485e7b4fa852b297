#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Inside a guest of 4 CPUs: what "tlbstat daemon" writes against what happened, through CPUs that come
# and go, a full disk, probes that are turned off, and a clock that jumps. $1: the capabilities that the unit leaves it.
# The conditions are evaluated by check().
# shellcheck disable=SC2016,SC2034
bound=$1
flushes=300
# shellcheck source=tests/guest/inside/counters.inc
. ./counters.inc
# shellcheck source=tests/guest/inside/daemon.inc
. ./daemon.inc
mkdir $folder
mount -t tmpfs -o size=128k metrics $folder

# agrees: what must hold between any two looks.
agrees() {
	equal "handled, and the kernel's count" "$(value tlbstat_handled_flushes_total)" \
		"$(($(value tlbstat_kernel_interrupts_total) + $1))"
	equal "difference" "$(value 'tlbstat_reconciliation_difference{against="interrupts"}')" 0
	equal "counters that decreased" "$(decreased)" ""
}

workload="daemon"
echo 1 >/proc/sys/kernel/bpf_stats_enabled
echo /none >/tmp/list
start --interval 1h --cgroups /tmp/list
check "all probes are attached" '[ "$(grep -c "^tlbstat_probe_attached.* 1$" $file)" -eq 17 ]'
check "with the capabilities of the unit, of which none is left" \
	'[ -z "$(sed -n "/^Cap/s/^.*:.0*//p" /proc/$pid/status)" ]'
check "its system calls are filtered" 'grep -q "^Seccomp:.2" /proc/$pid/status'
check "zeros are there from the start" \
	'[ -n "$(value "tlbstat_flushes_total{path=\"batch\",reach=\"ipi\"}")" ]'
check "what this kernel does not do is left out" '! grep -q batch_filter $file'
check "what cannot occur is left out" '! grep -q broadcast $file'
tlbstat daemon --textfile-dir $folder >/tmp/out 2>/tmp/err2
code=$?
check "a second one is refused" '[ $code -eq 1 ] && grep -q "another tlbstat daemon" /tmp/err2'

workload="shootdowns"
look
shoot 4 $flushes 1 spin
look
agrees 0
# Each asks three CPUs; the rest is the start and the end of the processes.
near "flushes" "$(grown 'tlbstat_flushes_total{path="mm_range",reach="ipi"}')" $flushes $((flushes + 30))
near "asked" "$(grown 'tlbstat_asked_cpus_total{path="mm_range"}')" $((flushes * 3)) $(((flushes + 30) * 3))
near "handled" "$(grown tlbstat_handled_flushes_total)" $((flushes * 3)) $(((flushes + 30) * 3))
near "sum of the targets" "$(grown tlbstat_shootdown_targets_sum)" $((flushes * 3)) $(((flushes + 30) * 3))
near "shootdowns of 3 CPUs" \
	"$(($(grown 'tlbstat_shootdown_targets_bucket{le="3"}') - $(grown 'tlbstat_shootdown_targets_bucket{le="1"}')))" \
	$flushes $((flushes + 30))
near "shootdowns with a time" "$(grown tlbstat_shootdown_duration_seconds_count)" $flushes $((flushes + 30))
check "a sum of times" 'awk "/^tlbstat_shootdown_duration_seconds_sum/ { exit !(\$2 > 0) }" $file'
equal "the last bucket, and the count" \
	"$(value 'tlbstat_shootdown_duration_seconds_bucket{le="+Inf"}')" \
	"$(value tlbstat_shootdown_duration_seconds_count)"
cp $file /tmp/tlbstat.prom
check "the time in the probes" 'grep -q "^tlbstat_bpf_run_seconds_total{.*} [0-9.e-]*[1-9]" $file'

workload="files for Prometheus"
mkdir /tmp/files
for i in 1 2 3 4 5 6; do
	shoot 4 50 1 spin
	look
	cp $file /tmp/files/$i.prom
done
check "each has more than the one before" '[ "$(grown tlbstat_handled_flushes_total)" -gt 0 ]'

workload="a CPU goes"
echo 0 >/sys/devices/system/cpu/cpu3/online
shoot 3 $flushes 1 spin
look
near "asked" "$(grown 'tlbstat_asked_cpus_total{path="mm_range"}')" $((flushes * 2)) $(((flushes + 60) * 3))
equal "counters that decreased" "$(decreased)" ""
apart=$(($(value tlbstat_handled_flushes_total) - $(value tlbstat_kernel_interrupts_total)))
shoot 3 $flushes 1 spin
look
agrees $apart
workload="and comes"
echo 1 >/sys/devices/system/cpu/cpu3/online
look
equal "counters that decreased" "$(decreased)" ""
apart=$(($(value tlbstat_handled_flushes_total) - $(value tlbstat_kernel_interrupts_total)))
shoot 4 $flushes 1 spin
look
near "asked" "$(grown 'tlbstat_asked_cpus_total{path="mm_range"}')" $((flushes * 3)) $(((flushes + 30) * 3))
agrees $apart

workload="stopped for a while"
kill -STOP $pid
shoot 4 $flushes 1 spin
kill -CONT $pid
look
near "asked" "$(grown 'tlbstat_asked_cpus_total{path="mm_range"}')" $((flushes * 3)) $(((flushes + 30) * 3))
agrees $apart

workload="a full disk"
cp $file /tmp/before
dd if=/dev/zero of=$folder/filler bs=4k 2>/dev/null
kill -HUP $pid
wait_for 'grep -q "No space left" /tmp/err'
kill -HUP $pid
usleep 300000
equal "times that it is told" "$(grep -c 'No space left' /tmp/err)" 1
check "the old file is whole" 'cmp -s $file /tmp/before'
rm $folder/filler
look
check "that it is over is told" 'grep -q "again" /tmp/err'
near "failures counted" "$(value tlbstat_write_failures_total)" 1 2
agrees $apart

end TERM
check "SIGTERM is exit 0" '[ $code -eq 0 ]'
check "and leaves nothing" '[ -z "$(ls -A $folder)" ]'

workload="by kprobes"
# Not by the unit's capabilities: Debian's kernels want more for kprobes.
tlbstat daemon --textfile-dir $folder --interval 1h --method=kprobe >/tmp/out 2>/tmp/err &
pid=$!
wait_for '[ -e $file ]'
check "not all can be attached" \
	'grep -q "^tlbstat_probe_attached.* 1$" $file && grep -q "^tlbstat_probe_attached.* 0$" $file'
cp $file /tmp/files/kprobe.prom

# No probe is ever taken away from us: the kernel refuses kernel.ftrace_enabled=0 while there are
# trampolines, and our functions are in no module. But kprobes can be turned off for everybody.
workload="probes that are turned off"
difference='tlbstat_reconciliation_difference{against="interrupts"}'
echo 0 >/sys/kernel/debug/kprobes/enabled
look
shoot 4 $flushes 1 spin
look
check "it shows in the difference to the kernel's count" '[ "$(grown "$difference")" -lt -$flushes ]'
echo 1 >/sys/kernel/debug/kprobes/enabled
look
shoot 4 $flushes 1 spin
look
check "and is over" '[ "$(grown tlbstat_handled_flushes_total)" -gt $flushes ]'
equal "counters that decreased" "$(decreased)" ""
end TERM

workload="a clock that jumps"
start --interval 10ms --method=none
cp $file /tmp/files/none.prom
tar -C /tmp/files -cf /tmp/files.tar .
started=$(value tlbstat_start_time_seconds)
for jump in 31536000 -31536000; do
	date -s "@$(($(date +%s) + jump))" >/dev/null
	look
	equal "counters that decreased at a jump by $jump s" "$(decreased)" ""
	near "age of the file" $(($(date +%s) - $(value tlbstat_last_update_timestamp_seconds | cut -d . -f 1))) 0 3600
done
equal "its start" "$(value tlbstat_start_time_seconds)" "$started"
end TERM
exit $failed
