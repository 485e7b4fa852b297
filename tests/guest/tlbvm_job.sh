#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 420
# What goes into a guest and comes out of it: files, output, exit codes, signals, complaints of its
# kernel. The conditions are evaluated by holds().
# shellcheck disable=SC2016,SC2034
tlbvm=${BUILD:-build}/tlbvm
# shellcheck source=tests/check.inc
. tests/check.inc

# run ARGS...: sets $code.
run() {
	"$tlbvm" run --cpus 1 --timeout 100s "$@" >"$work/out" 2>"$work/err"
	code=$?
}

# Everything that one boot can show.
cat >"$work/job" <<'END'
#!/bin/sh
echo "args: $1|$2|$#"
echo "to stderr" >&2
echo "accel: $TLBVM_ACCEL"
pwd
ls -la /root/prog | cut -c 1-10
cp /run/tlbvm.json facts.json
head -c 5242880 /dev/urandom >big
sha256sum <big
# Two bytes of a frame, then a whole frame: "exit 0" as a final record with sequence 3.
printf '\365T'
printf '\365T\033\376\003\000\000\000\011\000\006\000\000\000\000\000exit 0'
printf 'binary: \000\001\377\r\n'
grep -c " /\(proc\|sys\|dev\|tmp\|sys/fs/cgroup\|sys/fs/bpf\|sys/kernel/tracing\) " /proc/mounts
[ -d /sys/module/zram ] && echo "zram is there"
awk '$2 == "/" { print $1 }' /proc/mounts
echo '<4>WARNING: CPU: 0 PID: 1 at nowhere.c:1 not_a_real_one+0x0/0x1' >/dev/kmsg
# One that stays behind and keeps the pipes open.
sleep 1000 &
exit 5
END
chmod +x "$work/job"
cp "$work/job" "$work/prog"
chmod 0751 "$work/prog"
# A program that needs libraries: this shell's.
dynamic=$(command -v sed)

run --put "$work/job" --put "$work/prog" --put "$dynamic:/opt/dynamic" --module zram \
	--get "big:$work/big" --get "/root/facts.json:$work/facts" --get "/no/such/file:$work/none" \
	--ignore-splat --console "$work/console" -- ./job "two words" "" || :
holds "the exit code of the job is passed on" '[ $code -eq 5 ]'
holds "arguments arrive as they are" 'grep -qxF "args: two words||2" "$work/out"'
holds "the job starts in its home" 'grep -qx /root "$work/out"'
holds "standard error stays apart" \
	'grep -qx "to stderr" "$work/err" && ! grep -q "to stderr" "$work/out"'
holds "bytes that look like frames are output" \
	'grep -qaF "$(printf "\365T\365T\033\376\003")" "$work/out"'
holds "binary output arrives as it is" \
	'tr -d "\000" <"$work/out" | grep -qaF "$(printf "exit 0binary: \001\377\r")"'
holds "5 MiB come back as they were" \
	'grep -q "^$(sha256sum <"$work/big")\$" "$work/out" && [ "$(wc -c <"$work/big")" -eq 5242880 ]'
holds "modes of files are kept" 'grep -qx -e "-rwxr-x--x" "$work/out"'
holds "file systems are mounted" 'grep -qx 7 "$work/out"'
holds "the module is loaded" 'grep -qx "zram is there" "$work/out"'
holds "the root file system cannot be swapped out" 'grep -qx "rootfs\|none\|ramfs" "$work/out"'
holds "the guest's facts are known to the job" \
	'jq -e ".cpus == 1 and (.emulated | type) == \"boolean\" and (.qemu | length) > 0" \
		"$work/facts" >/dev/null'
holds "the accelerator is in the environment" 'grep -q "^accel: \(kvm\|tcg,thread=single\)$" "$work/out"'
holds "a file that is missing is named" \
	'grep -q "cannot send /no/such/file: No such file" "$work/err" && [ ! -e "$work/none" ]'
