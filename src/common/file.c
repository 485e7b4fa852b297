/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "diag.h"
#include "file.h"

static int write_all(int fd, const char *data, size_t len)
{
	while (len) {
		ssize_t n = write(fd, data, len);

		if (n < 0 && errno != EINTR)
			return -errno;
		if (n > 0) {
			data += n;
			len -= n;
		}
	}
	return 0;
}

/* File systems without anything to sync answer EINVAL. */
static int sync_fd(int fd)
{
	return fsync(fd) && errno != EINVAL ? -errno : 0;
}

static int write_stdout(const void *data, size_t len)
{
	int err;

	if (fwrite(data, 1, len, stdout) == len && fflush(stdout) == 0)
		return 0;
	err = errno;
	/* Reported here, so diag__close_stdout() need not say it again. */
	__fpurge(stdout);
	clearerr(stdout);
	/* A reader that has seen enough is no failure. */
	return err == EPIPE ? 0 : diag__fail(err, "write to standard output");
}

/* A device, a pipe or the like is written to: replacing it would break it for everybody. */
static int write_special(const char *path, const void *data, size_t len)
{
	int err, fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return diag__fail(errno, "open %s", path);
	err = write_all(fd, data, len);
	if (close(fd) && !err)
		err = -errno;
	if (err == -EPIPE)
		return 0;
	return err ? diag__fail(-err, "write %s", path) : 0;
}

static int sync_folder(const char *folder)
{
	int err, fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return diag__fail(errno, "open folder %s", folder);
	err = sync_fd(fd);
	close(fd);
	return err ? diag__fail(-err, "sync folder %s", folder) : 0;
}

int file__fill(int fd, const void *data, size_t len)
{
	int err = write_all(fd, data, len);

	if (!err && fchmod(fd, 0644))
		err = -errno;
	if (!err)
		err = sync_fd(fd);
	if (close(fd) && !err)
		err = -errno;
	return err;
}

/* Writes the whole temporary file; on failure the caller removes it. */
static int fill(int fd, const char *temp, const void *data, size_t len)
{
	int err = file__fill(fd, data, len);

	if (err)
		diag__fail(-err, "write %s", temp);
	if (err == -ENOSPC || err == -EDQUOT || err == -EFBIG)
		diag__hint("free some space, or choose another place; the old file is unchanged");
	return err;
}

static int replace_in(const char *folder, const char *temp_name, const char *path, const void *data,
		      size_t len)
{
	char *temp = NULL;
	int err, fd;

	if (asprintf(&temp, "%s/%s", folder, temp_name) < 0)
		return diag__fail(ENOMEM, "write %s", path);
	fd = mkostemps(temp, strlen(".tmp"), O_CLOEXEC);
	if (fd < 0) {
		err = diag__fail(errno, "create a file in %s, to replace %s", folder, path);
		goto out;
	}
	err = fill(fd, temp, data, len);
	if (!err && rename(temp, path))
		err = diag__fail(errno, "rename %s to %s", temp, path);
	if (err)
		unlink(temp);
	else
		err = sync_folder(folder);
out:
	free(temp);
	return err;
}

static int replace_regular(const char *path, const void *data, size_t len)
{
	char *for_folder = strdup(path), *for_name = strdup(path), *temp_name = NULL;
	int err;

	if (!for_folder || !for_name ||
	    asprintf(&temp_name, ".%s.XXXXXX.tmp", basename(for_name)) < 0)
		err = diag__fail(ENOMEM, "write %s", path);
	else
		err = replace_in(dirname(for_folder), temp_name, path, data, len);
	free(for_folder);
	free(for_name);
	free(temp_name);
	return err;
}

int file__check_replace(const char *path)
{
	char *copy, *folder;
	struct stat st;
	int err = 0;

	if (strcmp(path, "-") == 0)
		return 0;
	if (stat(path, &st) == 0) {
		if (S_ISDIR(st.st_mode))
			return diag__fail(EISDIR, "write %s", path);
		if (!S_ISREG(st.st_mode))
			return access(path, W_OK) ? diag__fail(errno, "write %s", path) : 0;
	}
	copy = strdup(path);
	if (!copy)
		return diag__fail(ENOMEM, "write %s", path);
	folder = dirname(copy);
	if (access(folder, W_OK | X_OK))
		err = diag__fail(errno, "write %s: its folder %s", path, folder);
	free(copy);
	return err;
}

int file__replace(const char *path, const void *data, size_t len)
{
	struct stat st;
	char *target;
	int err;

	if (strcmp(path, "-") == 0)
		return write_stdout(data, len);
	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
		return write_special(path, data, len);
	/* Through symbolic links: it is the file that is replaced, not the link to it. */
	target = realpath(path, NULL);
	if (!target && errno != ENOENT)
		return diag__fail(errno, "write %s", path);
	err = replace_regular(target ? target : path, data, len);
	free(target);
	return err;
}

/* In one write(), with the newline that "echo" would send: an empty one would not be a write. */
int file__write_setting(const char *path, const char *value)
{
	char *line;
	int err = 0, len, fd;

	fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	len = asprintf(&line, "%s\n", value);
	if (len < 0) {
		close(fd);
		return -ENOMEM;
	}

	ssize_t n = write(fd, line, len);

	if (n < 0)
		err = -errno;
	else if (n != len)
		err = -EIO;
	if (close(fd) && !err)
		err = -errno;
	free(line);
	return err;
}

/* Reads up to a newline, the end of the file, or @size. Returns the length or a negative errno. */
static ssize_t read_line(int fd, char *out, size_t size)
{
	size_t len = 0;

	while (len < size && !memchr(out, '\n', len)) {
		ssize_t n = read(fd, out + len, size - len);

		if (n < 0 && errno != EINTR)
			return -errno;
		if (n == 0)
			break;
		if (n > 0)
			len += n;
	}
	return len;
}

int file__read_setting(const char *path, char *out, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t len;

	if (fd < 0)
		return -errno;
	len = read_line(fd, out, size);
	close(fd);
	if (len < 0)
		return len;

	char *end = memchr(out, '\n', len);

	if (!end && (size_t)len == size)
		return -EOVERFLOW;
	*(end ? end : out + len) = '\0';
	return 0;
}

static int make_dir(const char *path)
{
	struct stat st;

	if (mkdir(path, 0777) == 0)
		return 0;
	if (errno != EEXIST)
		return -errno;
	if (stat(path, &st))
		return -errno;
	return S_ISDIR(st.st_mode) ? 0 : -ENOTDIR;
}

int file__make_dirs(const char *path)
{
	char *part = strdup(path);
	int err = 0;

	if (!part)
		return -ENOMEM;
	for (char *slash = part + strspn(part, "/"); !err && (slash = strchr(slash, '/'));
	     slash++) {
		*slash = '\0';
		err = make_dir(part);
		*slash = '/';
	}
	if (!err)
		err = make_dir(part);
	free(part);
	return err;
}
