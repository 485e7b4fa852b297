/* SPDX-License-Identifier: GPL-2.0-only */
#include "vm/kernels.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/diag.h"
#include "common/file.h"
#include "vm/apt.h"
#include "vm/cache.h"
#include "vm/child.h"
#include "vm/stock.h"
#include "vm/workdir.h"

#define STOCK "stock:"

/* Lists younger than this are taken as they are when kernels are only listed. */
#define LISTS_FRESH_S 86400.0

static char *join(const char *a, const char *b, const char *c)
{
	char *path;

	return asprintf(&path, "%s/%s%s", a, b, c) < 0 ? NULL : path;
}

static const char *text_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

/* ---- the cache ---- */

static json_t *read_meta(const char *kernels, const char *name)
{
	char *folder = join(kernels, name, ""),
	     *path = folder ? join(folder, "meta.json", "") : NULL;
	json_t *meta = path ? json_load_file(path, 0, NULL) : NULL;

	if (meta && strcmp(text_of(meta, "schema"), KERNEL_SCHEMA)) {
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
		const char *version = text_of(meta, "version");
		bool real = stock__in_series(version, series);

		if (strcmp(text_of(meta, "origin"), "stock") ||
		    strcmp(text_of(meta, "arch"), arch->name) ||
		    (!real && strcmp(text_of(meta, "stands_for"), series)))
			continue;
		if (!best || real > best_is_real ||
		    (real == best_is_real &&
		     stock__compare(version, text_of(best, "version")) > 0)) {
			best = meta;
			best_is_real = real;
		}
	}
	json_incref(best);
	json_decref(list);
	return best;
}

/* ---- from the archive to the cache ---- */

