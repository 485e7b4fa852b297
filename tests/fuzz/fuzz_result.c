/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Any bytes as a result: the reader refuses them, or what it lets through can be compared with
 * itself and printed in every format, without a difference and without a number that is none.
 */
#include "compare.h"
#include "fuzz.h"

/* A message for each refusal would be all there is in the log. */
static int parse_quietly(struct result **result, const uint8_t *data, size_t size)
{
	static FILE *nowhere;
	FILE *saved = stderr;
	int err;

	nowhere = nowhere ? nowhere : fopen("/dev/null", "w");
	promise(nowhere);
	stderr = nowhere;
	err = result__parse(result, "fuzz", (const char *)data, size);
	stderr = saved;
	return err;
}

static char *print(const struct compare *compare, int (*how)(const struct compare *, FILE *))
{
	char *text = NULL;
	size_t len;
	FILE *stream = open_memstream(&text, &len);

	promise(stream);
	promise(how(compare, stream) == 0);
	fclose(stream);
	return text;
}

static void check_rows(const struct compare_workload *workload)
{
	promise(workload->side[SIDE_A].workload == workload->side[SIDE_B].workload);
	for (size_t i = 0; i < workload->n_rows; i++) {
		const struct compare_row *row = &workload->rows[i];

		promise(row->cell[SIDE_A].n == row->cell[SIDE_B].n);
		if (row->tested)
			promise(row->test.p > 0.999999 && row->test.p <= 1 &&
				row->verdict == VERDICT_SAME && row->change.percent == 0);
	}
}

static void check_formats(const struct compare *compare)
{
	json_t *json;
	char *text;

	free(print(compare, compare__print_table));
	free(print(compare, compare__print_markdown));
	free(print(compare, compare__print_csv));
	text = print(compare, compare__print_json);
	/* Refuses NaN, infinity, and what is no UTF-8. */
	json = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	promise(json);
	json_decref(json);
	free(text);
}

static void compare_with_itself(const struct result *result)
{
	const struct metric *all[64];
	struct compare_options options = { { "a", "b" }, .metrics = all };
	struct compare *compare;

	for (; options.n_metrics < METRICS; options.n_metrics++)
		all[options.n_metrics] = &metrics[options.n_metrics];
	if (compare__make(&compare, result, result, &options))
		return;
	promise(compare->n_differences == 0);
	for (size_t i = 0; i < compare->n_workloads; i++)
		check_rows(&compare->workloads[i]);
	check_formats(compare);
	compare__free(compare);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct result *result;

	if (parse_quietly(&result, data, size))
		return 0;
	compare_with_itself(result);
	result__free(result);
	return 0;
}
