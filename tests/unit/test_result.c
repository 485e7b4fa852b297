/* SPDX-License-Identifier: GPL-2.0-only */
#include "support.h"

#include "result.h"

/* A whole result, with ' for ". */
static const char good[] =
	"{'schema':'tlbbench-result/1','created':'2026-11-30T12:00:00Z',"
	"'tool':{'name':'tlbbench','version':'0.1.0'},'environment':{'kernel':{'release':'7.3.4'}},"
	"'workloads':[{'name':'pageout','parameters':{'pages':1},'metrics':{"
	"'remote_ipis':{'unit':'count','better':'lower'},"
	"'ipis_raised':{'unit':'count','better':'lower'}},'runs':["
	"{'index':0,'status':'ok','reason':null,'values':{'remote_ipis':5,'ipis_raised':null},"
	"'absent':{'ipis_raised':'no tracepoint'},'observer':null,'notes':[]},"
	"{'index':1,'status':'no_work','reason':'nothing left','values':{},'absent':{},"
	"'observer':null,'notes':[]}]},"
	"{'name':'pageout','parameters':{'pages':2},'metrics':{},'runs':[]}]}";

/* @text with the first @from replaced by @to, and ' by ". To be freed. */
static char *edited(const char *text, const char *from, const char *to)
{
	const char *at = strstr(text, from);
	char *out;

	assert_non_null(at);
	assert_true(asprintf(&out, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from)) > 0);
	for (char *c = out; *c; c++)
		if (*c == '\'')
			*c = '"';
	return out;
}

static int parse_child(void *text)
{
	struct result *result;
	int err = result__parse(&result, "test.json", text, strlen(text));

	result__free(result);
	return -err;
}

static void assert_refused(const char *from, const char *to, const char *message, int err)
{
	char *text = edited(good, from, to);
	struct child child;

	child__run(&child, parse_child, text);
	free(text);
	if (child__code(&child) != err || !strstr(child.err, message))
		fail_msg("%s -> %s: errno %d, \"%s\"; want %d, \"%s\"", from, to,
			 child__code(&child), child.err, err, message);
}

static void a_whole_result_is_read(void **state)
{
	char *text = edited(good, "7.3.4", "7.3.4");
	struct result *result;

	(void)state;
	assert_int_equal(result__parse(&result, "test.json", text, strlen(text)), 0);
	assert_string_equal(json_string_value(json_object_get(result__json(result), "created")),
			    "2026-11-30T12:00:00Z");
	result__free(result);
	free(text);
}

