/* SPDX-License-Identifier: GPL-2.0-only */
/* "tlbbench list": the workloads, and whether they can run here. */
#include <argp.h>
#include <stdio.h>

#include <jansson.h>

#include "commands.h"
#include "common/diag.h"
#include "workload.h"

static const char doc[] = "List the workloads, what they do, and whether they can run here.";

static const struct argp_option options[] = {
	{ "json", 'J', NULL, 0, "Print JSON", 0 },
	{ 0 },
};

static error_t parse(int key, char *text, struct argp_state *state)
{
	bool *json = state->input;

	(void)text;
	if (key != 'J')
		return ARGP_ERR_UNKNOWN;
	*json = true;
	return 0;
}

/* The options as they are when none is given. */
static void set_defaults(const struct workload *workload, struct workload_options *out,
			 const struct cpus *cpus, const char *via)
{
	*out = (struct workload_options){
		.via = via,
		.cpus = *cpus,
		.initiator = cpus__next(cpus, 0),
	};
	workload_options__complete(out, workload);
}

/* Calls @each for each way of each workload; @why is NULL where it can run. */
static void for_each_way(const struct cpus *cpus,
			 void (*each)(const struct workload *workload, const char *via,
				      const char *why, void *context),
			 void *context)
{
	static const char *const no_via[] = { NULL, NULL };

	for (size_t i = 0; workloads[i]; i++) {
		const char *const *via = workloads[i]->vias ? workloads[i]->vias : no_via;

		do {
			struct workload_options defaults;
			char why[256];
			int err;

			set_defaults(workloads[i], &defaults, cpus, *via);
			err = workloads[i]->check(&defaults, why, sizeof(why));
			each(workloads[i], *via, err ? why : NULL, context);
		} while (*via && *++via);
	}
}

static void print_way(const struct workload *workload, const char *via, const char *why,
		      void *context)
{
	const char **last = context;

	if (*last != workload->name)
		printf("%s\n  %s\n", workload->name, workload->summary);
	*last = workload->name;
	printf("  %s%s: %s%s\n", via ? "--via " : "", via ? via : "here",
	       why ? "unsupported here: " : "runs here", why ? why : "");
}

static void add_way(const struct workload *workload, const char *via, const char *why,
		    void *context)
{
	json_array_append_new(
		context, json_pack("{s:s, s:s, s:s, s:s?, s:I, s:b, s:s?}", "name", workload->name,
				   "summary", workload->summary, "help", workload->help, "via", via,
				   "default_pages", (json_int_t)workload->default_pages,
				   "supported", !why, "reason", why));
}

static void print_json(const struct cpus *cpus)
{
	json_t *list = json_array();

	for_each_way(cpus, add_way, list);
	json_dumpf(list, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(list);
}

int cmd_list(int argc, char **argv)
{
	static const struct argp argp = { .options = options, .parser = parse, .doc = doc };
	const char *last = NULL;
	bool json = false;
	struct cpus cpus;
	int err;

	argp_parse(&argp, argc, argv, 0, NULL, &json);
	err = cpus__allowed(&cpus);
	if (err) {
		diag__fail(-err, "find the CPUs this process may use");
		return EXIT_FAILED;
	}
	if (json)
		print_json(&cpus);
	else
		for_each_way(&cpus, print_way, &last);
	return diag__close_stdout() ? EXIT_FAILED : EXIT_DONE;
}
