/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a service tells systemd: sd_notify(3)'s protocol, a datagram to $NOTIFY_SOCKET. Written out
 * here, since libsystemd has no static form to link into the programs that run in guests.
 */
#ifndef TLBSTAT_NOTIFY_H
#define TLBSTAT_NOTIFY_H

#include <stdint.h>

struct notify {
	int fd;		      /* -1 where nobody listens */
	uint64_t watchdog_ns; /* how often "WATCHDOG=1" is due, half of what was asked; 0: never */
};

/*
 * Reads $NOTIFY_SOCKET, $WATCHDOG_USEC and $WATCHDOG_PID, and connects. Without the first, and also
 * after a failure (told on stderr), notify__send() does nothing: a service works without.
 */
void notify__open(struct notify *notify);
void notify__close(struct notify *notify);

/* Sends lines such as "READY=1\nSTATUS=...". A message that cannot be sent is lost, silently. */
void notify__send(const struct notify *notify, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#endif
