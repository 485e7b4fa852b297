/* SPDX-License-Identifier: GPL-2.0-only */
#include "observer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "common/diag.h"
#include "common/stop.h"
#include "names.h"
#include "observer_cgroups.h"
#include "observer_internal.h"
#include "provoke.h"
#include "shootdown.skel.h"
#include "tlbi_report.h"

/* How often a snapshot is tried again when the counts moved while it was read. */
#define SETTLE_TRIES 20

/* The value of the map "cells", for one CPU. */
struct cells_by_cpu {
	uint64_t cell[CELL_COUNT];
};

/* TLBI instructions are counted or not; there, the rest can never be had. */
static int refuse_if_strict_tlbi(const struct tlbi_sites *sites)
{
	for (unsigned int i = 0; i < sites->count; i++) {
		char place[96];

		if (!sites->site[i].why[0])
			continue;
		tlbi_site__format(&sites->site[i], place);
		diag__error("TLBI at %s: %s", place, sites->site[i].why);
		return -ENOTSUP;
	}
	return 0;
}

static int refuse_if_strict(const struct observer *observer)
{
	const char *why;

	if (observer->tlbi)
		return refuse_if_strict_tlbi(tlbi_probes__sites(observer->tlbi));
	if (observer__fallback(observer, &why)) {
		diag__error("%s", why);
		return -ENOTSUP;
	}
	for (int id = 0; id < COUNTER_COUNT; id++) {
		const struct counter_info *info = &counter_infos[id];

		for (unsigned int cell = info->first; cell < info->first + info->count; cell++) {
			if (observer__has_cell(observer, cell, &why) ||
			    observer__cannot_occur(observer, cell) ||
			    observer__is_foreign(observer, cell) ||
			    observer__is_sampled(observer, cell))
				continue;
			diag__error("counter %s: %s", info->name, why);
			return -ENOTSUP;
		}
	}
	return 0;
}

/* An answer of "no such file" is not one of "no such row". */
static void find_kernel_row(struct observer *observer, struct percpu_counts *row)
{
	int err = procfs__interrupts("TLB", row);

	observer->kernel_row = err == 0;
	if (err == -ENOENT && access("/proc/interrupts", R_OK) == 0)
		snprintf(observer->why_no_row, sizeof(observer->why_no_row),
			 "/proc/interrupts has no row TLB");
	else if (err)
		snprintf(observer->why_no_row, sizeof(observer->why_no_row),
			 "/proc/interrupts cannot be read (%s); is /proc mounted?", strerror(-err));
}

/* 0 where it was not asked for, or is not needed; else a negative errno after a message. */
static int open_tlbi(struct observer *observer, enum tlbi_mode mode)
{
	char *why = observer->why_no_tlbi;
	int err;

	snprintf(why, sizeof(observer->why_no_tlbi), "--tlbi=exact was not asked for");
	if (!observer->probes.machine.tlbi) {
		snprintf(why, sizeof(observer->why_no_tlbi), "only arm64 has TLBI instructions");
		err = -ENOTSUP;
	} else if (mode == TLBI_DEFAULT || mode == TLBI_OFF) {
		return 0;
	} else {
		err = tlbi_probes__open(&observer->tlbi, why, sizeof(observer->why_no_tlbi));
	}
	if (!err || mode != TLBI_EXACT)
		return 0;
	diag__error("count TLBI instructions: %s", why);
	return -ENOTSUP;
}

