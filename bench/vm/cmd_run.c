/* SPDX-License-Identifier: GPL-2.0-only */
#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/diag.h"
#include "vm/commands.h"
#include "vm/guest_options.h"

enum option_key {
	OPT_KERNEL = 0x200,
	OPT_MODULES,
	OPT_ROOT,
	OPT_GET,
	OPT_CONSOLE,
};

static const struct argp_option options[] = {
	{ "kernel", OPT_KERNEL, "KERNEL", 0,
	  "stock:X.Y for Debian's newest X.Y kernel (fetched on first use), an image, or a folder "
	  "with vmlinuz and modules (default " DEFAULT_KERNEL ")",
	  1 },
	{ "modules", OPT_MODULES, "DIR", 0, "Modules that belong to an image given by path", 1 },
	{ "root", OPT_ROOT, "FILE", 0,
	  "An image with an ext4 file system for the guest to live in: its /sbin/init is started, and "
	  "the command beside it. It stays as it is",
	  1 },
	{ "get", OPT_GET, "FILE[:DEST]", 0,
	  "Bring back a file of the guest when the job has ended (repeatable); relative to /root",
	  2 },
	{ "console", OPT_CONSOLE, "FILE", 0, "Keep a copy of the guest's console", 2 },
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

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct guest_options *run = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = run;
		break;
	case OPT_KERNEL:
		run->kernel = arg;
		break;
	case OPT_MODULES:
		run->modules = arg;
		break;
	case OPT_ROOT:
		run->guest.root = arg;
		break;
	case OPT_GET:
		list__add(&run->get, arg);
		break;
	case OPT_CONSOLE:
		run->guest.console_file = arg;
		break;
	case ARGP_KEY_ARG:
		run->guest.command = (const char *const *)&state->argv[state->next - 1];
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

static bool root_is_there(const struct guest *guest)
{
	if (!guest->root || access(guest->root, R_OK) == 0)
		return true;
	diag__fail(errno, "--root: open %s", guest->root);
	return false;
}

int vm_run(int argc, char **argv)
{
	static const struct argp_child children[] = { { &guest_argp, 0, NULL, 0 }, { 0 } };
	static const struct argp argp = { .options = options,
					  .parser = parse_option,
					  .args_doc = "-- COMMAND [ARG]...",
					  .doc = doc,
					  .children = children };
	struct guest_options run;
	int code = EXIT_USAGE;

	guest_options__init(&run);
	if (argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &run))
		return EXIT_USAGE;
	if (root_is_there(&run.guest) && guest_options__check(&run))
		code = guest_options__run(&run);
	guest_options__free(&run);
	return code;
}
