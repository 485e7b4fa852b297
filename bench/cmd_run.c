/* SPDX-License-Identifier: GPL-2.0-only */
/* "tlbbench run": runs one workload a few times, and prints what each run cost. */
#include <argp.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "common/diag.h"
#include "common/file.h"
#include "common/parse.h"
#include "common/stop.h"
#include "environment.h"
#include "journal.h"
#include "observer.h"
#include "pin.h"
#include "progress.h"
#include "result.h"
#include "run_table.h"
#include "values.h"
#include "workload.h"

#define MAX_PAGES    (1ull << 40)
#define MAX_RUNS     10000
#define DEFAULT_RUNS 5
#define PILOT_PAGES  1000
#define LEAST_PAGES  100

static const char doc[] =
	"Run WORKLOAD and print, for each run, the pages that verifiably did what was asked, the "
	"flushes and remote interrupts (IPIs) it took, and the time.\v"
	"Everything that is changed on the machine is written to a journal first, and put back at "
	"the end and on a signal; after a second signal, SIGKILL or a crash, \"tlbbench restore\" "
	"does it.\n\n"
	"Exit status: 0 done, or ended by a signal after printing what there is; 1 failed, or no "
	"run did any work; 2 usage; 77 the workload cannot run here.\n\n"
	"Examples:\n"
	"  sudo tlbbench run pageout --pages 4096 --runs 10 -o before.json\n"
	"  sudo tlbbench run pageout --bystander spin --cpus 0-15\n";

enum {
	KEY_PAGES = 256,
	KEY_BYSTANDER,
	KEY_VIA,
	KEY_THP,
	KEY_CPUS,
	KEY_RUNS,
	KEY_TIME_LIMIT,
	KEY_CLASSIFY
};

static const struct argp_option options[] = {
	{ "pages", KEY_PAGES, "N", 0, "Pages to work on (default: the workload's own number)", 1 },
	{ "bystander", KEY_BYSTANDER, "KIND", 0,
	  "What the other CPUs do: other (a busy process each, the default), spin (busy threads of "
	  "the process itself), idle",
	  1 },
	{ "via", KEY_VIA, "WAY", 0, "The way the work is done; see tlbbench list", 1 },
	{ "thp", KEY_THP, NULL, 0, "Use transparent huge pages", 1 },
	{ "cpus", KEY_CPUS, "LIST", 0, "Use only these of the CPUs this process may use", 1 },
	{ "runs", KEY_RUNS, "N", 0, "Number of runs (default: 5)", 1 },
	{ "time-limit", KEY_TIME_LIMIT, "TIME", 0,
	  "Take fewer pages if the runs would take longer than TIME (2m, 90s), as a pilot run tells",
	  1 },
	{ "classify", KEY_CLASSIFY, "HOW", 0,
	  "Tell lazy from not-loaded CPUs: exact, sampled, off, auto (the default: exact up to 32 "
	  "CPUs)",
	  1 },
	{ "output", 'o', "FILE", 0, "Write the result, as JSON, to FILE", 2 },
	{ "json", 'J', NULL, 0, "Print the result as JSON instead of tables", 2 },
	{ "quiet", 'q', NULL, 0, "Show no progress", 2 },
	{ "verbose", 'v', NULL, 0, "Print the funnel of every run, and say more on stderr", 2 },
	{ 0 },
};

/* One invocation. */
struct session {
	const struct workload *workload;
	struct workload_options options;
	struct observer_options observer_options;
	const char *cpus_text;
	uint64_t runs, time_limit_ns;
	const char *output;
	bool json, quiet, verbose;

	json_t *environment; /* borrowed from result */
	struct result *result;
	struct journal *journal;
	struct observer *observer;
	struct progress progress;
	struct snapshot before, after;
	struct report report;
	uint64_t elapsed_ns;   /* of the last run's timed section */
	uint64_t done, worked; /* runs that came to their end, and those of them that did work */
};

/* The command line. */

/* The position of @text in @names, or an end with the usage error. */
static int choose(const char *option, const char *text, const char *const *names)
{
	for (int i = 0; names[i]; i++)
		if (strcmp(text, names[i]) == 0)
			return i;
	diag__error("%s: '%s' is none of the choices", option, text);
	for (int i = 0; names[i]; i++)
		diag__hint("%s=%s", option, names[i]);
	exit(EXIT_USAGE);
}

