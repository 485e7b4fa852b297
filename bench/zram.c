/* SPDX-License-Identifier: GPL-2.0-only */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/swap.h>
#include <time.h>
#include <unistd.h>

#include "common/cpus.h"
#include "common/diag.h"
#include "common/file.h"
#include "common/parse.h"
#include "common/procfs.h"
#include "journal.h"
#include "zram.h"

#define CONTROL "/sys/class/zram-control"
/* Both limits are far above any real machine: they only bound a file that was tampered with. */
#define ID_MAX (CPUS_MAX - 1)
/* udev and blkid open a new device for a moment: removal is tried again for this long. */
#define REMOVE_TRIES	100
#define REMOVE_PAUSE_NS 20000000

bool zram__available(char *why, size_t size)
{
	if (access(CONTROL, F_OK)) {
		snprintf(why, size, "the zram module is not loaded: modprobe zram");
		return false;
	}
	if (access(CONTROL "/hot_add", R_OK)) {
		snprintf(why, size, "a zram device and swap need root");
		return false;
	}
	return true;
}

/* The ids of the devices that exist. */
static int list_devices(struct cpus *ids)
{
	DIR *dir = opendir("/sys/block");
	struct dirent *entry;
	uint64_t id;

	cpus__clear(ids);
	if (!dir)
		return diag__fail(errno, "list /sys/block");
	while ((entry = readdir(dir)))
		if (strncmp(entry->d_name, "zram", 4) == 0 &&
		    parse__u64(entry->d_name + 4, 0, ID_MAX, &id) == 0)
			cpus__add(ids, id);
	closedir(dir);
	return 0;
}

static void attribute(char *out, size_t size, unsigned int id, const char *name)
{
	snprintf(out, size, "/sys/block/zram%u/%s", id, name);
}

static int set_attribute(unsigned int id, const char *name, const char *value)
{
	char path[64];
	int err;

	attribute(path, sizeof(path), id, name);
	err = file__write_setting(path, value);
	return err ? diag__fail(-err, "write \"%s\" to %s", value, path) : 0;
}

/* Reading hot_add makes a device and tells its id. */
static int hot_add(struct journal *journal, unsigned int *out)
{
	struct cpus ids;
	char text[1024];
	uint64_t id;
	int err = list_devices(&ids);

	if (err)
		return err;
	if (cpus__format(&ids, text, sizeof(text)) >= sizeof(text))
		return diag__fail(E2BIG, "write down the zram devices there are");
	/* The id is known only afterwards: until then this is what tells our device from others. */
	err = journal__record(journal, JOURNAL_ZRAM_ADD, text, NULL);
	if (err)
		return err;
	err = file__read_setting(CONTROL "/hot_add", text, sizeof(text));
	if (err)
		return diag__fail(-err, "add a zram device by " CONTROL "/hot_add");
	if (parse__u64(text, 0, ID_MAX, &id))
		return diag__fail(0, CONTROL "/hot_add answered \"%s\", which is no device id",
				  text);
	*out = id;
	return journal__record(journal, JOURNAL_ZRAM, text, NULL);
}

/*
 * The head of a swap area, as include/linux/swap.h has it: the first 1,024 bytes are free for a
 * boot loader, the magic ends the first page.
 */
struct swap_head {
	char boot[1024];
	uint32_t version, last_page, bad_pages;
	unsigned char uuid[16];
	char label[16];
};

static int make_swap(const char *device, uint64_t bytes)
{
	size_t page = sysconf(_SC_PAGESIZE);
	char *first = calloc(1, page);
	struct swap_head head = { .version = 1,
				  .last_page = bytes / page - 1,
				  .label = "tlbbench" };
	int err = 0, fd;

	if (!first)
		return diag__fail(ENOMEM, "write a swap head to %s", device);
	memcpy(first, &head, sizeof(head));
	memcpy(first + page - 10, "SWAPSPACE2", 10);
	fd = open(device, O_WRONLY | O_CLOEXEC);
	if (fd < 0) {
		err = diag__fail(errno, "open %s", device);
		if (errno == ENOENT)
			diag__hint("mount -t devtmpfs none /dev, or let udev make the device");
	} else if (pwrite(fd, first, page, 0) != (ssize_t)page || fsync(fd)) {
		err = diag__fail(errno, "write a swap head to %s", device);
	}
	if (fd >= 0)
		close(fd);
	free(first);
	return err;
}

