/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The x86 shootdown funnel: requested CPUs, minus self, minus those that the kernel's batch filter
 * took out, minus preempted vCPUs, minus lazy, minus not loaded = asked; of these raised; then
 * handled = useful + unneeded.
 *
 * Each stage is counted where it happens, by a probe of its own, so that their sums check each
 * other. Kernel facts and the versions they were read in: 6.1, 6.12, 7.3 (arch/x86/mm/tlb.c,
 * kernel/smp.c).
 *
 * Which of the programs are loaded is decided by src/probes.c.
 */
#include <linux/bpf.h>

#include "kernel.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "counters.h"
#include "cgroups.h"

char LICENSE[] SEC("license") = "GPL";

/* Set before loading. */
const volatile __u32 mask_words = 1;	  /* 64-bit words in a cpumask: possible CPUs, rounded up */
const volatile __u64 addr_online_mask;	  /* __cpu_online_mask; 0: not known */
const volatile __u32 online_at_start = 1; /* CPUs; used where the mask is not known */
const volatile __u64 single_page_ceiling = 33; /* above it a kernel range is flushed whole */
const volatile bool has_invlpgb;	       /* the CPU can broadcast flushes */
const volatile bool has_tlbstate;	       /* BTF names the per-CPU variables below */
const volatile bool filters_batches;	       /* the kernel takes CPUs out of a batch's mask */
const volatile bool asked_by_decision;	  /* no csd tracepoint: should_flush_tlb() is the source */
const volatile bool filtered_by_decision; /* exact classification */
const volatile __u32 sample_one_in;	  /* 0: no sampling; 1: every flush */

/* Function addresses: from kallsyms, or learnt from the first call where these are hidden. */
__u64 addr_flush_tlb_func;
__u64 addr_do_flush_tlb_all;
__u64 addr_do_kernel_range_flush;

extern const struct tlb_state cpu_tlbstate __ksym __weak;
extern const struct tlb_state_shared cpu_tlbstate_shared __ksym __weak;

/* Cells. */

struct cells {
	u64 cell[CELL_COUNT];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct cells);
} cells SEC(".maps");

/*
 * Adds to a cell of this CPU. Atomic since an interrupt on this CPU may add to the same cell
 * between the load and the store of a plain increment.
 */
static __always_inline void add(u32 cell, u64 value)
{
	u32 zero = 0;
	struct cells *own = bpf_map_lookup_elem(&cells, &zero);

	if (own && cell < CELL_COUNT)
		__sync_fetch_and_add(&own->cell[cell], value);
}

/* floor(log2(v)) + 1, 0 for 0: the bucket of a value. */
static __always_inline u32 bucket_of(u64 v)
{
	u32 bucket = 0;

	if (v >> 32) {
		v >>= 32;
		bucket += 32;
	}
	if (v >> 16) {
		v >>= 16;
		bucket += 16;
	}
	if (v >> 8) {
		v >>= 8;
		bucket += 8;
	}
	if (v >> 4) {
		v >>= 4;
		bucket += 4;
	}
	if (v >> 2) {
		v >>= 2;
		bucket += 2;
	}
	if (v >> 1) {
		v >>= 1;
		bucket += 1;
	}
	bucket += v;
	return bucket < HIST_BUCKETS ? bucket : HIST_BUCKETS - 1;
}

/* Masks. */

static __always_inline u32 weight(u64 word)
{
	word = word - ((word >> 1) & 0x5555555555555555ULL);
	word = (word & 0x3333333333333333ULL) + ((word >> 2) & 0x3333333333333333ULL);
	word = (word + (word >> 4)) & 0x0f0f0f0f0f0f0f0fULL;
	return (word * 0x0101010101010101ULL) >> 56;
}

/* Word @i of a cpumask, without CPUs that are offline where the online mask can be read. */
static __always_inline u64 mask_word(const void *mask, u32 i)
{
	u64 word = 0, online = ~0ULL;

	bpf_probe_read_kernel(&word, sizeof(word), mask + i * sizeof(word));
	if (addr_online_mask)
		bpf_probe_read_kernel(&online, sizeof(online),
				      (const void *)addr_online_mask + i * sizeof(word));
	return word & online;
}

