/* SPDX-License-Identifier: GPL-2.0-only */
/* The guest's console: kept to be shown, and searched for the kernel's complaints. */
#ifndef TLBVM_CONSOLE_H
#define TLBVM_CONSOLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define CONSOLE_LINES 30
#define CONSOLE_WIDTH 256

struct console {
	char line[CONSOLE_LINES][CONSOLE_WIDTH]; /* a ring of the last lines */
	unsigned long lines;			 /* how many there were */
	char partial[CONSOLE_WIDTH];		 /* a line that has not ended yet */
	size_t partial_length;
	char splat[CONSOLE_WIDTH]; /* the first complaint, or "" */
	bool panicked;
	bool end_marked; /* JOB_END_MARK was seen */
	FILE *log;	 /* a copy of all bytes, or NULL */
};

void console__init(struct console *console, FILE *log);
void console__feed(struct console *console, const char *data, size_t length);

/* Prints the last lines on stderr. */
void console__print_tail(const struct console *console);

/*
 * Whether the kernel complains in this line: panic, oops, BUG, WARNING, lockup, stall, hung task,
 * sanitizers. Such words inside a message ("Spectre V2 : WARNING: ...") are no complaint.
 */
bool console__is_splat(const char *line);

#endif
