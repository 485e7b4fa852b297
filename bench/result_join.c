/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <string.h>

#include "common/diag.h"
#include "environment_diff.h"
#include "result_join.h"

static bool names_it(const json_t *names, const char *key)
{
	const json_t *name;
	size_t i;

	json_array_foreach (names, i, name)
		if (!strcmp(json_string_value(name), key))
			return true;
	return false;
}

static int note_difference(void *names, const char *key, const json_t *a, const json_t *b)
{
	(void)a;
	(void)b;
	if (names_it(names, key))
		return 0;
	return json_array_append_new(names, json_string(key)) ? -ENOMEM : 0;
}

static int describe_boots(json_t *doc, const struct result *const *parts, size_t n)
{
	const json_t *first = json_object_get(result__json(parts[0]), "environment");
	json_t *names = json_array();
	int err = names ? 0 : -ENOMEM;

	for (size_t i = 1; !err && i < n; i++)
		err = environment_diff__each(first,
					     json_object_get(result__json(parts[i]), "environment"),
					     note_difference, names);
	if (!err && json_object_set_new(
			    json_object_get(doc, "environment"), "boots",
			    json_pack("{s:I, s:O}", "count", (json_int_t)n, "differ_in", names)))
		err = -ENOMEM;
	json_decref(names);
	return err;
}

/* The runs and metrics of @from go to the same workload in @all, or it is added. */
static int add_workload(json_t *all, const json_t *from)
{
	json_t *to = result__find_same(all, from), *copy = json_deep_copy(from);
	int err;

	if (!copy)
		return -ENOMEM;
	if (!to)
		return json_array_append_new(all, copy) ? -ENOMEM : 0;
	err = json_object_update_missing(json_object_get(to, "metrics"),
					 json_object_get(copy, "metrics"));
	err |= json_array_extend(json_object_get(to, "runs"), json_object_get(copy, "runs"));
	json_decref(copy);
	return err ? -ENOMEM : 0;
}

static int number_runs(json_t *workload)
{
	json_t *run;
	size_t i;
	int err = 0;

	json_array_foreach (json_object_get(workload, "runs"), i, run)
		err |= json_object_set_new(run, "index", json_integer(i));
	return err ? -ENOMEM : 0;
}

int result__join(struct result **out, const struct result *const *parts, size_t n)
{
	json_t *doc = json_deep_copy(result__json(parts[0])), *workload;
	json_t *all = json_object_get(doc, "workloads");
	int err = doc ? describe_boots(doc, parts, n) : -ENOMEM;
	size_t i;

	*out = NULL;
	for (size_t part = 1; part < n; part++)
		json_array_foreach (json_object_get(result__json(parts[part]), "workloads"), i,
				    workload)
			err = err ? err : add_workload(all, workload);
	json_array_foreach (all, i, workload)
		err = err ? err : number_runs(workload);
	if (!err)
		return result__from_json(out, "the joined result", doc);
	json_decref(doc);
	return diag__fail(-err, "join results");
}

int result__half(struct result **out, const struct result *whole, bool second)
{
	json_t *doc = json_deep_copy(result__json(whole)), *workload;
	size_t i;

	json_array_foreach (json_object_get(doc, "workloads"), i, workload) {
		json_t *runs = json_object_get(workload, "runs");

		for (size_t run = json_array_size(runs); run-- > 0;)
			if (run % 2 != second)
				json_array_remove(runs, run);
	}
	return result__from_json(out, "half of the result", doc);
}
