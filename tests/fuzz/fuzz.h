/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A fuzz target gets any bytes and says what must hold for them, by promise(). Built by
 * "make fuzz"; a seed for it is any file in corpus/NAME of fuzz_NAME.c.
 */
#ifndef TLBSTAT_FUZZ_H
#define TLBSTAT_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define promise(condition)                                                                 \
	do {                                                                               \
		if (!(condition)) {                                                        \
			fprintf(stderr, "%s:%d: broken promise: %s\n", __FILE__, __LINE__, \
				#condition);                                               \
			abort();                                                           \
		}                                                                          \
	} while (0)

/* The bytes as a C string of its own, so that a read past the end is seen; to be freed. */
static inline char *string_of(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	promise(text);
	memcpy(text, data, size);
	text[size] = '\0';
	return text;
}

#endif
