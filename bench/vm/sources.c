/* SPDX-License-Identifier: GPL-2.0-only */
#include "vm/sources.h"

#include <ctype.h>
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/diag.h"
#include "common/procfs.h"

/* For hosts that are no Debian: the archive to use. */
#define MIRROR_ENV "TLBVM_MIRROR"

#define KEYRING "/usr/share/keyrings/debian-archive-keyring.gpg"

/* The suites that carry the kernels the patches are for, and newer ones. */
static const struct suite {
	const char *name;
	bool security, last_resort;
} suites[] = {
	{ "bookworm", false, false },	      { "bookworm-security", true, false },
	{ "trixie", false, false },	      { "trixie-security", true, false },
	{ "trixie-backports", false, false }, { "sid", false, true },
};

/* Names under which a Debian host may list its own release. */
static const char *const aliases[] = { "stable",  "oldstable", "oldoldstable",
				       "testing", "unstable",  "forky" };

static bool is_word(const char *word, size_t length, const char *wanted)
{
	return strlen(wanted) == length && !memcmp(word, wanted, length);
}

static bool is_archive_suite(const char *word, size_t length, const char *codename)
{
	if (codename && is_word(word, length, codename))
		return true;
	for (size_t i = 0; i < sizeof(suites) / sizeof(suites[0]); i++)
		if (!suites[i].security && is_word(word, length, suites[i].name))
			return true;
	for (size_t i = 0; i < sizeof(aliases) / sizeof(aliases[0]); i++)
		if (is_word(word, length, aliases[i]))
			return true;
	return false;
}

/* "bookworm-security", and "bullseye/updates" before that. */
static bool is_security_suite(const char *word, size_t length, const char *codename)
{
	static const char *const ends[] = { "-security", "/updates" };

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		size_t end = strlen(ends[i]);

		if (length > end && !memcmp(word + length - end, ends[i], end) &&
		    is_archive_suite(word, length - end, codename))
			return true;
	}
	return false;
}

static void keep(char **to, const char *word, size_t length)
{
	if (!*to)
		*to = strndup(word, length);
}

static const char *next_word(const char *at, const char *end, size_t *length)
{
	while (at < end && isspace((unsigned char)*at))
		at++;
	*length = 0;
	while (at + *length < end && !isspace((unsigned char)at[*length]))
		(*length)++;
	return *length ? at : NULL;
}

static void take_suite(struct mirrors *mirrors, const char *uri, size_t uri_length,
		       const char *suite, size_t suite_length, const char *codename)
{
	if (is_archive_suite(suite, suite_length, codename))
		keep(&mirrors->archive, uri, uri_length);
	else if (is_security_suite(suite, suite_length, codename))
		keep(&mirrors->security, uri, uri_length);
}

/* deb [ option=value ] URI suite component ... */
static void parse_line(struct mirrors *mirrors, const char *line, const char *end,
		       const char *codename)
{
	const char *hash = memchr(line, '#', (size_t)(end - line)), *uri, *suite;
	size_t length, uri_length;

	if (hash)
		end = hash;
	line = next_word(line, end, &length);
	if (!line || !is_word(line, length, "deb"))
		return;
	uri = next_word(line + length, end, &uri_length);
	if (uri && *uri == '[') {
		const char *close = memchr(uri, ']', (size_t)(end - uri));

		uri = close ? next_word(close + 1, end, &uri_length) : NULL;
	}
	suite = uri ? next_word(uri + uri_length, end, &length) : NULL;
	if (suite)
		take_suite(mirrors, uri, uri_length, suite, length, codename);
}

/* The fields of a deb822 stanza that matter, with continuation lines joined. */
struct stanza {
	char *types, *uris, *suites, *enabled;
};

static char **stanza__field(struct stanza *stanza, const char *name, size_t length)
{
	const struct {
		const char *name;
		char **field;
	} fields[] = { { "Types", &stanza->types },
		       { "URIs", &stanza->uris },
		       { "Suites", &stanza->suites },
		       { "Enabled", &stanza->enabled } };

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		if (strlen(fields[i].name) == length && !strncasecmp(name, fields[i].name, length))
			return fields[i].field;
	return NULL;
}

static void append(char **field, const char *text, size_t length)
{
	char *joined;

	if (asprintf(&joined, "%s %.*s", *field ? *field : "", (int)length, text) < 0)
		return;
	free(*field);
	*field = joined;
}

static bool has_word(const char *text, const char *wanted)
{
	const char *end = text ? text + strlen(text) : NULL, *at = text;
	size_t length;

	while (text && (at = next_word(at, end, &length))) {
		if (is_word(at, length, wanted))
			return true;
		at += length;
	}
	return false;
}

