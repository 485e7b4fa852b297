/* SPDX-License-Identifier: GPL-2.0-only */
/* The first line is the key, the rest the text. */
#include <errno.h>
#include <inttypes.h>

#include "common/procfs.h"
#include "fuzz.h"

/* A line of the kernel's form holds the key and this value. */
static void check_found(const char *key, uint64_t value)
{
	size_t size = strlen(key) + 32;
	char *line = malloc(size);
	uint64_t again;
	int len;

	promise(line);
	len = snprintf(line, size, "%s %" PRIu64 "\n", key, value);
	promise(procfs__parse_keyed(line, len, key, &again) == 0 && again == value);
	/* Cut by a byte, it is no number of fewer digits. */
	promise(procfs__parse_keyed(line, len - 1, key, &again) == -EBADMSG);
	free(line);
}

/* A part of the text gives the same value or none. */
static void check_part(const char *text, size_t size, const char *key, uint64_t value)
{
	char *part = string_of((const uint8_t *)text, size);
	uint64_t found = value;

	procfs__parse_keyed(part, size, key, &found);
	promise(found == value);
	free(part);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *newline = memchr(data, '\n', size);

	if (!newline || newline == data || memchr(data, '\0', newline - data))
		return 0;

	char *key = string_of(data, newline - data);
	const char *text = (const char *)newline + 1;
	size_t len = data + size - (newline + 1);
	uint64_t value = 0x5a;
	int err = procfs__parse_keyed(text, len, key, &value);

	promise(err == 0 || ((err == -ENOENT || err == -EBADMSG) && value == 0x5a));
	if (err == 0) {
		promise(memmem(text, len, key, strlen(key)));
		check_found(key, value);
		check_part(text, len / 2, key, value);
		check_part(text, len - 1, key, value);
	}
	free(key);
	return 0;
}
