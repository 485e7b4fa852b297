/* SPDX-License-Identifier: GPL-2.0-only */
/* What a service is to systemd and to the kernel: its messages, and the rights it gives up. */
#include "support.h"

#include <linux/bpf.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>

#include "notify.h"
#include "privileges.h"

/* A socket as systemd's, at @name in the abstract space where it begins with '@'. */
static int listen_at(const char *name)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct timeval limit = { .tv_sec = 10 };
	size_t len = strlen(name);
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	memcpy(address.sun_path, name, len);
	if (*name == '@')
		address.sun_path[0] = '\0';
	assert_int_equal(bind(fd, (struct sockaddr *)&address,
			      offsetof(struct sockaddr_un, sun_path) + len + (*name == '/')),
			 0);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	setenv("NOTIFY_SOCKET", name, 1);
	return fd;
}

static int forget(void **state)
{
	(void)state;
	unsetenv("NOTIFY_SOCKET");
	unsetenv("WATCHDOG_USEC");
	unsetenv("WATCHDOG_PID");
	return 0;
}

static int forget_in_a_folder(void **state)
{
	forget(state);
	return folder__make(state);
}

static void assert_receives(int fd, const char *expected)
{
	char text[256];
	ssize_t n = recv(fd, text, sizeof(text) - 1, 0);

	assert_true(n >= 0);
	text[n] = '\0';
	assert_string_equal(text, expected);
}

static void send_and_receive(const char *name)
{
	struct notify notify;
	int fd = listen_at(name);

	notify__open(&notify);
	assert_true(notify.fd >= 0);
	notify__send(&notify, "READY=1\nSTATUS=%s", "fine");
	assert_receives(fd, "READY=1\nSTATUS=fine");
	notify__close(&notify);
	close(fd);
}

static void messages_reach_a_path(void **state)
{
	send_and_receive(in_folder(state, "notify"));
}

static void messages_reach_an_abstract_name(void **state)
{
	char name[64];

	(void)state;
	snprintf(name, sizeof(name), "@tlbstat-test-%d", getpid());
	send_and_receive(name);
}

static void without_systemd_nothing_is_sent(void **state)
{
	struct notify notify;

	(void)state;
	setenv("WATCHDOG_USEC", "1000000", 1);
	notify__open(&notify);
	assert_int_equal(notify.fd, -1);
	assert_int_equal(notify.watchdog_ns, 0);
	notify__send(&notify, "READY=1");
	notify__close(&notify);
}

static int open_notify(void *arg)
{
	struct notify notify;

	setenv("NOTIFY_SOCKET", arg, 1);
	notify__open(&notify);
	notify__send(&notify, "READY=1");
	return notify.fd == -1 ? 0 : 1;
}

static void a_socket_that_cannot_be_had_is_told_and_no_failure(void **state)
{
	static char *const names[] = { "/nowhere/notify", "relative", "@", "" };
	struct child child;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		child__run(&child, open_notify, names[i]);
		assert_int_equal(child__code(&child), 0);
		assert_contains(child.err, "NOTIFY_SOCKET");
	}
}

static uint64_t watchdog_of(const char *usec, const char *pid)
{
	struct notify notify;

	setenv("WATCHDOG_USEC", usec, 1);
	if (pid)
		setenv("WATCHDOG_PID", pid, 1);
	else
		unsetenv("WATCHDOG_PID");
	notify__open(&notify);
	notify__close(&notify);
	return notify.watchdog_ns;
}

static void the_watchdog_is_told_at_half_of_its_time(void **state)
{
	char own[32];
	int fd = listen_at(in_folder(state, "notify"));

	snprintf(own, sizeof(own), "%d", getpid());
	assert_int_equal(watchdog_of("60000000", own), 30000000000);
	assert_int_equal(watchdog_of("60000000", NULL), 30000000000);
	assert_int_equal(watchdog_of("60000000", "1"), 0);
	assert_int_equal(watchdog_of("soon", own), 0);
	assert_int_equal(watchdog_of("-5", own), 0);
	close(fd);
}

