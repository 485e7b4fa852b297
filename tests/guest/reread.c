/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * reread FILE TIMES BEGIN END
 *
 * Reads FILE so many times, as fast as it can be, and prints how many were not there or did not
 * begin with BEGIN and have END and a number in their last line, and how many changes it saw.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char text[1 << 20];

/* The inode's number, or 0. */
static ino_t read_file(const char *path, size_t *len)
{
	int fd = open(path, O_RDONLY);
	struct stat st;
	ssize_t n;

	*len = 0;
	if (fd < 0)
		return 0;
	while ((n = read(fd, text + *len, sizeof(text) - 1 - *len)) > 0)
		*len += n;
	fstat(fd, &st);
	close(fd);
	text[*len] = '\0';
	return n < 0 ? 0 : st.st_ino;
}

static bool is_whole(size_t len, const char *begin, const char *end)
{
	char *last;

	if (strlen(text) != len || len < 2 || text[len - 1] != '\n')
		return false;
	text[len - 1] = '\0';
	last = strrchr(text, '\n');
	return strncmp(text, begin, strlen(begin)) == 0 && last &&
	       strncmp(last + 1, end, strlen(end)) == 0 && strchr(last, ' ');
}

int main(int argc, char **argv)
{
	long torn = 0, changes = -1;
	ino_t before = 0;

	if (argc != 5)
		return 2;
	for (long i = 0; i < atol(argv[2]); i++) {
		size_t len;
		ino_t inode = read_file(argv[1], &len);

		torn += !inode || !is_whole(len, argv[3], argv[4]);
		changes += inode != before;
		before = inode;
	}
	printf("%ld torn, %ld changes\n", torn, changes);
	return torn || changes < 1;
}