int observer__open(struct observer **out, const struct observer_options *options)
{
	struct observer *observer = calloc(1, sizeof(*observer));
	struct percpu_counts *row = malloc(sizeof(*row));
	int err = -ENOMEM;

	*out = NULL;
	if (!observer || !row)
		goto out;
	err = probes__attach(&observer->probes, options);
	if (err)
		goto out;
	find_kernel_row(observer, row);
	err = open_tlbi(observer, options->tlbi);
	if (err)
		goto out;
	if (!observer->probes.refused) {
		observer->buffer = calloc(cpus__count(&observer->probes.machine.possible_cpus),
					  sizeof(*observer->buffer));
		if (!observer->buffer) {
			err = -ENOMEM;
			goto out;
		}
		if (!observer->probes.machine.addresses_known)
			provoke__shootdown();
	}
	if (options->strict)
		err = refuse_if_strict(observer);
out:
	free(row);
	if (err) {
		if (err == -ENOMEM)
			diag__fail(ENOMEM, "start the observer");
		observer__close(observer);
		return err;
	}
	*out = observer;
	return 0;
}

void observer__close(struct observer *observer)
{
	if (!observer)
		return;
	tlbi_probes__close(observer->tlbi);
	probes__detach(&observer->probes);
	free(observer->buffer);
	free(observer);
}

/* Snapshots. */

/*
 * The functions that flush kernel mappings run on every CPU, the caller's too, and cannot tell
 * which one they are on: each flush accounts for one run that was no cross-CPU call.
 */
static void derive_handled_kernel(uint64_t *cell)
{
	uint64_t own = 0;

	for (int path = PATH_KERNEL_RANGE; path <= PATH_ALL; path++)
		for (int reach = REACH_LOCAL; reach <= REACH_IPI; reach++)
			own += cell[CELL_flushes + path * REACH_COUNT + reach];
	/* A flush that has just begun is counted before its first run. */
	cell[CELL_handled + HANDLED_KERNEL] =
		cell[CELL_kernel_runs] > own ? cell[CELL_kernel_runs] - own : 0;
}

static int read_cells(struct observer *observer, struct snapshot *out)
{
	uint32_t zero = 0;
	int fd, err, index = 0;

	if (observer->probes.refused)
		return 0;
	fd = bpf_map__fd(observer->probes.bpf->maps.cells);
	err = bpf_map_lookup_elem(fd, &zero, observer->buffer);
	if (err)
		return diag__fail(-err, "read the counters from the BPF map");
	memset(out->cell, 0, sizeof(out->cell));
	/* One value per possible CPU, in the order of their ids, without a place for a hole. */
	cpus__for_each (cpu, &observer->probes.machine.possible_cpus) {
		const uint64_t *own = observer->buffer[index++].cell;

		for (int i = 0; i < CELL_COUNT; i++)
			out->cell[i] += own[i];
		out->handled_by_cpu[cpu] =
			own[CELL_handled + HANDLED_MM_RANGE] + own[CELL_handled + HANDLED_BATCH];
	}
	derive_handled_kernel(out->cell);
	return 0;
}

static uint64_t handled_of(const struct snapshot *snapshot)
{
	return snapshot->cell[CELL_handled + HANDLED_MM_RANGE] +
	       snapshot->cell[CELL_handled + HANDLED_BATCH];
}

/* What the counts by cgroup add up to. */
static uint64_t requested_of(const struct snapshot *snapshot)
{
	uint64_t sum = 0;

	for (int path = 0; path < PATH_COUNT; path++)
		sum += snapshot->cell[CELL_requested_cpus + path];
	return sum;
}

/*
 * Whether a CPU is in the middle of a flush that we have counted and the kernel perhaps not yet.
 * Without the probe at the end of the handler that is not known, and taken for no.
 */
static int read_in_handler(struct observer *observer, bool *in)
{
	uint64_t *by_cpu = (uint64_t *)observer->buffer;
	uint32_t zero = 0;
	int err;

	*in = false;
	if (!observer->probes.probe[PROBE_FUNC_EXIT].method)
		return 0;
	err = bpf_map_lookup_elem(bpf_map__fd(observer->probes.bpf->maps.in_handler), &zero,
				  by_cpu);
	if (err)
		return diag__fail(-err, "read the state of the handlers from the BPF map");
	for (unsigned int i = 0; i < cpus__count(&observer->probes.machine.possible_cpus); i++)
		*in |= by_cpu[i] != 0;
	return 0;
}

