/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a run changes on the machine, written to disk before it is changed, so that it can be put
 * back at the end, on a signal, and by "tlbbench restore" after a crash.
 *
 * The journal is a text file in ${XDG_STATE_HOME:-/var/lib}/tlbbench:
 *
 *	tlbbench-journal 1
 *	boot 0b7a3c6e-...
 *	pid 1234
 *	setting /proc/sys/vm/swappiness 60
 *	zram 1
 *
 * One line per change, in the order of the changes. A last line without its newline is one that was
 * being written when the process died: the change itself had not been made yet. The journal of an
 * earlier boot is moot, since all that it can name is gone with that boot.
 *
 * A second file, "lock", is held (flock) as long as a process works with the journal.
 */
#ifndef TLBBENCH_JOURNAL_H
#define TLBBENCH_JOURNAL_H

#include <stddef.h>
#include <sys/types.h>

enum journal_kind {
	JOURNAL_SETTING,  /* a setting: its path, its value before */
	JOURNAL_ZRAM_ADD, /* about to add a zram device: the ids that exist before */
	JOURNAL_ZRAM,	  /* a zram device of ours: its id */
	JOURNAL_SWAP,	  /* swap turned on: the device */
	JOURNAL_SUBTREE,  /* a controller handed down: the cgroup, the controller */
	JOURNAL_CGROUP,	  /* a cgroup of ours: its path */
	JOURNAL_KINDS,
};

struct journal_entry {
	enum journal_kind kind;
	char *subject;
	char *value; /* "" where the kind has only a subject */
};

/* The contents of a journal file. */
struct journal_text {
	char boot[64]; /* "" in a file that was cut before its head was whole */
	pid_t pid;
	struct journal_entry *entries;
	size_t count;
};

/*
 * Reads the text of a journal. Returns 0, -ENOMEM, or -EBADMSG with *line at the line that is not
 * what the journal writes. The result is to be freed with journal_text__free(), also on failure.
 */
int journal__parse(const char *text, size_t len, struct journal_text *out, unsigned int *line);
void journal_text__free(struct journal_text *text);

struct journal;

/*
 * Takes the lock, and first puts back what a run that died left behind. Returns 0 or a negative
 * errno after a message: -EBUSY when another tlbbench runs.
 */
int journal__open(struct journal **out);

/*
 * Writes down, on disk, what is about to be changed. Only after 0 may the change be made.
 * @value: NULL where the kind has only a subject. Returns 0 or a negative errno after a message.
 */
int journal__record(struct journal *journal, enum journal_kind kind, const char *subject,
		    const char *value);

/* The place to go back to with journal__undo(). */
size_t journal__mark(const struct journal *journal);

/*
 * Puts back everything recorded since @mark, the latest first. What cannot be put back stays in the
 * journal, the rest is put back all the same. Returns 0 or the first error, after a message each.
 */
int journal__undo(struct journal *journal, size_t mark);

/* Puts everything back, removes the journal (unless something is left in it) and the lock. */
int journal__close(struct journal *journal);

/* What journal__restore() found. */
enum journal_found {
	JOURNAL_NOTHING, /* no journal: nothing to put back */
	JOURNAL_MOOT,	 /* a journal of an earlier boot */
	JOURNAL_UNDONE,	 /* changes that were put back */
};

/*
 * Puts back what a run that died left behind; *undone is the number of changes. Safe to repeat.
 * Returns 0 or a negative errno after a message.
 */
int journal__restore(enum journal_found *found, size_t *undone);

#endif
