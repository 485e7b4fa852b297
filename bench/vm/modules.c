/* SPDX-License-Identifier: GPL-2.0-only */
#include "vm/modules.h"

#include <elf.h>
#include <errno.h>
#include <fts.h>
#include <search.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/diag.h"
#include "common/procfs.h"
#include "vm/child.h"

/* How module files are packed, and what unpacks them. */
static const struct packing {
	const char *suffix, *tool, *package;
} packings[] = {
	{ ".ko", NULL, NULL },
	{ ".ko.xz", "xz", "xz-utils" },
	{ ".ko.zst", "zstd", "zstd" },
	{ ".ko.gz", "gzip", "gzip" },
};

/*
 * Modules that a module asks for at run time, without a dependency. zram's default compressor is
 * found through the crypto API before 6.12 (crypto/lzo-rle.c), compiled in later.
 */
static const struct companion {
	const char *of, *name;
} companions[] = {
	{ "zram", "lzo_rle" },
};

/* A file of the tree. */
struct found {
	char *name, *path;
	const struct packing *packing;
};

struct resolver {
	const char *tree;
	void *files;   /* tree of struct found */
	char *builtin; /* modules.builtin's text, or NULL */
	struct module_list *list;
};

static int compare_found(const void *a, const void *b)
{
	return strcmp(((const struct found *)a)->name, ((const struct found *)b)->name);
}

static void free_found(void *at)
{
	struct found *found = at;

	free(found->name);
	free(found->path);
	free(found);
}

/* The kernel's form of a name: modprobe takes either. */
static char *normal_name(const char *name, size_t length)
{
	char *copy = strndup(name, length);

	for (char *at = copy; at && *at; at++)
		if (*at == '-')
			*at = '_';
	return copy;
}

static const struct packing *packing_of(const char *file, size_t *stem)
{
	size_t length = strlen(file);

	for (size_t i = 0; i < sizeof(packings) / sizeof(packings[0]); i++) {
		size_t suffix = strlen(packings[i].suffix);

		if (length > suffix && !strcmp(file + length - suffix, packings[i].suffix)) {
			*stem = length - suffix;
			return &packings[i];
		}
	}
	return NULL;
}

static int add_file(struct resolver *resolver, const char *path, const char *file)
{
	size_t stem;
	const struct packing *packing = packing_of(file, &stem);
	struct found *found;
	void *at;

	if (!packing)
		return 0;
	found = calloc(1, sizeof(*found));
	if (!found)
		return -ENOMEM;
	found->name = normal_name(file, stem);
	found->path = strdup(path);
	found->packing = packing;
	at = found->name && found->path ? tsearch(found, &resolver->files, compare_found) : NULL;
	if (!at || *(struct found **)at != found)
		free_found(found);
	return at ? 0 : -ENOMEM;
}

static int scan(struct resolver *resolver)
{
	char *const roots[] = { (char *)resolver->tree, NULL };
	FTS *walk = fts_open(roots, FTS_LOGICAL | FTS_NOCHDIR, NULL);
	FTSENT *entry;
	int err = 0;

	if (!walk)
		return diag__fail(errno, "read the modules in %s", resolver->tree);
	while (!err && (entry = fts_read(walk))) {
		if (entry->fts_info == FTS_F)
			err = add_file(resolver, entry->fts_path, entry->fts_name);
		else if (entry->fts_level == 0 && entry->fts_info != FTS_D &&
			 entry->fts_info != FTS_DP)
			err = diag__fail(entry->fts_errno ? entry->fts_errno : ENOTDIR,
					 "read the modules in %s", resolver->tree);
		if (!strcmp(entry->fts_name, "modules.builtin") && !resolver->builtin) {
			size_t length;

			procfs__read(entry->fts_path, &resolver->builtin, &length);
		}
	}
	fts_close(walk);
	return err;
}

/* modules.builtin has lines like "kernel/mm/zsmalloc.ko". */
static bool is_builtin(const struct resolver *resolver, const char *name)
{
	const char *line = resolver->builtin;

	while (line && *line) {
		size_t length = strcspn(line, "\n"), stem;
		char *path = strndup(line, length);
		char *file = path ? strrchr(path, '/') : NULL;
		bool same = false;

		if (file && packing_of(++file, &stem)) {
			char *normal = normal_name(file, stem);

			same = normal && !strcmp(normal, name);
			free(normal);
		}
		free(path);
		if (same)
			return true;
		line += length + (line[length] == '\n');
	}
	return false;
}

static int load(const struct found *found, struct module *module)
{
	struct captured captured;
	int err;

	if (!found->packing->tool) {
		err = procfs__read(found->path, (char **)&module->data, &module->size);
		return err ? diag__fail(-err, "read %s", found->path) : 0;
	}
	err = child__must_run(
		(const char *const[]){ found->packing->tool, "-dc", "--", found->path, NULL }, NULL,
		found->packing->package, &captured, NULL, NULL);
	if (!err) {
		module->data = captured.out;
		module->size = captured.out_length;
		captured.out = NULL;
	}
	captured__free(&captured);
	return err;
}

static bool section_fits(const Elf64_Shdr *section, size_t size)
{
	return section->sh_offset <= size && section->sh_size <= size - section->sh_offset;
}

