/* SPDX-License-Identifier: GPL-2.0-only */
/* What a report and "tlbstat check" say of TLB invalidations, where these are counted. */
#ifndef TLBSTAT_TLBI_REPORT_H
#define TLBSTAT_TLBI_REPORT_H

#include <stdio.h>

#include <jansson.h>

#include "tlbi.h"
#include "tlbi_sites.h"

/* Counts of some time, summed up. Repeats of a workaround are in none but repeats. */
struct tlbi_totals {
	uint64_t operation[TLBI_OPERATIONS];
	uint64_t reach[TLBI_REACHES];
	uint64_t repeats;
	uint64_t blind_calls;		     /* of functions with sites that are not probed */
	unsigned int sites[TLBI_OPERATIONS]; /* that are probed */
	unsigned int probed, skipped;
};

void tlbi_totals__make(struct tlbi_totals *out, const struct tlbi_sites *sites,
		       const uint64_t *count);

/* The site with the highest count, or NULL if nothing was counted. */
const struct tlbi_site *tlbi__busiest(const struct tlbi_sites *sites, const uint64_t *count);

/* "function+0x12", or an address. */
void tlbi_site__format(const struct tlbi_site *site, char out[96]);

/* By operation, then the busiest sites (@all: each), then what is not counted and why. */
void tlbi__print(const struct tlbi_sites *sites, const uint64_t *count, bool all, FILE *out);

/* One row per site; count is empty where it is not seen. @time is the first field, if not NULL. */
void tlbi__csv_header(FILE *out);
void tlbi__csv_rows(const struct tlbi_sites *sites, const uint64_t *count, double seconds,
		    const char *time, FILE *out);

/* New references. @count is NULL where nothing was counted yet. */
json_t *tlbi__json(const struct tlbi_sites *sites, const uint64_t *count);

/* For "tlbstat check": how many are probed, by operation, and what is not. */
void tlbi__print_check(const struct tlbi_sites *sites, bool all, FILE *out);

#endif
