#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# kernel-patches/build: its words; and with a source tree of a few lines, which is made here and built
# in a second, that it builds what it has to and nothing else. The conditions are evaluated.
# shellcheck disable=SC2016,SC2034
# shellcheck source=tests/check.inc
. tests/check.inc
program="kernel-patches/build"
export XDG_CACHE_HOME="$work/cache"

gives 0 "help tells the options" "--objects 'O...'" --help
refuses "an unknown option" '"--bases"' --bases 7.3
refuses "an option without its value" "--patch: a value is missing" --patch
refuses "a base without patches" 'expected one of 7.3, got "5.9"' --base 5.9
refuses "a series that there is not" 'got "serie"' --with serie
refuses "a patch that there is not" 'got "no.patch"' --patch no.patch
refuses "a configuration that there is not" 'got "no.config"' --config no.config
refuses "objects without a patch" "there is none" --objects a.o
refuses "objects outside of the tree" 'got "../a.o"' --patch Makefile --objects ../a.o
need=$(for tool in git flex bison bc jq flock; do command -v $tool >/dev/null || echo $tool; done)
if [ -n "$need" ]; then
	[ $failed -eq 0 ] || exit 1
	echo "not installed: $(echo "$need" | tr '\n' ' '): make deps-kernel"
	exit 77
fi
export KERNEL_SOURCE="$work/nothing"
gives 1 "a source that is none" "KERNEL_SOURCE: expected a kernel tree"

# A tree with two objects that include the same header; its image is what was in the sources.
export KERNEL_SOURCE="$work/linux"
mkdir -p "$work/linux/scripts/kconfig"
cat >"$work/linux/Makefile" <<'END'
VERSION = 7
PATCHLEVEL = 3
SUBLEVEL = 99
allnoconfig:
	: >$(O)/.config
olddefconfig:
	sed -i /CONFIG_NO_SUCH_OPTION/d $(O)/.config
bzImage: $(O)/one.o $(O)/two.o
	mkdir -p $(O)/arch/x86/boot $(O)/include/config
	cat $^ >$(O)/arch/x86/boot/bzImage
	echo "7.3.99$(LOCALVERSION)" >$(O)/include/config/kernel.release
	touch $(O)/System.map
$(O)/%.o: %.c both.h
	@echo "  CC      $*.o"
	@! grep -H broken $<
	@! grep -q slow $< || exec sleep 77
	cat $< both.h >$@
END
cat >"$work/linux/scripts/kconfig/merge_config.sh" <<'END'
#!/bin/sh
shift 3
config=$1
shift
cat "$@" >>"$config"
END
chmod +x "$work/linux/scripts/kconfig/merge_config.sh"
echo "first" >"$work/linux/one.c"
echo "second" >"$work/linux/two.c"
echo "header" >"$work/linux/both.h"

# change FILE FROM TO: prints a patch.
change() {
	printf -- '--- a/%s\n+++ b/%s\n@@ -1 +1 @@\n-%s\n+%s\n' "$1" "$1" "$2" "$3"
}
mkdir "$work/set"
change one.c first first-patched >"$work/set/one.patch"
change both.h header header-patched >"$work/both.patch"
change two.c "second, edited" broken >"$work/broken.patch"
change two.c "second, edited" slow >"$work/slow.patch"
change two.c third fourth >"$work/misfit.patch"
echo one.patch >"$work/set/series"
echo CONFIG_NO_SUCH_OPTION=y >"$work/unknown.config"
echo CONFIG_ANOTHER=y >"$work/another.config"

# build ARGS...: its streams to $work/out and err, what it printed to $kernel, what make compiled to
# $compiled.
build() {
	find "$work/cache" -name log -exec rm {} + 2>/dev/null
	$program "$@" >"$work/out" 2>"$work/err"
	code=$?
	kernel=$(cat "$work/out")
	compiled=$(find "$work/cache" -name log -exec sed -n 's/^  CC *//p' {} + | sort -u | paste -sd' ')
}

build
plain=$kernel
holds "a kernel is built, and its folder is all that is printed" \
	'[ $code -eq 0 ] && [ "$(wc -l <"$work/out")" -eq 1 ] && [ -s "$kernel/vmlinuz" ]'
