/* SPDX-License-Identifier: GPL-2.0-only */
#include "vm/qemu.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <jansson.h>

#include "common/diag.h"
#include "common/stop.h"
#include "vm/child.h"
#include "vm/numa.h"

/* From here on, emulation alone makes CPUs wait so long that the kernel's watchdogs bark. */
#define MANY_CPUS 64

/* Debian's CONFIG_HZ, all versions. Only delays depend on it. */
#define GUEST_HZ 250

char *qemu__version(const struct arch *arch)
{
	struct captured captured;
	char *version = NULL;
	int err = child__must_run((const char *const[]){ arch->qemu, "--version", NULL }, NULL,
				  arch->qemu_package, &captured, NULL, NULL);

	if (!err && sscanf(captured.out, "QEMU emulator version %m[0-9.]", &version) != 1) {
		version = NULL;
		diag__error("%s --version answered \"%.60s\", where \"QEMU emulator version N\" "
			    "was expected",
			    arch->qemu, captured.out);
	}
	captured__free(&captured);
	return version;
}

/* 1G is enough for a kernel, the initramfs and small workloads; per-CPU areas come on top. */
uint64_t qemu__default_memory(unsigned int cpus)
{
	uint64_t mib = 1024 + (cpus > 16 ? (cpus - 16) * 8 : 0);

	return ((mib + 255) & ~UINT64_C(255)) << 20;
}

/*
 * An emulated x86 CPU shows the host's time-stamp counter, unscaled (QEMU: cpu_get_host_ticks()).
 * Telling the kernel the delay loop's speed spares each CPU a calibration that takes long, and
 * longer the more CPUs share the emulator: 112 CPUs come up in 8 s instead of 34 s.
 * 0 where the host has no such counter.
 */
static unsigned long loops_per_jiffy(void)
{
#ifdef __x86_64__
	uint64_t start_ns = stop__now_ns(), ticks = __builtin_ia32_rdtsc(), ns;

	nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
	ticks = __builtin_ia32_rdtsc() - ticks;
	ns = stop__now_ns() - start_ns;
	return (unsigned long)((double)ticks * 1e9 / (double)ns / GUEST_HZ);
#else
	return 0;
#endif
}

static void append_x86(FILE *out, enum accel accel)
{
	unsigned long lpj = accel == ACCEL_KVM ? 0 : loops_per_jiffy();

	if (accel == ACCEL_KVM)
		return;
	/*
	 * Starved CPUs let the kernel's clock watchdog blame the counter, and its look whether the
	 * timer ticks find that it does not, which is a panic. (Under KVM it does not look.)
	 */
	fputs(" tsc=reliable no_timer_check", out);
	if (lpj)
		fprintf(out, " lpj=%lu", lpj);
}

/*
 * panic=-1 reboots at once, which -no-reboot turns into QEMU's end. The root file system is a
 * ramfs, for a tmpfs could be swapped out by the very reclaim that is to be measured.
 */
char *qemu__append(const struct guest *guest, enum accel accel)
{
	char *line = NULL;
	size_t length;
	FILE *out = open_memstream(&line, &length);

	if (!out)
		return NULL;
	fprintf(out, "console=%s panic=-1 oops=panic rdinit=/init rootfstype=ramfs",
		guest->arch->console);
	if (guest->arch->elf_machine == EM_X86_64)
		append_x86(out, accel);
	if (guest->cpus >= MANY_CPUS && accel != ACCEL_KVM) {
		diag__verbose("%u emulated CPUs: soft-lockup and RCU-stall reports are turned off",
			      guest->cpus);
		fputs(" nowatchdog rcupdate.rcu_cpu_stall_suppress=1", out);
	}
	if (guest->append)
		fprintf(out, " %s", guest->append);
	if (fclose(out)) {
		free(line);
		return NULL;
	}
	return line;
}

static const char *thread_mode(enum accel accel)
{
	return accel == ACCEL_TCG_SINGLE ? "single" : accel == ACCEL_TCG_MULTI ? "multi" : NULL;
}

