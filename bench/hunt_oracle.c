/* SPDX-License-Identifier: GPL-2.0-only */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/diag.h"
#include "common/file.h"
#include "common/parse.h"
#include "hunt_oracle.h"

#define FOLDER "/sys/kernel/debug/x86/tlb_oracle/"

static int read_count(const char *name, uint64_t *out)
{
	char path[128], text[32];
	int err;

	snprintf(path, sizeof(path), FOLDER "%s", name);
	err = file__read_setting(path, text, sizeof(text));
	if (!err)
		err = parse__u64(text, 0, UINT64_MAX, out);
	return err ? diag__fail(-err, "read %s", path) : 0;
}

int hunt_oracle__read(struct hunt_oracle *out)
{
	int err;

	memset(out, 0, sizeof(*out));
	if (access(FOLDER, F_OK))
		return 0;
	out->there = true;
	err = read_count("batches_checked", &out->checked);
	if (!err)
		err = read_count("batches_overflowed", &out->overflowed);
	if (!err)
		err = read_count("cpus_running", &out->running);
	return err ? err : read_count("violations", &out->violations);
}
