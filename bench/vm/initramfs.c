/* SPDX-License-Identifier: GPL-2.0-only */
#include "vm/initramfs.h"

#include <errno.h>
#include <fcntl.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/diag.h"

struct initramfs {
	FILE *out;
	char *path;
	void *folders; /* tree of the paths already made */
	uint32_t inode;
	uint64_t written;
	int err;
};

static int compare_paths(const void *a, const void *b)
{
	return strcmp(a, b);
}

int initramfs__create(struct initramfs **out, const char *path)
{
	struct initramfs *archive = calloc(1, sizeof(*archive));

	*out = NULL;
	if (!archive)
		return diag__fail(ENOMEM, "write %s", path);
	archive->path = strdup(path);
	archive->out = fopen(path, "we");
	if (!archive->path || !archive->out) {
		int err = diag__fail(errno, "write %s", path);

		free(archive->path);
		free(archive);
		return err;
	}
	*out = archive;
	return 0;
}

static void put(struct initramfs *archive, const void *data, size_t size)
{
	if (!archive->err && size && fwrite(data, 1, size, archive->out) != size)
		archive->err = -errno;
	archive->written += size;
}

/* Names and contents start at multiples of four. */
static void pad(struct initramfs *archive)
{
	put(archive, "\0\0\0", -archive->written & 3);
}

struct member {
	mode_t mode;
	unsigned int links, major, minor;
	const void *data;
	size_t size;
};

/* Linux: Documentation/driver-api/early-userspace/buffer-format.rst, "070701". */
static void put_member(struct initramfs *archive, const char *name, const struct member *member)
{
	char header[6 + 13 * 8 + 1];

	if (member->size > UINT32_MAX) {
		archive->err = archive->err ? archive->err : -EFBIG;
		return;
	}
	snprintf(header, sizeof(header),
		 "070701%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X", archive->inode++,
		 (unsigned int)member->mode, 0U, 0U, member->links, 0U, (unsigned int)member->size,
		 0U, 0U, member->major, member->minor, (unsigned int)strlen(name) + 1, 0U);
	put(archive, header, sizeof(header) - 1);
	put(archive, name, strlen(name) + 1);
	pad(archive);
	put(archive, member->data, member->size);
	pad(archive);
}

static void add_parents(struct initramfs *archive, const char *path)
{
	char *copy = strdup(path), *slash;

	if (!copy) {
		archive->err = -ENOMEM;
		return;
	}
	for (slash = strchr(copy + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		initramfs__add_folder(archive, copy, 0755);
		*slash = '/';
	}
	free(copy);
}

void initramfs__add_folder(struct initramfs *archive, const char *path, mode_t mode)
{
	const char **seen;
	char *copy;

	if (tfind(path, &archive->folders, compare_paths))
		return;
	add_parents(archive, path);
	copy = strdup(path);
	seen = copy ? tsearch(copy, &archive->folders, compare_paths) : NULL;
	if (!seen) {
		archive->err = -ENOMEM;
		free(copy);
		return;
	}
	put_member(archive, path + 1, &(struct member){ .mode = S_IFDIR | mode, .links = 2 });
}

void initramfs__add_data(struct initramfs *archive, const char *path, mode_t mode, const void *data,
			 size_t size)
{
	add_parents(archive, path);
	put_member(
		archive, path + 1,
		&(struct member){ .mode = S_IFREG | mode, .links = 1, .data = data, .size = size });
}

int initramfs__add_file(struct initramfs *archive, const char *path, const char *source)
{
	int fd = open(source, O_RDONLY | O_CLOEXEC), err = 0;
	struct stat stat;
	void *data = NULL;

	if (fd < 0)
		return diag__fail(errno, "open %s", source);
	if (fstat(fd, &stat) < 0) {
		err = diag__fail(errno, "read %s", source);
		goto out;
	}
	if (!S_ISREG(stat.st_mode)) {
		err = diag__fail(S_ISDIR(stat.st_mode) ? EISDIR : EINVAL, "read %s", source);
		goto out;
	}
	if (stat.st_size) {
		data = mmap(NULL, (size_t)stat.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (data == MAP_FAILED) {
			err = diag__fail(errno, "read %s", source);
			goto out;
		}
	}
	initramfs__add_data(archive, path, stat.st_mode & 0777, data, (size_t)stat.st_size);
	if (data)
		munmap(data, (size_t)stat.st_size);
out:
	close(fd);
	return err;
}

void initramfs__add_link(struct initramfs *archive, const char *path, const char *target)
{
	add_parents(archive, path);
	put_member(archive, path + 1,
		   &(struct member){ .mode = S_IFLNK | 0777,
				     .links = 1,
				     .data = target,
				     .size = strlen(target) });
}

void initramfs__add_device(struct initramfs *archive, const char *path, mode_t mode,
			   unsigned int major, unsigned int minor)
{
	add_parents(archive, path);
	put_member(archive, path + 1,
		   &(struct member){
			   .mode = S_IFCHR | mode, .links = 1, .major = major, .minor = minor });
}

int initramfs__finish(struct initramfs *archive, uint64_t *size)
{
	int err;

	put_member(archive, "TRAILER!!!", &(struct member){ .links = 1 });
	if (fclose(archive->out) && !archive->err)
		archive->err = -errno;
	err = archive->err;
	if (err)
		diag__fail(-err, "write %s", archive->path);
	*size = archive->written;
	tdestroy(archive->folders, free);
	free(archive->path);
	free(archive);
	return err;
}
