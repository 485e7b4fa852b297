/* SPDX-License-Identifier: GPL-2.0-only */
#include <argp.h>
#include <errno.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/diag.h"
#include "common/file.h"
#include "common/parse.h"
#include "common/stop.h"
#include "vm/commands.h"
#include "vm/guest.h"
#include "vm/numa.h"
#include "vm/qemu.h"

#define DEFAULT_KERNEL	"stock:7.3"
#define DEFAULT_CPUS	4
#define DEFAULT_TIMEOUT UINT64_C(600000000000)
#define MIN_MEMORY	(UINT64_C(128) << 20)

enum option_key {
	OPT_KERNEL = 0x100,
	OPT_MODULES,
	OPT_ARCH,
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
	OPT_GET,
	OPT_QEMU_ARG,
	OPT_CONSOLE,
	OPT_IGNORE_SPLAT,
};

static const struct argp_option options[] = {
	{ .doc = "The machine:", .group = 1 },
	{ "kernel", OPT_KERNEL, "KERNEL", 0,
	  "stock:X.Y for Debian's newest X.Y kernel (fetched on first use), an image, or a folder "
	  "with vmlinuz and modules (default " DEFAULT_KERNEL ")",
	  1 },
	{ "modules", OPT_MODULES, "DIR", 0, "Modules that belong to an image given by path", 1 },
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
	{ "get", OPT_GET, "FILE[:DEST]", 0,
	  "Bring back a file of the guest when the job has ended (repeatable); relative to /root",
	  2 },
	{ "console", OPT_CONSOLE, "FILE", 0, "Keep a copy of the guest's console", 2 },
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

static const char doc[] =
	"Boots a kernel in a guest, runs a command in it, and passes on its output and exit code."
	"\v"
	"The guest has busybox, tlbstat and tlbbench. It needs no root, no network, no disk image.\n"
	"\n"
	"Exit codes: the command's own; 128+N if signal N killed it; 1 if the guest failed or its "
	"kernel complained; 2 for a command line that cannot be understood; 77 if guests do not run "
	"here.\n"
	"\n"
	"Examples:\n"
	"  tlbvm run -- uname -a\n"
	"  tlbvm run --kernel stock:6.12 --module zram -- tlbbench run pageout\n"
	"  tlbvm run --kernel arch/x86/boot/bzImage --put ./prog -- ./prog\n"
	"  tlbvm run --module zram --get a.json -- tlbbench run pageout -o a.json\n";

struct list {
	const char **item; /* ended by NULL */
	size_t count;
};

struct run_options {
	const char *kernel, *modules;
	struct guest guest;
	struct list module, qemu_arg, put, get;
};

static void list__add(struct list *list, const char *item)
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
	struct run_options *run = state->input;
	struct guest *guest = &run->guest;

	switch (key) {
	case OPT_KERNEL:
		run->kernel = arg;
		break;
	case OPT_MODULES:
		run->modules = arg;
		break;
	case OPT_ARCH:
		guest->arch = arch__find(arg);
		if (!guest->arch)
			refuse("--arch", arg, arch__names());
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
	case OPT_GET:
		list__add(&run->get, arg);
		break;
	case OPT_QEMU_ARG:
		list__add(&run->qemu_arg, arg);
		break;
	case OPT_CONSOLE:
		guest->console_file = arg;
		break;
	case OPT_IGNORE_SPLAT:
		guest->ignore_splat = true;
		break;
	case 'v':
		diag__set_verbose(true);
		break;
	case ARGP_KEY_ARG:
		guest->command = (const char *const *)&state->argv[state->next - 1];
		state->next = state->argc;
		break;
	case ARGP_KEY_NO_ARGS:
		diag__error("run: no command was given");
		diag__hint("tlbvm run -- uname -a");
		exit(EXIT_USAGE);
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

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

static int make_puts(struct run_options *run, struct put_file *puts)
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

static int make_gets(struct run_options *run, struct get_file *gets)
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

static int code_for(int err)
{
	if (err == -EINTR && stop__asked())
		return 128 + stop__signal();
	if (err == -ENOTSUP)
		return EXIT_UNSUPPORTED;
	return err == -EINVAL ? EXIT_USAGE : EXIT_FAILED;
}

static int run_guest(struct run_options *run)
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
		code = code_for(err);
	} else {
		run->guest.qemu_version = version;
		run->guest.kernel = &kernel;
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

int vm_run(int argc, char **argv)
{
	static const char *const none[] = { NULL };
	static const struct argp argp = { .options = options,
					  .parser = parse_option,
					  .args_doc = "-- COMMAND [ARG]...",
					  .doc = doc };
	struct run_options run = { .kernel = DEFAULT_KERNEL,
				   .guest = { .arch = arch__find("x86_64"),
					      .cpus = DEFAULT_CPUS,
					      .nodes = 1,
					      .timeout = DEFAULT_TIMEOUT } };
	int code;

	if (argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &run))
		return EXIT_USAGE;
	if (run.modules && !strncmp(run.kernel, "stock:", 6)) {
		diag__error("--modules goes with --kernel PATH; %s brings its own modules",
			    run.kernel);
		return EXIT_USAGE;
	}
	if (!nodes_fit(&run.guest))
		return EXIT_USAGE;
	run.guest.modules = run.module.count ? run.module.item : none;
	run.guest.qemu_args = run.qemu_arg.count ? run.qemu_arg.item : none;
	code = run_guest(&run);
	free(run.module.item);
	free(run.qemu_arg.item);
	free(run.put.item);
	free(run.get.item);
	return code;
}
