/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * bounded CAPABILITIES COMMAND [ARGS]
 *
 * Runs a command as root that has, and can get, but these capabilities: numbers with commas
 * between, as a CapabilityBoundingSet= of systemd does it.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	bool keep[64] = { false };

	if (argc < 3)
		return 2;
	for (char *number = strtok(argv[1], ","); number; number = strtok(NULL, ","))
		keep[atoi(number) & 63] = true;
	for (int cap = 0; prctl(PR_CAPBSET_READ, cap) >= 0; cap++) {
		if (!keep[cap] && prctl(PR_CAPBSET_DROP, cap)) {
			perror("drop a capability");
			return 1;
		}
	}
	execvp(argv[2], argv + 2);
	perror(argv[2]);
	return 1;
}
