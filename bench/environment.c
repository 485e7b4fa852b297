/* SPDX-License-Identifier: GPL-2.0-only */
#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <zlib.h>

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#define HAVE_CPUID 1
#else
#define HAVE_CPUID 0
#endif

#include "cgroup.h"
#include "common/cpus.h"
#include "common/file.h"
#include "common/procfs.h"
#include "environment.h"
#include "settings.h"

#define CPU_DIR	 "/sys/devices/system/cpu/"
#define NODE_DIR "/sys/devices/system/node/"
#define MM_DIR	 "/sys/kernel/mm/"
#define TIER_DIR "/sys/devices/virtual/memory_tiering"
/* Written by the agent of a guest that tlbvm started. */
#define GUEST_FILE "/run/tlbvm.json"

static void put(json_t *object, const char *key, json_t *value)
{
	json_object_set_new(object, key, value ? value : json_null());
}

/* A setting's value as text, or null. */
static json_t *setting(const char *path)
{
	char value[4096];

	return settings__read(path, value, sizeof(value)) ? NULL : json_string(value);
}

/*
 * The kernel's command line, less the loops per jiffy that tlbvm measures anew for each boot: they
 * would make any two guests differ.
 */
static json_t *command_line(void)
{
	char value[4096], *word, *end;

	if (settings__read("/proc/cmdline", value, sizeof(value)))
		return NULL;
	word = strncmp(value, "lpj=", 4) == 0 ? value : strstr(value, " lpj=");
	if (word) {
		end = word + 1 + strcspn(word + 1, " ");
		memmove(word, end, strlen(end) + 1);
	}
	return json_string(value);
}

static json_t *setting_number(const char *path)
{
	char value[64], *end;
	long long number;

	if (file__read_setting(path, value, sizeof(value)))
		return NULL;
	number = strtoll(value, &end, 10);
	return *value && !*end ? json_integer(number) : NULL;
}

/* Kernel. */

static size_t padded(size_t size)
{
	return (size + 3) & ~(size_t)3;
}

static int format_hex(const unsigned char *bytes, size_t len, char *out, size_t size)
{
	if (len * 2 >= size)
		return -ENAMETOOLONG;
	for (size_t i = 0; i < len; i++)
		snprintf(out + i * 2, 3, "%02x", bytes[i]);
	return 0;
}

int environment__parse_build_id(const void *notes, size_t len, char *out, size_t size)
{
	const unsigned char *at = notes;

	while (len >= sizeof(Elf64_Nhdr)) {
		Elf64_Nhdr head;
		size_t name, all;

		memcpy(&head, at, sizeof(head));
		name = sizeof(head) + padded(head.n_namesz);
		all = name + padded(head.n_descsz);
		/* The padding of the last note may be missing. */
		if (name + head.n_descsz > len)
			return -EBADMSG;
		if (head.n_type == NT_GNU_BUILD_ID && head.n_namesz == sizeof("GNU") &&
		    memcmp(at + sizeof(head), "GNU", sizeof("GNU")) == 0 && head.n_descsz)
			return format_hex(at + name, head.n_descsz, out, size);
		if (all >= len)
			break;
		at += all;
		len -= all;
	}
	return -ENOENT;
}

static json_t *build_id(void)
{
	char *notes, hex[130];
	size_t len;
	int err;

	if (procfs__read("/sys/kernel/notes", &notes, &len))
		return NULL;
	err = environment__parse_build_id(notes, len, hex, sizeof(hex));
	free(notes);
	return err ? NULL : json_string(hex);
}

/* FNV-1a: to tell two configurations apart, not to withstand anybody. gzopen() reads plain files.
 */
