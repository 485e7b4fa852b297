/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef TLBSTAT_PROVOKE_H
#define TLBSTAT_PROVOKE_H

/*
 * Makes one shootdown of our own, if two CPUs are allowed to us: a thread on another CPU uses a
 * page that this one takes away. Where the kernel hides its addresses, the handler's probe learns
 * from it the address that tells flushes from other cross-CPU calls. 0 or a negative errno; prints
 * nothing.
 */
int provoke__shootdown(void);

#endif
