/* SPDX-License-Identifier: GPL-2.0-only */
#include "support.h"

#include "exposition.h"

struct text {
	char *data;
	size_t len;
	FILE *out;
};

static int open_text(void **state)
{
	struct text *text = calloc(1, sizeof(*text));

	*state = text;
	if (text)
		text->out = open_memstream(&text->data, &text->len);
	return text && text->out ? 0 : -1;
}

static int close_text(void **state)
{
	struct text *text = *state;

	fclose(text->out);
	free(text->data);
	free(text);
	return 0;
}

static void assert_text(const struct text *text, const char *expected)
{
	fflush(text->out);
	assert_string_equal(text->data, expected);
}

static void a_family_begins_with_help_and_type(void **state)
{
	struct text *text = *state;

	exposition__family(text->out, "a_total", "counter", "Counts \"a\".");
	assert_text(text, "# HELP a_total Counts \"a\".\n# TYPE a_total counter\n");
}

static void help_stays_on_its_line(void **state)
{
	struct text *text = *state;

	exposition__family(text->out, "a", "gauge", "one\ntwo\\three");
	assert_text(text, "# HELP a one\\ntwo\\\\three\n# TYPE a gauge\n");
}

static void label_values_are_escaped(void **state)
{
	static const struct label labels[] = { { "x", "a\"b\\c\nd" }, { "y", "" }, { NULL, NULL } };
	struct text *text = *state;

	exposition__count(text->out, "a", labels, 1);
	assert_text(text, "a{x=\"a\\\"b\\\\c\\nd\",y=\"\"} 1\n");
}

static void no_labels_take_no_braces(void **state)
{
	static const struct label none[] = { { NULL, NULL } };
	struct text *text = *state;

	exposition__count(text->out, "a", none, 0);
	exposition__count(text->out, "b", NULL, 0);
	assert_text(text, "a 0\nb 0\n");
}

static void counts_keep_all_digits(void **state)
{
	struct text *text = *state;

	exposition__count(text->out, "a", NULL, UINT64_MAX);
	assert_text(text, "a 18446744073709551615\n");
}

static void a_time_keeps_its_milliseconds(void **state)
{
	struct text *text = *state;

	exposition__value(text->out, "a", NULL, 1796245083.325);
	exposition__value(text->out, "b", NULL, -3);
	assert_text(text, "a 1796245083.325\nb -3\n");
}

static void a_histogram_is_cumulative_and_ends_with_its_count(void **state)
{
	static const uint64_t bucket[] = { 5, 0, 2, 1 };
	static const double edge[] = { 0, 1, 3 };
	struct exposition_histogram histogram = {
		.bucket = bucket, .edge = edge, .edges = 3, .sum = 13
	};
	struct text *text = *state;

	exposition__histogram(text->out, "h", &histogram);
	assert_text(text, "h_bucket{le=\"0\"} 5\nh_bucket{le=\"1\"} 5\nh_bucket{le=\"3\"} 7\n"
			  "h_bucket{le=\"+Inf\"} 8\nh_sum 13\nh_count 8\n");
}

#define with_text(test) cmocka_unit_test_setup_teardown(test, open_text, close_text)

int main(void)
{
	const struct CMUnitTest tests[] = {
		with_text(a_family_begins_with_help_and_type),
		with_text(help_stays_on_its_line),
		with_text(label_values_are_escaped),
		with_text(no_labels_take_no_braces),
		with_text(counts_keep_all_digits),
		with_text(a_time_keeps_its_milliseconds),
		with_text(a_histogram_is_cumulative_and_ends_with_its_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
