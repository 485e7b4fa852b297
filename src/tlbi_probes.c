/* SPDX-License-Identifier: GPL-2.0-only */
#include "tlbi_probes.h"

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
#include <bpf/libbpf.h>

#include "common/cpus.h"
#include "common/file.h"
#include "common/parse.h"
#include "common/procfs.h"
#include "tlbi.skel.h"

/* Symbols looked up: the bounds of the text, and those of each area. */
enum {
	SYMBOL_STEXT,
	SYMBOL_ETEXT,
	SYMBOL_AREAS,
	SYMBOLS = SYMBOL_AREAS + 2 * TLBI_AREAS
};

struct tlbi_probes {
	struct tlbi_bpf *bpf;
	struct tlbi_sites sites;
	int link[TLBI_SITES_MAX]; /* those of the sites and of calls, in no order */
	unsigned int links;
	unsigned int possible; /* CPUs */
	uint64_t *by_cpu;      /* one per possible CPU, for reading the map */
};

/* What is needed while opening only. */
struct start {
	struct tlbi_probes *probes;
	struct symbol symbols[SYMBOLS];
	unsigned int first_cpu; /* online */
	const uint32_t *text;
	uint64_t text_address;
	size_t words;
	uint32_t event_type; /* of kprobes by perf_event_open() */
	char *why;
	size_t why_size;
};

static int fail(const struct start *start, int err, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(start->why, start->why_size, format, arguments);
	va_end(arguments);
	return err;
}

/* Reading the kernel. */

/* 0 or a negative errno; at most sizeof(text) bytes. */
static int read_kernel(struct tlbi_bpf *bpf, uint64_t address, void *out, uint32_t size)
{
	LIBBPF_OPTS(bpf_test_run_opts, options);
	int err;

	bpf->bss->text_address = address;
	bpf->bss->text_size = size;
	err = bpf_prog_test_run_opts(bpf_program__fd(bpf->progs.read_text), &options);
	if (!err)
		err = (int)options.retval;
	if (!err)
		memcpy(out, bpf->bss->text, size);
	return err;
}

static int read_text(const struct start *start, uint64_t from, uint64_t to, uint32_t **out)
{
	struct tlbi_bpf *bpf = start->probes->bpf;
	char *text = malloc(to - from);

	if (!text)
		return fail(start, -ENOMEM, "there is no memory for the kernel's text");
	for (uint64_t at = from; at < to; at += sizeof(bpf->bss->text)) {
		uint64_t size = to - at;
		int err;

		if (size > sizeof(bpf->bss->text))
			size = sizeof(bpf->bss->text);
		err = read_kernel(bpf, at, text + (at - from), size);
		if (err) {
			free(text);
			return fail(start, err, "reading the kernel's text by a BPF program: %s",
				    strerror(-err));
		}
	}
	*out = (uint32_t *)text;
	return 0;
}

/* Everything that is known by name. */
static void name_symbols(struct symbol symbols[SYMBOLS])
{
	symbols[SYMBOL_STEXT].name = "_stext";
	symbols[SYMBOL_ETEXT].name = "_etext";
	for (int i = 0; i < TLBI_AREAS; i++) {
		symbols[SYMBOL_AREAS + 2 * i].name = tlbi_areas[i].start;
		symbols[SYMBOL_AREAS + 2 * i + 1].name = tlbi_areas[i].end;
	}
}

/* The kernel's text, whose bounds are symbols. */
static int find_text(struct start *start, uint32_t **text)
{
	uint64_t from = start->symbols[SYMBOL_STEXT].address;
	uint64_t to = start->symbols[SYMBOL_ETEXT].address;

	if (!from || to <= from)
		return fail(start, -EPERM, "/proc/kallsyms hides the kernel's addresses: %s",
			    geteuid() ? "run as root" : "sysctl kernel.kptr_restrict=1 shows them");
	start->text_address = from;
	start->words = (to - from) / sizeof(**text);
	return read_text(start, from, to, text);
}

/* The end of a message. */
static const char *in_the_way(const struct start *start)
{
	return start->probes->sites.breakpoints
		       ? "; there are kprobes of others: is another tlbstat counting?"
		       : "";
}

static int find_sites(struct start *start, const char *kallsyms, size_t len)
{
	struct tlbi_sites *sites = &start->probes->sites;

	if (tlbi_sites__find_in(sites, start->text, start->words, start->text_address))
		return fail(start, -E2BIG, "the kernel has more than %d TLBI instructions",
			    TLBI_SITES_MAX - TLBI_FUNCTIONS_MAX);
	if (!sites->count)
		return fail(start, -ENOENT, "the kernel's text has no TLBI instruction%s",
			    in_the_way(start));
	tlbi_sites__name(sites, kallsyms, len);
	return 0;
}

/* Attaching. */