static __always_inline u32 mask_weight(const void *mask)
{
	u32 sum = 0;

	for (u32 i = 0; i < mask_words && i < 128; i++)
		sum += weight(mask_word(mask, i));
	return sum;
}

static __always_inline bool mask_has(const void *mask, u32 cpu)
{
	return mask_word(mask, cpu / 64) >> (cpu % 64) & 1;
}

/* Flushes in flight. */

/*
 * One slot per initiating CPU id (flush_tlb_info::initiating_cpu), so that it is found again even
 * when the initiator moves, which 7.3 allows. Two flushes under one id overwrite each other: the
 * first one then finds a foreign slot at its end, and is counted in lost[LOST_DURATION].
 */
struct slot {
	u64 task;
	u64 info;
	u64 start_ns;
	u32 requested;
	u32 asked;
	u32 paravirt; /* opened by the paravirt function, the native one is still to come */
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* possible CPUs, set before loading */
	__type(key, u32);
	__type(value, struct slot);
} slots SEC(".maps");

/* What is read of a struct flush_tlb_info, once per event, whatever kind of probe sees it. */
struct request {
	u64 info; /* its address, which names the flush while it is in flight */
	u64 mm;	  /* 0: a batch, which can span several address spaces */
	u32 initiating_cpu;
};

static __always_inline void read_request(struct request *request, const struct flush_tlb_info *info)
{
	request->info = (u64)info;
	request->mm = (u64)BPF_CORE_READ(info, mm);
	request->initiating_cpu = BPF_CORE_READ(info, initiating_cpu);
}

static __always_inline struct slot *slot_of(const struct request *request)
{
	u32 cpu = request->initiating_cpu;

	return bpf_map_lookup_elem(&slots, &cpu);
}

static __always_inline bool slot_holds(const struct slot *slot, const struct request *request)
{
	return slot && slot->info == request->info;
}

static __always_inline enum flush_path path_of(const struct request *request)
{
	return request->mm ? PATH_MM_RANGE : PATH_BATCH;
}

/* Counts one flush of a path and how much it covers. */
static __always_inline void count_flush(enum flush_path path, enum flush_reach reach, bool full,
					u64 pages)
{
	u32 index = path * REACH_COUNT + reach;

	add(CELL_flushes + index, 1);
	if (full)
		add(CELL_full_flushes + index, 1);
	else
		add(CELL_flushed_pages + index, pages);
}

static __always_inline void count_request(const struct request *request, enum flush_reach reach)
{
	const struct flush_tlb_info *info = (void *)request->info;
	u64 start = BPF_CORE_READ(info, start), end = BPF_CORE_READ(info, end);

	count_flush(path_of(request), reach, end == TLB_FLUSH_ALL, (end - start) >> 12);
}

/* Batches. */

/*
 * A batch from its call to its end, by task: the task can move to another CPU on the way. A kernel
 * that filters takes CPUs out of the mask in between, so what was requested is noted at the call,
 * and counted when the flush shows how many are left, or at the end if there was none to send.
 */
struct batch {
	u32 cpu;       /* of the call */
	u32 requested; /* CPUs in the mask; 0 where the kernel does not filter */
	bool self;     /* the calling CPU is one of them */
	bool sent;     /* handed to other CPUs */
	bool local;    /* flushed on the calling CPU alone */
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024); /* tasks between call and end, running or preempted there */
	__type(key, u64);
	__type(value, struct batch);
} batches SEC(".maps");

static __always_inline struct batch *current_batch(void)
{
	u64 task = bpf_get_current_task();

	return bpf_map_lookup_elem(&batches, &task);
}

static __always_inline void count_list(u32 mms)
{
	if (mms)
		add(CELL_batch_mms + (mms > MMS_LISTED ? MMS_OVERFLOW : mms - 1), 1);
}

