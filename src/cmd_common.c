/* SPDX-License-Identifier: GPL-2.0-only */
/* What the commands of tlbstat have in common. */
#include "commands.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/diag.h"
#include "common/file.h"
#include "common/parse.h"

enum {
	KEY_CSV = 256,
	KEY_STRICT,
	KEY_CLASSIFY,
	KEY_METHOD,
	KEY_TLBI
};

static const struct argp_option observer_options[] = {
	{ "classify", KEY_CLASSIFY, "HOW", 0,
	  "Tell lazy from not-loaded CPUs: exact (a probe per CPU of each mask), sampled (32 CPUs "
	  "read per flush on average), off, auto (the default: exact up to 32 CPUs)",
	  2 },
	{ "method", KEY_METHOD, "HOW", 0,
	  "Attach by fentry, by kprobe, by none (the kernel's own counters only), or auto (the "
	  "default: fentry where the kernel takes it, else kprobe)",
	  2 },
	{ "strict", KEY_STRICT, NULL, 0, "Fail (exit 77) if a counter cannot be had here", 2 },
	{ "tlbi", KEY_TLBI, "HOW", 0,
	  "On arm64, count TLBI instructions: exact (a kprobe at each of them) or off (the default, but for check)",
	  2 },
	{ "verbose", 'v', NULL, 0, "Say more on stderr", 2 },
	{ 0 },
};

static error_t parse_observer(int key, char *text, struct argp_state *state)
{
	static const char *const classify[] = { "auto", "exact", "sampled", "off", NULL };
	static const char *const methods[] = { "auto", "fentry", "kprobe", "none", NULL };
	static const char *const tlbi[] = { "off", "exact", NULL };
	struct common_options *common = state->input;

	switch (key) {
	case KEY_CLASSIFY:
		common->observer.classify = parse__choice_or_err("--classify", text, classify);
		break;
	case KEY_METHOD:
		common->observer.method = parse__choice_or_err("--method", text, methods);
		break;
	case KEY_TLBI:
		common->observer.tlbi = TLBI_OFF + parse__choice_or_err("--tlbi", text, tlbi);
		break;
	case ARGP_KEY_END:
		if (common->observer.tlbi == TLBI_EXACT && common->observer.method != ATTACH_AUTO &&
		    common->observer.method != ATTACH_KPROBE) {
			diag__error(
				"--tlbi=exact needs kprobes: it goes with --method=kprobe or auto");
			exit(EXIT_USAGE);
		}
		break;
	case KEY_STRICT:
		common->observer.strict = true;
		break;
	case 'v':
		diag__set_verbose(true);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

const struct argp observer_argp = { .options = observer_options, .parser = parse_observer };

static const struct argp_option options[] = {
	{ "json", 'J', NULL, 0, "Print JSON", 1 },
	{ "output", 'o', "FILE", 0, "Write to FILE instead of stdout", 1 },
	{ 0 },
};

static void set_format(struct common_options *common, enum output_format format)
{
	if (common->format != OUTPUT_TABLE && common->format != format) {
		diag__error("--json and --csv exclude each other");
		exit(EXIT_USAGE);
	}
	common->format = format;
}

static error_t parse(int key, char *text, struct argp_state *state)
{
	struct common_options *common = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = common;
		break;
	case 'J':
		set_format(common, OUTPUT_JSON);
		break;
	case 'o':
		common->output = text;
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp_child children[] = { { &observer_argp, 0, NULL, 0 }, { 0 } };
const struct argp common_argp = { .options = options, .parser = parse, .children = children };

static const struct argp_option report_options[] = {
	{ "csv", KEY_CSV, NULL, 0, "Print CSV", 1 },
	{ "timestamp", 'T', NULL, 0, "Add the time (UTC) to each line", 1 },
	{ 0 },
};

static error_t parse_report(int key, char *text, struct argp_state *state)
{
	struct common_options *common = state->input;

	(void)text;
	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = common;
		break;
	case KEY_CSV:
		set_format(common, OUTPUT_CSV);
		break;
	case 'T':
		common->timestamp = true;
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp_child report_children[] = { { &common_argp, 0, NULL, 0 }, { 0 } };
const struct argp report_argp = { .options = report_options,
				  .parser = parse_report,
				  .children = report_children };

int open_observer(struct observer **observer, const struct common_options *options_)
{
	int err = observer__open(observer, &options_->observer);

	if (err == -ENOTSUP)
		return EXIT_UNSUPPORTED;
	return err ? EXIT_FAILED : EXIT_DONE;
}

int explain_fallback(const struct observer *observer)
{
	const char *why;

	if (observer__tlbi(observer, NULL) || !observer__fallback(observer, &why))
		return EXIT_DONE;
	if (observer__never_interrupts(observer)) {
		diag__error("count TLB flushes: %s", why);
		diag__hint("--tlbi=exact counts them, by a kprobe at each");
		return EXIT_UNSUPPORTED;
	}
	diag__warn("%s", why);
	diag__hint("falling back to /proc/interrupts and /proc/vmstat; gone: calls, flushes, "
		   "requested, lazy, not loaded, asked, raised, useful, unneeded, latency");
	return EXIT_DONE;
}

int write_output(const struct common_options *options_, const char *text, size_t len)
{
	if (options_->output && strcmp(options_->output, "-") != 0)
		return file__replace(options_->output, text, len) ? EXIT_FAILED : EXIT_DONE;
	fwrite(text, 1, len, stdout);
	return diag__close_stdout() ? EXIT_FAILED : EXIT_DONE;
}

void format_time(char out[32])
{
	struct timespec now;
	struct tm utc;
	size_t len;

	clock_gettime(CLOCK_REALTIME, &now);
	gmtime_r(&now.tv_sec, &utc);
	len = strftime(out, 32, "%Y-%m-%dT%H:%M:%S", &utc);
	snprintf(out + len, 32 - len, ".%03ldZ", now.tv_nsec / 1000000);
}
