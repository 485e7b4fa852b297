/* SPDX-License-Identifier: GPL-2.0-only */
#include "vm/console.h"

#include <ctype.h>
#include <string.h>

#include "common/diag.h"
#include "vm/job.h"

/*
 * How the kernel's complaints begin, after the time stamp, and what else must be in the line for
 * those that begin like harmless ones. Read in the sources of 6.1 to 7.3.
 */
static const struct {
	const char *start, *within;
} complaints[] = {
	{ "Kernel panic - not syncing", NULL },
	{ "kernel BUG at ", NULL },
	{ "BUG: ", NULL },
	{ "BUG ", NULL }, /* "BUG kmalloc-64 (Not tainted): ..." */
	{ "WARNING: ", NULL },
	{ "Oops: ", NULL },
	{ "Internal error: ", NULL },
	{ "Unable to handle kernel ", NULL },
	{ "", " [#1] " }, /* the first line of any oops: "divide error: 0000 [#1] SMP" */
	{ "UBSAN: ", NULL },
	{ "unchecked MSR access error", NULL },
	{ "watchdog: BUG: ", NULL },
	{ "watchdog: ", "LOCKUP" },
	{ "NMI watchdog: ", "LOCKUP" },
	{ "smp: csd: ", "non-responsive" },
	{ "INFO: task ", "for more than" },
	{ "rcu: INFO: ", "stall" },
	{ "rcu: ", "starved for" },
	{ "INFO: rcu_", "stall" },
	{ "", ": Bad swap " },
};

/* Skips "[   12.345678] " and "[    T1] ". */
static const char *message(const char *line)
{
	while (*line == '[') {
		const char *end = strchr(line, ']');

		if (!end)
			break;
		line = end + 1;
		while (*line == ' ')
			line++;
	}
	return line;
}

static bool starts(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

bool console__is_splat(const char *line)
{
	const char *text = message(line);

	for (size_t i = 0; i < sizeof(complaints) / sizeof(complaints[0]); i++)
		if (starts(text, complaints[i].start) &&
		    (!complaints[i].within || strstr(text, complaints[i].within)))
			return true;
	return false;
}

void console__init(struct console *console, FILE *log)
{
	memset(console, 0, sizeof(*console));
	console->log = log;
}

static void end_line(struct console *console)
{
	char *line = console->line[console->lines % CONSOLE_LINES];

	memcpy(line, console->partial, console->partial_length);
	line[console->partial_length] = '\0';
	console->partial_length = 0;
	console->lines++;
	diag__verbose("| %s", line);
	if (strstr(line, JOB_END_MARK))
		console->end_marked = true;
	if (!console__is_splat(line))
		return;
	if (!*console->splat)
		strcpy(console->splat, line);
	if (starts(message(line), "Kernel panic"))
		console->panicked = true;
}

void console__feed(struct console *console, const char *data, size_t length)
{
	if (console->log)
		fwrite(data, 1, length, console->log);
	for (size_t i = 0; i < length; i++) {
		if (data[i] == '\n')
			end_line(console);
		else if (data[i] != '\r' && console->partial_length < CONSOLE_WIDTH - 1)
			console->partial[console->partial_length++] =
				isprint((unsigned char)data[i]) ? data[i] : '.';
	}
}

void console__print_tail(const struct console *console)
{
	unsigned long first = console->lines > CONSOLE_LINES ? console->lines - CONSOLE_LINES : 0;

	if (!console->lines && !console->partial_length) {
		diag__error("the console stayed empty");
		return;
	}
	diag__error("the last lines of the console:");
	for (unsigned long i = first; i < console->lines; i++)
		fprintf(stderr, "  | %s\n", console->line[i % CONSOLE_LINES]);
	if (console->partial_length)
		fprintf(stderr, "  | %.*s\n", (int)console->partial_length, console->partial);
}
