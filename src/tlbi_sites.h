/* SPDX-License-Identifier: GPL-2.0-only */
/* Where a kernel's text has TLB invalidations: found by decoding it, named by /proc/kallsyms. */
#ifndef TLBSTAT_TLBI_SITES_H
#define TLBSTAT_TLBI_SITES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbols.h"
#include "tlbi_limits.h"

struct tlbi_site {
	uint64_t address;
	uint32_t word;
	int operation;	     /* of tlbi_operations[] */
	bool repeat;	     /* of a workaround that executes a TLBI twice */
	unsigned int loaded; /* an exclusive load is so many instructions before it, 0: none */
	char symbol[64];     /* "" if not known */
	uint64_t offset;
	char why[112]; /* it is not probed; "" if it is */
};

/*
 * A function with sites that cannot be probed. How often it is called can be counted, and tells
 * whether anything is amiss.
 */
struct tlbi_function {
	uint64_t start;
	char symbol[64];
	unsigned int sites;	      /* not probed, in it */
	unsigned int callers, unseen; /* places that call it, and those without a kprobe */
};
#define TLBI_FUNCTIONS_MAX 256

struct tlbi_sites {
	struct tlbi_site site[TLBI_SITES_MAX];
	unsigned int count;
	struct tlbi_function function[TLBI_FUNCTIONS_MAX]; /* in the order of their starts */
	unsigned int functions;
	unsigned int breakpoints; /* of other kprobes: what they replaced cannot be seen */
};

/*
 * Finds the TLBIs among @words instructions that are at @address. 0, or -E2BIG if there are more
 * than are counted.
 */
int tlbi_sites__find_in(struct tlbi_sites *sites, const uint32_t *text, size_t words,
			uint64_t address);

/* Gives each site the symbol of the text before it, from the text of /proc/kallsyms. */
void tlbi_sites__name(struct tlbi_sites *sites, const char *kallsyms, size_t len);

/* A part of the kernel's text in which kprobes are refused. */
struct tlbi_area {
	const char *start, *end; /* symbols */
	const char *what;	 /* "code that must not be probed" */
};
extern const struct tlbi_area tlbi_areas[];
#define TLBI_AREAS 7

/* Instructions at the start of a function that tell whether ftrace knows it. */
#define TLBI_ENTRY_WORDS 3

/*
 * Why the kernel refuses a kprobe at @site with @err (positive). @bounds: the symbols of each
 * area's start and end, in turn. @entry: how the function of the site begins.
 */
void tlbi_site__explain(struct tlbi_site *site, int err, const struct symbol *bounds,
			const uint32_t entry[TLBI_ENTRY_WORDS]);

/*
 * Notes the functions of the sites that are not probed and have a name. 0, or -E2BIG if there are
 * more than are counted.
 */
int tlbi_sites__find_functions(struct tlbi_sites *sites);

/* The one of these functions that begins at @start, or -1. */
int tlbi_sites__function_at(const struct tlbi_sites *sites, uint64_t start);

/* The function that an instruction at @address calls or branches to, or -1 if it is none of ours.
 */
int tlbi_sites__called(const struct tlbi_sites *sites, uint32_t word, uint64_t address);

#endif
