/* SPDX-License-Identifier: GPL-2.0-only */
#include "tlbi_report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Sites that are shown unless all are asked for. */
#define BUSIEST 10

void tlbi_totals__make(struct tlbi_totals *out, const struct tlbi_sites *sites,
		       const uint64_t *count)
{
	memset(out, 0, sizeof(*out));
	for (unsigned int i = 0; i < sites->count; i++) {
		const struct tlbi_site *site = &sites->site[i];
		uint64_t n = count ? count[i] : 0;

		if (site->why[0]) {
			out->skipped++;
			continue;
		}
		out->probed++;
		if (site->repeat) {
			out->repeats += n;
			continue;
		}
		out->sites[site->operation]++;
		out->operation[site->operation] += n;
		out->reach[tlbi_operations[site->operation].reach] += n;
	}
	for (unsigned int i = 0; count && i < sites->functions; i++)
		out->blind_calls += count[sites->count + i];
}

const struct tlbi_site *tlbi__busiest(const struct tlbi_sites *sites, const uint64_t *count)
{
	unsigned int best = 0;

	for (unsigned int i = 1; i < sites->count; i++)
		if (count[i] > count[best])
			best = i;
	return sites->count && count[best] ? &sites->site[best] : NULL;
}

void tlbi_site__format(const struct tlbi_site *site, char out[96])
{
	if (site->symbol[0])
		snprintf(out, 96, "%s+0x%" PRIx64, site->symbol, site->offset);
	else
		snprintf(out, 96, "0x%" PRIx64, site->address);
}

static const char *reach_of(const struct tlbi_site *site)
{
	return tlbi_reach_names[tlbi_operations[site->operation].reach];
}

/* Tables. */

static void print_operations(const struct tlbi_totals *totals, FILE *out)
{
	uint64_t all = totals->reach[TLBI_LOCAL] + totals->reach[TLBI_BROADCAST];

	fprintf(out, "%-16s %-10s %14s %8s %7s\n", "operation", "reach", "count", "share", "sites");
	for (int reach = TLBI_BROADCAST; reach >= TLBI_LOCAL; reach--) {
		for (int i = 0; i < TLBI_OPERATIONS; i++)
			if (totals->operation[i] && tlbi_operations[i].reach == (unsigned int)reach)
				fprintf(out, "%-16s %-10s %14" PRIu64 " %7.1f%% %7u\n",
					tlbi_operations[i].name, tlbi_reach_names[reach],
					totals->operation[i], 100.0 * totals->operation[i] / all,
					totals->sites[i]);
	}
	for (int reach = TLBI_BROADCAST; reach >= TLBI_LOCAL; reach--) {
		fprintf(out, "%-16s %-10s %14" PRIu64, "all", tlbi_reach_names[reach],
			totals->reach[reach]);
		if (all)
			fprintf(out, " %7.1f%%", 100.0 * totals->reach[reach] / all);
		fputc('\n', out);
	}
	if (totals->repeats)
		fprintf(out,
			"%-16s %-10s %14" PRIu64 "   (a workaround for the CPU; not in the sums)\n",
			"repeats", "", totals->repeats);
}

struct ranked {
	uint64_t count;
	unsigned int index;
};

static int by_count(const void *a_, const void *b_)
{
	const struct ranked *a = a_, *b = b_;

	if (a->count != b->count)
		return a->count < b->count ? 1 : -1;
	return a->index < b->index ? -1 : a->index > b->index;
}

static void print_sites(const struct tlbi_sites *sites, const uint64_t *count, bool all, FILE *out)
{
	struct ranked ranked[TLBI_SITES_MAX];
	unsigned int hit = 0;

	for (unsigned int i = 0; i < sites->count; i++)
		if (count[i])
			ranked[hit++] = (struct ranked){ count[i], i };
	if (!hit)
		return;
	qsort(ranked, hit, sizeof(*ranked), by_count);
	fprintf(out, "\n%-16s %-10s %14s  %s\n", "operation", "reach", "count", "at");
	for (unsigned int i = 0; i < hit && (all || i < BUSIEST); i++) {
		const struct tlbi_site *site = &sites->site[ranked[i].index];
		char place[96];

		tlbi_site__format(site, place);
		fprintf(out, "%-16s %-10s %14" PRIu64 "  %s%s\n",
			tlbi_operations[site->operation].name, reach_of(site), ranked[i].count,
			place, site->repeat ? " (repeat)" : "");
	}
	if (!all && hit > BUSIEST)
		fprintf(out, "(and %u more; -v shows all)\n", hit - BUSIEST);
}

