/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Choosing the probes. Three questions, each answered by trying:
 *
 *  1. Does the kernel take a BPF trampoline, a kprobe, neither? (A tiny program is loaded and
 *     attached for each.)
 *  2. Is the function there, under which name? (BTF for trampolines, /proc/kallsyms for kprobes.)
 *  3. Does this program load and attach? If not, its next way is tried, and all is loaded again.
 */
#include "probes.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "common/diag.h"
#include "common/file.h"
#include "common/parse.h"
#include "machine.h"
#include "shootdown.skel.h"
#include "support.h"
#include "symbols.h"

enum probe_kind {
	KIND_ENTRY,
	KIND_EXIT,
	KIND_TRACEPOINT
};

/* The probes of bpf/shootdown.bpf.c, in the order of enum probe_id. */
static const struct probe_info {
	const char *function;
	enum probe_kind kind;
	const char *trampoline; /* program names */
	const char *kprobe;
	bool uses_arguments;
} infos[PROBE_COUNT] = {
	[PROBE_MM_RANGE] = { "flush_tlb_mm_range", KIND_ENTRY, "fentry_flush_tlb_mm_range",
			     "kprobe_flush_tlb_mm_range", true },
	[PROBE_BATCH] = { "arch_tlbbatch_flush", KIND_ENTRY, "fentry_arch_tlbbatch_flush",
			  "kprobe_arch_tlbbatch_flush", true },
	[PROBE_BATCH_EXIT] = { "arch_tlbbatch_flush", KIND_EXIT, "fexit_arch_tlbbatch_flush",
			       "kretprobe_arch_tlbbatch_flush", false },
	[PROBE_KERNEL_RANGE] = { "flush_tlb_kernel_range", KIND_ENTRY,
				 "fentry_flush_tlb_kernel_range", "kprobe_flush_tlb_kernel_range",
				 true },
	[PROBE_ALL] = { "flush_tlb_all", KIND_ENTRY, "fentry_flush_tlb_all", "kprobe_flush_tlb_all",
			false },
	[PROBE_MULTI] = { "flush_tlb_multi", KIND_ENTRY, "fentry_flush_tlb_multi",
			  "kprobe_flush_tlb_multi", false },
	/* The function's name is that of the hypervisor's variant: machine.paravirt. */
	[PROBE_PARAVIRT] = { "kvm_flush_tlb_multi", KIND_ENTRY, "fentry_paravirt_flush_tlb_multi",
			     "kprobe_paravirt_flush_tlb_multi", true },
	[PROBE_NATIVE] = { "native_flush_tlb_multi", KIND_ENTRY, "fentry_native_flush_tlb_multi",
			   "kprobe_native_flush_tlb_multi", true },
	[PROBE_NATIVE_EXIT] = { "native_flush_tlb_multi", KIND_EXIT, "fexit_native_flush_tlb_multi",
				NULL, true },
	[PROBE_DECISION] = { "should_flush_tlb", KIND_EXIT, "fexit_should_flush_tlb", NULL, true },
	[PROBE_CSD_QUEUE] = { "csd_queue_cpu", KIND_TRACEPOINT, "tp_csd_queue_cpu", NULL, true },
	[PROBE_IPI_MASK] = { "ipi_send_cpumask", KIND_TRACEPOINT, "tp_ipi_send_cpumask", NULL,
			     true },
	[PROBE_IPI_CPU] = { "ipi_send_cpu", KIND_TRACEPOINT, "tp_ipi_send_cpu", NULL, true },
	[PROBE_FUNC] = { "flush_tlb_func", KIND_ENTRY, "fentry_flush_tlb_func",
			 "kprobe_flush_tlb_func", true },
	[PROBE_FUNC_EXIT] = { "flush_tlb_func", KIND_EXIT, "fexit_flush_tlb_func", NULL, false },
	[PROBE_DO_ALL] = { "do_flush_tlb_all", KIND_ENTRY, "fentry_do_flush_tlb_all",
			   "kprobe_do_flush_tlb_all", false },
	[PROBE_DO_RANGE] = { "do_kernel_range_flush", KIND_ENTRY, "fentry_do_kernel_range_flush",
			     "kprobe_do_kernel_range_flush", false },
};

const char *probe_name(enum probe_id id)
{
	return infos[id].trampoline;
}

