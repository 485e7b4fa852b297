/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The guest's init: mounts what a job expects, loads modules, runs the job, and sends its output
 * and its end as frames. Whatever fails here ends the guest with a FRAME_LOG that says why.
 * In a guest with a root file system of its own it leaves being init to that one's, and goes on
 * beside it.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "common/cpus.h"
#include "common/file.h"
#include "common/procfs.h"
#include "common/stop.h"
#include "vm/frames.h"
#include "vm/job.h"
#include "vm/newroot.h"

#define HEARTBEAT_NS UINT64_C(1000000000)

static struct {
	char *text;
	size_t length;
} job;

static struct {
	int fd;
	uint32_t sequence;
	uint64_t last_ns; /* when the last frame was sent */
} port = { .fd = -1 };

struct output {
	int fd; /* our end of the job's pipe, -1 once it ended */
	enum frame_type type;
	uint64_t bytes;
};

/* The next value of @key after *cursor, which starts as NULL. */
static const char *job__next(const char *key, const char **cursor)
{
	const char *at = *cursor ? *cursor + strlen(*cursor) + 1 : job.text;
	size_t length = strlen(key);

	for (; at < job.text + job.length; at += strlen(at) + 1) {
		if (!strncmp(at, key, length) && at[length] == '=') {
			*cursor = at;
			return at + length + 1;
		}
	}
	return NULL;
}

static void __attribute__((noreturn)) power_off(void)
{
	sync();
	reboot(RB_POWER_OFF);
	/* A kernel without power management stays: the panic of a dead init ends QEMU. */
	_exit(1);
}

static void port__write(const uint8_t *data, size_t length)
{
	while (length) {
		ssize_t done = write(port.fd, data, length);

		if (done < 0 && errno != EINTR)
			power_off();
		if (done > 0) {
			data += done;
			length -= (size_t)done;
		}
	}
}

static void port__send(enum frame_type type, const void *payload, size_t length)
{
	static uint8_t frame[FRAME_MAX];

	port__write(frame, frame__encode(frame, port.sequence++, type, payload, length));
	port.last_ns = stop__now_ns();
}

static void port__heartbeat(void)
{
	if (stop__now_ns() - port.last_ns >= HEARTBEAT_NS)
		port__send(FRAME_HEARTBEAT, NULL, 0);
}

static void __attribute__((format(printf, 1, 2))) agent__log(const char *fmt, ...)
{
	char text[1024];
	va_list args;
	int length;

	va_start(args, fmt);
	length = vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	if (length >= (int)sizeof(text))
		length = sizeof(text) - 1;
	port__send(FRAME_LOG, text, (size_t)length);
}

/* Without a final frame the host knows that there is no result. */
static void __attribute__((noreturn, format(printf, 2, 3))) give_up(int err, const char *fmt, ...)
{
	char text[512];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	agent__log("%s: %s", text, strerror(err));
	tcdrain(port.fd);
	power_off();
}

/* What the kernel or the user's config lacks is left out: the job will say if it needs it. */
static void mount_all(void)
{
	static const struct {
		const char *type, *on;
	} mounts[] = {
		{ "proc", "/proc" },
		{ "sysfs", "/sys" },
		{ "devtmpfs", "/dev" },
		{ "devpts", "/dev/pts" },
		{ "tmpfs", "/dev/shm" },
		{ "tmpfs", "/tmp" },
		{ "cgroup2", "/sys/fs/cgroup" },
		{ "bpf", "/sys/fs/bpf" },
		{ "debugfs", "/sys/kernel/debug" },
		{ "tracefs", "/sys/kernel/tracing" },
	};

	for (size_t i = 0; i < sizeof(mounts) / sizeof(mounts[0]); i++) {
		file__make_dirs(mounts[i].on);
		mount(mounts[i].type, mounts[i].on, mounts[i].type, MS_NOSUID, NULL);
	}
}

static int read_job(void)
{
	return procfs__read(JOB_FILE, &job.text, &job.length);
}

