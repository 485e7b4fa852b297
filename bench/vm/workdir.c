/* SPDX-License-Identifier: GPL-2.0-only */
#include "vm/workdir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/diag.h"

#define PREFIX "tlbvm."
#define LOCK   "lock"

/* A folder without a lock file is one that is just being made, or its maker died doing so. */
#define UNLOCKED_IS_STALE_S 60

static const char *base(void)
{
	static const char *const names[] = { "XDG_RUNTIME_DIR", "TMPDIR" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *path = getenv(names[i]);

		if (path && *path && access(path, W_OK | X_OK) == 0)
			return path;
	}
	return "/tmp";
}

static int remove_one(const char *path, const struct stat *stat, int type, struct FTW *walk)
{
	(void)stat;
	(void)type;
	(void)walk;
	return remove(path);
}

int remove_tree(const char *path)
{
	return nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS) ? -errno : 0;
}

static bool is_stale(int folder)
{
	struct stat stat;
	bool stale;
	int lock;

	if (fstat(folder, &stat) < 0 || stat.st_uid != geteuid())
		return false;
	lock = openat(folder, LOCK, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	if (lock < 0)
		return errno == ENOENT && time(NULL) - stat.st_mtime > UNLOCKED_IS_STALE_S;
	stale = flock(lock, LOCK_EX | LOCK_NB) == 0;
	close(lock);
	return stale;
}

static void remove_stale(const char *parent)
{
	DIR *entries = opendir(parent);
	struct dirent *entry;

	while (entries && (entry = readdir(entries))) {
		char *path;
		int folder;

		if (strncmp(entry->d_name, PREFIX, strlen(PREFIX)))
			continue;
		folder = openat(dirfd(entries), entry->d_name,
				O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
		if (folder < 0)
			continue;
		if (is_stale(folder) && asprintf(&path, "%s/%s", parent, entry->d_name) >= 0) {
			diag__verbose("removing %s, left by a run that was killed", path);
			remove_tree(path);
			free(path);
		}
		close(folder);
	}
	if (entries)
		closedir(entries);
}

int workdir__create(struct workdir *out)
{
	const char *parent = base();
	char *lock = NULL;
	int err = 0;

	*out = (struct workdir){ .lock = -1 };
	remove_stale(parent);
	if (asprintf(&out->path, "%s/" PREFIX "XXXXXX", parent) < 0) {
		out->path = NULL;
		return diag__fail(ENOMEM, "make a folder in %s", parent);
	}
	if (!mkdtemp(out->path)) {
		err = diag__fail(errno, "make a folder in %s", parent);
		free(out->path);
		out->path = NULL;
		return err;
	}
	lock = workdir__path(out, LOCK);
	if (lock)
		out->lock = open(lock, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (out->lock < 0 || flock(out->lock, LOCK_EX | LOCK_NB) < 0) {
		err = diag__fail(errno, "lock %s", out->path);
		workdir__remove(out);
	}
	free(lock);
	return err;
}

char *workdir__path(const struct workdir *workdir, const char *name)
{
	char *path;

	return asprintf(&path, "%s/%s", workdir->path, name) < 0 ? NULL : path;
}

void workdir__remove(struct workdir *workdir)
{
	if (workdir->path)
		remove_tree(workdir->path);
	if (workdir->lock >= 0)
		close(workdir->lock);
	free(workdir->path);
	*workdir = (struct workdir){ .lock = -1 };
}
