/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <fcntl.h>
#include <linux/mempolicy.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/diag.h"
#include "hunt_warden.h"
#include "pin.h"

#define CHILD_STEPS 2000

static int begin(struct warden *warden, uint64_t *where)
{
	const struct hunt_victim *victim = warden->victim;
	int err = pin__to_cpu(victim->warden_cpu);

	if (err)
		return err;
	/* Huge pages would be split, moved and reclaimed as one: fewer flushes. */
	prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
	warden->base = victim->base;
	if (!warden->base)
		warden->base = mmap(NULL, warden->size, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (warden->base == MAP_FAILED)
		return diag__fail(errno, "map %d pages", HUNT_PAGES);
	*where = (uintptr_t)warden->base;
	warden->wanted = victim->first;
	warden->births.state = hunt_random__next(&warden->random);
	hunt_board__check(warden->board, warden->base, victim->writer, victim->threads);
	return hunt_writers__start(warden);
}

static void check(struct warden *warden)
{
	hunt_board__check(warden->board, warden->base, warden->victim->writer,
			  warden->victim->threads);
}

static int page_out(struct warden *warden)
{
	struct hunt_range range = hunt_range__any(&warden->random);
	size_t page = sysconf(_SC_PAGESIZE);

	/* The warden's own CPU is to have translations too. */
	check(warden);
	if (madvise(warden->base + range.first * page, range.count * page, MADV_PAGEOUT))
		return diag__fail(errno, "madvise(MADV_PAGEOUT) of %u pages", range.count);
	check(warden);
	return 0;
}

static int move(struct warden *warden, uint32_t node)
{
	int err;

	check(warden);
	err = hunt_victim__move(0, warden->base, hunt_range__any(&warden->random), node, false);
	check(warden);
	return err;
}

static int restart(struct warden *warden)
{
	hunt_writers__stop(warden);
	check(warden);
	return hunt_writers__start(warden);
}

/* Its pages are copies, in which nobody has written the spare writer's words. */
static _Noreturn void be_child(struct warden *warden, uint32_t cpu)
{
	uint32_t writer = warden->victim->spare;
	int null = open("/dev/null", O_WRONLY);

	pin__thread(0, cpu);
	for (uint32_t i = 0; i < CHILD_STEPS; i++)
		hunt_board__write(warden->board, warden->base,
				  hunt_random__below(&warden->random, HUNT_PAGES), writer);
	hunt_board__check(warden->board, warden->base, writer, 1);
	if (null >= 0 && hunt_random__below(&warden->random, 2)) {
		dup2(null, STDOUT_FILENO);
		execl("/proc/self/exe", "tlbbench", "--version", NULL);
	}
	_exit(0);
}

static int spawn(struct warden *warden, uint32_t cpu)
{
	if (warden->child)
		return 0;
	hunt_board__forget(warden->board, warden->victim->spare);
	hunt_random__next(&warden->random);
	warden->child = fork();
	if (warden->child < 0) {
		warden->child = 0;
		return diag__fail(errno, "fork a child of a victim");
	}
	if (!warden->child)
		be_child(warden, cpu);
	return 0;
}

static int storm(uint32_t children)
{
	while (children--) {
		pid_t child = fork();

		if (child < 0)
			return diag__fail(errno, "fork a child of a victim");
		if (!child)
			_exit(0);
		while (waitpid(child, NULL, 0) < 0)
			if (errno != EINTR)
				return diag__fail(errno, "wait for a victim's child");
	}
	return 0;
}

static int reap(struct warden *warden, uint64_t *ended)
{
	int status;

	*ended = 0;
	if (!warden->child)
		return 0;
	while (waitpid(warden->child, &status, 0) < 0)
		if (errno != EINTR)
			return diag__fail(errno, "wait for a victim's child");
	warden->child = 0;
	if (status)
		return diag__fail(0, "a victim's child ended with status %#x", status);
	*ended = 1;
	return 0;
}

static int obey(struct warden *warden, enum hunt_order order, uint32_t argument, uint64_t *answer);

static int give_birth(struct warden *warden, uint32_t meanwhile, uint64_t *born)
{
	struct hunt_midwife midwife = { .warden = warden };
	uint32_t before = warden->running;
	uint64_t answer;
	int err = hunt_midwife__start(&midwife), err_births;

	if (err)
		return err;
	/* Over and over, so that all of them are born in the middle of it. */
	do
		err = obey(warden, meanwhile, 0, &answer);
	while (!err && !midwife.done);
	*born = warden->running - before;
	err_births = hunt_midwife__join(&midwife);
	return err ? err : err_births;
}

static int obey(struct warden *warden, enum hunt_order order, uint32_t argument, uint64_t *answer)
{
	switch (order) {
	case HUNT_BEGIN:
		return begin(warden, answer);
	case HUNT_CHECK:
		check(warden);
		return 0;
	case HUNT_PAGEOUT:
		return page_out(warden);
	case HUNT_MOVE:
		return move(warden, argument);
	case HUNT_RESTART:
		return restart(warden);
	case HUNT_SPAWN:
		return spawn(warden, argument);
	case HUNT_REAP:
		return reap(warden, answer);
	case HUNT_STORM:
		return storm(argument);
	case HUNT_PROTECT:
		return hunt_warden__protect(warden, answer);
	case HUNT_REMAP:
		return hunt_warden__remap(warden, answer);
	case HUNT_DISCARD:
		return hunt_warden__discard(warden, answer);
	case HUNT_FORK:
		return hunt_warden__fork(warden, answer);
	case HUNT_BIRTH:
		return give_birth(warden, argument, answer);
	}
	return -EINVAL;
}

static int serve(void *state, unsigned int command, uint64_t answer[WORKER_ANSWERS])
{
	return obey(state, command & 0xff, command >> 8, &answer[0]);
}

int hunt_victim__start(struct hunt_victim *victim)
{
	struct warden warden = {
		.victim = victim,
		.board = victim->board,
		.size = HUNT_PAGES * (size_t)sysconf(_SC_PAGESIZE),
		.random = { victim->seed },
	};

	/* The process that is forked works with its copy of all this. */
	return worker__start(&victim->worker, serve, &warden);
}

int hunt_victim__order(struct hunt_victim *victim, enum hunt_order order, uint32_t argument,
		       uint64_t *answer)
{
	uint64_t answers[WORKER_ANSWERS] = { 0 };
	int err = worker__call(&victim->worker, order | argument << 8, answers);

	if (!err && answer)
		*answer = answers[0];
	return err;
}

void hunt_victim__stop(struct hunt_victim *victim)
{
	worker__stop(&victim->worker);
}

int hunt_victim__move(pid_t pid, unsigned char *base, struct hunt_range range, uint32_t node,
		      bool shared)
{
	size_t page = sysconf(_SC_PAGESIZE);
	int nodes[HUNT_PAGES], status[HUNT_PAGES];
	void *pages[HUNT_PAGES];

	for (uint32_t i = 0; i < range.count; i++) {
		pages[i] = base + (range.first + i) * page;
		nodes[i] = node;
	}
	/* A positive result is a number of pages that stayed: another round moves them. */
	if (syscall(SYS_move_pages, pid, (unsigned long)range.count, pages, nodes, status,
		    shared ? MPOL_MF_MOVE_ALL : MPOL_MF_MOVE) < 0)
		return diag__fail(errno, "move_pages() of %u pages to node %u", range.count, node);
	return 0;
}
