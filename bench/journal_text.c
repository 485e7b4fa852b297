/* SPDX-License-Identifier: GPL-2.0-only */
/* Fields are separated by one space; in them, spaces, '%' and control bytes are written %xx. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/parse.h"
#include "journal_text.h"

#define HEAD "tlbbench-journal 1"

/* What each kind is called in the file, and how many fields follow. */
static const struct kind {
	const char *name;
	unsigned int fields;
} kinds[JOURNAL_KINDS] = {
	[JOURNAL_SETTING] = { "setting", 2 }, [JOURNAL_ZRAM_ADD] = { "zram-add", 1 },
	[JOURNAL_ZRAM] = { "zram", 1 },	      [JOURNAL_SWAP] = { "swap", 1 },
	[JOURNAL_SUBTREE] = { "subtree", 2 }, [JOURNAL_CGROUP] = { "cgroup", 1 },
};

static bool is_plain(unsigned char c)
{
	return c > ' ' && c != '%' && c != 0x7f;
}

static void put_field(FILE *out, const char *field)
{
	for (const unsigned char *c = (const unsigned char *)field; *c; c++) {
		if (is_plain(*c))
			fputc(*c, out);
		else
			fprintf(out, "%%%02x", *c);
	}
}

void journal_text__put_entry(FILE *out, const struct journal_entry *entry)
{
	const struct kind *kind = &kinds[entry->kind];

	fprintf(out, "%s ", kind->name);
	put_field(out, entry->subject);
	if (kind->fields == 2) {
		fputc(' ', out);
		put_field(out, entry->value);
	}
	fputc('\n', out);
}

void journal_text__put_head(FILE *out, const char *boot, pid_t pid)
{
	fprintf(out, "%s\nboot %s\npid %d\n", HEAD, boot, pid);
}

static int hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The text of one field, decoded; NULL if it is not what put_field() writes. */
static char *get_field(const char *text, size_t len)
{
	char *field = malloc(len + 1), *out = field;

	for (size_t i = 0; field && i < len; i++) {
		int high, low;

		if (is_plain(text[i])) {
			*out++ = text[i];
			continue;
		}
		high = text[i] == '%' && len - i > 2 ? hex(text[i + 1]) : -1;
		low = high < 0 ? -1 : hex(text[i + 2]);
		if (low < 0 || high * 16 + low == 0) {
			free(field);
			return NULL;
		}
		*out++ = high * 16 + low;
		i += 2;
	}
	if (field)
		*out = '\0';
	return field;
}

int journal_text__add(struct journal_text *text, enum journal_kind kind, char *subject, char *value)
{
	struct journal_entry *entries =
		realloc(text->entries, (text->count + 1) * sizeof(*text->entries));

	if (!entries || !subject || !value) {
		text->entries = entries ? entries : text->entries;
		free(subject);
		free(value);
		return -ENOMEM;
	}
	text->entries = entries;
	entries[text->count++] = (struct journal_entry){ kind, subject, value };
	return 0;
}

void journal_text__drop_last(struct journal_text *text)
{
	struct journal_entry *entry = &text->entries[--text->count];

	free(entry->subject);
	free(entry->value);
}

static int parse_entry(const char *line, size_t len, struct journal_text *out)
{
	const char *end = line + len, *space = memchr(line, ' ', len), *second = NULL;
	char *subject, *value;
	unsigned int kind = 0;

	if (!space)
		return -EBADMSG;
	while (kind < JOURNAL_KINDS && (strlen(kinds[kind].name) != (size_t)(space - line) ||
					memcmp(kinds[kind].name, line, space - line)))
		kind++;
	if (kind == JOURNAL_KINDS)
		return -EBADMSG;
	line = space + 1;
	if (kinds[kind].fields == 2) {
		second = memchr(line, ' ', end - line);
		if (!second)
			return -EBADMSG;
	}
	subject = get_field(line, (second ? second : end) - line);
	value = second ? get_field(second + 1, end - second - 1) : strdup("");
	if (!subject || !value || (!*subject && kind != JOURNAL_ZRAM_ADD)) {
		free(subject);
		free(value);
		return -EBADMSG;
	}
	return journal_text__add(out, kind, subject, value);
}

static int parse_boot(const char *line, size_t len, struct journal_text *out)
{
	size_t key = strlen("boot ");

	if (len <= key || memcmp(line, "boot ", key) || len - key >= sizeof(out->boot))
		return -EBADMSG;
	memcpy(out->boot, line + key, len - key);
	out->boot[len - key] = '\0';
	return strlen(out->boot) == len - key ? 0 : -EBADMSG;
}

static int parse_pid(const char *line, size_t len, struct journal_text *out)
{
	char text[16] = "";
	uint64_t pid;

	if (len <= strlen("pid ") || memcmp(line, "pid ", 4) || len - 4 >= sizeof(text))
		return -EBADMSG;
	memcpy(text, line + 4, len - 4);
	if (parse__u64(text, 1, INT32_MAX, &pid))
		return -EBADMSG;
	out->pid = pid;
	return 0;
}

int journal_text__parse(const char *text, size_t len, struct journal_text *out, unsigned int *line)
{
	const char *end;
	int err = 0;

	memset(out, 0, sizeof(*out));
	*line = 0;
	while (!err && (end = memchr(text, '\n', len))) {
		size_t size = end - text;

		switch (++*line) {
		case 1:
			err = size == strlen(HEAD) && !memcmp(text, HEAD, size) ? 0 : -EBADMSG;
			break;
		case 2:
			err = parse_boot(text, size, out);
			break;
		case 3:
			err = parse_pid(text, size, out);
			break;
		default:
			err = parse_entry(text, size, out);
		}
		len -= size + 1;
		text = end + 1;
	}
	return err;
}

void journal_text__free(struct journal_text *text)
{
	while (text->count)
		journal_text__drop_last(text);
	free(text->entries);
	memset(text, 0, sizeof(*text));
}
