/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef TLBBENCH_PIN_H
#define TLBBENCH_PIN_H

#include <sys/types.h>

/* Pins the calling thread to one CPU. Returns 0 or a negative errno after a message. */
int pin__to_cpu(unsigned int cpu);

/* Pins the thread @tid (0: the calling one) to one CPU. 0 or a negative errno; prints nothing. */
int pin__thread(pid_t tid, unsigned int cpu);

#endif
