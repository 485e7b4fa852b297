/* SPDX-License-Identifier: GPL-2.0-only */
#include <argp.h>
#include <stdlib.h>
#include <string.h>

#include "common/diag.h"
#include "common/parse.h"
#include "run_options.h"

#define MAX_PAGES    (1ull << 40)
#define MAX_RUNS     10000
#define MAX_MMS	     64
#define DEFAULT_RUNS 5

static const char doc[] =
	"Run each WORKLOAD, or with \"suite\" all there are, and print, for each run, the pages that "
	"verifiably did what was asked, the flushes and remote interrupts (IPIs) it took, and the "
	"time.\v"
	"Of several workloads, each takes those of the options that are for it; what cannot run here "
	"is told in the result, and the others run.\n\n"
	"Everything that is changed on the machine is written to a journal first, and put back at "
	"the end and on a signal; after a second signal, SIGKILL or a crash, \"tlbbench restore\" "
	"does it.\n\n"
	"With --switch, a change to the kernel that can be turned off and on is compared within one "
	"boot; the switch is put back as it was found, too.\n\n"
	"Exit status: 0 done, or ended by a signal after printing what there is; 1 failed, or no "
	"run did any work; 2 usage; 77 none of the workloads can run here, or there is no such "
	"switch.\n\n"
	"Examples:\n"
	"  sudo tlbbench run pageout --pages 4096 --runs 10 -o before.json\n"
	"  sudo tlbbench run pageout --bystander spin --cpus 0-15\n"
	"  sudo tlbbench run suite --time-limit 2m -o before.json\n"
	"  sudo tlbbench run suite --switch /sys/kernel/debug/x86/tlb_batch_filter -o filter\n";

enum {
	KEY_PAGES = 256,
	KEY_BYSTANDER,
	KEY_VIA,
	KEY_THP,
	KEY_THREADS,
	KEY_MMS,
	KEY_BATCH,
	KEY_ACCESS,
	KEY_CPUS,
	KEY_RUNS,
	KEY_TIME_LIMIT,
	KEY_CLASSIFY,
	KEY_TLBI,
	KEY_SWITCH
};

static const struct argp_option options[] = {
	{ "pages", KEY_PAGES, "N", 0, "Pages to work on (default: the workload's own number)", 1 },
	{ "bystander", KEY_BYSTANDER, "KIND", 0,
	  "What the other CPUs do: other (a busy process each, the default), spin (busy threads of "
	  "the process itself), idle",
	  1 },
	{ "via", KEY_VIA, "WAY", 0, "The way the work is done; see tlbbench list", 1 },
	{ "thp", KEY_THP, NULL, 0, "Use transparent huge pages", 1 },
	{ "threads", KEY_THREADS, "N,...", 0,
	  "Threads that do the work of tlb_flush (default: one per CPU) and mmap (1); processes of "
	  "fork (1) and lifecycle (one per CPU); threads of migrate_pages that access its memory "
	  "meanwhile (2). Several numbers, and max for one per CPU, make a curve: 1,2,4,max",
	  1 },
	{ "mms", KEY_MMS, "N", 0, "Address spaces the pages are in (manymm; default: 16)", 1 },
	{ "batch", KEY_BATCH, "N", 0,
	  "Pages that move_pages hands over at a time: a number, or all (the default)", 1 },
	{ "access", KEY_ACCESS, "KIND", 0,
	  "What the threads of migrate_pages do to the memory meanwhile: read (the default), write",
	  1 },
	{ "cpus", KEY_CPUS, "LIST", 0, "Use only these of the CPUs this process may use", 1 },
	{ "runs", KEY_RUNS, "N", 0, "Number of runs (default: 5)", 1 },
	{ "time-limit", KEY_TIME_LIMIT, "TIME", 0,
	  "Take fewer pages if the runs of a workload would take longer than TIME (2m, 90s), as a "
	  "pilot run tells",
	  1 },
	{ "classify", KEY_CLASSIFY, "HOW", 0,
	  "Tell lazy from not-loaded CPUs: exact, sampled, off, auto (the default: exact up to 32 "
	  "CPUs)",
	  1 },
	{ "tlbi", KEY_TLBI, "HOW", 0,
	  "On arm64, count TLB invalidations: exact (a kprobe at each instruction), off (the "
	  "default)",
	  1 },
	{ "switch", KEY_SWITCH, "FILE", 0,
	  "Turn this switch of the kernel off and on, and do the runs with each, in turns: off on "
	  "on off ...",
	  1 },
	{ "output", 'o', "FILE", 0,
	  "Write the result, as JSON, to FILE; with --switch, those of its two states to "
	  "FILE.off.json and FILE.on.json",
	  2 },
	{ "json", 'J', NULL, 0, "Print the result as JSON instead of tables", 2 },
	{ "quiet", 'q', NULL, 0, "Show no progress", 2 },
	{ "verbose", 'v', NULL, 0, "Print the funnel of every run, and say more on stderr", 2 },
	{ 0 },
};

