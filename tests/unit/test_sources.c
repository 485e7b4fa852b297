/* SPDX-License-Identifier: GPL-2.0-only */
#include "support.h"

#include "vm/sources.h"

#define ARCHIVE	 "http://mirror.example/debian"
#define SECURITY "http://mirror.example/debian-security"

static void expect(const char *text, bool deb822, const char *codename, const char *archive,
		   const char *security)
{
	struct mirrors mirrors = { 0 };

	mirrors__parse(&mirrors, text, deb822, codename);
	assert_string_equal(mirrors.archive ? mirrors.archive : "none", archive ? archive : "none");
	assert_string_equal(mirrors.security ? mirrors.security : "none",
			    security ? security : "none");
	mirrors__free(&mirrors);
}

static void one_line_sources_are_read(void **state)
{
	(void)state;
	expect("deb " ARCHIVE " bookworm main\n", false, "bookworm", ARCHIVE, NULL);
	expect("deb\t" ARCHIVE "   bookworm\tmain contrib", false, "bookworm", ARCHIVE, NULL);
	expect("deb [arch=amd64 signed-by=/k.gpg] " ARCHIVE " bookworm main\n", false, "bookworm",
	       ARCHIVE, NULL);
	expect("deb [ arch=amd64 ] " ARCHIVE " stable main\n", false, "bookworm", ARCHIVE, NULL);
	expect("deb " ARCHIVE " bookworm main\n"
	       "deb " SECURITY " bookworm-security main\n",
	       false, "bookworm", ARCHIVE, SECURITY);
	expect("deb " SECURITY " bookworm/updates main\n"
	       "deb " ARCHIVE " bookworm main # the archive\n",
	       false, "bookworm", ARCHIVE, SECURITY);
}

static void the_first_archive_is_taken(void **state)
{
	(void)state;
	expect("deb " ARCHIVE " bookworm main\ndeb http://second.example/debian bookworm main\n",
	       false, "bookworm", ARCHIVE, NULL);
}

static void other_archives_are_left_alone(void **state)
{
	(void)state;
	expect("# deb " ARCHIVE " bookworm main\n", false, "bookworm", NULL, NULL);
	expect("deb-src " ARCHIVE " bookworm main\n", false, "bookworm", NULL, NULL);
	expect("deb https://tools.example/apt nodistro main\n", false, "bookworm", NULL, NULL);
	expect("deb https://tools.example/apt bookworm-tools main\n", false, "bookworm", NULL,
	       NULL);
	/* Another distribution's release of the same host is no Debian archive. */
	expect("deb http://other.example/os noble main\n", false, NULL, NULL, NULL);
	expect("deb\n", false, "bookworm", NULL, NULL);
	expect("deb " ARCHIVE "\n", false, "bookworm", NULL, NULL);
	expect("deb [arch=amd64 " ARCHIVE " bookworm main\n", false, "bookworm", NULL, NULL);
	expect("", false, "bookworm", NULL, NULL);
}

static void deb822_sources_are_read(void **state)
{
	(void)state;
	expect("Types: deb\n"
	       "# a comment in between\n"
	       "URIs: " ARCHIVE "\n"
	       "Suites: bookworm bookworm-updates\n"
	       "Components: main\n"
	       "\n"
	       "Types: deb deb-src\n"
	       "URIs: " SECURITY "\n"
	       "Suites: bookworm-security\n",
	       true, "bookworm", ARCHIVE, SECURITY);
	expect("types: deb\nuris: " ARCHIVE " http://second.example/debian\nsuites: trixie", true,
	       NULL, ARCHIVE, NULL);
	expect("Types: deb\nURIs:\n " ARCHIVE "\nSuites:\n bookworm-updates\n bookworm\n", true,
	       "bookworm", ARCHIVE, NULL);
}

static void deb822_stanzas_that_do_not_count_are_left_alone(void **state)
{
	(void)state;
	expect("Enabled: no\nTypes: deb\nURIs: " ARCHIVE "\nSuites: bookworm\n", true, "bookworm",
	       NULL, NULL);
	expect("Types: deb-src\nURIs: " ARCHIVE "\nSuites: bookworm\n", true, "bookworm", NULL,
	       NULL);
	expect("Types: deb\nURIs: https://tools.example/apt\nSuites: nodistro\n", true, "bookworm",
	       NULL, NULL);
	/* The fields of one stanza do not leak into the next. */
	expect("Types: deb\nURIs: https://tools.example/apt\n\nSuites: bookworm\n", true,
	       "bookworm", NULL, NULL);
	expect(" continued from nowhere\nno colon\n", true, "bookworm", NULL, NULL);
}

static void the_list_names_the_suites_that_the_mirrors_have(void **state)
{
	struct mirrors both = { .archive = ARCHIVE, .security = SECURITY };
	struct mirrors one = { .archive = ARCHIVE };
	char *text = mirrors__sources_list(&both, "amd64", false);

	(void)state;
	assert_contains(text, "] " ARCHIVE " trixie-backports main\n");
	assert_contains(text, "] " SECURITY " bookworm-security main\n");
	assert_contains(text, "deb [arch=amd64 signed-by=/usr/share/keyrings/");
	assert_null(strstr(text, " sid "));
	free(text);
	text = mirrors__sources_list(&one, "arm64", true);
	assert_contains(text, "] " ARCHIVE " sid main\n");
	assert_contains(text, "[arch=arm64 ");
	assert_null(strstr(text, "-security"));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_line_sources_are_read),
		cmocka_unit_test(the_first_archive_is_taken),
		cmocka_unit_test(other_archives_are_left_alone),
		cmocka_unit_test(deb822_sources_are_read),
		cmocka_unit_test(deb822_stanzas_that_do_not_count_are_left_alone),
		cmocka_unit_test(the_list_names_the_suites_that_the_mirrors_have),
	};

	return cmocka_run_group_tests_name("sources", tests, NULL, NULL);
}
