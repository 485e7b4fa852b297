/* SPDX-License-Identifier: GPL-2.0-only */
#include "vm/source.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/diag.h"
#include "vm/cache.h"
#include "vm/child.h"
#include "vm/stock.h"
#include "vm/transfer.h"

/* What the tree takes: 1.6 GiB, seen with 7.3.4, and room to spare. */
#define TREE_SIZE (UINT64_C(1900) << 20)

static const char prefix[] = "linux-source-", folder_prefix[] = "linux-";

/* ---- names ---- */

/* "7.3" of "linux-source-7.3", or NULL. */
static const char *series_of(const struct package *package)
{
	const char *series = package->name + strlen(prefix);

	if (strncmp(package->name, prefix, strlen(prefix)) || !stock__is_series(series))
		return NULL;
	return series;
}

char *source__version(const struct package *package, const struct arch *arch)
{
	(void)arch;
	return strndup(package->version, strcspn(package->version, "-"));
}

const struct package *source__choose(const struct package *packages, size_t count,
				     const struct arch *arch, const char *series)
{
	const struct package *best = NULL;
	size_t length = strlen(series);

	(void)arch;
	for (size_t i = 0; i < count; i++) {
		const char *of = series_of(&packages[i]);

		if (!of || strncmp(of, series, length) || (of[length] && of[length] != '.'))
			continue;
		if (!best || stock__compare(of, series_of(best)) > 0)
			best = &packages[i];
	}
	return best;
}

/* ---- the cache ---- */

/* "7.3.4" of "linux-7.3.4", or NULL: its .json and other files are no folders. */
static const char *folder_version(const char *sources, const char *name)
{
	char *path = path_join(sources, name);
	struct stat stat_buf;
	bool is_folder = path && stat(path, &stat_buf) == 0 && S_ISDIR(stat_buf.st_mode);

	free(path);
	return is_folder && !strncmp(name, folder_prefix, strlen(folder_prefix))
		       ? name + strlen(folder_prefix)
		       : NULL;
}

static json_t *read_meta(const char *sources, const char *name, const char *version)
{
	char *path = path_join(sources, name), *json = NULL;
	json_t *meta = NULL;

	if (path && asprintf(&json, "%s.json", path) >= 0)
		meta = json_load_file(json, 0, NULL);
	if (strcmp(meta__text(meta, "schema"), SOURCE_SCHEMA)) {
		json_decref(meta);
		meta = json_pack("{s:s, s:s}", "schema", SOURCE_SCHEMA, "version", version);
	}
	json_object_set_new(meta, "name", json_string(name));
	json_object_set_new(meta, "path", json_string(path ? path : ""));
	free(json);
	free(path);
	return meta;
}