/* The ways in which a probe is tried, best first. */
enum way {
	WAY_TRAMPOLINE,
	WAY_KPROBE,
	WAY_NONE
};

/* Symbols looked up beside the probed functions. */
enum {
	SYMBOL_ONLINE_MASK = PROBE_COUNT,
	SYMBOL_COUNT
};

struct choice {
	struct probes *probes;
	struct btf *btf;
	struct symbol symbols[SYMBOL_COUNT];
	enum way way[PROBE_COUNT];
	bool trampolines, kprobes; /* what the kernel takes at all, of what was asked for */
};

/* The log of libbpf: the place where a failed load says which program it was. */

static struct {
	char program[64];
	char text[sizeof(((struct probe *)0)->why)];
} failure;

static int listen(enum libbpf_print_level level, const char *format, va_list arguments)
{
	char line[256];

	if (level == LIBBPF_DEBUG)
		return 0;
	vsnprintf(line, sizeof(line), format, arguments);
	line[strcspn(line, "\n")] = '\0';
	diag__verbose("%s", line);
	if (level != LIBBPF_WARN || failure.text[0])
		return 0;
	if (sscanf(line, "libbpf: prog '%63[^']'", failure.program) != 1)
		return 0;
	snprintf(failure.text, sizeof(failure.text), "%.*s", (int)sizeof(failure.text) - 1,
		 line + strlen("libbpf: "));
	return 0;
}

/* 1. What the kernel takes at all. */

/* "return 0" */
static const struct bpf_insn nothing[] = {
	{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 0 },
	{ .code = BPF_JMP | BPF_EXIT },
};

/* A trampoline on a function that every x86 kernel with BTF has. 0 or a negative errno. */
static int try_trampoline(const struct btf *btf)
{
	LIBBPF_OPTS(bpf_prog_load_opts, options, .expected_attach_type = BPF_TRACE_FENTRY);
	int prog, link, err = 0;

	/* NULL where the kernel has none, and libbpf 1.1 takes that for one. */
	if (!btf)
		return -ENOENT;
	options.attach_btf_id = btf__find_by_name_kind(btf, "flush_tlb_mm_range", BTF_KIND_FUNC);
	if ((int)options.attach_btf_id <= 0)
		return -ENOENT;
	prog = bpf_prog_load(BPF_PROG_TYPE_TRACING, "try_fentry", "GPL", nothing, 2, &options);
	if (prog < 0)
		return prog;
	link = bpf_link_create(prog, 0, BPF_TRACE_FENTRY, NULL);
	if (link < 0)
		err = link;
	else
		close(link);
	close(prog);
	return err;
}

/*
 * A kprobe program can be loaded on kernels without CONFIG_KPROBES, so it is attached too, to a
 * function that is rarely called.
 */
static int try_kprobe(void)
{
	int prog = bpf_prog_load(BPF_PROG_TYPE_KPROBE, "try_kprobe", "GPL", nothing, 2, NULL);
	uint64_t type;
	char text[16];
	int event;
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.kprobe_func = (uintptr_t) "flush_tlb_all",
	};

	if (prog < 0)
		return prog;
	close(prog);
	if (file__read_setting("/sys/bus/event_source/devices/kprobe/type", text, sizeof(text)) ||
	    parse__u64(text, 0, UINT32_MAX, &type))
		return -EOPNOTSUPP;
	attr.type = type;
	event = syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
	if (event < 0)
		return -errno;
	close(event);
	return 0;
}

static const char *refusal_advice(int err)
{
	if (geteuid() != 0)
		return "run as root";
	if (err == -EPERM || err == -EACCES)
		return "this is root already: a container, a lockdown or a security module refuses it";
	return "the kernel lacks support (CONFIG_BPF_SYSCALL, CONFIG_DEBUG_INFO_BTF, CONFIG_KPROBES)";
}

/* Only what was tried is told: @trampoline and @kprobe are 0 where they were not. */
static void refuse(struct probes *probes, int trampoline, int kprobe)
{
	char tried[160] = "";
	size_t len = 0;

	if (trampoline)
		len = snprintf(tried, sizeof(tried), "trampoline: %s", strerror(-trampoline));
	if (kprobe)
		snprintf(tried + len, sizeof(tried) - len, "%skprobe: %s", len ? ", " : "",
			 strerror(-kprobe));
	probes->refused = true;
	snprintf(probes->why_refused, sizeof(probes->why_refused),
		 "the kernel refuses BPF programs (%s); %s", tried,
		 refusal_advice(trampoline ? trampoline : kprobe));
}