static __always_inline void open_batch(struct arch_tlbflush_unmap_batch *pending)
{
	struct batch batch = { .cpu = bpf_get_smp_processor_id() };
	u64 task = bpf_get_current_task();

	if (filters_batches) {
		const void *mask = &pending->cpumask;

		batch.requested = mask_weight(mask);
		batch.self = mask_has(mask, batch.cpu);
		count_list(BPF_CORE_READ(pending, nr_mms));
	}
	if (bpf_map_update_elem(&batches, &task, &batch, BPF_NOEXIST)) {
		/* The end of this task's last one was missed, or there is no room. */
		add(CELL_lost + LOST_BATCH, 1);
		bpf_map_update_elem(&batches, &task, &batch, BPF_ANY);
	}
}

static __always_inline void count_requested(enum flush_path path, u32 requested, u32 self)
{
	add(CELL_requested_cpus + path, requested);
	add(CELL_self_cpus + path, self);
	if (by_cgroup)
		count_for_cgroup(requested);
}

static __always_inline void count_batch(u32 requested, u32 self, u32 filtered)
{
	count_requested(PATH_BATCH, requested, self);
	add(CELL_filtered_cpus + PATH_BATCH * FILTER_COUNT + FILTER_BATCH_FILTER, filtered);
}

/* @left CPUs of a batch's mask are to be flushed, @self of them the one this runs on. */
static __always_inline void send_batch(u32 left, u32 self)
{
	struct batch *batch = current_batch();
	u32 own, others;

	if (batch)
		batch->sent = true;
	if (!batch || !filters_batches) {
		count_requested(PATH_BATCH, left, self);
		return;
	}
	/* The calling CPU, if it is still the same, is self also when the filter took it out. */
	own = batch->cpu == bpf_get_smp_processor_id() ? batch->self : self;
	others = batch->requested - own;
	/* More are left than there were only if a CPU came online meanwhile. */
	if (others >= left - self)
		count_batch(batch->requested, own, others - (left - self));
	else
		count_requested(PATH_BATCH, left, self);
}

/*
 * The end of a batch that was not handed to other CPUs: if it named some, they were filtered out. A
 * mask that names nobody else counts as little as it does without a filter.
 */
static __always_inline void on_arch_tlbbatch_flush_exit(void)
{
	u64 task = bpf_get_current_task();
	struct batch *batch = bpf_map_lookup_elem(&batches, &task);
	u32 own;

	if (!batch)
		return;
	own = batch->self || batch->local;
	if (!batch->sent && batch->requested > own)
		count_batch(batch->requested, own, batch->requested - own);
	if (!batch->sent && !batch->local)
		add(CELL_empty_batches, 1);
	bpf_map_delete_elem(&batches, &task);
}

/* Entry points. */

static __always_inline void on_flush_tlb_mm_range(struct mm_struct *mm, u64 start, u64 end,
						  u32 stride_shift)
{
	add(CELL_calls + PATH_MM_RANGE, 1);
	if (has_invlpgb && bpf_core_field_exists(mm->context.global_asid) &&
	    BPF_CORE_READ(mm, context.global_asid)) {
		bool full = (end - start) >> stride_shift > single_page_ceiling;

		count_flush(PATH_MM_RANGE, REACH_BROADCAST, full, (end - start) >> 12);
	}
}

static __always_inline void on_arch_tlbbatch_flush(struct arch_tlbflush_unmap_batch *batch)
{
	add(CELL_calls + PATH_BATCH, 1);
	if (has_invlpgb && bpf_core_field_exists(batch->unmapped_pages) &&
	    BPF_CORE_READ(batch, unmapped_pages))
		count_flush(PATH_BATCH, REACH_BROADCAST, true, 0);
	else
		open_batch(batch);
}

/*
 * Kernel mappings: on_each_cpu(), so the mask is every online CPU. The task is kept per CPU to tell
 * the two callers of do_flush_tlb_all() apart.
 */
struct kernel_flush {
	u64 task;
	u32 path;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct kernel_flush);
} kernel_flushes SEC(".maps");

