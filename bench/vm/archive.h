/* SPDX-License-Identifier: GPL-2.0-only */
/* The way of packages from the archive to a folder of the cache: for kernels and for their source.
 */
#ifndef TLBVM_ARCHIVE_H
#define TLBVM_ARCHIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#include "vm/apt.h"
#include "vm/arch.h"
#include "vm/stock.h"

/* The archive as apt knows it. The lock on the cache is held from open to close. */
struct archive {
	struct apt apt;
	struct package *packages;
	size_t count;
	int lock;
};

/* What is wanted of the archive, and how to know it among the packages. */
struct archive_item {
	const char *what; /* for messages: "kernel" */
	const struct package *(*choose)(const struct package *packages, size_t count,
					const struct arch *arch, const char *series);
	/* What users know this package by: the kernel's version. To be freed. */
	char *(*version)(const struct package *package, const struct arch *arch);
};

/* Takes the lock and sets apt up; reads nothing. 0 or a negative errno after a message. */
int archive__open(struct archive *archive, const struct arch *arch);
void archive__close(struct archive *archive);

/*
 * The newest @item of @series, from package lists fetched now; unstable is asked last. If the
 * archive has none any more, the newest of the same major version, after a warning, with
 * *stands_in set. NULL after a message with *err set.
 */
const struct package *archive__find(struct archive *archive, const struct archive_item *item,
				    const char *series, bool *stands_in, int *err);

/* The packages of lists that are at most a day old. 0 or a negative errno after a message. */
int archive__read(struct archive *archive);

/* Folders for what is unfinished, inside a folder of the cache. */
struct staging {
	char *parent; /* where the result goes */
	char *work;   /* removed at the end */
	char *debs;   /* the packages */
	char *root;   /* what was in them */
	char *out;    /* empty, for the result */
};

/* @parent is a name in the cache ("kernels"). 0 or a negative errno after a message. */
int staging__open(struct staging *staging, const char *parent);
void staging__close(struct staging *staging);

/*
 * Downloads @parts (ended by NULL) and unpacks them to @staging->root, if there is room for them
 * and for @more bytes. 0 or a negative errno after a message.
 */
int staging__fetch(struct staging *staging, const struct apt *apt,
		   const struct package *const *parts, uint64_t more);

/* Renames @from to @name beside the other results; one of that name goes. 0 or -errno, said. */
int staging__install(struct staging *staging, const char *from, const char *name);

/* Bytes to download for @parts, ended by NULL. */
uint64_t parts__size(const struct package *const *parts);

/* "A/B", to be freed. */
char *path_join(const char *a, const char *b);

/* The string at @key, or "". */
const char *meta__text(const json_t *meta, const char *key);

/* Adds the time to @meta and writes it to @path. Takes the reference. 0 or -errno, said. */
int meta__write(json_t *meta, const char *path);

#endif