/* 2. Which functions there are, under which names. */

static void lack(struct probe *probe, const char *format, ...)
{
	va_list arguments;

	probe->method = NULL;
	va_start(arguments, format);
	vsnprintf(probe->why, sizeof(probe->why), format, arguments);
	va_end(arguments);
}

static bool in_btf(const struct btf *btf, const struct probe_info *info, const char *function)
{
	char name[96];

	if (!btf)
		return false;
	if (info->kind != KIND_TRACEPOINT)
		return btf__find_by_name_kind(btf, function, BTF_KIND_FUNC) > 0;
	snprintf(name, sizeof(name), "btf_trace_%s", function);
	return btf__find_by_name_kind(btf, name, BTF_KIND_TYPEDEF) > 0;
}

/* The first way that is open to a probe, from @from on; says why not where none is. */
static enum way next_way(struct choice *choice, enum probe_id id, enum way from)
{
	const struct probe_info *info = &infos[id];
	struct probe *probe = &choice->probes->probe[id];
	const struct symbol *symbol = &choice->symbols[id];

	bool trampoline = choice->trampolines || info->kind == KIND_TRACEPOINT;

	/* A tracepoint with BTF types is attached to without a trampoline. */
	if (from <= WAY_TRAMPOLINE && trampoline && in_btf(choice->btf, info, probe->function)) {
		snprintf(probe->attached_to, sizeof(probe->attached_to), "%s", probe->function);
		return WAY_TRAMPOLINE;
	}
	if (from <= WAY_KPROBE && choice->kprobes && info->kprobe && symbol->found[0]) {
		if (symbol->same_arguments || !info->uses_arguments) {
			snprintf(probe->attached_to, sizeof(probe->attached_to), "%s",
				 symbol->found);
			return WAY_KPROBE;
		}
		lack(probe, "the compiler made %s of it, whose arguments cannot be trusted",
		     symbol->found);
		return WAY_NONE;
	}
	if (probe->why[0])
		return WAY_NONE;
	if (info->kind == KIND_TRACEPOINT)
		lack(probe, "this kernel has no tracepoint %s", probe->function);
	else if (!in_btf(choice->btf, info, probe->function) && !symbol->found[0])
		lack(probe, "this kernel has no function %s", probe->function);
	else if (!info->kprobe)
		lack(probe, "the end of %s needs a BPF trampoline", probe->function);
	else
		lack(probe, "%s can be attached to in no way that is allowed", probe->function);
	return WAY_NONE;
}

static void find_symbols(struct choice *choice)
{
	for (int i = 0; i < PROBE_COUNT; i++)
		choice->symbols[i].name = choice->probes->probe[i].function;
	choice->symbols[SYMBOL_ONLINE_MASK].name = "__cpu_online_mask";
	symbols__find(choice->symbols, SYMBOL_COUNT);
	choice->probes->machine.addresses_known = choice->symbols[SYMBOL_ONLINE_MASK].address != 0;
}

/* 3. Load and attach. */

static struct bpf_program *program_of(const struct choice *choice, struct bpf_object *object,
				      enum probe_id id)
{
	const char *name = choice->way[id] == WAY_KPROBE ? infos[id].kprobe : infos[id].trampoline;

	return bpf_object__find_program_by_name(object, name);
}

static void set_constants(struct choice *choice, struct shootdown_bpf *bpf)
{
	const struct probes *probes = choice->probes;
	const struct machine *machine = &probes->machine;
	bool has_csd = choice->way[PROBE_CSD_QUEUE] != WAY_NONE;

	bpf->rodata->mask_words = (machine->possible + 63) / 64;
	bpf->rodata->addr_online_mask = choice->symbols[SYMBOL_ONLINE_MASK].address;
	bpf->rodata->single_page_ceiling = machine->ceiling;
	bpf->rodata->has_invlpgb = machine->invlpgb;
	bpf->rodata->online_at_start = machine->online;
	bpf->rodata->has_tlbstate = machine->tlbstate_known;
	bpf->rodata->filters_batches = machine->filters_batches;
	bpf->rodata->asked_by_decision = !has_csd;
	bpf->rodata->filtered_by_decision = probes->classify == CLASSIFY_EXACT;
	bpf->rodata->sample_one_in =
		probes->classify == CLASSIFY_SAMPLED ? probes->sample_one_in : 0;
	bpf->bss->addr_flush_tlb_func = choice->symbols[PROBE_FUNC].address;
	bpf->bss->addr_do_flush_tlb_all = choice->symbols[PROBE_DO_ALL].address;
	bpf->bss->addr_do_kernel_range_flush = choice->symbols[PROBE_DO_RANGE].address;
}

