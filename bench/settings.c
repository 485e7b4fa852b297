/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <string.h>

#include "common/diag.h"
#include "common/file.h"
#include "journal.h"
#include "settings.h"

int settings__read(const char *path, char *out, size_t size)
{
	char *open, *close;
	int err = file__read_setting(path, out, size);

	if (err)
		return err;
	open = strchr(out, '[');
	close = open ? strchr(open, ']') : NULL;
	if (close) {
		*close = '\0';
		memmove(out, open + 1, close - open);
	}
	return 0;
}

int settings__set(struct journal *journal, const char *path, const char *value)
{
	char before[256];
	int err = settings__read(path, before, sizeof(before));

	if (err)
		return diag__fail(-err, "read %s", path);
	if (strcmp(before, value) == 0)
		return 0;
	err = journal__record(journal, JOURNAL_SETTING, path, before);
	if (err)
		return err;
	err = file__write_setting(path, value);
	return err ? diag__fail(-err, "write \"%s\" to %s", value, path) : 0;
}

int settings__undo(const char *path, const char *value)
{
	char now[256];
	int err = settings__read(path, now, sizeof(now));

	/* The module whose setting it was has gone. */
	if (err == -ENOENT)
		return 0;
	if (!err && strcmp(now, value) == 0)
		return 0;
	err = file__write_setting(path, value);
	return err ? diag__fail(-err, "put back \"%s\" into %s", value, path) : 0;
}
