/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A result: one JSON file with the environment and the raw value of every run.
 *
 * {
 *   "schema": "tlbbench-result/1",
 *   "created": "2026-11-30T12:00:00Z",
 *   "tool": { "name": "tlbbench", "version": "0.1.0" },
 *   "environment": { ... see environment.h ... },
 *   "workloads": [ {
 *     "name": "pageout",
 *     "parameters": { "pages": 4096, "via": "memcg", "bystander": "other" },
 *     "metrics": { "remote_ipis": { "unit": "count", "better": "lower" }, ... },
 *     "runs": [ {
 *       "index": 0,
 *       "status": "ok" | "no_work" | "unsupported" | "excluded",
 *       "reason": null | "why not ok",
 *       "values": { "remote_ipis": 56912, "elapsed_ms": 1234.5, "ipis_raised": null },
 *       "absent": { "ipis_raised": "no tracepoint ipi_send_cpu on this kernel" },
 *       "observer": { ... report__json() ... },
 *       "notes": [ "free text" ]
 *     } ]
 *   } ]
 * }
 */
#ifndef TLBBENCH_RESULT_H
#define TLBBENCH_RESULT_H

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

#include "metric.h"

#define RESULT_SCHEMA "tlbbench-result/1"

enum run_status {
	RUN_OK,
	RUN_NO_WORK,
	RUN_UNSUPPORTED,
	RUN_EXCLUDED
};

const char *run_status__name(enum run_status status);
/* Of a run in a document that was read. */
enum run_status run_status__of(const json_t *run);

/* Writing. Each json_t argument's reference is taken over. All return 0 or a negative errno. */
struct result;

int result__new(struct result **out, json_t *environment);
/*
 * Starts a workload, or goes on with the one of the same name and parameters; later runs belong to
 * it, numbered from 0.
 */
int result__add_workload(struct result *result, const char *name, json_t *parameters);
/*
 * Adds a run to the last workload. @values maps metric names (each in the table) to numbers, or to
 * a string that says why the value is absent; it is split into "values" and "absent" when written.
 * @reason is needed unless @status is RUN_OK. @observer and @notes may be NULL.
 */
int result__add_run(struct result *result, enum run_status status, const char *reason,
		    json_t *values, json_t *observer, json_t *notes);
/* Writes beside and renames; "-" is stdout. Prints what failed. */
int result__write(const struct result *result, const char *path);

/*
 * Reading. Prints what is wrong with the file, by its name and the key at fault, and returns a
 * negative errno: -EBADMSG for what is no result, -EPROTO for another schema.
 * What is read is what result__write() writes: every value's metric is known, has the unit and the
 * direction it has here, and is a finite number or has a reason to be absent.
 */
int result__read(struct result **out, const char *path);
/* The same from memory; @name stands for the file in messages. */
int result__parse(struct result **out, const char *name, const char *text, size_t len);
/* The same of a document in memory, whose reference is taken over. */
int result__from_json(struct result **out, const char *name, json_t *doc);
/*
 * That one of an array "workloads" which has this name and these parameters, borrowed, or NULL. All
 * come from documents that were read or written here: each has a name.
 */
json_t *result__find_workload(const json_t *workloads, const char *name, const json_t *parameters);
/* The same for the name and the parameters of @workload. */
json_t *result__find_same(const json_t *workloads, const json_t *workload);
/* The whole document, borrowed. */
const json_t *result__json(const struct result *result);
void result__free(struct result *result);

#endif