static void the_key_at_fault_is_named(void **state)
{
	static const struct {
		const char *from, *to, *message;
	} cases[] = {
		{ "'schema':'tlbbench-result/1',", "",
		  "test.json: schema is missing, expected a string" },
		{ "'2026-11-30T12:00:00Z'", "7", "created is an integer, expected a string" },
		{ "'0.1.0'", "''", "tool.version is empty" },
		{ "{'name':'tlbbench','version':'0.1.0'}", "[]", "tool is an array" },
		{ "{'kernel':{'release':'7.3.4'}}", "null", "environment is null" },
		{ "'name':'pageout'", "'nam':'pageout'", "workloads[0].name is missing" },
		{ "{'pages':1}", "1", "workloads[0].parameters is an integer" },
		{ "{'pages':2}", "{'pages':1}",
		  "workloads[1] has the name and parameters of workloads[0]" },
		{ "'unit':'count'", "'unit':'ms'",
		  "workloads[0].metrics.remote_ipis is in \"ms\", expected \"count\"" },
		{ "'better':'lower'", "'better':'higher'",
		  "workloads[0].metrics.remote_ipis is better when \"higher\", expected \"lower\"" },
		{ "'ipis_raised':{", "'frobs':{", "workloads[0].metrics.frobs is no metric" },
		{ "'index':1", "'index':0",
		  "workloads[0].runs[1].index is 0, expected more than 0" },
		{ "'index':0", "'index':0.5", "workloads[0].runs[0].index is a number" },
		{ "'status':'ok'", "'status':'fine'", "workloads[0].runs[0].status is \"fine\"" },
		{ "'reason':'nothing left'", "'reason':null",
		  "workloads[0].runs[1].reason is null" },
		{ "'reason':'nothing left',", "", "workloads[0].runs[1].reason is missing" },
		{ "'remote_ipis':5", "'remote_ipis':'5'",
		  "workloads[0].runs[0].values.remote_ipis is a string, expected a number or null" },
		{ "'remote_ipis':5", "'flushes':5",
		  "workloads[0].runs[0].values.flushes is not declared" },
		{ "'absent':{'ipis_raised':'no tracepoint'}", "'absent':{}",
		  "workloads[0].runs[0].values.ipis_raised is null, and no \"absent\" says why" },
		{ "'no tracepoint'", "''", "workloads[0].runs[0].absent.ipis_raised is empty" },
		{ "'ipis_raised':null", "'ipis_raised':0",
		  "workloads[0].runs[0].absent.ipis_raised gives a reason, but the value is an integer" },
		{ "'values':{},", "", "workloads[0].runs[1].values is missing" },
		{ "'runs':[]", "'runs':{}", "workloads[1].runs is an object, expected an array" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_refused(cases[i].from, cases[i].to, cases[i].message, EBADMSG);
}

static void text_that_is_no_json_is_refused_with_its_place(void **state)
{
	(void)state;
	assert_refused("'created'", "created", "test.json:1:37: ", EBADMSG);
	assert_refused("'remote_ipis':5", "'remote_ipis':NaN", "test.json:1:", EBADMSG);
	assert_refused("'remote_ipis':5", "'remote_ipis':1e999", "real number overflow", EBADMSG);
	assert_refused("'index':0,", "'index':0,'index':0,", "duplicate object key", EBADMSG);
	assert_refused("'kernel':{'release':'7.3.4'}", "'kernel':{", "hint: ", EBADMSG);
}

static void another_schema_is_refused(void **state)
{
	(void)state;
	assert_refused("result/1", "result/2",
		       "schema is \"tlbbench-result/2\", expected \"tlbbench-result/1\"", EPROTO);
	assert_refused("result/1", "result/2", "hint: ", EPROTO);
}

static int read_child(void *path)
{
	struct result *result;

	return -result__read(&result, path);
}

static void a_file_that_is_not_there_is_named(void **state)
{
	struct child child;

	(void)state;
	child__run(&child, read_child, "/nowhere/a.json");
	assert_int_equal(child__code(&child), ENOENT);
	assert_contains(child.err, "read /nowhere/a.json: No such file or directory");
}

/* A result with a run of each status. */
static struct result *filled(void)
{
	struct result *result;

	assert_int_equal(result__new(&result, json_pack("{s:{s:s}}", "kernel", "release", "7.3")),
			 0);
	assert_int_equal(result__add_workload(result, "pageout", json_pack("{s:i}", "pages", 4096)),
			 0);
	assert_int_equal(result__add_run(result, RUN_OK, NULL,
					 json_pack("{s:i, s:f, s:s}", "remote_ipis", 56912,
						   "elapsed_ms", 1234.1, "ipis_raised", "no probe"),
					 json_pack("{s:i}", "funnel", 1),
					 json_pack("[s]", "a note")),
			 0);
	assert_int_equal(
		result__add_run(result, RUN_EXCLUDED, "a CPU went", json_object(), NULL, NULL), 0);
	return result;
}

static void what_is_written_is_read_back_the_same(void **state)
{
	const char *path = in_folder(state, "a.json");
	struct result *out = filled(), *in;

	assert_int_equal(result__write(out, path), 0);
	assert_int_equal(result__read(&in, path), 0);
	assert_true(json_equal(result__json(out), result__json(in)));
	result__free(out);
	result__free(in);
}

static void integers_stay_integers_and_reals_lose_nothing(void **state)
{
	const char *path = in_folder(state, "a.json");
	struct result *result = filled();
	const json_t *values;
	size_t len;
	char *text;

	assert_int_equal(result__write(result, path), 0);
	result__free(result);
	text = get_file(path, &len);
	assert_contains(text, "\"remote_ipis\": 56912,");
	assert_true(len && text[len - 1] == '\n');
	free(text);
	assert_int_equal(result__read(&result, path), 0);
	values = json_object_get(result__json(result), "workloads");
	values = json_object_get(json_array_get(values, 0), "runs");
	values = json_object_get(json_array_get(values, 0), "values");
	assert_true(json_is_integer(json_object_get(values, "remote_ipis")));
	assert_true(json_real_value(json_object_get(values, "elapsed_ms")) == 1234.1);
	result__free(result);
}

static void a_value_that_is_absent_is_null_and_says_why(void **state)
{
	struct result *result = filled();
	const json_t *run = json_object_get(result__json(result), "workloads");

	(void)state;
	run = json_array_get(json_object_get(json_array_get(run, 0), "runs"), 0);
	assert_true(json_is_null(json_object_get(json_object_get(run, "values"), "ipis_raised")));
	assert_string_equal(
		json_string_value(json_object_get(json_object_get(run, "absent"), "ipis_raised")),
		"no probe");
	assert_null(json_object_get(json_object_get(run, "absent"), "remote_ipis"));
	result__free(result);
}

static void a_run_keeps_its_status_reason_observer_and_notes(void **state)
{
	struct result *result = filled();
	const json_t *runs = json_object_get(result__json(result), "workloads");
	json_t *want = json_pack("[{s:i, s:s, s:n, s:{s:i}, s:[s]}, {s:i, s:s, s:s, s:n, s:[]}]",
				 "index", 0, "status", "ok", "reason", "observer", "funnel", 1,
				 "notes", "a note", "index", 1, "status", "excluded", "reason",
				 "a CPU went", "observer", "notes");
	const char *key;
	json_t *value;

	(void)state;
	runs = json_object_get(json_array_get(runs, 0), "runs");
	assert_int_equal(json_array_size(runs), 2);
	for (size_t i = 0; i < 2; i++)
		json_object_foreach (json_array_get(want, i), key, value)
			if (!json_equal(json_object_get(json_array_get(runs, i), key), value))
				fail_msg("run %zu: %s", i, key);
	json_decref(want);
	result__free(result);
}

static void a_workload_that_comes_again_goes_on_with_its_runs(void **state)
{
	struct result *result = filled();
	const json_t *workloads = json_object_get(result__json(result), "workloads");
	const json_t *runs;

	(void)state;
	assert_int_equal(result__add_workload(result, "pageout", json_pack("{s:i}", "pages", 1)),
			 0);
	assert_int_equal(result__add_workload(result, "pageout", json_pack("{s:i}", "pages", 4096)),
			 0);
	assert_int_equal(result__add_run(result, RUN_NO_WORK, "no swap", json_object(), NULL, NULL),
			 0);
	assert_int_equal(json_array_size(workloads), 2);
	runs = json_object_get(json_array_get(workloads, 0), "runs");
	assert_int_equal(json_array_size(runs), 3);
	assert_int_equal(json_integer_value(json_object_get(json_array_get(runs, 2), "index")), 2);
	result__free(result);
}

static int add_bad_run(void *values)
{
	struct result *result = filled();
	int err = result__add_run(result, RUN_OK, NULL, json_incref(values), NULL, NULL);

	result__free(result);
	return -err;
}

static void a_run_with_an_unknown_metric_or_no_number_is_refused(void **state)
{
	json_t *unknown = json_pack("{s:i}", "frobs", 1), *null = json_pack("{s:n}", "useful");
	struct child child;

	(void)state;
	child__run(&child, add_bad_run, unknown);
	assert_int_equal(child__code(&child), EINVAL);
	assert_contains(child.err, "frobs is no metric of the table");
	child__run(&child, add_bad_run, null);
	assert_int_equal(child__code(&child), EINVAL);
	assert_contains(child.err, "useful is neither a number nor a reason");
	json_decref(unknown);
	json_decref(null);
}

static int add_run_without_reason(void *arg)
{
	struct result *result = filled();
	int err = result__add_run(result, RUN_UNSUPPORTED, NULL, json_object(), NULL, NULL);

	(void)arg;
	result__free(result);
	return -err;
}

static int add_run_without_workload(void *arg)
{
	struct result *result;
	int err;

	(void)arg;
	result__new(&result, json_object());
	err = result__add_run(result, RUN_OK, NULL, json_object(), NULL, NULL);
	result__free(result);
	return -err;
}

static void a_run_needs_a_workload_and_a_reason_not_to_be_ok(void **state)
{
	struct child child;

	(void)state;
	child__run(&child, add_run_without_reason, NULL);
	assert_int_equal(child__code(&child), EINVAL);
	assert_contains(child.err, "unsupported without a reason");
	child__run(&child, add_run_without_workload, NULL);
	assert_int_equal(child__code(&child), EINVAL);
	assert_contains(child.err, "no workload");
}

static int write_child(void *path)
{
	struct result *result = filled();
	int err = result__write(result, path);

	result__free(result);
	return -err;
}

static void a_dash_is_stdout_and_a_folder_that_is_missing_is_named(void **state)
{
	struct child child;

	(void)state;
	child__run(&child, write_child, "-");
	assert_int_equal(child__code(&child), 0);
	assert_contains(child.out, "\"schema\": \"tlbbench-result/1\"");
	child__run(&child, write_child, "/nowhere/a.json");
	assert_int_equal(child__code(&child), ENOENT);
	assert_contains(child.err, "/nowhere");
}

static void every_metric_is_declared_once_and_whole(void **state)
{
	(void)state;
	assert_null(metric__find("frobs"));
	for (size_t i = 0; i < METRICS; i++) {
		const struct metric *metric = &metrics[i];

		assert_ptr_equal(metric__find(metric->name), metric);
		assert_true(*metric->unit && *metric->title && *metric->help);
		/*
		 * Times and rates depend on the clock, and so does what others get done while it
		 * runs.
		 */
		assert_int_equal(metric->timed, !strcmp(metric->unit, "ms") ||
							!strcmp(metric->unit, "ns") ||
							!strcmp(metric->name, "accesses") ||
							strstr(metric->unit, "/s") != NULL);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_whole_result_is_read),
		cmocka_unit_test(the_key_at_fault_is_named),
		cmocka_unit_test(text_that_is_no_json_is_refused_with_its_place),
		cmocka_unit_test(another_schema_is_refused),
		cmocka_unit_test(a_file_that_is_not_there_is_named),
		in_a_folder(what_is_written_is_read_back_the_same),
		in_a_folder(integers_stay_integers_and_reals_lose_nothing),
		cmocka_unit_test(a_value_that_is_absent_is_null_and_says_why),
		cmocka_unit_test(a_run_keeps_its_status_reason_observer_and_notes),
		cmocka_unit_test(a_workload_that_comes_again_goes_on_with_its_runs),
		cmocka_unit_test(a_run_with_an_unknown_metric_or_no_number_is_refused),
		cmocka_unit_test(a_run_needs_a_workload_and_a_reason_not_to_be_ok),
		cmocka_unit_test(a_dash_is_stdout_and_a_folder_that_is_missing_is_named),
		cmocka_unit_test(every_metric_is_declared_once_and_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
