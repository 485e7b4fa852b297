/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "cgroup.h"
#include "common/diag.h"
#include "common/file.h"
#include "common/parse.h"
#include "common/procfs.h"
#include "journal.h"
#include "settings.h"
#include "zram.h"

#define HEAD	"tlbbench-journal 1"
#define BOOT_ID "/proc/sys/kernel/random/boot_id"

/*
 * What each kind is called in the file, how many fields follow, and how it is undone. Each undo
 * accepts that there is nothing left to undo, says what failed, and returns 0 or a negative errno.
 */
static const struct kind {
	const char *name;
	unsigned int fields;
	int (*undo)(const char *subject, const char *value);
} kinds[JOURNAL_KINDS] = {
	[JOURNAL_SETTING] = {"setting", 2, settings__undo},
	[JOURNAL_ZRAM_ADD] = {"zram-add", 1, zram__undo_add},
	[JOURNAL_ZRAM] = {"zram", 1, zram__undo},
	[JOURNAL_SWAP] = {"swap", 1, zram__undo_swap},
	[JOURNAL_SUBTREE] = {"subtree", 2, cgroup__undo_subtree},
	[JOURNAL_CGROUP] = {"cgroup", 1, cgroup__undo},
};

struct journal {
	char *folder, *path;
	int lock;
	char boot[64];
	struct journal_text text;
};

/* Text form: fields are separated by one space; spaces, '%' and control bytes are written %xx. */

static bool is_plain(unsigned char c)
{
	return c > ' ' && c != '%' && c != 0x7f;
}

static void put_field(FILE *out, const char *field)
{
	for (const unsigned char *c = (const unsigned char *)field; *c; c++) {
		if (is_plain(*c))
			fputc(*c, out);
		else
			fprintf(out, "%%%02x", *c);
	}
}

static void put_entry(FILE *out, const struct journal_entry *entry)
{
	const struct kind *kind = &kinds[entry->kind];

	fprintf(out, "%s ", kind->name);
	put_field(out, entry->subject);
	if (kind->fields == 2) {
		fputc(' ', out);
		put_field(out, entry->value);
	}
	fputc('\n', out);
}

static void put_head(FILE *out, const char *boot, pid_t pid)
{
	fprintf(out, "%s\nboot %s\npid %d\n", HEAD, boot, pid);
}

static int hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The text of one field, decoded; NULL if it is not what put_field() writes. */
static char *get_field(const char *text, size_t len)
{
	char *field = malloc(len + 1), *out = field;

	for (size_t i = 0; field && i < len; i++) {
		int high, low;

		if (is_plain(text[i])) {
			*out++ = text[i];
			continue;
		}
		high = text[i] == '%' && len - i > 2 ? hex(text[i + 1]) : -1;
		low = high < 0 ? -1 : hex(text[i + 2]);
		if (low < 0 || high * 16 + low == 0) {
			free(field);
			return NULL;
		}
		*out++ = high * 16 + low;
		i += 2;
	}
	if (field)
		*out = '\0';
	return field;
}

static int add_entry(struct journal_text *text, enum journal_kind kind, char *subject, char *value)
{
	struct journal_entry *entries =
		realloc(text->entries, (text->count + 1) * sizeof(*text->entries));

	if (!entries || !subject || !value) {
		text->entries = entries ? entries : text->entries;
		free(subject);
		free(value);
		return -ENOMEM;
	}
	text->entries = entries;
	entries[text->count++] = (struct journal_entry){kind, subject, value};
	return 0;
}

static void drop_last(struct journal_text *text)
{
	struct journal_entry *entry = &text->entries[--text->count];

	free(entry->subject);
	free(entry->value);
}

static int parse_entry(const char *line, size_t len, struct journal_text *out)
{
	const char *end = line + len, *space = memchr(line, ' ', len), *second = NULL;
	char *subject, *value;
	unsigned int kind = 0;

	if (!space)
		return -EBADMSG;
	while (kind < JOURNAL_KINDS && (strlen(kinds[kind].name) != (size_t)(space - line) ||
					memcmp(kinds[kind].name, line, space - line)))
		kind++;
	if (kind == JOURNAL_KINDS)
		return -EBADMSG;
	line = space + 1;
	if (kinds[kind].fields == 2) {
		second = memchr(line, ' ', end - line);
		if (!second)
			return -EBADMSG;
	}
	subject = get_field(line, (second ? second : end) - line);
	value = second ? get_field(second + 1, end - second - 1) : strdup("");
	if (!subject || !value || (!*subject && kind != JOURNAL_ZRAM_ADD)) {
		free(subject);
		free(value);
		return -EBADMSG;
	}
	return add_entry(out, kind, subject, value);
}

