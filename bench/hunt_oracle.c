/* SPDX-License-Identifier: GPL-2.0-only */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/diag.h"
#include "common/file.h"
#include "common/parse.h"
#include "hunt_oracle.h"

/* A folder of debugfs. The counts end with a NULL, the last one is that of violations. */
struct hunt_oracle_kind {
	const char *folder;
	struct {
		const char *file, *text;
	} count[HUNT_ORACLE_COUNTS + 1];
};

static const struct hunt_oracle_kind kinds[] = {
	{ "/sys/kernel/debug/x86/tlb_oracle",
	  { { "batches_checked", "batches checked" },
	    { "batches_overflowed", "of them overflowed" },
	    { "cpus_running", "CPUs ran on one of their address spaces" },
	    { "violations", "of them were behind" } } },
	{ "/sys/kernel/debug/arm64_tlb_oracle",
	  { { "installs_checked", "installs of address spaces checked" },
	    { "flushes_checked", "local flushes checked" },
	    { "violations", "violations" } } },
};

static int read_count(const char *folder, const char *name, uint64_t *out)
{
	char path[128], text[32];
	int err;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	err = file__read_setting(path, text, sizeof(text));
	if (!err)
		err = parse__u64(text, 0, UINT64_MAX, out);
	return err ? diag__fail(-err, "read %s", path) : 0;
}

int hunt_oracle__read(struct hunt_oracle *out)
{
	int err = 0;

	memset(out, 0, sizeof(*out));
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (access(kinds[i].folder, F_OK) == 0)
			out->kind = &kinds[i];
	for (size_t i = 0; !err && out->kind && out->kind->count[i].file; i++) {
		err = read_count(out->kind->folder, out->kind->count[i].file, &out->count[i]);
		out->violations = out->count[i];
	}
	return err;
}

void hunt_oracle__print(const struct hunt_oracle *before, const struct hunt_oracle *after)
{
	if (!after->kind) {
		printf("oracle: n/a, this kernel has none\n");
		return;
	}
	printf("oracle:");
	for (size_t i = 0; after->kind->count[i].file; i++)
		printf("%s %llu %s", i ? "," : "",
		       (unsigned long long)(after->count[i] - before->count[i]),
		       after->kind->count[i].text);
	printf("\n");
}
