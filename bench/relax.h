/* SPDX-License-Identifier: GPL-2.0-only */
/* What a loop does while it waits: an emulator hands the CPU on at once, hardware saves power. */
#ifndef TLBBENCH_RELAX_H
#define TLBBENCH_RELAX_H

static inline void cpu_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield" ::: "memory");
#else
#error "no pause instruction known for this architecture"
#endif
}

#endif
