/* SPDX-License-Identifier: GPL-2.0-only */
#include "vm/guest_options.h"

#include <errno.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/diag.h"
#include "common/file.h"
#include "common/parse.h"
#include "common/stop.h"
#include "vm/numa.h"
#include "vm/qemu.h"

#define DEFAULT_CPUS	4
#define DEFAULT_TIMEOUT UINT64_C(600000000000)
#define MIN_MEMORY	(UINT64_C(128) << 20)

enum option_key {
	OPT_ARCH = 0x100,
	OPT_CPUS,
	OPT_MEM,
	OPT_NODES,
	OPT_LOWER_TIER,
	OPT_APPEND,
	OPT_ACCEL,
	OPT_TIMEOUT,
	OPT_BOOT_TIMEOUT,
	OPT_SILENCE_TIMEOUT,
	OPT_MODULE,
	OPT_PUT,
	OPT_QEMU_ARG,
	OPT_IGNORE_SPLAT,
};

static const struct argp_option options[] = {
	{ .doc = "The machine:", .group = 1 },
	{ "module", OPT_MODULE, "NAME", 0,
	  "Load this module and what it depends on, before the job (repeatable)", 1 },
	{ "append", OPT_APPEND, "TEXT", 0, "Add to the kernel's command line", 1 },
	{ "arch", OPT_ARCH, "ARCH", 0, "The guest's architecture (default x86_64)", 1 },
	{ "cpus", OPT_CPUS, "N", 0, "CPUs, 1 to 255 (default 4)", 1 },
	{ "mem", OPT_MEM, "SIZE", 0, "Memory, as in 2G (default 1G, more with many CPUs)", 1 },
	{ "nodes", OPT_NODES, "N", 0,
	  "Memory nodes, 1 to 8, that share memory and CPUs (default 1)", 1 },
	{ "lower-tier", OPT_LOWER_TIER, "SIZE", 0,
	  "One more node, without CPUs: slower memory, on top of --mem, to which pages can be demoted",
	  1 },
	{ "accel", OPT_ACCEL, "HOW", 0,
	  "auto (KVM if it really works here, else tcg-single), kvm, tcg-single (all CPUs take "
	  "turns: for counting), tcg-multi (a thread per CPU: for races)",
	  1 },
	{ "qemu-arg", OPT_QEMU_ARG, "ARG", 0, "One more argument for QEMU (repeatable)", 1 },
	{ .doc = "Files:", .group = 2 },
	{ "put", OPT_PUT, "FILE[:DEST]", 0,
	  "Give the guest a file, in /root unless DEST says where (repeatable)", 2 },
	{ .doc = "Limits:", .group = 3 },
	{ "timeout", OPT_TIMEOUT, "T", 0, "For all of it (default 10m)", 3 },
	{ "boot-timeout", OPT_BOOT_TIMEOUT, "T", 0,
	  "Until the guest reports; a boot that hangs is tried once more (default 60s and 4s per "
	  "CPU)",
	  3 },
	{ "silence-timeout", OPT_SILENCE_TIMEOUT, "T", 0,
	  "Without a sign of life (default 60s and 1s per CPU)", 3 },
	{ "ignore-splat", OPT_IGNORE_SPLAT, NULL, 0,
	  "Take a result although the kernel reported a BUG, WARNING, stall or the like", 3 },
	{ "verbose", 'v', NULL, 0, "Show QEMU's arguments and the guest's console", 4 },
	{ 0 }
};

void list__add(struct list *list, const char *item)
{
	const char **grown = reallocarray(list->item, list->count + 2, sizeof(*grown));

	if (!grown) {
		diag__fail(ENOMEM, "read the command line");
		exit(EXIT_FAILED);
	}
	list->item = grown;
	grown[list->count++] = item;
	grown[list->count] = NULL;
}

static void __attribute__((noreturn))
refuse(const char *option, const char *text, const char *expected)
{
	diag__error("%s: expected %s, got \"%s\"", option, expected, text);
	exit(EXIT_USAGE);
}

static uint64_t positive_duration(const char *option, const char *text)
{
	uint64_t ns = parse__duration_or_err(option, text);

	if (!ns)
		refuse(option, text, "a time above 0");
	return ns;
}

