/* SPDX-License-Identifier: GPL-2.0-only */
/* "tlbbench restore": puts back what a run that was killed left changed. */
#include <argp.h>
#include <stdio.h>

#include "commands.h"
#include "common/diag.h"
#include "common/stop.h"
#include "journal.h"

static const char doc[] =
	"Put back every setting, and remove the zram device, the swap and the cgroup that a run of "
	"tlbbench which was killed, or crashed, left behind.\v"
	"What is to be put back is read from the journal in ${XDG_STATE_HOME:-/var/lib}/tlbbench. It "
	"is safe to repeat. Nothing is done while a tlbbench is running.";

int cmd_restore(int argc, char **argv)
{
	static const struct argp argp = { .doc = doc };
	enum journal_found found;
	size_t undone;

	argp_parse(&argp, argc, argv, 0, NULL, NULL);
	stop__install();
	if (journal__restore(&found, &undone))
		return EXIT_FAILED;
	switch (found) {
	case JOURNAL_NOTHING:
		printf("nothing to put back\n");
		break;
	case JOURNAL_MOOT:
		printf("nothing to put back: the machine was restarted since\n");
		break;
	case JOURNAL_UNDONE:
		printf("put back %zu changes\n", undone);
		break;
	}
	return diag__close_stdout() ? EXIT_FAILED : EXIT_DONE;
}
