/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The text of a journal (journal.h):
 *
 *	tlbbench-journal 1
 *	boot 0b7a3c6e-...
 *	pid 1234
 *	setting /proc/sys/vm/swappiness 60
 *	zram 1
 *
 * One line per change, in the order of the changes. A last line without its newline is one that was
 * being written when the process died: the change itself had not been made yet.
 */
#ifndef TLBBENCH_JOURNAL_TEXT_H
#define TLBBENCH_JOURNAL_TEXT_H

#include <stddef.h>
#include <stdio.h>
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
int journal_text__parse(const char *text, size_t len, struct journal_text *out, unsigned int *line);
void journal_text__free(struct journal_text *text);

/*
 * Appends an entry; the strings are taken over, also on failure (and may then be NULL).
 * Returns 0 or -ENOMEM.
 */
int journal_text__add(struct journal_text *text, enum journal_kind kind, char *subject,
		      char *value);
void journal_text__drop_last(struct journal_text *text);

/* Writing: what journal_text__parse() reads. */
void journal_text__put_head(FILE *out, const char *boot, pid_t pid);
void journal_text__put_entry(FILE *out, const struct journal_entry *entry);

#endif
