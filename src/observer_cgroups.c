/* SPDX-License-Identifier: GPL-2.0-only */
/* Requested CPUs by cgroup: the list for bpf/cgroups.h, and its counts. */
#include "observer_cgroups.h"

#include <errno.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "cgroup_list.h"
#include "common/diag.h"
#include "observer_internal.h"
#include "shootdown.skel.h"

/* Puts the cgroup of one slot into the map, in the place of the one that had it; 0: of none. */
static int set_slot(struct observer *observer, int map, uint32_t slot, uint64_t id)
{
	uint64_t *known = &observer->cgroup_id[slot];
	int err = 0;

	if (*known && bpf_map_delete_elem(map, known) && errno != ENOENT)
		err = -errno;
	*known = 0;
	if (!err && id && bpf_map_update_elem(map, &id, &slot, BPF_ANY))
		err = -errno;
	if (err)
		return diag__fail(-err, "write the list of cgroups to the BPF map");
	*known = id;
	return 0;
}

int observer__set_cgroups(struct observer *observer, const struct cgroup_list *list)
{
	struct shootdown_bpf *bpf = observer->probes.bpf;
	bool changed = false;
	int err = 0;

	if (!observer__has(observer, COUNTER_requested_cpus, NULL))
		return 0;
	observer->cgroups = list;
	for (uint32_t i = 0; i < list->count && !err; i++) {
		if (list->cgroup[i].id == observer->cgroup_id[i + 1])
			continue;
		err = set_slot(observer, bpf_map__fd(bpf->maps.listed_cgroups), i + 1,
			       list->cgroup[i].id);
		changed = true;
	}
	/* Last, so that nothing that was found while the list changed is believed afterwards. */
	if (changed)
		__atomic_add_fetch(&bpf->bss->cgroup_generation, 1, __ATOMIC_RELEASE);
	return err;
}

const struct cgroup_list *observer__cgroups(const struct observer *observer)
{
	return observer->cgroups;
}

int observer_cgroups__read(struct observer *observer, struct snapshot *out)
{
	uint64_t *by_cpu = (uint64_t *)observer->buffer;
	unsigned int cpus = cpus__count(&observer->probes.machine.possible_cpus);

	if (!observer->cgroups)
		return 0;
	for (uint32_t slot = 0; slot <= observer->cgroups->count; slot++) {
		if (bpf_map_lookup_elem(bpf_map__fd(observer->probes.bpf->maps.cgroup_cells), &slot,
					by_cpu))
			return diag__fail(errno, "read the counts of cgroups from the BPF map");
		out->cgroup[slot] = 0;
		for (unsigned int i = 0; i < cpus; i++)
			out->cgroup[slot] += by_cpu[i];
	}
	return 0;
}
