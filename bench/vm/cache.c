/* SPDX-License-Identifier: GPL-2.0-only */
#include "vm/cache.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "common/diag.h"
#include "common/file.h"
#include "common/stop.h"

static char *root(void)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	struct passwd *user;
	char *path = NULL;
	int length;

	/* The XDG specification: a relative path is to be ignored. */
	if (cache && *cache == '/') {
		length = asprintf(&path, "%s/tlbstat", cache);
		return length < 0 ? NULL : path;
	}
	if (!home || *home != '/') {
		user = getpwuid(geteuid());
		home = user ? user->pw_dir : NULL;
	}
	if (!home) {
		diag__error("no folder for the cache: neither XDG_CACHE_HOME nor HOME is set");
		return NULL;
	}
	length = asprintf(&path, "%s/.cache/tlbstat", home);
	return length < 0 ? NULL : path;
}

char *cache__path(const char *name)
{
	char *base = root(), *path = NULL, *copy;
	int err;

	if (!base)
		return NULL;
	if (asprintf(&path, "%s/%s", base, name) < 0)
		path = NULL;
	free(base);
	copy = path ? strdup(path) : NULL;
	if (!copy) {
		diag__fail(ENOMEM, "find the cache");
		free(path);
		return NULL;
	}
	err = file__make_dirs(dirname(copy));
	if (err) {
		diag__fail(-err, "make the folder %s", copy);
		diag__hint("set XDG_CACHE_HOME to a folder that can be written to");
		free(path);
		path = NULL;
	}
	free(copy);
	return path;
}

int cache__need(uint64_t bytes)
{
	char *path = cache__path("");
	uint64_t available;
	struct statvfs fs;
	int err = 0;

	if (!path)
		return -EIO;
	if (statvfs(path, &fs) < 0) {
		err = diag__fail(errno, "look at the file system of %s", path);
		goto out;
	}
	available = (uint64_t)fs.f_bavail * fs.f_frsize;
	if (available < bytes) {
		err = diag__fail(ENOSPC, "use %s: %llu MiB are free there, %llu are needed", path,
				 (unsigned long long)(available >> 20),
				 (unsigned long long)(bytes >> 20));
		diag__hint("free some space, or set XDG_CACHE_HOME to another place");
	}
out:
	free(path);
	return err;
}

int cache__lock(const char *name)
{
	char *path = cache__path(name);
	bool told = false;
	int fd;

	if (!path)
		return -EIO;
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	if (fd < 0) {
		fd = diag__fail(errno, "open %s", path);
		goto out;
	}
	while (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		if (errno != EWOULDBLOCK || stop__asked()) {
			int err = stop__asked() ? -EINTR : diag__fail(errno, "lock %s", path);

			close(fd);
			fd = err;
			break;
		}
		if (!told)
			diag__error("waiting for another tlbvm that holds %s", path);
		told = true;
		stop__sleep_until(stop__now_ns() + 200000000);
	}
out:
	free(path);
	return fd;
}