static void add_workload(struct run_options *run, const struct workload *workload)
{
	for (size_t i = 0; i < run->workload_count; i++) {
		if (run->workloads[i] != workload)
			continue;
		diag__error("'%s' is given twice", workload->name);
		exit(EXIT_USAGE);
	}
	run->workloads[run->workload_count++] = workload;
}

static void choose_workload(struct run_options *run, const char *name)
{
	const struct workload *workload = workload__find(name);

	if (strcmp(name, "suite") == 0) {
		for (size_t i = 0; workloads[i]; i++)
			add_workload(run, workloads[i]);
		return;
	}
	if (!workload) {
		diag__error("there is no workload '%s'", name);
		diag__hint("tlbbench list");
		exit(EXIT_USAGE);
	}
	add_workload(run, workload);
}

static uint64_t parse_batch(const char *text)
{
	if (strcmp(text, "all") == 0)
		return BATCH_ALL;
	return parse__u64_or_err("--batch", text, 1, MAX_PAGES);
}

/* "1,2,4,max" */
static void parse_threads(struct run_options *run, const char *text)
{
	char *list = strdup(text), *rest = list, *number;

	run->thread_count = 0;
	while (list && (number = strsep(&rest, ","))) {
		if (run->thread_count == RUN_MAX_CURVE) {
			diag__error("--threads: more than %d numbers", RUN_MAX_CURVE);
			exit(EXIT_USAGE);
		}
		run->threads[run->thread_count++] =
			strcmp(number, "max") == 0
				? ONE_PER_CPU
				: parse__u64_or_err("--threads", number, 1, CPUS_MAX);
	}
	free(list);
}

