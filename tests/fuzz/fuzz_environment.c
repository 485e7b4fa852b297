/* SPDX-License-Identifier: GPL-2.0-only */
/* The parsers of the environment: ELF notes, /proc/cpuinfo and /proc/swaps of any kernel. */
#include <errno.h>

#include "cgroup.h"
#include "environment.h"
#include "fuzz.h"
#include "zram.h"

static void check_notes(const uint8_t *data, size_t size)
{
	/* Aligned as nothing, of exactly this size. */
	uint8_t *notes = malloc(size ? size : 1);
	char id[64];
	int err;

	promise(notes);
	memcpy(notes, data, size);
	err = environment__parse_build_id(notes, size, id, sizeof(id));
	promise(err == 0 || err == -ENOENT || err == -EBADMSG || err == -ENAMETOOLONG);
	if (err == 0)
		promise(*id && strspn(id, "0123456789abcdef") == strlen(id) && strlen(id) % 2 == 0);
	free(notes);
}

static void check_swaps(const char *text, size_t len)
{
	json_t *list = environment__parse_swaps(text), *swap;
	uint64_t used;
	size_t i;
	int err = zram__parse_swaps(text, len, "/dev/zram1", &used);

	promise(err == 0 || err == -ENOENT || err == -EBADMSG);
	json_array_foreach (list, i, swap) {
		promise(json_is_integer(json_object_get(swap, "priority")));
	}
	json_decref(list);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = string_of(data, size), out[16];

	check_notes(data, size);
	check_swaps(text, strlen(text));
	if (environment__parse_cpuinfo(text, "flags", out, sizeof(out)) == 0)
		promise(strstr(text, "flags") && strlen(out) < sizeof(out) && !strchr(out, '\n'));
	if (cgroup__parse_own(text, out, sizeof(out)) == 0)
		promise(*out == '/' && strstr(text, "0::/") && !strchr(out, '\n'));
	free(text);
	return 0;
}
