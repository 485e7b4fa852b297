/* SPDX-License-Identifier: GPL-2.0-only */
/* Which cells count, given the probes that are attached: a table of rules. */
#include "support.h"

#include <string.h>

#define NEED(id) (1u << PROBE_##id)

/* What else than probes a cell can need. */
enum condition {
	ALWAYS,
	WITH_ADDRESSES, /* function addresses, to tell whose cross-CPU call it is */
	WITH_HANDLER,	/* the address of flush_tlb_func(), known or learnt by its trampoline */
	WITHOUT_CSD,	/* no csd tracepoint: the kernel's decisions are counted as asked */
	WITH_TLBSTATE,
	WITH_BROADCAST,
	WITH_BATCH_FILTER,
	BEFORE_BATCH_FILTER, /* where the kernel has one, FILTER_NEEDS come on top */
	WHEN_EXACT,
	WHEN_SAMPLED, /* a cell of the estimate: otherwise it is not needed */
};

/*
 * One way to get @count cells from @first on. Cells that no rule covers cannot occur (a batch that
 * is broadcast on a CPU without the instruction, a kernel range that leaves out lazy CPUs).
 */
struct rule {
	unsigned int first, count;
	unsigned int needs;
	enum condition condition;
};

#define PATH_CELL(counter, path) CELL_##counter + PATH_##path, 1
#define REACH_CELL(counter, path, reach) \
	CELL_##counter + PATH_##path *REACH_COUNT + REACH_##reach, 1
#define FILTER_CELL(path, reason) \
	CELL_filtered_cpus + PATH_##path *FILTER_COUNT + FILTER_##reason, 1
#define WHOLE(counter) CELL_##counter, CELL_##counter##_last - CELL_##counter + 1
/* A local flush is told from the local part of a cross-CPU one by the latter's start and end. */
#define LOCAL_NEEDS  (NEED(FUNC) | NEED(NATIVE) | NEED(NATIVE_EXIT))
#define KERNEL_NEEDS (NEED(KERNEL_RANGE) | NEED(ALL))
/* A batch ends sent, local, or without a flush. */
#define FILTER_NEEDS (NEED(BATCH) | NEED(BATCH_EXIT) | NEED(NATIVE) | NEED(FUNC))

/* How far each path goes, and of what; three counters with the same cells. */
#define REACH_RULES(counter)                                                                  \
	{ REACH_CELL(counter, MM_RANGE, LOCAL), LOCAL_NEEDS, ALWAYS },                        \
		{ REACH_CELL(counter, BATCH, LOCAL), LOCAL_NEEDS, ALWAYS },                   \
		{ REACH_CELL(counter, MM_RANGE, IPI), NEED(NATIVE), ALWAYS },                 \
		{ REACH_CELL(counter, BATCH, IPI), NEED(NATIVE), ALWAYS },                    \
		{ REACH_CELL(counter, KERNEL_RANGE, LOCAL), NEED(KERNEL_RANGE), ALWAYS },     \
		{ REACH_CELL(counter, KERNEL_RANGE, IPI), NEED(KERNEL_RANGE), ALWAYS },       \
		{ REACH_CELL(counter, ALL, LOCAL), NEED(ALL), ALWAYS },                       \
		{ REACH_CELL(counter, ALL, IPI), NEED(ALL), ALWAYS },                         \
		{ REACH_CELL(counter, MM_RANGE, BROADCAST), NEED(MM_RANGE), WITH_BROADCAST }, \
		{ REACH_CELL(counter, BATCH, BROADCAST), NEED(BATCH), WITH_BROADCAST },       \
		{ REACH_CELL(counter, KERNEL_RANGE, BROADCAST), NEED(KERNEL_RANGE),           \
		  WITH_BROADCAST },                                                           \
	{                                                                                     \
		REACH_CELL(counter, ALL, BROADCAST), NEED(ALL), WITH_BROADCAST                \
	}

/* The mask's counters: two paths through the flush function, two through on_each_cpu(). */
#define MASK_RULES(counter)                                                               \
	{ PATH_CELL(counter, MM_RANGE), NEED(NATIVE), ALWAYS },                           \
		{ PATH_CELL(counter, BATCH), NEED(NATIVE), BEFORE_BATCH_FILTER },         \
		{ PATH_CELL(counter, KERNEL_RANGE), NEED(KERNEL_RANGE), WITH_ADDRESSES }, \
	{                                                                                 \
		PATH_CELL(counter, ALL), NEED(ALL), WITH_ADDRESSES                        \
	}

