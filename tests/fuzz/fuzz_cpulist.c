/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>

#include "common/parse.h"
#include "fuzz.h"

/* What the set is written as reads back as the same set, and is written the same again. */
static void check_round_trip(const struct cpus *set)
{
	size_t len = cpus__format(set, NULL, 0);
	char *text = malloc(len + 1);
	struct cpus again;

	promise(text);
	promise(cpus__format(set, text, len + 1) == len && strlen(text) == len);
	promise(parse__cpulist(text, &again) == 0);
	promise(cpus__equal(set, &again));
	free(text);
}

/* The members, counted by another way than the parser's. */
static void check_members(const char *text, const struct cpus *set)
{
	unsigned int count = 0;

	promise(strspn(text, "0123456789,-") == strlen(text));
	cpus__for_each (id, set) {
		promise(cpus__has(set, id));
		count++;
	}
	promise(count == cpus__count(set));
	for (const char *at = text; *at; at += strcspn(at, ","), at += *at == ',')
		promise(cpus__has(set, strtoul(at, NULL, 10)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = string_of(data, size);
	struct cpus set, before;
	int err;

	memset(&before, 0x5a, sizeof(before));
	set = before;
	err = parse__cpulist(text, &set);
	promise(err == 0 || err == -EINVAL || err == -ERANGE);
	if (err) {
		promise(cpus__equal(&set, &before));
	} else {
		check_members(text, &set);
		check_round_trip(&set);
	}
	free(text);
	return 0;
}
