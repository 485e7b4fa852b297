/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/diag.h"
#include "common/file.h"
#include "common/procfs.h"
#include "result.h"

struct result {
	json_t *doc;
	json_t *workload; /* the one that runs are added to, borrowed from doc */
};

static const char *const status_names[] = {
	[RUN_OK] = "ok",
	[RUN_NO_WORK] = "no_work",
	[RUN_UNSUPPORTED] = "unsupported",
	[RUN_EXCLUDED] = "excluded",
};

const char *run_status__name(enum run_status status)
{
	return status_names[status];
}

/* False if there is no such status. */
static bool find_status(const char *name, enum run_status *out)
{
	for (size_t i = 0; i < sizeof(status_names) / sizeof(status_names[0]); i++) {
		if (!strcmp(status_names[i], name)) {
			*out = i;
			return true;
		}
	}
	return false;
}

enum run_status run_status__of(const json_t *run)
{
	enum run_status status = RUN_EXCLUDED;

	find_status(json_string_value(json_object_get(run, "status")), &status);
	return status;
}

/* Writing. json_object_set_new() takes the reference over even when it fails. */

static json_t *now_text(void)
{
	time_t now = time(NULL);
	char text[32];

	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", gmtime(&now));
	return json_string(text);
}

static json_t *tool(void)
{
	return json_pack("{s:s, s:s}", "name", "tlbbench", "version", TLBSTAT_VERSION);
}

int result__new(struct result **out, json_t *environment)
{
	struct result *result = calloc(1, sizeof(*result));
	int err = 0;

	*out = NULL;
	if (!result || !(result->doc = json_object())) {
		json_decref(environment);
		free(result);
		return -ENOMEM;
	}
	err |= json_object_set_new(result->doc, "schema", json_string(RESULT_SCHEMA));
	err |= json_object_set_new(result->doc, "created", now_text());
	err |= json_object_set_new(result->doc, "tool", tool());
	err |= json_object_set_new(result->doc, "environment", environment);
	err |= json_object_set_new(result->doc, "workloads", json_array());
	if (err) {
		result__free(result);
		return -ENOMEM;
	}
	*out = result;
	return 0;
}

static bool same_workload(const json_t *workload, const char *name, const json_t *parameters)
{
	return !strcmp(json_string_value(json_object_get(workload, "name")), name) &&
	       json_equal(json_object_get(workload, "parameters"), parameters);
}

json_t *result__find_workload(const json_t *workloads, const char *name, const json_t *parameters)
{
	json_t *workload;
	size_t i;

	json_array_foreach (workloads, i, workload)
		if (same_workload(workload, name, parameters))
			return workload;
	return NULL;
}

json_t *result__find_same(const json_t *workloads, const json_t *workload)
{
	return result__find_workload(workloads,
				     json_string_value(json_object_get(workload, "name")),
				     json_object_get(workload, "parameters"));
}

int result__add_workload(struct result *result, const char *name, json_t *parameters)
{
	json_t *all = json_object_get(result->doc, "workloads");
	json_t *workload;
	int err = 0;

	workload = result__find_workload(all, name, parameters);
	if (workload) {
		json_decref(parameters);
		result->workload = workload;
		return 0;
	}
	workload = json_object();
	err |= json_object_set_new(workload, "name", json_string(name));
	err |= json_object_set_new(workload, "parameters", parameters);
	err |= json_object_set_new(workload, "metrics", json_object());
	err |= json_object_set_new(workload, "runs", json_array());
	err |= json_array_append(all, workload);
	if (!err)
		result->workload = workload;
	json_decref(workload);
	return err ? -ENOMEM : 0;
}

static int declare_metric(json_t *workload, const struct metric *metric)
{
	json_t *declared = json_object_get(workload, "metrics");

	if (json_object_get(declared, metric->name))
		return 0;
	return json_object_set_new(declared, metric->name,
				   json_pack("{s:s, s:s}", "unit", metric->unit, "better",
					     metric__better_name(metric)));
}