/* CPUs asked per shootdown: the histogram and its sum. */
#define TARGET_RULES(counter)                                                                  \
	{ WHOLE(counter), NEED(NATIVE) | NEED(NATIVE_EXIT) | NEED(CSD_QUEUE) | NEED(FUNC),     \
	  WITH_HANDLER },                                                                      \
	{                                                                                      \
		WHOLE(counter), NEED(NATIVE) | NEED(NATIVE_EXIT) | NEED(DECISION), WITHOUT_CSD \
	}

/* Several rules for one cell: any of them will do. */
static const struct rule rules[] = {
	{ PATH_CELL(calls, MM_RANGE), NEED(MM_RANGE), ALWAYS },
	{ PATH_CELL(calls, BATCH), NEED(BATCH), ALWAYS },
	{ PATH_CELL(calls, KERNEL_RANGE), NEED(KERNEL_RANGE), ALWAYS },
	{ PATH_CELL(calls, ALL), NEED(ALL), ALWAYS },
	REACH_RULES(flushes),
	REACH_RULES(full_flushes),
	REACH_RULES(flushed_pages),
	MASK_RULES(requested_cpus),
	MASK_RULES(self_cpus),
	{ FILTER_CELL(MM_RANGE, LAZY), NEED(DECISION), WHEN_EXACT },
	{ FILTER_CELL(MM_RANGE, NOT_LOADED), NEED(DECISION), WHEN_EXACT },
	{ FILTER_CELL(MM_RANGE, PREEMPTED_VCPU), NEED(PARAVIRT) | NEED(NATIVE), ALWAYS },
	{ FILTER_CELL(BATCH, LAZY), NEED(DECISION), WHEN_EXACT },
	{ FILTER_CELL(BATCH, PREEMPTED_VCPU), NEED(PARAVIRT) | NEED(NATIVE), ALWAYS },
	{ FILTER_CELL(BATCH, BATCH_FILTER), FILTER_NEEDS, WITH_BATCH_FILTER },
	{ WHOLE(empty_batches), FILTER_NEEDS, ALWAYS },
	{ WHOLE(batch_mms), NEED(BATCH), WITH_BATCH_FILTER },
	{ PATH_CELL(asked_cpus, MM_RANGE), NEED(CSD_QUEUE) | NEED(FUNC), WITH_HANDLER },
	{ PATH_CELL(asked_cpus, MM_RANGE), NEED(DECISION) | NEED(NATIVE), WITHOUT_CSD },
	{ PATH_CELL(asked_cpus, BATCH), NEED(CSD_QUEUE) | NEED(FUNC), WITH_HANDLER },
	{ PATH_CELL(asked_cpus, BATCH), NEED(DECISION) | NEED(NATIVE), WITHOUT_CSD },
	{ PATH_CELL(asked_cpus, KERNEL_RANGE),
	  NEED(CSD_QUEUE) | NEED(KERNEL_RANGE) | NEED(DO_ALL) | NEED(DO_RANGE), WITH_ADDRESSES },
	{ PATH_CELL(asked_cpus, ALL), NEED(CSD_QUEUE) | NEED(ALL) | NEED(DO_ALL) | NEED(DO_RANGE),
	  WITH_ADDRESSES },
	{ WHOLE(ipis_sent),
	  NEED(CSD_QUEUE) | NEED(IPI_MASK) | NEED(IPI_CPU) | NEED(FUNC) | NEED(DO_ALL) |
		  NEED(DO_RANGE),
	  WITH_HANDLER },
	{ WHOLE(kernel_runs), NEED(DO_ALL) | NEED(DO_RANGE), ALWAYS },
	{ CELL_handled + HANDLED_MM_RANGE, 2, NEED(FUNC), ALWAYS },
	{ CELL_handled + HANDLED_KERNEL, 1, NEED(DO_ALL) | NEED(DO_RANGE) | KERNEL_NEEDS, ALWAYS },
	{ WHOLE(useful), NEED(FUNC) | NEED(FUNC_EXIT), WITH_TLBSTATE },
	{ CELL_unneeded, UNNEEDED_CURRENT, NEED(FUNC), WITH_TLBSTATE },
	{ CELL_unneeded + UNNEEDED_CURRENT, 1, NEED(FUNC) | NEED(FUNC_EXIT), WITH_TLBSTATE },
	{ CELL_sampled + PATH_MM_RANGE * SAMPLE_COUNT, 2 * SAMPLE_COUNT, NEED(NATIVE),
	  WHEN_SAMPLED },
	{ CELL_lost + LOST_MOVED, 1, NEED(NATIVE), ALWAYS },
	{ CELL_lost + LOST_DURATION, 1, NEED(NATIVE) | NEED(NATIVE_EXIT), ALWAYS },
	{ CELL_lost + LOST_BATCH, 1, NEED(BATCH) | NEED(BATCH_EXIT), ALWAYS },
	{ WHOLE(multi_calls), NEED(MULTI), ALWAYS },
	{ WHOLE(duration), NEED(NATIVE) | NEED(NATIVE_EXIT), ALWAYS },
	{ WHOLE(duration_sum), NEED(NATIVE) | NEED(NATIVE_EXIT), ALWAYS },
	TARGET_RULES(targets),
	TARGET_RULES(targets_sum),
};

