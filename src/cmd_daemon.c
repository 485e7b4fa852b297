/* SPDX-License-Identifier: GPL-2.0-only */
/* "tlbstat daemon": a file for Prometheus, kept up to date. */
#include "commands.h"

#include <errno.h>
#include <inttypes.h>
#include <malloc.h>
#include <stdlib.h>
#include <time.h>

#include "cgroup_list.h"
#include "common/diag.h"
#include "common/parse.h"
#include "common/stop.h"
#include "metrics.h"
#include "notify.h"
#include "privileges.h"
#include "textfile.h"

static const char doc[] =
	"Write the counts to DIR/tlbstat.prom in each interval, for the text-file collector of "
	"Prometheus' node_exporter.\v"
	"Once its probes are attached, it gives up all capabilities and most system calls: DIR must "
	"belong to the user it runs as. SIGHUP writes at once, and reads the file of --cgroups again. The file is removed at the end; after "
	"kill -9 it stays, and tlbstat_last_update_timestamp_seconds tells its age.\n\n"
	"Exit status: 0 when ended by a first SIGINT or SIGTERM; 1 failed; 2 usage, or a file of "
	"--cgroups that cannot be used; 77 with --strict if a counter is missing, and with --cgroups "
	"if there are none of version 2.\n\n"
	"Examples:\n"
	"  sudo tlbstat daemon --textfile-dir /var/lib/prometheus/node-exporter\n"
	"  sudo tlbstat daemon --textfile-dir /run/metrics --cgroups /etc/tlbstat/cgroups\n";

/* A shorter one would be a load of its own; a longer one makes Prometheus forget the series. */
#define SHORTEST_NS 10000000ull
#define LONGEST_NS  (3600ull * 1000000000)

enum {
	KEY_CGROUPS = 256
};

struct daemon_options {
	struct common_options common;
	const char *folder;
	const char *cgroups; /* NULL: they are not told apart */
	uint64_t interval_ns;
};