/* Gives up the way in use for @id and takes the next; notes what the kernel said. */
static void give_up(struct choice *choice, enum probe_id id, const char *what)
{
	lack(&choice->probes->probe[id], "%s", what);
	choice->way[id] = next_way(choice, id, choice->way[id] + 1);
}

/* Finds the probe whose program libbpf complained about. */
static int failed_probe(const struct choice *choice)
{
	for (int i = 0; i < PROBE_COUNT; i++) {
		const char *name =
			choice->way[i] == WAY_KPROBE ? infos[i].kprobe : infos[i].trampoline;

		if (choice->way[i] != WAY_NONE && strcmp(name, failure.program) == 0)
			return i;
	}
	return -1;
}

/* Not the program's fault: another way would fail as well. */
static bool is_shortage(int err)
{
	return err == -EMFILE || err == -ENFILE || err == -ENOMEM || err == -EINTR;
}

/* Maps that nobody writes to take no memory to speak of. */
static int shrink_cgroup_maps(struct shootdown_bpf *bpf)
{
	int err = bpf_map__set_max_entries(bpf->maps.listed_cgroups, 1);

	if (!err)
		err = bpf_map__set_max_entries(bpf->maps.found_cgroups, 1);
	return err ? err : bpf_map__set_max_entries(bpf->maps.cgroup_cells, 1);
}

/* Opens and loads with the ways chosen. -EAGAIN: one way was given up, try again. */
static int load(struct choice *choice, bool by_cgroup)
{
	struct probes *probes = choice->probes;
	struct shootdown_bpf *bpf = shootdown_bpf__open();
	struct bpf_program *program;
	int err, id;

	if (!bpf)
		return -errno;
	bpf_object__for_each_program(program, bpf->obj) bpf_program__set_autoload(program, false);
	for (id = 0; id < PROBE_COUNT; id++) {
		if (choice->way[id] == WAY_NONE)
			continue;
		program = program_of(choice, bpf->obj, id);
		bpf_program__set_autoload(program, true);
		if (id == PROBE_PARAVIRT && choice->way[id] == WAY_TRAMPOLINE)
			bpf_program__set_attach_target(program, 0, probes->probe[id].function);
	}
	set_constants(choice, bpf);
	bpf->rodata->by_cgroup = by_cgroup;
	err = bpf_map__set_max_entries(bpf->maps.slots, probes->machine.possible);
	if (!err && !by_cgroup)
		err = shrink_cgroup_maps(bpf);
	memset(&failure, 0, sizeof(failure));
	if (!err)
		err = shootdown_bpf__load(bpf);
	if (!err) {
		probes->bpf = bpf;
		return 0;
	}
	shootdown_bpf__destroy(bpf);
	if (is_shortage(err))
		return err;
	id = failed_probe(choice);
	if (id < 0)
		return err;
	give_up(choice, id, failure.text);
	return -EAGAIN;
}

static struct bpf_link *attach_one(const struct choice *choice, enum probe_id id,
				   struct bpf_program *program)
{
	if (choice->way[id] == WAY_KPROBE)
		return bpf_program__attach_kprobe(program, infos[id].kind == KIND_EXIT,
						  choice->probes->probe[id].attached_to);
	return bpf_program__attach(program);
}

static const char *method_name(const struct choice *choice, enum probe_id id)
{
	if (choice->way[id] == WAY_KPROBE)
		return infos[id].kind == KIND_EXIT ? "kretprobe" : "kprobe";
	switch (infos[id].kind) {
	case KIND_ENTRY:
		return "fentry";
	case KIND_EXIT:
		return "fexit";
	default:
		return "tracepoint";
	}
}

static void unload(struct probes *probes)
{
	for (int id = 0; id < PROBE_COUNT; id++) {
		bpf_link__destroy(probes->probe[id].link);
		probes->probe[id].link = NULL;
		probes->probe[id].prog_fd = -1;
	}
	shootdown_bpf__destroy(probes->bpf);
	probes->bpf = NULL;
}

