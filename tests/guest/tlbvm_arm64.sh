#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 600
# An arm64 guest: its job runs, files and results come and go, busybox and modules are those of its
# architecture. tlbstat has no funnel there and says so. The conditions are evaluated by holds().
# shellcheck disable=SC2016,SC2034
tlbvm=${BUILD:-build}/tlbvm
# shellcheck source=tests/check.inc
. tests/check.inc

cat >"$work/job" <<'END'
#!/bin/sh
echo "machine: $(uname -m)"
echo "cpus: $(nproc)"
echo "args: $1|$#"
echo "to stderr" >&2
cat /usr/bin/cut
[ -d /sys/module/zram ] && echo "zram is there"
head -c 1048576 /dev/urandom >big
echo "sum: $(sha256sum <big)"
tlbstat check --tlbi=off >check
echo "check: $?"
tlbstat check --tlbi=off --json >check.json
tlbstat 0.1 1 >live 2>live.err
echo "live: $?, $(wc -c <live) bytes, $(grep -c "TLBI instructions" live.err) reason, $(grep -c "hint: --tlbi=exact" live.err) hint"
tlbstat run -- echo "the command ran"
echo "run: $?"
mkdir metrics
tlbstat daemon --textfile-dir metrics &
daemon=$!
for _ in 1 2 3 4 5 6 7 8 9 10; do
	kill -0 $daemon 2>/dev/null || break
	sleep 1
done
kill $daemon 2>/dev/null && echo "the daemon went on"
wait $daemon
echo "daemon: $?, $(ls -A metrics | wc -l) files"
tlbbench run pageout --pages 64 --runs 1 -o result.json >table
echo "bench: $?"
exit 5
END
chmod +x "$work/job"
echo "of the user" >"$work/cut"

"$tlbvm" run --arch arm64 --kernel stock:7.3 --cpus 3 --timeout 500s --boot-timeout 240s \
	--silence-timeout 240s --module zram --put "$work/job" --put "$work/cut:/usr/bin/cut" \
	--get "big:$work/big" --get "check:$work/check" --get "check.json:$work/check.json" \
	--get "result.json:$work/result.json" -- ./job "two words" >"$work/out" 2>"$work/err"
code=$?
if [ $code -eq 1 ] && grep -q "not all package lists could be read" "$work/err"; then
	echo "no arm64 kernel in the cache, and no Debian archive that can be reached"
	exit 77
fi
holds "the exit code of the job is passed on" '[ $code -eq 5 ]'
holds "the machine is arm64" 'grep -qx "machine: aarch64" "$work/out"'
holds "it has as many CPUs as asked for" 'grep -qx "cpus: 3" "$work/out"'
holds "arguments arrive as they are" 'grep -qxF "args: two words|1" "$work/out"'
holds "standard error stays apart" \
	'grep -qx "to stderr" "$work/err" && ! grep -q "to stderr" "$work/out"'
holds "a file of the user is not replaced by busybox's" 'grep -qx "of the user" "$work/out"'
holds "the module is loaded" 'grep -qx "zram is there" "$work/out"'
holds "1 MiB comes back as it was" \
	'grep -q "^sum: $(sha256sum <"$work/big")\$" "$work/out" && [ "$(wc -c <"$work/big")" -eq 1048576 ]'
holds "check tells that nothing can be counted" 'grep -qx "check: 77" "$work/out"'
holds "check says no, and why, of each counter" \
	'[ "$(grep -c "  no  *on arm64 TLBI instructions" "$work/check")" -eq \
		"$(jq ".counters | length" "$work/check.json")" ]'
holds "in JSON too: no cell counts" \
	'jq -e "([.counters[].cells] | add) == 0 and .tlbi and (.refused | length > 0) and
		([.counters[] | .of > 0 and (.why | length > 0)] | all)" "$work/check.json" >/dev/null'
holds "no line of zeroes is printed, but the reason" \
	'grep -qx "live: 77, 0 bytes, 1 reason, 1 hint" "$work/out"'
holds "a command is not run for nothing" \
	'grep -qx "run: 77" "$work/out" && ! grep -q "the command ran" "$work/out"'
holds "nor is there a file for Prometheus without a count" \
	'grep -qx "daemon: 77, 0 files" "$work/out" && ! grep -q "the daemon went on" "$work/out"'
holds "a workload does its work" \
	'grep -qx "bench: 0" "$work/out" &&
	jq -e ".workloads[0].runs[0] | .status == \"ok\" and .values.pages_done == 64" \
		"$work/result.json" >/dev/null'
holds "its counts of interrupts are absent, with the reason" \
	'jq -e ".workloads[0].runs[0] as \$run |
		[\"remote_ipis\", \"kernel_tlb_interrupts\", \"flushes\", \"expected_ipis\"] |
		all(. as \$name | \$run.values[\$name] == null and (\$run.absent[\$name] | length > 0))" \
		"$work/result.json" >/dev/null'
exit $failed
