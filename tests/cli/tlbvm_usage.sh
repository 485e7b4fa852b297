#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# What cannot be understood is refused with exit 2, and the message names what was given; what is
# missing on this machine is named with the package that has it. Boots nothing, asks no network.
tlbvm=${BUILD:-build}/tlbvm
# shellcheck source=tests/check.inc
. tests/check.inc
program=$tlbvm
export XDG_CACHE_HOME="$work/cache" XDG_RUNTIME_DIR="$work/run"
mkdir "$work/run"

# Enough of an image to get past the search for a kernel.
echo image >"$work/image"

refuses "no command" "Usage: tlbvm"
refuses "an unknown command" '"walk"' walk
refuses "an unknown option" "--foo" run --foo -- true
refuses "run without a job" "no command was given" run
refuses "run without a job after options" "no command was given" run --cpus 2 --
refuses "no CPUs" '"0"' run --cpus 0 -- true
refuses "more CPUs than the emulator has" '"256"' run --cpus 256 -- true
refuses "CPUs that are no number" '"four"' run --cpus four -- true
refuses "CPUs with a sign" '"+4"' run --cpus +4 -- true
refuses "an empty number" '--cpus' run --cpus= -- true
refuses "a size that is none" '"1X"' run --mem 1X -- true
refuses "too little memory" '"64M"' run --mem 64M -- true
refuses "no nodes" '"0"' run --nodes 0 -- true
refuses "more nodes than there can be" '"9"' run --nodes 9 -- true
refuses "nodes without CPUs" "--nodes 3: each needs a CPU, and there are 2" \
	run --nodes 3 --cpus 2 -- true
refuses "nodes without memory" "--nodes 2: each needs 128M, and there are 255M" \
	run --mem 255M --nodes 2 -- true
refuses "a lower tier that is too small" '"64M"' run --lower-tier 64M -- true
refuses "a lower tier that is no size" '"slow"' run --lower-tier slow -- true
refuses "a lower tier where nothing tells the kernel of it" "guests of aarch64 have no table" \
	run --arch aarch64 --lower-tier 1G -- true
refuses "a time that is none" '"soon"' run --timeout soon -- true
refuses "a negative time" '"-1"' run --boot-timeout=-1 -- true
refuses "no time at all" '"0"' run --silence-timeout 0 -- true
refuses "an unknown accelerator" '"fast"' run --accel fast -- true
refuses "an unknown architecture" '"m68k"' run --arch m68k -- true
refuses "a kernel that is no series" '"stock:7"' run --kernel stock:7 -- true
refuses "a kernel that is a release" '"stock:7.3.4"' run --kernel stock:7.3.4 -- true
refuses "a kernel that is not there" "$work/none" run --kernel "$work/none" -- true
refuses "modules that are not there" "$work/none" \
	run --kernel "$work/image" --modules "$work/none" -- true
refuses "modules for a stock kernel" "--modules goes with --kernel PATH" \
	run --modules "$work" -- true
refuses "a root file system that is not there" "--root: open $work/none" \
	run --kernel "$work/image" --root "$work/none" -- true
refuses "a file to put that is not there" "$work/none" \
	run --kernel "$work/image" --put "$work/none" -- true
refuses "two files to get into one" "would overwrite result" \
	run --kernel "$work/image" --get a/result --get b/result -- true
