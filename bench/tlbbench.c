/* SPDX-License-Identifier: GPL-2.0-only */
/* tlbbench: the workloads that show what a change to TLB flushing does, and their results. */
#include <argp.h>
#include <locale.h>
#include <string.h>

#include "commands.h"
#include "common/diag.h"

const char *argp_program_version = "tlbbench " TLBSTAT_VERSION;

static const struct {
	const char *name;
	char *invocation; /* what usage messages call it */
	int (*run)(int argc, char **argv);
} commands[] = {
	{ "list", "tlbbench list", cmd_list },		{ "run", "tlbbench run", cmd_run },
	{ "compare", "tlbbench compare", cmd_compare }, { "hunt", "tlbbench hunt", cmd_hunt },
	{ "restore", "tlbbench restore", cmd_restore },
};

static const char doc[] =
	"Workloads that cause TLB shootdowns, each with a proof that its work was done.\v"
	"Commands:\n"
	"  list                   the workloads, and whether they can run here\n"
	"  run WORKLOAD           run one, and print what it cost\n"
	"  compare BEFORE AFTER   two results side by side, with p-values\n"
	"  hunt [ATTACK...]       look for translations that are used after their flush\n"
	"  restore                put back what a run that was killed left changed\n\n"
	"\"tlbbench COMMAND --help\" tells a command's options.\n\n"
	"Examples:\n"
	"  sudo tlbbench run pageout --pages 4096 -o before.json\n"
	"  tlbbench compare before.json after.json\n";

static error_t parse(int key, char *text, struct argp_state *state)
{
	if (key == ARGP_KEY_NO_ARGS)
		argp_error(state, "which command?");
	if (key == ARGP_KEY_ARG)
		argp_error(state, "there is no command '%s'", text);
	return key == ARGP_KEY_NO_ARGS || key == ARGP_KEY_ARG ? 0 : ARGP_ERR_UNKNOWN;
}

int main(int argc, char **argv)
{
	static const struct argp argp = { .parser = parse,
					  .args_doc = "COMMAND [ARGS]",
					  .doc = doc };

	setlocale(LC_ALL, "C");
	argp_err_exit_status = EXIT_USAGE;
	diag__set_program("tlbbench");
	for (size_t i = 0; argc > 1 && i < sizeof(commands) / sizeof(*commands); i++) {
		if (strcmp(argv[1], commands[i].name))
			continue;
		argv[1] = commands[i].invocation;
		return commands[i].run(argc - 1, argv + 1);
	}
	argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, NULL);
	return EXIT_USAGE;
}