static json_t *hash_of(const char *path)
{
	uint64_t hash = 0xcbf29ce484222325;
	unsigned char part[4096];
	char text[32];
	gzFile file = access(path, R_OK) ? NULL : gzopen(path, "rb");
	int n;

	if (!file)
		return NULL;
	while ((n = gzread(file, part, sizeof(part))) > 0)
		for (int i = 0; i < n; i++)
			hash = (hash ^ part[i]) * 0x100000001b3;
	gzclose(file);
	if (n < 0)
		return NULL;
	snprintf(text, sizeof(text), "fnv1a64:%016llx", (unsigned long long)hash);
	return json_string(text);
}

static json_t *config_hash(const char *release)
{
	char path[PATH_MAX];
	json_t *hash = hash_of("/proc/config.gz");

	snprintf(path, sizeof(path), "/boot/config-%s", release);
	return hash ? hash : hash_of(path);
}

static json_t *kernel(void)
{
	json_t *object = json_object();
	struct utsname name;

	if (uname(&name))
		memset(&name, 0, sizeof(name));
	put(object, "release", json_string(name.release));
	put(object, "version", json_string(name.version));
	put(object, "architecture", json_string(name.machine));
	put(object, "build_id", build_id());
	put(object, "cmdline", command_line());
	put(object, "config_hash", config_hash(name.release));
	return object;
}

/* CPU. */

int environment__parse_cpuinfo(const char *text, const char *key, char *out, size_t size)
{
	size_t len = strlen(key);

	for (; *text && *text != '\n'; text += *text == '\n') {
		size_t line = strcspn(text, "\n");
		const char *value = memchr(text, ':', line);

		if (value && strncmp(text, key, len) == 0 &&
		    text + len + strspn(text + len, "\t ") == value) {
			value++;
			value += *value == ' ';
			line -= value - text;
			if (line >= size)
				return -ENAMETOOLONG;
			memcpy(out, value, line);
			out[line] = '\0';
			return 0;
		}
		text += line;
	}
	return -ENOENT;
}

static bool has_word(const char *list, const char *word)
{
	size_t len = strlen(word);

	for (const char *at = list; (at = strstr(at, word)); at += len)
		if ((at == list || at[-1] == ' ') && (!at[len] || at[len] == ' '))
			return true;
	return false;
}

/* /proc/cpuinfo does not show it: CPUID 0x80000008, EBX bit 3 (AMD APM volume 3). */
static json_t *has_invlpgb(void)
{
#if HAVE_CPUID
	unsigned int eax, ebx, ecx, edx;

	if (!__get_cpuid(0x80000008, &eax, &ebx, &ecx, &edx))
		return json_false();
	return json_boolean(ebx & (1u << 3));
#else
	return NULL;
#endif
}

/* As the kernel uses them (after "nopcid" and the like), but for invlpgb: as the CPU has it. */
static json_t *flags(const char *cpuinfo)
{
	static const char *const names[] = { "pcid", "invpcid", "pti", "la57", "hypervisor" };
	json_t *object;
	char *list;

	list = malloc(strlen(cpuinfo) + 1);
	if (!list || environment__parse_cpuinfo(cpuinfo, "flags", list, strlen(cpuinfo) + 1)) {
		free(list);
		return NULL;
	}
	object = json_object();
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		put(object, names[i], json_boolean(has_word(list, names[i])));
	put(object, "invlpgb", has_invlpgb());
	free(list);
	return object;
}

static json_t *list_of(const struct cpus *cpus)
{
	size_t size = cpus__format(cpus, NULL, 0) + 1;
	char *text = malloc(size);
	json_t *list;

	if (!text)
		return NULL;
	cpus__format(cpus, text, size);
	list = json_string(text);
	free(text);
	return list;
}

/* The frequency governors of the allowed CPUs, each once. */
static json_t *governors(const struct cpus *allowed)
{
	json_t *names = json_object(), *list;
	const char *name;
	json_t *unused;

	cpus__for_each (cpu, allowed) {
		char path[PATH_MAX], value[64];

		snprintf(path, sizeof(path), CPU_DIR "cpu%u/cpufreq/scaling_governor", cpu);
		if (file__read_setting(path, value, sizeof(value)) == 0)
			put(names, value, json_true());
	}
	list = json_object_size(names) ? json_array() : NULL;
	json_object_foreach (names, name, unused) {
		json_array_append_new(list, json_string(name));
	}
	json_decref(names);
	return list;
}

