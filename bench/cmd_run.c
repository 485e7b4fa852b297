/* SPDX-License-Identifier: GPL-2.0-only */
/* "tlbbench run": runs each workload a few times, and prints what each run cost. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "commands.h"
#include "common/diag.h"
#include "common/file.h"
#include "common/stop.h"
#include "environment.h"
#include "invocation.h"
#include "journal.h"
#include "observer.h"
#include "pin.h"
#include "progress.h"
#include "result.h"
#include "run_options.h"
#include "run_table.h"
#include "values.h"
#include "workload.h"

#define PILOT_PAGES 1000
#define LEAST_PAGES 100

/* One invocation. */
struct session {
	struct run_options asked;
	const struct workload *workload; /* the current one */
	struct workload_options options; /* and its options */

	json_t *environment; /* borrowed from result */
	struct result *result;
	struct journal *journal;
	struct observer *observer;
	struct progress progress;
	struct snapshot before, after;
	struct report report;
	uint64_t elapsed_ns;   /* of the last run's timed section */
	uint64_t done, worked; /* runs of the workload that came to their end, and did work */
};

static int choose_cpus(struct run_options *run)
{
	int code = invocation__choose_cpus(run->cpus_text, &run->options.cpus);

	if (!code)
		run->options.initiator = cpus__next(&run->options.cpus, 0);
	return code;
}

/* Printing; nothing of it with --json, whose result has it all. */

static void print_run(struct session *session, const struct workload_run *run)
{
	char label[24];
	json_t *note;
	size_t i;

	progress__clear(&session->progress);
	if (session->asked.json)
		return;
	snprintf(label, sizeof(label), "%llu", (unsigned long long)session->done);
	run_table__row(stdout, label, run->values);
	if (run->no_work)
		run_table__note(stdout, "no work was done", run->reason);
	json_array_foreach (run->notes, i, note) {
		run_table__note(stdout, "note", json_string_value(note));
	}
	if (session->asked.verbose) {
		putchar('\n');
		report__print(&session->report, stdout);
		putchar('\n');
	}
	fflush(stdout);
}

static void print_summary(const struct session *session)
{
	const json_t *all = json_object_get(result__json(session->result), "workloads");
	const json_t *workload = json_array_get(all, json_array_size(all) - 1);

	if (session->asked.json || !session->done)
		return;
	run_table__medians(stdout, json_object_get(workload, "runs"));
	if (session->asked.workload_count > 1)
		putchar('\n');
	if (session->asked.verbose || session->asked.workload_count > 1)
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
	double limit = session->asked.time_limit_ns / 1e9, page, rest, fit;
	int err;

	if (!session->asked.time_limit_ns || wanted <= PILOT_PAGES)
		return 0;
	session->options.pages = PILOT_PAGES;
	progress__start(&session->progress, "pilot", 1, session->asked.quiet);
	err = run_once(session, false);
	progress__clear(&session->progress);
	session->options.pages = wanted;
	if (err)
		return err;
	page = 2 * session->elapsed_ns / 1e9 / PILOT_PAGES;
	rest = (stop__now_ns() - start) / 1e9 - page * PILOT_PAGES;
	rest = rest > 0 ? rest : 0;
	fit = (limit / session->asked.runs - rest) / page;
	if (fit >= wanted)
		return 0;
	session->options.pages = fit > LEAST_PAGES ? fit : LEAST_PAGES;
	progress__clear(&session->progress);
	diag__error(
		"%llu runs of %llu pages would take about %.1f s, as a pilot of %d pages tells; "
		"scaled by %.3f to %llu pages, for a limit of %.1f s",
		(unsigned long long)session->asked.runs, (unsigned long long)wanted,
		(rest + page * wanted) * session->asked.runs, PILOT_PAGES,
		(double)session->options.pages / wanted, (unsigned long long)session->options.pages,
		limit);
	return 0;
}

