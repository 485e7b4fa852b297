/* SPDX-License-Identifier: GPL-2.0-only */
#include "vm/archive.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/diag.h"
#include "common/file.h"
#include "vm/cache.h"
#include "vm/child.h"
#include "vm/workdir.h"

/* Lists younger than this are taken as they are when kernels are only listed. */
#define LISTS_FRESH_S 86400.0

char *path_join(const char *a, const char *b)
{
	char *path;

	return asprintf(&path, "%s/%s", a, b) < 0 ? NULL : path;
}

/* ---- what the archive has ---- */

int archive__open(struct archive *archive, const struct arch *arch)
{
	int err;

	memset(archive, 0, sizeof(*archive));
	archive->lock = cache__lock("kernels.lock");
	if (archive->lock < 0)
		return archive->lock;
	err = apt__open(&archive->apt, arch);
	if (err)
		archive__close(archive);
	return err;
}

static void forget_packages(struct archive *archive)
{
	packages__free(archive->packages, archive->count);
	archive->packages = NULL;
	archive->count = 0;
}

void archive__close(struct archive *archive)
{
	if (archive->lock < 0)
		return;
	forget_packages(archive);
	apt__close(&archive->apt);
	close(archive->lock);
	archive->lock = -1;
}

static int fetch_lists(struct archive *archive, bool sid)
{
	int err = apt__update(&archive->apt, sid);

	forget_packages(archive);
	return err ? err : apt__packages(&archive->apt, &archive->packages, &archive->count);
}

int archive__read(struct archive *archive)
{
	if (apt__age(&archive->apt) > LISTS_FRESH_S)
		return fetch_lists(archive, false);
	return apt__packages(&archive->apt, &archive->packages, &archive->count);
}

static const struct package *choose(const struct archive *archive, const struct archive_item *item,
				    const char *series)
{
	return item->choose(archive->packages, archive->count, archive->apt.arch, series);
}

static const struct package *find_successor(const struct archive *archive,
					    const struct archive_item *item, const char *series,
					    int *err)
{
	const struct package *found;
	char major[16], *version;

	snprintf(major, sizeof(major), "%.*s", (int)strcspn(series, "."), series);
	found = choose(archive, item, major);
	if (!found) {
		*err = -ENOENT;
		diag__error("find a %s %s: the archive's suites have none", series, item->what);
		diag__hint("tlbvm kernels lists what can be had");
		return NULL;
	}
	version = item->version(found, archive->apt.arch);
	diag__warn("the archive has no %s %s: taking %s", series, item->what,
		   version ? version : found->name);
	free(version);
	return found;
}

const struct package *archive__find(struct archive *archive, const struct archive_item *item,
				    const char *series, bool *stands_in, int *err)
{
	const struct package *found = NULL;

	*stands_in = false;
	for (int sid = 0; sid < 2 && !found && !archive->apt.stale; sid++) {
		*err = fetch_lists(archive, sid);
		if (*err)
			return NULL;
		found = choose(archive, item, series);
	}
	if (found)
		return found;
	if (archive->apt.stale) {
		*err = -EIO;
		diag__error("find a %s %s: not all package lists could be read, and there is none "
			    "in the others",
			    series, item->what);
		diag__hint("is there a network? what is in the cache needs none: tlbvm kernels");
		return NULL;
	}
	*stands_in = true;
	return find_successor(archive, item, series, err);
}

/* ---- from packages to a folder ---- */

uint64_t parts__size(const struct package *const *parts)
{
	uint64_t sum = 0;

	for (; *parts; parts++)
		sum += (*parts)->size;
	return sum;
}

int staging__open(struct staging *staging, const char *parent)
{
	int err = 0;

	memset(staging, 0, sizeof(*staging));
	staging->parent = cache__path(parent);
	if (!staging->parent)
		return -EIO;
	staging->work = path_join(staging->parent, ".fetch");
	staging->debs = staging->work ? path_join(staging->work, "debs") : NULL;
	staging->root = staging->work ? path_join(staging->work, "root") : NULL;
	staging->out = staging->work ? path_join(staging->work, "out") : NULL;
	if (!staging->debs || !staging->root || !staging->out) {
		err = -ENOMEM;
	} else {
		/* What a killed fetch left; the lock is held. */
		remove_tree(staging->work);
		err = file__make_dirs(staging->debs);
	}
	if (!err)
		err = file__make_dirs(staging->root);
	if (!err)
		err = file__make_dirs(staging->out);
	if (err) {
		diag__fail(-err, "make folders in %s", staging->parent);
		staging__close(staging);
	}
	return err;
}

void staging__close(struct staging *staging)
{
	if (staging->work)
		remove_tree(staging->work);
	free(staging->parent);
	free(staging->work);
	free(staging->debs);
	free(staging->root);
	free(staging->out);
	memset(staging, 0, sizeof(*staging));
}

static int unpack_one(const struct staging *staging, const char *name)
{
	char *deb = path_join(staging->debs, name);
	struct captured captured = { 0 };
	int err = -ENOMEM;

	if (deb)
		err = child__must_run(
			(const char *const[]){ "dpkg-deb", "-x", deb, staging->root, NULL }, NULL,
			"dpkg", &captured, NULL, NULL);
	captured__free(&captured);
	free(deb);
	return err;
}

static int unpack(const struct staging *staging, size_t wanted)
{
	DIR *entries = opendir(staging->debs);
	struct dirent *entry;
	size_t unpacked = 0;
	int err = 0;

	while (!err && entries && (entry = readdir(entries))) {
		if (!strstr(entry->d_name, ".deb"))
			continue;
		err = unpack_one(staging, entry->d_name);
		unpacked++;
	}
	if (entries)
		closedir(entries);
	if (!err && unpacked != wanted)
		return diag__fail(0, "unpack: %zu packages were downloaded, %zu expected", unpacked,
				  wanted);
	return err;
}

int staging__fetch(struct staging *staging, const struct apt *apt,
		   const struct package *const *parts, uint64_t more)
{
	const char *names[8] = { NULL };
	uint64_t size = parts__size(parts);
	size_t count = 0;
	/* The packages and what is in them, which is about as large. */
	int err = cache__need(2 * size + more);

	for (; parts[count] && count < 7; count++)
		names[count] = parts[count]->name;
	if (!err)
		err = apt__download(apt, names, size, staging->debs);
	return err ? err : unpack(staging, count);
}

int staging__install(struct staging *staging, const char *from, const char *name)
{
	char *final = path_join(staging->parent, name), *old = path_join(staging->work, "old");
	int err = 0;

	if (!final || !old)
		err = -ENOMEM;
	else if (rename(final, old) < 0 && errno != ENOENT)
		err = -errno;
	else if (rename(from, final) < 0)
		err = -errno;
	if (err)
		diag__fail(-err, "move %s to %s", name, staging->parent);
	free(final);
	free(old);
	return err;
}

/* ---- what is noted of the result ---- */

const char *meta__text(const json_t *meta, const char *key)
{
	const char *text = json_string_value(json_object_get(meta, key));

	return text ? text : "";
}

int meta__write(json_t *meta, const char *path)
{
	time_t now = time(NULL);
	char when[32], *text = NULL;
	struct tm utc;
	int err;

	gmtime_r(&now, &utc);
	strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%SZ", &utc);
	if (meta && !json_object_set_new(meta, "fetched", json_string(when)))
		text = json_dumps(meta, JSON_INDENT(2));
	err = path && text ? file__replace(path, text, strlen(text))
			   : diag__fail(ENOMEM, "describe what was fetched");
	json_decref(meta);
	free(text);
	return err;
}
