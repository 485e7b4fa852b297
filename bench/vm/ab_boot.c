/* SPDX-License-Identifier: GPL-2.0-only */
#include "vm/ab_boot.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/diag.h"
#include "common/stop.h"
#include "vm/child.h"

/* What a guest that was asked to stop gets to end its emulator and clean up. */
#define GRACE_MS 10000

#define SHOWN_LINES 5

/*
 * The exit codes of tlbbench that tlbvm has too, seen from outside, get others: a workload that
 * failed is told in the result, and is no guest that failed.
 */
enum job_code {
	JOB_FAILED = 101,
	JOB_USAGE = 102,
	JOB_UNSUPPORTED = 177,
};

static const char wrapper[] = "\"$0\" \"$@\"; code=$?\n"
			      "case $code in 1 | 2 | 77) code=$((code + 100)) ;; esac\n"
			      "exit $code";

char *ab_boot__name(const struct ab_boot *boot)
{
	static const char *const sides[] = {
		[AB_A] = "a.", [AB_B] = "b.", [AB_CONTROL] = "control.", [AB_BOTH] = ""
	};
	char *name;

	return asprintf(&name, "%s%u", sides[boot->side], boot->number) < 0 ? NULL : name;
}

static bool starts(const char *word, const char *start)
{
	return strncmp(word, start, strlen(start)) == 0;
}

/* Long options can be shortened, and short ones joined: "-qo FILE". */
static const char *own_option(const char *word)
{
	if (starts(word, "--o") || (word[0] == '-' && word[1] != '-' && strchr(word, 'o')))
		return "--output";
	if (starts(word, "--j") || (word[0] == '-' && word[1] != '-' && strchr(word, 'J')))
		return "--json";
	return starts(word, "--s") ? "--switch" : NULL;
}

bool ab_job__check(const char *const *words)
{
	const char *option;

	if (!words || !words[0]) {
		diag__error("ab: no job was given");
	} else if (strcmp(words[0], "tlbbench") || !words[1] || strcmp(words[1], "run")) {
		diag__error("ab: the job has to be \"tlbbench run ...\", got \"%s%s%s\"", words[0],
			    words[1] ? " " : "", words[1] ? words[1] : "");
	} else {
		for (words += 2; *words; words++) {
			option = own_option(*words);
			if (!option)
				continue;
			diag__error("ab: %s of the job (\"%s\") is what tlbvm ab sets itself",
				    option, *words);
			diag__hint("--out and --switch are options of tlbvm ab, before the --");
			return false;
		}
		return true;
	}
	diag__hint("tlbvm ab --a KERNEL --b KERNEL -- tlbbench run pageout --runs 5");
	return false;
}

static void add_boot(struct ab_plan *plan, enum ab_side side, unsigned int number)
{
	plan->boots[plan->count++] = (struct ab_boot){ side, number, BOOT_WAITS };
}

int ab_plan__make(struct ab_plan *plan, unsigned int each, bool control)
{
	plan->boots = calloc(2 * each + 1, sizeof(*plan->boots));
	if (!plan->boots)
		return diag__fail(ENOMEM, "plan the boots");
	for (unsigned int number = 1; number <= each; number++) {
		if (plan->toggle) {
			add_boot(plan, AB_BOTH, number);
			continue;
		}
		add_boot(plan, number % 2 ? AB_A : AB_B, number);
		add_boot(plan, number % 2 ? AB_B : AB_A, number);
	}
	if (control && each == 1 && !plan->toggle)
		add_boot(plan, AB_CONTROL, 1);
	return 0;
}

void ab_plan__free(struct ab_plan *plan)
{
	free(plan->boots);
	guest_options__free(&plan->guest);
}

/* One boot. */

struct attempt {
	struct ab_plan *plan;
	const struct ab_boot *boot;
	char *name, *log;
	char *result[2], *get[2]; /* where they go, and the options that bring them */
	size_t results;
};

