/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef TLBSTAT_PRIVILEGES_H
#define TLBSTAT_PRIVILEGES_H

#include <stdbool.h>

/*
 * Gives up, for good, all that a process needs no more once its probes are attached: every
 * capability (also those that a program run by exec would get), gaining any (no_new_privs), and all
 * system calls but those of reading maps and files, replacing a file, messages on sockets that are
 * open, sleeping and ending. Other calls answer EPERM; bpf() is left its commands that read and,
 * with @write_maps, those that change and delete entries of maps. A kernel without such filters
 * leaves all calls, after a warning. Returns 0 or a negative errno, after a message; then a part
 * may have been given up.
 */
int privileges__drop(bool write_maps);

#endif
