/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "common/diag.h"
#include "quiet.h"
#include "settings.h"
#include "workload.h"

#define NUMA_BALANCING "/proc/sys/kernel/numa_balancing"
#define THP	       "/sys/kernel/mm/transparent_hugepage/enabled"
#define ZSWAP	       "/sys/module/zswap/parameters/enabled"

/* Sets @path to @value if it is there; where it is not, it cannot disturb either. */
static int set_if_there(struct journal *journal, const char *path, const char *value)
{
	return access(path, F_OK) ? 0 : settings__set(journal, path, value);
}

int quiet__machine(struct journal *journal, const struct workload_options *options)
{
	char thp[64] = "";
	int err;

	/* It would take the pages before they reach the device, and pswpout would not see them. */
	err = set_if_there(journal, ZSWAP, "N");
	/* It unmaps pages to see who uses them; that flush trims the mm_cpumask. */
	if (!err)
		err = set_if_there(journal, NUMA_BALANCING, "0");
	if (!err && options->thp && settings__read(THP, thp, sizeof(thp)) == 0 &&
	    strcmp(thp, "never") == 0)
		err = settings__set(journal, THP, "madvise");
	return err;
}

int quiet__process(const struct workload_options *options)
{
	if (!options->thp && prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0))
		return diag__fail(errno, "turn transparent huge pages off for the worker");
	return 0;
}
