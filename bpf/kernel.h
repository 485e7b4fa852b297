/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel's types as the probes need them: only the fields that are read, found by name in the
 * running kernel's BTF at load time (CO-RE). No generated header, nothing taken from the target.
 */
#ifndef TLBSTAT_BPF_KERNEL_H
#define TLBSTAT_BPF_KERNEL_H

#include <linux/types.h>
#include <stdbool.h>

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

/* arch/x86/include/asm/mmu.h; tlb_gen is an atomic64_t. */
typedef struct {
	u64 ctx_id;
	u16 global_asid; /* since 6.15, with CONFIG_BROADCAST_TLB_FLUSH */
} mm_context_t;

struct mm_struct {
	mm_context_t context;
};

/* arch/x86/include/asm/tlbflush.h */
struct flush_tlb_info {
	struct mm_struct *mm;
	unsigned long start;
	unsigned long end;
	unsigned int initiating_cpu;
	u8 stride_shift;
	u8 freed_tables;
};

/* Read as a whole, so the layout (two 64-bit words) is that of all kernels since 4.14. */
struct tlb_context {
	u64 ctx_id;
	u64 tlb_gen;
};

#define TLB_NR_DYN_ASIDS 6

struct tlb_state {
	struct mm_struct *loaded_mm;
	u16 loaded_mm_asid;
	struct tlb_context ctxs[TLB_NR_DYN_ASIDS];
};

struct tlb_state_shared {
	bool is_lazy;
};

struct cpumask {
	unsigned long bits[1];
};

struct arch_tlbflush_unmap_batch {
	struct cpumask cpumask;
	bool unmapped_pages; /* since 6.15 */
	u8 nr_mms;	     /* with kernel-patches/linux-7.3: the length of its list */
};

/* include/linux/smp_types.h, include/linux/smp.h */
struct __call_single_data {
	void (*func)(void *info);
	void *info;
};

#pragma clang attribute pop

/* The kernel's value for "no range: everything". */
#define TLB_FLUSH_ALL (~0UL)

/* cpu_tlbstate.loaded_mm while a switch is under way. */
#define LOADED_MM_SWITCHING 1UL

/* init_mm.context.ctx_id; every other mm counts up from 2 (arch/x86/include/asm/mmu.h). */
#define INIT_MM_CTX_ID 1

/*
 * What a kprobe gets: the order in which entry code saves the registers; not relocated. The define
 * tells bpf_tracing.h that these are the kernel's field names.
 */
#define __VMLINUX_H__
#if defined(__TARGET_ARCH_arm64)
struct pt_regs;
/* What struct pt_regs begins with: arch/arm64/include/uapi/asm/ptrace.h. */
struct user_pt_regs {
	u64 regs[31];
	u64 sp, pc, pstate;
};
#else
struct pt_regs {
	unsigned long r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di;
	unsigned long orig_ax, ip, cs, flags, sp, ss;
};
#endif

#endif