static error_t parse(int key, char *text, struct argp_state *state)
{
	struct daemon_options *options = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &options->common;
		break;
	case 'd':
		options->folder = text;
		break;
	case 'i':
		options->interval_ns = parse__duration_or_err("--interval", text);
		if (options->interval_ns < SHORTEST_NS || options->interval_ns > LONGEST_NS) {
			diag__error("--interval: '%s' is not between 10 ms and an hour", text);
			exit(EXIT_USAGE);
		}
		break;
	case KEY_CGROUPS:
		options->cgroups = text;
		options->common.observer.by_cgroup = true;
		break;
	case ARGP_KEY_ARG:
		diag__error("'%s' is one argument too many", text);
		exit(EXIT_USAGE);
	case ARGP_KEY_END:
		if (options->folder)
			break;
		diag__error("daemon: where to? e.g. tlbstat daemon --textfile-dir "
			    "/var/lib/prometheus/node-exporter");
		exit(EXIT_USAGE);
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

struct daemon {
	const struct daemon_options *options;
	struct observer *observer;
	struct metrics *metrics;
	struct cgroup_list *cgroups; /* NULL: they are not told apart */
	bool stale;		     /* its file is at fault now: the list is that of before */
	struct textfile file;
	struct notify notify;
	struct snapshot now;
};

static double seconds_since_1970(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec + now.tv_nsec / 1000000 / 1e3;
}

/* A file that cannot be written is no reason to end: it is tried again, and counting goes on. */
static int write_metrics(struct daemon *daemon)
{
	char *text = NULL;
	size_t len = 0;
	FILE *stream = open_memstream(&text, &len);

	if (!stream)
		return diag__fail(errno, "write the metrics");
	metrics__print(daemon->metrics, seconds_since_1970(), daemon->file.failures, stream);
	if (fclose(stream)) {
		free(text);
		return diag__fail(errno, "write the metrics");
	}
	textfile__write(&daemon->file, text, len);
	free(text);
	return 0;
}

static void tell_status(const struct daemon *daemon, const char *first_line)
{
	const char *why;

	if (daemon->file.failing)
		notify__send(&daemon->notify,
			     "%sSTATUS=cannot write to %s (%" PRIu64 " times); counting",
			     first_line, daemon->file.folder, daemon->file.failures);
	else if (daemon->stale)
		notify__send(
			&daemon->notify,
			"%sSTATUS=counting; %s cannot be used, the cgroups are those of before",
			first_line, daemon->options->cgroups);
	else if (observer__fallback(daemon->observer, &why))
		notify__send(&daemon->notify, "%sSTATUS=the kernel's own counters only: %s",
			     first_line, why);
	else
		notify__send(&daemon->notify, "%sSTATUS=counting, and writing to %s", first_line,
			     daemon->file.folder);
}

/* A cgroup that was removed and made again has another id. */
static int follow_cgroups(struct daemon *daemon)
{
	if (!daemon->cgroups)
		return 0;
	cgroup_list__find(daemon->cgroups);
	return observer__set_cgroups(daemon->observer, daemon->cgroups);
}

static int update(struct daemon *daemon)
{
	bool failing = daemon->file.failing;
	int err = follow_cgroups(daemon);

	if (!err)
		err = observer__snapshot(daemon->observer, &daemon->now);
	if (err)
		return err;
	metrics__add(daemon->metrics, &daemon->now);
	err = write_metrics(daemon);
	if (daemon->file.failing || failing)
		tell_status(daemon, "");
	return err;
}

/* Waits for @deadline_ns, a signal or the watchdog's time, whichever is first; true at the first.
 */
static bool wait_until(struct daemon *daemon, uint64_t deadline_ns)
{
	uint64_t end_ns = deadline_ns;

	notify__send(&daemon->notify, "WATCHDOG=1");
	if (daemon->notify.watchdog_ns) {
		uint64_t due_ns = stop__now_ns() + daemon->notify.watchdog_ns;

		end_ns = due_ns < end_ns ? due_ns : end_ns;
	}
	return stop__sleep_until(end_ns) && stop__now_ns() >= deadline_ns;
}

/* The one file of settings is that of --cgroups; while it is at fault, what it said before holds.
 */
static int reload(struct daemon *daemon)
{
	int err;

	notify__send(&daemon->notify, "RELOADING=1\nMONOTONIC_USEC=%" PRIu64,
		     stop__now_ns() / 1000);
	daemon->stale = daemon->cgroups && cgroup_list__reload(daemon->cgroups);
	err = update(daemon);
	tell_status(daemon, "READY=1\n");
	return err;
}

/* Until a signal; 0 or a negative errno after a message. */
static int serve(struct daemon *daemon)
{
	uint64_t interval_ns = daemon->options->interval_ns;
	uint64_t deadline_ns = stop__now_ns() + interval_ns;
	int err = 0;

	while (!err && !stop__asked()) {
		bool due = wait_until(daemon, deadline_ns);

		if (stop__asked())
			break;
		if (stop__reload_asked())
			err = reload(daemon);
		else if (due)
			err = update(daemon);
		if (!due)
			continue;
		deadline_ns += interval_ns;
		/* After a stop (SIGSTOP, a slow disk) no burst makes up for it. */
		if (deadline_ns < stop__now_ns())
			deadline_ns = stop__now_ns() + interval_ns;
	}
	return err;
}

/* From the base of all counts to the first file. */
static int start(struct daemon *daemon)
{
	int err = follow_cgroups(daemon);

	if (!err)
		err = observer__snapshot(daemon->observer, &daemon->now);
	if (err)
		return err;
	daemon->metrics = metrics__new(daemon->observer, &daemon->now, seconds_since_1970());
	if (!daemon->metrics)
		return diag__fail(ENOMEM, "start the daemon");
	notify__open(&daemon->notify);
	/* Attaching took the types of the whole kernel and a list of its symbols: 10 MB. */
	malloc_trim(0);
	err = privileges__drop(daemon->cgroups != NULL);
	if (err)
		return err;
	err = update(daemon);
	tell_status(daemon, "READY=1\n");
	return err;
}

/* The exit code where the file cannot be used: starting again would not help. */
static int open_cgroups(struct daemon *daemon)
{
	const char *file = daemon->options->cgroups;
	int err = file ? cgroup_list__open(&daemon->cgroups, file) : 0;

	if (err)
		return err == -ENOTSUP ? EXIT_UNSUPPORTED : EXIT_USAGE;
	return EXIT_DONE;
}

/* Once the observer is open. */
static void explain_cgroups(const struct daemon *daemon)
{
	const char *why;

	if (daemon->cgroups && !observer__has(daemon->observer, COUNTER_requested_cpus, &why))
		diag__warn("--cgroups: there is nothing to tell apart: %s", why);
}

static int run(struct daemon *daemon)
{
	int code = open_cgroups(daemon);

	if (code)
		return code;
	if (textfile__open(&daemon->file, daemon->options->folder))
		return EXIT_FAILED;
	stop__install();
	stop__install_reload();
	code = open_observer(&daemon->observer, &daemon->options->common);
	if (code)
		return code;
	code = explain_fallback(daemon->observer);
	if (code)
		return code;
	explain_cgroups(daemon);
	if (start(daemon) || serve(daemon))
		code = EXIT_FAILED;
	notify__send(&daemon->notify, "STOPPING=1");
	return code;
}

int cmd_daemon(int argc, char **argv)
{
	static const struct argp_option own[] = {
		{ "textfile-dir", 'd', "DIR", 0, "Write DIR/tlbstat.prom", 1 },
		{ "interval", 'i', "TIME", 0,
		  "Write once per TIME, in seconds (default 15; 500ms and 1m are understood)", 1 },
		{ "cgroups", KEY_CGROUPS, "FILE", 0,
		  "Tell requested CPUs apart by the cgroup that asks, of those in FILE, one a line",
		  1 },
		{ 0 },
	};
	static const struct argp_child children[] = { { &observer_argp, 0, NULL, 0 }, { 0 } };
	static const struct argp argp = {
		.options = own, .parser = parse, .doc = doc, .children = children
	};
	struct daemon_options options = { .interval_ns = 15000000000ull };
	struct daemon *daemon = calloc(1, sizeof(*daemon));
	int code;

	argp_parse(&argp, argc, argv, 0, NULL, &options);
	if (!daemon) {
		diag__fail(ENOMEM, "start the daemon");
		return EXIT_FAILED;
	}
	daemon->options = &options;
	daemon->file.fd = daemon->notify.fd = -1;
	code = run(daemon);
	textfile__close(&daemon->file);
	notify__close(&daemon->notify);
	observer__close(daemon->observer);
	metrics__free(daemon->metrics);
	cgroup_list__close(daemon->cgroups);
	free(daemon);
	return code;
}
