/* SPDX-License-Identifier: GPL-2.0-only */
/* The options that say what a guest is like: shared by the commands that boot one. */
#ifndef TLBVM_GUEST_OPTIONS_H
#define TLBVM_GUEST_OPTIONS_H

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>

#include "vm/guest.h"

#define DEFAULT_KERNEL "stock:7.3"

/* Words of the command line. */
struct list {
	const char **item; /* ended by NULL */
	size_t count;
};

/* Ends the process if there is no memory. */
void list__add(struct list *list, const char *item);

struct guest_options {
	const char *kernel, *modules;
	struct guest guest;
	struct list module, qemu_arg, put, get;
};

/* A child for argp whose input is a struct guest_options: all but the kernel, --get and --console.
 */
extern const struct argp guest_argp;

/* The values before the command line is read. */
void guest_options__init(struct guest_options *run);
/* What can only be checked when all is read; false after a message. */
bool guest_options__check(const struct guest_options *run);
/*
 * Finds the kernel and boots it. Returns the exit code for tlbvm, as guest__run() does; EXIT_USAGE
 * if a file or the kernel is not there, EXIT_UNSUPPORTED without QEMU; always after a message.
 */
int guest_options__run(struct guest_options *run);
/* That of a negative errno which stopped a guest from being started, such as kernel__find()'s. */
int guest_options__exit_code(int err);
void guest_options__free(struct guest_options *run);

#endif
