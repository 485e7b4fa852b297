/* SPDX-License-Identifier: GPL-2.0-only */
#include "vm/kernels.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/diag.h"
#include "vm/archive.h"
#include "vm/cache.h"
#include "vm/source.h"
#include "vm/stock.h"
#include "vm/stock_fetch.h"

/* ---- the cache ---- */

static json_t *read_meta(const char *kernels, const char *name)
{
	char *folder = path_join(kernels, name),
	     *path = folder ? path_join(folder, "meta.json") : NULL;
	json_t *meta = path ? json_load_file(path, 0, NULL) : NULL;

	if (meta && strcmp(meta__text(meta, "schema"), KERNEL_SCHEMA)) {
		json_decref(meta);
		meta = NULL;
	}
	if (meta) {
		json_object_set_new(meta, "name", json_string(name));
		json_object_set_new(meta, "path", json_string(folder));
	}
	free(folder);
	free(path);
	return meta;
}

json_t *kernels__cached(void)
{
	char *kernels = cache__path("kernels");
	json_t *list = json_array();
	struct dirent **entries;
	int count;

	count = kernels ? scandir(kernels, &entries, NULL, versionsort) : -1;
	for (int i = 0; i < count; i++) {
		json_t *meta = entries[i]->d_name[0] == '.'
				       ? NULL
				       : read_meta(kernels, entries[i]->d_name);

		if (meta)
			json_array_append_new(list, meta);
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
	free(kernels);
	return list;
}

/* The newest cached stock kernel of the series, or one that was taken in its place. */
static json_t *find_cached(const struct arch *arch, const char *series)
{
	json_t *list = kernels__cached(), *meta, *best = NULL;
	bool best_is_real = false;
	size_t i;

	json_array_foreach (list, i, meta) {
		const char *version = meta__text(meta, "version");
		bool real = stock__in_series(version, series);

		if (strcmp(meta__text(meta, "origin"), "stock") ||
		    strcmp(meta__text(meta, "arch"), arch->name) ||
		    (!real && strcmp(meta__text(meta, "stands_for"), series)))
			continue;
		if (!best || real > best_is_real ||
		    (real == best_is_real &&
		     stock__compare(version, meta__text(best, "version")) > 0)) {
			best = meta;
			best_is_real = real;
		}
	}
	json_incref(best);
	json_decref(list);
	return best;
}

/* ---- from the archive ---- */

/* With @refresh unset, a kernel that another tlbvm fetched while we waited for it is enough. */
static json_t *fetch(const struct arch *arch, const char *series, bool refresh, int *err)
{
	struct archive archive;
	json_t *meta = NULL;

	*err = archive__open(&archive, arch);
	if (*err)
		return NULL;
	if (!refresh)
		meta = find_cached(arch, series);
	if (!meta) {
		*err = stock__fetch(&archive, series);
		if (!*err)
			meta = find_cached(arch, series);
		if (!*err && !meta)
			*err = diag__fail(ENOENT, "find %s%s in the cache", STOCK, series);
	}
	archive__close(&archive);
	return meta;
}

json_t *kernels__fetch(const struct arch *arch, const char *series, int *err)
{
	return fetch(arch, series, true, err);
}

json_t *kernels__available(const struct arch *arch)
{
	struct archive archive;
	json_t *list = NULL, *sources;

	if (archive__open(&archive, arch))
		return NULL;
	if (!archive__read(&archive) && (archive.count || !archive.apt.stale)) {
		list = stock__available(&archive);
		sources = source__available(&archive);
		json_array_extend(list, sources);
		json_decref(sources);
	}
	archive__close(&archive);
	return list;
}

/* ---- what a name means ---- */

static char *copy_of(const char *text)
{
	return *text ? strdup(text) : NULL;
}

static int find_stock(struct kernel *out, const struct arch *arch, const char *series)
{
	json_t *meta;
	char *modules;
	int err = 0;

	if (!stock__is_series(series)) {
		diag__error("kernel \"" STOCK "%s\": expected " STOCK "X.Y, for example " STOCK
			    "7.3, or a path",
			    series);
		return -EINVAL;
	}
	meta = find_cached(arch, series);
	if (!meta) {
		meta = fetch(arch, series, false, &err);
		if (!meta)
			return err;
	} else if (!stock__in_series(meta__text(meta, "version"), series)) {
		diag__warn(STOCK "%s: the archive had no such kernel; using %s", series,
			   meta__text(meta, "version"));
	}
	out->version = copy_of(meta__text(meta, "version"));
	out->image = path_join(meta__text(meta, "path"), "vmlinuz");
	modules = path_join(meta__text(meta, "path"), "modules");
	if (modules && access(modules, F_OK) == 0) {
		out->modules = modules;
		modules = NULL;
	}
	free(modules);
	json_decref(meta);
	return out->image ? 0 : diag__fail(ENOMEM, "find the kernel");
}

/*
 * The version in an x86 image: its setup header points to a string
 * (Documentation/arch/x86/boot.rst, kernel_version at 0x20e, counted from 0x200). NULL for other
 * files.
 */
static char *image_version(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	uint8_t header[16], text[128];
	char *version = NULL;

	if (fd < 0)
		return NULL;
	if (pread(fd, header, sizeof(header), 0x202) == sizeof(header) &&
	    !memcmp(header, "HdrS", 4)) {
		off_t at = 0x200 + (header[0xc] | header[0xd] << 8);

		if (pread(fd, text, sizeof(text), at) == sizeof(text) &&
		    memchr(text, ' ', sizeof(text)))
			version = strndup((char *)text, strcspn((char *)text, " "));
	}
	close(fd);
	return version;
}

static int find_path(struct kernel *out, const char *path)
{
	struct stat stat_buf;

	if (stat(path, &stat_buf) < 0) {
		diag__fail(errno, "open the kernel %s", path);
		diag__hint("--kernel takes " STOCK "X.Y, an image, or a folder with vmlinuz and "
			   "modules");
		return -EINVAL;
	}
	if (!S_ISDIR(stat_buf.st_mode)) {
		out->image = strdup(path);
	} else {
		char *modules = path_join(path, "modules");

		out->image = path_join(path, "vmlinuz");
		if (out->image && access(out->image, R_OK) < 0) {
			free(modules);
			diag__fail(errno, "open the kernel %s", out->image);
			return -EINVAL;
		}
		if (modules && access(modules, F_OK) == 0)
			out->modules = modules;
		else
			free(modules);
	}
	if (!out->image)
		return diag__fail(ENOMEM, "find the kernel");
	out->version = image_version(out->image);
	return 0;
}

int kernel__find(struct kernel *out, const struct arch *arch, const char *name, const char *modules)
{
	int err;

	memset(out, 0, sizeof(*out));
	if (!strncmp(name, STOCK, strlen(STOCK)))
		err = find_stock(out, arch, name + strlen(STOCK));
	else
		err = find_path(out, name);
	if (!err && modules) {
		free(out->modules);
		out->modules = strdup(modules);
		if (access(modules, R_OK) < 0) {
			diag__fail(errno, "read the modules in %s", modules);
			err = -EINVAL;
		}
	}
	if (!err) {
		out->name = strdup(name);
		if (!out->name)
			err = diag__fail(ENOMEM, "find the kernel");
	}
	if (err)
		kernel__free(out);
	else
		diag__verbose("kernel: %s (%s)", out->image,
			      out->version ? out->version : "version unknown");
	return err;
}

void kernel__free(struct kernel *kernel)
{
	free(kernel->name);
	free(kernel->version);
	free(kernel->image);
	free(kernel->modules);
	memset(kernel, 0, sizeof(*kernel));
}
