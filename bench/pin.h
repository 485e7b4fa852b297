/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef TLBBENCH_PIN_H
#define TLBBENCH_PIN_H

/* Pins the calling thread to one CPU. Returns 0 or a negative errno after a message. */
int pin__to_cpu(unsigned int cpu);

#endif
