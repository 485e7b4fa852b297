/* SPDX-License-Identifier: GPL-2.0-only */
#include "vm/transfer.h"

#include <dirent.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/diag.h"
#include "common/stop.h"

/* apt gives up on a server after 30 s, three times; seen to hang for ever on a full disk. */
#define STALL_NS UINT64_C(120000000000)

static uint64_t folder_size(const char *path)
{
	DIR *entries = opendir(path);
	struct dirent *entry;
	struct stat stat;
	uint64_t sum = 0;

	while (entries && (entry = readdir(entries)))
		if (fstatat(dirfd(entries), entry->d_name, &stat, 0) == 0 && S_ISREG(stat.st_mode))
			sum += (uint64_t)stat.st_size;
	if (entries)
		closedir(entries);
	return sum;
}

static double mib(uint64_t bytes)
{
	return (double)bytes / (1 << 20);
}

static double elapsed(const struct transfer *transfer)
{
	return (double)(stop__now_ns() - transfer->started) / 1e9;
}

void transfer__begin(struct transfer *transfer, const char *what, uint64_t total,
		     const char *folder)
{
	*transfer = (struct transfer){ .what = what,
				       .folder = folder,
				       .total = total,
				       .started = stop__now_ns(),
				       .grown = stop__now_ns(),
				       .live = isatty(STDERR_FILENO) };
	if (transfer->live)
		transfer__tick(transfer);
	else if (total)
		diag__error("%s: %.1f MiB", what, mib(total));
	else
		diag__error("%s", what);
}

static void show(const struct transfer *transfer)
{
	uint64_t done = transfer->size, total = transfer->total;

	if (!total) {
		fprintf(stderr, "\r%s ... %.0f s\033[K", transfer->what, elapsed(transfer));
		return;
	}
	fprintf(stderr, "\r%s: %.1f of %.1f MiB", transfer->what, mib(done), mib(total));
	if (done && done < total)
		fprintf(stderr, ", %.0f s left",
			elapsed(transfer) * (double)(total - done) / (double)done);
	fputs("\033[K", stderr);
}

bool transfer__tick(void *context)
{
	struct transfer *transfer = context;
	uint64_t size = folder_size(transfer->folder), now = stop__now_ns();

	if (size != transfer->size)
		transfer->grown = now;
	transfer->size = size;
	if (transfer->live)
		show(transfer);
	return now - transfer->grown < STALL_NS;
}

void transfer__end(struct transfer *transfer)
{
	if (transfer->live)
		fprintf(stderr, "\r\033[K");
	if (transfer->total)
		diag__error("%s: %.1f MiB in %.1f s", transfer->what, mib(transfer->total),
			    elapsed(transfer));
}
