/* SPDX-License-Identifier: GPL-2.0-only */
/* "tlbstat [interval [count]]": a line per interval, like vmstat. */
#include "commands.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "common/diag.h"
#include "common/parse.h"
#include "common/stop.h"
#include "names.h"
#include "tlbi_report.h"

static const char doc[] =
	"Show the TLB shootdowns of the whole machine, stage by stage, once per interval.\n\n"
	"INTERVAL is in seconds (0.5, 250ms and 2m are understood; default 1). Without COUNT it "
	"goes on until Ctrl-C, which prints what the last interval had so far.\v"
	"Commands:\n"
	"  tlbstat [INTERVAL [COUNT]]   rates, a line per interval\n"
	"  tlbstat run -- CMD           the whole funnel of what happened while CMD ran\n"
	"  tlbstat check                what can be counted here, how, and what not and why\n"
	"  tlbstat daemon               a file for Prometheus, kept up to date\n\n"
	"The columns, per second: local and ipi are flushes that stayed on their CPU and that went "
	"to others; req is the other CPUs that these named; filter is those that the kernel's batch "
	"filter took out (a column there is on kernels that have one); lazy and stale are those left "
	"out (lazy TLB mode; another address space runs there), ~ marks an estimate; asked is those "
	"whose queue got the call, raised the interrupts that took; handled is the calls they ran, "
	"useful% the share that had anything to flush. diff is handled minus the kernel's own "
	"count, in this interval. n/a is a number that this kernel does not show: see tlbstat "
	"check. On arm64, with --tlbi=exact: TLBI instructions that reach all CPUs, those that do "
	"not, calls of functions in which they cannot be counted, and the busiest of them.\n\n"
	"Exit status: 0, also when ended by a first SIGINT or SIGTERM; 1 failed; 2 usage; 77 with "
	"--strict if a counter is missing.\n\n"
	"Examples:\n"
	"  sudo tlbstat              a line per second\n"
	"  sudo tlbstat 5 12         a minute in lines of five seconds\n"
	"  sudo tlbstat -T --csv 10 > shootdowns.csv\n";

#define LONGEST_NS (365ull * 24 * 3600 * 1000000000)

struct live_options {
	struct common_options common;
	uint64_t interval_ns;
	uint64_t count; /* 0: no end */
};

