/* SPDX-License-Identifier: GPL-2.0-only */
/* tlbbench compare: two results, one table. */
#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "common/diag.h"
#include "common/file.h"
#include "common/parse.h"
#include "compare.h"
#include "compare_format.h"
#include "result_join.h"

enum {
	KEY_ALL_METRICS = 0x100,
	KEY_ACCELERATOR,
	KEY_CONTROL,
	KEY_CSV
};

struct format {
	int (*print)(const struct compare *compare, FILE *out);
	bool shows_warnings;
};

static const char *const format_names[] = { "table", "markdown", "cover", "csv", "json", NULL };
static const struct format formats[] = {
	{ compare__print_table, true },	 { compare__print_markdown, true },
	{ compare__print_cover, false }, { compare__print_csv, false },
	{ compare__print_json, true },
};

/* What the cover letter of a change to flushes shows. */
static const char *const cover_metrics[] = { "remote_ipis", "flushes",	  "tlbi_broadcast",
					     "tlbi_local",  "pages_done", "elapsed_ms" };

struct arguments {
	const struct format *format;
	const char *format_option; /* as it was given: "--csv" */
	const char *output;
	const char *metric_list;
	bool all_metrics, control;
	const char *surplus; /* the first file that is one too many for two */
	size_t files;
	const struct metric **chosen;
	struct compare_options compare;
};

static const char doc[] =
	"Compare two results of tlbbench run: A is the baseline, B the change.\v"
	"For each metric and side: median, mean, extremes and number of runs; from 6 runs on the 95% "
	"interval of the median. The change is that of the medians; \"~\" stands for one that an "
	"exact two-sided Mann-Whitney U test does not call significant at 0.05 (3 and 3 runs never "
	"can, 4 and 4 can).\n\n"
	"The format \"cover\" is for cover letters: test, platform, metric, baseline, patched and "
	"change, with means.\n\n"
	"With --control, A is compared with itself: a change that is found there is noise.\n\n"
	"Examples:\n"
	"  tlbbench compare base.json patched.json\n"
	"  tlbbench compare --format markdown -o report.md base.json patched.json\n"
	"  tlbbench compare --format cover base.json patched.json\n"
	"  tlbbench compare --metrics remote_ipis,elapsed_ms base.json patched.json\n"
	"  tlbbench compare --control base.json\n"
	"  tlbbench compare --json --all-metrics base.json patched.json | jq .warnings\n\n"
	"Exit status: 0 compared, 1 a file cannot be read or the two cannot be compared, 2 usage.";

static const struct argp_option options[] = {
	{ "format", 'f', "FORMAT", 0, "table (default), markdown, cover, csv or json", 0 },
	{ "json", 'J', NULL, 0, "The same as --format json", 0 },
	{ "csv", KEY_CSV, NULL, 0,
	  "The same as --format csv: one line per workload and metric; warnings go to stderr", 0 },
	{ "output", 'o', "FILE", 0, "Write to FILE, which is replaced as a whole", 0 },
	{ "metrics", 'm', "LIST", 0, "Show these metrics, e.g. remote_ipis,elapsed_ms", 0 },
	{ "all-metrics", KEY_ALL_METRICS, NULL, 0, "Show every metric that was measured", 0 },
	{ "control", KEY_CONTROL, NULL, 0,
	  "Compare every second run of one result with the others: it shows what is noise", 0 },
	{ "allow-different-accelerator", KEY_ACCELERATOR, NULL, 0,
	  "Compare although one was measured under another accelerator (kvm, tcg, none)", 0 },
	{ 0 },
};

static void __attribute__((noreturn)) refuse(void)
{
	diag__hint("tlbbench compare --help shows the options");
	exit(EXIT_USAGE);
}

static void set_format(struct arguments *arguments, const char *option, const char *name)
{
	const struct format *format = &formats[parse__choice_or_err(option, name, format_names)];

	if (arguments->format_option && arguments->format != format) {
		diag__error("%s and %s exclude each other", arguments->format_option, option);
		refuse();
	}
	arguments->format = format;
	arguments->format_option = option;
}