static int swap_on(struct journal *journal, const char *device)
{
	int err = journal__record(journal, JOURNAL_SWAP, device, NULL);

	if (err)
		return err;
	if (swapon(device, SWAP_FLAG_PREFER | SWAP_FLAG_PRIO_MASK))
		return diag__fail(errno, "turn on swap to %s", device);
	return 0;
}

int zram__create(struct journal *journal, uint64_t bytes, struct zram *out)
{
	uint64_t page = sysconf(_SC_PAGESIZE);
	char text[32];
	int err;

	memset(out, 0, sizeof(*out));
	bytes = (bytes + page - 1) / page * page;
	err = hot_add(journal, &out->id);
	if (err)
		return err;
	snprintf(out->device, sizeof(out->device), "/dev/zram%u", out->id);
	snprintf(text, sizeof(text), "%llu", (unsigned long long)bytes);
	err = set_attribute(out->id, "disksize", text);
	if (!err)
		err = make_swap(out->device, bytes);
	return err ? err : swap_on(journal, out->device);
}

/* One line: the file, its type, its size, what of it is used (KiB), its priority. */
int zram__parse_swaps(const char *text, size_t len, const char *device, uint64_t *used)
{
	size_t name = strlen(device);

	while (len) {
		const char *end = memchr(text, '\n', len);
		size_t line = end ? (size_t)(end - text) : len;
		char rest[128];

		if (line > name && memcmp(text, device, name) == 0 && isspace(text[name])) {
			unsigned long long kib;

			snprintf(rest, sizeof(rest), "%.*s", (int)(line - name), text + name);
			if (sscanf(rest, " %*s %*u %llu", &kib) != 1)
				return -EBADMSG;
			*used = kib * 1024;
			return 0;
		}
		len -= end ? line + 1 : line;
		text += end ? line + 1 : line;
	}
	return -ENOENT;
}

static int used_of(const char *device, uint64_t *bytes)
{
	char *text;
	size_t len;
	int err = procfs__read("/proc/swaps", &text, &len);

	if (err)
		return err;
	err = zram__parse_swaps(text, len, device, bytes);
	free(text);
	return err;
}

int zram__used(const struct zram *zram, uint64_t *bytes)
{
	return used_of(zram->device, bytes);
}

int zram__undo_swap(const char *device, const char *unused)
{
	uint64_t used;
	int err = used_of(device, &used);

	(void)unused;
	if (err == -ENOENT)
		return 0;
	if (err)
		return diag__fail(-err, "look for %s in /proc/swaps", device);
	if (swapoff(device) && errno != EINVAL)
		return diag__fail(errno, "turn off swap to %s", device);
	return 0;
}

/* Removes a device, once nobody has it open any more. */
static int hot_remove(unsigned int id)
{
	const struct timespec pause = { .tv_nsec = REMOVE_PAUSE_NS };
	char text[16];
	int err;

	snprintf(text, sizeof(text), "%u", id);
	for (int i = 0; i < REMOVE_TRIES; i++) {
		err = file__write_setting(CONTROL "/hot_remove", text);
		if (err != -EBUSY)
			break;
		nanosleep(&pause, NULL);
	}
	if (!err || err == -ENODEV)
		return 0;
	diag__fail(-err, "remove the zram device %u", id);
	if (err == -EBUSY)
		diag__hint("see who has it open: fuser /dev/zram%u", id);
	return err;
}

int zram__undo(const char *id, const char *unused)
{
	char path[64];
	uint64_t number;

	(void)unused;
	if (parse__u64(id, 0, ID_MAX, &number))
		return diag__fail(0, "\"%s\" is no id of a zram device", id);
	attribute(path, sizeof(path), number, "disksize");
	return access(path, F_OK) ? 0 : hot_remove(number);
}

static bool is_unused(unsigned int id)
{
	char path[64], text[32];

	attribute(path, sizeof(path), id, "initstate");
	return file__read_setting(path, text, sizeof(text)) == 0 && strcmp(text, "0") == 0;
}

/*
 * We died between making the device and writing down its id: then it is new, and has no size yet.
 */
int zram__undo_add(const char *ids, const char *unused)
{
	struct cpus before, now;
	int err;

	(void)unused;
	if (parse__cpulist(ids, &before))
		return diag__fail(0, "\"%s\" is no list of zram devices", ids);
	err = list_devices(&now);
	cpus__for_each (id, &now)
		if (!err && !cpus__has(&before, id) && is_unused(id))
			err = hot_remove(id);
	return err;
}