static error_t parse(int key, char *text, struct argp_state *state)
{
	struct live_options *live = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &live->common;
		break;
	case ARGP_KEY_ARG:
		if (state->arg_num == 0 && is_command(text)) {
			diag__error("the command comes first: tlbstat %s [OPTIONS]", text);
			exit(EXIT_USAGE);
		} else if (state->arg_num == 0 && isalpha((unsigned char)*text)) {
			diag__error("'%s' is neither a time nor a command", text);
			diag__hint("there are: tlbstat run -- CMD, tlbstat check, tlbstat daemon, "
				   "tlbstat INTERVAL [COUNT]");
			exit(EXIT_USAGE);
		} else if (state->arg_num == 0) {
			live->interval_ns = parse__duration_or_err("INTERVAL", text);
			if (live->interval_ns < 10000000 || live->interval_ns > LONGEST_NS) {
				diag__error("INTERVAL: '%s' is not between 10 ms and a year", text);
				exit(EXIT_USAGE);
			}
		} else if (state->arg_num == 1) {
			live->count = parse__u64_or_err("COUNT", text, 1, UINT64_MAX);
		} else {
			diag__error("'%s' is one argument too many", text);
			exit(EXIT_USAGE);
		}
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

/* The table. */

static const char header[] =
	"    local      ipi      req     lazy    stale    asked   raised  handled useful%   diff";

/* On kernels that filter batches. */
static const char header_filter[] =
	"    local      ipi      req   filter     lazy    stale    asked   raised  handled useful%   diff";

/* Where TLBI instructions are counted. */
static const char header_tlbi[] = "broadcast    local    calls  busiest";

static bool has_batch_filter(const struct observer *observer)
{
	return !observer__is_foreign(observer, CELL_batch_mms);
}

/* A number in 9 columns: rates of a billion and more lose their last digits, not their place. */
static void print_rate(FILE *out, double rate, const char *mark)
{
	char text[32];

	if (rate < 1e7)
		snprintf(text, sizeof(text), "%s%.0f", mark, rate);
	else
		snprintf(text, sizeof(text), "%s%.1fM", mark, rate / 1e6);
	fprintf(out, "%9s", text);
}

/* The sum of the two user paths, per second, for cells that are COLUMNS apart. */
static void print_paths(FILE *out, const struct report *report, unsigned int first,
			unsigned int columns)
{
	double sum = 0;

	for (int path = PATH_MM_RANGE; path <= PATH_BATCH; path++) {
		unsigned int cell = first + path * columns;

		if (!observer__has_cell(report->observer, cell, NULL) &&
		    !observer__cannot_occur(report->observer, cell)) {
			fprintf(out, "%9s", "n/a");
			return;
		}
		sum += report->cell[cell];
	}
	print_rate(out, sum / report->seconds, "");
}

static void print_filtered(FILE *out, const struct report *report, enum filter_reason reason)
{
	double sum = 0;
	bool any = false;

	if (!observer__has(report->observer, COUNTER_sampled, NULL)) {
		print_paths(out, report, CELL_filtered_cpus + reason, FILTER_COUNT);
		return;
	}
	for (int path = PATH_MM_RANGE; path <= PATH_BATCH; path++) {
		struct estimate estimate;

		if (report__estimate(report, path, reason, &estimate)) {
			sum += estimate.value;
			any = true;
		}
	}
	if (any)
		print_rate(out, sum / report->seconds, "~");
	else
		fprintf(out, "%9s", "-");
}

/* Other CPUs that were named: requested less self. */
static void print_requested(FILE *out, const struct report *report)
{
	double sum = 0;

	if (!observer__has_cell(report->observer, CELL_requested_cpus + PATH_BATCH, NULL)) {
		fprintf(out, "%9s", "n/a");
		return;
	}
	for (int path = PATH_MM_RANGE; path <= PATH_BATCH; path++)
		sum += report__path(report, COUNTER_requested_cpus, path) -
		       report__path(report, COUNTER_self_cpus, path);
	print_rate(out, sum / report->seconds, "");
}

static void print_handled(FILE *out, const struct report *report)
{
	double handled = report->cell[CELL_handled + HANDLED_MM_RANGE] +
			 report->cell[CELL_handled + HANDLED_BATCH];
	int64_t difference;

	if (observer__has(report->observer, COUNTER_ipis_sent, NULL))
		print_rate(out, report__sum(report, COUNTER_ipis_sent) / report->seconds, "");
	else
		fprintf(out, "%9s", "n/a");
	if (observer__has_cell(report->observer, CELL_handled + HANDLED_MM_RANGE, NULL))
		print_rate(out, handled / report->seconds, "");
	else
		fprintf(out, "%9s", "n/a");
	if (!observer__has(report->observer, COUNTER_useful, NULL))
		fprintf(out, "%8s", "n/a");
	else if (handled == 0)
		fprintf(out, "%8s", "-");
	else
		fprintf(out, "%8.1f", 100 * report__sum(report, COUNTER_useful) / handled);
	if (report__difference(report, &difference))
		fprintf(out, "%7" PRId64, difference);
	else
		fprintf(out, "%7s", "n/a");
}

static void print_tlbi(FILE *out, const struct report *report, const struct tlbi_sites *sites)
{
	const struct tlbi_site *busiest = tlbi__busiest(sites, report->tlbi);
	struct tlbi_totals totals;
	char place[96];

	tlbi_totals__make(&totals, sites, report->tlbi);
	for (int reach = TLBI_BROADCAST; reach >= TLBI_LOCAL; reach--)
		print_rate(out, totals.reach[reach] / report->seconds, "");
	print_rate(out, totals.blind_calls / report->seconds, "");
	if (!busiest)
		return;
	tlbi_site__format(busiest, place);
	fprintf(out, "  %s at %s", tlbi_operations[busiest->operation].name, place);
}

static void print_line(FILE *out, const struct report *report)
{
	const struct tlbi_sites *sites = observer__tlbi(report->observer, NULL);

	if (sites) {
		print_tlbi(out, report, sites);
		return;
	}
	if (observer__fallback(report->observer, NULL)) {
		if (report->kernel_seen)
			print_rate(out, report->kernel_interrupts / report->seconds, "");
		else
			fprintf(out, "%9s", "n/a");
		return;
	}
	print_paths(out, report, CELL_flushes + REACH_LOCAL, REACH_COUNT);
	print_paths(out, report, CELL_flushes + REACH_IPI, REACH_COUNT);
	print_requested(out, report);
	if (has_batch_filter(report->observer))
		print_paths(out, report, CELL_filtered_cpus + FILTER_BATCH_FILTER, FILTER_COUNT);
	print_filtered(out, report, FILTER_LAZY);
	print_filtered(out, report, FILTER_NOT_LOADED);
	print_paths(out, report, CELL_asked_cpus, 1);
	print_handled(out, report);
}

/* Lines between two headers: a screen, as vmstat does; 20 when stdout is no terminal. */
static uint64_t lines_per_header(void)
{
	struct winsize size;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 3)
		return size.ws_row - 2;
	return 20;
}

