/* SPDX-License-Identifier: GPL-2.0-only */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/diag.h"
#include "common/procfs.h"
#include "swapout.h"
#include "workload.h"

/* Swap slots are handed out to CPUs by whole clusters, so that some stay unused. */
#define SPARE_SWAP (16ull << 20)

int swapout__create(struct journal *journal, uint64_t pages, struct swapout *out)
{
	uint64_t bytes = pages * sysconf(_SC_PAGESIZE);

	return zram__create(journal, bytes + bytes / 4 + SPARE_SWAP, &out->zram);
}

static int read_pswpout(uint64_t *out)
{
	int err = procfs__vmstat("pswpout", out);

	return err ? diag__fail(-err, "read pswpout in /proc/vmstat") : 0;
}

int swapout__start(struct swapout *swapout)
{
	return read_pswpout(&swapout->pswpout);
}

static int compare(const struct swapout *swapout, struct workload_run *run, uint64_t pages,
		   uint64_t process)
{
	uint64_t pswpout, used, page = sysconf(_SC_PAGESIZE);
	int err = read_pswpout(&pswpout);

	if (err)
		return err;
	pswpout -= swapout->pswpout;
	json_object_set_new(run->values, "pages_swapped_out", json_integer(pswpout));
	if (process != pages)
		workload_run__note(run,
				   "%llu pages of the worker that are not the workload's are in "
				   "swap too",
				   (unsigned long long)(process - pages));
	if (pswpout != process)
		workload_run__note(
			run,
			"the kernel wrote %llu pages to swap, the worker has %llu there: "
			"the rest are other processes' pages",
			(unsigned long long)pswpout, (unsigned long long)process);
	if (zram__used(&swapout->zram, &used) == 0 && used / page < pages)
		workload_run__note(run,
				   "only %llu pages are in %s: the others went to another swap "
				   "device of the same priority",
				   (unsigned long long)(used / page), swapout->zram.device);
	return 0;
}

static void explain_no_work(struct workload_run *run)
{
	run->no_work = true;
	snprintf(run->reason, sizeof(run->reason),
		 "no page went to swap, although the kernel reported no error: is swap limited "
		 "(memory.swap.max of an outer cgroup), or was another swap device preferred?");
}

static json_t *expected_ipis(const struct workload_run *run)
{
	if (run->options->thp)
		return json_string("huge pages may leave by one flush for many base pages");
	return json_integer(run->pages_done * (cpus__count(&run->options->cpus) - 1));
}

int swapout__verify(const struct swapout *swapout, struct workload_run *run, uint64_t pages,
		    uint64_t process)
{
	int err = compare(swapout, run, pages, process);

	if (err)
		return err;
	run->pages_done = pages;
	if (!pages)
		explain_no_work(run);
	json_object_set_new(run->values, "expected_ipis", expected_ipis(run));
	return 0;
}
