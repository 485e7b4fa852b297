/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/diag.h"
#include "common/stop.h"
#include "journal.h"
#include "pin.h"
#include "quiet.h"
#include "relax.h"
#include "storm.h"
#include "tether.h"

enum command {
	SET_UP,
	PRIME,
	RUN
};

/* What members write while they run, and tlbbench reads afterwards. */
struct storm_board {
	unsigned int members;
	uint64_t calls; /* of all members */
	_Atomic unsigned int ready, finished;
	_Atomic uint64_t start_ns, end_ns;
	/* Members that are processes sleep until they are called. */
	sem_t arrived, called[CPUS_MAX];
	uint64_t left;
	struct storm_tally tally[CPUS_MAX];
	uint64_t call_ns[]; /* of each call, the members' one after the other */
};

void storm_tally__fail(struct storm_tally *tally, int error)
{
	tally->failed++;
	tally->error = tally->error ? tally->error : error;
}

int storm__await(pid_t pid, struct storm_tally *tally)
{
	int status;

	if (pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status))
		return WEXITSTATUS(status);
	storm_tally__fail(tally, pid < 0 ? errno : ECHILD);
	return -1;
}

static uint64_t calls_asked(const struct storm *storm)
{
	return storm->options.pages / storm->kind->pages_per_call;
}

/* The CPUs that have a member: with spinning bystanders all. */
static struct cpus cpus_of_members(const struct workload_options *options)
{
	struct cpus cpus;
	unsigned int count = 0;

	if (options->bystander == BYSTANDER_SPIN)
		return options->cpus;
	cpus__clear(&cpus);
	cpus__for_each (cpu, &options->cpus)
		if (count++ < options->threads)
			cpus__add(&cpus, cpu);
	return cpus;
}

/* In the worker and its members. */

/* Waits for all members without sleeping; the last to come leaves the time in @when. */
static void meet(const struct storm_board *board, _Atomic unsigned int *counter,
		 _Atomic uint64_t *when)
{
	if (atomic_fetch_add(counter, 1) + 1 == board->members)
		*when = stop__now_ns();
	while (*counter < board->members)
		cpu_relax();
}

/* The calls of members below @member, or of this one if they are all that is asked. */
static uint64_t calls_before(const struct storm *storm, unsigned int member)
{
	uint64_t threads = storm->options.threads, calls = storm->board->calls;
	uint64_t rest = calls % threads;

	return calls / threads * member + (member < rest ? member : rest);
}

static void make_calls(void *arg, unsigned int member)
{
	struct storm *storm = arg;
	struct storm_board *board = storm->board;
	struct storm_tally *tally = &board->tally[member];
	uint64_t call = 0, end = 0;

	if (member < storm->options.threads) {
		call = calls_before(storm, member);
		end = calls_before(storm, member + 1);
	}
	meet(board, &board->ready, &board->start_ns);
	for (; call < end; call++) {
		uint64_t start = stop__now_ns();

		storm->kind->call(storm, member, tally);
		board->call_ns[call] = stop__now_ns() - start;
		tally->calls++;
	}
	meet(board, &board->finished, &board->end_ns);
}

/* A member that is a process: its address space is new, and has never been on another CPU. */
static _Noreturn void be_member(struct storm *storm, unsigned int member)
{
	const struct storm_kind *kind = storm->kind;
	struct storm_board *board = storm->board;

	if (kind->keeps_memory) {
		if (memory__map(&storm->memory, kind->pages_per_call, storm->options.thp))
			_exit(1);
		memory__fill(&storm->memory);
	}
	for (;;) {
		sem_post(&board->arrived);
		while (sem_wait(&board->called[member]) && errno == EINTR)
			;
		make_calls(storm, member);
	}
}

