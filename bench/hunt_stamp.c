/* SPDX-License-Identifier: GPL-2.0-only */
#include <stdio.h>

#include "hunt_stamp.h"

/* 20 bits of page, 12 of writer, 32 of generation. */
#define WRITER_BITS	12
#define GENERATION_BITS 32

uint64_t hunt_stamp__word(uint32_t page, uint32_t writer, uint32_t generation)
{
	return ((uint64_t)page << WRITER_BITS | writer) << GENERATION_BITS | generation;
}

struct hunt_stamp hunt_stamp__read(uint64_t word)
{
	uint32_t place = word >> GENERATION_BITS;

	return (struct hunt_stamp){
		.page = place >> WRITER_BITS,
		.writer = place & ((1u << WRITER_BITS) - 1),
		.generation = (uint32_t)word,
	};
}

uint64_t hunt_stamp__next(uint64_t word, uint32_t page, uint32_t writer)
{
	return hunt_stamp__word(page, writer, hunt_stamp__read(word).generation + 1);
}

enum hunt_fault hunt_stamp__judge(uint64_t found, uint64_t recorded, uint32_t page, uint32_t writer,
				  bool exact)
{
	struct hunt_stamp stamp = hunt_stamp__read(found);
	uint32_t expected = hunt_stamp__read(recorded).generation;

	if (found == recorded)
		return HUNT_SOUND;
	if (found && (stamp.page != page || stamp.writer != writer))
		return HUNT_FOREIGN;
	if (stamp.generation < expected)
		return HUNT_LOST;
	return exact ? HUNT_UNKNOWN : HUNT_SOUND;
}

void hunt_stamp__format(uint64_t word, char *out, size_t size)
{
	struct hunt_stamp stamp = hunt_stamp__read(word);

	if (!word)
		snprintf(out, size, "never written");
	else
		snprintf(out, size, "page %u, writer %u, generation %u", stamp.page, stamp.writer,
			 stamp.generation);
}
