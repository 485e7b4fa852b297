/* SPDX-License-Identifier: GPL-2.0-only */
#include "vm/guest.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/diag.h"
#include "common/stop.h"
#include "vm/child.h"
#include "vm/console.h"
#include "vm/payload.h"
#include "vm/qemu.h"
#include "vm/workdir.h"

#define SECOND UINT64_C(1000000000)

/* How long the console may lag behind the final frame. */
#define DRAIN_NS (5 * SECOND)

/* At the port's best speed, 2 kB; a pipe holds 64. */
#define GATHER_US 5000

/* How a guest's life ended, as seen from here. */
enum ending {
	END_FINAL,   /* the final frame is there */
	END_BOOT,    /* no sign of the agent in time */
	END_SILENCE, /* no frame in time */
	END_TIMEOUT, /* the run took too long */
	END_DIED,    /* QEMU ended first */
	END_STOPPED, /* a signal asked us to end */
	END_OUTPUT,  /* what was received could not be written */
};

/* What does not change between the attempts of a run. */
struct run {
	const struct guest *guest;
	struct qemu qemu;
	struct workdir workdir;
	uint64_t first_line_timeout, boot_timeout, silence_timeout;
	bool quiet; /* the user's command line may keep the console empty */
	uint64_t started;
	FILE *console_file;
};

/* One boot. */
struct attempt {
	struct run *run;
	pid_t pid; /* QEMU's; 0 once it ended */
	int pidfd, results, console_fd, errors;
	struct receiver receiver;
	struct console console;
	char qemu_said[2048]; /* the start of QEMU's stderr */
	size_t qemu_said_length;
	uint64_t started, last_frame, final_at;
	int qemu_code;
};

static int write_payload(const struct run *run)
{
	char *facts = qemu__facts(&run->qemu), *accel = NULL, *version = NULL;
	int err;

	if (facts && asprintf(&accel, "TLBVM_ACCEL=%s", accel__argument(run->qemu.accel)) >= 0 &&
	    asprintf(&version, "TLBVM_QEMU=%s", run->guest->qemu_version) >= 0)
		err = payload__write(run->guest, run->qemu.initramfs, facts,
				     (const char *const[]){ accel, version, NULL });
	else
		err = diag__fail(ENOMEM, "describe the guest");
	free(facts);
	free(accel);
	free(version);
	return err;
}

/* All that depends on the accelerator. */
static int use_accel(struct run *run, enum accel accel)
{
	run->qemu.accel = accel;
	free((char *)run->qemu.append);
	run->qemu.append = qemu__append(run->guest, accel);
	if (!run->qemu.append)
		return diag__fail(ENOMEM, "prepare the guest");
	return write_payload(run);
}

static void close_all(int *fds, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (fds[i] >= 0)
			close(fds[i]);
}

static int attempt__start(struct attempt *attempt, struct run *run)
{
	int fds[6] = { -1, -1, -1, -1, -1, -1 }; /* console, results, errors: ours, QEMU's */
	int err = 0;

	memset(attempt, 0, sizeof(*attempt));
	attempt->run = run;
	/*
	 * Pipes, not sockets: an emulated port writes byte by byte, which a pipe packs into pages
	 * and a socket keeps as a packet each.
	 */
	if (pipe2(fds, O_CLOEXEC) < 0 || pipe2(fds + 2, O_CLOEXEC) < 0 ||
	    pipe2(fds + 4, O_CLOEXEC) < 0) {
		err = diag__fail(errno, "make pipes to the guest");
		goto fail;
	}
	attempt->pid = qemu__start(&run->qemu, fds[1], fds[3], fds[5]);
	if (attempt->pid < 0) {
		err = diag__fail(-attempt->pid, "start %s", run->guest->arch->qemu);
		goto fail;
	}
	attempt->pidfd = (int)syscall(SYS_pidfd_open, attempt->pid, 0);
	if (attempt->pidfd < 0) {
		err = diag__fail(errno, "watch %s", run->guest->arch->qemu);
		child__stop(attempt->pid, 0);
		goto fail;
	}
	close(fds[1]);
	close(fds[3]);
	close(fds[5]);
	attempt->console_fd = fds[0];
	attempt->results = fds[2];
	attempt->errors = fds[4];
	attempt->started = attempt->last_frame = stop__now_ns();
	console__init(&attempt->console, run->console_file);
	receiver__init(&attempt->receiver, run->guest->gets, run->guest->get_count);
	return 0;
fail:
	close_all(fds, 6);
	return err;
}

