#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 600
# What "make install" puts somewhere works from there, also in guests, and "make uninstall" takes all
# of it away and nothing else.
# The conditions are evaluated by holds().
# shellcheck disable=SC2016,SC2034,SC2317
# shellcheck source=tests/check.inc
. tests/check.inc
root=$work/root
prefix=/opt/tools
there=$root$prefix
unit=$there/lib/systemd/system/tlbstat.service
version=$(sed -n 's/^VERSION := //p' Makefile)

# install_to TARGET: "make TARGET", with nothing of the make that runs this test.
install_to() {
	env -u MAKEFLAGS make -s "$1" DESTDIR="$root" PREFIX="$prefix" >"$work/out" 2>"$work/err"
}

# Of others, in folders that ours go to.
mkdir -p "$there/bin" "$there/share/man/man1"
echo other | tee "$there/bin/other" >"$there/share/man/man1/other.1"
(cd "$root" && find . ! -type d) | sort >"$work/before"

holds "it installs" 'install_to install'
holds "nothing is outside of the prefix" '[ "$(ls "$root")" = opt ] && [ "$(ls "$root/opt")" = tools ]'
holds "no file can be written by others" '[ -z "$(find "$root" ! -type l -perm /022)" ]'
# As if DESTDIR had been unpacked at /: the build tree is not what is found.
for program in tlbstat tlbbench tlbvm; do
	holds "$program runs there" \
		'[ "$(cd / && "$there/bin/$program" --version 2>&1)" = "$program $version" ]'
	holds "$program has its man page" 'cmp -s "$there/share/man/man1/$program.1" "man/$program.1"'
	holds "$program is completed" 'bash -c ". \"\$1\" && complete -p \$2" bash \
		"$there/share/bash-completion/completions/$program" "$program" >"$work/out" 2>&1'
done
holds "the unit starts what was installed" \
	'[ "$(sed -n "s/^ExecStart=\([^ ]*\) daemon .*/\1/p" "$unit")" = $prefix/bin/tlbstat ]'
holds "in all else it is the one that is tested" \
	'[ "$(sed "s|$prefix/bin|/usr/bin|" "$unit")" = "$(cat packaging/tlbstat.service)" ]'

# The programs of the guest are found beside tlbvm, not in the checkout.
(cd "$work" && "$there/bin/tlbvm" run --kernel stock:7.3 --cpus 1 --timeout 4m \
	--get /usr/bin/tlbstat:guest-tlbstat --get /usr/bin/tlbbench:guest-tlbbench -- \
	sh -c 'tlbstat --version && tlbbench --version') >"$work/out" 2>"$work/err"
code=$?
holds "a guest runs them" \
	'[ $code -eq 0 ] && [ "$(cat "$work/out")" = "$(printf "tlbstat %s\ntlbbench %s" "$version" "$version")" ]'
guest=$there/lib/tlbstat/guest/$(uname -m)
holds "those that were installed" \
	'cmp "$work/guest-tlbstat" "$guest/tlbstat" && cmp "$work/guest-tlbbench" "$guest/tlbbench"'
mv "$guest/agent" "$work/agent"
(cd "$work" && "$there/bin/tlbvm" run --timeout 1m -- true) >"$work/out" 2>"$work/err"
code=$?
holds "without its agent it says so, and takes no other" '[ $code -eq 1 ] && grep -q "no agent" "$work/err"'
mv "$work/agent" "$guest/agent"

holds "it installs again, over the old" 'install_to install'
holds "it is removed" 'install_to uninstall'
(cd "$root" && find . ! -type d) | sort >"$work/after"
holds "nothing of it is left, and nothing else gone" 'diff "$work/before" "$work/after" >"$work/out"'
holds "nor are its folders" '[ -z "$(find "$root" -name "*tlb*")" ]'
holds "a removal of nothing is no failure" 'install_to uninstall'
exit $failed