static void stanza__end(struct stanza *stanza, struct mirrors *mirrors, const char *codename)
{
	size_t length, uri_length;
	const char *end, *at, *uri;

	if (has_word(stanza->types, "deb") && !has_word(stanza->enabled, "no") &&
	    !has_word(stanza->enabled, "false") && stanza->uris && stanza->suites) {
		uri = next_word(stanza->uris, stanza->uris + strlen(stanza->uris), &uri_length);
		end = stanza->suites + strlen(stanza->suites);
		for (at = next_word(stanza->suites, end, &length); at && uri;
		     at = next_word(at + length, end, &length))
			take_suite(mirrors, uri, uri_length, at, length, codename);
	}
	free(stanza->types);
	free(stanza->uris);
	free(stanza->suites);
	free(stanza->enabled);
	*stanza = (struct stanza){ 0 };
}

static bool is_blank(const char *line, const char *end)
{
	while (line < end && isspace((unsigned char)*line))
		line++;
	return line == end;
}

static void parse_deb822(struct mirrors *mirrors, const char *text, const char *codename)
{
	struct stanza stanza = { 0 };
	char **field = NULL;

	for (const char *line = text, *end; *line; line = end + (*end == '\n')) {
		const char *colon;

		end = line + strcspn(line, "\n");
		if (*line == '#')
			continue;
		if (is_blank(line, end)) {
			stanza__end(&stanza, mirrors, codename);
			field = NULL;
			continue;
		}
		if (*line == ' ' || *line == '\t') {
			if (field)
				append(field, line, (size_t)(end - line));
			continue;
		}
		colon = memchr(line, ':', (size_t)(end - line));
		field = colon ? stanza__field(&stanza, line, (size_t)(colon - line)) : NULL;
		if (field)
			append(field, colon + 1, (size_t)(end - colon - 1));
	}
	stanza__end(&stanza, mirrors, codename);
}

void mirrors__parse(struct mirrors *mirrors, const char *text, bool deb822, const char *codename)
{
	if (deb822) {
		parse_deb822(mirrors, text, codename);
		return;
	}
	for (const char *line = text, *end; *line; line = end + (*end == '\n')) {
		end = line + strcspn(line, "\n");
		parse_line(mirrors, line, end, codename);
	}
}

char *mirrors__codename(void)
{
	char *text = NULL, *codename = NULL, *save = NULL;
	bool debian = false;
	size_t length;

	if (procfs__read("/etc/os-release", &text, &length))
		return NULL;
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		if (!strcmp(line, "ID=debian"))
			debian = true;
		if (!strncmp(line, "VERSION_CODENAME=", 17) && !codename)
			codename = strdup(line + 17);
	}
	free(text);
	if (!debian) {
		free(codename);
		return NULL;
	}
	return codename;
}

static void read_matching(struct mirrors *mirrors, const char *pattern, bool deb822,
			  const char *codename)
{
	glob_t found;

	if (glob(pattern, 0, NULL, &found) == 0)
		for (size_t i = 0; i < found.gl_pathc; i++) {
			char *text;
			size_t length;

			if (procfs__read(found.gl_pathv[i], &text, &length))
				continue;
			mirrors__parse(mirrors, text, deb822, codename);
			free(text);
		}
	globfree(&found);
}

int mirrors__read(struct mirrors *mirrors)
{
	const char *named = getenv(MIRROR_ENV);
	char *codename;

	memset(mirrors, 0, sizeof(*mirrors));
	if (named && *named) {
		mirrors->archive = strdup(named);
		return mirrors->archive ? 0 : diag__fail(ENOMEM, "read " MIRROR_ENV);
	}
	codename = mirrors__codename();
	read_matching(mirrors, "/etc/apt/sources.list", false, codename);
	read_matching(mirrors, "/etc/apt/sources.list.d/*.list", false, codename);
	read_matching(mirrors, "/etc/apt/sources.list.d/*.sources", true, codename);
	free(codename);
	if (mirrors->archive)
		return 0;
	diag__error("find a Debian archive: none in /etc/apt/sources.list, "
		    "/etc/apt/sources.list.d/*.list and *.sources");
	diag__hint("name one: " MIRROR_ENV "=http://...; or give a kernel image: --kernel PATH");
	mirrors__free(mirrors);
	return -ENOENT;
}

void mirrors__free(struct mirrors *mirrors)
{
	free(mirrors->archive);
	free(mirrors->security);
	memset(mirrors, 0, sizeof(*mirrors));
}

char *mirrors__sources_list(const struct mirrors *mirrors, const char *debian_arch, bool sid)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	for (size_t i = 0; out && i < sizeof(suites) / sizeof(suites[0]); i++) {
		const char *uri = suites[i].security ? mirrors->security : mirrors->archive;

		if (uri && (sid || !suites[i].last_resort))
			fprintf(out, "deb [arch=%s signed-by=" KEYRING "] %s %s main\n",
				debian_arch, uri, suites[i].name);
	}
	if (!out || fclose(out)) {
		diag__fail(ENOMEM, "list the suites");
		free(text);
		return NULL;
	}
	return text;
}