/* Bytes as they are: no echo, no CR before LF, no flow control by characters. */
static int port__open(void)
{
	const char *cursor = NULL, *path = job__next(JOB_PORT, &cursor);
	struct termios raw;

	if (!path)
		return -EINVAL;
	port.fd = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (port.fd < 0)
		return -errno;
	if (tcgetattr(port.fd, &raw) < 0)
		return errno == ENOTTY ? 0 : -errno;
	cfmakeraw(&raw);
	raw.c_cflag |= CLOCAL;
	raw.c_cflag &= ~(tcflag_t)CRTSCTS;
	cfsetspeed(&raw, B115200);
	return tcsetattr(port.fd, TCSANOW, &raw) < 0 ? -errno : 0;
}

static void say_hello(void)
{
	struct utsname name;
	struct cpus online;
	char text[512];
	int length;

	uname(&name);
	cpus__clear(&online);
	cpus__read_file("/sys/devices/system/cpu/online", &online);
	length = snprintf(text, sizeof(text), "cpus %u\nuptime_ms %llu\nkernel %s\n",
			  cpus__count(&online), (unsigned long long)(stop__now_ns() / 1000000),
			  name.release);
	port__send(FRAME_HELLO, text, (size_t)length);
}

static void load_modules(void)
{
	const char *cursor = NULL, *path;

	while ((path = job__next(JOB_MODULE, &cursor))) {
		int fd = open(path, O_RDONLY | O_CLOEXEC);

		if (fd < 0)
			give_up(errno, "open module %s", path);
		if (syscall(SYS_finit_module, fd, "", 0) < 0 && errno != EEXIST)
			give_up(errno, "load module %s", path);
		close(fd);
		port__heartbeat();
	}
	cursor = NULL;
	while ((path = job__next(JOB_EXPECT, &cursor))) {
		char file[PATH_MAX];

		snprintf(file, sizeof(file), "/sys/module/%s", path);
		if (access(file, F_OK) < 0)
			give_up(errno,
				"find module %s (not in the module tree, so expected to be "
				"built in) as %s",
				path, file);
	}
}

/*
 * A busybox of another architecture than the host's could not be asked there for its commands, so
 * it makes the links itself. Files of the user stay: it does not overwrite.
 */
static void install_busybox(void)
{
	const char *cursor = NULL, *path = job__next(JOB_BUSYBOX, &cursor);
	int status;
	pid_t pid;

	if (!path)
		return;
	pid = fork();
	if (pid < 0)
		give_up(errno, "start %s", path);
	if (pid == 0) {
		int null = open("/dev/null", O_RDWR);

		dup2(null, STDOUT_FILENO);
		dup2(null, STDERR_FILENO);
		execl(path, path, "--install", "-s", NULL);
		_exit(127);
	}
	/* Its exit code only tells whether it left some file as it was. */
	if (waitpid(pid, &status, 0) < 0 || access("/bin/sh", X_OK) < 0)
		give_up(errno, "install the commands of %s", path);
}

/* In the first process, whose end would be a panic that says less. */
static void __attribute__((noreturn)) become_init(void)
{
	static char *const argv[] = { "/sbin/init", NULL }, *const env[] = { "TERM=linux", NULL };

	execve(argv[0], argv, env);
	file__write_setting("/dev/kmsg", "<2>tlbvm: cannot start the root's /sbin/init");
	_exit(1);
}

/* Returns in a child of what is init now; without a root file system of its own, as it was. */
static void change_root(void)
{
	const char *cursor = NULL, *path, *device = job__next(JOB_ROOT, &cursor), *step;
	pid_t pid;
	int err;

	if (!device)
		return;
	err = newroot__mount(device, &step);
	if (err)
		give_up(-err, "%s, %s", step, device);
	cursor = NULL;
	while ((path = job__next(JOB_COPY, &cursor))) {
		err = newroot__copy(path);
		if (err)
			give_up(-err, "copy %s to the root file system", path);
		port__heartbeat();
	}
	err = newroot__enter(&step);
	if (err)
		give_up(-err, "move %s to the root file system", step);
	if (access("/sbin/init", X_OK) < 0)
		give_up(errno, "start /sbin/init of the root file system");
	pid = fork();
	if (pid < 0)
		give_up(errno, "start /sbin/init of the root file system");
	if (pid > 0)
		become_init();
	setsid();
}