static json_t *cpu(void)
{
	json_t *object = json_object();
	char *cpuinfo = NULL, model[256];
	struct cpus allowed;
	size_t len;

	if (procfs__read("/proc/cpuinfo", &cpuinfo, &len))
		cpuinfo = strdup("");
	put(object, "model",
	    cpuinfo && !environment__parse_cpuinfo(cpuinfo, "model name", model, sizeof(model))
		    ? json_string(model)
		    : NULL);
	put(object, "flags", cpuinfo ? flags(cpuinfo) : NULL);
	free(cpuinfo);
	put(object, "possible", setting(CPU_DIR "possible"));
	put(object, "online", setting(CPU_DIR "online"));
	if (cpus__allowed(&allowed))
		cpus__clear(&allowed);
	put(object, "allowed", cpus__count(&allowed) ? list_of(&allowed) : NULL);
	put(object, "smt", setting_number(CPU_DIR "smt/active"));
	put(object, "governors", governors(&allowed));
	return object;
}

/* Memory. */

/* { "memory_tier4": "0", "memory_tier18": "1" }: the nodes of each tier. */
static json_t *tiers(void)
{
	DIR *dir = opendir(TIER_DIR);
	struct dirent *entry;
	json_t *object;

	if (!dir)
		return NULL;
	object = json_object();
	while ((entry = readdir(dir))) {
		char path[PATH_MAX];

		if (strncmp(entry->d_name, "memory_tier", strlen("memory_tier")))
			continue;
		snprintf(path, sizeof(path), TIER_DIR "/%s/nodelist", entry->d_name);
		put(object, entry->d_name, setting(path));
	}
	closedir(dir);
	return object;
}

json_t *environment__parse_swaps(const char *text)
{
	json_t *list = json_array();
	char name[512], type[32];
	long long kib;
	int priority;

	/* The first line is a heading. */
	for (text += strcspn(text, "\n"); *text == '\n' && text[1]; text += strcspn(text, "\n")) {
		text++;
		if (sscanf(text, "%511s %31s %lld %*d %d", name, type, &kib, &priority) != 4) {
			json_decref(list);
			return NULL;
		}
		json_array_append_new(list,
				      json_pack("{s:s, s:s, s:I, s:i}", "name", name, "type", type,
						"size_kib", (json_int_t)kib, "priority", priority));
	}
	return list;
}

static json_t *swap(void)
{
	json_t *list;
	char *text;
	size_t len;

	if (procfs__read("/proc/swaps", &text, &len))
		return NULL;
	list = environment__parse_swaps(text);
	free(text);
	return list;
}

static json_t *total_kib(void)
{
	struct sysinfo info;

	return sysinfo(&info) ? NULL : json_integer(info.totalram * info.mem_unit / 1024);
}

static json_t *memory(void)
{
	json_t *object = json_object();

	put(object, "nodes", setting(NODE_DIR "online"));
	put(object, "nodes_with_memory", setting(NODE_DIR "has_memory"));
	put(object, "nodes_with_cpus", setting(NODE_DIR "has_cpu"));
	put(object, "tiers", tiers());
	put(object, "total_kib", total_kib());
	put(object, "page_size", json_integer(sysconf(_SC_PAGESIZE)));
	put(object, "thp", setting(MM_DIR "transparent_hugepage/enabled"));
	put(object, "thp_defrag", setting(MM_DIR "transparent_hugepage/defrag"));
	put(object, "ksm", setting_number(MM_DIR "ksm/run"));
	put(object, "lru_gen", setting(MM_DIR "lru_gen/enabled"));
	put(object, "numa_balancing", setting_number("/proc/sys/kernel/numa_balancing"));
	put(object, "demotion", setting(MM_DIR "numa/demotion_enabled"));
	put(object, "swappiness", setting_number("/proc/sys/vm/swappiness"));
	put(object, "zswap", setting("/sys/module/zswap/parameters/enabled"));
	put(object, "swap", swap());
	return object;
}