static void attempt__end(struct attempt *attempt)
{
	if (attempt->pid > 0)
		child__stop(attempt->pid, 2000);
	close_all((int[]){ attempt->pidfd, attempt->console_fd, attempt->results, attempt->errors },
		  4);
	receiver__free(&attempt->receiver);
}

static void keep_qemu_words(struct attempt *attempt, const char *data, size_t length)
{
	size_t room = sizeof(attempt->qemu_said) - 1 - attempt->qemu_said_length;

	if (length > room)
		length = room;
	memcpy(attempt->qemu_said + attempt->qemu_said_length, data, length);
	attempt->qemu_said_length += length;
	attempt->qemu_said[attempt->qemu_said_length] = '\0';
}

/* Reads what one descriptor has; at its end closes it and sets it to -1. */
static size_t take(int *fd, char *chunk, size_t size)
{
	ssize_t got = read(*fd, chunk, size);

	if (got > 0)
		return (size_t)got;
	if (got == 0 || (errno != EINTR && errno != EAGAIN)) {
		close(*fd);
		*fd = -1;
	}
	return 0;
}

/* Waits for news up to @wait_ms and handles it. Returns 0, or the receiver's failure. */
static int attempt__poll(struct attempt *attempt, int wait_ms)
{
	struct pollfd fds[4] = { { .fd = attempt->results, .events = POLLIN },
				 { .fd = attempt->console_fd, .events = POLLIN },
				 { .fd = attempt->errors, .events = POLLIN },
				 { .fd = attempt->pid > 0 ? attempt->pidfd : -1,
				   .events = POLLIN } };
	uint64_t frames = attempt->receiver.frames;
	char chunk[65536];
	int err = 0;

	if (poll(fds, 4, wait_ms) <= 0)
		return 0;
	/* Waking up for every byte would take the emulator's time: let some gather. */
	usleep(GATHER_US);
	if (fds[1].revents)
		console__feed(&attempt->console, chunk,
			      take(&attempt->console_fd, chunk, sizeof(chunk)));
	if (fds[2].revents)
		keep_qemu_words(attempt, chunk, take(&attempt->errors, chunk, sizeof(chunk)));
	if (fds[0].revents)
		err = receiver__feed(&attempt->receiver, chunk,
				     take(&attempt->results, chunk, sizeof(chunk)));
	if (attempt->receiver.frames != frames)
		attempt->last_frame = stop__now_ns();
	if (fds[3].revents) {
		attempt->qemu_code = child__wait(attempt->pid);
		attempt->pid = 0;
	}
	return err;
}

/*
 * Some boots hang before the first line (seen in one of ten, with 32 emulated CPUs). A console that
 * stays empty tells early, unless the user made it quiet.
 */
static uint64_t boot_deadline(const struct attempt *attempt)
{
	const struct run *run = attempt->run;

	return attempt->console.lines || run->quiet ? run->boot_timeout : run->first_line_timeout;
}

/* True once there is nothing more to wait for; *out says why. */
static bool attempt__over(struct attempt *attempt, enum ending *out)
{
	const struct run *run = attempt->run;
	uint64_t now = stop__now_ns();

	if (stop__asked()) {
		*out = END_STOPPED;
	} else if (attempt->receiver.final) {
		if (!attempt->final_at)
			attempt->final_at = now;
		*out = END_FINAL;
		return attempt->console.end_marked || attempt->console_fd < 0 ||
		       now - attempt->final_at > DRAIN_NS;
	} else if (attempt->pid == 0 && attempt->results < 0 && attempt->console_fd < 0) {
		*out = END_DIED;
	} else if (now - run->started > run->guest->timeout) {
		*out = END_TIMEOUT;
	} else if (!attempt->receiver.hello && now - attempt->started > boot_deadline(attempt)) {
		*out = END_BOOT;
	} else if (attempt->receiver.hello && now - attempt->last_frame > run->silence_timeout) {
		*out = END_SILENCE;
	} else {
		return false;
	}
	return true;
}