holds "what it was made of is recorded" \
	'jq -e ".schema == \"tlbvm-kernel/1\" and .origin == \"built\" and .arch == \"x86_64\" and
		.version == \"7.3.99-base\" and .source.version == \"7.3.99\" and .patches == [] and
		.config == [\"x86_64.fragment\"] and .bytes > 0" "$kernel/meta.json" >/dev/null'
holds "tlbvm lists it with its version" \
	'TLBVM_MIRROR=http://127.0.0.1:9/ "${BUILD:-build}/tlbvm" kernels 2>/dev/null |
		grep -q "built-7.3.99-.* 7.3.99-base"'
build
holds "a second time it is there at once" '[ "$kernel" = "$plain" ] && [ -z "$compiled" ]'
echo "second, edited" >"$work/linux/two.c"
build
holds "a source that changed makes another kernel, of few objects" \
	'[ $code -eq 0 ] && [ "$kernel" != "$plain" ] && [ "$compiled" = two.o ]'
build --with "$work/set/series"
series=$kernel
holds "a series makes another kernel" \
	'[ "$kernel" != "$plain" ] && grep -qx first-patched "$kernel/vmlinuz" &&
	jq -e ".version == \"7.3.99-series\" and .patches == [\"one.patch\"]" "$kernel/meta.json" >/dev/null'
build --config "$work/another.config"
holds "so does an option" '[ $code -eq 0 ] && [ "$kernel" != "$plain" ]'
build --with "$work/set/series" --patch "$work/both.patch"
holds "a patch to a header compiles all that include it" \
	'[ "$compiled" = "one.o two.o" ] && [ "$(grep -c header-patched "$kernel/vmlinuz")" -eq 2 ]'
all=$kernel
rm -r "$series"
build --with "$work/set/series"
holds "and so does its end" \
	'[ "$kernel" = "$series" ] && [ "$compiled" = "one.o two.o" ] &&
	[ "$(grep -cx header "$kernel/vmlinuz")" -eq 2 ]'
build --with "$work/set/series" --patch "$work/both.patch" --objects two.o
holds "with --objects only these see it" \
	'[ "$kernel" != "$all" ] && [ "$compiled" = "two.o" ] &&
	[ "$(grep -c header-patched "$kernel/vmlinuz")" -eq 1 ]'
rm -r "$series"
build --with "$work/set/series"
holds "and only these are compiled again after it" \
	'[ "$compiled" = "two.o" ] && [ "$(grep -cx header "$kernel/vmlinuz")" -eq 2 ]'
rm -rf "$work/cache/tlbstat/build/linux-7.3.99" "$work/cache/tlbstat/kernels"
build --with "$work/set/series" --patch "$work/both.patch" --objects "two.o"
holds "also when nothing was compiled before" '[ "$(grep -c header-patched "$kernel/vmlinuz")" -eq 1 ]'
build --with "$work/set/series" --patch "$work/both.patch"
holds "a patch that was for some objects is for all the next time" \
	'[ "$(grep -c header-patched "$all/vmlinuz")" -eq 2 ]'
build --patch "$work/misfit.patch"
holds "a patch that does not apply is named" \
	'[ $code -eq 1 ] && [ -z "$kernel" ] && grep -q "misfit.patch does not apply" "$work/err"'
build --patch "$work/broken.patch"
holds "what does not compile is shown" \
	'[ $code -eq 1 ] && [ -z "$kernel" ] && grep -q "two.c:broken" "$work/err"'
build --config "$work/unknown.config"
holds "an option that does not come through is named" \
	'[ $code -eq 1 ] && grep -q "CONFIG_NO_SUCH_OPTION=y" "$work/err"'

# A slow build is ended by a signal while another one waits for it.
$program --patch "$work/slow.patch" >"$work/slow.out" 2>"$work/slow.err" &
slow=$!
for _ in $(seq 100); do
	pgrep -P "$slow" -x make >"$work/make" && pgrep -P "$(cat "$work/make")" >/dev/null && break
	sleep 0.2
done
$program --patch "$work/both.patch" >"$work/out" 2>"$work/err" &
second=$!
for _ in $(seq 100); do
	grep -q waiting "$work/err" && break
	sleep 0.2
done
kill -TERM $slow
wait $slow
code=$?
holds "a signal ends a build" '[ $code -eq 130 ] && grep -q "goes on from here" "$work/slow.err"'
holds "with its make" '! kill -0 "$(cat "$work/make")" 2>/dev/null'
wait $second
code=$?
holds "who waited for it says so, and goes on" \
	'[ $code -eq 0 ] && grep -q "waiting for another build" "$work/err" && [ -s "$(cat "$work/out")/vmlinuz" ]'
holds "nothing unfinished is left" '[ -z "$(find "$work/cache/tlbstat/build" -name result)" ]'
exit $failed
