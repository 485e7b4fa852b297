/* SPDX-License-Identifier: GPL-2.0-only */
/* apt with a state of its own in the cache: reads other suites, installs nothing, needs no root. */
#ifndef TLBVM_APT_H
#define TLBVM_APT_H

#include <stdbool.h>
#include <stddef.h>

#include "vm/arch.h"
#include "vm/stock.h"

struct apt {
	const struct arch *arch;
	char *folder; /* in the cache */
	bool sid;     /* unstable is among the suites */
	bool stale;   /* the last update failed at least in part */
};

/*
 * Writes the configuration: the host's own (proxies, credentials), without its hooks and folders.
 * Returns 0 or a negative errno after a message. All later calls want the lock on the cache held.
 */
int apt__open(struct apt *apt, const struct arch *arch);
void apt__close(struct apt *apt);

/* Fetches the lists of the suites. Returns 0, also if a part failed (a warning), or -errno. */
int apt__update(struct apt *apt, bool sid);

/* Seconds since the last update; a very large number if there was none. */
double apt__age(const struct apt *apt);

/* The kernel packages of the suites. To be freed with packages__free(). 0 or -errno. */
int apt__packages(const struct apt *apt, struct package **out, size_t *count);
void packages__free(struct package *packages, size_t count);

/* Downloads @names (ended by NULL; @size bytes in all) to @folder. 0 or -errno after a message. */
int apt__download(const struct apt *apt, const char *const *names, uint64_t size,
		  const char *folder);

#endif