static __always_inline void on_kernel_flush(enum flush_path path, bool full, u64 pages)
{
	u32 zero = 0, online;
	struct kernel_flush *kernel = bpf_map_lookup_elem(&kernel_flushes, &zero);

	add(CELL_calls + path, 1);
	if (has_invlpgb) {
		count_flush(path, REACH_BROADCAST, full, pages);
		return;
	}
	if (kernel) {
		kernel->task = bpf_get_current_task();
		kernel->path = path;
	}
	online = addr_online_mask ? mask_weight((const void *)addr_online_mask) : online_at_start;
	count_flush(path, online > 1 ? REACH_IPI : REACH_LOCAL, full, pages);
	if (addr_online_mask)
		count_requested(path, online, 1);
}

static __always_inline void on_flush_tlb_kernel_range(u64 start, u64 end)
{
	u64 pages = (end - start) >> 12;

	on_kernel_flush(PATH_KERNEL_RANGE, end == TLB_FLUSH_ALL || pages > single_page_ceiling,
			pages);
}

static __always_inline void on_flush_tlb_all(void)
{
	on_kernel_flush(PATH_ALL, true, 0);
}

/* Requested. */

static __always_inline void open_slot(struct slot *slot, const struct request *request,
				      u32 requested)
{
	slot->task = bpf_get_current_task();
	slot->info = request->info;
	slot->start_ns = bpf_ktime_get_ns();
	slot->requested = requested;
	slot->asked = 0;
	slot->paravirt = 0;
}

/* A paravirt flush sees the mask before the hypervisor's preempted vCPUs are taken out. */
static __always_inline void on_paravirt_flush_tlb_multi(const void *mask,
							const struct flush_tlb_info *info)
{
	struct request request;
	struct slot *slot;

	read_request(&request, info);
	slot = slot_of(&request);
	if (slot) {
		open_slot(slot, &request, mask_weight(mask));
		slot->paravirt = 1;
	}
}

/* Before the decision: would this CPU of the mask be left out, and why? */
static __always_inline void sample_cpu(u32 cpu, u64 mm, u32 *lazy, u32 *stale)
{
	const struct tlb_state_shared *shared;
	const struct tlb_state *state;
	u64 loaded;

	if (!has_tlbstate)
		return;
	shared = bpf_per_cpu_ptr(&cpu_tlbstate_shared, cpu);
	state = bpf_per_cpu_ptr(&cpu_tlbstate, cpu);
	if (!shared || !state)
		return;
	loaded = (u64)state->loaded_mm;
	if (shared->is_lazy)
		(*lazy)++;
	else if (mm && loaded != LOADED_MM_SWITCHING && loaded != mm)
		(*stale)++;
}

struct sample {
	const void *mask;
	u64 mm, word;
	u32 self, cpus, lazy, stale;
};

static long sample_bit(u32 cpu, void *data)
{
	struct sample *sample = data;

	if (cpu % 64 == 0)
		sample->word = mask_word(sample->mask, cpu / 64);
	if ((sample->word >> (cpu % 64) & 1) && cpu != sample->self) {
		sample->cpus++;
		sample_cpu(cpu, sample->mm, &sample->lazy, &sample->stale);
	}
	return 0;
}

static __always_inline void sample_mask(const void *mask, const struct request *request)
{
	struct sample sample = {
		.mask = mask,
		.mm = request->mm,
		.self = bpf_get_smp_processor_id(),
	};
	u32 base = CELL_sampled + path_of(request) * SAMPLE_COUNT;
	u64 x, y;

	bpf_loop(mask_words * 64, sample_bit, &sample, 0);
	x = sample.lazy;
	y = sample.stale;
	add(base + SAMPLE_FLUSHES, 1);
	add(base + SAMPLE_CPUS, sample.cpus);
	add(base + SAMPLE_LAZY, x);
	add(base + SAMPLE_STALE, y);
	add(base + SAMPLE_LAZY_SQ, x * x);
	add(base + SAMPLE_STALE_SQ, y * y);
	add(base + SAMPLE_LAZY_STALE, x * y);
}

