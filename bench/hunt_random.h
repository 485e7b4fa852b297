/* SPDX-License-Identifier: GPL-2.0-only */
/* Repeatable random choices (splitmix64): the same seed makes the same ones. */
#ifndef TLBBENCH_HUNT_RANDOM_H
#define TLBBENCH_HUNT_RANDOM_H

#include <stdint.h>

struct hunt_random {
	uint64_t state;
};

static inline uint64_t hunt_random__next(struct hunt_random *random)
{
	uint64_t x = random->state += 0x9e3779b97f4a7c15ull;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

/* 0 to @below - 1. */
static inline uint32_t hunt_random__below(struct hunt_random *random, uint32_t below)
{
	return hunt_random__next(random) % below;
}

#endif