static void attempt__free(struct attempt *attempt)
{
	for (size_t i = 0; i < attempt->results; i++) {
		free(attempt->result[i]);
		free(attempt->get[i]);
	}
	free(attempt->name);
	free(attempt->log);
}

static int add_result(struct attempt *attempt, const char *in_guest, const char *name)
{
	size_t i = attempt->results++;

	if (asprintf(&attempt->result[i], "%s/%s.json", attempt->plan->folder, name) < 0)
		attempt->result[i] = NULL;
	else if (asprintf(&attempt->get[i], "%s:%s", in_guest, attempt->result[i]) < 0)
		attempt->get[i] = NULL;
	return attempt->result[i] && attempt->get[i] ? 0 : -ENOMEM;
}

static int attempt__make(struct attempt *attempt, struct ab_plan *plan, const struct ab_boot *boot)
{
	char off[16], on[16];
	int err;

	*attempt = (struct attempt){ .plan = plan, .boot = boot, .name = ab_boot__name(boot) };
	if (!attempt->name ||
	    asprintf(&attempt->log, "%s/%s.log", plan->folder, attempt->name) < 0) {
		attempt->log = NULL;
		return diag__fail(ENOMEM, "prepare a boot");
	}
	if (boot->side == AB_BOTH) {
		snprintf(off, sizeof(off), "a.%u", boot->number);
		snprintf(on, sizeof(on), "b.%u", boot->number);
		err = add_result(attempt, "r.off.json", off);
		if (!err)
			err = add_result(attempt, "r.on.json", on);
	} else {
		err = add_result(attempt, "r.json", attempt->name);
	}
	return err ? diag__fail(-err, "prepare a boot") : 0;
}

static const char *kernel_of(const struct attempt *attempt)
{
	return attempt->plan->kernel[attempt->boot->side == AB_B];
}

static size_t count_words(const char *const *words)
{
	size_t n = 0;

	while (words[n])
		n++;
	return n;
}

/* The words of the guest's command, ended by NULL. To be freed, not its words. */
static const char **command_of(const struct ab_plan *plan)
{
	const char *head[] = { "sh", "-c", wrapper };
	size_t n = sizeof(head) / sizeof(*head), job = count_words(plan->job);
	const char **words = calloc(n + job + 5, sizeof(*words));

	if (!words)
		return NULL;
	memcpy(words, head, sizeof(head));
	memcpy(words + n, plan->job, job * sizeof(*words));
	n += job;
	if (plan->toggle) {
		words[n++] = "--switch";
		words[n++] = plan->toggle;
	}
	words[n++] = "--output";
	words[n++] = plan->toggle ? "r" : "r.json";
	return words;
}

/* In a child, whose copy of the plan is its own. */
static int run_in_guest(void *context)
{
	struct attempt *attempt = context;
	struct guest_options *guest = &attempt->plan->guest;

	guest->kernel = kernel_of(attempt);
	for (size_t i = 0; i < attempt->results; i++)
		list__add(&guest->get, attempt->get[i]);
	guest->guest.command = command_of(attempt->plan);
	if (guest->guest.command)
		return guest_options__run(guest);
	diag__fail(ENOMEM, "prepare a boot");
	return EXIT_FAILED;
}

/* Returns the guest's exit code, or EXIT_FAILED after a message. */
static int attempt__run(struct attempt *attempt)
{
	int log = open(attempt->log, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0644);
	pid_t pid;

	if (log < 0) {
		diag__fail(errno, "write %s", attempt->log);
		return EXIT_FAILED;
	}
	for (size_t i = 0; i < attempt->results; i++)
		unlink(attempt->result[i]);
	pid = child__fork(run_in_guest, attempt, log);
	close(log);
	if (pid < 0) {
		diag__fail(-pid, "start a process for the guest");
		return EXIT_FAILED;
	}
	return child__follow(pid, GRACE_MS);
}