/* One descriptor for each link, and some. */
static void allow_descriptors(void)
{
	struct rlimit limit;
	rlim_t wanted = TLBI_SITES_MAX + 256;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur >= wanted)
		return;
	limit.rlim_cur = wanted < limit.rlim_max ? wanted : limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

/* @cookie is where it counts. The link keeps the event. 0 or a negative errno. */
static int attach(const struct start *start, uint64_t address, uint64_t cookie)
{
	LIBBPF_OPTS(bpf_link_create_opts, options, .perf_event.bpf_cookie = cookie);
	struct tlbi_probes *probes = start->probes;
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = start->event_type,
		.kprobe_addr = address,
	};
	int event, link;

	if (probes->links == TLBI_SITES_MAX)
		return -E2BIG;
	event = syscall(SYS_perf_event_open, &attr, -1, start->first_cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (event < 0)
		return -errno;
	link = bpf_link_create(bpf_program__fd(probes->bpf->progs.count_tlbi), event,
			       BPF_PERF_EVENT, &options);
	close(event);
	if (link < 0)
		return link;
	probes->link[probes->links++] = link;
	return 0;
}

/* A short supply of anything is no property of the site. */
static bool is_shortage(int err)
{
	return err == -EMFILE || err == -ENFILE || err == -ENOMEM || err == -EINTR;
}

static void explain(const struct start *start, struct tlbi_site *site, int err)
{
	uint64_t function = site->address - site->offset;
	uint32_t entry[TLBI_ENTRY_WORDS] = { 0 };

	if (function >= start->text_address)
		memcpy(entry, start->text + (function - start->text_address) / sizeof(*entry),
		       sizeof(entry));
	tlbi_site__explain(site, err, start->symbols + SYMBOL_AREAS, entry);
}

static int attach_sites(const struct start *start)
{
	struct tlbi_probes *probes = start->probes;

	for (unsigned int i = 0; i < probes->sites.count; i++) {
		struct tlbi_site *site = &probes->sites.site[i];
		uint32_t word = 0;
		int err = read_kernel(probes->bpf, site->address, &word, sizeof(word));

		/* Others write to the text as well. */
		if (err || word != site->word) {
			snprintf(site->why, sizeof(site->why),
				 "the instruction was replaced meanwhile");
			continue;
		}
		err = attach(start, site->address, i);
		if (is_shortage(err))
			return fail(start, err, "attaching to %u TLBI instructions: %s",
				    probes->sites.count, strerror(-err));
		if (err)
			explain(start, site, -err);
	}
	if (!probes->links)
		return fail(start, -ENOTSUP,
			    "of %u TLBI instructions none could be attached to: %s%s",
			    probes->sites.count, probes->sites.site[0].why, in_the_way(start));
	return 0;
}

/*
 * The places that call functions with sites that are not probed; operation is the function. Those
 * for which there is no room are not seen.
 */
static void find_calls(const struct start *start, struct tlbi_sites *calls)
{
	for (size_t i = 0; i < start->words; i++) {
		uint64_t address = start->text_address + i * sizeof(*start->text);
		int function = tlbi_sites__called(&start->probes->sites, start->text[i], address);

		if (function < 0)
			continue;
		if (calls->count == TLBI_SITES_MAX) {
			start->probes->sites.function[function].callers++;
			start->probes->sites.function[function].unseen++;
			continue;
		}
		calls->site[calls->count].address = address;
		calls->site[calls->count++].operation = function;
	}
}

/* Counts calls as well, but not those by one such function of another. */
static int attach_calls(const struct start *start, const char *kallsyms, size_t len)
{
	struct tlbi_sites *sites = &start->probes->sites;
	struct tlbi_sites *calls = calloc(1, sizeof(*calls));

	if (!calls)
		return fail(start, -ENOMEM, "out of memory");
	if (tlbi_sites__find_functions(sites)) {
		free(calls);
		return fail(start, -E2BIG,
			    "the kernel has more than %d functions with TLBI "
			    "instructions that cannot be probed",
			    TLBI_FUNCTIONS_MAX);
	}
	find_calls(start, calls);
	tlbi_sites__name(calls, kallsyms, len);
	for (unsigned int i = 0; i < calls->count; i++) {
		struct tlbi_site *call = &calls->site[i];
		struct tlbi_function *function = &sites->function[call->operation];

		if (tlbi_sites__function_at(sites, call->address - call->offset) >= 0)
			continue;
		function->callers++;
		if (attach(start, call->address, sites->count + call->operation))
			function->unseen++;
	}
	free(calls);
	return 0;
}

/* Opening and closing. */