static size_t count(const char *key)
{
	const char *cursor = NULL;
	size_t found = 0;

	while (job__next(key, &cursor))
		found++;
	return found;
}

static char **values(const char *key, char *const *first)
{
	const char *cursor = NULL, *value;
	size_t used = 0;
	char **out;

	while (first && first[used])
		used++;
	out = calloc(used + count(key) + 1, sizeof(*out));
	if (!out)
		give_up(ENOMEM, "start the job");
	for (size_t i = 0; i < used; i++)
		out[i] = first[i];
	while ((value = job__next(key, &cursor)))
		out[used++] = (char *)value;
	return out;
}

static void __attribute__((noreturn))
become_job(char **argv, char **env, int out, int err, const sigset_t *mask,
	   const cpu_set_t *affinity, size_t affinity_size)
{
	int null = open("/dev/null", O_RDWR);
	int failure;

	sigprocmask(SIG_SETMASK, mask, NULL);
	setsid();
	sched_setaffinity(0, affinity_size, affinity);
	dup2(null, STDIN_FILENO);
	dup2(out, STDOUT_FILENO);
	dup2(err, STDERR_FILENO);
	if (chdir("/root") < 0)
		_exit(126);
	environ = env;
	execvp(argv[0], argv);
	failure = errno;
	dprintf(STDERR_FILENO, "%s: %s in the guest\n", argv[0],
		failure == ENOENT ? "no such program" : strerror(failure));
	_exit(failure == ENOENT ? 127 : 126);
}

static pid_t start_job(struct output outputs[2])
{
	static char *const defaults[] = { "PATH=/usr/sbin:/usr/bin:/sbin:/bin",
					  "HOME=/root",
					  "TERM=dumb",
					  "USER=root",
					  "SHELL=/bin/sh",
					  NULL };
	char **argv = values(JOB_ARG, NULL), **env = values(JOB_ENV, defaults);
	static cpu_set_t everywhere[CPUS_MAX / CPU_SETSIZE], here;
	sigset_t mask, chld;
	int out[2], err[2];
	pid_t pid;

	if (!argv[0])
		give_up(EINVAL, "start the job");
	if (pipe2(out, O_CLOEXEC) < 0 || pipe2(err, O_CLOEXEC) < 0)
		give_up(errno, "start the job");
	sigemptyset(&chld);
	sigaddset(&chld, SIGCHLD);
	sigprocmask(SIG_BLOCK, &chld, &mask);
	/* The agent stays on the CPU that boots: its heartbeat disturbs no other one. */
	sched_getaffinity(0, sizeof(everywhere), everywhere);
	CPU_ZERO(&here);
	CPU_SET(0, &here);
	sched_setaffinity(0, sizeof(here), &here);
	pid = fork();
	if (pid < 0)
		give_up(errno, "start the job");
	if (pid == 0)
		become_job(argv, env, out[1], err[1], &mask, everywhere, sizeof(everywhere));
	close(out[1]);
	close(err[1]);
	outputs[0] = (struct output){ .fd = out[0], .type = FRAME_STDOUT };
	outputs[1] = (struct output){ .fd = err[0], .type = FRAME_STDERR };
	free(argv);
	free(env);
	return pid;
}

static void forward(struct output *output)
{
	static uint8_t chunk[FRAME_PAYLOAD_MAX];
	ssize_t got = read(output->fd, chunk, sizeof(chunk));

	if (got > 0) {
		port__send(output->type, chunk, (size_t)got);
		output->bytes += (uint64_t)got;
	} else if (got == 0 || (errno != EINTR && errno != EAGAIN)) {
		close(output->fd);
		output->fd = -1;
	}
}

/* Reaps everything, as the first process must. True if the job was among it. */
static bool reap(pid_t wanted, int *status)
{
	bool found = false;
	pid_t pid;
	int ended;

	while ((pid = waitpid(-1, &ended, WNOHANG)) > 0) {
		if (pid == wanted) {
			*status = ended;
			found = true;
		}
	}
	return found;
}