/* Numbers stay in @values; a string moves to @absent and leaves null behind. */
static int split_values(json_t *workload, json_t *values, json_t *absent)
{
	const char *key;
	json_t *value;
	void *next;

	json_object_foreach_safe(values, next, key, value)
	{
		const struct metric *metric = metric__find(key);

		if (!metric || !(json_is_number(value) || json_is_string(value)))
			return diag__fail(0, "add a run: %s is %s", key,
					  metric ? "neither a number nor a reason"
						 : "no metric of the table");
		if (declare_metric(workload, metric))
			return -ENOMEM;
		if (json_is_string(value) && (json_object_set(absent, key, value) ||
					      json_object_set_new(values, key, json_null())))
			return -ENOMEM;
	}
	return 0;
}

static int append_run(json_t *workload, enum run_status status, const char *reason, json_t *values,
		      json_t *observer, json_t *notes)
{
	json_t *runs = json_object_get(workload, "runs");
	json_t *run = json_object(), *absent = json_object();
	int err = split_values(workload, values, absent);
	int full = 0;

	full |= json_object_set_new(run, "index", json_integer(json_array_size(runs)));
	full |= json_object_set_new(run, "status", json_string(run_status__name(status)));
	full |= json_object_set_new(run, "reason", reason ? json_string(reason) : json_null());
	full |= json_object_set(run, "values", values);
	full |= json_object_set_new(run, "absent", absent);
	full |= json_object_set_new(run, "observer",
				    observer ? json_incref(observer) : json_null());
	full |= json_object_set_new(run, "notes", notes ? json_incref(notes) : json_array());
	if (!err && full)
		err = -ENOMEM;
	if (!err && json_array_append(runs, run))
		err = -ENOMEM;
	json_decref(run);
	return err;
}

int result__add_run(struct result *result, enum run_status status, const char *reason,
		    json_t *values, json_t *observer, json_t *notes)
{
	int err;

	if (!result->workload || !json_is_object(values))
		err = diag__fail(0, "add a run: there is no workload, or there are no values");
	else if (status != RUN_OK && !reason)
		err = diag__fail(0, "add a run: it is %s without a reason",
				 run_status__name(status));
	else
		err = append_run(result->workload, status, reason, values, observer, notes);
	json_decref(values);
	json_decref(observer);
	json_decref(notes);
	return err;
}

int result__write(const struct result *result, const char *path)
{
	char *text = NULL;
	size_t len = 0;
	FILE *stream = open_memstream(&text, &len);
	int err;

	if (!stream)
		return diag__fail(errno, "write %s", path);
	err = json_dumpf(result->doc, stream, JSON_INDENT(2));
	err |= fputc('\n', stream) == EOF;
	err |= fclose(stream);
	err = err ? diag__fail(ENOMEM, "write %s", path) : file__replace(path, text, len);
	free(text);
	return err;
}

/* Reading. */

/* Where in the document: a chain from an element up to the file. */
struct at {
	const struct at *up;
	const char *key; /* NULL: the element @index of an array */
	size_t index;
};

static void at__print(const struct at *at, FILE *out)
{
	if (!at->up)
		return;
	at__print(at->up, out);
	if (at->key)
		fprintf(out, "%s%s", at->up->up ? "." : "", at->key);
	else
		fprintf(out, "[%zu]", at->index);
}

static int __attribute__((format(printf, 2, 3))) wrong(const struct at *at, const char *fmt, ...)
{
	const struct at *root = at;
	char *text = NULL;
	size_t len;
	FILE *stream = open_memstream(&text, &len);
	va_list args;

	if (!stream)
		return -ENOMEM;
	while (root->up)
		root = root->up;
	fprintf(stream, "%s: ", root->key);
	at__print(at, stream);
	fputs(at->up ? " " : "", stream);
	va_start(args, fmt);
	vfprintf(stream, fmt, args);
	va_end(args);
	if (!fclose(stream))
		diag__error("%s", text);
	free(text);
	return -EBADMSG;
}

static const char *type_name(json_type type)
{
	static const char *const names[] = {
		[JSON_OBJECT] = "an object", [JSON_ARRAY] = "an array",
		[JSON_STRING] = "a string",  [JSON_INTEGER] = "an integer",
		[JSON_REAL] = "a number",    [JSON_TRUE] = "true",
		[JSON_FALSE] = "false",	     [JSON_NULL] = "null",
	};

	return names[type];
}

