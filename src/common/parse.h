/* SPDX-License-Identifier: GPL-2.0-only */
/* Numbers, sizes, times and lists from the command line: refused unless they parse as a whole. */
#ifndef TLBSTAT_PARSE_H
#define TLBSTAT_PARSE_H

#include <stddef.h>
#include <stdint.h>

#include "cpus.h"

/* Each returns 0 or -EINVAL/-ERANGE, prints nothing, and leaves *out alone on failure. */

/* A decimal number without sign or space, within [min, max]. */
int parse__u64(const char *text, uint64_t min, uint64_t max, uint64_t *out);

/* Bytes: a number with an optional suffix K, M, G or T (powers of 1024), in capitals. */
int parse__size(const char *text, uint64_t *bytes);

/*
 * Time: "1", "0.5", "250ms", "2s", "3m"; a number without a suffix is seconds. Units are ns, us,
 * ms, s, m and h; a fraction has up to nine digits. In nanoseconds, rounded down.
 */
int parse__duration(const char *text, uint64_t *ns);

/* A kernel CPU or node list: "0-3,7,9-10"; an empty text is the empty set. */
int parse__cpulist(const char *text, struct cpus *out);

/*
 * The same for options: on failure prints what was given and what is expected for @option, and
 * exits with EXIT_USAGE.
 */
uint64_t parse__u64_or_err(const char *option, const char *text, uint64_t min, uint64_t max);
uint64_t parse__size_or_err(const char *option, const char *text);
uint64_t parse__duration_or_err(const char *option, const char *text);
void parse__cpulist_or_err(const char *option, const char *text, struct cpus *out);

/* The position of @text in the NULL-terminated @choices, which are told where it is none of them.
 */
int parse__choice_or_err(const char *option, const char *text, const char *const *choices);

#endif
