/* SPDX-License-Identifier: GPL-2.0-only */
#include <signal.h>
#include <stddef.h>

#include "common/diag.h"
#include "common/parse.h"
#include "common/stop.h"
#include "invocation.h"

int invocation__choose_cpus(const char *list, struct cpus *out)
{
	struct cpus allowed, asked;
	int err = cpus__allowed(&allowed);

	if (err) {
		diag__fail(-err, "find the CPUs this process may use");
		return EXIT_FAILED;
	}
	*out = allowed;
	if (!list)
		return EXIT_DONE;
	parse__cpulist_or_err("--cpus", list, &asked);
	cpus__and(out, &allowed, &asked);
	if (!cpus__equal(out, &asked) || !cpus__count(out)) {
		char text[256];

		cpus__format(&allowed, text, sizeof(text));
		diag__error("--cpus %s: not all of these may be used here", list);
		diag__hint("this process may use the online CPUs %s", text);
		return EXIT_USAGE;
	}
	return EXIT_DONE;
}

static void ask_to_stop(int unused)
{
	(void)unused;
	raise(SIGTERM);
}

void invocation__catch_signals(void)
{
	static const int others[] = { SIGQUIT, SIGUSR1,	  SIGUSR2, SIGALRM,
				      SIGXCPU, SIGVTALRM, SIGPROF };

	stop__install();
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		sigaction(others[i], &(struct sigaction){ .sa_handler = ask_to_stop }, NULL);
}
