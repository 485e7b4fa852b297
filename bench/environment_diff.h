/* SPDX-License-Identifier: GPL-2.0-only */
/* In what two environments (environment.h) differ. */
#ifndef TLBBENCH_ENVIRONMENT_DIFF_H
#define TLBBENCH_ENVIRONMENT_DIFF_H

#include <jansson.h>

/* @key: "kernel.release". A side that has not recorded it is NULL. Returns 0 or a negative errno.
 */
typedef int environment_diff_fn(void *context, const char *key, const json_t *a, const json_t *b);

/*
 * Calls @tell for each leaf in which @a and @b differ; lists are leaves. What any two boots differ
 * in, such as the name of a cgroup, is left out. Returns 0, -ENOMEM, or what @tell returned, if
 * that is not 0, at once.
 */
int environment_diff__each(const json_t *a, const json_t *b, environment_diff_fn *tell,
			   void *context);

#endif
