/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * reread FILE READS CHANGES [PAUSE]
 *
 * Reads a file of Prometheus' text format over and over, as fast as it can be, until it has read it
 * READS times and seen CHANGES new files in its place. With PAUSE it waits so many microseconds
 * after each look, and reads new files only. Each time it must be there and be valid as a whole,
 * have each series that it had before, and none of a counter or a histogram may be smaller, unless
 * the writer has started anew. Prints what was seen, and what was wrong first.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SERIES_MAX 4096
#define START	   "tlbstat_start_time_seconds"

struct series {
	const char *name; /* with its labels; in the text */
	double value;
	bool counts;
};

struct content {
	char text[1 << 20];
	struct series series[SERIES_MAX];
	int count;
	double start;
};

static struct content contents[2];
static char wrong[512];
/* Notes the first thing that is wrong; false. */
static bool fault(const char *what, const char *where)
{
	if (!*wrong)
		snprintf(wrong, sizeof(wrong), "%s: %.300s", what, where);
	return false;
}

/* The inode's number, or 0. */
static ino_t read_file(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY);
	struct stat st = { 0 };
	size_t len = 0;
	ssize_t n;

	*text = '\0';
	if (fd < 0)
		return 0;
	while ((n = read(fd, text + len, size - 1 - len)) > 0)
		len += n;
	fstat(fd, &st);
	close(fd);
	text[len] = '\0';
	return n < 0 || strlen(text) != len ? 0 : st.st_ino;
}

/* The end of "{label="value",...}", or NULL. */
static char *skip_labels(char *at)
{
	do {
		at++;
		at += strspn(at, "abcdefghijklmnopqrstuvwxyz_");
		if (*at++ != '=' || *at++ != '"')
			return NULL;
		while (*at && *at != '"')
			at += *at == '\\' && at[1] ? 2 : 1;
		if (*at++ != '"')
			return NULL;
	} while (*at == ',');
	return *at == '}' ? at + 1 : NULL;
}

/* "name{labels} value" */
static bool parse_series(char *line, bool counts, struct content *out)
{
	struct series *series = &out->series[out->count];
	char *at = line + strspn(line, "abcdefghijklmnopqrstuvwxyz_"), *rest;

	if (at == line || out->count == SERIES_MAX)
		return fault("no series", line);
	if (*at == '{')
		at = skip_labels(at);
	if (!at || *at != ' ')
		return fault("no series", line);
	errno = 0;
	series->value = strtod(at + 1, &rest);
	if (rest == at + 1 || *rest || errno)
		return fault("no number", line);
	*at = '\0';
	series->name = line;
	series->counts = counts;
	if (strcmp(line, START) == 0)
		out->start = series->value;
	out->count++;
	return true;
}

/* Lines "# HELP", "# TYPE" and of series; the last one whole, and of the last family. */
static bool parse(struct content *out)
{
	char *text = out->text, *line;
	bool counts = false, typed = false;

	out->count = 0;
	out->start = 0;
	if (!*text || text[strlen(text) - 1] != '\n')
		return fault("no whole last line", *text ? "" : "empty");
	while (*(line = text)) {
		text += strcspn(text, "\n");
		*text++ = '\0';
		if (strncmp(line, "# TYPE tlbstat_", 15) == 0) {
			counts = strcmp(strrchr(line, ' '), " gauge") != 0;
			typed = true;
		} else if (strncmp(line, "# HELP tlbstat_", 15) == 0) {
			typed = false;
		} else if (!typed || !parse_series(line, counts, out)) {
			return fault("no type", line);
		}
	}
	if (!out->start || strncmp(out->series[out->count - 1].name, "tlbstat_build_info{", 19))
		return fault("the end is missing after", out->series[out->count - 1].name);
	return true;
}

/* Series keep their order, new ones may come in between. */
static bool follows(const struct content *before, const struct content *now)
{
	int at = 0;

	if (before->start != now->start)
		return true;
	for (int i = 0; i < now->count && at < before->count; i++) {
		const struct series *series = &now->series[i];

		if (strcmp(series->name, before->series[at].name) != 0)
			continue;
		if (series->counts && series->value < before->series[at].value)
			return fault("decreased", series->name);
		at++;
	}
	return at == before->count ? true : fault("is gone", before->series[at].name);
}

/* After a pause. */
static bool is_same(const char *path, ino_t inode, long pause)
{
	struct stat st;

	usleep(pause);
	return stat(path, &st) == 0 && st.st_ino == inode;
}

int main(int argc, char **argv)
{
	long torn = 0, decreased = 0, changes = -1, looks = 0, reads, wanted, pause;
	struct content *now = contents, *before = NULL;
	ino_t last = 0;

	if (argc != 4 && argc != 5)
		return 2;
	reads = atol(argv[2]);
	wanted = atol(argv[3]);
	pause = argc == 5 ? atol(argv[4]) : 0;
	while (looks < reads || (changes < wanted && !torn)) {
		ino_t inode;

		if (pause && last && is_same(argv[1], last, pause))
			continue;
		inode = read_file(argv[1], now->text, sizeof(now->text));
		looks++;
		changes += inode != last;
		last = inode;
		if (!inode)
			fault("cannot be read", strerror(errno));
		if (!inode || !parse(now)) {
			torn++;
			continue;
		}
		if (before)
			decreased += !follows(before, now);
		before = now;
		now = now == contents ? contents + 1 : contents;
	}
	printf("%ld reads, %ld torn, %ld decreased, %ld changes%s%s\n", looks, torn, decreased,
	       changes, *wrong ? "; " : "", wrong);
	return torn || decreased || changes < wanted;
}