holds "a program with libraries is warned of" \
	'grep -q "$dynamic will not run in the guest: it is linked dynamically" "$work/err"'
holds "the console is kept, and holds no output" \
	'grep -q "Linux version" "$work/console" && ! grep -qa "args:" "$work/console"'

run -- sh -c 'echo last words; kill -SEGV $$'
holds "a job killed by a signal is 128 and the signal" '[ $code -eq 139 ]'
holds "and it is said" 'grep -q "sh was killed by signal 11 (Segmentation fault) in the guest" "$work/err"'
holds "what it wrote arrives" 'grep -qx "last words" "$work/out"'

run --put "$work/job:/bin/quick" --get "/bin/quick:$work/quick" -- \
	sh -c 'echo "<4>WARNING: CPU: 0 PID: 1 at nowhere.c:1 not_a_real_one+0x0/0x1" >/dev/kmsg'
holds "a complaint of the kernel makes a good job fail" '[ $code -eq 1 ]'
holds "the complaint is shown" \
	'grep -q "kernel said: .*WARNING: CPU: 0 PID: 1 at nowhere" "$work/err"'
holds "the way around is shown" 'grep -q "hint: --ignore-splat" "$work/err"'

run --get "/root/result:$work/result" -- \
	sh -c 'echo before; echo half >result; sleep 1; echo c >/proc/sysrq-trigger; echo after'
holds "a panic is a failure" '[ $code -eq 1 ]'
holds "it is named" 'grep -q "panicked; the result is lost" "$work/err" &&
	grep -q "kernel said: .*Kernel panic - not syncing: sysrq triggered crash" "$work/err"'
holds "the last lines of the console are shown" '[ "$(grep -c "^  | \[" "$work/err")" -ge 20 ]'
holds "output from before the panic is not lost" '[ "$(cat "$work/out")" = before ]'
holds "no file is made of it" '[ ! -e "$work/result" ]'

run -- /root/none
holds "a program that is not there is 127" '[ $code -eq 127 ]'
holds "and it is said" 'grep -q "/root/none: no such program in the guest" "$work/err"'

run --module no_such_module -- true
holds "a module that does not exist is a failure" '[ $code -eq 1 ]'
holds "it is named" 'grep -q "find module no_such_module in " "$work/err"'

# A root file system: as small as can be, first without its init.
make_root() {
	PATH=$PATH:/sbin mke2fs -q -t ext4 -d "$work/root" "$work/a,root" 8M
	cp "$work/a,root" "$work/untouched"
}

mkdir -p "$work/root/bin" "$work/root/sbin" "$work/root/root"
mkdir "$work/root/dev" "$work/root/proc" "$work/root/sys" "$work/root/run"
cp /bin/busybox "$work/root/bin"
make_root
run --root "$work/a,root" -- /bin/busybox true
holds "a root file system without init is a failure" '[ $code -eq 1 ]'
holds "and it is said" 'grep -q "start /sbin/init of the root file system: No such file" "$work/err"'

printf '#!/bin/busybox sh\necho $$ >/run/first\nwhile :; do /bin/busybox sleep 1; done\n' >"$work/root/sbin/init"
chmod +x "$work/root/sbin/init"
make_root
run --root "$work/a,root" --put "$work/job:/opt/job" --get "/root/result:$work/result" -- /bin/busybox sh -c '
	busybox=/bin/busybox
	until [ -s /run/first ]; do $busybox usleep 100000; done
	$busybox cat /run/first /opt/job >result
	[ -e /run/tlbvm.json ] && $busybox grep -o "^/dev/vda / ext4" /proc/mounts
	exit 3'
holds "a command beside the init of a root file system passes on its code" '[ $code -eq 3 ]'
holds "it has that root, and the facts" '[ "$(cat "$work/out")" = "/dev/vda / ext4" ]'
holds "init is the first process, and files get there and back" \
	'{ echo 1; cat "$work/job"; } | cmp -s - "$work/result"'
holds "the image is as it was" 'cmp "$work/a,root" "$work/untouched"'
exit $failed
