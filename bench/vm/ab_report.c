/* SPDX-License-Identifier: GPL-2.0-only */
#include "vm/ab_report.h"

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "common/diag.h"
#include "common/stop.h"
#include "result_join.h"
#include "vm/child.h"

/* What tlbbench gets to end, when it is asked to. */
#define GRACE_MS 1000

/* Which boots of a side: its result is made of them. */
enum share {
	SHARE_ALL,
	SHARE_ODD,
	SHARE_EVEN,
};

static bool belongs(const struct ab_boot *boot, enum ab_side side, enum share share)
{
	if (boot->outcome != BOOT_ENDED || (boot->side != side && boot->side != AB_BOTH))
		return false;
	return share == SHARE_ALL || (boot->number % 2 == 1) == (share == SHARE_ODD);
}

/* "FOLDER/a.1.json". To be freed. */
static char *boot_file(const struct ab_plan *plan, enum ab_side side, unsigned int number)
{
	const struct ab_boot named = { .side = side, .number = number };
	char *name = ab_boot__name(&named), *path = NULL;

	if (name && asprintf(&path, "%s/%s.json", plan->folder, name) < 0)
		path = NULL;
	free(name);
	return path;
}

static void tell_differences(const struct result *joined, const char *name)
{
	const json_t *environment = json_object_get(result__json(joined), "environment");
	const json_t *names = json_object_get(json_object_get(environment, "boots"), "differ_in"),
		     *one;
	size_t i;

	json_array_foreach (names, i, one)
		diag__warn("the boots of %s differ in %s", name, json_string_value(one));
}

static int read_parts(const struct ab_plan *plan, enum ab_side side, enum share share,
		      struct result **parts, size_t *n)
{
	int err = 0;

	for (size_t i = 0; !err && i < plan->count; i++) {
		char *path;

		if (!belongs(&plan->boots[i], side, share))
			continue;
		path = boot_file(plan, side, plan->boots[i].number);
		err = path ? result__read(&parts[*n], path) : diag__fail(ENOMEM, "join results");
		*n += !err;
		free(path);
	}
	return err;
}

/* Writes FOLDER/@name.json; *made is false if there is no boot for it. */
static int join(const struct ab_plan *plan, enum ab_side side, enum share share, const char *name,
		bool *made)
{
	struct result **parts = calloc(plan->count + 1, sizeof(*parts)), *joined = NULL;
	char *path = NULL;
	size_t n = 0;
	int err = parts ? read_parts(plan, side, share, parts, &n)
			: diag__fail(ENOMEM, "join results");

	*made = !err && n;
	if (*made)
		err = result__join(&joined, (const struct result *const *)parts, n);
	if (joined && asprintf(&path, "%s/%s.json", plan->folder, name) < 0) {
		path = NULL;
		err = diag__fail(ENOMEM, "join results");
	}
	if (path)
		err = result__write(joined, path);
	if (!err && joined)
		tell_differences(joined, name);
	for (size_t i = 0; i < n; i++)
		result__free(parts[i]);
	result__free(joined);
	free(path);
	free(parts);
	return err;
}

/* Of the same build, so that it knows what was written. To be freed. */
static char *find_tlbbench(void)
{
	char self[PATH_MAX], *path;
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (length < 0)
		return NULL;
	self[length] = '\0';
	return asprintf(&path, "%s/tlbbench", dirname(self)) < 0 ? NULL : path;
}

/* "tlbbench compare" with @words, ended by NULL, in the folder; its output is ours. */
static int compare(const struct ab_plan *plan, const char *first, const char *second)
{
	const struct child_setup setup = { .folder = plan->folder,
					   .out = STDOUT_FILENO,
					   .err = STDERR_FILENO };
	char *tlbbench = find_tlbbench();
	const char *argv[] = { tlbbench, "compare", first, second, NULL };
	int code = EXIT_FAILED;
	pid_t pid;

	fflush(stdout);
	pid = tlbbench ? child__start(argv, &setup) : -ENOMEM;
	if (pid < 0) {
		diag__fail(-pid, "start %s", tlbbench ? tlbbench : "tlbbench");
		diag__hint("the results are there: tlbbench compare %s/a.json %s/b.json",
			   plan->folder, plan->folder);
	} else {
		code = child__follow(pid, GRACE_MS);
	}
	free(tlbbench);
	return stop__asked() ? 128 + stop__signal() : code;
}

static bool has_boot(const struct ab_plan *plan, enum ab_side side)
{
	for (size_t i = 0; i < plan->count; i++)
		if (plan->boots[i].side == side)
			return true;
	return false;
}

/* Two files of A's boots: every second one against the others, or against one that was added. */
static int compare_boots_of_a(const struct ab_plan *plan)
{
	enum ab_side other = has_boot(plan, AB_CONTROL) ? AB_CONTROL : AB_A;
	enum share share = other == AB_CONTROL ? SHARE_ALL : SHARE_EVEN;
	bool first, second;

	if (join(plan, AB_A, other == AB_CONTROL ? SHARE_ALL : SHARE_ODD, "control-1", &first) ||
	    join(plan, other, share, "control-2", &second))
		return EXIT_FAILED;
	if (first && second)
		return compare(plan, "control-1.json", "control-2.json");
	diag__error("there is no control: too few boots of A came to their end");
	return EXIT_FAILED;
}

static int print_control(const struct ab_plan *plan)
{
	puts("\nThe control: A against itself. What differs here is noise.\n");
	return plan->toggle ? compare(plan, "--control", "a.json") : compare_boots_of_a(plan);
}

int ab_report__print(const struct ab_plan *plan, bool control)
{
	bool a, b;
	int code;

	if (join(plan, AB_A, SHARE_ALL, "a", &a) || join(plan, AB_B, SHARE_ALL, "b", &b))
		return EXIT_FAILED;
	if (!a || !b) {
		diag__error("there is nothing to compare: no boot of %s came to its end",
			    a ? "B" : "A");
		return EXIT_FAILED;
	}
	if (plan->toggle)
		printf("A: %s off, B: on; kernel %s\n\n", plan->toggle, plan->kernel[0]);
	else
		printf("A: kernel %s, B: kernel %s\n\n", plan->kernel[0], plan->kernel[1]);
	code = compare(plan, "a.json", "b.json");
	if (!code && control)
		code = print_control(plan);
	return code;
}
