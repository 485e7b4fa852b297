/* SPDX-License-Identifier: GPL-2.0-only */
/* The first line is the mount point, the rest the list. */
#include <errno.h>

#include "cgroup_list.h"
#include "fuzz.h"

/* Paths begin with a slash, are simple, and each is there once. */
static void check_paths(const struct cgroup_paths *paths)
{
	promise(paths->count > 0 && paths->count <= CGROUPS_MAX);
	for (unsigned int i = 0; i < paths->count; i++) {
		const char *path = paths->path[i];

		promise(path[0] == '/' && !strstr(path, "//") && !strstr(path, "/../"));
		promise(!path[1] || path[strlen(path) - 1] != '/');
		promise(!strchr(path, '\n'));
		for (unsigned int j = 0; j < i; j++)
			promise(strcmp(path, paths->path[j]));
	}
}

/* What was read, written again, is read as the same. */
static void check_again(const struct cgroup_paths *paths)
{
	struct cgroup_paths again;
	char *text = NULL, why[64];
	size_t len;
	FILE *stream = open_memstream(&text, &len);

	promise(stream);
	for (unsigned int i = 0; i < paths->count; i++)
		/* The slash keeps spaces at the end. */
		fprintf(stream, "%s/\n", paths->path[i]);
	fclose(stream);
	promise(cgroup_paths__parse(&again, text, len, "", why, sizeof(why)) == 0);
	promise(again.count == paths->count);
	for (unsigned int i = 0; i < again.count; i++)
		promise(strcmp(again.path[i], paths->path[i]) == 0);
	cgroup_paths__free(&again);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *newline = memchr(data, '\n', size);
	struct cgroup_paths paths;
	char why[64], *mount;
	int err;

	if (!newline || data[0] != '/' || memchr(data, '\0', newline - data))
		return 0;
	mount = string_of(data, newline - data);
	err = cgroup_paths__parse(&paths, (const char *)newline + 1, data + size - newline - 1,
				  mount, why, sizeof(why));
	promise(err == 0 || (err == -EINVAL && paths.count == 0 && *why));
	if (!err) {
		check_paths(&paths);
		check_again(&paths);
	}
	cgroup_paths__free(&paths);
	free(mount);
	return 0;
}
