/* SPDX-License-Identifier: GPL-2.0-only */
/* "tlbbench run": runs one workload a few times, and prints what each run cost. */
#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "common/diag.h"
#include "common/parse.h"
#include "common/stop.h"
#include "environment.h"
#include "journal.h"
#include "metric.h"
#include "observer.h"
#include "pin.h"
#include "progress.h"
#include "result.h"
#include "stats.h"
#include "values.h"
#include "workload.h"

#define MAX_PAGES    (1ull << 40)
#define MAX_RUNS     10000
#define DEFAULT_RUNS 5

static const char doc[] =
	"Run WORKLOAD and print, for each run, the pages that verifiably did what was asked, the "
	"flushes and remote interrupts (IPIs) it took, and the time.\v"
	"Everything that is changed on the machine is written to a journal first, and put back at "
	"the end and on a signal; after SIGKILL or a crash, \"tlbbench restore\" does it.\n\n"
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
	KEY_CLASSIFY
};

static const struct argp_option options[] = {
	{"pages", KEY_PAGES, "N", 0, "Pages to work on (default: the workload's own number)", 1},
	{"bystander", KEY_BYSTANDER, "KIND", 0,
	 "What the other CPUs do: other (a busy process each, the default), spin (busy threads of "
	 "the process itself), idle",
	 1},
	{"via", KEY_VIA, "WAY", 0, "The way the work is done; see tlbbench list", 1},
	{"thp", KEY_THP, NULL, 0, "Use transparent huge pages", 1},
	{"cpus", KEY_CPUS, "LIST", 0, "Use only these of the CPUs this process may use", 1},
	{"runs", KEY_RUNS, "N", 0, "Number of runs (default: 5)", 1},
	{"classify", KEY_CLASSIFY, "HOW", 0,
	 "Tell lazy from not-loaded CPUs: exact, sampled, off, auto (the default: exact up to 32 "
	 "CPUs)",
	 1},
	{"output", 'o', "FILE", 0, "Write the result, as JSON, to FILE", 2},
	{"json", 'J', NULL, 0, "Print the result as JSON instead of tables", 2},
	{"quiet", 'q', NULL, 0, "Show no progress", 2},
	{"verbose", 'v', NULL, 0, "Print the funnel of every run, and say more on stderr", 2},
	{0},
};

/* One invocation. */
struct session {
	const struct workload *workload;
	struct workload_options options;
	struct observer_options observer_options;
	const char *cpus_text;
	uint64_t runs;
	const char *output;
	bool json, quiet, verbose;