# The command line of a comparison, which boots nothing here.
job="tlbbench run pageout"
both="ab --a $work/image --b $work/image"
# shellcheck disable=SC2086 # several words
{
	refuses "ab without kernels" "which kernels?" ab -- $job
	refuses "ab with one kernel" "which kernels?" ab --a "$work/image" -- $job
	refuses "ab of a kernel without its switch" "--kernel goes with --switch" \
		ab --kernel "$work/image" -- $job
	refuses "ab of a switch without its kernel" "--switch needs --kernel" ab --switch /x -- $job
	refuses "ab of a switch of two kernels" "--switch and --b exclude each other" \
		ab --kernel "$work/image" --b "$work/image" --switch /x -- $job
	refuses "ab of a switch by a relative path" '"sys/x"' ab --kernel "$work/image" --switch sys/x -- $job
	refuses "ab without a job" "no job was given" $both
	refuses "ab of another program" '"tlbbench run ...", got "sh -c"' $both -- sh -c "$job"
	refuses "ab of another command" 'got "tlbbench compare"' $both -- tlbbench compare
	refuses "ab whose job has an output" '--output of the job ("-o")' $both -- $job -o x.json
	refuses "ab whose job has an output among letters" '--output of the job ("-qox")' $both -- $job -qox
	refuses "ab whose job has an output by half its name" '--output of the job ("--out=x")' \
		$both -- $job --out=x
	refuses "ab whose job prints JSON" '--json of the job ("-J")' $both -- $job -J
	refuses "ab whose job has a switch" '--switch of the job ("--switch=/x")' $both -- $job --switch=/x
	refuses "ab without boots" '"0"' $both --boots 0 -- $job
	refuses "ab into a folder with a colon" '"a:b"' $both --out a:b -- $job
	refuses "ab of a kernel that is not there" "$work/none" \
		ab --a "$work/image" --b "$work/none" --out "$work/ab" -- $job
	refuses "ab of nodes without memory" "--nodes 2: each needs 128M" $both --mem 255M --nodes 2 -- $job
	refuses "an option that ab has not" "--get" $both --get x -- $job
}
# shellcheck disable=SC2016 # evaluated by holds()
holds "what is refused leaves no folder" '[ ! -e "$work/ab" ] && [ ! -e ab ]'
refuses "a fetch of no series" '"7.3"' kernels --fetch 7.3
refuses "a source of no series" '"source:7.3.4"' kernels --fetch source:7.3.4
refuses "an argument to kernels" '"stock:7.3"' kernels stock:7.3

gives 0 "help tells the commands" "kernels" --help
gives 0 "help of run tells its exit codes" "Exit codes" run --help
gives 0 "help of ab has an example" "--control --" ab --help
gives 0 "help of kernels has an example" "--fetch stock:6.12" kernels --help
gives 0 "help of kernels tells of sources" "--fetch source:7.3" kernels --help
gives 0 "the version" "tlbvm 0" --version

path=$PATH
PATH="$work"
export PATH
name="a missing QEMU is named with its package"
"$tlbvm" run --kernel "$work/image" -- true >"$work/out" 2>"$work/err"
code=$?
PATH=$path
if [ $code -eq 77 ] && grep -q "apt install qemu-system-x86" "$work/err"; then
	echo "ok $name"
else
	echo "not ok $name: exit $code"
	cat "$work/err"
	failed=1
fi

# fails NAME TEXT ENV... -- ARGS...: exit 1 with TEXT.
fails() {
	name=$1 text=$2
	shift 2
	env "$@" >"$work/out" 2>"$work/err"
	code=$?
	if [ $code -eq 1 ] && grep -qF -- "$text" "$work/err"; then
		echo "ok $name"
	else
		echo "not ok $name: exit $code"
		cat "$work/err"
		failed=1
	fi
}

full=$(cd "$(dirname "$tlbvm")" && pwd)/tlbvm
fails "a missing apt is named with its package" "apt install apt" \
	PATH="$work" "$full" kernels --fetch stock:7.3
fails "an archive that does not answer is told" "is there a network?" \
	TLBVM_MIRROR=http://127.0.0.1:9/debian "$full" kernels --fetch stock:7.3
fails "a source from an archive that does not answer is told" "find a 7.3 kernel source" \
	TLBVM_MIRROR=http://127.0.0.1:9/debian "$full" kernels --fetch source:7.3
fails "a cache that cannot be made is told" "XDG_CACHE_HOME" \
	XDG_CACHE_HOME="$work/image/cache" "$full" kernels --fetch stock:7.3
# A file system of 20 MiB, where a user may mount one.
mkdir "$work/small"
if unshare -rm mount -t tmpfs -o size=20M none "$work/small" 2>/dev/null; then
	# shellcheck disable=SC2016
	fails "a cache without space is told" "110 are needed: No space left on device" \
		unshare -rm sh -c 'mount -t tmpfs -o size=20M none "$1" && XDG_CACHE_HOME=$1 "$2" kernels \
			--fetch stock:7.3' sh "$work/small" "$full"
fi
fails "a kernel that is no kernel is told by QEMU" "QEMU said" \
	"$full" run --accel tcg-single --kernel "$work/image" -- true

if [ -n "$(ls -A "$work/run")" ]; then
	echo "not ok nothing is left behind"
	ls -la "$work/run"
	failed=1
else
	echo "ok nothing is left behind"
fi
exit $failed
