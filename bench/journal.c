/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "cgroup.h"
#include "common/diag.h"
#include "common/file.h"
#include "common/procfs.h"
#include "journal.h"
#include "settings.h"
#include "zram.h"

#define BOOT_ID	      "/proc/sys/kernel/random/boot_id"
#define LOCK_PAUSE_MS 50
/* A holder that was killed this moment, and one that the kernel is ending. */
#define LOCK_ALIVE_MS 1000
#define LOCK_DYING_MS 60000

/*
 * Each undo accepts that there is nothing left to undo, says what failed, and returns 0 or a
 * negative errno.
 */
static int (*const undo[JOURNAL_KINDS])(const char *subject, const char *value) = {
	[JOURNAL_SETTING] = settings__undo,
	[JOURNAL_ZRAM_ADD] = zram__undo_add,
	[JOURNAL_ZRAM] = zram__undo,
	[JOURNAL_SWAP] = zram__undo_swap,
	[JOURNAL_SUBTREE] = cgroup__undo_subtree,
	[JOURNAL_CGROUP] = cgroup__undo,
};

struct journal {
	char *folder, *path;
	int lock;
	char boot[64];
	struct journal_text text;
};

/* The lock. */

static int folder_path(char **out)
{
	const char *state = getenv("XDG_STATE_HOME");

	/* The XDG rules say that a relative path is to be ignored. */
	if (!state || *state != '/')
		state = "/var/lib";
	return asprintf(out, "%s/tlbbench", state) < 0 ? -ENOMEM : 0;
}

static int say_busy(const char *path)
{
	char pid[32] = "";

	if (file__read_setting(path, pid, sizeof(pid)) || !*pid)
		strcpy(pid, "unknown");
	diag__error("another tlbbench (process %s) is running: two would disturb each other", pid);
	diag__hint("wait until it has ended, or end it with SIGINT");
	return -EBUSY;
}

/* A process that ends gives up its memory first, and with it its command line; its files later. */
static bool holder_is_dying(const char *path)
{
	char pid[32], cmdline[64], *text = NULL;
	size_t len = 0;
	bool dying;

	if (file__read_setting(path, pid, sizeof(pid)))
		return false;
	snprintf(cmdline, sizeof(cmdline), "/proc/%s/cmdline", pid);
	dying = procfs__read(cmdline, &text, &len) != 0 || len == 0;
	free(text);
	return dying;
}

/*
 * The kernel takes a while to end a process that was killed, above all to detach its probes, and
 * the lock is held until then.
 */
static int wait_for_lock(int fd, const char *path)
{
	const struct timespec pause = { .tv_nsec = LOCK_PAUSE_MS * 1000000 };

	for (int waited = 0; flock(fd, LOCK_EX | LOCK_NB); waited += LOCK_PAUSE_MS) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			return diag__fail(errno, "lock %s", path);
		if (waited >= (holder_is_dying(path) ? LOCK_DYING_MS : LOCK_ALIVE_MS))
			return say_busy(path);
		nanosleep(&pause, NULL);
	}
	return 0;
}

static int say_not_writable(int err, const char *action, const char *path)
{
	diag__fail(-err, "%s %s, for the journal", action, path);
	diag__hint("run as root, or set XDG_STATE_HOME to a folder that can be written");
	return err;
}

static int take_lock(struct journal *journal)
{
	char *path = NULL, pid[32];
	int err = 0, len = snprintf(pid, sizeof(pid), "%d\n", getpid());

	if (asprintf(&path, "%s/lock", journal->folder) < 0)
		return diag__fail(ENOMEM, "open the journal");
	journal->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	if (journal->lock < 0)
		err = say_not_writable(-errno, "open", path);
	else
		err = wait_for_lock(journal->lock, path);
	if (!err && (ftruncate(journal->lock, 0) || pwrite(journal->lock, pid, len, 0) != len))
		err = diag__fail(errno, "write %s", path);
	free(path);
	return err;
}

static void journal__free(struct journal *journal)
{
	if (journal->lock >= 0)
		close(journal->lock);
	journal_text__free(&journal->text);
	free(journal->folder);
	free(journal->path);
	free(journal);
}

static int journal__lock(struct journal **out)
{
	struct journal *journal = calloc(1, sizeof(*journal));
	int err;

	if (!journal)
		return diag__fail(ENOMEM, "open the journal");
	journal->lock = -1;
	if (folder_path(&journal->folder) ||
	    asprintf(&journal->path, "%s/journal", journal->folder) < 0) {
		err = diag__fail(ENOMEM, "open the journal");
		goto out;
	}
	err = file__make_dirs(journal->folder);
	if (err) {
		say_not_writable(err, "make the folder", journal->folder);
		goto out;
	}
	err = file__read_setting(BOOT_ID, journal->boot, sizeof(journal->boot));
	if (err)
		diag__fail(-err, "read %s", BOOT_ID);
	else
		err = take_lock(journal);
out:
	if (err)
		journal__free(journal);
	else
		*out = journal;
	return err;
}

/* The file. */

static int sync_folder(const struct journal *journal)
{
	int err = 0, fd = open(journal->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0 || (fsync(fd) && errno != EINVAL))
		err = diag__fail(errno, "sync %s", journal->folder);
	if (fd >= 0)
		close(fd);
	return err;
}

static int write_synced(int fd, const char *text, size_t len)
{
	ssize_t n = write(fd, text, len);

	if (n != (ssize_t)len)
		return n < 0 ? -errno : -ENOSPC;
	return fsync(fd) && errno != EINVAL ? -errno : 0;
}

