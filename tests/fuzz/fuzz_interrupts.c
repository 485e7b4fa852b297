/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <inttypes.h>

#include "common/procfs.h"
#include "fuzz.h"

/* 64 KiB each. */
static struct percpu_counts counts, again;

/* Written as the kernel does, the same counts read back. */
static void check_round_trip(void)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	promise(out);
	fputs("           ", out);
	cpus__for_each (id, &counts.present) {
		fprintf(out, "CPU%-8u", id);
	}
	fputs("\nTLB: ", out);
	cpus__for_each (id, &counts.present) {
		fprintf(out, "%10" PRIu64 " ", counts.count[id]);
	}
	fputs("  TLB shootdowns\n", out);
	fclose(out);
	promise(procfs__parse_interrupts(text, len, "TLB", &again) == 0);
	promise(memcmp(&counts, &again, sizeof(counts)) == 0);
	free(text);
}

static void check_counts(void)
{
	promise(cpus__count(&counts.present) > 0);
	for (unsigned int id = 0; id < CPUS_MAX; id++)
		promise(counts.count[id] == 0 || cpus__has(&counts.present, id));
}

/* The next word of a line, as a number, with what is said before it taken off. */
static uint64_t next_number(char **at, const char *before)
{
	*at += strspn(*at, " ");
	promise(strncmp(*at, before, strlen(before)) == 0);
	errno = 0;
	uint64_t number = strtoull(*at + strlen(before), at, 10);

	promise(errno == 0);
	return number;
}

/* The same as the C library reads it. */
static void check_against_text(const uint8_t *data, size_t size)
{
	char *text = string_of(data, size), *header = text, *row = strchr(text, '\n');
	unsigned int columns = 0;

	while (row && strncmp(row + 1 + strspn(row + 1, " "), "TLB:", 4) != 0)
		row = strchr(row + 1, '\n');
	if (strlen(text) == size) {
		promise(row);
		row = strchr(row, ':') + 1;
		cpus__for_each (id, &counts.present) {
			promise(next_number(&header, "CPU") == id);
			promise(next_number(&row, "") == counts.count[id]);
			columns++;
		}
		promise(header[strspn(header, " ")] == '\n' && columns > 0);
	}
	free(text);
}

/* A part of the text gives the same counts or none. */
static void check_part(const uint8_t *data, size_t size)
{
	char *part = string_of(data, size);

	if (procfs__parse_interrupts(part, size, "TLB", &again) == 0)
		promise(memcmp(&counts, &again, sizeof(counts)) == 0);
	free(part);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int err = procfs__parse_interrupts((const char *)data, size, "TLB", &counts);

	promise(err == 0 || err == -ENOENT || err == -EBADMSG);
	if (err)
		return 0;
	check_counts();
	check_against_text(data, size);
	check_round_trip();
	for (size_t cut = 1; cut <= 32 && cut < size; cut++)
		check_part(data, size - cut);
	check_part(data, size / 2);
	return 0;
}
