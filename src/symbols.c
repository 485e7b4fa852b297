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

/* Hexadecimal up to a space; false if it is anything else. */
static bool parse_address(const char **text, const char *end, uint64_t *address)
{
	*address = 0;
	for (; *text < end && **text != ' '; ++*text) {
		char c = **text;

		if (c >= '0' && c <= '9')
			*address = *address << 4 | (c - '0');
		else if (c >= 'a' && c <= 'f')
			*address = *address << 4 | (c - 'a' + 10);
		else
			return false;
	}
	return true;
}

/* One line: "ffffffff81000000 T name" or "... T name\t[module]". */
static bool parse_line(const char *line, const char *end, struct symbol_line *out)
{
	const char *tab;

	if (!parse_address(&line, end, &out->address) || end - line < 4 || line[2] != ' ')
		return false;
	out->type = line[1];
	out->name = line + 3;
	tab = memchr(out->name, '\t', end - out->name);
	out->module = tab;
	out->len = (tab ? tab : end) - out->name;
	return true;
}

bool symbols__next(const char **text, const char *end, struct symbol_line *out)
{
	while (*text < end) {
		const char *line = *text, *newline = memchr(line, '\n', end - line);

		*text = newline ? newline + 1 : end;
		if (parse_line(line, newline ? newline : end, out))
			return true;
	}
	return false;
}

void symbols__find_in(const char *text, size_t len, struct symbol *symbols, size_t count)
{
	const char *end = text + len;
	struct symbol_line line;

	for (size_t i = 0; i < count; i++) {
		symbols[i].address = 0;
		symbols[i].found[0] = '\0';
		symbols[i].same_arguments = false;
	}
	while (symbols__next(&text, end, &line)) {
		if (line.module)
			continue;
		for (size_t i = 0; i < count; i++) {
			enum likeness likeness = compare(line.name, line.len, symbols[i].name);

			if (likeness != OTHER)
				take(&symbols[i], line.address, line.name, line.len, likeness);
		}
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
