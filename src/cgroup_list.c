/* SPDX-License-Identifier: GPL-2.0-only */
#include "cgroup_list.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <jansson.h>

#include "common/cgroup2.h"
#include "common/diag.h"
#include "common/procfs.h"

/* Reading the text. */

/* Prometheus takes no other text for a label, and JSON none for a string. */
static bool is_utf8(const char *text)
{
	json_t *string = json_string(text);

	json_decref(string);
	return string != NULL;
}

/* Takes the spaces off both ends of a line. */
static char *trim(char *line)
{
	static const char spaces[] = " \t\r\v\f";
	char *end;

	line += strspn(line, spaces);
	end = line + strlen(line);
	while (end > line && strchr(spaces, end[-1]))
		*--end = '\0';
	return line;
}

/* The path without the mount point that it may begin with. */
static const char *below_mount(const char *path, const char *mount)
{
	size_t len = strlen(mount);

	if (strncmp(path, mount, len) == 0 && (!path[len] || path[len] == '/'))
		return path[len] ? path + len : "/";
	return path;
}

/* Whether a part of the path is "." or "..". */
static bool has_dots(const char *path)
{
	while (*(path += strspn(path, "/"))) {
		size_t len = strcspn(path, "/");

		if (len <= 2 && strspn(path, ".") == len)
			return true;
		path += len;
	}
	return false;
}

/* Writes @path to @out, where it may be a part of, with single slashes. */
static void simplify(const char *path, char *out)
{
	char *end = out;

	while (*(path += strspn(path, "/"))) {
		size_t len = strcspn(path, "/");

		*end++ = '/';
		memmove(end, path, len);
		end += len;
		path += len;
	}
	if (end == out)
		*end++ = '/';
	*end = '\0';
}

static unsigned int levels_of(const char *path)
{
	unsigned int levels = 1;

	for (; *path; path++)
		levels += path[0] == '/' && path[1];
	return levels;
}

static const char *fault_of(const char *path)
{
	if (*path != '/')
		return "is no path of a cgroup; /proc/PID/cgroup shows those of processes, from "
		       "their '/' on";
	if (!is_utf8(path))
		return "is not in UTF-8, as labels of Prometheus must be";
	return NULL;
}

static int find_path(const struct cgroup_paths *paths, const char *path)
{
	for (unsigned int i = 0; i < paths->count; i++)
		if (strcmp(paths->path[i], path) == 0)
			return i;
	return -1;
}

/* A line that holds a path; it is changed. NULL, or what is wrong with it; *again: the same path.
 */
static const char *add_path(struct cgroup_paths *out, char *path, unsigned int line,
			    const char *mount, int *again)
{
	const char *fault = fault_of(path);

	if (fault)
		return fault;
	if (has_dots(path))
		return "has a part \".\" or \"..\"";
	simplify(below_mount(path, mount), path);
	if (levels_of(path) > CGROUP_LEVELS)
		return "is too deep: 31 levels below the root are told apart";
	*again = find_path(out, path);
	if (*again >= 0)
		return "is there a second time";
	if (out->count == CGROUPS_MAX)
		return "is one too many: 256 cgroups can be listed";
	out->path[out->count] = path;
	out->line[out->count++] = line;
	return NULL;
}

_Static_assert(CGROUP_LEVELS == 32 && CGROUPS_MAX == 256, "the messages above say so");

static void explain_line(char *why, size_t size, unsigned int line, const char *path,
			 const char *fault, const struct cgroup_paths *paths, int again)
{
	int len = snprintf(why, size, "line %u: '%.200s' %s", line, path, fault);

	if (again >= 0 && len > 0 && (size_t)len < size)
		snprintf(why + len, size - len, ": see line %u", paths->line[again]);
}

/* @copy: the text, which is cut into lines. The paths point into it until they are copied. */
static int parse_lines(struct cgroup_paths *out, char *copy, const char *mount, char *why,
		       size_t size)
{
	unsigned int number = 0;

	for (char *line = strsep(&copy, "\n"); line; line = strsep(&copy, "\n")) {
		const char *fault;
		int again = -1;
		char *path = trim(line);

		number++;
		if (!*path || *path == '#')
			continue;
		fault = add_path(out, path, number, mount, &again);
		if (fault) {
			explain_line(why, size, number, path, fault, out, again);
			return -EINVAL;
		}
	}
	return 0;
}

int cgroup_paths__parse(struct cgroup_paths *out, const char *text, size_t len, const char *mount,
			char *why, size_t size)
{
	char *copy = strndup(text, len);
	int err = 0;

	memset(out, 0, sizeof(*out));
	snprintf(why, size, "out of memory");
	if (!copy)
		return -ENOMEM;
	if (strlen(copy) != len) {
		snprintf(why, size, "it has a NUL byte: it is no text");
		err = -EINVAL;
	} else {
		err = parse_lines(out, copy, mount, why, size);
	}
	if (!err && !out->count) {
		snprintf(why, size, "it lists no cgroup");
		err = -EINVAL;
	}
	if (err)
		out->count = 0;
	for (unsigned int i = 0; i < out->count; i++) {
		out->path[i] = strdup(out->path[i]);
		if (!out->path[i])
			err = -ENOMEM;
	}
	free(copy);
	if (err)
		cgroup_paths__free(out);
	return err;
}

