/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A file for the text-file collector of Prometheus' node_exporter, which reads each *.prom of a
 * folder at any moment. So it is written beside, under a name of another ending, and renamed.
 */
#ifndef TLBSTAT_TEXTFILE_H
#define TLBSTAT_TEXTFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TEXTFILE_NAME "tlbstat.prom"

struct textfile {
	const char *folder; /* kept, not copied */
	int fd;		    /* of the folder, locked; -1 while it is not there */
	bool failing;	    /* the last write failed, and that was told */
	uint64_t failures;  /* writes that failed */
};

/*
 * Opens the folder and locks it (flock(2)), so that no two processes write the same series. The
 * lock ends with the process, however it ends. 0, or a negative errno after a message:
 * -EWOULDBLOCK when another one holds it.
 */
int textfile__open(struct textfile *file, const char *folder);

/*
 * Replaces the file. A folder that was removed and made again is opened and locked again. On
 * failure a negative errno; it is told on stderr when it begins and when it has passed, not each
 * time. The old file, if there is one, stays whole.
 */
int textfile__write(struct textfile *file, const char *text, size_t len);

/* Removes the file, so that nobody goes on reading old numbers, and gives up the lock. */
void textfile__close(struct textfile *file);

#endif