/* The common end of all cross-CPU flushes of user mappings, on bare metal and under KVM. */
static __always_inline void on_native_flush_tlb_multi(const void *mask,
						      const struct flush_tlb_info *info)
{
	u32 cpu = bpf_get_smp_processor_id(), candidates = mask_weight(mask);
	u32 self = mask_has(mask, cpu), requested = candidates;
	struct request request;
	enum flush_path path;
	struct slot *slot;

	read_request(&request, info);
	path = path_of(&request);
	slot = slot_of(&request);
	if (slot && slot->paravirt && slot->task == bpf_get_current_task() &&
	    slot->info == request.info) {
		/* The paravirt function's mask was the one requested. */
		slot->paravirt = 0;
		requested = slot->requested;
		add(CELL_filtered_cpus + path * FILTER_COUNT + FILTER_PREEMPTED_VCPU,
		    requested - candidates);
	} else if (slot) {
		open_slot(slot, &request, candidates);
	}
	if (path == PATH_BATCH)
		send_batch(requested, self);
	else
		count_requested(path, requested, self);
	if (cpu != request.initiating_cpu)
		add(CELL_lost + LOST_MOVED, 1);
	count_request(&request, REACH_IPI);

	if (BPF_CORE_READ(info, freed_tables)) {
		/* Nobody is left out, and should_flush_tlb() is not called. */
		if (asked_by_decision) {
			add(CELL_asked_cpus + path, candidates - self);
			if (slot)
				slot->asked = candidates - self;
		}
	} else if (sample_one_in && bpf_get_prandom_u32() % sample_one_in == 0) {
		sample_mask(mask, &request);
	}
}

/* All handlers have answered. */
static __always_inline void on_native_flush_tlb_multi_exit(const struct flush_tlb_info *info)
{
	struct request request;
	struct slot *slot;
	u64 took_ns;

	read_request(&request, info);
	slot = slot_of(&request);
	if (!slot || slot->task != bpf_get_current_task() || slot->info != request.info) {
		add(CELL_lost + LOST_DURATION, 1);
		return;
	}
	took_ns = bpf_ktime_get_ns() - slot->start_ns;
	add(CELL_duration + bucket_of(took_ns), 1);
	add(CELL_duration_sum, took_ns);
	add(CELL_targets + bucket_of(slot->asked), 1);
	add(CELL_targets_sum, slot->asked);
	slot->task = 0;
	slot->info = 0;
}

/* Filtered, asked, raised. */

static __always_inline void count_asked(const struct request *request)
{
	struct slot *slot = slot_of(request);

	add(CELL_asked_cpus + path_of(request), 1);
	if (slot_holds(slot, request))
		slot->asked++;
}

static __always_inline bool is_lazy(u32 cpu)
{
	const struct tlb_state_shared *shared;

	if (!has_tlbstate)
		return false;
	shared = bpf_per_cpu_ptr(&cpu_tlbstate_shared, cpu);
	return shared && shared->is_lazy;
}

/* The kernel's own decision for one CPU of the mask. */
static __always_inline void on_should_flush_tlb(u32 cpu, const struct flush_tlb_info *info,
						bool asked)
{
	enum filter_reason reason = FILTER_NOT_LOADED;
	struct request request;

	if (cpu == bpf_get_smp_processor_id())
		return;
	read_request(&request, info);
	if (asked) {
		if (asked_by_decision)
			count_asked(&request);
		return;
	}
	if (!filtered_by_decision)
		return;
	/* Without an mm the kernel has no other reason; with one, the state may have moved since.
	 */
	if (!request.mm || is_lazy(cpu))
		reason = FILTER_LAZY;
	add(CELL_filtered_cpus + path_of(&request) * FILTER_COUNT + reason, 1);
}

/*
 * The call site of the cross-CPU call that is queueing flushes on this CPU, so that the interrupts
 * it raises are told from those of an interrupt handler that calls in between.
 */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u64);
} queueing SEC(".maps");

static __always_inline bool is_flush_func(u64 func)
{
	return func && (func == addr_flush_tlb_func || func == addr_do_flush_tlb_all ||
			func == addr_do_kernel_range_flush);
}

