/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where a result was measured: what can make two results differ. What cannot be read is null.
 *
 *	kernel		release, version, build_id, cmdline, config_hash
 *	cpu		model, flags { pcid, invpcid, invlpgb, hypervisor }, possible, online,
 *allowed, smt, governors
 *	memory		nodes, nodes_with_memory, tiers, total_kib, page_size, thp, thp_defrag, ksm,
 *			lru_gen, numa_balancing, demotion, swappiness, zswap, swap
 *	cgroup		path, memory_max, memory_high, memory_swap_max, cpu_max, cpuset_cpus
 *	machine		hypervisor, accelerator, qemu, guest_tool
 */
#ifndef TLBBENCH_ENVIRONMENT_H
#define TLBBENCH_ENVIRONMENT_H

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

/* New reference; NULL if out of memory. Prints nothing. */
json_t *environment__record(void);

/*
 * Whether the times measured here are those of an emulator (TCG), and so an indication only.
 * @environment: of this or another machine, as environment__record() makes it.
 */
bool environment__emulated(const json_t *environment);

/*
 * The GNU build id in ELF notes (/sys/kernel/notes), as hexadecimal text.
 * Returns 0, -ENOENT (there is none), -EBADMSG (cut or malformed notes), -ENAMETOOLONG.
 */
int environment__parse_build_id(const void *notes, size_t len, char *out, size_t size);

/*
 * The value of @key in the first block of the text of /proc/cpuinfo ("model name\t: value").
 * Returns 0, -ENOENT, -ENAMETOOLONG.
 */
int environment__parse_cpuinfo(const char *text, const char *key, char *out, size_t size);

/* /proc/swaps as an array of { name, type, size_kib, priority }. NULL: not what the kernel writes.
 */
json_t *environment__parse_swaps(const char *text);

#endif
