/* SPDX-License-Identifier: GPL-2.0-only */
/* "tlbvm ab": boots two kernels in turns, or one that has a switch, and compares what they did. */
#include <argp.h>
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/diag.h"
#include "common/file.h"
#include "common/parse.h"
#include "common/stop.h"
#include "vm/ab_boot.h"
#include "vm/ab_report.h"
#include "vm/commands.h"
#include "vm/qemu.h"

#define MAX_BOOTS     100
#define BOOTS_KERNELS 2
#define BOOTS_SWITCH  1
#define DEFAULT_OUT   "ab"

enum option_key {
	OPT_A = 0x300,
	OPT_B,
	OPT_KERNEL,
	OPT_SWITCH,
	OPT_BOOTS,
	OPT_CONTROL,
	OPT_OUT,
};

static const struct argp_option options[] = {
	{ .doc = "What to compare:", .group = 0 },
	{ "a", OPT_A, "KERNEL", 0, "The baseline: as --kernel of tlbvm run", 0 },
	{ "b", OPT_B, "KERNEL", 0, "The change", 0 },
	{ "kernel", OPT_KERNEL, "KERNEL", 0, "With --switch: the kernel that has it", 0 },
	{ "switch", OPT_SWITCH, "FILE", 0,
	  "Compare this switch of one kernel, off (A) and on (B), in turns within a boot, as "
	  "tlbbench run does",
	  0 },
	{ "boots", OPT_BOOTS, "N", 0,
	  "Boots of each kernel, in the order A B B A ... (default 2; with --switch 1)", 0 },
	{ "control", OPT_CONTROL, NULL, 0,
	  "Compare A with itself as well: half of its boots with the others (with --boots 1 one "
	  "more boot), or with --switch half of its runs",
	  0 },
	{ "out", OPT_OUT, "DIR", 0,
	  "For the results (default " DEFAULT_OUT "); those of an earlier comparison there are "
	  "replaced",
	  0 },
	{ 0 }
};

static const char doc[] =
	"Runs the same job on two kernels in guests, or with a switch of one kernel off and on, "
	"joins the runs of each side, and prints what tlbbench compare says of them."
	"\v"
	"A boot that fails is tried once more. DIR gets the result of each boot (a.1.json), its log "
	"(a.1.log), and a.json and b.json, which have the runs of all boots of a side.\n"
	"\n"
	"Exit codes: 0 compared; 1 a boot was lost, or a workload failed; 2 for a command line that "
	"cannot be understood; 77 if guests do not run here, or the kernel has no such switch; "
	"128+N if signal N ended it.\n"
	"\n"
	"Examples:\n"
	"  tlbvm ab --a stock:6.12 --b stock:7.3 --module zram -- tlbbench run pageout\n"
	"  tlbvm ab --a base/bzImage --b patched/bzImage --cpus 16 --control -- tlbbench run suite\n"
	"  tlbvm ab --kernel patched/bzImage --switch /sys/kernel/debug/x86/tlb_batch_filter -- "
	"tlbbench run pageout --runs 10\n";

