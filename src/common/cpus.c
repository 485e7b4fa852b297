/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cpus.h"
#include "parse.h"
#include "procfs.h"

#define WORDS (CPUS_MAX / 64)

void cpus__clear(struct cpus *set)
{
	memset(set, 0, sizeof(*set));
}

void cpus__add(struct cpus *set, unsigned int id)
{
	if (id < CPUS_MAX)
		set->word[id / 64] |= UINT64_C(1) << id % 64;
}

void cpus__remove(struct cpus *set, unsigned int id)
{
	if (id < CPUS_MAX)
		set->word[id / 64] &= ~(UINT64_C(1) << id % 64);
}

bool cpus__has(const struct cpus *set, unsigned int id)
{
	return id < CPUS_MAX && (set->word[id / 64] >> id % 64 & 1);
}

unsigned int cpus__count(const struct cpus *set)
{
	unsigned int count = 0;

	for (unsigned int i = 0; i < WORDS; i++)
		count += __builtin_popcountll(set->word[i]);
	return count;
}

bool cpus__equal(const struct cpus *a, const struct cpus *b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}

void cpus__and(struct cpus *out, const struct cpus *a, const struct cpus *b)
{
	for (unsigned int i = 0; i < WORDS; i++)
		out->word[i] = a->word[i] & b->word[i];
}

unsigned int cpus__next(const struct cpus *set, unsigned int from)
{
	if (from >= CPUS_MAX)
		return CPUS_MAX;

	uint64_t word = set->word[from / 64] & ~UINT64_C(0) << from % 64;

	for (unsigned int i = from / 64;; word = set->word[i]) {
		if (word)
			return i * 64 + __builtin_ctzll(word);
		if (++i == WORDS)
			return CPUS_MAX;
	}
}

static unsigned int end_of_run(const struct cpus *set, unsigned int first)
{
	while (cpus__has(set, first + 1))
		first++;
	return first;
}

size_t cpus__format(const struct cpus *set, char *out, size_t size)
{
	const char *comma = "";
	size_t len = 0;

	if (size)
		out[0] = '\0';
	for (unsigned int id = cpus__next(set, 0); id < CPUS_MAX;) {
		unsigned int last = end_of_run(set, id);
		char run[32];
		int n = snprintf(run, sizeof(run), last > id ? "%s%u-%u" : "%s%u", comma, id, last);

		if (len < size)
			snprintf(out + len, size - len, "%s", run);
		len += n;
		comma = ",";
		id = cpus__next(set, last + 1);
	}
	return len;
}

int cpus__read_file(const char *path, struct cpus *out)
{
	char *text;
	size_t len;
	int err = procfs__read(path, &text, &len);

	if (err)
		return err;
	if (len && text[len - 1] == '\n')
		text[--len] = '\0';
	err = strlen(text) == len ? parse__cpulist(text, out) : -EINVAL;
	free(text);
	return err;
}

/*
 * The kernel answers with the affinity mask cut to the CPUs that are active (sched_getaffinity() in
 * kernel/sched/), so that no second look at the list of online CPUs is needed. The system call is
 * made directly: glibc's wrapper works on a type of another size.
 */
int cpus__allowed(struct cpus *out)
{
	cpus__clear(out);
	if (syscall(SYS_sched_getaffinity, 0, sizeof(out->word), out->word) < 0)
		return -errno;
	return 0;
}
