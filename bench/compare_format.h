/* SPDX-License-Identifier: GPL-2.0-only */
/* How a comparison's numbers are written for people; the table and Markdown share it. */
#ifndef TLBBENCH_COMPARE_FORMAT_H
#define TLBBENCH_COMPARE_FORMAT_H

#include "compare.h"

/* Room for any number as number__format() writes it. */
#define NUMBER_SIZE 48

/*
 * "56,912", "1,229.0", "0.01234": at least four digits that count; a whole number is whole only
 * where the metric is a count.
 */
void number__format(char out[static NUMBER_SIZE], const struct metric *metric, double value);

/*
 * "-99.97%", "0.00%". Signed; with as many digits as it takes not to claim -100% for what is not
 * gone. Without a percentage: "new", or "n/a".
 */
void change__format(char out[static NUMBER_SIZE], const struct change *change);

/* A row's line for one side, cell by cell. Cells that do not apply are empty. */
struct compare_line {
	char title[64]; /* "*" marks times under emulation */
	const char *side;
	char median[NUMBER_SIZE], mean[NUMBER_SIZE], min[NUMBER_SIZE], max[NUMBER_SIZE];
	char n[NUMBER_SIZE];
	char low[NUMBER_SIZE], high[NUMBER_SIZE]; /* the 95% interval of the median */
	/* In the line of B. */
	char change[NUMBER_SIZE]; /* "~" if it is not significant */
	char p[NUMBER_SIZE];	  /* "0.008"; with "n" if by the normal approximation */
	const char *verdict;
};

void compare_line__make(struct compare_line *line, const struct compare_row *row, enum side side);

const char *side__name(enum side side);
const char *verdict__name(enum verdict verdict);

/* "7.3.4, tcg, 2026-11-30T12:00:00Z": what tells a side's file from another. To be freed. */
char *compare__side_facts(const struct compare *compare, enum side side);

/* Whose fault a warning is: "pageout, A, elapsed ms". To be freed; NULL if it has no subject. */
char *warning__subject(const struct compare_warning *warning);

/* A leaf of the environment as text: "7.3.4", "[1,2]", "not recorded". To be freed. */
char *leaf__text(const json_t *value);

/* The sentences that explain the signs used. Returns how many. */
#define LEGEND_MAX 4
size_t compare__legend(const struct compare *compare, const char *lines[static LEGEND_MAX]);

#endif