static void choose_workload(struct session *session, const char *name)
{
	session->workload = workload__find(name);
	if (session->workload)
		return;
	diag__error("there is no workload '%s'", name);
	diag__hint("tlbbench list");
	exit(EXIT_USAGE);
}

static error_t parse(int key, char *text, struct argp_state *state)
{
	static const char *const classify[] = { "auto", "exact", "sampled", "off", NULL };
	static const char *const bystanders[] = { "other", "spin", "idle", NULL };
	struct session *session = state->input;

	switch (key) {
	case KEY_PAGES:
		session->options.pages = parse__u64_or_err("--pages", text, 1, MAX_PAGES);
		break;
	case KEY_BYSTANDER:
		choose("--bystander", text, bystanders);
		bystander_kind__parse(text, &session->options.bystander);
		break;
	case KEY_VIA:
		session->options.via = text;
		break;
	case KEY_THP:
		session->options.thp = true;
		break;
	case KEY_CPUS:
		session->cpus_text = text;
		break;
	case KEY_RUNS:
		session->runs = parse__u64_or_err("--runs", text, 1, MAX_RUNS);
		break;
	case KEY_TIME_LIMIT:
		session->time_limit_ns = parse__duration_or_err("--time-limit", text);
		break;
	case KEY_CLASSIFY:
		session->observer_options.classify = choose("--classify", text, classify);
		break;
	case 'o':
		session->output = text;
		break;
	case 'J':
		session->json = true;
		break;
	case 'q':
		session->quiet = true;
		break;
	case 'v':
		session->verbose = true;
		diag__set_verbose(true);
		break;
	case ARGP_KEY_ARG:
		if (session->workload)
			argp_error(state, "one workload at a time: '%s' is one too many", text);
		choose_workload(session, text);
		break;
	case ARGP_KEY_NO_ARGS:
		diag__error("run: which workload? see tlbbench list");
		exit(EXIT_USAGE);
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

/* What was not given, and what can only be checked when the workload is known. */
static void complete_options(struct session *session)
{
	const struct workload *workload = session->workload;
	struct workload_options *out = &session->options;

	if (!out->pages)
		out->pages = workload->default_pages;
	if (!session->runs)
		session->runs = DEFAULT_RUNS;
	if (out->via && !workload->vias) {
		diag__error("%s knows one way only: --via is not for it", workload->name);
		exit(EXIT_USAGE);
	}
	if (out->via)
		choose("--via", out->via, workload->vias);
	else if (workload->vias)
		out->via = workload->vias[0];
}

/* The affinity of this process and what is online, and of these what --cpus names. */
static int choose_cpus(struct session *session)
{
	struct cpus allowed, asked, *cpus = &session->options.cpus;
	int err = cpus__allowed(&allowed);

	if (err) {
		diag__fail(-err, "find the CPUs this process may use");
		return EXIT_FAILED;
	}
	*cpus = allowed;
	if (session->cpus_text) {
		parse__cpulist_or_err("--cpus", session->cpus_text, &asked);
		cpus__and(cpus, &allowed, &asked);
		if (!cpus__equal(cpus, &asked) || !cpus__count(cpus)) {
			char text[256];

			cpus__format(&allowed, text, sizeof(text));
			diag__error("--cpus %s: not all of these may be used here",
				    session->cpus_text);
			diag__hint("this process may use the online CPUs %s", text);
			return EXIT_USAGE;
		}
	}
	session->options.initiator = cpus__next(cpus, 0);
	return EXIT_DONE;
}

/* Printing; nothing of it with --json, whose result has it all. */

static void print_run(struct session *session, const struct workload_run *run)
{
	char label[24];
	json_t *note;
	size_t i;

	progress__clear(&session->progress);
	if (session->json)
		return;
	snprintf(label, sizeof(label), "%llu", (unsigned long long)session->done);
	run_table__row(stdout, label, run->values);
	if (run->no_work)
		run_table__note(stdout, "no work was done", run->reason);
	json_array_foreach (run->notes, i, note) {
		run_table__note(stdout, "note", json_string_value(note));
	}
	if (session->verbose) {
		putchar('\n');
		report__print(&session->report, stdout);
		putchar('\n');
	}
	fflush(stdout);
}

static void print_summary(const struct session *session)
{
	const json_t *workload =
		json_array_get(json_object_get(result__json(session->result), "workloads"), 0);

	if (session->json || !session->done)
		return;
	run_table__medians(stdout, json_object_get(workload, "runs"));
	if (session->verbose)
		return;
	printf("\nThe flushes of the whole machine during run %llu:\n\n",
	       (unsigned long long)session->done);
	report__print(&session->report, stdout);
}

/* Running. */

/* One run from set_up() to verify(); what was set up is left for the caller to tear down. */
static int measure(struct session *session, struct workload_run *run)
{
	const struct workload *workload = session->workload;
	struct progress *progress = &session->progress;
	uint64_t step = session->done + 1, primed, start;
	int err;

	progress__show(progress, step, "setting up");
	err = workload->set_up(run);
	if (err)
		return err;
	progress__show(progress, step, "running");
	err = workload->prime(run);
	primed = stop__now_ns();
	if (!err)
		err = observer__snapshot(session->observer, &session->before);
	start = stop__now_ns();
	if (!err)
		err = workload->run(run);
	if (!run->elapsed_ns)
		run->elapsed_ns = stop__now_ns() - start;
	session->elapsed_ns = run->elapsed_ns;
	if (!err)
		err = observer__snapshot(session->observer, &session->after);
	if (err)
		return err;
	report__make(&session->report, session->observer, &session->before, &session->after);
	run->report = &session->report;
	progress__show(progress, step, "checking");
	diag__verbose("%.1f ms from the filled mask to the start", (start - primed) / 1e6);
	err = workload->verify(run);
	return err ? err : values__add(run);
}

static int keep_run(struct session *session, const struct workload_run *run)
{
	int err = result__add_run(session->result, run->no_work ? RUN_NO_WORK : RUN_OK,
				  run->no_work ? run->reason : NULL, json_incref(run->values),
				  report__json(run->report), json_incref(run->notes));

	if (err)
		return err;
	session->done++;
	session->worked += !run->no_work;
	return 0;
}

/* @keep: a run that counts, not a pilot. */
static int run_once(struct session *session, bool keep)
{
	struct workload_run run = {
		.options = &session->options,
		.journal = session->journal,
		.values = json_object(),
		.notes = json_array(),
	};
	size_t mark = journal__mark(session->journal);
	int err = measure(session, &run);

	session->workload->tear_down(&run);
	/* A machine that is not as it was before would change the next run. */
	if (!err && journal__mark(session->journal) != mark)
		err = -EIO;
	if (!err && keep)
		err = keep_run(session, &run);
	if (!err && keep)
		print_run(session, &run);
	json_decref(run.values);
	json_decref(run.notes);
	return err;
}

/*
 * Takes fewer pages if the time is too short for all. Of a run's time, the timed section grows with
 * the pages, and so does the check, which brings them back and takes no longer; the rest does not.
 */
static int fit_time_limit(struct session *session)
{
	uint64_t wanted = session->options.pages, start = stop__now_ns();
	double limit = session->time_limit_ns / 1e9, page, rest, fit;
	int err;

	if (!session->time_limit_ns || wanted <= PILOT_PAGES)
		return 0;
	session->options.pages = PILOT_PAGES;
	progress__start(&session->progress, "pilot", 1, session->quiet);
	err = run_once(session, false);
	progress__clear(&session->progress);
	session->options.pages = wanted;
	if (err)
		return err;
	page = 2 * session->elapsed_ns / 1e9 / PILOT_PAGES;
	rest = (stop__now_ns() - start) / 1e9 - page * PILOT_PAGES;
	rest = rest > 0 ? rest : 0;
	fit = (limit / session->runs - rest) / page;
	if (fit >= wanted)
		return 0;
	session->options.pages = fit > LEAST_PAGES ? fit : LEAST_PAGES;
	progress__clear(&session->progress);
	diag__error(
		"%llu runs of %llu pages would take about %.1f s, as a pilot of %d pages tells; "
		"scaled by %.3f to %llu pages, for a limit of %.1f s",
		(unsigned long long)session->runs, (unsigned long long)wanted,
		(rest + page * wanted) * session->runs, PILOT_PAGES,
		(double)session->options.pages / wanted, (unsigned long long)session->options.pages,
		limit);
	return 0;
}

static int add_workload(struct session *session)
{
	return result__add_workload(session->result, session->workload->name,
				    session->workload->parameters(&session->options));
}

static int run_all(struct session *session)
{
	int err = pin__to_cpu(session->options.initiator);

	if (!err)
		err = fit_time_limit(session);
	if (!err)
		err = add_workload(session);
	if (!err && !session->json)
		run_table__head(stdout, session->workload, &session->options,
				environment__emulated(session->environment));
	progress__start(&session->progress, session->workload->name, session->runs, session->quiet);
	while (!err && !stop__asked() && session->done < session->runs)
		err = run_once(session, true);
	progress__clear(&session->progress);
	if (stop__asked()) {
		diag__error("ended by signal %d after %llu of %llu runs", stop__signal(),
			    (unsigned long long)session->done, (unsigned long long)session->runs);
		return EXIT_DONE;
	}
	if (err)
		return EXIT_FAILED;
	if (!session->worked) {
		diag__error("%s: no run did any work", session->workload->name);
		return EXIT_FAILED;
	}
	return EXIT_DONE;
}

/* The result is an unsupported run: not nothing, and not a zero. */
static int refuse(struct session *session, const char *why)
{
	diag__error("%s is not supported here: %s", session->workload->name, why);
	if (add_workload(session) ||
	    result__add_run(session->result, RUN_UNSUPPORTED, why, json_object(), NULL, NULL))
		return EXIT_FAILED;
	return EXIT_UNSUPPORTED;
}

static int open_result(struct session *session)
{
	session->environment = environment__record();
	if (!session->environment || result__new(&session->result, session->environment)) {
		diag__fail(ENOMEM, "start a result");
		return EXIT_FAILED;
	}
	return EXIT_DONE;
}

/* The kernel's own counters still tell the number of interrupts; the rest is gone. */
static void explain_fallback(const struct observer *observer)
{
	const char *why;

	if (observer__fallback(observer, &why))
		diag__warn("only the kernel's own counters can be read: %s", why);
}

static int run_session(struct session *session)
{
	char why[256] = "";
	int code;

	if (session->workload->check(&session->options, why, sizeof(why)))
		return refuse(session, why);
	if (session->output && file__check_replace(session->output))
		return EXIT_FAILED;
	if (journal__open(&session->journal))
		return EXIT_FAILED;
	if (observer__open(&session->observer, &session->observer_options)) {
		journal__close(session->journal);
		return EXIT_FAILED;
	}
	explain_fallback(session->observer);
	code = run_all(session);
	print_summary(session);
	if (journal__close(session->journal))
		code = EXIT_FAILED;
	return code;
}

static int write_result(const struct session *session)
{
	int err = session->json ? result__write(session->result, "-") : 0;

	if (!err && session->output)
		err = result__write(session->result, session->output);
	return err;
}

static void ask_to_stop(int unused)
{
	(void)unused;
	raise(SIGTERM);
}

/* Signals that would end us with everything still changed are taken for SIGTERM. */
static void catch_all_signals(void)
{
	static const int others[] = { SIGQUIT, SIGUSR1,	  SIGUSR2, SIGALRM,
				      SIGXCPU, SIGVTALRM, SIGPROF };

	stop__install();
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		sigaction(others[i], &(struct sigaction){ .sa_handler = ask_to_stop }, NULL);
}

int cmd_run(int argc, char **argv)
{
	static const struct argp argp = {
		.options = options, .parser = parse, .args_doc = "WORKLOAD", .doc = doc
	};
	struct session *session = calloc(1, sizeof(*session));
	int code;

	if (!session) {
		diag__fail(ENOMEM, "start");
		return EXIT_FAILED;
	}
	argp_parse(&argp, argc, argv, 0, NULL, session);
	complete_options(session);
	catch_all_signals();
	code = choose_cpus(session);
	if (!code)
		code = open_result(session);
	if (!code)
		code = run_session(session);
	if (session->result && write_result(session))
		code = EXIT_FAILED;
	observer__close(session->observer);
	result__free(session->result);
	free(session);
	if (diag__close_stdout())
		code = EXIT_FAILED;
	return code;
}