/*
 * Attaches the end of the path first and its start last, so that a flush in flight at start-up is
 * not seen to ask CPUs that then never answer. -EAGAIN: one way was given up.
 */
static int attach(struct choice *choice)
{
	struct probes *probes = choice->probes;

	for (int id = PROBE_COUNT - 1; id >= 0; id--) {
		struct probe *probe = &probes->probe[id];
		struct bpf_program *program;
		char what[96];

		if (choice->way[id] == WAY_NONE)
			continue;
		program = program_of(choice, probes->bpf->obj, id);
		probe->link = attach_one(choice, id, program);
		if (probe->link) {
			probe->method = method_name(choice, id);
			probe->prog_fd = bpf_program__fd(program);
			continue;
		}
		snprintf(what, sizeof(what), "attach %s: %s", method_name(choice, id),
			 strerror(errno));
		give_up(choice, id, what);
		unload(probes);
		return -EAGAIN;
	}
	return 0;
}

/* All together. */

/* At most this many CPUs are read per flush on average, to tell lazy from not loaded. */
#define CLASSIFY_BUDGET 32

static void choose_classification(struct probes *probes, enum classify_mode wanted)
{
	unsigned int online = probes->machine.online;

	probes->classify = wanted;
	if (wanted == CLASSIFY_AUTO)
		probes->classify = online <= CLASSIFY_BUDGET ? CLASSIFY_EXACT : CLASSIFY_SAMPLED;
	probes->sample_one_in = (online + CLASSIFY_BUDGET - 1) / CLASSIFY_BUDGET;
}

static void choose_ways(struct choice *choice)
{
	struct probes *probes = choice->probes;

	for (int id = 0; id < PROBE_COUNT; id++)
		choice->way[id] = next_way(choice, id, WAY_TRAMPOLINE);
	/* Where flushes are hypercalls, the native function sees but the few that are not. */
	if (strcmp(probes->machine.paravirt, "kvm_flush_tlb_multi") != 0) {
		static const enum probe_id blind[] = { PROBE_PARAVIRT, PROBE_NATIVE,
						       PROBE_NATIVE_EXIT };

		for (size_t i = 0; i < sizeof(blind) / sizeof(*blind); i++) {
			choice->way[blind[i]] = WAY_NONE;
			lack(&probes->probe[blind[i]],
			     "this hypervisor flushes by hypercall, which is not counted");
		}
	}
	/* A probe per CPU of each mask is only paid for where its answer is used. */
	if (choice->way[PROBE_CSD_QUEUE] != WAY_NONE && probes->classify != CLASSIFY_EXACT) {
		choice->way[PROBE_DECISION] = WAY_NONE;
		probes->probe[PROBE_DECISION].unwanted = true;
		lack(&probes->probe[PROBE_DECISION], "%s", support__why_not_exact(probes));
	}
}

static bool knows_tlbstate(const struct btf *btf)
{
	return btf && btf__find_by_name_kind(btf, "cpu_tlbstate", BTF_KIND_VAR) > 0 &&
	       btf__find_by_name_kind(btf, "cpu_tlbstate_shared", BTF_KIND_VAR) > 0;
}

static bool has_member(const struct btf *btf, const char *structure, const char *name)
{
	int id = btf ? btf__find_by_name_kind(btf, structure, BTF_KIND_STRUCT) : -1;
	const struct btf_type *type = id > 0 ? btf__type_by_id(btf, id) : NULL;

	for (int i = 0; type && i < btf_vlen(type); i++)
		if (strcmp(btf__name_by_offset(btf, btf_members(type)[i].name_off), name) == 0)
			return true;
	return false;
}

static void try_methods(struct choice *choice, enum attach_method wanted)
{
	int trampoline = 0, kprobe = 0;

	if (wanted == ATTACH_NONE) {
		choice->probes->refused = true;
		snprintf(choice->probes->why_refused, sizeof(choice->probes->why_refused),
			 "BPF was not asked for (--method=none)");
		return;
	}
	/*
	 * The flush helpers are inline and none of the probed functions exists
	 * (arch/arm64/include/asm/tlbflush.h).
	 */
	if (choice->probes->machine.tlbi) {
		choice->probes->refused = true;
		snprintf(choice->probes->why_refused, sizeof(choice->probes->why_refused),
			 "on arm64 TLBI instructions flush all CPUs without interrupts; only "
			 "--tlbi=exact counts these instructions");
		return;
	}
	if (wanted != ATTACH_KPROBE)
		trampoline = try_trampoline(choice->btf);
	if (wanted != ATTACH_FENTRY)
		kprobe = try_kprobe();
	choice->trampolines = wanted != ATTACH_KPROBE && trampoline == 0;
	choice->kprobes = wanted != ATTACH_FENTRY && kprobe == 0;
	if (!choice->trampolines && !choice->kprobes)
		refuse(choice->probes, trampoline, kprobe);
}