	json_t *environment; /* borrowed from result */
	struct result *result;
	struct journal *journal;
	struct observer *observer;
	struct progress progress;
	struct snapshot before, after;
	struct report report;
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
	static const char *const classify[] = {"auto", "exact", "sampled", "off", NULL};
	static const char *const bystanders[] = {"other", "spin", "idle", NULL};
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

/* The tables. */

static FILE *table(const struct session *session)
{
	return session->json ? NULL : stdout;
}

static void print_head(const struct session *session)
{
	const struct workload_options *given = &session->options;
	FILE *out = table(session);
	char cpus[128];

	if (!out)
		return;
	cpus__format(&given->cpus, cpus, sizeof(cpus));
	fprintf(out, "%s: %llu pages%s%s%s, bystander %s, CPUs %s, initiator %u\n",
		session->workload->name, (unsigned long long)given->pages,
		given->thp ? " in huge pages" : "", given->via ? ", via " : "",
		given->via ? given->via : "", bystander_kind__name(given->bystander), cpus,
		given->initiator);
	if (environment__emulated(session->environment))
		fprintf(out,
			"This machine is emulated: counts are exact, times are an indication.\n");
	fprintf(out, "\n%4s %9s %9s %10s %10s %10s %6s %10s %9s\n", "run", "pages", "flushes",
		"IPIs", "kernel's", "expected", "ratio", "ms", "IPIs/page");
}

/* A value in its column; "-" where it is absent. */
static void print_value(FILE *out, int width, int digits, bool known, double value)
{
	if (known)
		fprintf(out, " %*.*f", width, digits, value);
	else
		fprintf(out, " %*s", width, "-");
}

/* Of one run, or of the medians. */
static void print_values(FILE *out, const char *label, const json_t *values)
{
	static const struct {
		const char *name;
		int width, digits;
	} columns[] = {
		{"pages_done", 9, 0},	  {"flushes", 9, 0},
		{"remote_ipis", 10, 0},	  {"kernel_tlb_interrupts", 10, 0},
		{"expected_ipis", 10, 0}, {"", 6, 3},
		{"elapsed_ms", 10, 1},	  {"ipis_per_page", 9, 2},
	};
	double ipis, expected;
	bool known = (values__number(values, "remote_ipis", &ipis) ||
		      values__number(values, "kernel_tlb_interrupts", &ipis)) &&
		     values__number(values, "expected_ipis", &expected) && expected > 0;

	fprintf(out, "%4s", label);
	for (size_t i = 0; i < sizeof(columns) / sizeof(*columns); i++) {
		double value = known ? ipis / expected : 0;
		bool ratio = !*columns[i].name;
		bool has = ratio ? known : values__number(values, columns[i].name, &value);

		print_value(out, columns[i].width, columns[i].digits, has, value);
	}
	fputc('\n', out);
}

static void print_run(struct session *session, const struct workload_run *run)
{
	FILE *out = table(session);
	char label[24];
	json_t *note;
	size_t i;

	progress__clear(&session->progress);
	if (!out)
		return;
	snprintf(label, sizeof(label), "%llu", (unsigned long long)session->done);
	print_values(out, label, run->values);
	if (run->no_work)
		fprintf(out, "     no work was done: %s\n", run->reason);
	json_array_foreach (run->notes, i, note) {
		fprintf(out, "     note: %s\n", json_string_value(note));
	}
	if (session->verbose) {
		fputc('\n', out);
		report__print(&session->report, out);
		fputc('\n', out);
	}
	fflush(out);
}

/* The numbers of one metric over the runs that did work; returns how many. */
static size_t collect(const json_t *runs, const char *name, double *out)
{
	size_t i, n = 0;
	json_t *run;

	json_array_foreach (runs, i, run) {
		const char *status = json_string_value(json_object_get(run, "status"));

		if (strcmp(status, run_status__name(RUN_OK)) == 0 &&
		    values__number(json_object_get(run, "values"), name, &out[n]))
			n++;
	}
	return n;
}

static json_t *medians(const json_t *runs)
{
	double *numbers = calloc(json_array_size(runs) + 1, sizeof(*numbers));
	json_t *values = json_object();

	for (size_t i = 0; numbers && i < METRICS; i++) {
		size_t n = collect(runs, metrics[i].name, numbers);
		struct summary summary;

		if (n && summary__make(&summary, numbers, n) == 0)
			json_object_set_new(values, metrics[i].name, json_real(summary.median));
	}
	free(numbers);
	return values;
}

static void print_medians(const struct session *session)
{
	const json_t *workload =
		json_array_get(json_object_get(result__json(session->result), "workloads"), 0);
	json_t *values;
	FILE *out = table(session);

	if (!out || !session->worked)
		return;
	values = medians(json_object_get(workload, "runs"));
	print_values(out, "med", values);
	json_decref(values);
	if (session->verbose)
		return;
	fprintf(out, "\nThe flushes of the whole machine during run %llu:\n\n",
		(unsigned long long)session->done);
	report__print(&session->report, out);
}

/* Running. */

/* One run from set_up() to verify(); what was set up is left for the caller to tear down. */
static int measure(struct session *session, struct workload_run *run)
{
	const struct workload *workload = session->workload;
	struct progress *progress = &session->progress;
	uint64_t step = session->done + 1, start;
	int err;

	progress__show(progress, step, "setting up");
	err = workload->set_up(run);
	if (err)
		return err;
	progress__show(progress, step, "running");
	err = workload->prime(run);
	if (!err)
		err = observer__snapshot(session->observer, &session->before);
	start = stop__now_ns();
	if (!err)
		err = workload->run(run);
	if (!run->elapsed_ns)
		run->elapsed_ns = stop__now_ns() - start;
	if (!err)
		err = observer__snapshot(session->observer, &session->after);
	if (err)
		return err;
	report__make(&session->report, session->observer, &session->before, &session->after);
	run->report = &session->report;
	progress__show(progress, step, "checking");
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

static int run_once(struct session *session)
{
	struct workload_run run = {
		.options = &session->options,
		.journal = session->journal,
		.values = json_object(),
		.notes = json_array(),
	};
	int err = measure(session, &run);

	session->workload->tear_down(&run);
	if (!err)
		err = keep_run(session, &run);
	if (!err)
		print_run(session, &run);
	json_decref(run.values);
	json_decref(run.notes);
	return err;
}

static int run_all(struct session *session)
{
	int err = pin__to_cpu(session->options.initiator);

	progress__start(&session->progress, session->workload->name, session->runs, session->quiet);
	while (!err && !stop__asked() && session->done < session->runs)
		err = run_once(session);
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
	if (result__add_run(session->result, RUN_UNSUPPORTED, why, json_object(), NULL, NULL))
		return EXIT_FAILED;
	return EXIT_UNSUPPORTED;
}

static int open_result(struct session *session)
{
	session->environment = environment__record();
	if (!session->environment || result__new(&session->result, session->environment) ||
	    result__add_workload(session->result, session->workload->name,
				 session->workload->parameters(&session->options))) {
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
	if (journal__open(&session->journal))
		return EXIT_FAILED;
	if (observer__open(&session->observer, &session->observer_options)) {
		journal__close(session->journal);
		return EXIT_FAILED;
	}
	explain_fallback(session->observer);
	print_head(session);
	code = run_all(session);
	print_medians(session);
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

int cmd_run(int argc, char **argv)
{
	static const struct argp argp = {
		.options = options, .parser = parse, .args_doc = "WORKLOAD", .doc = doc};
	struct session *session = calloc(1, sizeof(*session));
	int code;

	if (!session) {
		diag__fail(ENOMEM, "start");
		return EXIT_FAILED;
	}
	argp_parse(&argp, argc, argv, 0, NULL, session);
	complete_options(session);
	stop__install();
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
