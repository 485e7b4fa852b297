/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "environment_diff.h"

/* Differ between any two boots, so they say nothing about a comparison. */
static const char *const volatile_keys[] = {
	"created",
	"boot_id",
	"hostname",
	"cgroup.path",
};

struct teller {
	environment_diff_fn *tell;
	void *context;
};

static bool is_volatile(const char *key)
{
	for (size_t i = 0; i < sizeof(volatile_keys) / sizeof(volatile_keys[0]); i++)
		if (!strcmp(volatile_keys[i], key))
			return true;
	return false;
}

/* What is null was not recorded. */
static const json_t *recorded(const json_t *value)
{
	return json_is_null(value) ? NULL : value;
}

static int diff_objects(const struct teller *teller, const char *prefix, const json_t *a,
			const json_t *b);

static int diff_member(const struct teller *teller, const char *prefix, const char *key,
		       const json_t *a, const json_t *b)
{
	char *path;
	int err = 0;

	if (asprintf(&path, "%s%s%s", prefix, *prefix ? "." : "", key) < 0)
		return -ENOMEM;
	if ((!a || json_is_object(a)) && (!b || json_is_object(b)))
		err = diff_objects(teller, path, a, b);
	else if (!is_volatile(path) && !json_equal(a, b))
		err = teller->tell(teller->context, path, a, b);
	free(path);
	return err;
}

static int diff_objects(const struct teller *teller, const char *prefix, const json_t *a,
			const json_t *b)
{
	const char *key;
	json_t *value;
	int err = 0;

	json_object_foreach ((json_t *)a, key, value) {
		if (!err)
			err = diff_member(teller, prefix, key, recorded(value),
					  recorded(json_object_get(b, key)));
	}
	json_object_foreach ((json_t *)b, key, value) {
		if (!err && !json_object_get(a, key))
			err = diff_member(teller, prefix, key, NULL, recorded(value));
	}
	return err;
}

int environment_diff__each(const json_t *a, const json_t *b, environment_diff_fn *tell,
			   void *context)
{
	return diff_objects(&(struct teller){ tell, context }, "", a, b);
}