/* None ends by itself; and if one does, the others would wait for it for ever. */
static int check_members(void)
{
	int status;

	if (waitpid(-1, &status, WNOHANG) <= 0)
		return 0;
	diag__error("a process of the workload ended by %s %d",
		    WIFSIGNALED(status) ? "signal" : "exit code",
		    WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
	return -ECHILD;
}

/* Waits until @count members have done what they were called for. */
static int wait_for_members(struct storm_board *board, unsigned int count)
{
	struct timespec until;
	int err = 0;

	while (count && !err) {
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_sec++;
		if (sem_timedwait(&board->arrived, &until) == 0)
			count--;
		else
			err = check_members();
	}
	return err;
}

/* Each is forked on the CPU that it is for, since it inherits where it may run. They die with us.
 */
static int start_processes(struct storm *storm)
{
	struct storm_board *board = storm->board;
	unsigned int count = 0;
	int err = sem_init(&board->arrived, true, 0) ? diag__fail(errno, "make a semaphore") : 0;

	cpus__for_each (cpu, &storm->options.cpus) {
		pid_t pid;

		if (err || count == storm->options.threads)
			break;
		if (sem_init(&board->called[count], true, 0))
			return diag__fail(errno, "make a semaphore");
		err = pin__to_cpu(cpu);
		if (err)
			break;
		pid = tether__fork("tlbbench-work", -1);
		if (pid == 0)
			be_member(storm, count);
		err = pid < 0 ? pid : wait_for_members(board, 1);
		count++;
	}
	return err ? err : pin__to_cpu(storm->options.initiator);
}

static int run_processes(struct storm_board *board)
{
	for (unsigned int i = 0; i < board->members; i++)
		sem_post(&board->called[i]);
	return wait_for_members(board, board->members);
}

static int run_storm(struct storm *storm, uint64_t calls)
{
	struct storm_board *board = storm->board;
	const struct storm_kind *kind = storm->kind;
	int err = 0;

	board->members = kind->processes ? storm->options.threads : crew__size(storm->crew);
	board->calls = calls;
	board->ready = board->finished = 0;
	board->left = 0;
	memset(board->tally, 0, board->members * sizeof(board->tally[0]));
	if (kind->processes)
		return run_processes(board);
	crew__do(storm->crew, make_calls, storm);
	if (kind->count_left)
		err = kind->count_left(storm, &board->left);
	return err;
}

static int set_up_worker(struct storm *storm)
{
	const struct workload_options *options = &storm->options;
	const struct storm_kind *kind = storm->kind;
	struct cpus cpus = cpus_of_members(options);
	int err = pin__to_cpu(options->initiator);

	if (!err)
		err = quiet__process(options);
	if (err)
		return err;
	if (kind->processes)
		return start_processes(storm);
	err = crew__start(&storm->crew, &cpus, CPUS_MAX);
	if (err || !kind->keeps_memory)
		return err;
	return memory__map(&storm->memory, (uint64_t)options->threads * kind->pages_per_call,
			   options->thp);
}

static int serve(void *state, unsigned int command, uint64_t answer[WORKER_ANSWERS])
{
	struct storm *storm = state;

	(void)answer;
	switch ((enum command)command) {
	case SET_UP:
		return set_up_worker(storm);
	case PRIME:
		/* One call each, which faults in the page tables and the stacks. */
		return run_storm(storm, storm->options.threads);
	case RUN:
		return run_storm(storm, calls_asked(storm));
	}
	return -EINVAL;
}

/* In tlbbench. */

int storm__check(const struct storm_kind *kind, const struct workload_options *options, char *why,
		 size_t size)
{
	const char *members = kind->processes ? "processes" : "threads";
	unsigned int cpus = cpus__count(&options->cpus);

	if (options->threads > cpus)
		snprintf(why, size, "each of %u %s is to have a CPU of its own, and there are %u",
			 options->threads, members, cpus);
	else if (options->pages / kind->pages_per_call < options->threads)
		snprintf(why, size, "%u %s need %u pages each at least: try --pages=%u",
			 options->threads, members, kind->pages_per_call,
			 kind->pages_per_call * options->threads);
	else if (kind->processes && options->bystander == BYSTANDER_SPIN)
		snprintf(why, size,
			 "its processes have one thread each, and --bystander spin asks for more");
	else
		return 0;
	return -ENOTSUP;
}

static int make_board(struct storm *storm)
{
	uint64_t calls = calls_asked(storm) > storm->options.threads ? calls_asked(storm)
								     : storm->options.threads;

	storm->board_size = sizeof(*storm->board) + calls * sizeof(storm->board->call_ns[0]);
	storm->board = mmap(NULL, storm->board_size, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (storm->board != MAP_FAILED)
		return 0;
	storm->board = NULL;
	return diag__fail(errno, "map room for the times of %llu calls", (unsigned long long)calls);
}

/* Busy processes on the CPUs that no member has. */
static int start_bystanders(struct storm *storm)
{
	struct cpus rest = storm->options.cpus, taken = cpus_of_members(&storm->options);

	if (storm->options.bystander != BYSTANDER_OTHER)
		return 0;
	cpus__for_each (cpu, &taken)
		cpus__remove(&rest, cpu);
	return bystanders__start(&storm->bystanders, &rest, CPUS_MAX);
}

static int call_worker(struct workload_run *run, enum command command)
{
	struct storm *storm = run->state;
	uint64_t answer[WORKER_ANSWERS];

	return worker__call(&storm->worker, command, answer);
}

int storm__set_up(const struct storm_kind *kind, struct workload_run *run)
{
	struct storm *storm = calloc(1, sizeof(*storm));
	int err;

	if (!storm)
		return diag__fail(ENOMEM, "set up %s", kind->name);
	run->state = storm;
	storm->kind = kind;
	storm->options = *run->options;
	storm->mark = journal__mark(run->journal);
	err = make_board(storm);
	if (!err)
		err = quiet__machine(run->journal, run->options);
	if (!err)
		err = start_bystanders(storm);
	if (!err)
		err = worker__start(&storm->worker, serve, storm);
	return err ? err : call_worker(run, SET_UP);
}

int storm__prime(struct workload_run *run)
{
	return call_worker(run, PRIME);
}

int storm__run(struct workload_run *run)
{
	const struct storm *storm = run->state;
	int err = call_worker(run, RUN);

	run->elapsed_ns = storm->board->end_ns - storm->board->start_ns;
	return err;
}

static struct storm_tally sum_tallies(const struct storm *storm)
{
	struct storm_tally sum = { 0 };

	for (unsigned int i = 0; i < storm->board->members; i++) {
		const struct storm_tally *tally = &storm->board->tally[i];

		sum.calls += tally->calls;
		sum.failed += tally->failed;
		sum.lost += tally->lost;
		sum.stale += tally->stale;
		sum.error = sum.error ? sum.error : tally->error;
	}
	sum.stale += storm->board->left;
	return sum;
}

static int judge(const struct storm *storm, const struct storm_tally *sum)
{
	if (sum->failed)
		return diag__fail(sum->error ? sum->error : EIO, "%s: %llu of %llu calls failed",
				  storm->kind->name, (unsigned long long)sum->failed,
				  (unsigned long long)sum->calls);
	if (!sum->stale && !sum->lost)
		return 0;
	diag__error("of %llu pages %llu did not hold what had just been written, and %llu still "
		    "held what should be gone",
		    (unsigned long long)sum->calls * storm->kind->pages_per_call,
		    (unsigned long long)sum->lost, (unsigned long long)sum->stale);
	diag__hint("the kernel under test misses flushes or loses data: see the kernel's log");
	return -EIO;
}

static int compare_ns(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* The nearest rank: a time that was measured, not one between two. */
static void add_percentiles(struct workload_run *run, uint64_t calls)
{
	const struct storm *storm = run->state;
	uint64_t *call_ns = storm->board->call_ns;

	qsort(call_ns, calls, sizeof(*call_ns), compare_ns);
	json_object_set_new(run->values, "operation_p50_ns",
			    json_integer(call_ns[(calls - 1) * 50 / 100]));
	json_object_set_new(run->values, "operation_p99_ns",
			    json_integer(call_ns[(calls - 1) * 99 / 100]));
}

int storm__verify(struct workload_run *run)
{
	const struct storm *storm = run->state;
	struct storm_tally sum = sum_tallies(storm);
	int err = judge(storm, &sum);

	if (err)
		return err;
	run->operations = sum.calls;
	run->pages_done = sum.calls * storm->kind->pages_per_call;
	add_percentiles(run, sum.calls);
	if (storm->kind->flushes_per_call)
		json_object_set_new(run->values, "expected_ipis",
				    json_integer(sum.calls * storm->kind->flushes_per_call *
						 (storm->board->members - 1)));
	return 0;
}

void storm__tear_down(struct workload_run *run)
{
	struct storm *storm = run->state;

	if (!storm)
		return;
	worker__stop(&storm->worker);
	bystanders__stop(&storm->bystanders);
	journal__undo(run->journal, storm->mark);
	if (storm->board)
		munmap(storm->board, storm->board_size);
	free(storm);
	run->state = NULL;
}
