/* SPDX-License-Identifier: GPL-2.0-only */
#include "notify.h"

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/diag.h"

/* The environment's number, or 0. */
static uint64_t number_of(const char *variable)
{
	const char *text = getenv(variable);
	char *end;
	uint64_t number;

	if (!text || *text < '0' || *text > '9')
		return 0;
	errno = 0;
	number = strtoull(text, &end, 10);
	return errno || *end ? 0 : number;
}

static int connect_to(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	size_t len = strlen(path);
	int fd;

	if ((*path != '/' && *path != '@') || len < 2 || len >= sizeof(address.sun_path))
		return -EINVAL;
	memcpy(address.sun_path, path, len);
	if (*path == '@')
		address.sun_path[0] = '\0';
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	/* An abstract name has no NUL at its end, and is as long as is said. */
	if (connect(fd, (struct sockaddr *)&address,
		    offsetof(struct sockaddr_un, sun_path) + len + (*path == '/'))) {
		int err = -errno;

		close(fd);
		return err;
	}
	return fd;
}

void notify__open(struct notify *notify)
{
	const char *path = getenv("NOTIFY_SOCKET");
	uint64_t pid = number_of("WATCHDOG_PID");

	notify->fd = -1;
	notify->watchdog_ns = 0;
	if (!path)
		return;
	notify->fd = connect_to(path);
	if (notify->fd < 0) {
		diag__fail(-notify->fd, "connect to $NOTIFY_SOCKET (%s)", path);
		notify->fd = -1;
		return;
	}
	/* The watchdog may be meant for another process that handed its environment on. */
	if (!pid || pid == (uint64_t)getpid())
		notify->watchdog_ns = number_of("WATCHDOG_USEC") / 2 * 1000;
}

void notify__close(struct notify *notify)
{
	if (notify->fd >= 0)
		close(notify->fd);
	notify->fd = -1;
}

void notify__send(const struct notify *notify, const char *fmt, ...)
{
	char text[1024];
	va_list args;

	if (notify->fd < 0)
		return;
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	if (send(notify->fd, text, strlen(text), MSG_NOSIGNAL) < 0)
		diag__verbose("a message to systemd was lost: %s", strerror(errno));
}