/* The last lines of the log, or all if there are few. */
static void show_log(const struct attempt *attempt)
{
	FILE *log = fopen(attempt->log, "re");
	char *line[SHOWN_LINES] = { NULL };
	size_t size[SHOWN_LINES] = { 0 }, n = 0;

	while (log && getline(&line[n % SHOWN_LINES], &size[n % SHOWN_LINES], log) > 0)
		n++;
	for (size_t i = n > SHOWN_LINES ? n - SHOWN_LINES : 0; i < n; i++)
		fprintf(stderr, "    %s", line[i % SHOWN_LINES]);
	for (size_t i = 0; i < SHOWN_LINES; i++)
		free(line[i]);
	if (log)
		fclose(log);
}

static bool has_results(const struct attempt *attempt)
{
	for (size_t i = 0; i < attempt->results; i++)
		if (access(attempt->result[i], R_OK) < 0)
			return false;
	return true;
}

/* What cannot be otherwise at another try. Returns an exit code, or EXIT_DONE. */
static int hopeless(const struct attempt *attempt, int code)
{
	if (stop__asked())
		return 128 + stop__signal();
	if (code == JOB_USAGE || code == EXIT_USAGE)
		return EXIT_USAGE;
	if (code == EXIT_UNSUPPORTED || (code == JOB_UNSUPPORTED && !has_results(attempt)))
		return EXIT_UNSUPPORTED;
	return EXIT_DONE;
}

/* True if the results are there. */
static bool judge(const struct attempt *attempt, int code)
{
	if (code && code != JOB_FAILED && code != JOB_UNSUPPORTED)
		return false;
	attempt->plan->some_failed |= code == JOB_FAILED;
	attempt->plan->some_unsupported |= code == JOB_UNSUPPORTED;
	return has_results(attempt);
}

/* The whole comparison. */

struct pace {
	uint64_t start;
	size_t done, count;
};

static void say_where(const struct pace *pace, const struct attempt *attempt, bool again)
{
	double passed = (stop__now_ns() - pace->start) / 1e9;

	fprintf(stderr, "[%5.0f s] boot %zu of %zu%s: %s, kernel %s", passed, pace->done + 1,
		pace->count, again ? ", once more" : "", attempt->name, kernel_of(attempt));
	if (pace->done)
		fprintf(stderr, ", about %.0f s left",
			passed / pace->done * (pace->count - pace->done));
	fputc('\n', stderr);
}

/* Returns EXIT_DONE with the boot's outcome set, or what ends the comparison. */
static int boot_one(struct attempt *attempt, struct ab_boot *boot, const struct pace *pace)
{
	for (int try = 0; try < 2; try++) {
		int code, end;

		say_where(pace, attempt, try);
		code = attempt__run(attempt);
		end = hopeless(attempt, code);
		if (end == EXIT_DONE && judge(attempt, code)) {
			boot->outcome = BOOT_ENDED;
			return EXIT_DONE;
		}
		for (size_t i = 0; i < attempt->results; i++)
			unlink(attempt->result[i]);
		if (stop__asked())
			return end;
		diag__error("boot %s failed (exit code %d), the end of %s:", attempt->name, code,
			    attempt->log);
		show_log(attempt);
		if (end != EXIT_DONE)
			return end;
	}
	boot->outcome = BOOT_LOST;
	return EXIT_DONE;
}

int ab_plan__run(struct ab_plan *plan)
{
	struct pace pace = { .start = stop__now_ns(), .count = plan->count };
	int code = EXIT_DONE;

	for (; !code && pace.done < plan->count; pace.done++) {
		struct ab_boot *boot = &plan->boots[pace.done];
		struct attempt attempt;

		code = attempt__make(&attempt, plan, boot) ? EXIT_FAILED
							   : boot_one(&attempt, boot, &pace);
		attempt__free(&attempt);
	}
	return code;
}
