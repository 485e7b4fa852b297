/* SPDX-License-Identifier: GPL-2.0-only */
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/diag.h"
#include "common/stop.h"
#include "vm/arch.h"
#include "vm/commands.h"
#include "vm/sysroot.h"

static const char doc[] =
	"Prints the folder with what guests of another architecture need and this machine does not "
	"have: static libraries to link programs with, their headers, busybox. On first use it is "
	"fetched from Debian's packages for that architecture."
	"\v"
	"Packages come from this machine's own Debian mirror, and are unpacked into "
	"${XDG_CACHE_HOME:-~/.cache}/tlbstat; nothing is installed. Where this machine has no "
	"Debian mirror, TLBVM_MIRROR=URI names one.\n"
	"\n"
	"Examples:\n"
	"  tlbvm sysroot --arch arm64\n";

enum option_key {
	OPT_ARCH = 0x100,
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	const struct arch **arch = state->input;

	switch (key) {
	case OPT_ARCH:
		*arch = arch__find_or_err("--arch", arg);
		break;
	case 'v':
		diag__set_verbose(true);
		break;
	case ARGP_KEY_ARG:
		diag__error("sysroot: unexpected argument \"%s\"", arg);
		diag__hint("tlbvm sysroot --arch arm64");
		exit(EXIT_USAGE);
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

int vm_sysroot(int argc, char **argv)
{
	static const struct argp_option options[] = {
		{ "arch", OPT_ARCH, "ARCH", 0, "The guests' architecture (default aarch64)", 0 },
		{ "verbose", 'v', NULL, 0, "Say more", 0 },
		{ 0 }
	};
	static const struct argp argp = { .options = options, .parser = parse_option, .doc = doc };
	const struct arch *arch = arch__find("aarch64");
	char *folder;
	int err;

	if (argp_parse(&argp, argc, argv, 0, NULL, &arch))
		return EXIT_USAGE;
	folder = sysroot__find(arch, &err);
	if (!folder)
		return stop__asked() ? 128 + stop__signal() : EXIT_FAILED;
	printf("%s\n", folder);
	free(folder);
	return EXIT_DONE;
}
