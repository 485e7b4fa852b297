/* SPDX-License-Identifier: GPL-2.0-only */
/* The subcommands. Each gets its own argv (argv[0] is "tlbvm NAME") and returns the exit code. */
#ifndef TLBVM_COMMANDS_H
#define TLBVM_COMMANDS_H

int vm_run(int argc, char **argv);
int vm_ab(int argc, char **argv);
int vm_kernels(int argc, char **argv);
int vm_sysroot(int argc, char **argv);

#endif
