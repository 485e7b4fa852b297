/* SPDX-License-Identifier: GPL-2.0-only */
/* "tlbbench run": runs each workload a few times, and prints what each run cost. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
#include "switch.h"
#include "values.h"
#include "workload.h"

#define PILOT_PAGES 1000
#define LEAST_PAGES 100

/* What is measured with the switch off or on; without a switch there is only the first. */
struct side {
	struct result *result;
	uint64_t done, worked; /* runs of the workload that came to their end, and did work */
};

/* One invocation. */
struct session {
	struct run_options asked;
	const struct workload *workload; /* the current one */
	struct workload_options options; /* and its options */

	json_t *environment;
	struct toggle toggle;
	struct side side[SWITCH_STATES];
	enum switch_state state, states; /* the one being run, and how many there are */
	struct journal *journal;
	struct observer *observer;
	struct progress progress;
	enum run_table table;
	struct snapshot before, after;
	struct report report;
	uint64_t elapsed_ns; /* of the last run's timed section */
};

static struct side *current(struct session *session)
{
	return &session->side[session->state];
}

/* The runs of the workload, of all sides. */
static uint64_t runs_done(const struct session *session)
{
	return session->side[SWITCH_OFF].done + session->side[SWITCH_ON].done;
}

static uint64_t runs_asked(const struct session *session)
{
	return session->asked.runs * session->states;
}

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
	if (session->toggle.path)
		snprintf(label, sizeof(label), "%s", switch_state__name(session->state));
	else
		snprintf(label, sizeof(label), "%llu", (unsigned long long)runs_done(session));
	run_table__row(stdout, session->table, label, run->values);
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

static void print_medians(const struct session *session, enum switch_state state)
{
	const json_t *all = json_object_get(result__json(session->side[state].result), "workloads");
	const json_t *workload = json_array_get(all, json_array_size(all) - 1);

	run_table__medians(stdout, session->table,
			   session->toggle.path ? switch_state__name(state) : "med",
			   json_object_get(workload, "runs"));
}

/* @complete: the last run came to its end, so that its report is of a run that counts. */
static void print_summary(const struct session *session, bool complete)
{
	bool several = session->asked.workload_count > 1 || session->asked.thread_count > 1;

	if (session->asked.json || !runs_done(session))
		return;
	if (session->toggle.path)
		printf("medians\n");
	for (enum switch_state state = SWITCH_OFF; state < session->states; state++)
		print_medians(session, state);
	if (several)
		putchar('\n');
	if (!complete || session->asked.verbose || several)
		return;
	printf("\nThe flushes of the whole machine during run %llu%s%s:\n\n",
	       (unsigned long long)runs_done(session),
	       session->toggle.path ? ", with the switch " : "",
	       session->toggle.path ? switch_state__name(session->state) : "");
	report__print(&session->report, stdout);
}

/* Running. */

/* One run from set_up() to verify(); what was set up is left for the caller to tear down. */
static int measure(struct session *session, struct workload_run *run)
{
	const struct workload *workload = session->workload;
	struct progress *progress = &session->progress;
	uint64_t step = runs_done(session) + 1, primed, start;
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
	/* Before the workload puts back what it set. */
	if (session->toggle.path)
		err = toggle__check(&session->toggle, session->state);
	if (!err)
		err = workload->verify(run);
	return err ? err : values__add(run);
}

