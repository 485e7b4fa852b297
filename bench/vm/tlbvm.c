/* SPDX-License-Identifier: GPL-2.0-only */
/* tlbvm: boots any kernel in a guest, so that both halves of a comparison run on one desk. */
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/diag.h"
#include "common/stop.h"
#include "vm/commands.h"

static const struct command {
	const char *name;
	char *full_name; /* argv[0] of the command, for argp's messages */
	int (*run)(int argc, char **argv);
} commands[] = {
	{ "run", "tlbvm run", vm_run },
	{ "ab", "tlbvm ab", vm_ab },
	{ "kernels", "tlbvm kernels", vm_kernels },
	{ "sysroot", "tlbvm sysroot", vm_sysroot },
};

const char *argp_program_version = "tlbvm " TLBSTAT_VERSION;

static const char doc[] =
	"Boots kernels in guests: no root, no network, no disk image, no KVM needed."
	"\v"
	"Commands:\n"
	"  run       boot a kernel, run a command in it, return its output and result\n"
	"  ab        compare two kernels, or one with a switch off and on\n"
	"  kernels   list the kernels that can be booted; fetch them\n"
	"  sysroot   fetch what guests of another architecture need, and print where it is\n"
	"\n"
	"tlbvm COMMAND --help tells more.\n"
	"\n"
	"Examples:\n"
	"  tlbvm run -- uname -a\n"
	"  tlbvm run --kernel stock:6.12 --module zram -- tlbbench run pageout\n"
	"  tlbvm run --arch arm64 -- uname -a\n"
	"  tlbvm ab --a stock:6.12 --b stock:7.3 --module zram -- tlbbench run pageout\n"
	"  tlbvm kernels --fetch stock:6.1\n";

struct choice {
	const struct command *command;
	char **argv;
	int argc;
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct choice *choice = state->input;

	switch (key) {
	case ARGP_KEY_ARG:
		for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
			if (!strcmp(commands[i].name, arg))
				choice->command = &commands[i];
		if (!choice->command) {
			diag__error("no command \"%s\"; there are: run, ab, kernels, sysroot", arg);
			exit(EXIT_USAGE);
		}
		choice->argv = &state->argv[state->next - 1];
		choice->argc = state->argc - state->next + 1;
		state->next = state->argc;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_usage(state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

int main(int argc, char **argv)
{
	static const struct argp argp = { .parser = parse_option,
					  .args_doc = "COMMAND [OPTION]...",
					  .doc = doc };
	struct choice choice = { 0 };
	int code;

	diag__set_program("tlbvm");
	argp_err_exit_status = EXIT_USAGE;
	/* The answers of apt and QEMU are read. */
	setenv("LC_ALL", "C", 1);
	if (argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &choice))
		return EXIT_USAGE;
	stop__install();
	choice.argv[0] = choice.command->full_name;
	code = choice.command->run(choice.argc, choice.argv);
	if (diag__close_stdout() && code == EXIT_DONE)
		code = EXIT_FAILED;
	return code;
}
