/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/vfs.h>

#include "common/diag.h"
#include "common/file.h"
#include "common/stop.h"
#include "journal.h"
#include "settings.h"
#include "switch.h"

#define DEBUGFS "/sys/kernel/debug"

/*
 * The kernel's text is changed, and all CPUs have been interrupted for that, before the write
 * returns (text_poke_sync(), Linux 7.3). What is left is work that CPUs put off meanwhile.
 */
#define SETTLE_NS UINT64_C(200000000)

/* The pairs of words that kernels print for a bool. */
static const char pairs[][SWITCH_STATES][2] = { { "0", "1" }, { "N", "Y" } };

const char *switch_state__name(enum switch_state state)
{
	return state == SWITCH_ON ? "on" : "off";
}

static bool is_on(const char *path, long magic)
{
	struct statfs fs;

	return statfs(path, &fs) == 0 && fs.f_type == magic;
}

static int say_absent(int err, const char *path)
{
	diag__fail(-err, "--switch: open %s", path);
	if (strncmp(path, DEBUGFS "/", strlen(DEBUGFS "/")) == 0 && !is_on(DEBUGFS, DEBUGFS_MAGIC))
		diag__hint("debugfs is not mounted: mount -t debugfs none " DEBUGFS);
	else
		diag__hint("this kernel has no such switch; that of the x86 change is in the patch "
			   "\"for benchmarking only\" of kernel-patches");
	return EXIT_UNSUPPORTED;
}

static int say_unreadable(int err, const char *path)
{
	diag__fail(-err, "--switch: read %s", path);
	diag__hint(err == -EACCES ? "run as root"
				  : "expected a file of the kernel that reads 0 or 1, or N or Y");
	return err == -EISDIR || err == -EOVERFLOW ? EXIT_USAGE : EXIT_FAILED;
}

static int say_no_switch(const char *path, const char *why)
{
	diag__error("--switch %s: %s", path, why);
	diag__hint("expected a file of debugfs, sysfs or /proc/sys that reads 0 or 1, or N or Y");
	return EXIT_USAGE;
}

int toggle__find(struct toggle *out, const char *path)
{
	char now[64], why[128];
	int err = settings__read(path, now, sizeof(now));

	*out = (struct toggle){ .path = path };
	if (err == -ENOENT || err == -ENOTDIR)
		return say_absent(err, path);
	if (err)
		return say_unreadable(err, path);
	if (!is_on(path, DEBUGFS_MAGIC) && !is_on(path, SYSFS_MAGIC) &&
	    !is_on(path, PROC_SUPER_MAGIC))
		return say_no_switch(path, "it is no setting of the kernel");
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		if (strcmp(now, pairs[i][SWITCH_OFF]) && strcmp(now, pairs[i][SWITCH_ON]))
			continue;
		memcpy(out->words, pairs[i], sizeof(out->words));
		return EXIT_DONE;
	}
	snprintf(why, sizeof(why), "it reads \"%s\"", now);
	return say_no_switch(path, why);
}

int toggle__check(const struct toggle *toggle, enum switch_state state)
{
	char now[64];
	int err = settings__read(toggle->path, now, sizeof(now));

	if (err)
		return diag__fail(-err, "read %s", toggle->path);
	if (strcmp(now, toggle->words[state]) == 0)
		return 0;
	diag__error("%s was set to %s, and now reads %s: the workload, or somebody else, sets it "
		    "too, or it is no switch",
		    toggle->path, toggle->words[state], now);
	return -ENXIO;
}

static int record(struct toggle *toggle, struct journal *journal, const char *before)
{
	int err;

	if (toggle->recorded)
		return 0;
	err = journal__record(journal, JOURNAL_SETTING, toggle->path, before);
	toggle->recorded = !err;
	return err;
}

int toggle__turn(struct toggle *toggle, struct journal *journal, enum switch_state state)
{
	const char *word = toggle->words[state];
	char now[64];
	int err = settings__read(toggle->path, now, sizeof(now));

	if (err)
		return diag__fail(-err, "read %s", toggle->path);
	if (strcmp(now, word) == 0)
		return 0;
	err = record(toggle, journal, now);
	if (err)
		return err;
	err = file__write_setting(toggle->path, word);
	if (err)
		return diag__fail(-err, "write \"%s\" to %s", word, toggle->path);
	if (!stop__sleep_until(stop__now_ns() + SETTLE_NS))
		return -EINTR;
	return toggle__check(toggle, state);
}

json_t *toggle__describe(const struct toggle *toggle, enum switch_state state)
{
	return json_pack("{s:s, s:s}", "file", toggle->path, "state", switch_state__name(state));
}
