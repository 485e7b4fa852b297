/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cgroup.h"
#include "common/cgroup2.h"
#include "common/diag.h"
#include "common/file.h"
#include "common/parse.h"
#include "common/procfs.h"
#include "journal.h"

/* Our cgroups are known by their name; nothing else is ever removed. */
#define NAME "tlbbench-"
/* A killed process needs a moment to leave. */
#define EMPTY_TRIES    250
#define EMPTY_PAUSE_NS 20000000

int cgroup__parse_own(const char *text, char *out, size_t size)
{
	while (*text && strncmp(text, "0::/", 4)) {
		text += strcspn(text, "\n");
		text += *text == '\n';
	}
	if (!*text)
		return -ENOENT;
	text += strlen("0::");
	return (size_t)snprintf(out, size, "%.*s", (int)strcspn(text, "\n"), text) < size
		       ? 0
		       : -ENAMETOOLONG;
}

int cgroup__own(char *out, size_t size)
{
	char mount[PATH_MAX], path[PATH_MAX], *text;
	size_t len;
	int err = cgroup2__mount(mount, sizeof(mount));

	if (!err)
		err = procfs__read("/proc/self/cgroup", &text, &len);
	if (err)
		return err;
	err = cgroup__parse_own(text, path, sizeof(path));
	free(text);
	if (err)
		return err;
	/* The path "/" is the mount point itself. */
	return (size_t)snprintf(out, size, "%s%s", mount, path[1] ? path : "") < size
		       ? 0
		       : -ENAMETOOLONG;
}

/* Whether a file of the cgroup, a list of words, holds @word. */
static bool file_lists(const char *cgroup, const char *file, const char *word)
{
	char path[PATH_MAX + 64], text[1024], *save, *next;

	snprintf(path, sizeof(path), "%s/%s", cgroup, file);
	if (file__read_setting(path, text, sizeof(text)))
		return false;
	for (next = strtok_r(text, " ", &save); next; next = strtok_r(NULL, " ", &save))
		if (strcmp(next, word) == 0)
			return true;
	return false;
}

static bool has_file(const char *cgroup, const char *file)
{
	char path[PATH_MAX + 64];

	snprintf(path, sizeof(path), "%s/%s", cgroup, file);
	return access(path, F_OK) == 0;
}

/*
 * Finds the parent for our cgroup: the closest ancestor that hands memory control down, else the
 * topmost one that can be seen. *enable: it has to be made to.
 */
static int find_parent(char *out, size_t size, bool *enable)
{
	char mount[PATH_MAX];
	int err = cgroup2__mount(mount, sizeof(mount));

	if (!err)
		err = cgroup__own(out, size);
	if (err)
		return err;
	for (;;) {
		*enable = !file_lists(out, "cgroup.subtree_control", "memory");
		if (!*enable || strlen(out) <= strlen(mount))
			return 0;
		*strrchr(out, '/') = '\0';
	}
}

bool cgroup__available(char *why, size_t size)
{
	char parent[PATH_MAX];
	bool enable;

	if (cgroup2__mount(parent, sizeof(parent))) {
		snprintf(why, size,
			 "cgroup version 2 is not mounted: mount -t cgroup2 none "
			 "/sys/fs/cgroup");
	} else if (find_parent(parent, sizeof(parent), &enable)) {
		snprintf(why, size, "this process is in no cgroup of version 2");
	} else if (!file_lists(parent, "cgroup.controllers", "memory")) {
		snprintf(why, size,
			 "no memory controller in cgroup version 2 (%s): is it on "
			 "version 1?",
			 parent);
	} else if (!has_file(parent, "memory.reclaim")) {
		snprintf(why, size, "this kernel has no memory.reclaim (5.19 and later)");
	} else if (enable && has_file(parent, "cgroup.type")) {
		/* Only the real root, which has no such file, may hold processes and hand down. */
		snprintf(why, size, "the cgroups of this container hand no memory control down");
	} else if (access(parent, W_OK)) {
		snprintf(why, size, "%s is not writable: run as root", parent);
	} else {
		return true;
	}
	return false;
}