/* Of these, no call is no proof that nothing is missing. */
static void print_unseen(const struct tlbi_sites *sites, FILE *out)
{
	const struct tlbi_function *first = NULL;
	unsigned int unseen = 0;

	for (unsigned int i = 0; i < sites->functions; i++) {
		if (!sites->function[i].unseen)
			continue;
		unseen++;
		first = first ? first : &sites->function[i];
	}
	if (unseen)
		fprintf(out, "not seen: some calls of %s%s, where kprobes are refused as well\n",
			first->symbol, unseen > 1 ? " and others" : "");
}

/* One line per reason, or with @all one per site. */
static void print_skipped(const struct tlbi_sites *sites, bool all, FILE *out)
{
	static const struct tlbi_site *told[TLBI_SITES_MAX];
	unsigned int reasons = 0;

	for (unsigned int i = 0; i < sites->count; i++) {
		const struct tlbi_site *site = &sites->site[i];
		unsigned int same = 0, known = 0;
		char place[96];

		if (!site->why[0])
			continue;
		while (known < reasons && strcmp(told[known]->why, site->why) != 0)
			known++;
		if (known < reasons && !all)
			continue;
		told[reasons] = site;
		reasons += known == reasons;
		for (unsigned int k = i; k < sites->count; k++)
			same += strcmp(sites->site[k].why, site->why) == 0;
		tlbi_site__format(site, place);
		if (all)
			fprintf(out, "not counted: %s at %s: %s\n",
				tlbi_operations[site->operation].name, place, site->why);
		else
			fprintf(out, "not counted: %u TLBI instructions, at %s%s: %s\n", same,
				place, same > 1 ? " and others" : "", site->why);
	}
	print_unseen(sites, out);
	if (sites->breakpoints)
		fprintf(out,
			"not counted: what %u breakpoints of others have replaced, if it is a TLBI\n",
			sites->breakpoints);
}

/* Where something may be missing. */
static void print_blind(const struct tlbi_sites *sites, const uint64_t *count, FILE *out)
{
	bool any = false;

	for (unsigned int i = 0; i < sites->functions; i++) {
		const struct tlbi_function *function = &sites->function[i];

		if (!count[sites->count + i])
			continue;
		if (!any)
			fprintf(out, "\n%-27s %14s  %s\n", "TLBIs not counted: in", "calls of it",
				"instructions");
		any = true;
		fprintf(out, "%-27s %14" PRIu64 "  %u\n", function->symbol, count[sites->count + i],
			function->sites);
	}
}

void tlbi__print(const struct tlbi_sites *sites, const uint64_t *count, bool all, FILE *out)
{
	struct tlbi_totals totals;

	tlbi_totals__make(&totals, sites, count);
	print_operations(&totals, out);
	print_sites(sites, count, all, out);
	print_blind(sites, count, out);
	print_skipped(sites, all, out);
}

void tlbi__print_check(const struct tlbi_sites *sites, bool all, FILE *out)
{
	struct tlbi_totals totals;

	tlbi_totals__make(&totals, sites, NULL);
	fprintf(out,
		"TLBI instructions (tlbstat --tlbi=exact)\n"
		"  %u of %u in the kernel's text have a kprobe\n",
		totals.probed, sites->count);
	for (int i = 0; i < TLBI_OPERATIONS; i++)
		if (totals.sites[i])
			fprintf(out, "  %-16s %-10s %5u sites\n", tlbi_operations[i].name,
				tlbi_reach_names[tlbi_operations[i].reach], totals.sites[i]);
	print_skipped(sites, all, out);
}

/* CSV. */

