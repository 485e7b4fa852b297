/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the parser of journals accepts it accepts again after writing it, and cut in its last line
 * without that line.
 */
#include <errno.h>

#include "fuzz.h"
#include "journal_text.h"

static void check_same(const struct journal_text *a, const struct journal_text *b, size_t count)
{
	promise(b->count == count && a->pid == b->pid && !strcmp(a->boot, b->boot));
	for (size_t i = 0; i < count; i++) {
		promise(a->entries[i].kind == b->entries[i].kind);
		promise(!strcmp(a->entries[i].subject, b->entries[i].subject));
		promise(!strcmp(a->entries[i].value, b->entries[i].value));
	}
}

static void check_written(const struct journal_text *text)
{
	struct journal_text again;
	unsigned int line;
	char *bytes = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&bytes, &len);

	promise(out);
	journal_text__put_head(out, text->boot, text->pid);
	for (size_t i = 0; i < text->count; i++)
		journal_text__put_entry(out, &text->entries[i]);
	promise(fclose(out) == 0);
	promise(journal_text__parse(bytes, len, &again, &line) == 0);
	check_same(text, &again, text->count);
	journal_text__free(&again);
	promise(journal_text__parse(bytes, len - 1, &again, &line) == 0);
	check_same(text, &again, text->count - 1);
	journal_text__free(&again);
	free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct journal_text text;
	unsigned int line;
	int err = journal_text__parse((const char *)data, size, &text, &line);

	promise(err == 0 || (err == -EBADMSG && line > 0));
	if (err == 0 && text.count)
		check_written(&text);
	journal_text__free(&text);
	return 0;
}