static void print_header(FILE *out, const struct observer *observer, bool timestamp)
{
	if (timestamp)
		fprintf(out, "%-24s ", "time");
	if (observer__tlbi(observer, NULL))
		fprintf(out, "%s\n", header_tlbi);
	else if (observer__fallback(observer, NULL))
		fprintf(out, "TLB irq/s\n");
	else
		fprintf(out, "%s\n", has_batch_filter(observer) ? header_filter : header);
}

static void print_report(FILE *out, const struct report *report, const struct live_options *options,
			 uint64_t line)
{
	bool timestamp = options->common.timestamp;
	char time[32];

	format_time(time);
	if (options->common.format == OUTPUT_JSON) {
		json_t *json = report__json(report);

		if (timestamp)
			json_object_set_new(json, "time", json_string(time));
		json_dumpf(json, out, JSON_COMPACT);
		json_decref(json);
		fputc('\n', out);
		return;
	}
	if (options->common.format == OUTPUT_CSV) {
		if (line == 0)
			report__csv_header(report, timestamp, out);
		report__csv_row(report, timestamp ? time : NULL, out);
		return;
	}
	if (line % lines_per_header() == 0)
		print_header(out, report->observer, timestamp);
	if (timestamp)
		fprintf(out, "%-24s ", time);
	print_line(out, report);
	fputc('\n', out);
}

/* The loop. */

/*
 * Prints a line per interval until the count or a signal; the last one can be a part of one.
 * Returns 0 or a negative errno after a message; a write that failed is only left in *write_err.
 */
static int watch(struct observer *observer, const struct live_options *options, FILE *out,
		 struct snapshot *snapshots, struct report *report, int *write_err)
{
	struct snapshot *before = &snapshots[0], *after = &snapshots[1], *first = &snapshots[2];
	uint64_t deadline = stop__now_ns();
	int err = observer__snapshot(observer, before);

	if (err)
		return err;
	*first = *before;
	for (uint64_t line = 0; !options->count || line < options->count; line++) {
		bool whole;
		struct snapshot *swap = before;

		deadline += options->interval_ns;
		whole = stop__sleep_until(deadline);
		err = observer__snapshot(observer, after);
		if (err)
			return err;
		/* After a stop (SIGSTOP, a slow reader) no burst of empty lines makes up for it. */
		if (deadline + options->interval_ns < after->time_ns)
			deadline = after->time_ns;
		report__make(report, observer, before, after);
		print_report(out, report, options, line);
		if (fflush(out) != 0) {
			*write_err = -errno;
			return 0;
		}
		before = after;
		after = swap;
		if (!whole)
			break;
	}
	report__make(report, observer, first, before);
	/* JSON has its trust in every line, and CSV must end with a row. */
	if (options->common.format == OUTPUT_TABLE)
		report__print_trust(report, out);
	return 0;
}

/* Ends the output; a write that failed is an error with its cause, but quiet for a closed pipe. */
static int finish(FILE *out, const char *path, int err)
{
	if (err == -EPIPE)
		return EXIT_DONE;
	if (out == stdout && !err)
		return diag__close_stdout() ? EXIT_FAILED : EXIT_DONE;
	if (out != stdout && fclose(out) != 0 && !err)
		err = -errno;
	if (!err)
		return EXIT_DONE;
	diag__fail(-err, "write to %s", out == stdout ? "standard output" : path);
	return EXIT_FAILED;
}

int cmd_live(int argc, char **argv)
{
	static const struct argp_child children[] = { { &report_argp, 0, NULL, 0 }, { 0 } };
	static const struct argp argp = {
		.parser = parse, .args_doc = "[INTERVAL [COUNT]]", .doc = doc, .children = children
	};
	struct live_options options = { .interval_ns = 1000000000 };
	struct snapshot *snapshots = calloc(3, sizeof(*snapshots));
	struct report *report = calloc(1, sizeof(*report));
	struct observer *observer = NULL;
	FILE *out = stdout;
	int code, write_err = 0;

	argp_parse(&argp, argc, argv, 0, NULL, &options);
	if (!snapshots || !report) {
		diag__fail(ENOMEM, "start");
		code = EXIT_FAILED;
		goto out;
	}
	if (options.common.output && strcmp(options.common.output, "-") != 0) {
		out = fopen(options.common.output, "we");
		if (!out) {
			diag__fail(errno, "write %s", options.common.output);
			code = EXIT_FAILED;
			goto out;
		}
	}
	stop__install();
	code = open_observer(&observer, &options.common);
	if (code)
		goto out;
	code = explain_fallback(observer);
	if (code)
		goto out;
	if (watch(observer, &options, out, snapshots, report, &write_err))
		code = EXIT_FAILED;
	if (finish(out, options.common.output, write_err))
		code = EXIT_FAILED;
out:
	observer__close(observer);
	free(report);
	free(snapshots);
	return code;
}