static int add_workload(struct session *session)
{
	return result__add_workload(session->result, session->workload->name,
				    session->workload->parameters(&session->options));
}

/* A workload without any run is told in the result too. */
static int record_failure(struct session *session)
{
	if (!session->done && !add_workload(session))
		result__add_run(session->result, RUN_EXCLUDED, "it failed; stderr said why",
				json_object(), NULL, NULL);
	return EXIT_FAILED;
}

/* Its runs, after it is known that it can run here. */
static int run_workload(struct session *session)
{
	int err = fit_time_limit(session);

	if (!err)
		err = add_workload(session);
	if (!err && !session->asked.json)
		run_table__head(stdout, session->workload, &session->options,
				environment__emulated(session->environment));
	progress__start(&session->progress, session->workload->name, session->asked.runs,
			session->asked.quiet);
	while (!err && !stop__asked() && session->done < session->asked.runs)
		err = run_once(session, true);
	progress__clear(&session->progress);
	print_summary(session);
	if (stop__asked()) {
		diag__error("%s: ended by signal %d after %llu of %llu runs",
			    session->workload->name, stop__signal(),
			    (unsigned long long)session->done,
			    (unsigned long long)session->asked.runs);
		return EXIT_DONE;
	}
	if (err)
		return record_failure(session);
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

/* The kernel's own counters still tell the number of interrupts; the rest is gone. */
static void explain_fallback(const struct observer *observer)
{
	const char *why;

	if (observer__fallback(observer, &why))
		diag__warn("only the kernel's own counters can be read: %s", why);
}

/* What needs no more than one of the workloads that can run here. */
static int start(struct session *session)
{
	int err;

	if (session->observer)
		return EXIT_DONE;
	if (session->asked.output && file__check_replace(session->asked.output))
		return EXIT_FAILED;
	if (!session->journal && journal__open(&session->journal))
		return EXIT_FAILED;
	err = observer__open(&session->observer, &session->asked.observer);
	if (err)
		return EXIT_FAILED;
	explain_fallback(session->observer);
	return pin__to_cpu(session->asked.options.initiator) ? EXIT_FAILED : EXIT_DONE;
}

/* The worse of two exit codes: that nothing could run is told only if it is so of all. */
static int worse(int a, int b)
{
	if (a == EXIT_FAILED || b == EXIT_FAILED)
		return EXIT_FAILED;
	return a == EXIT_DONE ? a : b;
}

static int run_all(struct session *session)
{
	int code = EXIT_UNSUPPORTED;

	for (size_t i = 0; i < session->asked.workload_count && !stop__asked(); i++) {
		char why[256] = "";
		int one;

		session->workload = session->asked.workloads[i];
		session->options = run_options__for(&session->asked, session->workload);
		session->done = session->worked = 0;
		if (session->workload->check(&session->options, why, sizeof(why))) {
			one = refuse(session, why);
		} else {
			one = start(session);
			if (one)
				return one;
			one = run_workload(session);
		}
		code = worse(code, one);
	}
	return code;
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

static int write_result(const struct session *session)
{
	int err = session->asked.json ? result__write(session->result, "-") : 0;

	if (!err && session->asked.output)
		err = result__write(session->result, session->asked.output);
	return err;
}

int cmd_run(int argc, char **argv)
{
	struct session *session = calloc(1, sizeof(*session));
	int code;

	if (!session) {
		diag__fail(ENOMEM, "start");
		return EXIT_FAILED;
	}
	run_options__parse(&session->asked, argc, argv);
	invocation__catch_signals();
	code = choose_cpus(&session->asked);
	if (!code)
		code = open_result(session);
	if (!code)
		code = run_all(session);
	if (session->journal && journal__close(session->journal))
		code = EXIT_FAILED;
	if (session->result && write_result(session))
		code = EXIT_FAILED;
	observer__close(session->observer);
	result__free(session->result);
	free(session);
	if (diag__close_stdout())
		code = EXIT_FAILED;
	return code;
}
