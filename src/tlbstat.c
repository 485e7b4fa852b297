/* SPDX-License-Identifier: GPL-2.0-only */
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
	{ "daemon", "tlbstat daemon", cmd_daemon },
};

static int find_command(const char *word)
{
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++)
		if (strcmp(word, commands[i].name) == 0)
			return i;
	return -1;
}

bool is_command(const char *word)
{
	return find_command(word) >= 0;
}

int main(int argc, char **argv)
{
	int command = argc > 1 ? find_command(argv[1]) : -1;

	setlocale(LC_ALL, "C");
	argp_err_exit_status = EXIT_USAGE;
	diag__set_program("tlbstat");
	if (command < 0)
		return cmd_live(argc, argv);
	argv[1] = commands[command].invocation;
	return commands[command].run(argc - 1, argv + 1);
}
