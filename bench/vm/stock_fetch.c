/* SPDX-License-Identifier: GPL-2.0-only */
#include "vm/stock_fetch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/diag.h"
#include "common/file.h"
#include "vm/archive.h"
#include "vm/kernels.h"
#include "vm/source.h"
#include "vm/stock.h"

/* One kernel's way from packages to a folder of the cache. */
struct fetch {
	const struct arch *arch;
	const char *series;
	const char *version;
	const struct package *part[4]; /* the packages to download, ended by NULL */
	bool stands_in;		       /* the series was gone */
};

static void choose_parts(struct fetch *fetch, const struct package *packages, size_t count,
			 const struct package *image)
{
	static const char *const others[] = { STOCK_MODULES, STOCK_BASE };
	size_t used = 0;

	fetch->version = stock__version(image->name, fetch->arch);
	fetch->part[used++] = image;
	for (size_t i = 0; stock__is_split(image) && i < 2; i++) {
		fetch->part[used] = stock__part(packages, count, others[i], fetch->version);
		used += fetch->part[used] != NULL;
	}
}

/* Moves the first of @from that exists to @to. */
static int move_first(const char *root, const char *const *from, const char *to)
{
	int err = -ENOENT;

	for (; *from && err == -ENOENT; from++) {
		char *path = path_join(root, *from);

		err = path && rename(path, to) == 0 ? 0 : -errno;
		free(path);
	}
	return err;
}

/*
 * Takes what a guest needs out of the unpacked packages. Up to 6.12 the image is in /boot, from 7.0
 * on beside the modules; /lib became /usr/lib on the way.
 */
static int pick(const struct fetch *fetch, const char *root, const char *out)
{
	static const struct {
		const char *to;
		bool needed;
		const char *from[4]; /* %s is the version */
	} items[] = {
		{ "vmlinuz", true, { "usr/lib/modules/%s/vmlinuz", "boot/vmlinuz-%s" } },
		{ "modules/kernel",
		  true,
		  { "usr/lib/modules/%s/kernel", "lib/modules/%s/kernel" } },
		{ "modules/modules.builtin",
		  false,
		  { "usr/lib/modules/%s/modules.builtin", "lib/modules/%s/modules.builtin" } },
		{ "config", false, { "usr/lib/modules/%s/config", "boot/config-%s" } },
	};
	int err = 0;

	for (size_t i = 0; i < sizeof(items) / sizeof(items[0]) && !err; i++) {
		char from[2][512], *to = path_join(out, items[i].to);

		for (int j = 0; j < 2; j++)
			snprintf(from[j], sizeof(from[j]), items[i].from[j], fetch->version);
		err = to ? move_first(root, (const char *const[]){ from[0], from[1], NULL }, to)
			 : -ENOMEM;
		if (err == -ENOENT && !items[i].needed)
			err = 0;
		if (err)
			diag__fail(-err, "find %s in the packages of %s", items[i].to,
				   fetch->version);
		free(to);
	}
	return err;
}

static json_t *describe(const struct fetch *fetch)
{
	json_t *packages = json_array();

	for (size_t i = 0; fetch->part[i]; i++)
		json_array_append_new(packages,
				      json_pack("{s:s, s:s}", "name", fetch->part[i]->name,
						"version", fetch->part[i]->version));
	return json_pack("{s:s, s:s, s:s, s:s, s:o, s:I, s:s*}", "schema", KERNEL_SCHEMA, "version",
			 fetch->version, "arch", fetch->arch->name, "origin", "stock", "packages",
			 packages, "bytes", (json_int_t)parts__size(fetch->part), "stands_for",
			 fetch->stands_in ? fetch->series : NULL);
}

static int put_together(const struct fetch *fetch, const struct staging *staging)
{
	char *modules = path_join(staging->out, "modules"),
	     *meta = path_join(staging->out, "meta.json");
	int err = modules && meta ? file__make_dirs(modules) : -ENOMEM;

	if (err)
		diag__fail(-err, "make folders in %s", staging->out);
	else
		err = pick(fetch, staging->root, staging->out);
	if (!err)
		err = meta__write(describe(fetch), meta);
	free(modules);
	free(meta);
	return err;
}

