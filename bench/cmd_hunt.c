/* SPDX-License-Identifier: GPL-2.0-only */
/* "tlbbench hunt": looks for writes and reads through translations that should be gone. */
#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "common/diag.h"
#include "common/parse.h"
#include "common/procfs.h"
#include "common/stop.h"
#include "hunt.h"
#include "hunt_oracle.h"
#include "invocation.h"
#include "journal.h"
#include "pin.h"
#include "progress.h"

#define DEFAULT_NS (60ull * 1000000000)
#define SPELL_NS   (4ull * 1000000000)
#define SWAP_BYTES (128ull << 20)
#define MOST_TRIED 12

static const char doc[] =
	"Look for CPUs that use a translation after the kernel's flush of it: programs write to "
	"pages without a pause, while the kernel is made to take these pages away, to move them or "
	"to forbid the writing. Every word tells whose it is and how new; one that is not where it "
	"was written is printed with its page, CPU, and what was expected.\v"
	"Attacks (default: all that can be done here, in turn):\n"
	"  reclaim     pages go to swap while threads on other CPUs write to them\n"
	"  switch      the same, on CPUs that change between address spaces, idle and kernel threads\n"
	"  duel        two reclaim at once, one of them moved from CPU to CPU in the middle\n"
	"  many        5 to 14 processes write to the same pages, which go to swap or move\n"
	"  migrate     pages move between memory nodes (move_pages) under their writers\n"
	"  demote      reclaim moves pages to a lower memory tier under their writers\n"
	"  protect     mprotect, mremap, MADV_DONTNEED, MADV_FREE and fork under the writers\n"
	"  lifecycle   threads and processes end, fork and exec, CPUs go offline, meanwhile\n"
	"  home        what is taken was on one CPU only, which may be this one or another\n"
	"  leave       the same, while a thread is moved to other CPUs for the first time\n"
	"  birth       the same, while more threads are born on other CPUs\n"
	"  forks       children write, exec and end on any CPU, while their parents stay home\n\n"
	"In a guest, hunt with \"tlbvm run --accel tcg-multi\": with tcg-single the CPUs take turns, "
	"and hardly anything is found. A kernel with the generation oracle (kernel-patches) is asked "
	"for its verdict as well.\n\n"
	"The machine's settings are changed through the journal, as by \"tlbbench run\".\n\n"
	"Exit status: 0 nothing found, and each attack did work; 1 found, or failed, or no work was "
	"done; 2 usage; 77 none of the attacks can be done here.\n\n"
	"Examples:\n"
	"  sudo tlbbench hunt --time 30m\n"
	"  sudo tlbbench hunt reclaim many --cpus 0-3 --seed 7\n";

enum {
	KEY_TIME = 256,
	KEY_SEED,
	KEY_CPUS,
	KEY_LIST,
	KEY_KEEP_GOING
};

static const struct argp_option options[] = {
	{ "time", KEY_TIME, "TIME", 0, "How long, for all attacks together (default: 60s)", 1 },
	{ "seed", KEY_SEED, "N", 0,
	  "Make the same choices as the hunt that printed this seed, as far as CPUs that race allow",
	  1 },
	{ "cpus", KEY_CPUS, "LIST", 0, "Use only these of the CPUs this process may use", 1 },
	{ "keep-going", KEY_KEEP_GOING, NULL, 0,
	  "Go on after something was found, until the hunter and the kernel's oracle both have found "
	  "it, or the time is over",
	  1 },
	{ "list", KEY_LIST, NULL, 0, "List the attacks, and whether they can be done here", 2 },
	{ "quiet", 'q', NULL, 0, "Show no progress", 2 },
	{ "verbose", 'v', NULL, 0, "Say more on stderr", 2 },
	{ 0 },
};

/* Something was found. */
struct catch
{
	const char *by;
	const struct hunt_attack *attack; /* NULL: nothing yet */
	uint64_t round;
	double seconds;
};

/* What an attack has come to so far. */
struct tally {
	const struct hunt_attack *attack;
	char why[256]; /* it can not be done here; "" if it can */
	uint64_t rounds, work, steps, stale;
};

struct session {
	struct tally tallies[MOST_TRIED + 1];
	uint32_t count; /* of tallies */
	uint64_t time_ns, seed;
	const char *cpus_text;
	bool list, keep_going, quiet;

