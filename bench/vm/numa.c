/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The lower tier is one by what the kernel reads in the HMAT: a plain node without CPUs would join
 * the tier of DRAM, and nothing could be demoted to it. The kernel compares each node's latency and
 * bandwidth, as its nearest initiator sees them, with those of the nodes that have CPUs.
 */
#include "vm/numa.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define MIB(bytes) ((unsigned long long)((bytes) >> 20))

struct performance {
	unsigned int latency_ns;
	const char *bandwidth; /* bytes/s, as QEMU reads sizes */
};

static const struct performance own_node = { 10, "10G" };
static const struct performance other_node = { 15, "8G" };
static const struct performance lower_tier = { 20, "5G" };

/* Two strings a node, and per pair of CPUs and memory two for its latency, two for its bandwidth.
 */
#define MAX_ARGUMENTS (4 * (NUMA_MAX_NODES + 1) * (NUMA_MAX_NODES + 2))

struct list {
	char **item;
	size_t count;
	bool failed;
};

static void add(struct list *list, const char *option, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static void add(struct list *list, const char *option, const char *fmt, ...)
{
	char *name = NULL, *value = NULL;
	va_list args;

	va_start(args, fmt);
	if (asprintf(&name, "%s", option) < 0 || vasprintf(&value, fmt, args) < 0)
		list->failed = true;
	va_end(args);
	list->item[list->count++] = name;
	list->item[list->count++] = value;
}

/* Whole megabytes; what cannot be shared is node 0's. */
static uint64_t share(uint64_t memory, unsigned int nodes, unsigned int node)
{
	uint64_t each = (memory >> 20) / nodes << 20;

	return node ? each : memory - each * (nodes - 1);
}

static void add_node(struct list *list, const struct guest *guest, uint64_t memory,
		     unsigned int node)
{
	unsigned int first = node * guest->cpus / guest->nodes;
	unsigned int last = (node + 1) * guest->cpus / guest->nodes - 1;

	add(list, "-object", "memory-backend-ram,id=node%u,size=%lluM", node,
	    MIB(share(memory, guest->nodes, node)));
	add(list, "-numa", "node,nodeid=%u,memdev=node%u,cpus=%u-%u", node, node, first, last);
}

static void add_performance(struct list *list, unsigned int initiator, unsigned int target,
			    const struct performance *performance)
{
	add(list, "-numa",
	    "hmat-lb,initiator=%u,target=%u,hierarchy=memory,data-type=access-latency,latency=%u",
	    initiator, target, performance->latency_ns);
	add(list, "-numa",
	    "hmat-lb,initiator=%u,target=%u,hierarchy=memory,data-type=access-bandwidth,"
	    "bandwidth=%s",
	    initiator, target, performance->bandwidth);
}

static void add_lower_tier(struct list *list, const struct guest *guest)
{
	unsigned int lower = guest->nodes;

	add(list, "-object", "memory-backend-ram,id=lower,size=%lluM", MIB(guest->lower_tier));
	add(list, "-numa", "node,nodeid=%u,memdev=lower,initiator=0", lower);
	for (unsigned int initiator = 0; initiator < guest->nodes; initiator++) {
		for (unsigned int target = 0; target < guest->nodes; target++)
			add_performance(list, initiator, target,
					initiator == target ? &own_node : &other_node);
		add_performance(list, initiator, lower, &lower_tier);
	}
}

char **numa__arguments(const struct guest *guest, uint64_t memory)
{
	struct list list = { .item = calloc(MAX_ARGUMENTS + 1, sizeof(*list.item)) };

	if (!list.item)
		return NULL;
	if (guest->nodes > 1 || guest->lower_tier)
		for (unsigned int node = 0; node < guest->nodes; node++)
			add_node(&list, guest, memory, node);
	if (guest->lower_tier)
		add_lower_tier(&list, guest);
	if (!list.failed)
		return list.item;
	numa__free(list.item);
	return NULL;
}

void numa__free(char **arguments)
{
	for (size_t i = 0; arguments && arguments[i]; i++)
		free(arguments[i]);
	free(arguments);
}