static bool forward_ready(struct output outputs[2], int signals, int wait_ms)
{
	struct pollfd fds[3] = { { .fd = outputs[0].fd, .events = POLLIN },
				 { .fd = outputs[1].fd, .events = POLLIN },
				 { .fd = signals, .events = POLLIN } };
	struct signalfd_siginfo info;

	if (poll(fds, 3, wait_ms) <= 0)
		return false;
	for (int i = 0; i < 2; i++)
		if (fds[i].revents)
			forward(&outputs[i]);
	if (fds[2].revents && read(signals, &info, sizeof(info)) < 0)
		return false;
	return true;
}

/*
 * Until the job ends, then until its pipes are empty: a process it left behind may hold them open
 * for ever, so what is there is taken, and no more.
 */
static int follow_job(pid_t pid, struct output outputs[2])
{
	sigset_t chld;
	int signals, status = 0;

	sigemptyset(&chld);
	sigaddset(&chld, SIGCHLD);
	signals = signalfd(-1, &chld, SFD_CLOEXEC | SFD_NONBLOCK);
	if (signals < 0)
		give_up(errno, "watch the job");
	while (!reap(pid, &status)) {
		forward_ready(outputs, signals, 1000);
		port__heartbeat();
	}
	while ((outputs[0].fd >= 0 || outputs[1].fd >= 0) && forward_ready(outputs, signals, 0))
		port__heartbeat();
	close(signals);
	return status;
}

static int send_file(const char *path)
{
	static uint8_t chunk[FRAME_PAYLOAD_MAX];
	uint64_t sent = 0;
	struct stat stat;
	ssize_t got;
	int fd;

	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 || fstat(fd, &stat) < 0 || !S_ISREG(stat.st_mode)) {
		agent__log("cannot send %s: %s", path,
			   fd < 0 ? strerror(errno) : "not a regular file");
		if (fd >= 0)
			close(fd);
		return -EINVAL;
	}
	port__send(FRAME_FILE, path, strlen(path));
	while ((got = read(fd, chunk, sizeof(chunk))) > 0) {
		port__send(FRAME_FILE_DATA, chunk, (size_t)got);
		sent += (uint64_t)got;
	}
	if (got < 0)
		agent__log("read %s after %llu bytes: %s", path, (unsigned long long)sent,
			   strerror(errno));
	else
		port__send(FRAME_FILE_END, NULL, 0);
	close(fd);
	return got < 0 ? -EIO : 0;
}

static void mark_end_in_log(void)
{
	/* "<2>" is critical: also a console that was told to be quiet shows it. */
	file__write_setting("/dev/kmsg", "<2>" JOB_END_MARK);
}

static void send_final(int status, const struct output outputs[2], size_t files, size_t missing)
{
	char text[256];
	int length;

	length = snprintf(text, sizeof(text),
			  "%s %d\n" FINAL_STDOUT " %llu\n" FINAL_STDERR " %llu\n" FINAL_FILES
			  " %zu\n" FINAL_MISSING " %zu\n",
			  WIFSIGNALED(status) ? "signal" : "exit",
			  WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status),
			  (unsigned long long)outputs[0].bytes,
			  (unsigned long long)outputs[1].bytes, files, missing);
	port__send(FRAME_FINAL, text, (size_t)length);
	tcdrain(port.fd);
}

int main(void)
{
	const char *cursor = NULL, *path;
	size_t files = 0, missing = 0;
	struct output outputs[2];
	int err, status;

	mount_all();
	err = read_job();
	if (!err)
		err = port__open();
	if (err) {
		char text[128];

		snprintf(text, sizeof(text), "<2>tlbvm: no results port: %s", strerror(-err));
		file__write_setting("/dev/kmsg", text);
		power_off();
	}
	say_hello();
	if (sethostname("guest", 5))
		file__write_setting("/dev/kmsg", "<4>tlbvm: cannot set the host name");
	install_busybox();
	load_modules();
	change_root();
	status = follow_job(start_job(outputs), outputs);
	while ((path = job__next(JOB_GET, &cursor)))
		*(send_file(path) ? &missing : &files) += 1;
	mark_end_in_log();
	send_final(status, outputs, files, missing);
	/* The host ends QEMU as soon as it has the final frame. */
	sleep(10);
	power_off();
}