	struct hunt hunt;
	struct hunt_oracle before, now;
	uint64_t start_ns, spells;
	struct progress progress;
	struct catch hunter, oracle; /* the first of each */
	bool died;		     /* a victim did, which it has no reason to */
};

/* --- The command line */

static const struct hunt_attack *find_attack(const char *name)
{
	for (size_t i = 0; hunt_attacks[i]; i++)
		if (strcmp(hunt_attacks[i]->name, name) == 0)
			return hunt_attacks[i];
	diag__error("there is no attack '%s'", name);
	diag__hint("tlbbench hunt --list");
	exit(EXIT_USAGE);
}

static void add_attack(struct session *session, const struct hunt_attack *attack)
{
	for (uint32_t i = 0; i < session->count; i++)
		if (session->tallies[i].attack == attack)
			return;
	session->tallies[session->count++].attack = attack;
}

static error_t parse(int key, char *text, struct argp_state *state)
{
	struct session *session = state->input;

	switch (key) {
	case KEY_TIME:
		session->time_ns = parse__duration_or_err("--time", text);
		break;
	case KEY_SEED:
		session->seed = parse__u64_or_err("--seed", text, 1, UINT64_MAX);
		break;
	case KEY_CPUS:
		session->cpus_text = text;
		break;
	case KEY_LIST:
		session->list = true;
		break;
	case KEY_KEEP_GOING:
		session->keep_going = true;
		break;
	case 'q':
		session->quiet = true;
		break;
	case 'v':
		diag__set_verbose(true);
		break;
	case ARGP_KEY_ARG:
		add_attack(session, find_attack(text));
		break;
	case ARGP_KEY_NO_ARGS:
		for (size_t i = 0; hunt_attacks[i]; i++)
			add_attack(session, hunt_attacks[i]);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

/* --- The machine */

static void find_nodes(struct hunt *hunt)
{
	struct cpus with_cpus;

	if (cpus__read_file("/sys/devices/system/node/has_memory", &hunt->nodes))
		return;
	hunt->top_node = cpus__next(&hunt->nodes, 0);
	if (cpus__read_file("/sys/devices/system/node/has_cpu", &with_cpus) == 0)
		hunt->top_node = cpus__next(&with_cpus, 0);
}

/* What can be had; nothing is made yet. Returns whether any of the attacks can be done. */
static bool look_around(struct session *session)
{
	struct hunt *hunt = &session->hunt;
	char why[256];
	bool any = false;

	find_nodes(hunt);
	hunt->has_swap = zram__available(why, sizeof(why));
	hunt->has_cgroup = cgroup__available(why, sizeof(why));
	for (uint32_t i = 0; i < session->count; i++) {
		struct tally *tally = &session->tallies[i];

		if (cpus__count(&hunt->cpus) < 2)
			snprintf(tally->why, sizeof(tally->why),
				 "one CPU only may be used: no other can have stale entries");
		else if (tally->attack->check)
			tally->attack->check(hunt, tally->why, sizeof(tally->why));
		any |= !*tally->why;
	}
	return any;
}

static int set_up(struct session *session)
{
	struct hunt *hunt = &session->hunt;
	int err = hunt_board__map(&hunt->board);

	if (!err && hunt->has_swap)
		err = zram__create(hunt->journal, SWAP_BYTES, &hunt->zram);
	if (!err && hunt->has_cgroup)
		err = reclaim__create(hunt->journal, &hunt->reclaim);
	if (!err && hunt->has_cgroup)
		err = reclaim__open(&hunt->reclaim);
	if (!err)
		err = pin__to_cpu(hunt->initiator);
	return err ? err : hunt_oracle__read(&session->before);
}

/* --- Hunting */

/* The work of an attack so far, as the kernel counts it. */
static int read_work(const struct session *session, const struct hunt_attack *attack, uint64_t *out)
{
	*out = session->hunt.proven;
	if (!attack->counters)
		return 0;
	*out = 0;
	for (size_t i = 0; attack->counters[i]; i++) {
		uint64_t value;
		int err = procfs__vmstat(attack->counters[i], &value);

		/* Which counters there are changes from kernel to kernel. */
		if (err == -ENOENT)
			continue;
		if (err)
			return diag__fail(-err, "read %s in /proc/vmstat", attack->counters[i]);
		*out += value;
	}
	return 0;
}

static void print_finding(const struct hunt_board *board)
{
	static const char *const faults[] = {
		[HUNT_LOST] = "a write was lost",
		[HUNT_FOREIGN] = "a word is in a place that is not its own",
		[HUNT_UNKNOWN] = "a word is newer than any that was written",
		[HUNT_BARRED] = "a word changed while it could not be written",
	};
	const struct hunt_finding *first = &board->first;
	char expected[96], found[96];

	hunt_stamp__format(first->expected, expected, sizeof(expected));
	hunt_stamp__format(first->found, found, sizeof(found));
	printf("  %s: page %u, writer %u, seen %s on CPU %u: expected %s%s, found %s\n",
	       faults[first->fault], first->page, first->writer,
	       first->by_writer ? "by the writer" : "by a reader", first->cpu, expected,
	       first->by_writer || first->fault == HUNT_BARRED ? "" : " or newer", found);
}

static double seconds_since_start(const struct session *session)
{
	return (stop__now_ns() - session->start_ns) / 1e9;
}

/* Notes the first catch, and says so at once: a kernel with such a fault may not live long. */
static void note_catch(const struct session *session, const struct tally *tally,
		       struct catch *catch, bool caught)
{
	if (!caught || catch->attack)
		return;
	catch->attack = tally->attack;
	catch->round = tally->rounds;
	catch->seconds = seconds_since_start(session);
	progress__clear(&session->progress);
	printf("caught by the %s: attack %s, round %llu, after %.1f s, seed %llu\n", catch->by,
	       catch->attack->name, (unsigned long long)catch->round, catch->seconds,
	       (unsigned long long)session->seed);
	if (catch == &session->hunter)
		print_finding(session->hunt.board);
	fflush(stdout);
}

static void look_for_catch(struct session *session, const struct tally *tally)
{
	note_catch(session, tally, &session->oracle,
		   session->now.violations > session->before.violations);
	note_catch(session, tally, &session->hunter, session->hunt.board->filled);
}

static bool is_over(const struct session *session)
{
	bool hunter = session->hunter.attack, oracle = session->oracle.attack;

	if (stop__asked())
		return true;
	return session->keep_going ? hunter && oracle : hunter || oracle;
}

/* Rounds of one attack until @end_ns, but at least one. */
static int fight(struct session *session, struct tally *tally, uint64_t end_ns)
{
	int err;

	do {
		err = tally->attack->round(&session->hunt);
		tally->rounds += !err;
		if (!err)
			err = hunt_oracle__read(&session->now);
		look_for_catch(session, tally);
	} while (!err && !is_over(session) && stop__now_ns() < end_ns);
	return err;
}

/* One spell of one attack, with all that is its own. */
static int spell(struct session *session, struct tally *tally, uint64_t end_ns)
{
	struct hunt *hunt = &session->hunt;
	size_t mark = journal__mark(hunt->journal);
	uint64_t stale = hunt->board->stale, before, after;
	int err, err_undo;

	hunt__begin_spell(hunt, session->seed + session->spells++);
	err = read_work(session, tally->attack, &before);
	if (!err)
		err = tally->attack->begin(hunt);
	if (!err)
		err = fight(session, tally, end_ns);
	session->died = err == -ECHILD;
	if (read_work(session, tally->attack, &after) == 0)
		tally->work += after - before;
	tally->steps += hunt_board__steps(hunt->board);
	tally->stale += hunt->board->stale - stale;
	hunt__end_spell(hunt);
	err_undo = journal__undo(hunt->journal, mark);
	return err ? err : err_undo;
}

/* The attacks in turn until the time is over, each at least once. */
static int hunt_all(struct session *session)
{
	uint64_t end = session->start_ns + session->time_ns, now = session->start_ns;
	uint64_t length = session->time_ns / session->count, number = 0;
	int err = 0;

	length = length < SPELL_NS ? length : SPELL_NS;
	progress__start(&session->progress, "hunt", length ? session->time_ns / length : 1,
			session->quiet);
	for (; !err && !is_over(session) && (now < end || number < session->count); number++) {
		struct tally *tally = &session->tallies[number % session->count];

		if (*tally->why)
			continue;
		progress__show(&session->progress, number + 1, tally->attack->name);
		err = spell(session, tally, now + length);
		now = stop__now_ns();
	}
	progress__clear(&session->progress);
	return err;
}

/* --- Telling */

static void print_tally(const struct tally *tally)
{
	if (*tally->why) {
		printf("%-10s  not possible here: %s\n", tally->attack->name, tally->why);
		return;
	}
	printf("%-10s %8llu %12llu %14llu %8llu  %s\n", tally->attack->name,
	       (unsigned long long)tally->rounds, (unsigned long long)tally->work,
	       (unsigned long long)tally->steps, (unsigned long long)tally->stale,
	       tally->rounds && !tally->work ? "NO WORK was done" : tally->attack->work);
}

static bool all_worked(const struct session *session)
{
	for (uint32_t i = 0; i < session->count; i++)
		if (session->tallies[i].rounds && !session->tallies[i].work)
			return false;
	return true;
}

static void print_catch(const struct catch *catch)
{
	printf("by the %s (attack %s, round %llu, %.1f s)", catch->by, catch->attack->name,
	       (unsigned long long)catch->round, catch->seconds);
}

/* The last line, which scripts read. */
static int print_verdict(const struct session *session, int err)
{
	bool hunter = session->hunter.attack, oracle = session->oracle.attack;

	printf("hunt: ");
	if (hunter || oracle) {
		printf("CAUGHT ");
		if (hunter)
			print_catch(&session->hunter);
		if (hunter && oracle)
			printf(" and ");
		if (oracle)
			print_catch(&session->oracle);
	} else if (session->died) {
		printf("a victim died, which it has no reason to");
	} else if (err && err != -EINTR) {
		printf("failed");
	} else if (!all_worked(session)) {
		printf("nothing was found, but not every attack did work");
		err = -ENODATA;
	} else {
		printf("clean after %.1f s", seconds_since_start(session));
	}
	printf(", seed %llu\n", (unsigned long long)session->seed);
	return hunter || oracle || (err && err != -EINTR) ? EXIT_FAILED : EXIT_DONE;
}

static int print_all(const struct session *session, int err)
{
	printf("%-10s %8s %12s %14s %8s  %s\n", "attack", "rounds", "work", "writes", "stale",
	       "what the work is");
	for (uint32_t i = 0; i < session->count; i++)
		print_tally(&session->tallies[i]);
	hunt_oracle__print(&session->before, &session->now);
	return print_verdict(session, err);
}

static int print_list(const struct session *session)
{
	for (uint32_t i = 0; i < session->count; i++) {
		const struct tally *tally = &session->tallies[i];

		printf("%-10s %s\n           %s%s\n", tally->attack->name, tally->attack->summary,
		       *tally->why ? "not possible here: " : "can be done here", tally->why);
	}
	return EXIT_DONE;
}

static int refuse(const struct session *session)
{
	for (uint32_t i = 0; i < session->count; i++)
		diag__error("%s: %s", session->tallies[i].attack->name, session->tallies[i].why);
	return EXIT_UNSUPPORTED;
}

static int run_session(struct session *session)
{
	int err, code = EXIT_FAILED;

	if (journal__open(&session->hunt.journal))
		return EXIT_FAILED;
	err = set_up(session);
	session->now = session->before;
	session->start_ns = stop__now_ns();
	if (!err) {
		char cpus[256];

		cpus__format(&session->hunt.cpus, cpus, sizeof(cpus));
		printf("hunting for %.0f s on CPUs %s, seed %llu\n", session->time_ns / 1e9, cpus,
		       (unsigned long long)session->seed);
		fflush(stdout);
		err = hunt_all(session);
		code = print_all(session, err);
	}
	if (journal__close(session->hunt.journal))
		code = EXIT_FAILED;
	hunt_board__unmap(session->hunt.board);
	return code;
}

int cmd_hunt(int argc, char **argv)
{
	static const struct argp argp = {
		.options = options, .parser = parse, .args_doc = "[ATTACK...]", .doc = doc
	};
	struct session *session = calloc(1, sizeof(*session));
	int code;

	if (!session) {
		diag__fail(ENOMEM, "start");
		return EXIT_FAILED;
	}
	session->time_ns = DEFAULT_NS;
	session->hunter.by = "hunter";
	session->oracle.by = "oracle";
	argp_parse(&argp, argc, argv, 0, NULL, session);
	if (!session->seed)
		session->seed = stop__now_ns() % 1000000 + 1;
	invocation__catch_signals();
	code = invocation__choose_cpus(session->cpus_text, &session->hunt.cpus);
	if (!code) {
		bool any = look_around(session);

		session->hunt.initiator = cpus__next(&session->hunt.cpus, 0);
		if (session->list)
			code = print_list(session);
		else
			code = any ? run_session(session) : refuse(session);
	}
	free(session);
	if (diag__close_stdout())
		code = EXIT_FAILED;
	return code;
}
