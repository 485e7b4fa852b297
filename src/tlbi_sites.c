/* SPDX-License-Identifier: GPL-2.0-only */
#include "tlbi_sites.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tlbi.h"

#define DSB_ISH	    0xd5033b9fu
#define NOP	    0xd503201fu
#define VALE1IS_XZR 0xd50883bfu
#define VALE2IS_XZR 0xd50c83bfu
#define MOV_X9_X30  0xaa1e03e9u

/* b and bl: a distance in words in bits 0 to 25. */
#define BRANCH_MASK	0xfc000000u
#define BRANCH		0x14000000u
#define BRANCH_AND_LINK 0x94000000u

/* BRK #4: arch/arm64/include/asm/brk-imm.h */
#define KPROBE 0xd4200080u

/*
 * How far before an instruction the kernel looks for an exclusive load, and what it takes for one:
 * arch/arm64/kernel/probes/decode-insn.c. Linux 6.1 takes loads with acquire for exclusive ones.
 */
#define LOOK_BACK	32
#define EXCLUSIVE	0x3f400000u
#define EXCLUSIVE_LOAD	0x08400000u
#define EXCLUSIVE_STORE 0x08000000u

/* arch/arm64/kernel/vmlinux.lds.S, and arch_populate_kprobe_blacklist(). */
const struct tlbi_area tlbi_areas[TLBI_AREAS] = {
	{ "__entry_text_start", "__entry_text_end", "the entry code" },
	{ "__irqentry_text_start", "__irqentry_text_end", "the entry code of interrupts" },
	{ "__noinstr_text_start", "__noinstr_text_end", "noinstr code" },
	{ "__kprobes_text_start", "__kprobes_text_end", "the code of kprobes" },
	{ "__idmap_text_start", "__idmap_text_end", "code that runs without the MMU" },
	{ "__hyp_idmap_text_start", "__hyp_idmap_text_end", "the hypervisor's code" },
	{ "__hyp_text_start", "__hyp_text_end", "the hypervisor's code" },
};

/*
 * ARM64_WORKAROUND_REPEAT_TLBI: in 6.1 and 6.12 each TLBI is followed by "dsb ish" and itself, or
 * by nop where the CPU needs none; the two also stand among the kernel's alternatives, where they
 * are never executed. 7.3 repeats vale1is or vale2is of xzr, if at all
 * (arch/arm64/include/asm/tlbflush.h).
 */
static bool is_repeat(const uint32_t *text, size_t at)
{
	if (text[at] == VALE1IS_XZR || text[at] == VALE2IS_XZR)
		return true;
	return at >= 2 && text[at - 1] == DSB_ISH && text[at - 2] == text[at];
}

static unsigned int distance_of_load(const uint32_t *text, size_t at)
{
	for (unsigned int back = 1; back <= LOOK_BACK && back <= at; back++) {
		if ((text[at - back] & EXCLUSIVE) == EXCLUSIVE_STORE)
			return 0;
		if ((text[at - back] & EXCLUSIVE) == EXCLUSIVE_LOAD)
			return back;
	}
	return 0;
}

int tlbi_sites__find_in(struct tlbi_sites *sites, const uint32_t *text, size_t words,
			uint64_t address)
{
	memset(sites, 0, sizeof(*sites));
	for (size_t i = 0; i < words; i++) {
		int operation = tlbi__decode(text[i]);

		sites->breakpoints += text[i] == KPROBE;
		if (operation < 0)
			continue;
		if (sites->count == TLBI_SITES_MAX - TLBI_FUNCTIONS_MAX)
			return -E2BIG;
		sites->site[sites->count++] = (struct tlbi_site){
			.address = address + i * sizeof(*text),
			.word = text[i],
			.operation = operation,
			.repeat = is_repeat(text, i),
			.loaded = distance_of_load(text, i),
		};
	}
	return 0;
}