/* Appends @len bytes and returns only when they are on disk; on failure the file is as before. */
static int append(const struct journal *journal, const char *text, size_t len)
{
	int err, fd = open(journal->path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
	off_t before;

	if (fd < 0)
		return diag__fail(errno, "open %s", journal->path);
	before = lseek(fd, 0, SEEK_END);
	err = write_synced(fd, text, len);
	if (err) {
		diag__fail(-err, "write %s", journal->path);
		diag__hint("nothing is changed on this machine unless it can be written down "
			   "first; free some space, or set XDG_STATE_HOME");
		/* Half a line in the middle of the file would make all of it unreadable. */
		if (ftruncate(fd, before))
			diag__fail(errno, "cut %s back to its %lld bytes", journal->path,
				   (long long)before);
	}
	close(fd);
	return err;
}

/* Brings the file in line with the entries that are left; none left: no file. */
static int save(struct journal *journal)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out;
	int err;

	if (!journal->text.count) {
		if (unlink(journal->path) && errno != ENOENT)
			return diag__fail(errno, "remove %s", journal->path);
		return sync_folder(journal);
	}
	out = open_memstream(&text, &len);
	if (!out)
		return diag__fail(errno, "write %s", journal->path);
	journal_text__put_head(out, journal->boot, getpid());
	for (size_t i = 0; i < journal->text.count; i++)
		journal_text__put_entry(out, &journal->text.entries[i]);
	err = fclose(out) ? diag__fail(errno, "write %s", journal->path)
			  : file__replace(journal->path, text, len);
	free(text);
	return err;
}

int journal__record(struct journal *journal, enum journal_kind kind, const char *subject,
		    const char *value)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out;
	bool first = journal->text.count == 0;
	int err = journal_text__add(&journal->text, kind, strdup(subject),
				    strdup(value ? value : ""));

	if (err)
		return diag__fail(-err, "write %s", journal->path);
	out = open_memstream(&text, &len);
	if (out && first)
		journal_text__put_head(out, journal->boot, getpid());
	if (out)
		journal_text__put_entry(out, &journal->text.entries[journal->text.count - 1]);
	if (!out || fclose(out))
		err = diag__fail(errno, "write %s", journal->path);
	else
		err = append(journal, text, len);
	if (!err && first)
		err = sync_folder(journal);
	if (err)
		journal_text__drop_last(&journal->text);
	free(text);
	return err;
}

size_t journal__mark(const struct journal *journal)
{
	return journal->text.count;
}

int journal__undo(struct journal *journal, size_t mark)
{
	struct journal_text *text = &journal->text;
	size_t kept = text->count;
	int err, first = 0;

	if (text->count <= mark)
		return 0;
	/* What is put back is dropped; what is not moves up to the end of the list. */
	for (size_t i = text->count; i-- > mark;) {
		struct journal_entry *entry = &text->entries[i];

		err = undo[entry->kind](entry->subject, entry->value);
		if (err) {
			first = first ? first : err;
			text->entries[--kept] = *entry;
			continue;
		}
		free(entry->subject);
		free(entry->value);
	}
	memmove(text->entries + mark, text->entries + kept,
		(text->count - kept) * sizeof(*text->entries));
	text->count = mark + text->count - kept;
	err = save(journal);
	return first ? first : err;
}

int journal__close(struct journal *journal)
{
	int err = journal__undo(journal, 0);

	if (journal->text.count)
		diag__hint("still to be put back: %zu; see the messages above, then run "
			   "\"tlbbench restore\"",
			   journal->text.count);
	journal__free(journal);
	return err;
}

static int load(struct journal *journal)
{
	unsigned int line;
	char *text;
	size_t len;
	int err = procfs__read(journal->path, &text, &len);

	if (err)
		return err == -ENOENT ? 0 : diag__fail(-err, "read %s", journal->path);
	err = journal_text__parse(text, len, &journal->text, &line);
	free(text);
	if (err == -EBADMSG) {
		diag__error("%s: line %u is nothing that tlbbench writes", journal->path, line);
		diag__hint("look at it, put back by hand what it lists, and remove it");
	}
	return err;
}

/* Puts back what the file says; the lock is held. */
static int recover(struct journal *journal, enum journal_found *found, size_t *undone)
{
	size_t listed;
	int err = load(journal);

	*found = JOURNAL_NOTHING;
	*undone = 0;
	if (err)
		return err;
	listed = journal->text.count;
	if (listed && strcmp(journal->text.boot, journal->boot)) {
		*found = JOURNAL_MOOT;
		journal_text__free(&journal->text);
		return save(journal);
	}
	if (listed)
		*found = JOURNAL_UNDONE;
	err = journal__undo(journal, 0);
	*undone = listed - journal->text.count;
	/* A file that was cut before its first change. */
	return err || listed ? err : save(journal);
}

int journal__open(struct journal **out)
{
	struct journal *journal = NULL;
	enum journal_found found;
	size_t undone;
	int err = journal__lock(&journal);

	if (err)
		return err;
	err = recover(journal, &found, &undone);
	if (!err && found == JOURNAL_UNDONE)
		diag__warn("an earlier run had died; what it left was put back first (%zu changes)",
			   undone);
	if (err)
		journal__free(journal);
	else
		*out = journal;
	return err;
}

int journal__restore(enum journal_found *found, size_t *undone)
{
	struct journal *journal = NULL;
	int err = journal__lock(&journal);

	if (err)
		return err;
	err = recover(journal, found, undone);
	journal__free(journal);
	return err;
}