struct arguments {
	struct ab_plan plan;
	const char *a, *b, *kernel;
	unsigned int boots; /* 0: not given */
	bool control;
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct arguments *arguments = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &arguments->plan.guest;
		break;
	case OPT_A:
		arguments->a = arg;
		break;
	case OPT_B:
		arguments->b = arg;
		break;
	case OPT_KERNEL:
		arguments->kernel = arg;
		break;
	case OPT_SWITCH:
		arguments->plan.toggle = arg;
		break;
	case OPT_BOOTS:
		arguments->boots = (unsigned int)parse__u64_or_err("--boots", arg, 1, MAX_BOOTS);
		break;
	case OPT_CONTROL:
		arguments->control = true;
		break;
	case OPT_OUT:
		arguments->plan.folder = arg;
		break;
	case ARGP_KEY_ARG:
		arguments->plan.job = (const char *const *)&state->argv[state->next - 1];
		state->next = state->argc;
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

/* Which kernels, or which switch of one; says what does not go together. */
static bool check_sides(struct arguments *arguments)
{
	struct ab_plan *plan = &arguments->plan;

	if (plan->toggle && (arguments->a || arguments->b)) {
		diag__error("ab: --switch and --%s exclude each other: the switch is one of a "
			    "single kernel, --kernel KERNEL",
			    arguments->a ? "a" : "b");
	} else if (plan->toggle && !arguments->kernel) {
		diag__error("ab: --switch needs --kernel KERNEL, the kernel that has it");
	} else if (plan->toggle && plan->toggle[0] != '/') {
		diag__error("ab: --switch: expected a path from the root on, got \"%s\"",
			    plan->toggle);
	} else if (!plan->toggle && arguments->kernel) {
		diag__error("ab: --kernel goes with --switch; two kernels are --a KERNEL and --b "
			    "KERNEL");
	} else if (!plan->toggle && (!arguments->a || !arguments->b)) {
		diag__error("ab: which kernels? --a KERNEL and --b KERNEL, or --kernel KERNEL and "
			    "--switch FILE");
	} else {
		plan->kernel[0] = plan->toggle ? arguments->kernel : arguments->a;
		plan->kernel[1] = plan->toggle ? NULL : arguments->b;
		return true;
	}
	diag__hint("tlbvm ab --help shows examples");
	return false;
}

static bool check(struct arguments *arguments)
{
	struct ab_plan *plan = &arguments->plan;

	if (!check_sides(arguments))
		return false;
	if (strchr(plan->folder, ':')) {
		diag__error("ab: --out: expected a folder without a colon in its name, got \"%s\"",
			    plan->folder);
		return false;
	}
	if (!arguments->boots)
		arguments->boots = plan->toggle ? BOOTS_SWITCH : BOOTS_KERNELS;
	return ab_job__check(plan->job) && guest_options__check(&plan->guest);
}

/* Before the first boot: QEMU is there, and the kernels are, or are fetched. */
static int find_kernels(const struct ab_plan *plan)
{
	const struct arch *arch = plan->guest.guest.arch;
	char *version = qemu__version(arch);
	int err = version ? 0 : -ENOTSUP;

	free(version);
	for (size_t i = 0; i < 2 && !err && plan->kernel[i]; i++) {
		struct kernel kernel = { 0 };

		err = kernel__find(&kernel, arch, plan->kernel[i], NULL);
		kernel__free(&kernel);
	}
	return guest_options__exit_code(err);
}

/* The files of an earlier comparison, so that none of them is taken for one of this. */
static int remove_old(const char *folder)
{
	static const char *const patterns[] = { "[ab].[0-9]*.json", "control.[0-9]*.json",
						"[ab].[0-9]*.log",  "control.[0-9]*.log",
						"[0-9]*.log",	    "[ab].json",
						"control-[12].json" };
	int err = 0;

	for (size_t i = 0; i < sizeof(patterns) / sizeof(*patterns); i++) {
		char *pattern;
		glob_t found;

		if (asprintf(&pattern, "%s/%s", folder, patterns[i]) < 0)
			return diag__fail(ENOMEM, "remove old results in %s", folder);
		if (!glob(pattern, 0, NULL, &found)) {
			for (size_t j = 0; j < found.gl_pathc; j++)
				if (unlink(found.gl_pathv[j]))
					err = diag__fail(errno, "remove %s", found.gl_pathv[j]);
			globfree(&found);
		}
		free(pattern);
	}
	return err;
}

static int prepare_folder(const char *folder)
{
	int err = file__make_dirs(folder);

	if (err)
		return diag__fail(-err, "make the folder %s", folder);
	return remove_old(folder);
}

/* True if any; names them. */
static bool tell_lost(const struct ab_plan *plan)
{
	bool any = false;

	for (size_t i = 0; i < plan->count; i++) {
		char *name;

		if (plan->boots[i].outcome != BOOT_LOST)
			continue;
		any = true;
		name = ab_boot__name(&plan->boots[i]);
		diag__error("boot %s is lost: it failed twice, its runs are missing",
			    name ? name : "");
		free(name);
	}
	return any;
}

static int finish(const struct ab_plan *plan, bool control)
{
	int code = ab_report__print(plan, control);

	if (tell_lost(plan) && !code)
		code = EXIT_FAILED;
	if (plan->some_failed) {
		diag__error("a workload failed in a guest: see the logs in %s", plan->folder);
		if (!code)
			code = EXIT_FAILED;
	}
	if (!code && plan->some_unsupported)
		code = EXIT_UNSUPPORTED;
	fprintf(stderr, "the results of all boots and of each, and their logs, are in %s\n",
		plan->folder);
	return code;
}

static int compare(struct arguments *arguments)
{
	struct ab_plan *plan = &arguments->plan;
	int code = find_kernels(plan);

	if (code)
		return code;
	if (prepare_folder(plan->folder) ||
	    ab_plan__make(plan, arguments->boots, arguments->control))
		return EXIT_FAILED;
	code = ab_plan__run(plan);
	if (!code)
		return finish(plan, arguments->control);
	if (stop__asked())
		diag__error("ended by signal %d; the boots that had come to their end are in %s",
			    stop__signal(), plan->folder);
	return code;
}

int vm_ab(int argc, char **argv)
{
	static const struct argp_child children[] = { { &guest_argp, 0, NULL, 1 }, { 0 } };
	static const struct argp argp = { .options = options,
					  .parser = parse_option,
					  .args_doc = "-- tlbbench run [ARG]...",
					  .doc = doc,
					  .children = children };
	struct arguments arguments = { .plan.folder = DEFAULT_OUT };
	int code = EXIT_USAGE;

	guest_options__init(&arguments.plan.guest);
	if (argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &arguments))
		return EXIT_USAGE;
	if (check(&arguments))
		code = compare(&arguments);
	ab_plan__free(&arguments.plan);
	return code;
}
