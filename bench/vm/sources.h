/* SPDX-License-Identifier: GPL-2.0-only */
/* Where this host gets its Debian packages from: read from its own apt configuration. */
#ifndef TLBVM_SOURCES_H
#define TLBVM_SOURCES_H

#include <stdbool.h>
#include <stddef.h>

struct mirrors {
	char *archive;	/* URI of the archive; NULL if none was found */
	char *security; /* URI of the security archive, or NULL */
};

/*
 * Looks for Debian's archives in the text of a sources file, @deb822 for the *.sources form, else
 * the one-line form. @codename is the host's own release ("bookworm"), or NULL if it is no Debian;
 * other suites that count are Debian's current ones and their aliases. The first URI of each kind
 * is kept; those already in @mirrors stay.
 */
void mirrors__parse(struct mirrors *mirrors, const char *text, bool deb822, const char *codename);

/* The code name of the Debian release that this machine runs, to be freed; NULL if it runs none. */
char *mirrors__codename(void);

/* Reads all sources of the host, or $TLBVM_MIRROR. 0, or -ENOENT after saying where was looked. */
int mirrors__read(struct mirrors *mirrors);

void mirrors__free(struct mirrors *mirrors);

/* The text of a sources.list with the suites that carry kernels; @sid adds the unstable one. */
char *mirrors__sources_list(const struct mirrors *mirrors, const char *debian_arch, bool sid);

#endif
