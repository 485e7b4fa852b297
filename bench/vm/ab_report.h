/* SPDX-License-Identifier: GPL-2.0-only */
/* What comes of the boots of a comparison: a result of each side, and how they compare. */
#ifndef TLBVM_AB_REPORT_H
#define TLBVM_AB_REPORT_H

#include "vm/ab_boot.h"

/*
 * Joins the boots that ended into a.json and b.json in the plan's folder, prints on stdout what
 * tlbbench compare (the one beside tlbvm) says of them, and with @control what it says of A against
 * itself. Returns EXIT_DONE, EXIT_FAILED after a message, or 128 + N when signal N asked to stop.
 */
int ab_report__print(const struct ab_plan *plan, bool control);

#endif
