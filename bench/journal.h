/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a run changes on the machine, written to disk before it is changed, so that it can be put
 * back at the end, on a signal, and by "tlbbench restore" after a crash.
 *
 * The journal is a text file (journal_text.h), "journal" in ${XDG_STATE_HOME:-/var/lib}/tlbbench.
 * That of an earlier boot is moot, since all that it can name is gone with that boot.
 *
 * A second file, "lock", is held (flock) as long as a process works with the journal.
 */
#ifndef TLBBENCH_JOURNAL_H
#define TLBBENCH_JOURNAL_H

#include <stddef.h>

#include "journal_text.h"

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
