/* SPDX-License-Identifier: GPL-2.0-only */
/* What the commands that change the machine begin with. */
#ifndef TLBBENCH_INVOCATION_H
#define TLBBENCH_INVOCATION_H

#include "common/cpus.h"

/*
 * The CPUs that this process may use and that are online, and of these what @list, the argument of
 * --cpus, names; NULL: all. Returns EXIT_DONE, or an exit code after a message.
 */
int invocation__choose_cpus(const char *list, struct cpus *out);

/* As stop__install(), and signals that would end us with everything still changed ask for it too.
 */
void invocation__catch_signals(void);

#endif
