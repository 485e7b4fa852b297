/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "common/diag.h"
#include "hunt_warden.h"
#include "pin.h"

#define STACK_SIZE   (64 << 10)
#define MOST_PASSES  8
#define MOST_DOZE_NS 300000
#define MOST_WAIT_NS 2000000

/* A fault while the pages are barred is what was wanted: wait, and try again. */
static struct warden *faulting;

static void wait_for_pages(int signal_number, siginfo_t *info, void *context)
{
	unsigned char *address = info->si_addr;

	(void)context;
	if (address < faulting->base || address >= faulting->base + faulting->size) {
		signal(signal_number, SIG_DFL);
		return;
	}
	faulting->board->faults++;
	while (faulting->board->barred && !faulting->leave)
		sched_yield();
}

static void rest(struct hunt_writer *writer)
{
	struct timespec doze = { .tv_nsec = hunt_random__below(&writer->random, MOST_DOZE_NS) };

	switch (writer->warden->victim->manner) {
	case HUNT_BUSY:
		break;
	case HUNT_YIELD:
		sched_yield();
		break;
	case HUNT_DOZE:
		nanosleep(&doze, NULL);
		break;
	}
}

/* Some pages in a row, a few times over, so that others look unused to the kernel meanwhile. */
static void write_some(struct hunt_writer *writer)
{
	struct warden *warden = writer->warden;
	struct hunt_range range = hunt_range__any(&writer->random);
	uint32_t passes = 1 + hunt_random__below(&writer->random, MOST_PASSES);

	while (passes--)
		for (uint32_t i = 0; i < range.count && !warden->leave; i++)
			hunt_board__write(warden->board, warden->base, range.first + i, writer->id);
}

static void *write_on(void *arg)
{
	struct hunt_writer *writer = arg;

	while (!writer->warden->leave) {
		/* A CPU that was offline for a while has lost its threads to the others. */
		if (sched_getcpu() != (int)writer->cpu)
			pin__thread(0, writer->cpu);
		write_some(writer);
		rest(writer);
	}
	return NULL;
}

static int start_writer(struct warden *warden, uint32_t index)
{
	struct hunt_writer *writer = &warden->writers[index];
	long least = sysconf(_SC_THREAD_STACK_MIN);
	pthread_attr_t attr;
	int err;

	writer->warden = warden;
	writer->id = warden->victim->writer + index;
	writer->cpu = warden->victim->cpu[index];
	writer->random.state = hunt_random__next(&warden->births);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, least > STACK_SIZE ? least : STACK_SIZE);
	err = pthread_create(&writer->thread, &attr, write_on, writer);
	pthread_attr_destroy(&attr);
	if (err)
		return diag__fail(err, "start a writer for CPU %u", writer->cpu);
	warden->running++;
	return 0;
}

int hunt_writers__start(struct warden *warden)
{
	struct sigaction action = { .sa_sigaction = wait_for_pages, .sa_flags = SA_SIGINFO };
	int err = 0;

	faulting = warden;
	sigaction(SIGSEGV, &action, NULL);
	warden->leave = false;
	while (!err && warden->running < warden->wanted)
		err = start_writer(warden, warden->running);
	return err;
}

void hunt_writers__stop(struct warden *warden)
{
	warden->leave = true;
	while (warden->running)
		pthread_join(warden->writers[--warden->running].thread, NULL);
}

/* Free to run on all of the writers' CPUs, so that a thread it starts can be born there. */
static void *start_others(void *arg)
{
	struct hunt_midwife *midwife = arg;
	const struct hunt_victim *victim = midwife->warden->victim;
	struct timespec wait = { .tv_nsec = midwife->wait_ns };
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	for (uint32_t i = 0; i < victim->threads; i++)
		CPU_SET(victim->cpu[i], &cpus);
	sched_setaffinity(0, sizeof(cpus), &cpus);
	nanosleep(&wait, NULL);
	midwife->warden->wanted = victim->threads;
	midwife->err = hunt_writers__start(midwife->warden);
	midwife->done = true;
	return NULL;
}

int hunt_midwife__start(struct hunt_midwife *midwife)
{
	int err;

	midwife->wait_ns = hunt_random__below(&midwife->warden->random, MOST_WAIT_NS);
	err = pthread_create(&midwife->thread, NULL, start_others, midwife);
	return err ? diag__fail(err, "start a thread that starts others") : 0;
}

int hunt_midwife__join(struct hunt_midwife *midwife)
{
	pthread_join(midwife->thread, NULL);
	return midwife->err;
}
