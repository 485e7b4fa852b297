/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A kernel's module tree: which files to load, in which order. Packages have no modules.dep (depmod
 * writes it when they are installed), so the modules themselves are asked.
 */
#ifndef TLBVM_MODULES_H
#define TLBVM_MODULES_H

#include <stddef.h>

struct module {
	char *name; /* as the kernel has it, with '_' for '-' */
	void *data; /* the ELF file, decompressed; NULL if taken for built in */
	size_t size;
};

struct module_list {
	struct module *module; /* in the order of loading */
	size_t count;
};

/*
 * Finds @names (ended by NULL) and all they depend on below the folder @tree. A module that
 * modules.builtin there lists is left out. With @tree NULL, and where a tree has no
 * modules.builtin, a name that is not found goes into the list without data: the guest will know.
 * Returns 0 or a negative errno after saying what is missing.
 */
int modules__resolve(struct module_list *out, const char *tree, const char *const *names);

void module_list__free(struct module_list *list);

/*
 * Copies the value of @key ("depends") from a module's .modinfo section.
 * Returns the length it needs without the NUL (0 if there is no such key), or -ENOEXEC if @data is
 * no module.
 */
int module__info(const void *data, size_t size, const char *key, char *out, size_t out_size);

#endif
