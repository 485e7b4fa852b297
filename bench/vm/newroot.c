/* SPDX-License-Identifier: GPL-2.0-only */
#include "vm/newroot.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/file.h"
#include "common/stop.h"

#define NEW_ROOT "/tlbvm/root"

#define DEVICE_WAIT_NS UINT64_C(10000000000)

static int wait_for_device(const char *path)
{
	uint64_t until = stop__now_ns() + DEVICE_WAIT_NS;

	while (access(path, F_OK) < 0) {
		if (stop__now_ns() > until)
			return -ENODEV;
		usleep(10000);
	}
	return 0;
}

int newroot__mount(const char *device, const char **step)
{
	int err;

	*step = "find the device of the root file system";
	err = wait_for_device(device);
	if (err)
		return err;
	*step = "mount the root file system";
	file__make_dirs(NEW_ROOT);
	if (mount(device, NEW_ROOT, "ext4", 0, NULL) < 0)
		return -errno;
	/* systemd takes one that is there; its own would hide what is put into /run. */
	*step = "mount its /run";
	return mount("tmpfs", NEW_ROOT "/run", "tmpfs", MS_NOSUID | MS_NODEV, "mode=0755") < 0
		       ? -errno
		       : 0;
}

static int copy_data(int from, int to)
{
	ssize_t done;

	do {
		done = sendfile(to, from, NULL, 1 << 20);
	} while (done > 0);
	return done < 0 ? -errno : 0;
}

int newroot__copy(const char *path)
{
	char target[PATH_MAX], folder[PATH_MAX];
	int from, to, err = 0;
	struct stat stat;

	snprintf(target, sizeof(target), NEW_ROOT "%s", path);
	strcpy(folder, target);
	file__make_dirs(dirname(folder));
	from = open(path, O_RDONLY | O_CLOEXEC);
	if (from < 0)
		return -errno;
	to = open(target, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (to < 0) {
		err = -errno;
		close(from);
		return err;
	}
	err = copy_data(from, to);
	if (!err && (fstat(from, &stat) < 0 || fchmod(to, stat.st_mode & 07777) < 0))
		err = -errno;
	if (close(to) < 0 && !err)
		err = -errno;
	close(from);
	return err;
}

int newroot__enter(const char **step)
{
	static const char *const moved[] = { "/dev", "/proc", "/sys" };

	for (size_t i = 0; i < sizeof(moved) / sizeof(moved[0]); i++) {
		char target[64];

		*step = moved[i];
		snprintf(target, sizeof(target), NEW_ROOT "%s", moved[i]);
		if (mount(moved[i], target, NULL, MS_MOVE, NULL) < 0)
			return -errno;
	}
	*step = "/";
	if (chdir(NEW_ROOT) < 0 || mount(".", "/", NULL, MS_MOVE, NULL) < 0 || chroot(".") < 0 ||
	    chdir("/") < 0)
		return -errno;
	return 0;
}
