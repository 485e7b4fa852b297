/* SPDX-License-Identifier: GPL-2.0-only */
/* Results that become one, and one that becomes two. */
#ifndef TLBBENCH_RESULT_JOIN_H
#define TLBBENCH_RESULT_JOIN_H

#include <stdbool.h>
#include <stddef.h>

#include "result.h"

/*
 * All runs of @parts, such as the boots of one kernel, in their order and numbered anew. The
 * environment is that of the first, with "boots": { "count": how many there are, "differ_in": the
 * names of what is not the same in all of them }.
 * @n is 1 or more. Returns 0 or a negative errno after a message.
 */
int result__join(struct result **out, const struct result *const *parts, size_t n);

/*
 * Every second run of each workload of @whole, from the first on, or with @second from the second
 * on: what a control compares. Returns 0 or a negative errno after a message.
 */
int result__half(struct result **out, const struct result *whole, bool second);

#endif
