/* SPDX-License-Identifier: GPL-2.0-only */
#include "vm/accel.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/diag.h"
#include "common/file.h"
#include "common/stop.h"
#include "vm/cache.h"
#include "vm/child.h"
#include "vm/workdir.h"

#define PROBE_NS      UINT64_C(5000000000)
#define FIRMWARE_SIZE 65536
#define RESET_VECTOR  (FIRMWARE_SIZE - 16)

static const struct {
	const char *name, *argument;
} accels[ACCEL_COUNT] = {
	[ACCEL_AUTO] = { "auto", "tcg,thread=single" },
	[ACCEL_KVM] = { "kvm", "kvm" },
	[ACCEL_TCG_SINGLE] = { "tcg-single", "tcg,thread=single" },
	[ACCEL_TCG_MULTI] = { "tcg-multi", "tcg,thread=multi" },
};

bool accel__parse(const char *name, enum accel *out)
{
	for (int i = 0; i < ACCEL_COUNT; i++) {
		if (!strcmp(accels[i].name, name)) {
			*out = i;
			return true;
		}
	}
	return false;
}

const char *accel__argument(enum accel accel)
{
	return accels[accel].argument;
}

/* "BOOT_ID QEMU_VERSION", so that either change asks again. */
static bool verdict_key(const char *qemu_version, char *out, size_t size)
{
	char boot_id[64];

	if (file__read_setting("/proc/sys/kernel/random/boot_id", boot_id, sizeof(boot_id)))
		return false;
	return snprintf(out, size, "%s %s", boot_id, qemu_version) < (int)size;
}

static char *verdict_path(const struct arch *arch)
{
	char name[64];

	snprintf(name, sizeof(name), "kvm-%s", arch->name);
	return cache__path(name);
}

/* True if the cache knows; *works is the verdict. */
static bool recall(const struct arch *arch, const char *qemu_version, bool *works)
{
	char key[128], line[192], *path = verdict_path(arch);
	bool known = false;

	if (path && verdict_key(qemu_version, key, sizeof(key)) &&
	    !file__read_setting(path, line, sizeof(line)) && !strncmp(line, key, strlen(key))) {
		const char *verdict = line + strlen(key);

		*works = !strcmp(verdict, " works");
		known = *works || !strcmp(verdict, " broken");
	}
	free(path);
	return known;
}

static void remember(const struct arch *arch, const char *qemu_version, bool works)
{
	char key[128], line[192], *path = verdict_path(arch);

	if (path && verdict_key(qemu_version, key, sizeof(key))) {
		snprintf(line, sizeof(line), "%s %s\n", key, works ? "works" : "broken");
		file__replace(path, line, strlen(line));
	}
	free(path);
}

void accel__mark_broken(const struct arch *arch, const char *qemu_version)
{
	remember(arch, qemu_version, false);
}

static int write_firmware(const struct arch *arch, const char *path)
{
	static uint8_t firmware[FIRMWARE_SIZE];

	memset(firmware, 0xf4, sizeof(firmware)); /* hlt */
	memcpy(firmware + RESET_VECTOR, arch->probe, arch->probe_size);
	return file__replace(path, firmware, sizeof(firmware));
}

/* Runs QEMU on the firmware; true if it executed the few instructions in time. */
static bool run_probe(const struct arch *arch, const char *firmware)
{
	const char *const argv[] = { arch->qemu,
				     "-accel",
				     "kvm",
				     "-M",
				     arch->machine,
				     "-cpu",
				     arch->cpu,
				     "-m",
				     "16M",
				     "-nodefaults",
				     "-no-user-config",
				     "-display",
				     "none",
				     "-no-reboot",
				     "-bios",
				     firmware,
				     "-device",
				     "isa-debug-exit,iobase=0xf4,iosize=4",
				     NULL };
	uint64_t deadline = stop__now_ns() + PROBE_NS;
	pid_t pid = child__start(argv, &(struct child_setup){ 0 });
	int status;

	if (pid < 0)
		return false;
	while (stop__now_ns() < deadline && !stop__asked()) {
		if (waitpid(pid, &status, WNOHANG) == pid)
			return WIFEXITED(status) && WEXITSTATUS(status) == ARCH_PROBE_EXIT;
		usleep(10000);
	}
	child__stop(pid, 0);
	return false;
}

static bool probe(const struct arch *arch)
{
	struct workdir workdir;
	char *firmware;
	bool works = false;

	if (workdir__create(&workdir))
		return false;
	firmware = workdir__path(&workdir, "firmware");
	if (firmware && !write_firmware(arch, firmware))
		works = run_probe(arch, firmware);
	free(firmware);
	workdir__remove(&workdir);
	return works;
}

/* NULL if KVM works here; else why not. */
static const char *kvm_trouble(const struct arch *arch, const char *qemu_version)
{
	bool works;
	int fd;

	if (!arch__is_own(arch))
		return "the guest's architecture is not the host's";
	fd = open("/dev/kvm", O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? "there is no /dev/kvm" : "/dev/kvm cannot be opened";
	close(fd);
	if (!arch->probe)
		return "tlbvm has no probe for it on this architecture";
	if (!recall(arch, qemu_version, &works)) {
		works = probe(arch);
		remember(arch, qemu_version, works);
	}
	return works ? NULL : "/dev/kvm exists, but a guest does not run under it";
}

int accel__choose(const struct arch *arch, const char *qemu_version, enum accel wanted,
		  enum accel *out)
{
	const char *trouble;

	*out = wanted;
	if (wanted != ACCEL_AUTO && wanted != ACCEL_KVM)
		return 0;
	trouble = kvm_trouble(arch, qemu_version);
	if (!trouble) {
		*out = ACCEL_KVM;
		return 0;
	}
	if (wanted == ACCEL_KVM) {
		diag__error("use KVM: %s", trouble);
		diag__hint("--accel tcg-single emulates: slower, counts are exact, times are not");
		return -ENOTSUP;
	}
	diag__verbose("no KVM: %s; emulating", trouble);
	*out = ACCEL_TCG_SINGLE;
	return 0;
}