/* The function is read from csd: older verifiers refuse the tracepoint's own argument for it. */
static __always_inline void on_csd_queue_cpu(u64 callsite, const struct __call_single_data *csd)
{
	u64 func = (u64)BPF_CORE_READ(csd, func);
	u32 zero = 0;
	u64 *site = bpf_map_lookup_elem(&queueing, &zero);
	enum flush_path path = PATH_KERNEL_RANGE;

	if (!site)
		return;
	if (!is_flush_func(func)) {
		if (*site == callsite)
			*site = 0;
		return;
	}
	*site = callsite;
	if (func == addr_flush_tlb_func) {
		struct request request;

		read_request(&request, BPF_CORE_READ(csd, info));
		count_asked(&request);
		return;
	}
	if (func == addr_do_flush_tlb_all) {
		struct kernel_flush *kernel = bpf_map_lookup_elem(&kernel_flushes, &zero);

		path = kernel && kernel->task == bpf_get_current_task() ? kernel->path : PATH_ALL;
	}
	if (path < PATH_COUNT)
		add(CELL_asked_cpus + path, 1);
}

static __always_inline void on_ipi_send(u64 callsite, u32 cpus)
{
	u32 zero = 0;
	u64 *site = bpf_map_lookup_elem(&queueing, &zero);

	if (!site || !*site || *site != callsite)
		return;
	*site = 0;
	add(CELL_ipis_sent, cpus);
}

/* Handled. */

/*
 * flush_tlb_func() runs with interrupts off, so one entry per CPU connects its start with its end.
 */
struct handling {
	u64 tlb_gen; /* of the loaded context, at the start */
	u32 asid;
	u32 open; /* whether the end has to tell useful from current */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct handling);
} handlings SEC(".maps");

/*
 * Whether a CPU is in a flush that it was asked for: the kernel counts it a moment after we do, so
 * a snapshot that is to compare the two counts waits until there is none.
 */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u64);
} in_handler SEC(".maps");

static __always_inline void set_in_handler(u64 in)
{
	u32 zero = 0;
	u64 *own = bpf_map_lookup_elem(&in_handler, &zero);

	if (own)
		*(volatile u64 *)own = in;
}

/* The generation up to which a context of this CPU has been flushed. */
static __always_inline u64 context_tlb_gen(const struct tlb_state *state, u32 asid)
{
	struct tlb_context ctxs[TLB_NR_DYN_ASIDS];

	if (asid >= TLB_NR_DYN_ASIDS ||
	    bpf_probe_read_kernel(ctxs, sizeof(ctxs),
				  __builtin_preserve_access_index(&state->ctxs)))
		return 0;
	return ctxs[asid].tlb_gen;
}

static __always_inline void unneeded(enum unneeded_reason reason)
{
	add(CELL_unneeded + reason, 1);
}

/* A flush that stayed on this CPU, or its part of a cross-CPU one: told apart by the slot. */
static __always_inline void on_local_flush(const struct request *request)
{
	struct batch *batch = request->mm ? NULL : current_batch();

	if (batch)
		batch->local = true;
	if (!slot_holds(slot_of(request), request))
		count_request(request, REACH_LOCAL);
}

/*
 * The early returns of flush_tlb_func(), in its own order. None of them leaves a trace, so the
 * state they look at is read here, before the function does.
 */
static __always_inline void on_remote_flush(const struct request *request,
					    struct handling *handling)
{
	const struct tlb_state_shared *shared;
	const struct tlb_state *state;
	const struct mm_struct *loaded;

	set_in_handler(1);
	add(CELL_handled + (request->mm ? HANDLED_MM_RANGE : HANDLED_BATCH), 1);
	if (!has_tlbstate)
		return;
	shared = bpf_this_cpu_ptr(&cpu_tlbstate_shared);
	state = bpf_this_cpu_ptr(&cpu_tlbstate);
	loaded = state->loaded_mm;
	if (request->mm && request->mm != (u64)loaded) {
		unneeded(UNNEEDED_WRONG_MM);
	} else if (BPF_CORE_READ(loaded, context.ctx_id) == INIT_MM_CTX_ID) {
		unneeded(UNNEEDED_INIT_MM);
	} else if (state->loaded_mm_asid >= TLB_NR_DYN_ASIDS) {
		unneeded(UNNEEDED_GLOBAL_ASID);
	} else if (shared->is_lazy) {
		unneeded(UNNEEDED_LAZY);
	} else {
		handling->open = 1;
		handling->asid = state->loaded_mm_asid;
		handling->tlb_gen = context_tlb_gen(state, handling->asid);
	}
}