static const char *found(const json_t *json)
{
	return json ? type_name(json_typeof(json)) : "missing";
}

/* The member @key of @object; NULL after a message if it is not of @type. */
static json_t *member(const struct at *at, const json_t *object, const char *key, json_type type)
{
	json_t *value = json_object_get(object, key);

	if (value && json_typeof(value) == type)
		return value;
	wrong(&(struct at){ at, key, 0 }, "is %s, expected %s", found(value), type_name(type));
	return NULL;
}

/* A string with something in it. */
static const char *text_member(const struct at *at, const json_t *object, const char *key)
{
	json_t *value = member(at, object, key, JSON_STRING);

	if (value && !json_string_length(value)) {
		wrong(&(struct at){ at, key, 0 }, "is empty");
		return NULL;
	}
	return json_string_value(value);
}

static int check_metrics(const struct at *at, json_t *declared)
{
	const char *key;
	json_t *value;

	json_object_foreach (declared, key, value) {
		const struct metric *metric = metric__find(key);
		struct at here = { at, key, 0 };
		const char *unit, *better;

		if (!metric)
			return wrong(&here, "is no metric of this tlbbench (" TLBSTAT_VERSION ")");
		unit = text_member(&here, value, "unit");
		better = text_member(&here, value, "better");
		if (!unit || !better)
			return -EBADMSG;
		if (strcmp(unit, metric->unit))
			return wrong(&here, "is in \"%s\", expected \"%s\"", unit, metric->unit);
		if (strcmp(better, metric__better_name(metric)))
			return wrong(&here, "is better when \"%s\", expected \"%s\"", better,
				     metric__better_name(metric));
	}
	return 0;
}

static int check_values(const struct at *at, json_t *declared, json_t *values, json_t *absent)
{
	const char *key;
	json_t *value;

	json_object_foreach (values, key, value) {
		struct at here = { &(struct at){ at, "values", 0 }, key, 0 };

		if (!json_object_get(declared, key))
			return wrong(&here, "is not declared in the workload's metrics");
		if (json_is_null(value) && !json_object_get(absent, key))
			return wrong(&here, "is null, and no \"absent\" says why");
		if (!json_is_null(value) && !json_is_number(value))
			return wrong(&here, "is %s, expected a number or null", found(value));
	}
	json_object_foreach (absent, key, value) {
		struct at here = { at, "absent", 0 };

		if (!text_member(&here, absent, key))
			return -EBADMSG;
		if (!json_is_null(json_object_get(values, key)))
			return wrong(&(struct at){ &here, key, 0 },
				     "gives a reason, but the value is %s",
				     found(json_object_get(values, key)));
	}
	return 0;
}

static int check_status(const struct at *at, const json_t *run)
{
	const char *name = text_member(at, run, "status");
	const json_t *reason = json_object_get(run, "reason");
	enum run_status status;

	if (!name)
		return -EBADMSG;
	if (!find_status(name, &status))
		return wrong(&(struct at){ at, "status", 0 },
			     "is \"%s\", expected ok, no_work, unsupported or excluded", name);
	if (status == RUN_OK && json_is_null(reason))
		return 0;
	return text_member(at, run, "reason") ? 0 : -EBADMSG;
}

static int check_run(const struct at *at, const json_t *run, json_t *declared, json_int_t *last)
{
	json_t *index = member(at, run, "index", JSON_INTEGER);
	json_t *values, *absent;
	int err;

	if (!index)
		return -EBADMSG;
	if (json_integer_value(index) <= *last)
		return wrong(&(struct at){ at, "index", 0 },
			     "is %" JSON_INTEGER_FORMAT
			     ", expected more than %" JSON_INTEGER_FORMAT,
			     json_integer_value(index), *last);
	*last = json_integer_value(index);
	err = check_status(at, run);
	if (err)
		return err;
	values = member(at, run, "values", JSON_OBJECT);
	absent = values ? member(at, run, "absent", JSON_OBJECT) : NULL;
	return absent ? check_values(at, declared, values, absent) : -EBADMSG;
}