static int keep_run(struct session *session, const struct workload_run *run)
{
	struct side *side = current(session);
	int err = result__add_run(side->result, run->no_work ? RUN_NO_WORK : RUN_OK,
				  run->no_work ? run->reason : NULL, json_incref(run->values),
				  report__json(run->report), json_incref(run->notes));

	if (err)
		return err;
	side->done++;
	side->worked += !run->no_work;
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

/* The runs that follow are of this side. */
static int turn_to(struct session *session, enum switch_state state)
{
	session->state = state;
	return session->toggle.path ? toggle__turn(&session->toggle, session->journal, state) : 0;
}

/* Fewer pages than this are not worth a run, or no work for each thread. */
static uint64_t least_pages(const struct session *session)
{
	uint64_t needed = (uint64_t)session->workload->pages_per_thread * session->options.threads;

	return needed > LEAST_PAGES ? needed : LEAST_PAGES;
}

/*
 * Takes fewer pages if the time is too short for all. Of a run's time, the timed section grows with
 * the pages, and so does the check, which brings them back and takes no longer; the rest does not.
 */
static int fit_time_limit(struct session *session)
{
	uint64_t wanted = session->options.pages, start = stop__now_ns();
	uint64_t least = least_pages(session), pilot = least > PILOT_PAGES ? least : PILOT_PAGES;
	double limit = session->asked.time_limit_ns / 1e9, page, rest, fit;
	int err;

	if (!session->asked.time_limit_ns || wanted <= pilot)
		return 0;
	session->options.pages = pilot;
	progress__start(&session->progress, "pilot", 1, session->asked.quiet);
	err = turn_to(session, SWITCH_OFF);
	if (!err)
		err = run_once(session, false);
	progress__clear(&session->progress);
	session->options.pages = wanted;
	if (err)
		return err;
	page = 2 * session->elapsed_ns / 1e9 / pilot;
	rest = (stop__now_ns() - start) / 1e9 - page * pilot;
	rest = rest > 0 ? rest : 0;
	fit = (limit / runs_asked(session) - rest) / page;
	if (fit >= wanted)
		return 0;
	session->options.pages = fit > least ? fit : least;
	progress__clear(&session->progress);
	diag__error(
		"%llu runs of %llu pages would take about %.1f s, as a pilot of %llu pages tells; "
		"scaled by %.3f to %llu pages, for a limit of %.1f s",
		(unsigned long long)runs_asked(session), (unsigned long long)wanted,
		(rest + page * wanted) * runs_asked(session), (unsigned long long)pilot,
		(double)session->options.pages / wanted, (unsigned long long)session->options.pages,
		limit);
	return 0;
}

static int add_workload(struct session *session)
{
	int err = 0;

	for (enum switch_state state = SWITCH_OFF; !err && state < session->states; state++)
		err = result__add_workload(session->side[state].result, session->workload->name,
					   session->workload->parameters(&session->options));
	return err;
}

/* Of each side that has no run of it. Returns a negative errno if it cannot be told. */
static int record_without_run(struct session *session, enum run_status status, const char *why)
{
	int err = runs_done(session) ? 0 : add_workload(session);

	for (enum switch_state state = SWITCH_OFF; !err && state < session->states; state++)
		if (!session->side[state].done)
			err = result__add_run(session->side[state].result, status, why,
					      json_object(), NULL, NULL);
	return err;
}

/* Interleaved as off on on off, so that what drifts does so for both sides. */
static int run_rounds(struct session *session)
{
	int err = 0;

	for (uint64_t round = 0; round < session->asked.runs; round++) {
		for (unsigned int i = 0; i < session->states; i++) {
			if (err || stop__asked())
				return err;
			err = turn_to(session, round % 2 ? session->states - 1 - i : i);
			if (!err)
				err = run_once(session, true);
		}
	}
	return err;
}

/* A workload whose runs ended, but none of a side did any work, cannot be compared. */
static bool any_work(const struct session *session)
{
	bool any = true;

	for (enum switch_state state = SWITCH_OFF; state < session->states; state++) {
		if (session->side[state].worked)
			continue;
		diag__error("%s: no run%s%s did any work", session->workload->name,
			    session->toggle.path ? " with the switch " : "",
			    session->toggle.path ? switch_state__name(state) : "");
		any = false;
	}
	return any;
}

/* Its runs, after it is known that it can run here. */
static int run_workload(struct session *session)
{
	int err = fit_time_limit(session);

	if (!err)
		err = add_workload(session);
	if (!err && !session->asked.json)
		run_table__head(stdout, session->table, session->workload, &session->options,
				environment__emulated(session->environment));
	progress__start(&session->progress, session->workload->name, runs_asked(session),
			session->asked.quiet);
	if (!err)
		err = run_rounds(session);
	progress__clear(&session->progress);
	print_summary(session, !err);
	if (stop__asked()) {
		diag__error("%s: ended by signal %d after %llu of %llu runs",
			    session->workload->name, stop__signal(),
			    (unsigned long long)runs_done(session),
			    (unsigned long long)runs_asked(session));
		return EXIT_DONE;
	}
	if (err) {
		record_without_run(session, RUN_EXCLUDED, "it failed; stderr said why");
		return EXIT_FAILED;
	}
	return any_work(session) ? EXIT_DONE : EXIT_FAILED;
}

/* The result is an unsupported run: not nothing, and not a zero. */
static int refuse(struct session *session, const char *why)
{
	diag__error("%s is not supported here: %s", session->workload->name, why);
	return record_without_run(session, RUN_UNSUPPORTED, why) ? EXIT_FAILED : EXIT_UNSUPPORTED;
}

/* The kernel's own counters still tell the number of interrupts; the rest is gone. */
static void explain_fallback(const struct observer *observer)
{
	const char *why;

	if (!observer__tlbi(observer, NULL) && observer__fallback(observer, &why))
		diag__warn("only the kernel's own counters can be read: %s", why);
}

/* Where the result of a side goes: "FILE", or "FILE.off.json". To be freed. */
static char *output_of(const struct session *session, enum switch_state state)
{
	char *path;

	if (!session->toggle.path)
		return strdup(session->asked.output);
	if (asprintf(&path, "%s.%s.json", session->asked.output, switch_state__name(state)) < 0)
		return NULL;
	return path;
}

/* Does it for each side's path; returns the first failure, or a negative errno after a message. */
static int for_each_output(const struct session *session,
			   int (*act)(const struct session *, enum switch_state, const char *))
{
	int err = 0;

	for (enum switch_state state = SWITCH_OFF; !err && state < session->states; state++) {
		char *path = output_of(session, state);

		err = path ? act(session, state, path) : diag__fail(ENOMEM, "write the result");
		free(path);
	}
	return err;
}

static int check_output(const struct session *session, enum switch_state state, const char *path)
{
	(void)session;
	(void)state;
	return file__check_replace(path);
}

static int write_output(const struct session *session, enum switch_state state, const char *path)
{
	return result__write(session->side[state].result, path);
}

/* What needs no more than one of the workloads that can run here. */
static int start(struct session *session)
{
	int err;

	if (session->observer)
		return EXIT_DONE;
	if (session->asked.output && for_each_output(session, check_output))
		return EXIT_FAILED;
	if (!session->journal && journal__open(&session->journal))
		return EXIT_FAILED;
	err = observer__open(&session->observer, &session->asked.observer);
	if (err)
		return err == -ENOTSUP ? EXIT_UNSUPPORTED : EXIT_FAILED;
	explain_fallback(session->observer);
	if (observer__tlbi(session->observer, NULL))
		session->table = RUN_TABLE_TLBI;
	return pin__to_cpu(session->asked.options.initiator) ? EXIT_FAILED : EXIT_DONE;
}

/* The worse of two exit codes: that nothing could run is told only if it is so of all. */
static int worse(int a, int b)
{
	if (a == EXIT_FAILED || b == EXIT_FAILED)
		return EXIT_FAILED;
	return a == EXIT_DONE ? a : b;
}

/* Each workload with each number of threads. */
static int run_all(struct session *session)
{
	const struct run_options *asked = &session->asked;
	int code = EXIT_UNSUPPORTED;

	for (size_t i = 0; i < asked->workload_count * RUN_MAX_CURVE && !stop__asked(); i++) {
		char why[256] = "";
		int one;

		session->workload = asked->workloads[i / RUN_MAX_CURVE];
		if (!run_options__for(asked, session->workload, i % RUN_MAX_CURVE,
				      &session->options))
			continue;
		for (enum switch_state state = SWITCH_OFF; state < SWITCH_STATES; state++)
			session->side[state].done = session->side[state].worked = 0;
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

/* The environment of a side; the reference is the caller's. NULL: no memory. */
static json_t *environment_of(const struct session *session, enum switch_state state)
{
	json_t *environment = json_deep_copy(session->environment);

	if (session->toggle.path &&
	    json_object_set_new(environment, "switch", toggle__describe(&session->toggle, state))) {
		json_decref(environment);
		return NULL;
	}
	return environment;
}

static int open_results(struct session *session)
{
	int err = 0;

	session->environment = environment__record();
	for (enum switch_state state = SWITCH_OFF; !err && state < session->states; state++) {
		json_t *environment = environment_of(session, state);

		err = environment ? result__new(&session->side[state].result, environment)
				  : -ENOMEM;
	}
	return err ? diag__fail(-err, "start a result") : 0;
}

static int write_results(const struct session *session)
{
	int err = session->asked.json ? result__write(session->side[SWITCH_OFF].result, "-") : 0;

	if (!err && session->asked.output)
		err = for_each_output(session, write_output);
	return err;
}

/* Finds the switch, if one was asked for. */
static int choose_sides(struct session *session)
{
	if (!session->asked.toggle)
		return EXIT_DONE;
	session->states = SWITCH_STATES;
	return toggle__find(&session->toggle, session->asked.toggle);
}

int cmd_run(int argc, char **argv)
{
	struct session *session = calloc(1, sizeof(*session));
	int code;

	if (!session) {
		diag__fail(ENOMEM, "start");
		return EXIT_FAILED;
	}
	session->states = 1;
	run_options__parse(&session->asked, argc, argv);
	invocation__catch_signals();
	code = choose_cpus(&session->asked);
	if (!code)
		code = choose_sides(session);
	if (!code && open_results(session))
		code = EXIT_FAILED;
	if (!code)
		code = run_all(session);
	if (session->journal && journal__close(session->journal))
		code = EXIT_FAILED;
	if (session->side[session->states - 1].result && write_results(session))
		code = EXIT_FAILED;
	observer__close(session->observer);
	for (enum switch_state state = SWITCH_OFF; state < SWITCH_STATES; state++)
		result__free(session->side[state].result);
	json_decref(session->environment);
	free(session);
	if (diag__close_stdout())
		code = EXIT_FAILED;
	return code;
}