/* The line of /proc/self/status that begins with @name, printed. */
static void show(const char *name)
{
	char line[256];
	FILE *file = fopen("/proc/self/status", "r");

	while (file && fgets(line, sizeof(line), file))
		if (strncmp(line, name, strlen(name)) == 0)
			fputs(line, stdout);
	if (file)
		fclose(file);
}

static int drop_and_show(void *arg)
{
	(void)arg;
	if (privileges__drop(false))
		return 1;
	show("Cap");
	show("NoNewPrivs");
	show("Seccomp:");
	return 0;
}

static void no_capability_is_left(void **state)
{
	struct child child;

	(void)state;
	child__run(&child, drop_and_show, NULL);
	assert_int_equal(child__code(&child), 0);
	assert_contains(child.out, "CapPrm:\t0000000000000000\n");
	assert_contains(child.out, "CapEff:\t0000000000000000\n");
	assert_contains(child.out, "CapAmb:\t0000000000000000\n");
	assert_contains(child.out, "NoNewPrivs:\t1\n");
	assert_contains(child.out, "Seccomp:\t2\n");
}

#define refused(call)                                                    \
	do {                                                             \
		errno = 0;                                               \
		if ((long)(call) != -1 || errno != EPERM) {              \
			fprintf(stderr, "%s: errno %d\n", #call, errno); \
			return 1;                                        \
		}                                                        \
	} while (0)

/* bpf() with nothing to do: what the kernel says of it is another thing than EPERM. */
static int try_calls(void *arg)
{
	static const char *const command[] = { "/bin/true", NULL };
	union bpf_attr attr = { .map_fd = UINT32_MAX };

	if (privileges__drop(arg != NULL))
		return 1;
	refused(socket(AF_INET, SOCK_STREAM, 0));
	refused(socket(AF_UNIX, SOCK_DGRAM, 0));
	refused(execv(command[0], (char **)command));
	refused(fork());
	refused(kill(getppid(), 0));
	refused(syscall(SYS_ptrace, 0, 0, 0, 0));
	refused(syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr)));
	refused(syscall(SYS_bpf, BPF_MAP_CREATE, &attr, sizeof(attr)));
	if (!arg)
		refused(syscall(SYS_bpf, BPF_MAP_UPDATE_ELEM, &attr, sizeof(attr)));
	refused(mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
	refused(setuid(0));
	refused(chmod("/tmp", 0777));
	return 0;
}

static void other_calls_are_refused(void **state)
{
	struct child child;

	(void)state;
	child__run(&child, try_calls, NULL);
	assert_string_equal(child.err, "");
	assert_int_equal(child__code(&child), 0);
	child__run(&child, try_calls, "with maps to write");
	assert_string_equal(child.err, "");
	assert_int_equal(child__code(&child), 0);
}

static int replace_a_file(void *path)
{
	char temp[600];
	FILE *file;

	if (privileges__drop(false))
		return 1;
	snprintf(temp, sizeof(temp), "%s.tmp", (const char *)path);
	file = fopen(temp, "w");
	if (!file || fputs("text\n", file) < 0 || fflush(file) || fsync(fileno(file)) ||
	    fchmod(fileno(file), 0644) || fclose(file) || rename(temp, path))
		return 2;
	return 0;
}

static void files_can_still_be_replaced(void **state)
{
	const char *path = in_folder(state, "file");
	struct child child;
	size_t len;
	char *text;

	child__run(&child, replace_a_file, (void *)path);
	assert_int_equal(child__code(&child), 0);
	text = get_file(path, &len);
	assert_string_equal(text, "text\n");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(messages_reach_a_path, forget_in_a_folder,
						folder__remove),
		cmocka_unit_test_setup(messages_reach_an_abstract_name, forget),
		cmocka_unit_test_setup(without_systemd_nothing_is_sent, forget),
		cmocka_unit_test(a_socket_that_cannot_be_had_is_told_and_no_failure),
		cmocka_unit_test_setup_teardown(the_watchdog_is_told_at_half_of_its_time,
						forget_in_a_folder, folder__remove),
		cmocka_unit_test(no_capability_is_left),
		cmocka_unit_test(other_calls_are_refused),
		in_a_folder(files_can_still_be_replaced),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