static int parse_boot(const char *line, size_t len, struct journal_text *out)
{
	size_t key = strlen("boot ");

	if (len <= key || memcmp(line, "boot ", key) || len - key >= sizeof(out->boot))
		return -EBADMSG;
	memcpy(out->boot, line + key, len - key);
	out->boot[len - key] = '\0';
	return strlen(out->boot) == len - key ? 0 : -EBADMSG;
}

static int parse_pid(const char *line, size_t len, struct journal_text *out)
{
	char text[16] = "";
	uint64_t pid;

	if (len <= strlen("pid ") || memcmp(line, "pid ", 4) || len - 4 >= sizeof(text))
		return -EBADMSG;
	memcpy(text, line + 4, len - 4);
	if (parse__u64(text, 1, INT32_MAX, &pid))
		return -EBADMSG;
	out->pid = pid;
	return 0;
}

int journal__parse(const char *text, size_t len, struct journal_text *out, unsigned int *line)
{
	const char *end;
	int err = 0;

	memset(out, 0, sizeof(*out));
	*line = 0;
	while (!err && (end = memchr(text, '\n', len))) {
		size_t size = end - text;

		switch (++*line) {
		case 1:
			err = size == strlen(HEAD) && !memcmp(text, HEAD, size) ? 0 : -EBADMSG;
			break;
		case 2:
			err = parse_boot(text, size, out);
			break;
		case 3:
			err = parse_pid(text, size, out);
			break;
		default:
			err = parse_entry(text, size, out);
		}
		len -= size + 1;
		text = end + 1;
	}
	return err;
}

void journal_text__free(struct journal_text *text)
{
	while (text->count)
		drop_last(text);
	free(text->entries);
	memset(text, 0, sizeof(*text));
}

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

static int take_lock(struct journal *journal)
{
	char *path = NULL, pid[32];
	int err = 0, len = snprintf(pid, sizeof(pid), "%d\n", getpid());

	if (asprintf(&path, "%s/lock", journal->folder) < 0)
		return diag__fail(ENOMEM, "open the journal");
	journal->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	if (journal->lock < 0)
		err = diag__fail(errno, "open %s", path);
	else if (flock(journal->lock, LOCK_EX | LOCK_NB))
		err = errno == EWOULDBLOCK ? say_busy(path) : diag__fail(errno, "lock %s", path);
	else if (ftruncate(journal->lock, 0) || pwrite(journal->lock, pid, len, 0) != len)
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
		diag__fail(-err, "make the folder %s for the journal", journal->folder);
		diag__hint("run as root, or set XDG_STATE_HOME to a folder that can be written");
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
	put_head(out, journal->boot, getpid());
	for (size_t i = 0; i < journal->text.count; i++)
		put_entry(out, &journal->text.entries[i]);
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
	int err = add_entry(&journal->text, kind, strdup(subject), strdup(value ? value : ""));

	if (err)
		return diag__fail(-err, "write %s", journal->path);
	out = open_memstream(&text, &len);
	if (out && first)
		put_head(out, journal->boot, getpid());
	if (out)
		put_entry(out, &journal->text.entries[journal->text.count - 1]);
	if (!out || fclose(out))
		err = diag__fail(errno, "write %s", journal->path);
	else
		err = append(journal, text, len);
	if (!err && first)
		err = sync_folder(journal);
	if (err)
		drop_last(&journal->text);
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

		err = kinds[entry->kind].undo(entry->subject, entry->value);
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
		diag__hint("%zu changes are still to be put back; see the messages above, then run "
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
	err = journal__parse(text, len, &journal->text, &line);
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
		diag__warn("an earlier run had died; the %zu changes it left were put back first",
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
