/* SPDX-License-Identifier: GPL-2.0-only */
#include "textfile.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/diag.h"
#include "common/file.h"

/* One name always: what a kill left is written over next time. The lock makes it ours. */
#define TEMP_NAME "." TEXTFILE_NAME ".tmp"

/* Opens and locks; prints nothing. */
static int take_folder(struct textfile *file)
{
	int err;

	file->fd = open(file->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (file->fd < 0)
		return -errno;
	if (flock(file->fd, LOCK_EX | LOCK_NB) == 0)
		return 0;
	err = -errno;
	close(file->fd);
	file->fd = -1;
	return err;
}

static void explain(const struct textfile *file, int err)
{
	if (err == -EWOULDBLOCK) {
		diag__error("another tlbstat daemon writes to %s", file->folder);
		diag__hint("stop it first (systemctl stop tlbstat), or give this one a folder of "
			   "its own");
		return;
	}
	diag__fail(-err, "write %s/" TEXTFILE_NAME, file->folder);
	if (err == -ENOSPC || err == -EDQUOT)
		diag__hint("free some space; counting goes on, and it is tried again");
	else if (err == -ENOENT)
		diag__hint("make the folder that node_exporter reads: mkdir -p %s", file->folder);
	else if (err == -EACCES || err == -EROFS)
		diag__hint("the folder must belong to root: tlbstat keeps no right to write to "
			   "those of others");
}

int textfile__open(struct textfile *file, const char *folder)
{
	int err;

	memset(file, 0, sizeof(*file));
	file->folder = folder;
	err = take_folder(file);
	if (err)
		explain(file, err);
	return err;
}

/* The folder may have been removed, and another one made under its name. */
static int follow_folder(struct textfile *file)
{
	struct stat ours, named;

	if (stat(file->folder, &named))
		return -errno;
	if (file->fd >= 0) {
		if (fstat(file->fd, &ours) == 0 && ours.st_dev == named.st_dev &&
		    ours.st_ino == named.st_ino)
			return 0;
		close(file->fd);
	}
	return take_folder(file);
}

static int replace(struct textfile *file, const char *text, size_t len)
{
	int fd, err = follow_folder(file);

	if (err)
		return err;
	fd = openat(file->fd, TEMP_NAME, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC,
		    0644);
	if (fd < 0)
		return -errno;
	err = file__fill(fd, text, len);
	if (!err && renameat(file->fd, TEMP_NAME, file->fd, TEXTFILE_NAME))
		err = -errno;
	if (err)
		unlinkat(file->fd, TEMP_NAME, 0);
	return err;
}

int textfile__write(struct textfile *file, const char *text, size_t len)
{
	int err = replace(file, text, len);

	if (err) {
		file->failures++;
		if (!file->failing)
			explain(file, err);
	} else if (file->failing) {
		diag__error("writing %s/" TEXTFILE_NAME " again", file->folder);
	}
	file->failing = err != 0;
	return err;
}

void textfile__close(struct textfile *file)
{
	if (file->fd < 0)
		return;
	unlinkat(file->fd, TEXTFILE_NAME, 0);
	close(file->fd);
	file->fd = -1;
}
