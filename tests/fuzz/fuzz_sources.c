/* SPDX-License-Identifier: GPL-2.0-only */
#include "vm/sources.h"
#include "fuzz.h"

/* A URI is a word of the text, and keeps to one line of the list that is made of it. */
static void check_uri(const char *uri, const char *text)
{
	if (!uri)
		return;
	promise(*uri && strstr(text, uri));
	promise(!strpbrk(uri, " \t\n\r\v\f"));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = string_of(data, size), *list;

	for (int deb822 = 0; deb822 < 2; deb822++) {
		struct mirrors mirrors = { 0 };

		mirrors__parse(&mirrors, text, deb822, "bookworm");
		check_uri(mirrors.archive, text);
		check_uri(mirrors.security, text);
		list = mirrors__sources_list(&mirrors, "amd64", true);
		promise(list && !mirrors.archive == !strstr(list, " sid main\n"));
		free(list);
		mirrors__free(&mirrors);
	}
	free(text);
	return 0;
}
