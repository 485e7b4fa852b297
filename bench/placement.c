/* SPDX-License-Identifier: GPL-2.0-only */
#include "placement.h"

#include <errno.h>
#include <linux/mempolicy.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/diag.h"
#include "memory.h"

/* How many are asked for at once: on the stack, so that counting allocates nothing. */
#define AT_ONCE 512

/* Calls that ask for nothing: only whether there is such a call, and whether it is forbidden. */
bool placement__permitted(char *why, size_t size)
{
	int status, node = 0;
	void *page = NULL;

	if (syscall(SYS_move_pages, 0, 0, &page, &node, &status, 0))
		snprintf(why, size, "move_pages(2) of no page fails: %s", strerror(errno));
	else if (syscall(SYS_mbind, NULL, 0, MPOL_DEFAULT, NULL, 0, 0))
		snprintf(why, size, "mbind(2) of no page fails: %s", strerror(errno));
	else
		return true;
	return false;
}

int placement__bind(const struct memory *memory, unsigned int node)
{
	unsigned long mask[CPUS_MAX / (8 * sizeof(long))] = { 0 };

	mask[node / (8 * sizeof(long))] = 1ul << node % (8 * sizeof(long));
	/* The kernel takes one bit less than it is told of (get_nodes() in mm/mempolicy.c). */
	if (syscall(SYS_mbind, memory->base, memory->pages * memory->page_size, MPOL_BIND, mask,
		    (unsigned long)node + 2, 0))
		return diag__fail(errno, "have memory come from node %u", node);
	return 0;
}

static void add_places(struct places *places, const struct route *route, const int *status,
		       uint64_t count)
{
	for (uint64_t i = 0; i < count; i++) {
		if (status[i] == (int)route->from)
			places->from++;
		else if (status[i] >= 0 && cpus__has(&route->to, status[i]))
			places->to++;
		else
			places->other++;
	}
}

int placement__count(const struct memory *memory, const struct route *route, struct places *out)
{
	void *pages[AT_ONCE];
	int status[AT_ONCE];

	memset(out, 0, sizeof(*out));
	for (uint64_t done = 0, count; done < memory->pages; done += count) {
		count = memory->pages - done < AT_ONCE ? memory->pages - done : AT_ONCE;
		for (uint64_t i = 0; i < count; i++)
			pages[i] = memory->base + (done + i) * memory->page_size;
		if (syscall(SYS_move_pages, 0, count, pages, NULL, status, 0))
			return diag__fail(errno, "find the nodes of %llu pages",
					  (unsigned long long)count);
		add_places(out, route, status, count);
	}
	return 0;
}
