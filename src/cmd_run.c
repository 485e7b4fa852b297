/* SPDX-License-Identifier: GPL-2.0-only */
/* "tlbstat run -- CMD": what happened on the whole machine while CMD ran. */
#include "commands.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/diag.h"
#include "common/file.h"
#include "common/stop.h"

static const char doc[] =
	"Run CMD and print the funnel of all TLB flushes of the machine while it ran.\v"
	"The report follows CMD's own output on stdout; -o FILE keeps them apart. Exit status: that "
	"of CMD, 128+N if signal N ended it, 127 or 126 if it could not be run, 77 with --strict if "
	"a counter is missing, and on arm64 without --tlbi=exact.\n\n"
	"Examples:\n"
	"  sudo tlbstat run -- make -j16\n"
	"  sudo tlbstat run -J -o report.json -- ./benchmark --threads 8\n"
	"  sudo tlbstat run --tlbi=exact -- ./benchmark   on arm64\n";

struct run_options {
	struct common_options common;
	char **command;
};

static error_t parse(int key, char *text, struct argp_state *state)
{
	struct run_options *run = state->input;

	(void)text;
	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &run->common;
		break;
	case ARGP_KEY_ARGS:
		run->command = state->argv + state->next;
		break;
	case ARGP_KEY_NO_ARGS:
		diag__error("run: which command? e.g. tlbstat run -- make -j16");
		exit(EXIT_USAGE);
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

/* What we change for ourselves, and the command is to have as it was: nohup is meant for it. */
static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGCHLD };
#define SIGNALS (sizeof(signals) / sizeof(*signals))
static struct sigaction inherited[SIGNALS];

static struct rlimit descriptors;

static void keep_inherited(void)
{
	getrlimit(RLIMIT_NOFILE, &descriptors);
	for (size_t i = 0; i < SIGNALS; i++)
		sigaction(signals[i], NULL, &inherited[i]);
	/* Ignored, it would keep the exit code from us. */
	signal(SIGCHLD, SIG_DFL);
}

/*
 * Starts the command, but lets it run only when a byte is written to *gate: fork() is not measured,
 * everything from exec on is. If we end before that, it never runs.
 */
static pid_t start(char **command, int *gate)
{
	int ends[2];
	ssize_t got;
	pid_t pid;
	char byte;

	if (pipe(ends) != 0)
		return -1;
	pid = fork();
	if (pid != 0) {
		close(ends[0]);
		*gate = ends[1];
		return pid;
	}
	close(ends[1]);
	while ((got = read(ends[0], &byte, 1)) < 0 && errno == EINTR)
		;
	close(ends[0]);
	if (got != 1)
		_exit(EXIT_FAILED);
	for (size_t i = 0; i < SIGNALS; i++)
		sigaction(signals[i], &inherited[i], NULL);
	setrlimit(RLIMIT_NOFILE, &descriptors);
	execvp(command[0], command);
	diag__fail(errno, "run %s", command[0]);
	_exit(errno == ENOENT ? 127 : 126);
}

/* Waits for the command; a SIGTERM to us alone is passed on. Returns the exit code to pass on. */
static int wait_for(pid_t pid)
{
	bool passed_on = false;
	int status;

	do {
		if (stop__asked() && !passed_on) {
			/* A terminal sends SIGINT to both; anything else was for us only. */
			if (stop__signal() != SIGINT || !isatty(STDIN_FILENO))
				kill(pid, stop__signal());
			passed_on = true;
		}
		if (waitpid(pid, &status, 0) == pid)
			return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	} while (errno == EINTR);
	diag__fail(errno, "wait for the command");
	return EXIT_FAILED;
}

static int write_report(const struct report *report, const struct run_options *options)
{
	char *text = NULL, time[32];
	size_t len = 0;
	FILE *stream = open_memstream(&text, &len);
	int code;

	if (!stream)
		return EXIT_FAILED;
	format_time(time);
	if (options->common.format == OUTPUT_JSON) {
		json_t *json = report__json(report);

		if (options->common.timestamp)
			json_object_set_new(json, "time", json_string(time));
		json_dumpf(json, stream, JSON_INDENT(2));
		fputc('\n', stream);
		json_decref(json);
	} else if (options->common.format == OUTPUT_CSV) {
		report__csv_header(report, options->common.timestamp, stream);
		report__csv_row(report, options->common.timestamp ? time : NULL, stream);
	} else {
		fprintf(stream, "\nTLB flushes of the machine in %.3f s of '%s'", report->seconds,
			options->command[0]);
		if (options->common.timestamp)
			fprintf(stream, ", until %s", time);
		fprintf(stream, "\n\n");
		report__print(report, stream);
	}
	fclose(stream);
	code = write_output(&options->common, text, len);
	free(text);
	return code;
}

int cmd_run(int argc, char **argv)
{
	static const struct argp_child children[] = { { &report_argp, 0, NULL, 0 }, { 0 } };
	static const struct argp argp = {
		.parser = parse, .args_doc = "-- CMD [ARGS]", .doc = doc, .children = children
	};
	struct run_options options = { 0 };
	struct snapshot *snapshots = calloc(2, sizeof(*snapshots));
	struct report *report = calloc(1, sizeof(*report));
	struct observer *observer = NULL;
	int gate = -1, code, command_code;
	pid_t pid;

	argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &options);
	if (!snapshots || !report) {
		diag__fail(ENOMEM, "start");
		code = EXIT_FAILED;
		goto out;
	}
	if (options.common.output && file__check_replace(options.common.output)) {
		code = EXIT_FAILED;
		goto out;
	}
	keep_inherited();
	stop__install();
	code = open_observer(&observer, &options.common);
	if (code)
		goto out;
	code = explain_fallback(observer);
	if (code)
		goto out;
	/* Attaching takes seconds: who stopped us by then does not want the command at all. */
	if (stop__asked()) {
		code = 128 + stop__signal();
		goto out;
	}
	pid = start(options.command, &gate);
	if (pid < 0) {
		diag__fail(errno, "start %s", options.command[0]);
		code = EXIT_FAILED;
		goto out;
	}
	if (observer__snapshot(observer, &snapshots[0]) || write(gate, "g", 1) != 1) {
		close(gate);
		waitpid(pid, NULL, 0);
		code = EXIT_FAILED;
		goto out;
	}
	close(gate);
	command_code = wait_for(pid);
	code = EXIT_FAILED;
	if (observer__snapshot(observer, &snapshots[1]) == 0) {
		report__make(report, observer, &snapshots[0], &snapshots[1]);
		code = write_report(report, &options);
	}
	if (!code)
		code = command_code;
out:
	observer__close(observer);
	free(report);
	free(snapshots);
	return code;
}