void cgroup_paths__free(struct cgroup_paths *paths)
{
	for (unsigned int i = 0; i < paths->count; i++)
		free(paths->path[i]);
	memset(paths, 0, sizeof(*paths));
}

/* Looking for cgroups. */

/*
 * The id of a cgroup is the number of its folder's inode, where that has 64 bits (kernfs, since
 * 5.5). *id is 0 where there is no such folder; -ENOTDIR for what is no cgroup.
 */
static int look_up(const struct cgroup_list *list, const char *path, uint64_t *id)
{
	char full[2 * PATH_MAX];
	struct stat root, st;

	*id = 0;
	snprintf(full, sizeof(full), "%s%s", list->mount, path);
	if (stat(list->mount, &root))
		return -errno;
	if (stat(full, &st))
		return errno == ENOENT ? 0 : -errno;
	if (!S_ISDIR(st.st_mode) || st.st_dev != root.st_dev)
		return -ENOTDIR;
	*id = st.st_ino;
	return 0;
}

void cgroup_list__find(struct cgroup_list *list)
{
	for (unsigned int i = 0; i < list->count; i++) {
		struct listed_cgroup *cgroup = &list->cgroup[i];
		uint64_t id = 0;

		/* What cannot be looked up now is as good as gone. */
		if (cgroup->listed && look_up(list, cgroup->path, &id))
			id = 0;
		if (id != cgroup->id)
			diag__verbose("cgroup %s: id %llu, was %llu", cgroup->path,
				      (unsigned long long)id, (unsigned long long)cgroup->id);
		cgroup->id = id;
	}
}

/* Reading the file. */

static int blame(const struct cgroup_list *list, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static int blame(const struct cgroup_list *list, const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	diag__error("--cgroups: %s: %s", list->file, text);
	return -EINVAL;
}

static int find_listed(const struct cgroup_list *list, const char *path)
{
	for (unsigned int i = 0; i < list->count; i++)
		if (strcmp(list->cgroup[i].path, path) == 0)
			return i;
	return -1;
}

/* Each path must be that of a cgroup, or of none yet; and there must be room. Changes nothing. */
static int check_paths(const struct cgroup_list *list, const struct cgroup_paths *paths)
{
	unsigned int places = list->count;

	for (unsigned int i = 0; i < paths->count; i++) {
		uint64_t id;
		int err = look_up(list, paths->path[i], &id);

		if (err == -ENOTDIR)
			return blame(list, "line %u: %s%s is no cgroup", paths->line[i],
				     list->mount, paths->path[i]);
		if (err)
			return blame(list, "line %u: look for %s%s: %s", paths->line[i],
				     list->mount, paths->path[i], strerror(-err));
		places += find_listed(list, paths->path[i]) < 0;
	}
	if (places > CGROUPS_MAX)
		return blame(list,
			     "with those listed before it makes %u cgroups, and %u can be told "
			     "apart; a restart forgets those of before",
			     places, CGROUPS_MAX);
	return 0;
}

/* What was checked; takes the paths over. */
static void take_paths(struct cgroup_list *list, struct cgroup_paths *paths)
{
	for (unsigned int i = 0; i < list->count; i++)
		list->cgroup[i].listed = false;
	for (unsigned int i = 0; i < paths->count; i++) {
		int at = find_listed(list, paths->path[i]);

		if (at < 0) {
			at = list->count++;
			list->cgroup[at].path = paths->path[i];
			paths->path[i] = NULL;
		}
		list->cgroup[at].listed = true;
	}
	cgroup_list__find(list);
	for (unsigned int i = 0; i < list->count; i++)
		if (list->cgroup[i].listed && !list->cgroup[i].id)
			diag__warn("--cgroups: there is no %s%s yet; it counts once it is there",
				   list->mount, list->cgroup[i].path);
}

int cgroup_list__reload(struct cgroup_list *list)
{
	struct cgroup_paths paths;
	char why[512], *text;
	size_t len;
	int err = procfs__read(list->file, &text, &len);

	if (err)
		return diag__fail(-err, "--cgroups: read %s", list->file);
	err = cgroup_paths__parse(&paths, text, len, list->mount, why, sizeof(why));
	free(text);
	if (err)
		return blame(list, "%s", why);
	err = check_paths(list, &paths);
	if (!err)
		take_paths(list, &paths);
	cgroup_paths__free(&paths);
	return err;
}

int cgroup_list__open(struct cgroup_list **out, const char *file)
{
	struct cgroup_list *list = calloc(1, sizeof(*list));
	int err;

	*out = NULL;
	if (!list)
		return diag__fail(ENOMEM, "--cgroups");
	list->file = file;
	err = cgroup2__mount(list->mount, sizeof(list->mount));
	if (err) {
		diag__error("--cgroups: cgroup version 2 is not mounted");
		diag__hint("mount -t cgroup2 none /sys/fs/cgroup");
		err = -ENOTSUP;
	} else {
		err = cgroup_list__reload(list);
	}
	if (err) {
		cgroup_list__close(list);
		return err;
	}
	*out = list;
	return 0;
}

void cgroup_list__close(struct cgroup_list *list)
{
	if (!list)
		return;
	for (unsigned int i = 0; i < list->count; i++)
		free(list->cgroup[i].path);
	free(list);
}