/* Before 5.11 the memory of BPF maps counts against RLIMIT_MEMLOCK. */
static void lift_memlock(void)
{
	struct rlimit unlimited = { RLIM_INFINITY, RLIM_INFINITY };

	setrlimit(RLIMIT_MEMLOCK, &unlimited);
}

/* Whether the kernel is locked down against reading its memory; unknown counts as not. */
static bool locked_down(void)
{
	char text[64];

	return file__read_setting("/sys/kernel/security/lockdown", text, sizeof(text)) == 0 &&
	       strstr(text, "[confidentiality]");
}

/*
 * Under lockdown, programs that read nothing still load. Without any of those that see shootdowns,
 * a table of "n/a" helps nobody: it is a refusal, and told as such.
 */
static void refuse_if_blind(struct probes *probes)
{
	if (probes->probe[PROBE_NATIVE].method || probes->probe[PROBE_FUNC].method)
		return;
	unload(probes);
	probes->refused = true;
	snprintf(probes->why_refused, sizeof(probes->why_refused),
		 "the kernel refuses BPF programs that see shootdowns (%s); %s",
		 probes->probe[PROBE_FUNC].why,
		 locked_down() ? "it is locked down (confidentiality)"
			       : "is it locked down (lockdown=confidentiality)?");
}

int probes__attach(struct probes *probes, const struct observer_options *options)
{
	struct choice choice = { .probes = probes };
	int err;

	memset(probes, 0, sizeof(*probes));
	for (int id = 0; id < PROBE_COUNT; id++) {
		probes->probe[id].function = infos[id].function;
		probes->probe[id].prog_fd = -1;
	}
	err = machine__read(&probes->machine);
	if (err)
		return err;
	probes->probe[PROBE_PARAVIRT].function = probes->machine.paravirt;
	choose_classification(probes, options->classify);
	libbpf_set_print(listen);
	lift_memlock();
	if (options->method != ATTACH_NONE)
		choice.btf = btf__load_vmlinux_btf();
	probes->machine.tlbstate_known = knows_tlbstate(choice.btf);
	probes->machine.filters_batches =
		has_member(choice.btf, "arch_tlbflush_unmap_batch", "nr_mms");
	/* Kernels before 6.15, and those built without it, leave the instruction alone. */
	probes->machine.invlpgb &=
		choice.btf &&
		btf__find_by_name_kind(choice.btf, "mm_free_global_asid", BTF_KIND_FUNC) > 0;
	try_methods(&choice, options->method);
	if (!probes->refused) {
		find_symbols(&choice);
		choose_ways(&choice);
		do {
			err = load(&choice, options->by_cgroup);
			if (!err)
				err = attach(&choice);
		} while (err == -EAGAIN);
		if (err) {
			probes->refused = true;
			snprintf(probes->why_refused, sizeof(probes->why_refused),
				 "loading the BPF programs failed: %s", strerror(-err));
		} else {
			refuse_if_blind(probes);
		}
	}
	btf__free(choice.btf);
	support__decide(probes);
	return 0;
}

void probes__detach(struct probes *probes)
{
	unload(probes);
}

bool probe__stats(const struct probe *probe, struct probe_stats *out)
{
	struct bpf_prog_info info = { 0 };
	uint32_t size = sizeof(info);

	memset(out, 0, sizeof(*out));
	if (probe->prog_fd < 0 || bpf_obj_get_info_by_fd(probe->prog_fd, &info, &size))
		return false;
	out->missed = info.recursion_misses;
	out->run_ns = info.run_time_ns;
	return true;
}

uint64_t probes__missed(const struct probes *probes)
{
	struct probe_stats stats;
	uint64_t missed = 0;

	for (int id = 0; id < PROBE_COUNT; id++)
		if (probe__stats(&probes->probe[id], &stats))
			missed += stats.missed;
	return missed;
}
