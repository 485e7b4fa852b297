/* SPDX-License-Identifier: GPL-2.0-only */
#include "vm/sysroot.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "common/diag.h"
#include "vm/archive.h"
#include "vm/cache.h"
#include "vm/sources.h"

#define SYSROOT_SCHEMA "tlbvm-sysroot/1"
#define FALLBACK_SUITE "bookworm"

/* As DEPS_BUILD in the Makefile; libc comes with the cross compiler. */
static const char *const names[] = { "libbpf-dev",     "libelf-dev", "libjansson-dev",
				     "libseccomp-dev", "zlib1g-dev", "busybox-static" };

#define COUNT (sizeof(names) / sizeof(names[0]))

/* All of them, of arm64 in Debian 12: 2.2 MB to download, 5 MB unpacked. */
#define DOWNLOAD_SIZE (3 << 20)
#define UNPACKED_SIZE (16 << 20)

static json_t *wanted(void)
{
	json_t *list = json_array();

	for (size_t i = 0; i < COUNT; i++)
		json_array_append_new(list, json_string(names[i]));
	return list;
}

/* A folder of another version of this program may hold other packages. */
static bool is_cached(const char *folder)
{
	char *path = path_join(folder, "meta.json");
	json_t *meta = path ? json_load_file(path, 0, NULL) : NULL, *packages = wanted();
	bool same = !strcmp(meta__text(meta, "schema"), SYSROOT_SCHEMA) &&
		    json_equal(json_object_get(meta, "packages"), packages);

	json_decref(packages);
	json_decref(meta);
	free(path);
	return same;
}

/* apt's name for a package of one suite: "libelf-dev/bookworm". */
static int download(struct staging *staging, const struct apt *apt, const char *suite)
{
	struct package packages[COUNT];
	const struct package *parts[COUNT + 1] = { NULL };
	char full[COUNT][64];

	for (size_t i = 0; i < COUNT; i++) {
		snprintf(full[i], sizeof(full[i]), "%s/%s", names[i], suite);
		packages[i] = (struct package){ .name = full[i], .size = DOWNLOAD_SIZE / COUNT };
		parts[i] = &packages[i];
	}
	return staging__fetch(staging, apt, parts, UNPACKED_SIZE);
}

static int fetch(struct archive *archive, const char *suite, const char *name)
{
	struct staging staging;
	char *meta = NULL;
	int err = apt__update(&archive->apt, false);

	if (err)
		return err;
	err = staging__open(&staging, "sysroots");
	if (err)
		return err;
	diag__error("fetching libraries and busybox of %s for %s", suite, archive->apt.arch->name);
	err = download(&staging, &archive->apt, suite);
	meta = path_join(staging.root, "meta.json");
	if (!err)
		err = meta__write(
			json_pack("{s:s, s:o}", "schema", SYSROOT_SCHEMA, "packages", wanted()),
			meta);
	if (!err)
		err = staging__install(&staging, staging.root, name);
	free(meta);
	staging__close(&staging);
	return err;
}

char *sysroot__find(const struct arch *arch, int *err)
{
	char *codename = mirrors__codename(), *folder;
	const char *suite = codename ? codename : FALLBACK_SUITE;
	struct archive archive;
	char name[96];

	snprintf(name, sizeof(name), "sysroots/%s-%s", suite, arch->debian);
	folder = cache__path(name);
	*err = folder ? 0 : -EIO;
	if (folder && !is_cached(folder)) {
		*err = archive__open(&archive, arch);
		/* Another tlbvm may have fetched it while this one waited for the lock. */
		if (!*err && !is_cached(folder))
			*err = fetch(&archive, suite, strchr(name, '/') + 1);
		if (archive.lock >= 0)
			archive__close(&archive);
	}
	if (*err) {
		free(folder);
		folder = NULL;
	}
	free(codename);
	return folder;
}

char *sysroot__busybox(const char *sysroot)
{
	/* Since Debian 13, packages no longer have files in /bin. */
	static const char *const places[] = { "bin/busybox", "usr/bin/busybox" };

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		char *path = path_join(sysroot, places[i]);

		if (path && access(path, R_OK) == 0)
			return path;
		free(path);
	}
	diag__error("find busybox in %s: it is neither in bin nor in usr/bin", sysroot);
	diag__hint("remove that folder, and it is fetched anew");
	return NULL;
}
