/* SPDX-License-Identifier: GPL-2.0-only */
/* Kernel symbols by name, with the suffixes that compilers add. */
#ifndef TLBSTAT_SYMBOLS_H
#define TLBSTAT_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct symbol {
	const char *name;    /* asked for; not owned */
	uint64_t address;    /* 0: hidden (kptr_restrict) or not there */
	char found[96];	     /* the name in the kernel: NAME, or NAME with a suffix; "" if none */
	bool same_arguments; /* the plain name, or one whose suffix keeps the arguments (.llvm.N) */
};

/* A line of /proc/kallsyms. */
struct symbol_line {
	uint64_t address;
	char type;	  /* as nm(1) has it */
	const char *name; /* not terminated */
	size_t len;
	bool module; /* a module's */
};

/*
 * The next line between *text and @end; *text moves behind it. Lines of another form are skipped.
 * False at the end.
 */
bool symbols__next(const char **text, const char *end, struct symbol_line *line);

/*
 * Looks the symbols up in the text of /proc/kallsyms, all in one pass. The plain name wins over one
 * with a suffix; .cold parts and module symbols are no answer. Several suffixed forms of one name
 * are several functions: the first is kept, and same_arguments is false.
 */
void symbols__find_in(const char *text, size_t len, struct symbol *symbols, size_t count);

/* The same from /proc/kallsyms itself. 0 or a negative errno; prints nothing. */
int symbols__find(struct symbol *symbols, size_t count);

#endif