char *qemu__facts(const struct qemu *qemu)
{
	const struct guest *guest = qemu->guest;
	json_t *json = json_pack(
		"{s:s, s:s*, s:b, s:s, s:i, s:I, s:i, s:I, s:s, s:s, s:s, s:s, s:s*, s:s}",
		"accelerator", qemu->accel == ACCEL_KVM ? "kvm" : "tcg", "thread",
		thread_mode(qemu->accel), "emulated", qemu->accel != ACCEL_KVM, "qemu",
		guest->qemu_version, "cpus", (int)guest->cpus, "memory_bytes",
		(json_int_t)qemu->memory, "nodes", (int)guest->nodes, "lower_tier_bytes",
		(json_int_t)guest->lower_tier, "arch", guest->arch->name, "machine",
		guest->arch->machine, "cpu_model", guest->arch->cpu, "kernel", guest->kernel->name,
		"kernel_version", guest->kernel->version, "tlbvm", TLBSTAT_VERSION);
	char *text = json ? json_dumps(json, JSON_INDENT(2)) : NULL;

	json_decref(json);
	return text;
}

struct arguments {
	const char *arg[512];
	size_t count;
};

static void add(struct arguments *arguments, const char *const *values)
{
	size_t room = sizeof(arguments->arg) / sizeof(arguments->arg[0]) - 1;

	for (; *values && arguments->count < room; values++)
		arguments->arg[arguments->count++] = *values;
	arguments->arg[arguments->count] = NULL;
}

/*
 * QEMU's description of the image, to be freed; NULL if out of memory. In there, a comma ends a
 * value, and two are one. What the guest writes goes to a file that nobody else sees.
 */
static char *describe_root(const char *path)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	if (!out)
		return NULL;
	fputs("if=none,id=root,format=raw,snapshot=on,file=", out);
	for (; *path; path++)
		fprintf(out, *path == ',' ? "%c," : "%c", *path);
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}

static void show(const struct arguments *arguments)
{
	char *line = NULL;
	size_t length;
	FILE *out = open_memstream(&line, &length);

	for (size_t i = 0; out && i < arguments->count; i++)
		fprintf(out, strchr(arguments->arg[i], ' ') ? " '%s'" : " %s", arguments->arg[i]);
	if (out && !fclose(out))
		diag__verbose("starting%s", line);
	free(line);
}

pid_t qemu__start(const struct qemu *qemu, int console, int results, int errors)
{
	const struct guest *guest = qemu->guest;
	const struct arch *arch = guest->arch;
	char machine[64], cpus[32], memory[32], console_dev[64], results_dev[64];
	char **numa = numa__arguments(guest, qemu->memory);
	char *root = guest->root ? describe_root(guest->root) : NULL;
	struct arguments arguments = { .count = 0 };
	const int keep[] = { console, results, -1 };
	pid_t pid;

	if (!numa || (guest->root && !root)) {
		pid = -ENOMEM;
		goto out;
	}
	snprintf(machine, sizeof(machine), "%s%s", arch->machine,
		 guest->lower_tier ? arch->hmat : "");
	/*
	 * CPUs that share a cache must be of one node, or the kernel complains: a node is a socket,
	 * or if they differ in size, a CPU is.
	 */
	snprintf(cpus, sizeof(cpus), "%u,sockets=%u", guest->cpus,
		 guest->cpus % guest->nodes ? guest->cpus : guest->nodes);
	snprintf(memory, sizeof(memory), "%lluM",
		 (unsigned long long)(qemu->memory + guest->lower_tier) >> 20);
	snprintf(console_dev, sizeof(console_dev), "file,id=console,path=/proc/self/fd/%d",
		 console);
	snprintf(results_dev, sizeof(results_dev), "file,id=results,path=/proc/self/fd/%d",
		 results);
	add(&arguments, (const char *const[]){ arch->qemu,
					       "-nodefaults",
					       "-no-user-config",
					       "-display",
					       "none",
					       "-no-reboot",
					       "-accel",
					       accel__argument(qemu->accel),
					       "-M",
					       machine,
					       "-cpu",
					       arch->cpu,
					       "-smp",
					       cpus,
					       "-m",
					       memory,
					       "-kernel",
					       guest->kernel->image,
					       "-initrd",
					       qemu->initramfs,
					       "-append",
					       qemu->append,
					       "-chardev",
					       console_dev,
					       "-serial",
					       "chardev:console",
					       "-chardev",
					       results_dev,
					       NULL });
	add(&arguments, arch->results_device);
	if (root)
		add(&arguments, (const char *const[]){ "-drive", root, "-device",
						       "virtio-blk-pci,drive=root", NULL });
	add(&arguments, (const char *const *)numa);
	add(&arguments, guest->qemu_args);
	show(&arguments);
	pid = child__start(arguments.arg, &(struct child_setup){ .err = errors, .keep = keep });
out:
	numa__free(numa);
	free(root);
	return pid;
}
