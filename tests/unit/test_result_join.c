/* SPDX-License-Identifier: GPL-2.0-only */
#include "support.h"

#include "result_join.h"

/* A result of a machine with @kib of memory, to which workloads and runs are added. */
static struct result *boot(int kib)
{
	struct result *result;

	assert_int_equal(result__new(&result, json_pack("{s:{s:i, s:s}, s:{s:s}}", "memory",
							"total_kib", kib, "thp", "madvise",
							"cgroup", "path", kib % 2 ? "/x" : "/y")),
			 0);
	return result;
}

static void workload(struct result *result, const char *name, int pages)
{
	assert_int_equal(result__add_workload(result, name, json_pack("{s:i}", "pages", pages)), 0);
}

static void run(struct result *result, const char *metric, int value)
{
	assert_int_equal(result__add_run(result, RUN_OK, NULL, json_pack("{s:i}", metric, value),
					 NULL, NULL),
			 0);
}

/* "0=5 1=no_work 2=6": the runs of a workload by their index. */
static const char *runs_of(const struct result *result, size_t workload_index, const char *metric)
{
	static char text[256];
	const json_t *all = json_object_get(result__json(result), "workloads"), *one;
	size_t i, at = 0;

	*text = '\0';
	json_array_foreach (json_object_get(json_array_get(all, workload_index), "runs"), i, one) {
		const json_t *value = json_object_get(json_object_get(one, "values"), metric);
		int index = json_integer_value(json_object_get(one, "index"));

		at += snprintf(text + at, sizeof(text) - at, "%s%d=", i ? " " : "", index);
		if (value)
			at += snprintf(text + at, sizeof(text) - at, "%d",
				       (int)json_integer_value(value));
		else
			at += snprintf(text + at, sizeof(text) - at, "%s",
				       json_string_value(json_object_get(one, "status")));
	}
	return text;
}

static void the_runs_of_all_boots_become_one_list(void **state)
{
	struct result *a = boot(100), *b = boot(100), *joined;

	(void)state;
	workload(a, "pageout", 1);
	run(a, "remote_ipis", 5);
	assert_int_equal(result__add_run(a, RUN_NO_WORK, "none", json_object(), NULL, NULL), 0);
	workload(b, "pageout", 2);
	run(b, "remote_ipis", 9);
	workload(b, "pageout", 1);
	run(b, "remote_ipis", 6);
	run(b, "elapsed_ms", 7);
	assert_int_equal(result__join(&joined, (const struct result *[]){ a, b }, 2), 0);
	assert_string_equal(runs_of(joined, 0, "remote_ipis"), "0=5 1=no_work 2=6 3=ok");
	assert_string_equal(runs_of(joined, 0, "elapsed_ms"), "0=ok 1=no_work 2=ok 3=7");
	assert_string_equal(runs_of(joined, 1, "remote_ipis"), "0=9");
	/* The parts are as they were. */
	assert_string_equal(runs_of(a, 0, "remote_ipis"), "0=5 1=no_work");
	assert_string_equal(runs_of(b, 1, "remote_ipis"), "0=6 1=ok");
	result__free(joined);
	result__free(a);
	result__free(b);
}

/* What result__join() says of its boots. */
static void assert_boots(const struct result *const *parts, size_t n, const char *want)
{
	struct result *joined;
	char *text;

	assert_int_equal(result__join(&joined, parts, n), 0);
	text = json_dumps(
		json_object_get(json_object_get(result__json(joined), "environment"), "boots"),
		JSON_COMPACT | JSON_SORT_KEYS);
	assert_string_equal(text, want);
	free(text);
	result__free(joined);
}

static void what_the_boots_differ_in_is_named_once(void **state)
{
	struct result *a = boot(100), *b = boot(101), *c = boot(102);

	(void)state;
	assert_boots((const struct result *[]){ a, b, c }, 3,
		     "{\"count\":3,\"differ_in\":[\"memory.total_kib\"]}");
	assert_boots((const struct result *[]){ a, a }, 2, "{\"count\":2,\"differ_in\":[]}");
	assert_boots((const struct result *[]){ b }, 1, "{\"count\":1,\"differ_in\":[]}");
	result__free(a);
	result__free(b);
	result__free(c);
}

static void halves_take_every_second_run(void **state)
{
	struct result *whole = boot(100), *half;

	(void)state;
	workload(whole, "pageout", 1);
	for (int i = 0; i < 5; i++)
		run(whole, "remote_ipis", 10 + i);
	workload(whole, "manymm", 1);
	run(whole, "remote_ipis", 3);
	assert_int_equal(result__half(&half, whole, false), 0);
	assert_string_equal(runs_of(half, 0, "remote_ipis"), "0=10 2=12 4=14");
	assert_string_equal(runs_of(half, 1, "remote_ipis"), "0=3");
	result__free(half);
	assert_int_equal(result__half(&half, whole, true), 0);
	assert_string_equal(runs_of(half, 0, "remote_ipis"), "1=11 3=13");
	assert_string_equal(runs_of(half, 1, "remote_ipis"), "");
	result__free(half);
	result__free(whole);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_runs_of_all_boots_become_one_list),
		cmocka_unit_test(what_the_boots_differ_in_is_named_once),
		cmocka_unit_test(halves_take_every_second_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
