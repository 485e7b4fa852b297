/* SPDX-License-Identifier: GPL-2.0-only */
#include "vm/arch.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "common/diag.h"

/* At the reset vector, 16 bytes below the end: mov al, 0x10; out 0xf4, al; hlt. */
static const uint8_t x86_probe[] = { 0xb0, 0x10, 0xe6, 0xf4, 0xf4 };

static const char *const x86_results[] = { "-serial", "chardev:results", NULL };
static const char *const arm_results[] = { "-device", "pci-serial,chardev=results", NULL };

static const struct arch arches[] = {
	{
		.name = "x86_64",
		.elf_name = "x86-64",
		.elf_machine = EM_X86_64,
		.debian = "amd64",
		.flavour = "cloud-amd64",
		.qemu = "qemu-system-x86_64",
		.qemu_package = "qemu-system-x86",
		.machine = "q35",
		.cpu = "max",
		.console = "ttyS0",
		.results_port = "/dev/ttyS1",
		.results_device = x86_results,
		.hmat = ",hmat=on",
		/* xAPIC ids end there; more needs x2APIC with interrupt remapping. */
		.max_cpus = 255,
		.probe = x86_probe,
		.probe_size = sizeof(x86_probe),
	},
	{
		.name = "aarch64",
		.elf_name = "AArch64",
		.elf_machine = EM_AARCH64,
		.debian = "arm64",
		.flavour = "cloud-arm64",
		.qemu = "qemu-system-aarch64",
		.qemu_package = "qemu-system-arm",
		.machine = "virt,gic-version=3",
		.cpu = "max,pauth-impdef=on",
		.console = "ttyAMA0",
		.results_port = "/dev/ttyS0",
		.results_device = arm_results,
		.max_cpus = 255,
	},
};

const struct arch *arch__find(const char *name)
{
	if (!strcmp(name, "amd64"))
		name = "x86_64";
	if (!strcmp(name, "arm64"))
		name = "aarch64";
	for (size_t i = 0; i < sizeof(arches) / sizeof(arches[0]); i++)
		if (!strcmp(arches[i].name, name))
			return &arches[i];
	return NULL;
}

const struct arch *arch__find_or_err(const char *option, const char *name)
{
	const struct arch *arch = arch__find(name);

	if (!arch) {
		diag__error("%s: expected %s, got \"%s\"", option, arch__names(), name);
		exit(EXIT_USAGE);
	}
	return arch;
}

bool arch__is_own(const struct arch *arch)
{
	struct utsname host;

	return uname(&host) == 0 && !strcmp(host.machine, arch->name);
}

const char *arch__names(void)
{
	return "x86_64, aarch64 (arm64)";
}