static int read_tlbi(struct observer *observer, struct snapshot *out)
{
	int err;

	if (!observer->tlbi)
		return 0;
	err = tlbi_probes__read(observer->tlbi, out->tlbi);
	if (err)
		return diag__fail(-err, "read the counts of TLBI instructions from the BPF map");
	out->missed_known = tlbi_probes__missed(observer->tlbi, &out->missed);
	return 0;
}

/*
 * The kernel's row and our cells cannot be read at one instant. They are read in turn until neither
 * moved in between and no CPU is between the two; on a machine that never stands still, settled
 * stays false.
 */
int observer__snapshot(struct observer *observer, struct snapshot *out)
{
	uint64_t before, requested;
	bool in_handler;
	int err = 0;

	out->settled = false;
	out->kernel_seen = observer->kernel_row;
	for (int try = 0; try < SETTLE_TRIES && !out->settled; try++) {
		err = read_cells(observer, out);
		if (err)
			return err;
		before = handled_of(out);
		requested = requested_of(out);
		err = observer_cgroups__read(observer, out);
		if (!err)
			err = read_in_handler(observer, &in_handler);
		if (err)
			return err;
		if (observer->kernel_row) {
			err = procfs__interrupts("TLB", &out->kernel);
			if (err)
				return diag__fail(-err, "read row TLB of /proc/interrupts");
		}
		err = read_cells(observer, out);
		if (err)
			return err;
		out->settled = !in_handler && before == handled_of(out) &&
			       (!observer->cgroups || requested == requested_of(out));
	}
	out->vm_seen =
		procfs__vmstat("nr_tlb_remote_flush", &out->vm_remote_flush) == 0 &&
		procfs__vmstat("nr_tlb_remote_flush_received", &out->vm_remote_received) == 0;
	out->missed = probes__missed(&observer->probes);
	out->missed_known = true;
	err = read_tlbi(observer, out);
	if (err)
		return err;
	out->time_ns = stop__now_ns();
	err = cpus__read_file("/sys/devices/system/cpu/online", &out->online);
	if (err)
		return diag__fail(-err, "read /sys/devices/system/cpu/online");
	return 0;
}

/* What can be had. */

bool observer__has_cell(const struct observer *observer, unsigned int cell, const char **why)
{
	const char *gone = observer->probes.gone[cell];

	if (why)
		*why = gone;
	return !gone;
}

bool observer__has(const struct observer *observer, enum counter counter, const char **why)
{
	const struct counter_info *info = &counter_infos[counter];
	const char *first_why = NULL, *cell_why;

	for (unsigned int i = 0; i < info->count; i++) {
		if (observer__has_cell(observer, info->first + i, &cell_why)) {
			if (why)
				*why = NULL;
			return true;
		}
		if (!first_why)
			first_why = cell_why;
	}
	if (why)
		*why = first_why;
	return false;
}

bool observer__cannot_occur(const struct observer *observer, unsigned int cell)
{
	return observer->probes.gone[cell] == cannot_occur;
}

bool observer__is_foreign(const struct observer *observer, unsigned int cell)
{
	return observer->probes.gone[cell] == no_batch_filter;
}

bool observer__is_sampled(const struct observer *observer, unsigned int cell)
{
	return observer->probes.gone[cell] == sampled_instead;
}

const char *observer__why_no_row(const struct observer *observer)
{
	return observer->why_no_row;
}

bool observer__fallback(const struct observer *observer, const char **why)
{
	if (why)
		*why = observer->probes.refused ? observer->probes.why_refused : NULL;
	return observer->probes.refused;
}

bool observer__never_interrupts(const struct observer *observer)
{
	return observer->probes.machine.tlbi;
}

const struct tlbi_sites *observer__tlbi(const struct observer *observer, const char **why)
{
	if (why)
		*why = observer->tlbi ? NULL : observer->why_no_tlbi;
	return observer->tlbi ? tlbi_probes__sites(observer->tlbi) : NULL;
}
