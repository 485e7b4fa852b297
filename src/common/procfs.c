/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "procfs.h"

#define FIRST_READ 65536

/* How often a text that a CPU's coming or going has torn is read again. */
#define TORN_TRIES 3

/* What is left of a text. */
struct cursor {
	const char *at, *end;
};

/* Cuts off the next line, without its newline, if it has one. False at the end of the text. */
static bool take_line(struct cursor *text, struct cursor *line)
{
	if (text->at == text->end)
		return false;

	const char *newline = memchr(text->at, '\n', text->end - text->at);

	line->at = text->at;
	line->end = newline ? newline : text->end;
	text->at = newline ? newline + 1 : text->end;
	return true;
}

static void skip_spaces(struct cursor *line)
{
	while (line->at < line->end && *line->at == ' ')
		line->at++;
}

static bool take_text(struct cursor *line, const char *expected)
{
	size_t len = strlen(expected);

	if ((size_t)(line->end - line->at) < len || memcmp(line->at, expected, len) != 0)
		return false;
	line->at += len;
	return true;
}

/* A number that ends at a space or at the end of the line. */
static bool take_number(struct cursor *line, uint64_t *out)
{
	const char *first = line->at;
	uint64_t value = 0;

	for (; line->at < line->end && *line->at != ' '; line->at++) {
		if (*line->at < '0' || *line->at > '9')
			return false;
		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, *line->at - '0', &value))
			return false;
	}
	*out = value;
	return line->at > first;
}

/* The header: "CPU0 CPU2 ...", by rising id. */
static bool parse_header(struct cursor line, struct cpus *present)
{
	uint64_t id, lowest = 0;

	for (skip_spaces(&line); line.at < line.end; skip_spaces(&line)) {
		if (!take_text(&line, "CPU") || !take_number(&line, &id) || id < lowest ||
		    id >= CPUS_MAX)
			return false;
		cpus__add(present, id);
		lowest = id + 1;
	}
	return lowest > 0;
}

/*
 * One count per column of the header. A count fewer or more means that a CPU came or went between
 * the two lines; one that touches the end of the text may have lost its last digits.
 */
static bool parse_row(struct cursor line, const char *end_of_text, struct percpu_counts *out)
{
	uint64_t extra;

	cpus__for_each (id, &out->present) {
		skip_spaces(&line);
		if (!take_number(&line, &out->count[id]))
			return false;
	}
	if (line.at == end_of_text)
		return false;
	skip_spaces(&line);
	return !take_number(&line, &extra);
}

int procfs__parse_interrupts(const char *text, size_t len, const char *row,
			     struct percpu_counts *out)
{
	struct cursor rest = { text, text + len }, line;

	memset(out, 0, sizeof(*out));
	if (!take_line(&rest, &line) || !parse_header(line, &out->present))
		return -EBADMSG;
	while (take_line(&rest, &line)) {
		skip_spaces(&line);
		if (take_text(&line, row) && take_text(&line, ":"))
			return parse_row(line, text + len, out) ? 0 : -EBADMSG;
	}
	return -ENOENT;
}

int procfs__parse_keyed(const char *text, size_t len, const char *key, uint64_t *value)
{
	struct cursor rest = { text, text + len }, line;
	uint64_t number;

	while (take_line(&rest, &line)) {
		if (!take_text(&line, key) || !take_text(&line, " "))
			continue;
		/* Without its newline the number may have lost its last digits. */
		if (!take_number(&line, &number) || line.at != line.end || line.end == text + len)
			return -EBADMSG;
		*value = number;
		return 0;
	}
	return -ENOENT;
}

/* The kernel counts in an unsigned int per CPU, on x86 and on arm64, which wraps at 2^32. */
static uint64_t since(uint64_t before, uint64_t after)
{
	return after >= before ? after - before : (uint32_t)(after - before);
}

uint64_t procfs__delta(const struct percpu_counts *before, const struct percpu_counts *after,
		       bool *gone)
{
	uint64_t sum = 0;

	*gone = !cpus__equal(&before->present, &after->present);
	cpus__for_each (id, &after->present) {
		if (cpus__has(&before->present, id))
			sum += since(before->count[id], after->count[id]);
	}
	return sum;
}

/* Files of proc have no size, so the buffer grows until a read returns nothing. */
static int read_all(int fd, char **text, size_t *len)
{
	size_t size = FIRST_READ;

	for (;;) {
		char *larger = realloc(*text, size);

		if (!larger)
			return -ENOMEM;
		*text = larger;
		while (*len < size - 1) {
			ssize_t n = read(fd, *text + *len, size - 1 - *len);

			if (n < 0 && errno != EINTR)
				return -errno;
			if (n == 0) {
				(*text)[*len] = '\0';
				return 0;
			}
			if (n > 0)
				*len += n;
		}
		size *= 2;
	}
}

int procfs__read(const char *path, char **text, size_t *len)
{
	int err, fd = open(path, O_RDONLY | O_CLOEXEC);

	*text = NULL;
	*len = 0;
	if (fd < 0)
		return -errno;
	err = read_all(fd, text, len);
	if (err) {
		free(*text);
		*text = NULL;
		*len = 0;
	}
	close(fd);
	return err;
}

int procfs__interrupts(const char *row, struct percpu_counts *out)
{
	int err = -EBADMSG;

	for (int i = 0; err == -EBADMSG && i < TORN_TRIES; i++) {
		char *text;
		size_t len;

		err = procfs__read("/proc/interrupts", &text, &len);
		if (err)
			return err;
		err = procfs__parse_interrupts(text, len, row, out);
		free(text);
	}
	return err;
}

int procfs__vmstat(const char *key, uint64_t *value)
{
	char *text;
	size_t len;
	int err = procfs__read("/proc/vmstat", &text, &len);

	if (err)
		return err;
	err = procfs__parse_keyed(text, len, key, value);
	free(text);
	return err;
}
