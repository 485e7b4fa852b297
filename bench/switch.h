/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A switch of the running kernel, by which a change to it is turned off and on: a file of debugfs,
 * sysfs or /proc/sys that reads 0 or 1, or N or Y, and takes the same. The way it was found is in
 * the journal before it is turned the first time.
 */
#ifndef TLBBENCH_SWITCH_H
#define TLBBENCH_SWITCH_H

#include <stdbool.h>

#include <jansson.h>

struct journal;

enum switch_state {
	SWITCH_OFF,
	SWITCH_ON,
	SWITCH_STATES
};

struct toggle {
	const char *path; /* NULL: none */
	char words[SWITCH_STATES][2];
	bool recorded;
};

/* "off", "on" */
const char *switch_state__name(enum switch_state state);

/*
 * Whether @path is a switch, without turning it. Returns EXIT_DONE, or after a message
 * EXIT_UNSUPPORTED (there is no such file), EXIT_USAGE (it is no switch) or EXIT_FAILED (it cannot
 * be read). @path must outlive @out.
 */
int toggle__find(struct toggle *out, const char *path);

/*
 * Turns it, and waits until that has settled: a kernel that changes its own text for it interrupts
 * every CPU. If it is that way already, nothing is done. Returns 0 or a negative errno after a
 * message: -EINTR when a stop is asked meanwhile, -ENXIO when it does not stay as it was turned.
 */
int toggle__turn(struct toggle *toggle, struct journal *journal, enum switch_state state);

/* Whether it is still that way, such as after a run. 0, or a negative errno after a message. */
int toggle__check(const struct toggle *toggle, enum switch_state state);

/* What tells a result of one state from that of the other: { "file", "state" }; NULL: no memory. */
json_t *toggle__describe(const struct toggle *toggle, enum switch_state state);

#endif