/* cgroup: the limits of our own; those of outer ones can be tighter. */

static json_t *cgroup_file(const char *cgroup, const char *file)
{
	char path[PATH_MAX + 64];

	snprintf(path, sizeof(path), "%s/%s", cgroup, file);
	return setting(path);
}

static json_t *cgroup(void)
{
	char path[PATH_MAX];
	json_t *object;

	if (cgroup__own(path, sizeof(path)))
		return NULL;
	object = json_object();
	put(object, "path", json_string(path));
	put(object, "memory_max", cgroup_file(path, "memory.max"));
	put(object, "memory_high", cgroup_file(path, "memory.high"));
	put(object, "memory_swap_max", cgroup_file(path, "memory.swap.max"));
	put(object, "cpu_max", cgroup_file(path, "cpu.max"));
	put(object, "cpuset_cpus", cgroup_file(path, "cpuset.cpus.effective"));
	return object;
}

/* Machine. */

/*
 * The name a hypervisor gives itself ("KVMKVMKVM", "TCGTCGTCGTCG", "Microsoft Hv"), "none" on bare
 * hardware, null where the CPU cannot be asked. CPUID 1, ECX bit 31, and CPUID 0x40000000.
 */
static json_t *hypervisor(void)
{
#if HAVE_CPUID
	unsigned int eax, name[4] = { 0 }, ecx, edx;

	if (!__get_cpuid(1, &eax, &name[0], &ecx, &edx))
		return NULL;
	if (!(ecx & (1u << 31)))
		return json_string("none");
	__cpuid(0x40000000, eax, name[0], name[1], name[2]);
	name[3] = 0;
	return json_string((const char *)name);
#else
	return NULL;
#endif
}

/* What tlbvm says about the guest it made, or null where nothing says it. */
static json_t *guest_fact(const json_t *guest, const char *key, const char *variable)
{
	const char *value = getenv(variable);
	json_t *fact = json_object_get(guest, key);

	if (value && *value)
		return json_string(value);
	return fact ? json_incref(fact) : NULL;
}

static json_t *accelerator(const json_t *guest, const json_t *seen)
{
	static const char *const names[][2] = {
		{ "none", "none" },
		{ "TCGTCGTCGTCG", "tcg" },
		{ "KVMKVMKVM", "kvm" },
	};
	json_t *told = guest_fact(guest, "accelerator", "TLBVM_ACCEL");
	const char *name = json_string_value(seen);

	if (told)
		return told;
	for (size_t i = 0; name && i < sizeof(names) / sizeof(*names); i++)
		if (strcmp(name, names[i][0]) == 0)
			return json_string(names[i][1]);
	return name ? json_string(name) : NULL;
}

static json_t *machine(void)
{
	json_t *object = json_object(), *guest = json_load_file(GUEST_FILE, 0, NULL);
	json_t *seen = hypervisor();

	put(object, "accelerator", accelerator(guest, seen));
	put(object, "qemu", guest_fact(guest, "qemu", "TLBVM_QEMU"));
	put(object, "guest", guest);
	put(object, "hypervisor", seen);
	return object;
}

json_t *environment__record(void)
{
	json_t *object = json_object();

	if (!object)
		return NULL;
	put(object, "kernel", kernel());
	put(object, "cpu", cpu());
	put(object, "memory", memory());
	put(object, "cgroup", cgroup());
	put(object, "machine", machine());
	return object;
}

bool environment__emulated(const json_t *environment)
{
	const json_t *name =
		json_object_get(json_object_get(environment, "machine"), "accelerator");

	return json_is_string(name) && strncmp(json_string_value(name), "tcg", 3) == 0;
}
