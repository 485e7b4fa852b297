// SPDX-License-Identifier: GPL-2.0-only
/* tlbstat: counts every TLB shootdown of the machine, stage by stage. */
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "common/diag.h"

const char *argp_program_version = "tlbstat " TLBSTAT_VERSION;

static const struct {
	const char *name;
	char *invocation; /* what usage messages call it */
	int (*run)(int argc, char **argv);
} commands[] = {
	{ "run", "tlbstat run", cmd_run },
	{ "check", "tlbstat check", cmd_check },
};

int main(int argc, char **argv)
{
	setlocale(LC_ALL, "C");
	argp_err_exit_status = EXIT_USAGE;
	diag__set_program("tlbstat");
	for (size_t i = 0; argc > 1 && i < sizeof(commands) / sizeof(*commands); i++) {
		if (strcmp(argv[1], commands[i].name) != 0)
			continue;
		argv[1] = commands[i].invocation;
		return commands[i].run(argc - 1, argv + 1);
	}
	return cmd_live(argc, argv);
}