/* Finds the .modinfo section: NUL-separated "key=value". */
static const char *modinfo(const void *data, size_t size, size_t *length)
{
	const uint8_t *bytes = data;
	Elf64_Ehdr header;
	Elf64_Shdr names, section;

	if (size < sizeof(header))
		return NULL;
	memcpy(&header, data, sizeof(header));
	if (memcmp(header.e_ident, ELFMAG, SELFMAG) || header.e_ident[EI_CLASS] != ELFCLASS64 ||
	    header.e_ident[EI_DATA] != ELFDATA2LSB || header.e_shentsize != sizeof(section) ||
	    header.e_shoff > size || header.e_shnum > (size - header.e_shoff) / sizeof(section) ||
	    header.e_shstrndx >= header.e_shnum)
		return NULL;
	memcpy(&names, bytes + header.e_shoff + header.e_shstrndx * sizeof(section), sizeof(names));
	if (!section_fits(&names, size))
		return NULL;
	for (unsigned int i = 0; i < header.e_shnum; i++) {
		static const char wanted[] = ".modinfo";

		memcpy(&section, bytes + header.e_shoff + i * sizeof(section), sizeof(section));
		if (!section_fits(&section, size) || section.sh_type == SHT_NOBITS ||
		    section.sh_name > names.sh_size ||
		    names.sh_size - section.sh_name < sizeof(wanted))
			continue;
		if (memcmp(bytes + names.sh_offset + section.sh_name, wanted, sizeof(wanted)))
			continue;
		*length = section.sh_size;
		return (const char *)bytes + section.sh_offset;
	}
	return NULL;
}

int module__info(const void *data, size_t size, const char *key, char *out, size_t out_size)
{
	size_t length, key_length = strlen(key);
	const char *at = modinfo(data, size, &length);

	if (out_size)
		*out = '\0';
	if (!at)
		return -ENOEXEC;
	while (length) {
		size_t item = strnlen(at, length);

		if (item > key_length && at[key_length] == '=' && !memcmp(at, key, key_length))
			return snprintf(out, out_size, "%.*s", (int)(item - key_length - 1),
					at + key_length + 1);
		item += item < length; /* its NUL */
		at += item;
		length -= item;
	}
	return 0;
}

static bool listed(const struct module_list *list, const char *name)
{
	for (size_t i = 0; i < list->count; i++)
		if (!strcmp(list->module[i].name, name))
			return true;
	return false;
}

static int append(struct module_list *list, const struct module *module)
{
	struct module *grown = realloc(list->module, (list->count + 1) * sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	list->module = grown;
	grown[list->count++] = *module;
	return 0;
}

static const struct found *find(const struct resolver *resolver, char *name)
{
	struct found key = { .name = name };
	struct found *const *at = tfind(&key, &resolver->files, compare_found);

	return at ? *at : NULL;
}

static int add(struct resolver *resolver, const char *name, const char *needed_by,
	       unsigned int depth);

static int add_dependencies(struct resolver *resolver, const struct module *module,
			    const char *path, unsigned int depth)
{
	char depends[4096], *save = NULL;
	int length = module__info(module->data, module->size, "depends", depends, sizeof(depends));
	int err = 0;

	if (length < 0 || length >= (int)sizeof(depends))
		return diag__fail(ENOEXEC, "read the dependencies of %s", path);
	for (char *name = strtok_r(depends, ",", &save); name && !err;
	     name = strtok_r(NULL, ",", &save))
		err = add(resolver, name, module->name, depth + 1);
	return err;
}

static int add_companions(struct resolver *resolver, const char *name, unsigned int depth)
{
	int err = 0;

	for (size_t i = 0; i < sizeof(companions) / sizeof(companions[0]) && !err; i++)
		if (!strcmp(companions[i].of, name) && find(resolver, (char *)companions[i].name))
			err = add(resolver, companions[i].name, name, depth + 1);
	return err;
}

static int not_found(struct resolver *resolver, struct module *module, const char *needed_by)
{
	if (is_builtin(resolver, module->name)) {
		free(module->name);
		return 0;
	}
	if (!resolver->builtin && !needed_by)
		return append(resolver->list, module);
	diag__fail(ENOENT,
		   needed_by ? "find module %s in %s, which %s needs" : "find module %s in %s",
		   module->name, resolver->tree, needed_by);
	free(module->name);
	return -ENOENT;
}

static int add(struct resolver *resolver, const char *name, const char *needed_by,
	       unsigned int depth)
{
	struct module module = { .name = normal_name(name, strlen(name)) };
	const struct found *found;
	int err;

	if (!module.name)
		return -ENOMEM;
	/* Dependencies have no cycles in a sane tree; a broken one must not end in a crash. */
	if (depth > 64) {
		err = diag__fail(ELOOP, "resolve the dependencies of module %s", name);
		goto out;
	}
	if (listed(resolver->list, module.name)) {
		free(module.name);
		return 0;
	}
	found = find(resolver, module.name);
	if (!found)
		return not_found(resolver, &module, needed_by);
	err = load(found, &module);
	if (!err)
		err = add_dependencies(resolver, &module, found->path, depth);
	if (!err)
		err = add_companions(resolver, module.name, depth);
	if (!err)
		err = append(resolver->list, &module);
	if (!err)
		return 0;
out:
	free(module.name);
	free(module.data);
	return err;
}

int modules__resolve(struct module_list *out, const char *tree, const char *const *names)
{
	struct resolver resolver = { .tree = tree, .list = out };
	int err = 0;

	memset(out, 0, sizeof(*out));
	if (!*names)
		return 0;
	if (tree)
		err = scan(&resolver);
	for (; *names && !err; names++)
		err = add(&resolver, *names, NULL, 0);
	tdestroy(resolver.files, free_found);
	free(resolver.builtin);
	if (err)
		module_list__free(out);
	return err;
}

void module_list__free(struct module_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		free(list->module[i].name);
		free(list->module[i].data);
	}
	free(list->module);
	memset(list, 0, sizeof(*list));
}