/* The first site at or after an address. */
static unsigned int first_from(const struct tlbi_sites *sites, uint64_t address)
{
	unsigned int low = 0, high = sites->count;

	while (low < high) {
		unsigned int middle = (low + high) / 2;

		if (sites->site[middle].address < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void tlbi_sites__name(struct tlbi_sites *sites, const char *kallsyms, size_t len)
{
	const char *end = kallsyms + len;
	uint64_t start[TLBI_SITES_MAX] = { 0 }; /* of the symbol before each site */
	struct symbol_line line;

	while (symbols__next(&kallsyms, end, &line)) {
		unsigned int at = first_from(sites, line.address);
		struct tlbi_site *site = &sites->site[at];

		if (at == sites->count || !strchr("tTwW", line.type) || line.address <= start[at])
			continue;
		start[at] = line.address;
		snprintf(site->symbol, sizeof(site->symbol), "%.*s", (int)line.len, line.name);
	}
	/* A function with several sites was noted at the first of them. */
	for (unsigned int i = 0; i < sites->count; i++) {
		struct tlbi_site *site = &sites->site[i];

		if (i && start[i - 1] > start[i]) {
			start[i] = start[i - 1];
			memcpy(site->symbol, site[-1].symbol, sizeof(site->symbol));
		}
		site->offset = start[i] ? site->address - start[i] : 0;
	}
}

static const char *area_of(uint64_t address, const struct symbol *bounds)
{
	for (int i = 0; i < TLBI_AREAS; i++)
		if (address >= bounds[2 * i].address && address < bounds[2 * i + 1].address)
			return tlbi_areas[i].what;
	return NULL;
}

/*
 * Functions that ftrace knows begin with room for a call: after a BTI perhaps, "mov x9, x30" and a
 * nop or the call (arch/arm64/kernel/ftrace.c). The kernel's inline functions are notrace also
 * where the compiler did not inline them, and there perf events refuse kprobes, unless the kernel
 * was built with CONFIG_KPROBE_EVENTS_ON_NOTRACE (within_notrace_func(),
 * kernel/trace/trace_kprobe.c).
 */
static bool is_notrace(const uint32_t entry[TLBI_ENTRY_WORDS])
{
	for (int i = 0; i < TLBI_ENTRY_WORDS - 1; i++)
		if (entry[i] == MOV_X9_X30 || (entry[i] == NOP && entry[i + 1] == NOP))
			return false;
	return true;
}

void tlbi_site__explain(struct tlbi_site *site, int err, const struct symbol *bounds,
			const uint32_t entry[TLBI_ENTRY_WORDS])
{
	const char *area = area_of(site->address, bounds);

	if (err == EINVAL && area)
		snprintf(site->why, sizeof(site->why), "in %s, where kprobes are refused", area);
	else if (err == EINVAL && site->loaded && site->loaded * sizeof(site->word) <= site->offset)
		snprintf(site->why, sizeof(site->why),
			 "after an exclusive load, where kprobes are refused");
	else if (err == EINVAL && site->offset && is_notrace(entry))
		snprintf(site->why, sizeof(site->why),
			 "in a notrace function, and the kernel lacks "
			 "CONFIG_KPROBE_EVENTS_ON_NOTRACE");
	else
		snprintf(site->why, sizeof(site->why), "the kernel refuses a kprobe: %s",
			 strerror(err));
}

int tlbi_sites__find_functions(struct tlbi_sites *sites)
{
	struct tlbi_function *last = NULL;

	sites->functions = 0;
	for (unsigned int i = 0; i < sites->count; i++) {
		const struct tlbi_site *site = &sites->site[i];
		uint64_t start = site->address - site->offset;

		if (!site->why[0] || !site->symbol[0])
			continue;
		if (!last || last->start != start) {
			if (sites->functions == TLBI_FUNCTIONS_MAX)
				return -E2BIG;
			last = &sites->function[sites->functions++];
			last->start = start;
			memcpy(last->symbol, site->symbol, sizeof(last->symbol));
		}
		last->sites++;
	}
	return 0;
}

int tlbi_sites__function_at(const struct tlbi_sites *sites, uint64_t start)
{
	for (unsigned int i = 0; i < sites->functions && sites->function[i].start <= start; i++)
		if (sites->function[i].start == start)
			return i;
	return -1;
}

int tlbi_sites__called(const struct tlbi_sites *sites, uint32_t word, uint64_t address)
{
	int64_t distance = (int32_t)(word << 6) >> 6;

	if ((word & BRANCH_MASK) != BRANCH && (word & BRANCH_MASK) != BRANCH_AND_LINK)
		return -1;
	return tlbi_sites__function_at(sites, address + distance * sizeof(word));
}
