/* SPDX-License-Identifier: GPL-2.0-only */
#include "nodes.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/parse.h"
#include "common/procfs.h"

#define NODES "/sys/devices/system/node"
#define TIERS "/sys/devices/virtual/memory_tiering"
#define TIER  "memory_tier"

/* Free memory that a node keeps: its reserve, and what else is allocated meanwhile. */
#define SPARE (16ull << 20)

int nodes__parse_meminfo(const char *text, const char *key, uint64_t *bytes)
{
	size_t length = strlen(key);

	for (const char *line = text; line; line = strchr(line, '\n')) {
		unsigned long long kib;
		int at = 0;

		line += *line == '\n';
		if (sscanf(line, "Node %*u %n", &at) < 0 || !at ||
		    strncmp(line + at, key, length) || line[at + length] != ':')
			continue;
		if (sscanf(line + at + length, ": %llu kB", &kib) != 1)
			return -EBADMSG;
		*bytes = kib * 1024;
		return 0;
	}
	return -ENOENT;
}

/* What this process's cpuset lets it use. All, if the kernel does not tell. */
static void restrict_to_allowed(struct cpus *nodes)
{
	static const char key[] = "\nMems_allowed_list:\t";
	struct cpus allowed;
	char *text, *list;
	size_t length;

	if (procfs__read("/proc/self/status", &text, &length))
		return;
	list = strstr(text, key);
	if (list) {
		list += strlen(key);
		list[strcspn(list, "\n")] = '\0';
		if (parse__cpulist(list, &allowed) == 0)
			cpus__and(nodes, nodes, &allowed);
	}
	free(text);
}

/* The nodes with memory that this process may use. */
static bool usable_nodes(struct cpus *out, char *why, size_t size)
{
	if (cpus__read_file(NODES "/has_memory", out)) {
		snprintf(why, size, "this kernel knows no memory nodes (CONFIG_NUMA)");
		return false;
	}
	restrict_to_allowed(out);
	return true;
}

static bool has_cpu(unsigned int node, unsigned int cpu)
{
	char path[PATH_MAX];
	struct cpus cpus;

	snprintf(path, sizeof(path), NODES "/node%u/cpulist", node);
	return cpus__read_file(path, &cpus) == 0 && cpus__has(&cpus, cpu);
}

/* The node of @cpu, or the first one. */
static unsigned int node_of(unsigned int cpu, const struct cpus *nodes)
{
	cpus__for_each (node, nodes)
		if (has_cpu(node, cpu))
			return node;
	return cpus__next(nodes, 0);
}

/* The one after @from, or the first; CPUS_MAX if there is no other. */
static unsigned int next_node(const struct cpus *nodes, unsigned int from)
{
	struct cpus others = *nodes;
	unsigned int next;

	cpus__remove(&others, from);
	next = cpus__next(&others, from);
	return next < CPUS_MAX ? next : cpus__next(&others, 0);
}

bool nodes__route_across(unsigned int cpu, struct route *out, char *why, size_t size)
{
	struct cpus nodes, with_cpus;
	unsigned int to = CPUS_MAX;

	if (!usable_nodes(&nodes, why, size))
		return false;
	out->from = node_of(cpu, &nodes);
	if (cpus__read_file(NODES "/has_cpu", &with_cpus) == 0) {
		cpus__and(&with_cpus, &with_cpus, &nodes);
		to = next_node(&with_cpus, out->from);
	}
	if (to == CPUS_MAX)
		to = next_node(&nodes, out->from);
	if (to == CPUS_MAX) {
		char list[64];

		cpus__format(&nodes, list, sizeof(list));
		snprintf(why, size,
			 "pages move between two nodes with memory, and here is only node %s",
			 list);
		return false;
	}
	cpus__clear(&out->to);
	cpus__add(&out->to, to);
	return true;
}

/* Of memory_tier4 the number, 4: the higher, the slower. UINT_MAX for any other name. */
static unsigned int tier_of(const char *name)
{
	uint64_t number;

	if (strncmp(name, TIER, strlen(TIER)) ||
	    parse__u64(name + strlen(TIER), 0, UINT_MAX - 1, &number))
		return UINT_MAX;
	return number;
}

/* The nodes of a tier, of those in @nodes. */
static bool tier_nodes(unsigned int tier, const struct cpus *nodes, struct cpus *out)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), TIERS "/" TIER "%u/nodelist", tier);
	if (cpus__read_file(path, out))
		return false;
	cpus__and(out, out, nodes);
	return cpus__count(out) > 0;
}

/*
 * The tier of @node, and the next lower one that has some of @nodes; UINT_MAX where there is none.
 * The order in which they are found does not matter.
 */
static void find_tiers(unsigned int node, const struct cpus *nodes, unsigned int *own,
		       unsigned int *lower)
{
	struct dirent *entry;
	struct cpus members;
	DIR *dir;

	*own = *lower = UINT_MAX;
	for (int pass = 0; pass < 2; pass++) {
		dir = opendir(TIERS);
		while (dir && (entry = readdir(dir))) {
			unsigned int tier = tier_of(entry->d_name);

			if (tier == UINT_MAX || !tier_nodes(tier, nodes, &members))
				continue;
			if (cpus__has(&members, node))
				*own = tier;
			else if (pass && tier > *own && tier < *lower)
				*lower = tier;
		}
		if (dir)
			closedir(dir);
	}
}

bool nodes__route_down(unsigned int cpu, struct route *out, char *why, size_t size)
{
	unsigned int own, lower;
	struct cpus nodes;

	if (!usable_nodes(&nodes, why, size))
		return false;
	out->from = node_of(cpu, &nodes);
	find_tiers(out->from, &nodes, &own, &lower);
	if (own == UINT_MAX) {
		snprintf(why, size,
			 "this kernel sorts no memory into tiers (6.1 and later, "
			 "CONFIG_MIGRATION)");
		return false;
	}
	if (lower == UINT_MAX) {
		snprintf(why, size,
			 "there is no memory in a tier below node %u's (" TIER
			 "%u), so nothing can be demoted",
			 out->from, own);
		return false;
	}
	return tier_nodes(lower, &nodes, &out->to);
}

/* What is free on a node. 0 if it cannot be read. */
static uint64_t free_bytes(unsigned int node)
{
	char path[PATH_MAX], *text;
	uint64_t bytes = 0;
	size_t length;

	snprintf(path, sizeof(path), NODES "/node%u/meminfo", node);
	if (procfs__read(path, &text, &length) == 0) {
		nodes__parse_meminfo(text, "MemFree", &bytes);
		free(text);
	}
	return bytes;
}

static bool node_has_room(unsigned int node, uint64_t has, uint64_t bytes, char *why, size_t size)
{
	if (has >= bytes + bytes / 16 + SPARE)
		return true;
	snprintf(why, size, "%llu MiB have to be free on node %u, and %llu are: try fewer --pages",
		 (unsigned long long)(bytes + bytes / 16 + SPARE) >> 20, node,
		 (unsigned long long)has >> 20);
	return false;
}

bool nodes__enough(const struct route *route, uint64_t bytes, char *why, size_t size)
{
	uint64_t there = 0;

	cpus__for_each (node, &route->to)
		there += free_bytes(node);
	return node_has_room(route->from, free_bytes(route->from), bytes, why, size) &&
	       node_has_room(cpus__next(&route->to, 0), there, bytes, why, size);
}
