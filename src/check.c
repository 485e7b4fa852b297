/* SPDX-License-Identifier: GPL-2.0-only */
/* "tlbstat check": what can be counted here, by which way, what not and why. */
#include "observer.h"

#include "common/diag.h"
#include "names.h"
#include "observer_internal.h"
#include "tlbi_report.h"

static const char *classify_name(enum classify_mode mode)
{
	switch (mode) {
	case CLASSIFY_EXACT:
		return "exact";
	case CLASSIFY_SAMPLED:
		return "sampled";
	default:
		return "off";
	}
}

static void print_probes(const struct probes *probes, FILE *out)
{
	fprintf(out, "probes\n");
	for (int id = 0; id < PROBE_COUNT; id++) {
		const struct probe *probe = &probes->probe[id];

		if (probe->method)
			fprintf(out, "  %-26s %-11s %s\n", probe->function, probe->method,
				probe->why[0] ? probe->why : "");
		else
			fprintf(out, "  %-26s %-11s %s\n", probe->function, "none", probe->why);
	}
}

/* How many of a counter's cells count, of those that can occur. */
static void count_cells(const struct observer *observer, const struct counter_info *info,
			unsigned int *have, unsigned int *possible, const char **why)
{
	*have = *possible = 0;
	*why = NULL;
	for (unsigned int i = 0; i < info->count; i++) {
		const char *cell_why;

		if (observer__cannot_occur(observer, info->first + i))
			continue;
		(*possible)++;
		if (observer__has_cell(observer, info->first + i, &cell_why))
			(*have)++;
		else if (!*why)
			*why = cell_why;
	}
}

static void print_counters(const struct observer *observer, FILE *out)
{
	for (int id = 0; id < COUNTER_COUNT; id++) {
		const struct counter_info *info = &counter_infos[id];
		unsigned int have, possible;
		const char *why;

		count_cells(observer, info, &have, &possible, &why);
		if (!possible)
			fprintf(out, "  %-16s -        %s\n", info->name, cannot_occur);
		else if (have == possible)
			fprintf(out, "  %-16s yes      %s\n", info->name, info->help);
		else if (have)
			fprintf(out, "  %-16s in part  %s\n", info->name, why);
		else
			fprintf(out, "  %-16s no       %s\n", info->name, why);
	}
}

static void print_tlbi(const struct observer *observer, FILE *out)
{
	const char *why;
	const struct tlbi_sites *sites = observer__tlbi(observer, &why);

	if (sites)
		tlbi__print_check(sites, diag__is_verbose(), out);
	else
		fprintf(out, "TLBI instructions\n  not counted: %s\n", why);
}

void observer__print_check(const struct observer *observer, FILE *out)
{
	const struct probes *probes = &observer->probes;
	const struct machine *machine = &probes->machine;

	fprintf(out, "machine\n");
	fprintf(out, "  %u CPUs online, ids below %u\n", machine->online, machine->possible);
	fprintf(out, "  broadcast flushes (%s): %s\n", machine->tlbi ? "TLBI" : "INVLPGB",
		machine->tlbi || machine->invlpgb ? "yes" : "no");
	fprintf(out, "  kernel's own count: %s\n",
		observer->kernel_row ? "row TLB of /proc/interrupts" : observer->why_no_row);
	if (probes->refused) {
		fprintf(out, "probes\n  none: %s\n", probes->why_refused);
		fprintf(out, "counters\n  TLB interrupts   %s\n",
			observer->kernel_row ? "yes      a rate, by tlbstat [INTERVAL [COUNT]]"
					     : "no");
		if (machine->tlbi) {
			print_counters(observer, out);
			print_tlbi(observer, out);
		} else
			fprintf(out, "  all others       no\n");
		return;
	}
	fprintf(out, "  kernel addresses: %s\n", machine->addresses_known ? "known" : "hidden");
	fprintf(out, "  lazy and not loaded told apart: %s", classify_name(probes->classify));
	if (probes->classify == CLASSIFY_SAMPLED)
		fprintf(out, ", one flush in %u", probes->sample_one_in);
	fputc('\n', out);
	print_probes(probes, out);
	fprintf(out, "counters\n");
	print_counters(observer, out);
}

json_t *observer__check_json(const struct observer *observer)
{
	const struct probes *probes = &observer->probes;
	json_t *object = json_object(), *list = json_object(), *counters = json_object();
	const char *why;
	const struct tlbi_sites *sites = observer__tlbi(observer, &why);

	for (int id = 0; id < PROBE_COUNT; id++) {
		const struct probe *probe = &probes->probe[id];
		json_t *entry = json_object();

		json_object_set_new(entry, "method",
				    probe->method ? json_string(probe->method) : json_null());
		if (probe->why[0])
			json_object_set_new(entry, "why", json_string(probe->why));
		if (probe->attached_to[0])
			json_object_set_new(entry, "function", json_string(probe->attached_to));
		/* The entry and the end of one function are two probes. */
		json_object_set_new(list, probe_name(id), entry);
	}
	for (int id = 0; id < COUNTER_COUNT; id++) {
		const struct counter_info *info = &counter_infos[id];
		unsigned int have, possible;

		count_cells(observer, info, &have, &possible, &why);
		json_object_set_new(counters, info->name,
				    json_pack("{s:i, s:i, s:s?}", "cells", (int)have, "of",
					      (int)possible, "why", why));
	}
	json_object_set_new(object, "refused",
			    probes->refused ? json_string(probes->why_refused) : json_null());
	json_object_set_new(object, "classify", json_string(classify_name(probes->classify)));
	json_object_set_new(object, "addresses_known",
			    json_boolean(probes->machine.addresses_known));
	json_object_set_new(object, "online_cpus", json_integer(probes->machine.online));
	json_object_set_new(object, "invlpgb", json_boolean(probes->machine.invlpgb));
	json_object_set_new(object, "tlbi", json_boolean(probes->machine.tlbi));
	if (probes->machine.tlbi)
		json_object_set_new(object, "tlbi_instructions",
				    sites ? tlbi__json(sites, NULL)
					  : json_pack("{s:s}", "why", why));
	json_object_set_new(object, "kernel_row", json_boolean(observer->kernel_row));
	json_object_set_new(object, "probes", list);
	json_object_set_new(object, "counters", counters);
	return object;
}