static int download_and_install(const struct fetch *fetch, const struct apt *apt)
{
	struct staging staging;
	char name[256];
	int err = staging__open(&staging, "kernels");

	if (err)
		return err;
	snprintf(name, sizeof(name), "stock-%s", fetch->version);
	err = staging__fetch(&staging, apt, fetch->part, 20 << 20);
	if (!err)
		err = put_together(fetch, &staging);
	if (!err)
		err = staging__install(&staging, staging.out, name);
	staging__close(&staging);
	return err;
}

/* True if exactly these packages were unpacked before. */
static bool is_cached(const struct fetch *fetch)
{
	json_t *list = kernels__cached(), *meta;
	bool same = false;
	size_t i;

	json_array_foreach (list, i, meta) {
		const json_t *package = json_array_get(json_object_get(meta, "packages"), 0);

		if (!strcmp(meta__text(package, "name"), fetch->part[0]->name) &&
		    !strcmp(meta__text(package, "version"), fetch->part[0]->version) &&
		    (!fetch->stands_in || !strcmp(meta__text(meta, "stands_for"), fetch->series)))
			same = true;
	}
	json_decref(list);
	return same;
}

static char *version_of(const struct package *package, const struct arch *arch)
{
	const char *version = stock__version(package->name, arch);

	return version ? strdup(version) : NULL;
}

int stock__fetch(struct archive *archive, const char *series)
{
	static const struct archive_item item = { "kernel", stock__choose, version_of };
	struct fetch fetch = { .arch = archive->apt.arch, .series = series };
	int err;
	const struct package *found = archive__find(archive, &item, series, &fetch.stands_in, &err);

	if (!found)
		return err;
	choose_parts(&fetch, archive->packages, archive->count, found);
	if (is_cached(&fetch)) {
		diag__error("%s is the newest, and is in the cache", fetch.version);
		return 0;
	}
	diag__error("fetching %s", fetch.version);
	return download_and_install(&fetch, &archive->apt);
}

/* "7.3" of "7.3.4+deb13-cloud-amd64". */
static void series_of(const char *version, char *out, size_t size)
{
	const char *end = strchr(strchr(version, '.') + 1, '.');

	snprintf(out, size, "%.*s", (int)(end - version), version);
}

static void add_series(json_t *newest, const char *series, const struct archive *archive)
{
	const struct arch *arch = archive->apt.arch;
	const struct package *image =
		stock__choose(archive->packages, archive->count, arch, series);
	struct fetch fetch = { .arch = arch };

	if (!image || json_object_get(newest, series))
		return;
	choose_parts(&fetch, archive->packages, archive->count, image);
	json_object_set_new(newest, series,
			    json_pack("{s:s+, s:s, s:s, s:I}", "name", STOCK, series, "version",
				      fetch.version, "arch", arch->name, "bytes",
				      (json_int_t)parts__size(fetch.part)));
}

static int compare_series(const void *a, const void *b)
{
	return stock__compare(*(const char *const *)a, *(const char *const *)b);
}

static json_t *sorted_values(json_t *newest)
{
	size_t count = json_object_size(newest), used = 0;
	const char **keys = calloc(count + 1, sizeof(*keys)), *key;
	json_t *list = json_array(), *value;

	json_object_foreach (newest, key, value)
		if (keys)
			keys[used++] = key;
	if (keys)
		qsort(keys, used, sizeof(*keys), compare_series);
	for (size_t i = 0; i < used; i++)
		json_array_append(list, json_object_get(newest, keys[i]));
	free(keys);
	return list;
}

json_t *stock__available(const struct archive *archive)
{
	json_t *newest = json_object(), *list;

	for (size_t i = 0; i < archive->count; i++) {
		const char *version = stock__version(archive->packages[i].name, archive->apt.arch);
		char series[32];

		if (!version)
			continue;
		series_of(version, series, sizeof(series));
		add_series(newest, series, archive);
	}
	list = sorted_values(newest);
	json_decref(newest);
	return list;
}