static enum ending attempt__follow(struct attempt *attempt)
{
	bool greeted = false;
	enum ending ending;

	while (!attempt__over(attempt, &ending)) {
		if (attempt__poll(attempt, 200))
			return stop__asked() ? END_STOPPED : END_OUTPUT;
		if (attempt->receiver.hello && !greeted) {
			greeted = true;
			diag__verbose("up after %.1f s (%.1f s of the guest's time), %u CPUs",
				      (double)(stop__now_ns() - attempt->started) / SECOND,
				      (double)attempt->receiver.hello_uptime_ms / 1000,
				      attempt->receiver.hello_cpus);
		}
	}
	return ending;
}

static int failed(const struct attempt *attempt, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* The guest failed: says how, and shows what it said last. */
static int failed(const struct attempt *attempt, const char *fmt, ...)
{
	char text[512];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	diag__error("%s", text);
	if (*attempt->console.splat)
		diag__error("the guest's kernel said: %s", attempt->console.splat);
	if (attempt->qemu_said_length)
		diag__error("QEMU said: %.*s", (int)strcspn(attempt->qemu_said, "\n"),
			    attempt->qemu_said);
	console__print_tail(&attempt->console);
	return EXIT_FAILED;
}

static int died(const struct attempt *attempt)
{
	if (attempt->console.panicked)
		return failed(attempt, "the guest's kernel panicked; the result is lost");
	if (attempt->qemu_code)
		return failed(attempt, "QEMU ended with code %d before the job did",
			      attempt->qemu_code);
	return failed(attempt, "the guest ended without a final record: the result is lost");
}

static const char *program_of(const struct guest *guest)
{
	return guest->command[0];
}

/* The job has ended; can its result be believed? */
static int judge(const struct attempt *attempt)
{
	const struct guest *guest = attempt->run->guest;
	const struct receiver *receiver = &attempt->receiver;

	if (!receiver__complete(receiver))
		return failed(attempt,
			      "the result is lost: of what the guest sent, %llu bytes were damaged "
			      "and %llu frames are missing",
			      (unsigned long long)receiver->decoder.damaged,
			      (unsigned long long)receiver->decoder.lost);
	if (*attempt->console.splat && !guest->ignore_splat) {
		failed(attempt,
		       "the guest's kernel complained, so the result is not to be trusted");
		diag__hint("--ignore-splat takes it all the same");
		return EXIT_FAILED;
	}
	if (!attempt->console.end_marked)
		diag__warn("the console does not show the end of the job: complaints of the "
			   "guest's kernel may have been missed");
	if (receiver->signaled) {
		diag__error("%s was killed by signal %u (%s) in the guest", program_of(guest),
			    receiver->code, strsignal((int)receiver->code));
		return 128 + (int)receiver->code;
	}
	if (receiver->code == 127 && access(program_of(guest), X_OK) == 0)
		diag__hint("a file of the host gets into the guest with --put");
	if (!receiver->code && receiver->missing) {
		diag__error("the job succeeded, but %llu of the files to bring back could not be "
			    "read in the guest",
			    (unsigned long long)receiver->missing);
		return EXIT_FAILED;
	}
	return (int)receiver->code;
}

static double seconds(uint64_t ns)
{
	return (double)ns / SECOND;
}

static int verdict(const struct attempt *attempt, enum ending ending)
{
	const struct run *run = attempt->run;

	switch (ending) {
	case END_FINAL:
		return judge(attempt);
	case END_BOOT:
		return failed(attempt, "the guest did not come up within %.0f s",
			      seconds(boot_deadline(attempt)));
	case END_SILENCE:
		return failed(attempt, "the guest has been silent for %.0f s; the result is lost",
			      seconds(run->silence_timeout));
	case END_TIMEOUT:
		failed(attempt, "the job did not end within %.0f s", seconds(run->guest->timeout));
		diag__hint("--timeout gives it more time");
		return EXIT_FAILED;
	case END_DIED:
		return died(attempt);
	case END_STOPPED:
		diag__error("stopped by signal %d before the job ended", stop__signal());
		return 128 + stop__signal();
	case END_OUTPUT:
		/* Nobody reads any more: end as quietly as a program killed by SIGPIPE. */
		return attempt->receiver.failure == -EPIPE ? 128 + SIGPIPE : EXIT_FAILED;
	}
	return EXIT_FAILED;
}

/* Whether the boot itself failed in a way that another try can mend. */
static bool worth_a_retry(const struct attempt *attempt, enum ending ending)
{
	const struct run *run = attempt->run;
	bool fell_back = run->guest->accel == ACCEL_AUTO && run->qemu.accel == ACCEL_KVM;

	if (attempt->receiver.hello || attempt->console.panicked)
		return false;
	return ending == END_BOOT || (ending == END_DIED && fell_back);
}

static int prepare_retry(struct run *run, const struct attempt *attempt)
{
	const char *last =
		attempt->console.lines
			? attempt->console.line[(attempt->console.lines - 1) % CONSOLE_LINES]
			: "nothing";

	if (run->guest->accel == ACCEL_AUTO && run->qemu.accel == ACCEL_KVM) {
		diag__warn("the guest did not come up under KVM; trying once more with emulation");
		accel__mark_broken(run->guest->arch, run->guest->qemu_version);
		return use_accel(run, ACCEL_TCG_SINGLE);
	}
	diag__warn("the guest hung while booting (no sign of life in %.0f s, last on the console: "
		   "%s); trying once more",
		   seconds(boot_deadline(attempt)), last);
	return 0;
}

static int run_attempts(struct run *run)
{
	static struct attempt attempt;

	for (int tries = 2;; tries--) {
		enum ending ending;
		bool again;
		int code;

		if (attempt__start(&attempt, run))
			return EXIT_FAILED;
		ending = attempt__follow(&attempt);
		again = tries > 1 && worth_a_retry(&attempt, ending);
		if (again)
			code = prepare_retry(run, &attempt) ? EXIT_FAILED : EXIT_DONE;
		else
			code = verdict(&attempt, ending);
		attempt__end(&attempt);
		if (!again || code)
			return code;
	}
}

static int run__prepare(struct run *run)
{
	const struct guest *guest = run->guest;
	enum accel accel;
	int err;

	err = accel__choose(guest->arch, guest->qemu_version, guest->accel, &accel);
	if (err)
		return err;
	err = workdir__create(&run->workdir);
	if (err)
		return err;
	run->qemu.initramfs = workdir__path(&run->workdir, "initramfs");
	if (!run->qemu.initramfs)
		return diag__fail(ENOMEM, "prepare the guest");
	if (guest->console_file) {
		run->console_file = fopen(guest->console_file, "we");
		if (!run->console_file)
			return diag__fail(errno, "write %s", guest->console_file);
		setlinebuf(run->console_file);
	}
	return use_accel(run, accel);
}

static void set_limits(struct run *run)
{
	const struct guest *guest = run->guest;

	/* Measured: 112 emulated CPUs are up after 90 to 140 s. */
	run->boot_timeout =
		guest->boot_timeout ? guest->boot_timeout : (60 + 4 * guest->cpus) * SECOND;
	run->first_line_timeout = (30 + guest->cpus) * SECOND;
	if (run->first_line_timeout > run->boot_timeout)
		run->first_line_timeout = run->boot_timeout;
	run->silence_timeout =
		guest->silence_timeout ? guest->silence_timeout : (60 + guest->cpus) * SECOND;
	run->quiet = guest->append &&
		     (strstr(guest->append, "quiet") || strstr(guest->append, "loglevel") ||
		      strstr(guest->append, "console="));
}

int guest__run(const struct guest *guest)
{
	struct run run = {
		.guest = guest,
		.workdir = { .lock = -1 },
		.qemu = { .guest = guest,
			  .memory = guest->memory ? guest->memory
						  : qemu__default_memory(guest->cpus) },
		.started = stop__now_ns(),
	};
	int err, code;

	set_limits(&run);
	err = run__prepare(&run);
	if (!err)
		code = run_attempts(&run);
	else if (stop__asked())
		code = 128 + stop__signal();
	else
		code = err == -ENOTSUP ? EXIT_UNSUPPORTED : EXIT_FAILED;
	if (run.console_file && fclose(run.console_file) && code == EXIT_DONE) {
		diag__fail(errno, "write %s", guest->console_file);
		code = EXIT_FAILED;
	}
	workdir__remove(&run.workdir);
	free((char *)run.qemu.initramfs);
	free((char *)run.qemu.append);
	return code;
}
