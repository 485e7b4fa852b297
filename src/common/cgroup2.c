/* SPDX-License-Identifier: GPL-2.0-only */
#include "cgroup2.h"

#include <errno.h>
#include <mntent.h>
#include <stdio.h>
#include <string.h>

int cgroup2__mount(char *out, size_t size)
{
	FILE *mounts = setmntent("/proc/self/mounts", "re");
	struct mntent *entry;
	int err = -ENOENT;

	if (!mounts)
		return -errno;
	while (err && (entry = getmntent(mounts))) {
		if (strcmp(entry->mnt_type, "cgroup2"))
			continue;
		err = (size_t)snprintf(out, size, "%s", entry->mnt_dir) < size ? 0 : -ENAMETOOLONG;
	}
	endmntent(mounts);
	return err;
}
