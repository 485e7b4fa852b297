/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef TLBBENCH_COMMANDS_H
#define TLBBENCH_COMMANDS_H

/* Each runs one command of tlbbench and returns its exit code; argv[0] is the name for messages. */
int cmd_list(int argc, char **argv);
int cmd_run(int argc, char **argv);
int cmd_compare(int argc, char **argv);
int cmd_hunt(int argc, char **argv);
int cmd_restore(int argc, char **argv);

#endif
