/* SPDX-License-Identifier: GPL-2.0-only */
/* A thread is moved from CPU to CPU while something is done to its pages. */
#include <unistd.h>

#include "common/diag.h"
#include "hunt.h"
#include "pin.h"

/* How long a thread stays on a CPU before it is moved to another one. */
#define MOST_STAY_US 200

static void *move_about(void *arg)
{
	struct hunt_mover *mover = arg;

	do {
		unsigned int cpu = hunt__any(&mover->cpus, &mover->random);

		mover->moves += pin__thread(mover->tid, cpu) == 0;
		usleep(hunt_random__below(&mover->random, MOST_STAY_US));
	} while (!mover->end);
	pin__thread(mover->tid, mover->home);
	return NULL;
}

int hunt_mover__start(struct hunt_mover *mover, struct hunt *hunt)
{
	int err;

	mover->cpus = hunt->cpus;
	mover->random.state = hunt_random__next(&hunt->random);
	err = pthread_create(&mover->thread, NULL, move_about, mover);
	return err ? diag__fail(err, "start a thread that moves another") : 0;
}

void hunt_mover__stop(struct hunt_mover *mover)
{
	mover->end = true;
	pthread_join(mover->thread, NULL);
}
