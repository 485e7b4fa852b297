/* SPDX-License-Identifier: GPL-2.0-only */
/* What a guest is given to boot from: busybox, our programs, modules, the user's files, the job. */
#ifndef TLBVM_PAYLOAD_H
#define TLBVM_PAYLOAD_H

#include "vm/guest.h"

/*
 * Writes the initramfs for @guest to @path. @facts is the text of JOB_FACTS; @env holds NAME=VALUE
 * strings for the job, ended by NULL. Returns 0 or a negative errno after a message.
 */
int payload__write(const struct guest *guest, const char *path, const char *facts,
		   const char *const *env);

#endif
