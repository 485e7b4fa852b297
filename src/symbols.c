/* SPDX-License-Identifier: GPL-2.0-only */
#include "symbols.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/procfs.h"

/* How a kernel symbol's name relates to the one asked for. */
enum likeness {
	OTHER,
	SUFFIXED,
	RENAMED,
	SAME
};

static enum likeness compare(const char *name, size_t len, const char *wanted)
{
	size_t wanted_len = strlen(wanted);
	const char *suffix = name + wanted_len;
	size_t suffix_len = len - wanted_len;

	if (len < wanted_len || memcmp(name, wanted, wanted_len) != 0)
		return OTHER;
	if (len == wanted_len)
		return SAME;
	if (*suffix != '.')
		return OTHER;
	if (suffix_len >= 5 && memcmp(suffix, ".cold", 5) == 0)
		return OTHER;
	if (suffix_len >= 6 && memcmp(suffix, ".llvm.", 6) == 0)
		return RENAMED;
	return SUFFIXED;
}

static void take(struct symbol *symbol, uint64_t address, const char *name, size_t len,
		 enum likeness likeness)
{
	bool had_suffixed = symbol->found[0] && strcmp(symbol->found, symbol->name) != 0;

	if (likeness == SAME) {
		if (symbol->found[0] && !had_suffixed)
			return;
	} else if (symbol->found[0]) {
		/* A second form: which of them is called cannot be known from the name. */
		if (had_suffixed)
			symbol->same_arguments = false;
		return;
	}
	symbol->address = address;
	symbol->same_arguments = likeness != SUFFIXED;
	snprintf(symbol->found, sizeof(symbol->found), "%.*s", (int)len, name);
}

/* One line: "ffffffff81000000 T name" or "... T name\t[module]". */
static void find_in_line(const char *line, size_t len, struct symbol *symbols, size_t count)
{
	const char *end = line + len, *name, *name_end;
	uint64_t address = 0;
	const char *p = line;

	for (; p < end && *p != ' '; p++) {
		unsigned int digit;

		if (*p >= '0' && *p <= '9')
			digit = *p - '0';
		else if (*p >= 'a' && *p <= 'f')
			digit = *p - 'a' + 10;
		else
			return;
		address = address << 4 | digit;
	}
	if (end - p < 4 || p[2] != ' ')
		return;
	name = p + 3;
	if (memchr(name, '\t', end - name))
		return; /* a module's */
	name_end = end;
	for (size_t i = 0; i < count; i++) {
		enum likeness likeness = compare(name, name_end - name, symbols[i].name);

		if (likeness != OTHER)
			take(&symbols[i], address, name, name_end - name, likeness);
	}
}

void symbols__find_in(const char *text, size_t len, struct symbol *symbols, size_t count)
{
	const char *end = text + len;

	for (size_t i = 0; i < count; i++) {
		symbols[i].address = 0;
		symbols[i].found[0] = '\0';
		symbols[i].same_arguments = false;
	}
	while (text < end) {
		const char *newline = memchr(text, '\n', end - text);
		const char *line_end = newline ? newline : end;

		find_in_line(text, line_end - text, symbols, count);
		text = line_end + 1;
	}
}

int symbols__find(struct symbol *symbols, size_t count)
{
	char *text;
	size_t len;
	int err = procfs__read("/proc/kallsyms", &text, &len);

	if (err)
		return err;
	symbols__find_in(text, len, symbols, count);
	free(text);
	return 0;
}