static int write_file(const char *cgroup, const char *file, const char *value)
{
	char path[PATH_MAX + 64];
	int err;

	snprintf(path, sizeof(path), "%s/%s", cgroup, file);
	err = file__write_setting(path, value);
	return err ? diag__fail(-err, "write \"%s\" to %s", value, path) : 0;
}

int cgroup__create(struct journal *journal, struct cgroup *out)
{
	char parent[PATH_MAX];
	bool enable;
	int err = find_parent(parent, sizeof(parent), &enable);

	if (err)
		return diag__fail(-err, "find our own cgroup");
	if ((size_t)snprintf(out->path, sizeof(out->path), "%s/" NAME "%d", parent, getpid()) >=
	    sizeof(out->path))
		return diag__fail(ENAMETOOLONG, "name a cgroup below %s", parent);
	if (enable) {
		err = journal__record(journal, JOURNAL_SUBTREE, parent, "memory");
		if (!err)
			err = write_file(parent, "cgroup.subtree_control", "+memory");
		if (err)
			return err;
	}
	err = journal__record(journal, JOURNAL_CGROUP, out->path, NULL);
	if (err)
		return err;
	return mkdir(out->path, 0755) ? diag__fail(errno, "make the cgroup %s", out->path) : 0;
}

int cgroup__add_process(const struct cgroup *cgroup, pid_t pid)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", pid);
	return write_file(cgroup->path, "cgroup.procs", text);
}

/* Asking for nothing reclaims nothing, but the arguments are read all the same. */
const char *cgroup__reclaim_argument(const struct cgroup *cgroup)
{
	static const char *const arguments[] = { " swappiness=max", " swappiness=200" };
	char path[PATH_MAX + 64], text[32];

	snprintf(path, sizeof(path), "%s/memory.reclaim", cgroup->path);
	for (size_t i = 0; i < sizeof(arguments) / sizeof(*arguments); i++) {
		snprintf(text, sizeof(text), "0%s", arguments[i]);
		if (file__write_setting(path, text) == 0)
			return arguments[i];
	}
	return "";
}

/* Kills whoever is in the cgroup: our own processes, since nobody else knows of it. */
static void kill_members(const char *cgroup)
{
	char path[PATH_MAX + 64], *text, *line, *save;
	uint64_t pid;
	size_t len;

	snprintf(path, sizeof(path), "%s/cgroup.procs", cgroup);
	if (procfs__read(path, &text, &len))
		return;
	for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		if (parse__u64(line, 2, INT32_MAX, &pid) == 0)
			kill(pid, SIGKILL);
	free(text);
}

static bool is_ours(const char *path)
{
	const char *name = strrchr(path, '/');
	uint64_t pid;

	return *path == '/' && strncmp(name + 1, NAME, strlen(NAME)) == 0 &&
	       parse__u64(name + 1 + strlen(NAME), 1, INT32_MAX, &pid) == 0;
}

int cgroup__undo(const char *path, const char *unused)
{
	const struct timespec pause = { .tv_nsec = EMPTY_PAUSE_NS };
	int err = EBUSY;

	(void)unused;
	if (!is_ours(path))
		return diag__fail(0, "%s is no cgroup of tlbbench: not removed", path);
	for (int i = 0; err == EBUSY && i < EMPTY_TRIES; i++) {
		if (i)
			nanosleep(&pause, NULL);
		if (rmdir(path) == 0 || errno == ENOENT)
			return 0;
		err = errno;
		kill_members(path);
	}
	return diag__fail(err, "remove the cgroup %s", path);
}

int cgroup__undo_subtree(const char *path, const char *controller)
{
	char value[64];

	if (access(path, F_OK))
		return 0;
	if (!file_lists(path, "cgroup.subtree_control", controller))
		return 0;
	snprintf(value, sizeof(value), "-%s", controller);
	return write_file(path, "cgroup.subtree_control", value);
}