json_t *source__cached(void)
{
	char *sources = cache__path("sources");
	json_t *list = json_array();
	struct dirent **entries;
	int count = sources ? scandir(sources, &entries, NULL, versionsort) : -1;

	for (int i = 0; i < count; i++) {
		const char *version = folder_version(sources, entries[i]->d_name);

		if (version)
			json_array_append_new(list,
					      read_meta(sources, entries[i]->d_name, version));
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
	free(sources);
	return list;
}

static json_t *find_cached(const char *version)
{
	json_t *list = source__cached(), *meta, *found = NULL;
	size_t i;

	json_array_foreach (list, i, meta)
		if (!strcmp(meta__text(meta, "version"), version))
			found = json_incref(meta);
	json_decref(list);
	return found;
}

/* ---- from the archive to the cache ---- */

struct fetch {
	const char *series;
	const struct package *package;
	char *version;
	bool stands_in;
};

/* Of one unpacked by hand only the version is known, and believed. */
static bool is_current(const json_t *meta, const struct fetch *fetch)
{
	const json_t *package = json_array_get(json_object_get(meta, "packages"), 0);

	if (fetch->stands_in && strcmp(meta__text(meta, "stands_for"), fetch->series))
		return false;
	return !package || !strcmp(meta__text(package, "version"), fetch->package->version);
}

/* The package holds a compressed archive; tar's list of files shows that it moves on. */
static int unpack(const struct fetch *fetch, const struct staging *staging)
{
	char *archive = NULL, *list = NULL;
	struct captured captured = { 0 };
	struct transfer transfer;
	int err = -ENOMEM;

	if (asprintf(&archive, "%s/usr/src/%s.tar.xz", staging->root, fetch->package->name) < 0)
		archive = NULL;
	if (asprintf(&list, "--index-file=%s/files", staging->work) < 0)
		list = NULL;
	if (archive && list) {
		const char *const argv[] = { "tar", "-xf",	  archive,
					     "-v",  list,	  "--no-same-owner",
					     "-C",  staging->out, "--strip=1",
					     NULL };

		transfer__begin(&transfer, "unpacking, about 1.6 GiB", 0, staging->work);
		err = child__must_run(argv, NULL, "tar", &captured, transfer__tick, &transfer);
		transfer__end(&transfer);
	}
	captured__free(&captured);
	free(archive);
	free(list);
	return err;
}

static int note(const struct fetch *fetch, const struct staging *staging, const char *name)
{
	char *path = NULL;
	json_t *meta = json_pack("{s:s, s:s, s:[{s:s, s:s}], s:I, s:s*}", "schema", SOURCE_SCHEMA,
				 "version", fetch->version, "packages", "name",
				 fetch->package->name, "version", fetch->package->version, "bytes",
				 (json_int_t)fetch->package->size, "stands_for",
				 fetch->stands_in ? fetch->series : NULL);
	int err;

	if (asprintf(&path, "%s/%s.json", staging->parent, name) < 0)
		path = NULL;
	err = meta__write(meta, path);
	free(path);
	return err;
}

static int download_and_install(const struct fetch *fetch, const struct apt *apt)
{
	const struct package *const parts[] = { fetch->package, NULL };
	struct staging staging;
	char name[64];
	int err = staging__open(&staging, "sources");

	if (err)
		return err;
	snprintf(name, sizeof(name), "%s%s", folder_prefix, fetch->version);
	err = staging__fetch(&staging, apt, parts, TREE_SIZE);
	if (!err)
		err = unpack(fetch, &staging);
	if (!err)
		err = staging__install(&staging, staging.out, name);
	if (!err)
		err = note(fetch, &staging, name);
	staging__close(&staging);
	return err;
}

static json_t *fetch_newest(struct fetch *fetch, struct archive *archive, int *err)
{
	json_t *meta;

	fetch->version = source__version(fetch->package, archive->apt.arch);
	if (!fetch->version) {
		*err = diag__fail(ENOMEM, "find the source");
		return NULL;
	}
	meta = find_cached(fetch->version);
	if (meta && is_current(meta, fetch)) {
		diag__error("the source of %s is the newest, and is in the cache", fetch->version);
		return meta;
	}
	json_decref(meta);
	diag__error("fetching the source of %s", fetch->version);
	*err = download_and_install(fetch, &archive->apt);
	return *err ? NULL : find_cached(fetch->version);
}

json_t *source__fetch(const struct arch *arch, const char *series, int *err)
{
	static const struct archive_item item = { "kernel source", source__choose,
						  source__version };
	struct fetch fetch = { .series = series };
	struct archive archive;
	json_t *meta = NULL;

	*err = archive__open(&archive, arch);
	if (*err)
		return NULL;
	fetch.package = archive__find(&archive, &item, series, &fetch.stands_in, err);
	if (fetch.package)
		meta = fetch_newest(&fetch, &archive, err);
	free(fetch.version);
	archive__close(&archive);
	return meta;
}

static int compare_packages(const void *a, const void *b)
{
	return stock__compare((*(const struct package *const *)a)->name,
			      (*(const struct package *const *)b)->name);
}

json_t *source__available(const struct archive *archive)
{
	const struct package **sources = calloc(archive->count + 1, sizeof(*sources));
	json_t *list = json_array();
	size_t count = 0;

	for (size_t i = 0; sources && i < archive->count; i++)
		if (series_of(&archive->packages[i]))
			sources[count++] = &archive->packages[i];
	if (sources)
		qsort(sources, count, sizeof(*sources), compare_packages);
	for (size_t i = 0; i < count; i++) {
		char *version = source__version(sources[i], archive->apt.arch);

		json_array_append_new(list, json_pack("{s:s+, s:s*, s:I}", "name", SOURCE,
						      series_of(sources[i]), "version", version,
						      "bytes", (json_int_t)sources[i]->size));
		free(version);
	}
	free(sources);
	return list;
}