static uint64_t memory(const char *option, const char *text)
{
	uint64_t bytes = parse__size_or_err(option, text);

	if (bytes < MIN_MEMORY || bytes % (1 << 20))
		refuse(option, text, "whole megabytes, 128M or more");
	return bytes;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct guest_options *run = state->input;
	struct guest *guest = &run->guest;

	switch (key) {
	case OPT_ARCH:
		guest->arch = arch__find_or_err("--arch", arg);
		break;
	case OPT_CPUS:
		guest->cpus = (unsigned int)parse__u64_or_err("--cpus", arg, 1, 255);
		break;
	case OPT_MEM:
		guest->memory = memory("--mem", arg);
		break;
	case OPT_NODES:
		guest->nodes = (unsigned int)parse__u64_or_err("--nodes", arg, 1, NUMA_MAX_NODES);
		break;
	case OPT_LOWER_TIER:
		guest->lower_tier = memory("--lower-tier", arg);
		break;
	case OPT_APPEND:
		guest->append = arg;
		break;
	case OPT_ACCEL:
		if (!accel__parse(arg, &guest->accel))
			refuse("--accel", arg, "auto, kvm, tcg-single or tcg-multi");
		break;
	case OPT_TIMEOUT:
		guest->timeout = positive_duration("--timeout", arg);
		break;
	case OPT_BOOT_TIMEOUT:
		guest->boot_timeout = positive_duration("--boot-timeout", arg);
		break;
	case OPT_SILENCE_TIMEOUT:
		guest->silence_timeout = positive_duration("--silence-timeout", arg);
		break;
	case OPT_MODULE:
		list__add(&run->module, arg);
		break;
	case OPT_PUT:
		list__add(&run->put, arg);
		break;
	case OPT_QEMU_ARG:
		list__add(&run->qemu_arg, arg);
		break;
	case OPT_IGNORE_SPLAT:
		guest->ignore_splat = true;
		break;
	case 'v':
		diag__set_verbose(true);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

const struct argp guest_argp = { .options = options, .parser = parse_option };

/*
 * Splits "SOURCE:TARGET"; without a colon @target is NULL. A file whose name has a colon is taken
 * as it is if it exists. To be freed: both.
 */
static void split(const char *text, bool source_is_here, char **source, char **target)
{
	const char *colon = strrchr(text, ':');

	if (!colon || colon == text || !colon[1] || (source_is_here && access(text, F_OK) == 0)) {
		*source = strdup(text);
		*target = NULL;
		return;
	}
	*source = strndup(text, (size_t)(colon - text));
	*target = strdup(colon + 1);
}

/* A path in the guest: relative ones start at the job's folder. */
static char *in_guest(const char *path)
{
	char *absolute;

	if (*path == '/')
		return strdup(path);
	return asprintf(&absolute, "/root/%s", path) < 0 ? NULL : absolute;
}

static char *base_name(const char *path)
{
	char *copy = strdup(path), *name = copy ? strdup(basename(copy)) : NULL;

	free(copy);
	return name;
}

static int make_puts(struct guest_options *run, struct put_file *puts)
{
	for (size_t i = 0; i < run->put.count; i++) {
		char *source, *target, *name;

		split(run->put.item[i], true, &source, &target);
		name = target ? target : base_name(source);
		puts[i] = (struct put_file){ .source = source,
					     .target = name ? in_guest(name) : NULL };
		free(name);
		if (!puts[i].source || !puts[i].target)
			return diag__fail(ENOMEM, "--put %s", run->put.item[i]);
		if (access(puts[i].source, R_OK) < 0) {
			diag__fail(errno, "--put: open %s", puts[i].source);
			return -EINVAL;
		}
	}
	return 0;
}

static int make_gets(struct guest_options *run, struct get_file *gets)
{
	for (size_t i = 0; i < run->get.count; i++) {
		char *source, *target;

		split(run->get.item[i], false, &source, &target);
		gets[i] = (struct get_file){ .source = in_guest(source),
					     .target = target ? target : base_name(source) };
		free(source);
		if (!gets[i].source || !gets[i].target)
			return diag__fail(ENOMEM, "--get %s", run->get.item[i]);
		if (file__check_replace(gets[i].target))
			return -EINVAL;
		for (size_t j = 0; j < i; j++) {
			if (strcmp(gets[j].target, gets[i].target))
				continue;
			diag__error("--get %s: it would overwrite %s, which another --get writes",
				    run->get.item[i], gets[i].target);
			return -EINVAL;
		}
	}
	return 0;
}

static void free_files(struct put_file *puts, size_t put_count, struct get_file *gets,
		       size_t get_count)
{
	for (size_t i = 0; i < put_count; i++) {
		free((char *)puts[i].source);
		free((char *)puts[i].target);
	}
	for (size_t i = 0; i < get_count; i++) {
		free((char *)gets[i].source);
		free((char *)gets[i].target);
	}
	free(puts);
	free(gets);
}

/* Whether the nodes can be had with what else is asked for; says why not. */
static bool nodes_fit(const struct guest *guest)
{
	uint64_t mib = (guest->memory ? guest->memory : qemu__default_memory(guest->cpus)) >> 20;
	unsigned int nodes = guest->nodes;

	if (guest->cpus < nodes) {
		diag__error("--nodes %u: each needs a CPU, and there are %u", nodes, guest->cpus);
		diag__hint("--cpus %u or more", nodes);
	} else if (mib < nodes * NUMA_LEAST_MIB) {
		diag__error("--nodes %u: each needs %uM, and there are %lluM for all", nodes,
			    NUMA_LEAST_MIB, (unsigned long long)mib);
		diag__hint("--mem %uM or more", nodes * NUMA_LEAST_MIB);
	} else if (guest->lower_tier && !guest->arch->hmat) {
		diag__error("--lower-tier: guests of %s have no table (HMAT) that tells the kernel "
			    "of it",
			    guest->arch->name);
	} else {
		return true;
	}
	return false;
}

int guest_options__exit_code(int err)
{
	if (!err)
		return EXIT_DONE;
	if (err == -EINTR && stop__asked())
		return 128 + stop__signal();
	if (err == -ENOTSUP)
		return EXIT_UNSUPPORTED;
	return err == -EINVAL ? EXIT_USAGE : EXIT_FAILED;
}

int guest_options__run(struct guest_options *run)
{
	struct put_file *puts = calloc(run->put.count + 1, sizeof(*puts));
	struct get_file *gets = calloc(run->get.count + 1, sizeof(*gets));
	struct kernel kernel = { 0 };
	char *version = NULL;
	int err, code;

	err = puts && gets ? make_puts(run, puts) : diag__fail(ENOMEM, "read the command line");
	if (!err)
		err = make_gets(run, gets);
	/* Before a kernel is downloaded for nothing. */
	if (!err && !(version = qemu__version(run->guest.arch)))
		err = -ENOTSUP;
	if (!err)
		err = kernel__find(&kernel, run->guest.arch, run->kernel, run->modules);
	if (err) {
		code = guest_options__exit_code(err);
	} else {
		run->guest.qemu_version = version;
		run->guest.kernel = &kernel;
		if (run->module.count)
			run->guest.modules = run->module.item;
		if (run->qemu_arg.count)
			run->guest.qemu_args = run->qemu_arg.item;
		run->guest.puts = puts;
		run->guest.put_count = run->put.count;
		run->guest.gets = gets;
		run->guest.get_count = run->get.count;
		code = guest__run(&run->guest);
	}
	kernel__free(&kernel);
	free(version);
	free_files(puts, puts ? run->put.count : 0, gets, gets ? run->get.count : 0);
	return code;
}

void guest_options__init(struct guest_options *run)
{
	static const char *const none[] = { NULL };

	*run = (struct guest_options){ .kernel = DEFAULT_KERNEL,
				       .guest = { .arch = arch__find("x86_64"),
						  .cpus = DEFAULT_CPUS,
						  .nodes = 1,
						  .modules = none,
						  .qemu_args = none,
						  .timeout = DEFAULT_TIMEOUT } };
}

bool guest_options__check(const struct guest_options *run)
{
	if (run->modules && !strncmp(run->kernel, "stock:", 6)) {
		diag__error("--modules goes with --kernel PATH; %s brings its own modules",
			    run->kernel);
		return false;
	}
	return nodes_fit(&run->guest);
}

void guest_options__free(struct guest_options *run)
{
	free(run->module.item);
	free(run->qemu_arg.item);
	free(run->put.item);
	free(run->get.item);
}
