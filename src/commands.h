/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef TLBSTAT_COMMANDS_H
#define TLBSTAT_COMMANDS_H

#include <argp.h>

#include "observer.h"

/* Each runs one command of tlbstat and returns its exit code; argv[0] is the name for messages. */
int cmd_live(int argc, char **argv);
int cmd_run(int argc, char **argv);
int cmd_check(int argc, char **argv);
int cmd_daemon(int argc, char **argv);

/* Whether a word is the name of a command of tlbstat. */
bool is_command(const char *word);

/* The options that all commands share, as an argp child. */
enum output_format {
	OUTPUT_TABLE,
	OUTPUT_JSON,
	OUTPUT_CSV
};

struct common_options {
	struct observer_options observer;
	enum output_format format;
	const char *output; /* NULL: stdout */
	bool timestamp;
};

/* Those that say how to count. Its input is a struct common_options. */
extern const struct argp observer_argp;

/* The same and those of commands that print. Its input, too. */
extern const struct argp common_argp;

/* The same and those of commands that print reports. Its input, too. */
extern const struct argp report_argp;

/* Opens the observer; on a refusal in strict mode returns the exit code, else EXIT_DONE. */
int open_observer(struct observer **observer, const struct common_options *options);

/*
 * Says on stderr, once, that the kernel refuses BPF and what that takes away. EXIT_DONE, or
 * EXIT_UNSUPPORTED where nothing is left to be counted.
 */
int explain_fallback(const struct observer *observer);

/* Writes a text to options->output, or to stdout. Exit code. */
int write_output(const struct common_options *options, const char *text, size_t len);

/* Wall-clock time as 2026-11-30T12:00:00.123Z. */
void format_time(char out[32]);

#endif
