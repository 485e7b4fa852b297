/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "workload.h"

const struct workload *const workloads[] = {
	&workload_pageout,    &workload_demotion,
	&workload_move_pages, &workload_migrate_pages,
	&workload_manymm,     &workload_tlb_flush,
	&workload_mmap,	      &workload_fork,
	&workload_lifecycle,  NULL,
};

static const char *const kinds[] = {
	[BYSTANDER_OTHER] = "other",
	[BYSTANDER_SPIN] = "spin",
	[BYSTANDER_IDLE] = "idle",
};
#define KINDS (sizeof(kinds) / sizeof(*kinds))

const struct workload *workload__find(const char *name)
{
	for (size_t i = 0; workloads[i]; i++)
		if (strcmp(workloads[i]->name, name) == 0)
			return workloads[i];
	return NULL;
}

const char *bystander_kind__name(enum bystander_kind kind)
{
	return kinds[kind];
}

int bystander_kind__parse(const char *name, enum bystander_kind *out)
{
	for (size_t i = 0; i < KINDS; i++) {
		if (strcmp(kinds[i], name))
			continue;
		*out = i;
		return 0;
	}
	return -EINVAL;
}

const char *access_kind__name(enum access_kind kind)
{
	return kind == ACCESS_WRITE ? "write" : "read";
}

void workload_options__complete(struct workload_options *options, const struct workload *workload)
{
	if (!options->pages)
		options->pages = workload->default_pages;
	if (!options->via && workload->vias)
		options->via = workload->vias[0];
	if (!options->mms)
		options->mms = workload->default_mms;
	if (!options->threads)
		options->threads = workload->default_threads;
	if (!options->batch && workload->batches)
		options->batch = BATCH_ALL;
	if (!options->access && workload->accesses)
		options->access = ACCESS_READ;
	if (options->threads == ONE_PER_CPU)
		options->threads = cpus__count(&options->cpus);
}

json_t *workload_options__json(const struct workload_options *options)
{
	size_t size = cpus__format(&options->cpus, NULL, 0) + 1;
	char *cpus = malloc(size);
	json_t *json;

	if (!cpus)
		return NULL;
	cpus__format(&options->cpus, cpus, size);
	json = json_pack("{s:I, s:s, s:s*, s:b, s:s, s:i}", "pages", (json_int_t)options->pages,
			 "bystander", kinds[options->bystander], "via", options->via, "thp",
			 options->thp, "cpus", cpus, "initiator", (int)options->initiator);
	if (options->mms)
		json_object_set_new(json, "mms", json_integer(options->mms));
	if (options->threads)
		json_object_set_new(json, "threads", json_integer(options->threads));
	if (options->batch)
		json_object_set_new(json, "batch",
				    options->batch == BATCH_ALL ? json_string("all")
								: json_integer(options->batch));
	if (options->access)
		json_object_set_new(json, "access",
				    json_string(access_kind__name(options->access)));
	free(cpus);
	return json;
}

void workload_run__note(struct workload_run *run, const char *fmt, ...)
{
	char *text = NULL;
	va_list args;

	va_start(args, fmt);
	if (vasprintf(&text, fmt, args) >= 0)
		json_array_append_new(run->notes, json_string(text));
	va_end(args);
	free(text);
}