static void check_files(const struct arguments *arguments)
{
	size_t wanted = arguments->control ? 1 : SIDES;

	if (arguments->files == wanted)
		return;
	if (arguments->control && arguments->files)
		diag__error("\"%s\": --control takes one result, this is one more",
			    arguments->compare.file[SIDE_B]);
	else if (arguments->control)
		diag__error("--control: a result is needed, A.json");
	else if (arguments->files > wanted)
		diag__error("\"%s\": two results are compared, this is one more",
			    arguments->surplus);
	else
		diag__error("two results are needed, A.json and B.json");
	refuse();
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
	struct arguments *arguments = state->input;

	switch (key) {
	case 'f':
		set_format(arguments, "--format", text);
		return 0;
	case 'J':
		set_format(arguments, "--json", "json");
		return 0;
	case KEY_CSV:
		set_format(arguments, "--csv", "csv");
		return 0;
	case 'o':
		arguments->output = text;
		return 0;
	case 'm':
		arguments->metric_list = text;
		return 0;
	case KEY_ALL_METRICS:
		arguments->all_metrics = true;
		return 0;
	case KEY_ACCELERATOR:
		arguments->compare.allow_different_accelerator = true;
		return 0;
	case KEY_CONTROL:
		arguments->control = true;
		return 0;
	case ARGP_KEY_ARG:
		if (state->arg_num < SIDES)
			arguments->compare.file[state->arg_num] = text;
		else if (!arguments->surplus)
			arguments->surplus = text;
		arguments->files++;
		return 0;
	case ARGP_KEY_END:
		check_files(arguments);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static void refuse_metric(const char *name)
{
	diag__error("--metrics: \"%s\" is no metric; there are", name);
	for (size_t i = 0; i < METRICS; i++)
		fprintf(stderr, "  %-26s %s\n", metrics[i].name, metrics[i].help);
	refuse();
}

static void choose(struct arguments *arguments, const struct metric *metric)
{
	for (size_t i = 0; i < arguments->compare.n_metrics; i++)
		if (arguments->chosen[i] == metric)
			return;
	arguments->chosen[arguments->compare.n_metrics++] = metric;
}

/* 0 or -ENOMEM. */
static int choose_metrics(struct arguments *arguments)
{
	char *list, *name, *rest;

	if (arguments->metric_list && arguments->all_metrics) {
		diag__error("--metrics and --all-metrics exclude each other");
		refuse();
	}
	arguments->chosen = calloc(METRICS, sizeof(*arguments->chosen));
	if (!arguments->chosen)
		return -ENOMEM;
	arguments->compare.metrics = arguments->chosen;
	if (!arguments->metric_list && !arguments->all_metrics &&
	    arguments->format->print == compare__print_cover) {
		for (size_t i = 0; i < sizeof(cover_metrics) / sizeof(*cover_metrics); i++)
			choose(arguments, metric__find(cover_metrics[i]));
		return 0;
	}
	if (!arguments->metric_list) {
		for (size_t i = 0; i < METRICS; i++)
			if (arguments->all_metrics || metrics[i].headline)
				choose(arguments, &metrics[i]);
		return 0;
	}
	arguments->compare.named = true;
	list = rest = strdup(arguments->metric_list);
	if (!list)
		return -ENOMEM;
	while ((name = strsep(&rest, ","))) {
		if (!metric__find(name))
			refuse_metric(name);
		choose(arguments, metric__find(name));
	}
	free(list);
	return 0;
}

/* For a format that has no place for them. */
static int tell_warnings(const struct compare *compare)
{
	for (size_t i = 0; i < compare->n_differences; i++) {
		const struct compare_difference *difference = &compare->differences[i];
		char *a = leaf__text(difference->value[SIDE_A]);
		char *b = leaf__text(difference->value[SIDE_B]);

		if (a && b)
			diag__warn("the environments differ in %s: A %s, B %s", difference->key, a,
				   b);
		free(a);
		free(b);
		if (!a || !b)
			return -ENOMEM;
	}
	for (size_t i = 0; i < compare->n_warnings; i++) {
		char *subject = warning__subject(&compare->warnings[i]);

		if (!subject)
			return -ENOMEM;
		diag__warn("%s%s%s", subject, *subject ? ": " : "", compare->warnings[i].text);
		free(subject);
	}
	return 0;
}

static int print(const struct arguments *arguments, const struct compare *compare)
{
	char *text = NULL;
	size_t len;
	FILE *stream = open_memstream(&text, &len);
	int err;

	if (!stream)
		return diag__fail(errno, "print the comparison");
	err = arguments->format->print(compare, stream);
	if (fclose(stream))
		err = -ENOMEM;
	if (!err && !arguments->format->shows_warnings)
		err = tell_warnings(compare);
	if (err)
		diag__fail(-err, "print the comparison");
	else
		err = file__replace(arguments->output, text, len);
	free(text);
	return err;
}

/* The two halves of the only file, each with a name of its own. */
static int read_control(struct arguments *arguments, struct result **result, char **names)
{
	const char *file = arguments->compare.file[SIDE_A];
	struct result *whole;
	int err = result__read(&whole, file);

	if (err)
		return err;
	for (enum side side = SIDE_A; !err && side < SIDES; side++) {
		if (asprintf(&names[side], "%s, %s", file,
			     side == SIDE_A ? "runs 1, 3, 5 ..." : "runs 2, 4, 6 ...") < 0) {
			names[side] = NULL;
			err = diag__fail(ENOMEM, "compare");
			break;
		}
		arguments->compare.file[side] = names[side];
		err = result__half(&result[side], whole, side == SIDE_B);
	}
	result__free(whole);
	return err;
}

static int read_results(struct arguments *arguments, struct result **result, char **names)
{
	int err = 0;

	if (arguments->control)
		return read_control(arguments, result, names);
	for (enum side side = SIDE_A; !err && side < SIDES; side++)
		err = result__read(&result[side], arguments->compare.file[side]);
	return err;
}

int cmd_compare(int argc, char **argv)
{
	static const struct argp argp = { options, parse_option, "A.json B.json\n--control A.json",
					  doc,	   NULL,	 NULL,
					  NULL };
	struct arguments arguments = { .format = &formats[0], .output = "-" };
	struct result *result[SIDES] = { NULL };
	char *names[SIDES] = { NULL };
	struct compare *compare = NULL;
	int err;

	argp_parse(&argp, argc, argv, 0, NULL, &arguments);
	err = choose_metrics(&arguments);
	if (err)
		diag__fail(-err, "compare");
	if (!err)
		err = read_results(&arguments, result, names);
	if (!err)
		err = compare__make(&compare, result[SIDE_A], result[SIDE_B], &arguments.compare);
	if (!err)
		err = print(&arguments, compare);
	compare__free(compare);
	result__free(result[SIDE_A]);
	result__free(result[SIDE_B]);
	free(names[SIDE_A]);
	free(names[SIDE_B]);
	free(arguments.chosen);
	return err ? EXIT_FAILED : EXIT_DONE;
}