static int check_workload(const struct at *at, const json_t *workload)
{
	json_t *declared, *runs, *run;
	json_int_t last = -1;
	size_t i;
	int err;

	if (!text_member(at, workload, "name") ||
	    !member(at, workload, "parameters", JSON_OBJECT) ||
	    !(declared = member(at, workload, "metrics", JSON_OBJECT)) ||
	    !(runs = member(at, workload, "runs", JSON_ARRAY)))
		return -EBADMSG;
	err = check_metrics(&(struct at){ at, "metrics", 0 }, declared);
	json_array_foreach (runs, i, run) {
		struct at here = { &(struct at){ at, "runs", 0 }, NULL, i };

		if (!err)
			err = check_run(&here, run, declared, &last);
	}
	return err;
}

static int check_unique(const struct at *at, const json_t *all, size_t i)
{
	const json_t *workload = json_array_get(all, i);

	for (size_t j = 0; j < i; j++)
		if (same_workload(json_array_get(all, j),
				  json_string_value(json_object_get(workload, "name")),
				  json_object_get(workload, "parameters")))
			return wrong(at, "has the name and parameters of workloads[%zu]", j);
	return 0;
}

static int check_schema(const struct at *root, const json_t *doc)
{
	const char *schema;

	if (!json_is_object(doc))
		return wrong(root, "is %s, expected an object", found(doc));
	schema = text_member(root, doc, "schema");
	if (!schema)
		return -EBADMSG;
	if (!strcmp(schema, RESULT_SCHEMA))
		return 0;
	wrong(&(struct at){ root, "schema", 0 }, "is \"%s\", expected \"" RESULT_SCHEMA "\"",
	      schema);
	diag__hint("read it with the tlbbench that wrote it, or run the workloads again");
	return -EPROTO;
}

static int check_document(const struct at *root, const json_t *doc)
{
	json_t *workloads, *workload;
	struct at at_tool = { root, "tool", 0 };
	size_t i;
	int err = check_schema(root, doc);
	json_t *by;

	if (err)
		return err;
	if (!text_member(root, doc, "created") || !(by = member(root, doc, "tool", JSON_OBJECT)) ||
	    !text_member(&at_tool, by, "name") || !text_member(&at_tool, by, "version") ||
	    !member(root, doc, "environment", JSON_OBJECT) ||
	    !(workloads = member(root, doc, "workloads", JSON_ARRAY)))
		return -EBADMSG;
	json_array_foreach (workloads, i, workload) {
		struct at here = { &(struct at){ root, "workloads", 0 }, NULL, i };

		err = check_workload(&here, workload);
		if (!err)
			err = check_unique(&here, workloads, i);
		if (err)
			return err;
	}
	return 0;
}

int result__from_json(struct result **out, const char *name, json_t *doc)
{
	struct result *result = calloc(1, sizeof(*result));
	int err;

	*out = NULL;
	if (!result || !doc) {
		json_decref(doc);
		free(result);
		return diag__fail(ENOMEM, "read %s", name);
	}
	result->doc = doc;
	err = check_document(&(struct at){ NULL, name, 0 }, doc);
	if (err)
		result__free(result);
	else
		*out = result;
	return err;
}

int result__parse(struct result **out, const char *name, const char *text, size_t len)
{
	json_error_t error;
	json_t *doc = json_loadb(text, len, JSON_REJECT_DUPLICATES, &error);

	if (doc)
		return result__from_json(out, name, doc);
	*out = NULL;
	diag__error("%s:%d:%d: %s", name, error.line, error.column, error.text);
	diag__hint("is it a file that tlbbench run wrote?");
	return -EBADMSG;
}

int result__read(struct result **out, const char *path)
{
	char *text;
	size_t len;
	int err = procfs__read(path, &text, &len);

	*out = NULL;
	if (err)
		return diag__fail(-err, "read %s", path);
	err = result__parse(out, path, text, len);
	free(text);
	return err;
}

const json_t *result__json(const struct result *result)
{
	return result->doc;
}

void result__free(struct result *result)
{
	if (!result)
		return;
	json_decref(result->doc);
	free(result);
}