static error_t parse(int key, char *text, struct argp_state *state)
{
	static const char *const classify[] = { "auto", "exact", "sampled", "off", NULL };
	static const char *const accesses[] = { "read", "write", NULL };
	static const char *const bystanders[] = { "other", "spin", "idle", NULL };
	static const char *const tlbi[] = { "off", "exact", NULL };
	struct run_options *run = state->input;

	switch (key) {
	case KEY_PAGES:
		run->options.pages = parse__u64_or_err("--pages", text, 1, MAX_PAGES);
		break;
	case KEY_BYSTANDER:
		parse__choice_or_err("--bystander", text, bystanders);
		bystander_kind__parse(text, &run->options.bystander);
		break;
	case KEY_VIA:
		run->options.via = text;
		break;
	case KEY_THP:
		run->options.thp = true;
		break;
	case KEY_THREADS:
		parse_threads(run, text);
		break;
	case KEY_MMS:
		run->options.mms = parse__u64_or_err("--mms", text, 1, MAX_MMS);
		break;
	case KEY_BATCH:
		run->options.batch = parse_batch(text);
		break;
	case KEY_ACCESS:
		run->options.access =
			ACCESS_READ + parse__choice_or_err("--access", text, accesses);
		break;
	case KEY_CPUS:
		run->cpus_text = text;
		break;
	case KEY_RUNS:
		run->runs = parse__u64_or_err("--runs", text, 1, MAX_RUNS);
		break;
	case KEY_TIME_LIMIT:
		run->time_limit_ns = parse__duration_or_err("--time-limit", text);
		break;
	case KEY_CLASSIFY:
		run->observer.classify = parse__choice_or_err("--classify", text, classify);
		break;
	case KEY_TLBI:
		run->observer.tlbi = TLBI_OFF + parse__choice_or_err("--tlbi", text, tlbi);
		break;
	case KEY_SWITCH:
		run->toggle = text;
		break;
	case 'o':
		run->output = text;
		break;
	case 'J':
		run->json = true;
		break;
	case 'q':
		run->quiet = true;
		break;
	case 'v':
		run->verbose = true;
		diag__set_verbose(true);
		break;
	case ARGP_KEY_ARG:
		choose_workload(run, text);
		break;
	case ARGP_KEY_NO_ARGS:
		diag__error("run: which workload? see tlbbench list");
		exit(EXIT_USAGE);
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static bool knows_way(const struct workload *workload, const char *via)
{
	for (size_t i = 0; workload->vias && workload->vias[i]; i++)
		if (strcmp(workload->vias[i], via) == 0)
			return true;
	return false;
}

static struct workload_options options_at(const struct run_options *run,
					  const struct workload *workload, size_t point)
{
	struct workload_options mine = run->options;

	if (mine.via && !knows_way(workload, mine.via))
		mine.via = NULL;
	if (!workload->default_mms)
		mine.mms = 0;
	if (workload->default_threads && run->thread_count)
		mine.threads = run->threads[point];
	if (!workload->batches)
		mine.batch = 0;
	if (!workload->accesses)
		mine.access = ACCESS_NONE;
	workload_options__complete(&mine, workload);
	return mine;
}

bool run_options__for(const struct run_options *run, const struct workload *workload, size_t point,
		      struct workload_options *out)
{
	size_t points = workload->default_threads && run->thread_count ? run->thread_count : 1;

	if (point >= points)
		return false;
	*out = options_at(run, workload, point);
	for (size_t i = 0; i < point; i++)
		if (options_at(run, workload, i).threads == out->threads)
			return false;
	return true;
}

/* @otherwise: what a workload is like that does not have the option. */
static void refuse_misfit(const struct run_options *run, const char *option, const char *otherwise)
{
	if (run->workload_count == 1)
		diag__error("%s %s: %s is not for it", run->workloads[0]->name, otherwise, option);
	else
		diag__error("%s is not for any of the workloads", option);
	exit(EXIT_USAGE);
}

/* The ways of the only workload, or of none, are the choices to tell. */
static void check_via(const struct run_options *run)
{
	const char *via = run->options.via;
	bool ways = false;

	for (size_t i = 0; i < run->workload_count; i++) {
		ways |= run->workloads[i]->vias != NULL;
		if (knows_way(run->workloads[i], via))
			return;
	}
	if (!ways)
		refuse_misfit(run, "--via", "knows one way only");
	if (run->workload_count == 1)
		parse__choice_or_err("--via", via, run->workloads[0]->vias);
	diag__error("--via: '%s' is a way of none of the workloads", via);
	diag__hint("tlbbench list");
	exit(EXIT_USAGE);
}

/* What can only be checked when the workloads are known: an option has to be for one of them. */
static void check_fit(const struct run_options *run)
{
	const struct workload_options *given = &run->options;
	bool mms = false, threads = false, batch = false, access = false;

	for (size_t i = 0; i < run->workload_count; i++) {
		mms |= run->workloads[i]->default_mms;
		threads |= run->workloads[i]->default_threads;
		batch |= run->workloads[i]->batches;
		access |= run->workloads[i]->accesses;
	}
	if (given->via)
		check_via(run);
	if (given->mms && !mms)
		refuse_misfit(run, "--mms", "works on one address space");
	if (run->thread_count && !threads)
		refuse_misfit(run, "--threads", "has one thread that works");
	if (given->batch && !batch)
		refuse_misfit(run, "--batch", "asks for all pages at once");
	if (given->access && !access)
		refuse_misfit(run, "--access", "has no threads that access its memory besides");
}

/* The switch makes two results, and standard output has room for one. */
static void check_switch(const struct run_options *run)
{
	if (!run->toggle)
		return;
	if (run->json)
		diag__error("--switch and --json exclude each other: there are two results");
	else if (run->output && strcmp(run->output, "-") == 0)
		diag__error("--switch and --output - exclude each other: there are two results");
	else
		return;
	diag__hint("-o PREFIX writes PREFIX.off.json and PREFIX.on.json");
	exit(EXIT_USAGE);
}

void run_options__parse(struct run_options *run, int argc, char **argv)
{
	static const struct argp argp = {
		.options = options, .parser = parse, .args_doc = "WORKLOAD... | suite", .doc = doc
	};

	*run = (struct run_options){ .runs = DEFAULT_RUNS };
	argp_parse(&argp, argc, argv, 0, NULL, run);
	check_fit(run);
	check_switch(run);
}
