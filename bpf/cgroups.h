/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Requested CPUs by the cgroup of the task that asks: "tlbstat daemon --cgroups".
 *
 * The kernel never gives a cgroup's id to another one (fs/kernfs/dir.c: inode and generation), and
 * a cgroup of version 2 keeps its parents. So what was found once for a cgroup holds until the list
 * changes, and a flush costs one look-up.
 */
#ifndef TLBSTAT_BPF_CGROUPS_H
#define TLBSTAT_BPF_CGROUPS_H

/* Set before loading. */
const volatile bool by_cgroup;

/* Raised by user space after each change of the list. */
__u32 cgroup_generation;

/* The listed cgroups by their ids. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, CGROUPS_MAX);
	__type(key, u64);
	__type(value, u32); /* the slot */
} listed_cgroups SEC(".maps");

/* What was found for a cgroup, listed or not. */
struct found_cgroup {
	u32 slot;
	u32 generation; /* of the list */
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096); /* with more cgroups at work, some are looked for again */
	__type(key, u64);
	__type(value, struct found_cgroup);
} found_cgroups SEC(".maps");

/* CPUs requested, by slot. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, CGROUP_SLOTS);
	__type(key, u32);
	__type(value, u64);
} cgroup_cells SEC(".maps");

/* The slot of the current task's nearest ancestor that is listed, its own cgroup included. */
static __always_inline u32 find_cgroup(void)
{
	u32 slot = CGROUP_OTHER;

	for (u32 level = 0; level < CGROUP_LEVELS; level++) {
		u64 id = bpf_get_current_ancestor_cgroup_id(level);
		u32 *listed;

		if (!id)
			break;
		listed = bpf_map_lookup_elem(&listed_cgroups, &id);
		if (listed)
			slot = *listed;
	}
	return slot;
}

static __always_inline u32 current_cgroup(void)
{
	u64 id = bpf_get_current_cgroup_id();
	struct found_cgroup *known = bpf_map_lookup_elem(&found_cgroups, &id), found;

	/* Read before the search: a list that changes meanwhile makes the result an old one. */
	found.generation = *(volatile __u32 *)&cgroup_generation;
	if (known && known->generation == found.generation)
		return known->slot;
	found.slot = find_cgroup();
	/* Where there is no room it is found again next time. */
	bpf_map_update_elem(&found_cgroups, &id, &found, BPF_ANY);
	return found.slot;
}

/*
 * Adds to the count of the current task's cgroup. Global, so that it is verified once, not at each
 * call; kernels before 6.8 want an int from such a function.
 */
__noinline int count_for_cgroup(u32 cpus)
{
	u64 *count;
	u32 slot;

	if (!by_cgroup)
		return 0;
	slot = current_cgroup();
	count = bpf_map_lookup_elem(&cgroup_cells, &slot);
	if (count)
		__sync_fetch_and_add(count, cpus);
	return 0;
}

#endif
