#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Inside a guest of at least 4 CPUs: "tlbstat daemon --cgroups" counts each flush for the cgroup that
# asks, through cgroups that come and go and lists that change.
#
# cgroups.sh CAPABILITIES [OPTIONS]: those that the daemon gets; empty for all.
# The conditions are evaluated by check().
# shellcheck disable=SC2016
# shellcheck disable=SC2034 # of daemon.inc
bound=$1
shift
flushes=200
# A kprobe is skipped when it interrupts another BPF program.
case $* in *kprobe*) inexact=20 ;; *) inexact=0 ;; esac
# shellcheck source=tests/guest/inside/counters.inc
. ./counters.inc
# shellcheck source=tests/guest/inside/daemon.inc
. ./daemon.inc
mkdir -p $folder
[ ! -e /sys/kernel/tracing/events/truth ] || echo 0 >/sys/kernel/tracing/events/truth/enable
root=/sys/fs/cgroup
list=/tmp/cgroups

# shoot_in CGROUP: that many flushes that ask for 4 CPUs each, its own included.
shoot_in() {
	sh -c 'echo $$ >"$0/cgroup.procs" && exec shoot 4 "$1" 1 spin' "$root$1" $flushes
}

of() {
	grown "tlbstat_cgroup_requested_cpus_total{cgroup=\"$1\"}"
}

# asked_for CGROUP...: all was of the first, and nothing of the others. Of what is not listed nobody
# knows what else it asks for.
asked_for() {
	most=$((flushes * 6)) # with the start and the end of the process
	[ "$1" != other ] || most=1000000
	near "of $1" "$(of "$1")" $((flushes * 4 - inexact)) $most
	shift
	for name; do
		equal "of $name" "$(of "$name")" 0
	done
	equal "counters that decreased" "$(decreased)" ""
}

# In a file that is read while a flush is in flight the sums can differ; they do not go on to.
sums_agree() {
	for _ in $(seq 20); do
		look
		sums=$(awk '/^tlbstat_cgroup_requested/ { a += $NF } /^tlbstat_requested_cpus/ { b += $NF }
			END { print a, b }' $file)
		[ "${sums% *}" = "${sums#* }" ] && break
	done
	equal "all cgroups, and all requested CPUs" "${sums% *}" "${sums#* }"
}

workload="cgroups"
mkdir -p $root/web/db/inner $root/web/front $root/batch
mkdir "$root/odd \"name\" \\x"
cat >$list <<END
# what is told apart
/web
  $root//web/db/

/later
/odd "name" \\x
END
start --interval 1h --cgroups $list "$@"
check "one that is not there yet is told" 'grep -q "no $root/later yet" /tmp/err'
check "no capability is left" '[ -z "$(sed -n "/^Cap\(Inh\|Prm\|Eff\|Amb\)/s/^.*:.0*//p" /proc/$pid/status)" ]'
check "zeros are there from the start" \
	'[ "$(grep -c "^tlbstat_cgroup_requested_cpus_total.* 0$" $file)" -ge 4 ]'
shoot_in /web
look
asked_for /web /web/db /later

workload="a cgroup below a listed one"
shoot_in /web/front
look
asked_for /web /web/db
shoot_in /web/db/inner
look
asked_for /web/db /web

workload="a cgroup that is not listed"
shoot_in /batch
look
asked_for other /web /web/db

workload="a cgroup of an odd name"
shoot_in '/odd "name" \x'
look
asked_for '/odd \"name\" \\x' /web
sums_agree

workload="a cgroup that is made later, or again"
rmdir $root/web/db/inner
wait_for "rmdir $root/web/db"
look
equal "counters that decreased" "$(decreased)" ""
mkdir $root/web/db $root/later
look
shoot_in /web/db
look
asked_for /web/db /web /later
shoot_in /later
look
asked_for /later /web/db
sums_agree

workload="another list"
printf '/web/db\n/batch\n' >$list
look
equal "counters that decreased" "$(decreased)" ""
shoot_in /batch
look
asked_for /batch /web
shoot_in /web/front
look
asked_for other /web /web/db
equal "what is no longer listed" "$(of /web)" 0
sums_agree

workload="a list that is at fault"
for fault in /web/../web /batch/cgroup.procs none; do
	printf '/web/db\n%s\n' "$fault" >$list
	: >/tmp/err
	look
	check "it is told: $fault" 'grep -q "line 2: .*$fault" /tmp/err'
done
rm $list
look
check "and so is none" 'grep -q "$list: No such file" /tmp/err'
shoot_in /batch
look
asked_for /batch /web
printf '/web\n' >$list
look
shoot_in /web
look
asked_for /web /batch

end TERM
check "SIGTERM is exit 0" '[ $code -eq 0 ]'
exit $failed
