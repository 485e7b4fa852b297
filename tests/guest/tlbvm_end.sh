#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 300
# However a run ends, no QEMU and no temporary file outlives it, and a result that did not arrive is a
# failure. "-S" makes a QEMU that never starts its CPUs. The conditions are evaluated by holds().
# shellcheck disable=SC2016,SC2034,SC2317
tlbvm=${BUILD:-build}/tlbvm
# shellcheck source=tests/check.inc
. tests/check.inc
export XDG_RUNTIME_DIR="$work/run"
mkdir "$work/run"

# start ARGS...: in the background, as $pid; for signals.
start() {
	"$tlbvm" run --cpus 1 --timeout 100s "$@" >"$work/out" 2>"$work/err" &
	pid=$!
}

# Waits up to $1 seconds until the condition $2 holds.
within() {
	tries=$(($1 * 10))
	while ! eval "$2"; do
		tries=$((tries - 1))
		[ $tries -gt 0 ] || return 1
		sleep 0.1
	done
}

# Waits for the QEMU that tlbvm $pid starts for the guest: $qemu.
started() {
	qemu=
	within 20 'qemu=$(pgrep -P "$pid" -f "qemu-system.* -initrd")'
}

finish() {
	wait "$pid"
	code=$?
}

gone() {
	within 5 '! kill -0 "$qemu" 2>/dev/null'
}

nothing_left='[ -z "$(ls -A "$work/run")" ]'

for signal in INT TERM HUP; do
	start --qemu-arg -S -- true
	started
	kill -$signal "$pid"
	finish
	holds "SIG$signal ends the run with its code" '[ "$(kill -l $code)" = $signal ]'
	holds "SIG$signal ends QEMU" gone
	holds "SIG$signal leaves no file" "$nothing_left"
done

start --qemu-arg -S -- true
started
kill -KILL "$pid"
finish
holds "QEMU does not outlive a killed tlbvm" gone
holds "a killed tlbvm leaves its folder" '[ "$(ls "$work/run" | wc -l)" -eq 1 ]'

# A folder whose owner lives must stay.
start --qemu-arg -S -- true
started
living=$pid
holds "the next run removes it" '[ "$(ls "$work/run" | wc -l)" -eq 1 ]'
"$tlbvm" run --cpus 1 --boot-timeout 1s --qemu-arg -S -- true >"$work/out" 2>"$work/err"
code=$?
holds "a boot that hangs fails" '[ $code -eq 1 ]'
holds "it is tried once more, and that is said" \
	'[ "$(grep -c "hung while booting.*trying once more" "$work/err")" -eq 1 ]'
holds "it is said how long it had" 'grep -q "did not come up within 1 s" "$work/err"'
holds "the folder of another run stays" '[ "$(ls "$work/run" | wc -l)" -eq 1 ]'
kill -TERM "$living"
pid=$living
finish

start --qemu-arg -S --timeout 2s -- true
finish
holds "a run over its time fails" '[ $code -eq 1 ] && grep -q "did not end within 2 s" "$work/err"'
holds "the way around is said" 'grep -q "hint: --timeout" "$work/err"'

start -- sh -c 'echo ready; sleep 100'
started
within 60 'grep -q ready "$work/out"'
kill -KILL "$qemu"
finish
holds "a guest that vanishes is a failure" \
	'[ $code -eq 1 ] && grep -q "QEMU ended with code 137 before the job did" "$work/err"'

start --silence-timeout 3s -- sh -c 'echo ready; sleep 100'
started
within 60 'grep -q ready "$work/out"'
sleep 5
holds "a quiet job is no silent guest" 'kill -0 "$pid"'
kill -STOP "$qemu"
finish
holds "a guest that falls silent is a failure" \
	'[ $code -eq 1 ] && grep -q "silent for 3 s; the result is lost" "$work/err"'
holds "and its QEMU is ended" gone

{
	"$tlbvm" run --cpus 1 --timeout 100s -- yes 2>"$work/err"
	echo $? >"$work/code"
} | head -n 1 >"$work/out"
code=$(cat "$work/code")
holds "a reader that has seen enough ends the run quietly" \
	'[ "$(cat "$work/out")" = y ] && [ "$code" -eq 141 ] && [ ! -s "$work/err" ]'

mkfifo "$work/fifo"
tail -f /dev/null <"$work/fifo" &
reader=$!
"$tlbvm" run --cpus 1 --timeout 100s -- sh -c 'echo ready >&2; yes' >"$work/fifo" 2>"$work/err" &
pid=$!
started
within 60 'grep -q ready "$work/err"'
sleep 1
kill -INT "$pid"
holds "a reader that does not read keeps no run from ending" gone
finish
kill "$reader"

start -- sh -c 'poweroff -f; sleep 100'
finish
holds "a job that powers the guest off has no result" \
	'[ $code -eq 1 ] && grep -q "without a final record: the result is lost" "$work/err"'
holds "nothing is left behind" "$nothing_left"

# A comparison boots in a process of its own, which ends as it does.
for signal in INT KILL; do
	"$tlbvm" ab --a stock:7.3 --b stock:7.3 --out "$work/ab" --cpus 1 --timeout 100s --qemu-arg -S -- \
		tlbbench run pageout >"$work/out" 2>"$work/err" &
	pid=$!
	qemu=
	within 60 'boot=$(pgrep -P "$pid") && qemu=$(pgrep -P "$boot" -f "qemu-system.* -initrd")'
	kill -$signal "$pid"
	finish
	holds "SIG$signal ends a comparison with its code" '[ "$(kill -l $code)" = $signal ]'
	holds "SIG$signal ends the guest of a comparison" '[ -n "$qemu" ] && gone'
	[ $signal = KILL ] || holds "SIG$signal leaves no file of its guest" "$nothing_left"
done

"$tlbvm" ab --a stock:7.3 --b stock:7.3 --boots 1 --out "$work/ab" --cpus 1 --timeout 1s --qemu-arg -S -- \
	tlbbench run pageout >"$work/out" 2>"$work/err"
code=$?
holds "a boot that fails is tried once more" \
	'[ "$(grep -c "boot 1 of 2: a.1, \|boot 1 of 2, once more: a.1, " "$work/err")" -eq 2 ]'
holds "one that fails again is named as lost, and the comparison fails" \
	'[ $code -eq 1 ] && [ "$(grep -c "boot [ab].1 is lost" "$work/err")" -eq 2 ]'
holds "it shows why" 'grep -q "did not end within 1 s" "$work/err"'
exit $failed
