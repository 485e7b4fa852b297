/* SPDX-License-Identifier: GPL-2.0-only */
#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "common/diag.h"
#include "common/stop.h"
#include "vm/arch.h"
#include "vm/commands.h"
#include "vm/kernels.h"
#include "vm/source.h"
#include "vm/stock.h"
#include "vm/stock_fetch.h"

enum option_key {
	OPT_FETCH = 0x100,
	OPT_ARCH
};

static const struct argp_option options[] = {
	{ "fetch", OPT_FETCH, "stock:X.Y", 0,
	  "Fetch the newest X.Y kernel into the cache, also if an older one is there; source:X.Y "
	  "fetches its source",
	  0 },
	{ "arch", OPT_ARCH, "ARCH", 0, "The guests' architecture (default x86_64)", 0 },
	{ "json", 'J', NULL, 0, "Print JSON", 0 },
	{ "verbose", 'v', NULL, 0, "Say more", 0 },
	{ 0 }
};

static const char doc[] =
	"Lists the kernels that guests can boot: those in the cache, and those that the Debian "
	"archive has; and the sources to build kernels from."
	"\v"
	"Packages come from this machine's own Debian mirror, and are unpacked into "
	"${XDG_CACHE_HOME:-~/.cache}/tlbstat; nothing is installed. Where this machine has no "
	"Debian mirror, TLBVM_MIRROR=URI names one.\n"
	"\n"
	"Examples:\n"
	"  tlbvm kernels\n"
	"  tlbvm kernels --fetch stock:6.12\n"
	"  tlbvm kernels --fetch source:7.3\n";

struct kernels_options {
	const struct arch *arch;
	const char *series; /* to be fetched, or NULL */
	json_t *(*fetch)(const struct arch *arch, const char *series, int *err);
	bool json;
};

static void parse_fetch(struct kernels_options *kernels, const char *name)
{
	const char *series = strchr(name, ':');

	series = series ? series + 1 : name;
	kernels->series = series;
	if (!strncmp(name, STOCK, strlen(STOCK)))
		kernels->fetch = kernels__fetch;
	else if (!strncmp(name, SOURCE, strlen(SOURCE)))
		kernels->fetch = source__fetch;
	if (kernels->fetch && stock__is_series(series))
		return;
	diag__error("--fetch: expected stock:X.Y or source:X.Y, for example stock:7.3, got \"%s\"",
		    name);
	exit(EXIT_USAGE);
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct kernels_options *kernels = state->input;

	switch (key) {
	case OPT_FETCH:
		parse_fetch(kernels, arg);
		break;
	case OPT_ARCH:
		kernels->arch = arch__find_or_err("--arch", arg);
		break;
	case 'J':
		kernels->json = true;
		break;
	case 'v':
		diag__set_verbose(true);
		break;
	case ARGP_KEY_ARG:
		diag__error("kernels: unexpected argument \"%s\"", arg);
		diag__hint("tlbvm kernels --fetch stock:7.3");
		exit(EXIT_USAGE);
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static double mib(const json_t *kernel)
{
	return (double)json_integer_value(json_object_get(kernel, "bytes")) / (1 << 20);
}

static const char *text(const json_t *kernel, const char *key)
{
	const char *value = json_string_value(json_object_get(kernel, key));

	return value ? value : "-";
}

/* The name of a kernel that was built is a hash: its version, too, says what it is. */
static bool is_built(const json_t *kernel)
{
	return !strcmp(text(kernel, "origin"), "built");
}

static void print_cached(const char *title, const json_t *list)
{
	const json_t *kernel;
	size_t i;

	printf("%s\n", title);
	if (!json_array_size(list))
		printf("  none\n");
	json_array_foreach (list, i, kernel) {
		printf("  %-38s %-8s", text(kernel, "name"), text(kernel, "arch"));
		if (json_object_get(kernel, "bytes"))
			printf(" %7.1f MiB", mib(kernel));
		if (is_built(kernel))
			printf("  %s", text(kernel, "version"));
		if (json_object_get(kernel, "stands_for"))
			printf("  in place of %s", text(kernel, "stands_for"));
		printf("\n");
	}
}

static void print_available(const json_t *list)
{
	const json_t *kernel;
	size_t i;

	printf("\nTo be had, with the size of the download:\n");
	if (!list)
		printf("  unknown: the archive's package lists could not be read\n");
	json_array_foreach (list, i, kernel)
		printf("  %-12s %-28s %-8s %7.1f MiB\n", text(kernel, "name"),
		       text(kernel, "version"), text(kernel, "arch"), mib(kernel));
}

static int print_json(json_t *json)
{
	int err = json ? json_dumpf(json, stdout, JSON_INDENT(2)) : -1;

	if (!err)
		putchar('\n');
	json_decref(json);
	if (err)
		diag__fail(ENOMEM, "print JSON");
	return err ? EXIT_FAILED : EXIT_DONE;
}

static int list_kernels(const struct kernels_options *kernels)
{
	json_t *cached = kernels__cached(), *sources = source__cached(),
	       *available = kernels__available(kernels->arch);
	int code = EXIT_DONE;

	if (stop__asked()) {
		code = 128 + stop__signal();
	} else if (kernels->json) {
		code = print_json(json_pack("{s:s, s:O, s:O, s:O?}", "schema", "tlbvm-kernels/1",
					    "cached", cached, "sources", sources, "available",
					    available));
	} else {
		print_cached("In the cache:", cached);
		print_cached("\nSources in the cache:", sources);
		print_available(available);
	}
	json_decref(cached);
	json_decref(sources);
	json_decref(available);
	return code;
}

static int fetch_one(const struct kernels_options *kernels)
{
	int err;
	json_t *meta = kernels->fetch(kernels->arch, kernels->series, &err);

	if (!meta)
		return stop__asked() ? 128 + stop__signal() : EXIT_FAILED;
	if (kernels->json)
		return print_json(meta);
	printf("%s\n", text(meta, "path"));
	json_decref(meta);
	return EXIT_DONE;
}

int vm_kernels(int argc, char **argv)
{
	static const struct argp argp = { .options = options, .parser = parse_option, .doc = doc };
	struct kernels_options kernels = { .arch = arch__find("x86_64") };

	if (argp_parse(&argp, argc, argv, 0, NULL, &kernels))
		return EXIT_USAGE;
	return kernels.series ? fetch_one(&kernels) : list_kernels(&kernels);
}
