/* SPDX-License-Identifier: GPL-2.0-only */
/* What several unit tests need: children whose output is caught, a folder of their own, a locale.
 */
#ifndef TLBSTAT_TEST_SUPPORT_H
#define TLBSTAT_TEST_SUPPORT_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <locale.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof(*(a)))

struct child {
	pid_t pid;
	int out_fd, err_fd;
	int status; /* of waitpid() */
	char out[8192], err[8192];
};

/*
 * Starts @run(@arg) in a child; what it returns is the exit code. cmocka's own handlers of fatal
 * signals would go on with the parent's list of tests, so the child gets the defaults back.
 */
static inline void child__start(struct child *child, int (*run)(void *), void *arg)
{
	static const int fatal[] = { SIGFPE, SIGILL, SIGSEGV, SIGBUS, SIGSYS };

	memset(child, 0, sizeof(*child));
	child->out_fd = memfd_create("out", MFD_CLOEXEC);
	child->err_fd = memfd_create("err", MFD_CLOEXEC);
	fflush(NULL);
	child->pid = fork();
	if (child->pid)
		return;
	/* A test that fails leaves no child behind. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (size_t i = 0; i < ARRAY_SIZE(fatal); i++)
		signal(fatal[i], SIG_DFL);
	dup2(child->out_fd, STDOUT_FILENO);
	dup2(child->err_fd, STDERR_FILENO);
	int code = run(arg);

	fflush(NULL);
	_exit(code);
}

static inline void child__catch(int fd, char *out, size_t size)
{
	ssize_t n = pread(fd, out, size - 1, 0);

	out[n > 0 ? n : 0] = '\0';
	close(fd);
}

static inline void child__wait(struct child *child)
{
	assert_int_equal(waitpid(child->pid, &child->status, 0), child->pid);
	child__catch(child->out_fd, child->out, sizeof(child->out));
	child__catch(child->err_fd, child->err, sizeof(child->err));
}

static inline void child__run(struct child *child, int (*run)(void *), void *arg)
{
	child__start(child, run, arg);
	child__wait(child);
}

/* The exit code, or 128 and the signal, as in a shell. */
static inline int child__code(const struct child *child)
{
	return WIFSIGNALED(child->status) ? 128 + WTERMSIG(child->status)
					  : WEXITSTATUS(child->status);
}

#define assert_contains(text, part)                                                 \
	do {                                                                        \
		if (!strstr((text), (part)))                                        \
			fail_msg("\"%s\" does not contain \"%s\"", (text), (part)); \
	} while (0)

static inline int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st, (void)type, (void)ftw;
	return remove(path);
}

/* For cmocka's setup and teardown: *state is the path of an empty folder. */
static inline int folder__make(void **state)
{
	char *path = strdup("/tmp/tlbstat-test.XXXXXX");

	*state = path;
	return path && mkdtemp(path) ? 0 : -1;
}

static inline int folder__remove(void **state)
{
	int err = nftw(*state, remove_one, 16, FTW_DEPTH | FTW_PHYS);

	free(*state);
	return err;
}

#define in_a_folder(test) cmocka_unit_test_setup_teardown(test, folder__make, folder__remove)

/* A path in the folder; static, for one use at a time. */
static inline const char *in_folder(void **state, const char *name)
{
	static char path[4][512];
	static unsigned int next;
	char *out = path[next++ % ARRAY_SIZE(path)];

	snprintf(out, sizeof(path[0]), "%s/%s", (const char *)*state, name);
	return out;
}

static inline void put_file(const char *path, const void *data, size_t len)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(data, 1, len, file), len);
	assert_int_equal(fclose(file), 0);
}

/* Everything in a file, NUL-terminated; to be freed. */
static inline char *get_file(const char *path, size_t *len)
{
	FILE *file = fopen(path, "r");
	char *text = NULL;
	size_t size = 0;
	ssize_t n;

	if (!file)
		fail_msg("open %s: %s (tests are run from the top folder)", path, strerror(errno));
	n = getdelim(&text, &size, EOF, file);
	assert_int_equal(ferror(file), 0);
	fclose(file);
	*len = n > 0 ? n : 0;
	if (*len == 0) {
		free(text);
		text = calloc(1, 1);
	}
	return text;
}

/*
 * Makes a locale with a decimal comma in @folder and switches to it, so that "1.5" would be printed
 * and read as "1,5" by functions that obey the locale. False where localedef's sources are missing.
 */
static inline bool use_decimal_comma(const char *folder)
{
	char command[1024];

	snprintf(command, sizeof(command),
		 "localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8 >/dev/null 2>&1", folder);
	if (system(command) != 0)
		return false;
	setenv("LOCPATH", folder, 1);
	return setlocale(LC_ALL, "de_DE.UTF-8") && strcmp(localeconv()->decimal_point, ",") == 0;
}

#endif