static int load(struct start *start)
{
	struct tlbi_probes *probes = start->probes;
	uint64_t type;
	char text[16];
	int err;

	if (file__read_setting("/sys/bus/event_source/devices/kprobe/type", text, sizeof(text)) ||
	    parse__u64(text, 0, UINT32_MAX, &type))
		return fail(start, -EOPNOTSUPP,
			    "the kernel has no kprobes for perf events "
			    "(CONFIG_KPROBE_EVENTS), or /sys is not mounted");
	start->event_type = type;
	probes->bpf = tlbi_bpf__open_and_load();
	if (probes->bpf)
		return 0;
	err = -errno;
	return fail(start, err, "the kernel refuses BPF programs (%s)%s", strerror(-err),
		    geteuid() ? "; run as root" : "");
}

static int read_cpus(struct start *start)
{
	struct cpus cpus;
	int err = cpus__read_file("/sys/devices/system/cpu/online", &cpus);

	if (!err) {
		start->first_cpu = cpus__next(&cpus, 0);
		err = cpus__read_file("/sys/devices/system/cpu/possible", &cpus);
	}
	if (err)
		return fail(start, err,
			    "reading the lists of CPUs under /sys/devices/system/cpu: %s",
			    strerror(-err));
	start->probes->possible = cpus__count(&cpus);
	start->probes->by_cpu = calloc(start->probes->possible, sizeof(uint64_t));
	return start->probes->by_cpu ? 0 : fail(start, -ENOMEM, "out of memory");
}

static int open_with(struct start *start)
{
	uint32_t *text = NULL;
	char *kallsyms;
	size_t len;
	int err = read_cpus(start);

	if (!err)
		err = load(start);
	if (err)
		return err;
	err = procfs__read("/proc/kallsyms", &kallsyms, &len);
	if (err)
		return fail(start, err, "reading /proc/kallsyms: %s", strerror(-err));
	name_symbols(start->symbols);
	symbols__find_in(kallsyms, len, start->symbols, SYMBOLS);
	err = find_text(start, &text);
	start->text = text;
	if (!err)
		err = find_sites(start, kallsyms, len);
	if (!err) {
		allow_descriptors();
		err = attach_sites(start);
	}
	if (!err)
		err = attach_calls(start, kallsyms, len);
	free(kallsyms);
	free(text);
	return err;
}

int tlbi_probes__open(struct tlbi_probes **out, char *why, size_t size)
{
	struct start start = { .why = why, .why_size = size };
	int err;

	*out = NULL;
	start.probes = calloc(1, sizeof(*start.probes));
	if (!start.probes)
		return fail(&start, -ENOMEM, "out of memory");
	err = open_with(&start);
	if (err) {
		tlbi_probes__close(start.probes);
		return err;
	}
	*out = start.probes;
	return 0;
}

void tlbi_probes__close(struct tlbi_probes *probes)
{
	if (!probes)
		return;
	for (unsigned int i = 0; i < probes->links; i++)
		close(probes->link[i]);
	tlbi_bpf__destroy(probes->bpf);
	free(probes->by_cpu);
	free(probes);
}

/* Reading the counts. */

const struct tlbi_sites *tlbi_probes__sites(const struct tlbi_probes *probes)
{
	return &probes->sites;
}

int tlbi_probes__read(struct tlbi_probes *probes, uint64_t count[TLBI_SITES_MAX])
{
	int fd = bpf_map__fd(probes->bpf->maps.executed);

	memset(count, 0, TLBI_SITES_MAX * sizeof(*count));
	for (unsigned int i = 0; i < probes->sites.count + probes->sites.functions; i++) {
		if (bpf_map_lookup_elem(fd, &i, probes->by_cpu))
			return -errno;
		for (unsigned int cpu = 0; cpu < probes->possible; cpu++)
			count[i] += probes->by_cpu[cpu];
	}
	return 0;
}

/* What struct bpf_link_info of linux/bpf.h is for a kprobe since Linux 6.7. */
struct kprobe_info {
	uint32_t type, id, prog_id, unused;
	uint32_t event_type, unused_too;
	uint64_t func_name;
	uint32_t name_len, offset;
	uint64_t addr, missed;
};
#define UNTOUCHED ((uint64_t)-1)

/* Kernels that do not know the field leave it, or refuse it. */
static bool missed_by_kprobe(int link, uint64_t *missed)
{
	struct kprobe_info info = { .missed = UNTOUCHED };
	uint32_t size = sizeof(info);

	if (bpf_obj_get_info_by_fd(link, &info, &size) || info.missed == UNTOUCHED)
		return false;
	*missed += info.missed;
	return true;
}

bool tlbi_probes__missed(const struct tlbi_probes *probes, uint64_t *missed)
{
	struct bpf_prog_info info = { 0 };
	uint32_t size = sizeof(info);

	*missed = 0;
	for (unsigned int i = 0; i < probes->links; i++)
		if (!missed_by_kprobe(probes->link[i], missed))
			return false;
	if (bpf_obj_get_info_by_fd(bpf_program__fd(probes->bpf->progs.count_tlbi), &info, &size))
		return false;
	*missed += info.recursion_misses;
	return true;
}
