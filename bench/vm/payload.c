/* SPDX-License-Identifier: GPL-2.0-only */
#include "vm/payload.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/diag.h"
#include "vm/child.h"
#include "vm/initramfs.h"
#include "vm/job.h"
#include "vm/modules.h"
#include "vm/sysroot.h"

#define BUSYBOX "/bin/busybox"

static void add_folders(struct initramfs *archive)
{
	static const char *const folders[] = { "/bin", "/sbin",	 "/usr/bin", "/usr/sbin",
					       "/etc", "/dev",	 "/proc",    "/sys",
					       "/run", "/tlbvm", "/var" };

	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		initramfs__add_folder(archive, folders[i], 0755);
	initramfs__add_folder(archive, "/root", 0700);
	initramfs__add_folder(archive, "/tmp", 01777);
	initramfs__add_data(archive, "/etc/passwd", 0644, "root:x:0:0:root:/root:/bin/sh\n", 30);
	initramfs__add_data(archive, "/etc/group", 0644, "root:x:0:\n", 10);
	/* Before init has mounted /dev, the kernel opens these two. */
	initramfs__add_device(archive, "/dev/console", 0600, 5, 1);
	initramfs__add_device(archive, "/dev/null", 0666, 1, 3);
}

/* What stops a program from running in the guest, or NULL. */
static const char *elf_trouble(const struct arch *arch, const uint8_t *data, size_t size)
{
	Elf64_Ehdr header;

	if (size < sizeof(header) || memcmp(data, ELFMAG, SELFMAG))
		return NULL;
	memcpy(&header, data, sizeof(header));
	if (header.e_machine != arch->elf_machine)
		return "it is built for another architecture";
	if (header.e_ident[EI_CLASS] != ELFCLASS64 ||
	    (header.e_type != ET_EXEC && header.e_type != ET_DYN) ||
	    header.e_phentsize != sizeof(Elf64_Phdr) || header.e_phoff > size ||
	    header.e_phnum > (size - header.e_phoff) / sizeof(Elf64_Phdr))
		return NULL;
	for (unsigned int i = 0; i < header.e_phnum; i++) {
		Elf64_Phdr program;

		memcpy(&program, data + header.e_phoff + i * sizeof(program), sizeof(program));
		if (program.p_type == PT_INTERP)
			return "it is linked dynamically, and the guest has no libraries: link it "
			       "with -static or -static-pie";
	}
	return NULL;
}