const char cannot_occur[] = "cannot occur on this machine";
const char no_batch_filter[] = "this kernel does not filter batches";
const char sampled_instead[] = "estimated from a sample (--classify=exact counts)";

static const char hidden[] = "kernel addresses are hidden (kernel.kptr_restrict=2)";

static const char *condition_unmet(const struct probes *probes, enum condition condition)
{
	switch (condition) {
	case WITH_ADDRESSES:
		return probes->machine.addresses_known ? NULL : hidden;
	case WITH_HANDLER:
		if (probes->machine.addresses_known)
			return NULL;
		return probes->probe[PROBE_FUNC].method &&
				       strcmp(probes->probe[PROBE_FUNC].method, "fentry") == 0
			       ? NULL
			       : hidden;
	case WITHOUT_CSD:
		return probes->probe[PROBE_CSD_QUEUE].method
			       ? "flush_tlb_func cannot be told from other cross-CPU calls"
			       : NULL;
	case WITH_TLBSTATE:
		return probes->machine.tlbstate_known
			       ? NULL
			       : "the kernel's BTF does not name cpu_tlbstate";
	case WITH_BROADCAST:
		return probes->machine.invlpgb ? NULL : cannot_occur;
	case WITH_BATCH_FILTER:
		return probes->machine.filters_batches ? NULL : no_batch_filter;
	case WHEN_EXACT:
		if (probes->classify == CLASSIFY_EXACT)
			return NULL;
		return probes->classify == CLASSIFY_SAMPLED ? sampled_instead
							    : "classification is off";
	case WHEN_SAMPLED:
		return probes->classify == CLASSIFY_SAMPLED ? NULL : cannot_occur;
	default:
		return NULL;
	}
}

/* Why a rule does not hold here, or NULL if it does. */
static const char *rule_unmet(const struct probes *probes, const struct rule *rule)
{
	const char *unmet = condition_unmet(probes, rule->condition);
	unsigned int needs = rule->needs;

	if (rule->condition == BEFORE_BATCH_FILTER && probes->machine.filters_batches)
		needs |= FILTER_NEEDS;
	for (int id = 0; id < PROBE_COUNT && !unmet; id++)
		if ((needs & 1u << id) && !probes->probe[id].method)
			unmet = probes->probe[id].why;
	return unmet;
}

void support__decide(struct probes *probes)
{
	bool decided[CELL_COUNT] = { false };

	for (int cell = 0; cell < CELL_COUNT; cell++)
		probes->gone[cell] = probes->refused ? probes->why_refused : cannot_occur;
	if (probes->refused)
		return;
	for (size_t i = 0; i < sizeof(rules) / sizeof(*rules); i++) {
		const char *unmet = rule_unmet(probes, &rules[i]);

		for (unsigned int k = 0; k < rules[i].count; k++) {
			unsigned int cell = rules[i].first + k;

			/* The first way's reason is told, unless a later way is open. */
			if (!decided[cell] || !unmet)
				probes->gone[cell] = unmet;
			decided[cell] = true;
		}
	}
}

const char *support__why_not_exact(const struct probes *probes)
{
	return condition_unmet(probes, WHEN_EXACT);
}
