/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * arm64's TLB invalidations: reads the kernel's text, in which src/tlbi_probes.c finds them, and
 * counts at a kprobe on each of them.
 */
#include <linux/bpf.h>

#include "kernel.h"

#include <bpf/bpf_helpers.h>

#include "tlbi_limits.h"

char LICENSE[] SEC("license") = "GPL";

/* Shared with user space, which asks for a chunk of the kernel's memory; size in bytes. */
__u64 text_address;
__u32 text_size;
__u8 text[65536];

/* 0 or a negative errno. */
SEC("syscall")
int read_text(void *unused)
{
	u32 size = text_size;

	if (size > sizeof(text))
		size = sizeof(text);
	return bpf_probe_read_kernel(text, size, (const void *)text_address);
}

/* How often each site was executed; sites are numbered by user space. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__type(key, u32);
	__type(value, u64);
	__uint(max_entries, TLBI_SITES_MAX);
} executed SEC(".maps");

/* It never interrupts itself on one CPU: the kernel skips that run, and counts it as missed. */
SEC("kprobe")
int count_tlbi(void *registers)
{
	u32 site = bpf_get_attach_cookie(registers);
	u64 *count = bpf_map_lookup_elem(&executed, &site);

	if (count)
		++*count;
	return 0;
}
