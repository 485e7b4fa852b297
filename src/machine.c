/* SPDX-License-Identifier: GPL-2.0-only */
/* What the machine is, as far as the probes care. */
#include "probes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "common/diag.h"
#include "common/file.h"
#include "common/parse.h"
#include "common/procfs.h"
#include "machine.h"

/*
 * The hypervisor's name from CPUID leaf 0x40000000, "" on bare metal. The kernel patches its flush
 * calls by the same leaf (arch/x86/kernel/cpu/hypervisor.c).
 */
static void hypervisor_name(char name[13])
{
	memset(name, 0, 13);
#if defined(__x86_64__)
	unsigned int eax, ebx, ecx, edx;

	if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx) || !(ecx & (1u << 31)))
		return;
	__cpuid(0x40000000, eax, ebx, ecx, edx);
	memcpy(name, &ebx, 4);
	memcpy(name + 4, &ecx, 4);
	memcpy(name + 8, &edx, 4);
#endif
}

static const char *paravirt_function(void)
{
	char name[13];

	hypervisor_name(name);
	if (strcmp(name, "Microsoft Hv") == 0)
		return "hyperv_flush_tlb_multi";
	if (strcmp(name, "XenVMMXenVMM") == 0)
		return "xen_flush_tlb_multi";
	return "kvm_flush_tlb_multi";
}

/* INVLPGB: CPUID leaf 0x80000008, EBX bit 3 (AMD manual, volume 3, appendix E). */
static bool has_invlpgb(void)
{
#if defined(__x86_64__)
	unsigned int eax, ebx, ecx, edx;

	if (__get_cpuid(0x80000008, &eax, &ebx, &ecx, &edx))
		return ebx >> 3 & 1;
#endif
	return false;
}

/* Arm ARM: every CPU has the TLBI instructions, and what they name is flushed on all CPUs at once.
 */
static bool has_tlbi(void)
{
#if defined(__aarch64__)
	return true;
#else
	return false;
#endif
}

/* The kernel's default of 33 pages (arch/x86/mm/tlb.c) unless debugfs says otherwise. */
static uint64_t flush_ceiling(void)
{
	char text[32];
	uint64_t pages;

	if (file__read_setting("/sys/kernel/debug/x86/tlb_single_page_flush_ceiling", text,
			       sizeof(text)) == 0 &&
	    parse__u64(text, 0, UINT64_MAX, &pages) == 0)
		return pages;
	return 33;
}

int machine__read(struct machine *machine)
{
	struct cpus online;
	int err = cpus__read_file("/sys/devices/system/cpu/possible", &machine->possible_cpus);

	if (!err)
		err = cpus__read_file("/sys/devices/system/cpu/online", &online);
	if (err)
		return diag__fail(-err, "read the lists of CPUs under /sys/devices/system/cpu");
	machine->possible = 1;
	cpus__for_each (cpu, &machine->possible_cpus)
		machine->possible = cpu + 1;
	machine->online = cpus__count(&online);
	machine->invlpgb = has_invlpgb();
	machine->tlbi = has_tlbi();
	machine->ceiling = flush_ceiling();
	machine->paravirt = paravirt_function();
	return 0;
}
