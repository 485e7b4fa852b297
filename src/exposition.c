/* SPDX-License-Identifier: GPL-2.0-only */
#include "exposition.h"

#include <inttypes.h>
#include <stdbool.h>

/* Quotes are escaped in label values, but not in HELP lines. */
static void print_escaped(FILE *out, const char *text, bool quotes)
{
	for (; *text; text++) {
		if (*text == '\n')
			fputs("\\n", out);
		else if (*text == '\\' || (*text == '"' && quotes))
			fprintf(out, "\\%c", *text);
		else
			fputc(*text, out);
	}
}

void exposition__family(FILE *out, const char *name, const char *type, const char *help)
{
	fprintf(out, "# HELP %s ", name);
	print_escaped(out, help, false);
	fprintf(out, "\n# TYPE %s %s\n", name, type);
}

static void print_series(FILE *out, const char *name, const struct label *labels)
{
	fputs(name, out);
	for (const struct label *label = labels; label && label->name; label++) {
		fprintf(out, "%c%s=\"", label == labels ? '{' : ',', label->name);
		print_escaped(out, label->value, true);
		fputc('"', out);
	}
	fputs(labels && labels->name ? "} " : " ", out);
}

void exposition__count(FILE *out, const char *name, const struct label *labels, uint64_t value)
{
	print_series(out, name, labels);
	fprintf(out, "%" PRIu64 "\n", value);
}

void exposition__value(FILE *out, const char *name, const struct label *labels, double value)
{
	print_series(out, name, labels);
	fprintf(out, "%.15g\n", value);
}

void exposition__histogram(FILE *out, const char *name,
			   const struct exposition_histogram *histogram)
{
	uint64_t below = 0;
	char series[128], edge[32];
	struct label le[] = { { "le", edge }, { NULL, NULL } };

	snprintf(series, sizeof(series), "%s_bucket", name);
	for (unsigned int i = 0; i <= histogram->edges; i++) {
		if (i < histogram->edges)
			snprintf(edge, sizeof(edge), "%.15g", histogram->edge[i]);
		else
			snprintf(edge, sizeof(edge), "+Inf");
		below += histogram->bucket[i];
		exposition__count(out, series, le, below);
	}
	snprintf(series, sizeof(series), "%s_sum", name);
	exposition__value(out, series, NULL, histogram->sum);
	snprintf(series, sizeof(series), "%s_count", name);
	exposition__count(out, series, NULL, below);
}