static const char *program_trouble(const struct arch *arch, const char *path)
{
	const char *trouble = NULL;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat stat;
	void *data;

	if (fd < 0)
		return NULL;
	if (fstat(fd, &stat) == 0 && S_ISREG(stat.st_mode) && stat.st_size > 0) {
		data = mmap(NULL, (size_t)stat.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (data != MAP_FAILED) {
			trouble = elf_trouble(arch, data, (size_t)stat.st_size);
			munmap(data, (size_t)stat.st_size);
		}
	}
	close(fd);
	return trouble;
}

static int add_puts(struct initramfs *archive, const struct guest *guest)
{
	int err = 0;

	for (size_t i = 0; i < guest->put_count && !err; i++) {
		const struct put_file *put = &guest->puts[i];
		const char *trouble = program_trouble(guest->arch, put->source);

		/* A root file system has libraries. */
		if (trouble && !guest->root)
			diag__warn("%s will not run in the guest: %s", put->source, trouble);
		err = initramfs__add_file(archive, put->target, put->source);
	}
	return err;
}

static void record(FILE *job, const char *key, const char *value)
{
	fprintf(job, "%s=%s%c", key, value, 0);
}

/* The agent makes the links to its commands. */
static int add_foreign_busybox(struct initramfs *archive, FILE *job, const struct guest *guest)
{
	char *sysroot, *path;
	int err;

	sysroot = sysroot__find(guest->arch, &err);
	if (!sysroot)
		return err;
	path = sysroot__busybox(sysroot);
	err = path ? initramfs__add_file(archive, BUSYBOX, path) : -ENOENT;
	record(job, JOB_BUSYBOX, BUSYBOX);
	free(path);
	free(sysroot);
	return err;
}

/* The host's busybox serves a guest of the same architecture. */
static int add_busybox(struct initramfs *archive, const struct guest *guest)
{
	struct captured captured;
	char *save = NULL;
	int err;

	if (access(BUSYBOX, X_OK) < 0) {
		diag__fail(errno, "open %s", BUSYBOX);
		diag__hint("it comes with the package busybox-static: apt install busybox-static");
		return -ENOENT;
	}
	if (program_trouble(guest->arch, BUSYBOX)) {
		diag__error("%s will not run in the guest: %s", BUSYBOX,
			    program_trouble(guest->arch, BUSYBOX));
		diag__hint("install the package busybox-static in place of busybox");
		return -ENOEXEC;
	}
	err = initramfs__add_file(archive, BUSYBOX, BUSYBOX);
	if (err)
		return err;
	err = child__must_run((const char *const[]){ BUSYBOX, "--list-full", NULL }, NULL,
			      "busybox-static", &captured, NULL, NULL);
	for (char *applet = err ? NULL : strtok_r(captured.out, "\n", &save); applet;
	     applet = strtok_r(NULL, "\n", &save)) {
		char link[PATH_MAX];

		snprintf(link, sizeof(link), "/%s", applet);
		if (strcmp(link, BUSYBOX))
			initramfs__add_link(archive, link, BUSYBOX);
	}
	captured__free(&captured);
	return err;
}

/* Our programs for guests: in the build tree beside tlbvm, or where they are installed. */
static bool find_own(const struct arch *arch, const char *name, char *out, size_t size)
{
	static const char *const places[] = { "%s/guest/%s/%s", "%s/../guest/%s/%s",
					      "%s/../lib/tlbstat/guest/%s/%s" };
	char self[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (length < 0)
		return false;
	self[length] = '\0';
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		char copy[PATH_MAX];

		memcpy(copy, self, (size_t)length + 1);
		if (snprintf(out, size, places[i], dirname(copy), arch->name, name) < (int)size &&
		    access(out, X_OK) == 0)
			return true;
	}
	return false;
}

static int add_own(struct initramfs *archive, const struct guest *guest)
{
	static const char *const tools[] = { "tlbstat", "tlbbench" };
	char path[PATH_MAX];
	int err;

	if (!find_own(guest->arch, "agent", path, sizeof(path))) {
		diag__error("no agent for %s guests beside tlbvm (guest/%s/agent)",
			    guest->arch->name, guest->arch->name);
		diag__hint("build it: make ARCH=%s", guest->arch->name);
		return -ENOENT;
	}
	err = initramfs__add_file(archive, "/init", path);
	for (size_t i = 0; i < sizeof(tools) / sizeof(tools[0]) && !err && !guest->root; i++) {
		char target[64];

		snprintf(target, sizeof(target), "/usr/bin/%s", tools[i]);
		if (find_own(guest->arch, tools[i], path, sizeof(path)))
			err = initramfs__add_file(archive, target, path);
	}
	return err;
}

/* What the user asks for, and what it takes to mount a root file system. */
static int resolve_modules(struct module_list *list, const struct guest *guest)
{
	static const char *const for_root[] = { "virtio_blk", "ext4" };
	size_t count = 0, own = guest->root ? 2 : 0;
	const char **names;
	int err;

	while (guest->modules[count])
		count++;
	names = calloc(own + count + 1, sizeof(*names));
	if (!names)
		return diag__fail(ENOMEM, "find the modules of the guest");
	memcpy(names, for_root, own * sizeof(*names));
	memcpy(names + own, guest->modules, count * sizeof(*names));
	err = modules__resolve(list, guest->kernel->modules, names);
	free(names);
	return err;
}

static int add_modules(struct initramfs *archive, FILE *job, const struct guest *guest)
{
	struct module_list list;
	int err = resolve_modules(&list, guest);

	if (err)
		return err;
	for (size_t i = 0; i < list.count; i++) {
		const struct module *module = &list.module[i];
		char path[PATH_MAX];

		if (!module->data) {
			record(job, JOB_EXPECT, module->name);
			continue;
		}
		snprintf(path, sizeof(path), JOB_MODULES "/%s.ko", module->name);
		initramfs__add_data(archive, path, 0644, module->data, module->size);
		record(job, JOB_MODULE, path);
	}
	module_list__free(&list);
	return 0;
}

/* A root file system brings its own programs, and gets what the user puts into it. */
static void record_root(FILE *job, const struct guest *guest)
{
	record(job, JOB_ROOT, JOB_ROOT_DEVICE);
	record(job, JOB_COPY, JOB_FACTS);
	for (size_t i = 0; i < guest->put_count; i++)
		record(job, JOB_COPY, guest->puts[i].target);
}

static int add_programs(struct initramfs *archive, FILE *job, const struct guest *guest)
{
	if (guest->root) {
		record_root(job, guest);
		return 0;
	}
	return arch__is_own(guest->arch) ? add_busybox(archive, guest)
					 : add_foreign_busybox(archive, job, guest);
}

static int add_job(struct initramfs *archive, const struct guest *guest, const char *const *env)
{
	char *text = NULL;
	size_t length;
	FILE *job = open_memstream(&text, &length);
	int err;

	if (!job)
		return diag__fail(errno, "describe the job");
	record(job, JOB_PORT, guest->arch->results_port);
	for (; *env; env++)
		record(job, JOB_ENV, *env);
	for (const char *const *arg = guest->command; *arg; arg++)
		record(job, JOB_ARG, *arg);
	for (size_t i = 0; i < guest->get_count; i++)
		record(job, JOB_GET, guest->gets[i].source);
	err = add_programs(archive, job, guest);
	if (!err)
		err = add_modules(archive, job, guest);
	if (fclose(job) && !err)
		err = diag__fail(errno, "describe the job");
	if (!err)
		initramfs__add_data(archive, JOB_FILE, 0600, text, length);
	free(text);
	return err;
}

int payload__write(const struct guest *guest, const char *path, const char *facts,
		   const char *const *env)
{
	struct initramfs *archive;
	uint64_t size;
	int err = initramfs__create(&archive, path), end_err;

	if (err)
		return err;
	add_folders(archive);
	err = add_own(archive, guest);
	if (!err)
		err = add_job(archive, guest, env);
	initramfs__add_data(archive, JOB_FACTS, 0644, facts, strlen(facts));
	/* Last, so that a user's file replaces ours of the same name. */
	if (!err)
		err = add_puts(archive, guest);
	end_err = initramfs__finish(archive, &size);
	if (!err && !end_err)
		diag__verbose("initramfs: %.1f MiB", (double)size / (1 << 20));
	return err ? err : end_err;
}