static __always_inline void on_flush_tlb_func(const struct flush_tlb_info *info)
{
	u32 zero = 0;
	struct handling *handling = bpf_map_lookup_elem(&handlings, &zero);
	struct request request;

	if (!handling)
		return;
	read_request(&request, info);
	handling->open = 0;
	if (request.initiating_cpu == bpf_get_smp_processor_id())
		on_local_flush(&request);
	else
		on_remote_flush(&request, handling);
}

/* Whatever it flushed, flush_tlb_func() then stores the generation it has caught up to. */
static __always_inline void on_flush_tlb_func_exit(void)
{
	u32 zero = 0;
	struct handling *handling = bpf_map_lookup_elem(&handlings, &zero);
	const struct tlb_state *state;

	set_in_handler(0);
	if (!has_tlbstate || !handling || !handling->open)
		return;
	handling->open = 0;
	state = bpf_this_cpu_ptr(&cpu_tlbstate);
	if (context_tlb_gen(state, handling->asid) != handling->tlb_gen)
		add(CELL_useful, 1);
	else
		unneeded(UNNEEDED_CURRENT);
}

/* Where the kernel calls us. */

static __always_inline void learn(__u64 *address, u64 ip)
{
	if (!*address)
		*address = ip;
}

/*
 * Each entry point twice: as a BPF trampoline (cheap, and skipped runs are counted) and as a kprobe
 * for kernels without trampolines. Exits that need the function's arguments: trampolines only.
 */
SEC("fentry/flush_tlb_mm_range")
int BPF_PROG(fentry_flush_tlb_mm_range, struct mm_struct *mm, unsigned long start,
	     unsigned long end, unsigned int stride_shift)
{
	on_flush_tlb_mm_range(mm, start, end, stride_shift);
	return 0;
}

SEC("kprobe/flush_tlb_mm_range")
int BPF_KPROBE(kprobe_flush_tlb_mm_range, struct mm_struct *mm, unsigned long start,
	       unsigned long end, unsigned int stride_shift)
{
	on_flush_tlb_mm_range(mm, start, end, stride_shift);
	return 0;
}

SEC("fentry/arch_tlbbatch_flush")
int BPF_PROG(fentry_arch_tlbbatch_flush, struct arch_tlbflush_unmap_batch *batch)
{
	on_arch_tlbbatch_flush(batch);
	return 0;
}

SEC("kprobe/arch_tlbbatch_flush")
int BPF_KPROBE(kprobe_arch_tlbbatch_flush, struct arch_tlbflush_unmap_batch *batch)
{
	on_arch_tlbbatch_flush(batch);
	return 0;
}

SEC("fexit/arch_tlbbatch_flush")
int BPF_PROG(fexit_arch_tlbbatch_flush)
{
	on_arch_tlbbatch_flush_exit();
	return 0;
}

SEC("kretprobe/arch_tlbbatch_flush")
int BPF_KRETPROBE(kretprobe_arch_tlbbatch_flush)
{
	on_arch_tlbbatch_flush_exit();
	return 0;
}

SEC("fentry/flush_tlb_kernel_range")
int BPF_PROG(fentry_flush_tlb_kernel_range, unsigned long start, unsigned long end)
{
	on_flush_tlb_kernel_range(start, end);
	return 0;
}

SEC("kprobe/flush_tlb_kernel_range")
int BPF_KPROBE(kprobe_flush_tlb_kernel_range, unsigned long start, unsigned long end)
{
	on_flush_tlb_kernel_range(start, end);
	return 0;
}

SEC("fentry/flush_tlb_all")
int BPF_PROG(fentry_flush_tlb_all)
{
	on_flush_tlb_all();
	return 0;
}

SEC("kprobe/flush_tlb_all")
int BPF_KPROBE(kprobe_flush_tlb_all)
{
	on_flush_tlb_all();
	return 0;
}

/* The name is replaced by the variant this machine runs on: kvm, hyperv or xen. */
SEC("fentry/kvm_flush_tlb_multi")
int BPF_PROG(fentry_paravirt_flush_tlb_multi, const void *mask, const struct flush_tlb_info *info)
{
	on_paravirt_flush_tlb_multi(mask, info);
	return 0;
}

