#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Inside a guest of a kernel with the switch: a comparison by it, whose results r.off.json and r.on.json
# are brought back; and that the switch is as it was after each end that a run can have.
# The conditions are evaluated by ok().
# shellcheck disable=SC2016,SC2034
failed=0
switch=/sys/kernel/debug/x86/tlb_batch_filter

ok() {
	if eval "$2"; then
		echo "ok $1"
	else
		echo "not ok $1"
		cat /tmp/said
		failed=1
	fi
}

is() {
	[ "$(cat $switch)" = "$1" ]
}

tlbbench run pageout --pages 256 --runs 3 -q --switch $switch -o r >/tmp/said 2>&1
code=$?
ok "a run works" '[ $code -eq 0 ]'
ok "the switch is on, as it was" 'is 1'
echo 0 >$switch
tlbbench run tlb_flush --pages 64 --runs 1 -q --switch $switch >/tmp/said 2>&1
ok "the switch is off, as it was" 'is 0'
echo 1 >$switch

# end_by SIGNAL: when the switch is off.
end_by() {
	tlbbench run pageout --pages 4096 --runs 50 -q --switch $switch >/tmp/said 2>&1 &
	pid=$!
	until is 0 || ! kill -0 $pid 2>/dev/null; do usleep 2000; done
	kill "-$1" $pid
	wait $pid 2>/dev/null
}
end_by TERM
ok "SIGTERM: the switch is on again" 'is 1'
end_by KILL
ok "SIGKILL leaves it off" 'is 0'
tlbbench restore >/tmp/said 2>&1
ok "restore turns it on" 'is 1 && grep -q "put back" /tmp/said'
exit $failed