void tlbi__csv_header(FILE *out)
{
	fprintf(out, "seconds,operation,reach,count,symbol,offset,address,repeat,not_counted\n");
}

void tlbi__csv_rows(const struct tlbi_sites *sites, const uint64_t *count, double seconds,
		    const char *time, FILE *out)
{
	for (unsigned int i = 0; i < sites->count; i++) {
		const struct tlbi_site *site = &sites->site[i];

		fprintf(out, "%s%s%.6f,%s,%s,", time ? time : "", time ? "," : "", seconds,
			tlbi_operations[site->operation].name, reach_of(site));
		if (!site->why[0])
			fprintf(out, "%" PRIu64, count[i]);
		/* Neither a symbol nor a reason has a quote in it; a reason may have a comma. */
		fprintf(out, ",%s,%" PRIu64 ",0x%" PRIx64 ",%d,", site->symbol, site->offset,
			site->address, site->repeat);
		if (site->why[0])
			fprintf(out, "\"%s\"", site->why);
		fputc('\n', out);
	}
}

/* JSON. */

static json_t *count_json(bool known, uint64_t count)
{
	return known ? json_integer((json_int_t)count) : json_null();
}

static json_t *site_json(const struct tlbi_site *site, const uint64_t *count)
{
	char address[24];

	snprintf(address, sizeof(address), "0x%" PRIx64, site->address);
	return json_pack("{s:s, s:s, s:o, s:s, s:I, s:s, s:b, s:s?}", "operation",
			 tlbi_operations[site->operation].name, "reach", reach_of(site), "count",
			 count_json(count && !site->why[0], count ? *count : 0), "symbol",
			 site->symbol, "offset", (json_int_t)site->offset, "address", address,
			 "repeat", site->repeat, "not_counted", site->why[0] ? site->why : NULL);
}

static json_t *function_json(const struct tlbi_function *function, const uint64_t *calls)
{
	char address[24];

	snprintf(address, sizeof(address), "0x%" PRIx64, function->start);
	return json_pack("{s:s, s:s, s:i, s:o, s:i, s:i}", "symbol", function->symbol, "address",
			 address, "instructions", (int)function->sites, "calls",
			 count_json(calls, calls ? *calls : 0), "callers", (int)function->callers,
			 "callers_not_seen", (int)function->unseen);
}

json_t *tlbi__json(const struct tlbi_sites *sites, const uint64_t *count)
{
	json_t *object = json_object(), *operations = json_array(), *list = json_array(),
	       *blind = json_array();
	struct tlbi_totals totals;

	tlbi_totals__make(&totals, sites, count);
	for (int i = 0; i < TLBI_OPERATIONS; i++)
		if (totals.sites[i])
			json_array_append_new(operations,
					      json_pack("{s:s, s:s, s:o, s:i}", "operation",
							tlbi_operations[i].name, "reach",
							tlbi_reach_names[tlbi_operations[i].reach],
							"count",
							count_json(count, totals.operation[i]),
							"sites", (int)totals.sites[i]));
	for (unsigned int i = 0; i < sites->count; i++)
		json_array_append_new(list, site_json(&sites->site[i], count ? &count[i] : NULL));
	for (unsigned int i = 0; i < sites->functions; i++)
		json_array_append_new(blind,
				      function_json(&sites->function[i],
						    count ? &count[sites->count + i] : NULL));
	json_object_set_new(object, "method", json_string("kprobe"));
	for (int reach = 0; reach < TLBI_REACHES; reach++)
		json_object_set_new(object, tlbi_reach_names[reach],
				    count_json(count, totals.reach[reach]));
	json_object_set_new(object, "repeats", count_json(count, totals.repeats));
	json_object_set_new(object, "probed", json_integer(totals.probed));
	json_object_set_new(object, "skipped", json_integer(totals.skipped));
	json_object_set_new(object, "foreign_breakpoints", json_integer(sites->breakpoints));
	json_object_set_new(object, "calls_not_counted_inside",
			    count_json(count, totals.blind_calls));
	json_object_set_new(object, "functions_not_counted_inside", blind);
	json_object_set_new(object, "operations", operations);
	json_object_set_new(object, "sites", list);
	return object;
}