SEC("kprobe/kvm_flush_tlb_multi")
int BPF_KPROBE(kprobe_paravirt_flush_tlb_multi, const void *mask, const struct flush_tlb_info *info)
{
	on_paravirt_flush_tlb_multi(mask, info);
	return 0;
}

SEC("fentry/native_flush_tlb_multi")
int BPF_PROG(fentry_native_flush_tlb_multi, const void *mask, const struct flush_tlb_info *info)
{
	on_native_flush_tlb_multi(mask, info);
	return 0;
}

SEC("kprobe/native_flush_tlb_multi")
int BPF_KPROBE(kprobe_native_flush_tlb_multi, const void *mask, const struct flush_tlb_info *info)
{
	on_native_flush_tlb_multi(mask, info);
	return 0;
}

SEC("fexit/native_flush_tlb_multi")
int BPF_PROG(fexit_native_flush_tlb_multi, const void *mask, const struct flush_tlb_info *info)
{
	on_native_flush_tlb_multi_exit(info);
	return 0;
}

SEC("fentry/flush_tlb_multi")
int BPF_PROG(fentry_flush_tlb_multi)
{
	add(CELL_multi_calls, 1);
	return 0;
}

SEC("kprobe/flush_tlb_multi")
int BPF_KPROBE(kprobe_flush_tlb_multi)
{
	add(CELL_multi_calls, 1);
	return 0;
}

/* A bool is returned in the low byte of a register whose rest can hold anything. */
SEC("fexit/should_flush_tlb")
int BPF_PROG(fexit_should_flush_tlb, int cpu, void *data, u64 answer)
{
	on_should_flush_tlb(cpu, data, (u8)answer);
	return 0;
}

SEC("tp_btf/csd_queue_cpu")
int BPF_PROG(tp_csd_queue_cpu, unsigned int cpu, unsigned long callsite, void *func,
	     struct __call_single_data *csd)
{
	on_csd_queue_cpu(callsite, csd);
	return 0;
}

SEC("tp_btf/ipi_send_cpumask")
int BPF_PROG(tp_ipi_send_cpumask, const void *mask, unsigned long callsite)
{
	on_ipi_send(callsite, mask_weight(mask));
	return 0;
}

SEC("tp_btf/ipi_send_cpu")
int BPF_PROG(tp_ipi_send_cpu, unsigned int cpu, unsigned long callsite)
{
	on_ipi_send(callsite, 1);
	return 0;
}

SEC("fentry/flush_tlb_func")
int BPF_PROG(fentry_flush_tlb_func, const struct flush_tlb_info *info)
{
	learn(&addr_flush_tlb_func, bpf_get_func_ip(ctx));
	on_flush_tlb_func(info);
	return 0;
}

SEC("kprobe/flush_tlb_func")
int BPF_KPROBE(kprobe_flush_tlb_func, const struct flush_tlb_info *info)
{
	on_flush_tlb_func(info);
	return 0;
}

SEC("fexit/flush_tlb_func")
int BPF_PROG(fexit_flush_tlb_func)
{
	on_flush_tlb_func_exit();
	return 0;
}

SEC("fentry/do_flush_tlb_all")
int BPF_PROG(fentry_do_flush_tlb_all)
{
	learn(&addr_do_flush_tlb_all, bpf_get_func_ip(ctx));
	add(CELL_kernel_runs, 1);
	return 0;
}

SEC("kprobe/do_flush_tlb_all")
int BPF_KPROBE(kprobe_do_flush_tlb_all)
{
	add(CELL_kernel_runs, 1);
	return 0;
}

SEC("fentry/do_kernel_range_flush")
int BPF_PROG(fentry_do_kernel_range_flush)
{
	learn(&addr_do_kernel_range_flush, bpf_get_func_ip(ctx));
	add(CELL_kernel_runs, 1);
	return 0;
}

SEC("kprobe/do_kernel_range_flush")
int BPF_KPROBE(kprobe_do_kernel_range_flush)
{
	add(CELL_kernel_runs, 1);
	return 0;
}