/* One kernel's way from packages to a folder of the cache. */
struct fetch {
	const struct arch *arch;
	const char *series;
	const char *version;
	const struct package *part[4]; /* the packages to download, ended by NULL */
	char *kernels;		       /* the cache's folder of kernels */
	char *work;		       /* a folder inside, for all that is unfinished */
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

static uint64_t download_size(const struct fetch *fetch)
{
	uint64_t sum = 0;

	for (size_t i = 0; fetch->part[i]; i++)
		sum += fetch->part[i]->size;
	return sum;
}

/* Moves the first of @from that exists to @to. */
static int move_first(const char *root, const char *const *from, const char *to)
{
	int err = -ENOENT;

	for (; *from && err == -ENOENT; from++) {
		char *path = join(root, *from, "");

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
		char from[2][512], *to = join(out, items[i].to, "");

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

static int write_meta(const struct fetch *fetch, const char *out)
{
	char when[32], *path = join(out, "meta.json", ""), *text = NULL;
	json_t *packages = json_array(), *meta;
	time_t now = time(NULL);
	struct tm utc;
	int err;

	gmtime_r(&now, &utc);
	strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%SZ", &utc);
	for (size_t i = 0; fetch->part[i]; i++)
		json_array_append_new(packages,
				      json_pack("{s:s, s:s}", "name", fetch->part[i]->name,
						"version", fetch->part[i]->version));
	meta = json_pack("{s:s, s:s, s:s, s:s, s:o, s:I, s:s, s:s*}", "schema", KERNEL_SCHEMA,
			 "version", fetch->version, "arch", fetch->arch->name, "origin", "stock",
			 "packages", packages, "bytes", (json_int_t)download_size(fetch), "fetched",
			 when, "stands_for", fetch->stands_in ? fetch->series : NULL);
	text = meta ? json_dumps(meta, JSON_INDENT(2)) : NULL;
	err = path && text ? file__replace(path, text, strlen(text))
			   : diag__fail(ENOMEM, "describe the kernel");
	json_decref(meta);
	free(text);
	free(path);
	return err;
}

static int unpack(const struct fetch *fetch, const char *debs, const char *root)
{
	DIR *entries = opendir(debs);
	struct dirent *entry;
	size_t unpacked = 0, wanted = 0;
	int err = 0;

	while (!err && entries && (entry = readdir(entries))) {
		struct captured captured;
		char *deb;

		if (!strstr(entry->d_name, ".deb"))
			continue;
		deb = join(debs, entry->d_name, "");
		err = deb ? child__must_run(
				    (const char *const[]){ "dpkg-deb", "-x", deb, root, NULL },
				    NULL, "dpkg", &captured, NULL, NULL)
			  : -ENOMEM;
		captured__free(&captured);
		free(deb);
		unpacked++;
	}
	if (entries)
		closedir(entries);
	while (fetch->part[wanted])
		wanted++;
	if (!err && unpacked != wanted)
		return diag__fail(0, "unpack %s: %zu packages were downloaded, %zu expected",
				  fetch->version, unpacked, wanted);
	return err;
}

static int install(const struct fetch *fetch, const char *out)
{
	char name[256], *final = NULL, *old = NULL;
	int err = 0;

	snprintf(name, sizeof(name), "stock-%s", fetch->version);
	final = join(fetch->kernels, name, "");
	old = join(fetch->work, "old", "");
	if (!final || !old)
		err = -ENOMEM;
	else if (rename(final, old) < 0 && errno != ENOENT)
		err = -errno;
	else if (rename(out, final) < 0)
		err = -errno;
	if (err)
		diag__fail(-err, "move the kernel to %s", final ? final : name);
	free(final);
	free(old);
	return err;
}

static int make_work(struct fetch *fetch, char **debs, char **root, char **out)
{
	char *modules;
	int err = 0;

	fetch->kernels = cache__path("kernels");
	fetch->work = fetch->kernels ? join(fetch->kernels, ".fetch", "") : NULL;
	if (!fetch->work)
		return -ENOMEM;
	/* What a killed fetch left; the lock is held. */
	remove_tree(fetch->work);
	*debs = join(fetch->work, "debs", "");
	*root = join(fetch->work, "root", "");
	*out = join(fetch->work, "out", "");
	modules = *out ? join(*out, "modules", "") : NULL;
	if (!*debs || !*root || !modules)
		err = -ENOMEM;
	if (!err)
		err = file__make_dirs(*debs);
	if (!err)
		err = file__make_dirs(*root);
	if (!err)
		err = file__make_dirs(modules);
	if (err)
		diag__fail(-err, "make folders in %s", fetch->work);
	free(modules);
	return err;
}

static int download_and_install(struct fetch *fetch, const struct apt *apt)
{
	const char *names[4] = { NULL };
	char *debs = NULL, *root = NULL, *out = NULL;
	/* The packages and what is in them, which is about as large. */
	int err = cache__need(2 * download_size(fetch) + (20 << 20));

	if (!err)
		err = make_work(fetch, &debs, &root, &out);

	for (size_t i = 0; fetch->part[i]; i++)
		names[i] = fetch->part[i]->name;
	if (!err)
		err = apt__download(apt, names, download_size(fetch), debs);
	if (!err)
		err = unpack(fetch, debs, root);
	if (!err)
		err = pick(fetch, root, out);
	if (!err)
		err = write_meta(fetch, out);
	if (!err)
		err = install(fetch, out);
	if (fetch->work)
		remove_tree(fetch->work);
	free(debs);
	free(root);
	free(out);
	free(fetch->kernels);
	free(fetch->work);
	return err;
}

/* The package list, and the image in it that is wanted: first without, then with unstable. */
static const struct package *look_up(struct fetch *fetch, struct apt *apt,
				     struct package **packages, size_t *count, int *err)
{
	const struct package *found = NULL;
	char major[16];

	for (int sid = 0; sid < 2 && !found && !apt->stale; sid++) {
		packages__free(*packages, *count);
		*packages = NULL;
		*count = 0;
		*err = apt__update(apt, sid);
		if (!*err)
			*err = apt__packages(apt, packages, count);
		if (*err)
			return NULL;
		found = stock__choose(*packages, *count, fetch->arch, fetch->series);
	}
	if (found)
		return found;
	if (apt->stale) {
		*err = -EIO;
		diag__error("find a %s kernel: not all package lists could be read, and there is "
			    "none in the others",
			    fetch->series);
		diag__hint("is there a network? kernels in the cache need none: tlbvm kernels");
		return NULL;
	}
	snprintf(major, sizeof(major), "%.*s", (int)strcspn(fetch->series, "."), fetch->series);
	found = stock__choose(*packages, *count, fetch->arch, major);
	if (!found) {
		*err = -ENOENT;
		diag__error("find a %s kernel: the archive's suites have none", fetch->series);
		diag__hint("tlbvm kernels lists what can be had");
		return NULL;
	}
	fetch->stands_in = true;
	diag__warn("the archive has no %s kernel: taking %s", fetch->series,
		   stock__version(found->name, fetch->arch));
	return found;
}

/* True if exactly these packages were unpacked before. */
static bool is_cached(const struct fetch *fetch)
{
	json_t *list = kernels__cached(), *meta;
	bool same = false;
	size_t i;

	json_array_foreach (list, i, meta) {
		const json_t *package = json_array_get(json_object_get(meta, "packages"), 0);

		if (!strcmp(text_of(package, "name"), fetch->part[0]->name) &&
		    !strcmp(text_of(package, "version"), fetch->part[0]->version) &&
		    (!fetch->stands_in || !strcmp(text_of(meta, "stands_for"), fetch->series)))
			same = true;
	}
	json_decref(list);
	return same;
}

static int fetch_locked(const struct arch *arch, const char *series)
{
	struct fetch fetch = { .arch = arch, .series = series };
	struct package *packages = NULL;
	const struct package *found;
	size_t count = 0;
	struct apt apt;
	int err = apt__open(&apt, arch);

	if (err)
		return err;
	found = look_up(&fetch, &apt, &packages, &count, &err);
	if (found) {
		choose_parts(&fetch, packages, count, found);
		if (is_cached(&fetch)) {
			diag__error("%s is the newest, and is in the cache", fetch.version);
		} else {
			diag__error("fetching %s", fetch.version);
			err = download_and_install(&fetch, &apt);
		}
	}
	packages__free(packages, count);
	apt__close(&apt);
	return err;
}

/* With @refresh unset, a kernel that another tlbvm fetched while we waited for it is enough. */
static json_t *fetch(const struct arch *arch, const char *series, bool refresh, int *err)
{
	json_t *meta = NULL;
	int lock = cache__lock("kernels.lock");

	*err = lock < 0 ? lock : 0;
	if (!*err && !refresh)
		meta = find_cached(arch, series);
	if (!*err && !meta) {
		*err = fetch_locked(arch, series);
		if (!*err)
			meta = find_cached(arch, series);
		if (!*err && !meta)
			*err = diag__fail(ENOENT, "find %s%s in the cache", STOCK, series);
	}
	if (lock >= 0)
		close(lock);
	return meta;
}

json_t *kernels__fetch(const struct arch *arch, const char *series, int *err)
{
	return fetch(arch, series, true, err);
}

/* ---- what there is ---- */

/* "7.3" of "7.3.4+deb13-cloud-amd64". */
static void series_of(const char *version, char *out, size_t size)
{
	const char *end = strchr(strchr(version, '.') + 1, '.');

	snprintf(out, size, "%.*s", (int)(end - version), version);
}

static void add_series(json_t *newest, const char *series, const struct arch *arch,
		       const struct package *packages, size_t count)
{
	const struct package *image = stock__choose(packages, count, arch, series);
	struct fetch fetch = { .arch = arch };

	if (!image || json_object_get(newest, series))
		return;
	choose_parts(&fetch, packages, count, image);
	json_object_set_new(newest, series,
			    json_pack("{s:s+, s:s, s:s, s:I}", "name", STOCK, series, "version",
				      fetch.version, "arch", arch->name, "bytes",
				      (json_int_t)download_size(&fetch)));
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

json_t *kernels__available(const struct arch *arch)
{
	struct package *packages = NULL;
	json_t *newest = json_object(), *list = NULL;
	size_t count = 0;
	struct apt apt;
	int lock = cache__lock("kernels.lock"), err = lock < 0 ? lock : apt__open(&apt, arch);

	if (!err && apt__age(&apt) > LISTS_FRESH_S)
		err = apt__update(&apt, false);
	if (!err)
		err = apt__packages(&apt, &packages, &count);
	for (size_t i = 0; i < count; i++) {
		const char *version = stock__version(packages[i].name, arch);
		char series[32];

		if (!version)
			continue;
		series_of(version, series, sizeof(series));
		add_series(newest, series, arch, packages, count);
	}
	if (!err && (count || !apt.stale))
		list = sorted_values(newest);
	packages__free(packages, count);
	if (lock >= 0) {
		apt__close(&apt);
		close(lock);
	}
	json_decref(newest);
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
	} else if (!stock__in_series(text_of(meta, "version"), series)) {
		diag__warn(STOCK "%s: the archive had no such kernel; using %s", series,
			   text_of(meta, "version"));
	}
	out->version = copy_of(text_of(meta, "version"));
	out->image = join(text_of(meta, "path"), "vmlinuz", "");
	modules = join(text_of(meta, "path"), "modules", "");
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
		char *modules = join(path, "modules", "");

		out->image = join(path, "vmlinuz", "");
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
