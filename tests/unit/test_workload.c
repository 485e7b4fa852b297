/* SPDX-License-Identifier: GPL-2.0-only */
#include "support.h"

#include <sched.h>

#include "bystander.h"
#include "cgroup.h"
#include "common/diag.h"
#include "common/file.h"
#include "common/stop.h"
#include "crew.h"
#include "values.h"
#include "worker.h"
#include "workload.h"
#include "zram.h"

static void a_device_is_found_in_proc_swaps_by_its_whole_name(void **state)
{
	static const char text[] =
		"Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n"
		"/dev/zram10                             partition\t65532\t\t7\t\t-2\n"
		"/dev/zram1                              partition\t65532\t\t12\t\t32767\n"
		"/dev/zram2                              broken\n";
	uint64_t used = 0;

	(void)state;
	assert_int_equal(zram__parse_swaps(text, strlen(text), "/dev/zram1", &used), 0);
	assert_int_equal(used, 12 * 1024);
	assert_int_equal(zram__parse_swaps(text, strlen(text), "/dev/zram", &used), -ENOENT);
	assert_int_equal(zram__parse_swaps(text, strlen(text), "/dev/zram3", &used), -ENOENT);
	assert_int_equal(zram__parse_swaps(text, strlen(text), "/dev/zram2", &used), -EBADMSG);
	assert_int_equal(zram__parse_swaps("", 0, "/dev/zram1", &used), -ENOENT);
}

static void the_own_cgroup_is_the_one_of_version_2(void **state)
{
	char path[32];

	(void)state;
	assert_int_equal(cgroup__parse_own("4:memory:/a\n0::/b/c\n", path, sizeof(path)), 0);
	assert_string_equal(path, "/b/c");
	assert_int_equal(cgroup__parse_own("0::/\n", path, sizeof(path)), 0);
	assert_string_equal(path, "/");
	assert_int_equal(cgroup__parse_own("10:name=0::/x:/a\n", path, sizeof(path)), -ENOENT);
	assert_int_equal(cgroup__parse_own("4:memory:/a\n", path, sizeof(path)), -ENOENT);
	assert_int_equal(cgroup__parse_own("0::/b/c", path, 4), -ENAMETOOLONG);
}

static int undo_foreign_cgroup(void *arg)
{
	return -cgroup__undo(arg, "");
}

static void only_cgroups_of_our_name_are_removed(void **state)
{
	static const char *const foreign[] = { "user.slice", "tlbbench-", "tlbbench-x",
					       "xtlbbench-1" };
	struct child child;

	for (size_t i = 0; i < ARRAY_SIZE(foreign); i++) {
		const char *path = in_folder(state, foreign[i]);

		assert_int_equal(mkdir(path, 0755), 0);
		child__run(&child, undo_foreign_cgroup, (void *)path);
		assert_int_equal(child__code(&child), EINVAL);
		assert_int_equal(access(path, F_OK), 0);
	}
	assert_int_equal(mkdir(in_folder(state, "tlbbench-1"), 0755), 0);
	assert_int_equal(cgroup__undo(in_folder(state, "tlbbench-1"), ""), 0);
	assert_int_not_equal(access(in_folder(state, "tlbbench-1"), F_OK), 0);
	assert_int_equal(cgroup__undo(in_folder(state, "tlbbench-1"), ""), 0);
}

/* The CPU a thread or process last ran on: field 39 of its stat; the second ends with the last ')'.
 */
static unsigned int last_cpu(const char *path)
{
	char text[1024], *field;

	assert_int_equal(file__read_setting(path, text, sizeof(text)), 0);
	field = strrchr(text, ')');
	for (int i = 2; field && i < 39; i++)
		field = strchr(field + 1, ' ');
	assert_non_null(field);
	return strtoul(field, NULL, 10);
}

/* The only CPU a process may run on. */
static int pinned_to(pid_t pid)
{
	cpu_set_t *set = CPU_ALLOC(CPUS_MAX);
	int cpu = 0;

	assert_int_equal(sched_getaffinity(pid, CPU_ALLOC_SIZE(CPUS_MAX), set), 0);
	assert_int_equal(CPU_COUNT_S(CPU_ALLOC_SIZE(CPUS_MAX), set), 1);
	while (!CPU_ISSET_S(cpu, CPU_ALLOC_SIZE(CPUS_MAX), set))
		cpu++;
	CPU_FREE(set);
	return cpu;
}

static void bystanders_run_on_every_cpu_but_one_and_end(void **state)
{
	struct bystanders bystanders;
	unsigned int at = 0, except;
	struct cpus cpus;

	(void)state;
	assert_int_equal(cpus__allowed(&cpus), 0);
	except = cpus__next(&cpus, 0);
	assert_int_equal(bystanders__start(&bystanders, &cpus, except), 0);
	assert_int_equal(bystanders.count, cpus__count(&cpus) - 1);
	cpus__remove(&cpus, except);
	cpus__for_each (cpu, &cpus)
		assert_int_equal(pinned_to(bystanders.pids[at++]), cpu);
	bystanders__stop(&bystanders);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
}

enum {
	ECHO,
	DIE,
	HANG
};

static int serve(void *state, unsigned int command, uint64_t answer[WORKER_ANSWERS])
{
	switch (command) {
	case ECHO:
		answer[0] = ++*(uint64_t *)state;
		return 0;
	case DIE:
		raise(SIGSEGV);
		return 0;
	default:
		pause();
		return 0;
	}
}

static void a_worker_answers_from_a_copy_of_its_state(void **state)
{
	uint64_t answer[WORKER_ANSWERS], number = 41;
	struct worker worker;

	(void)state;
	assert_int_equal(worker__start(&worker, serve, &number), 0);
	assert_int_equal(worker__call(&worker, ECHO, answer), 0);
	assert_int_equal(answer[0], 42);
	assert_int_equal(worker__call(&worker, ECHO, answer), 0);
	assert_int_equal(answer[0], 43);
	assert_int_equal(number, 41);
	worker__stop(&worker);
	worker__stop(&worker);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

static int call_dying_worker(void *arg)
{
	uint64_t answer[WORKER_ANSWERS], number = 0;
	struct worker worker;

	(void)arg;
	if (worker__start(&worker, serve, &number))
		return 1;
	return -worker__call(&worker, DIE, answer);
}

static void a_worker_that_dies_is_told_with_its_signal(void **state)
{
	struct child child;

	(void)state;
	child__run(&child, call_dying_worker, NULL);
	assert_int_equal(child__code(&child), ECHILD);
	assert_contains(child.err, "signal 11");
}

static int call_hanging_worker(void *arg)
{
	uint64_t answer[WORKER_ANSWERS], number = 0;
	struct worker worker;

	(void)arg;
	stop__install();
	if (worker__start(&worker, serve, &number))
		return 1;
	alarm(30);
	dprintf(STDOUT_FILENO, "%d\n", worker.pid);
	return -worker__call(&worker, HANG, answer);
}

static pid_t wait_for_pid(const struct child *child)
{
	char text[32] = "";

	for (int i = 0; i < 500 && !strchr(text, '\n'); i++) {
		ssize_t n = pread(child->out_fd, text, sizeof(text) - 1, 0);

		text[n > 0 ? n : 0] = '\0';
		usleep(10000);
	}
	return atoi(text);
}

/* In a container without an init that collects them, the dead stay as zombies. */
static bool is_gone(pid_t pid)
{
	char path[64], text[1024];

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	for (int i = 0; i < 500; i++) {
		if (file__read_setting(path, text, sizeof(text)) || strstr(text, ") Z "))
			return true;
		usleep(10000);
	}
	return false;
}

static void a_stop_ends_the_call_and_the_worker(void **state)
{
	struct child child;
	pid_t worker;

	(void)state;
	child__start(&child, call_hanging_worker, NULL);
	worker = wait_for_pid(&child);
	assert_true(worker > 1);
	kill(child.pid, SIGTERM);
	child__wait(&child);
	assert_int_equal(child__code(&child), EINTR);
	assert_true(is_gone(worker));
}

static void a_worker_dies_with_a_tlbbench_that_is_killed(void **state)
{
	struct child child;
	pid_t worker;

	(void)state;
	child__start(&child, call_hanging_worker, NULL);
	worker = wait_for_pid(&child);
	assert_true(worker > 1);
	kill(child.pid, SIGKILL);
	child__wait(&child);
	assert_true(is_gone(worker));
}

/* How many threads of this process last ran on each CPU. */
static void count_threads(unsigned int *by_cpu, unsigned int size)
{
	memset(by_cpu, 0, size * sizeof(*by_cpu));
	for (pid_t tid = getpid(); tid < getpid() + 1000; tid++) {
		char path[64];

		snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
		if (access(path, F_OK) == 0 && tid != getpid())
			by_cpu[last_cpu(path) % size]++;
	}
}

/* Its threads never end, so it needs a process of its own. */
static int call_crew(void *arg)
{
	unsigned int by_cpu[CPUS_MAX];
	struct crew *crew;
	struct cpus cpus;

	(void)arg;
	if (cpus__allowed(&cpus) || crew__start(&crew, &cpus, cpus__next(&cpus, 0)))
		return 1;
	crew__call(crew, false);
	count_threads(by_cpu, CPUS_MAX);
	cpus__for_each (cpu, &cpus)
		if (by_cpu[cpu] != (cpu != cpus__next(&cpus, 0)))
			return 2;
	return 0;
}

static void a_crew_has_one_thread_on_every_cpu_but_one(void **state)
{
	struct child child;

	(void)state;
	child__run(&child, call_crew, NULL);
	assert_int_equal(child__code(&child), 0);
}

static void workloads_and_bystanders_are_known_by_name(void **state)
{
	enum bystander_kind kind;

	(void)state;
	assert_ptr_equal(workload__find("pageout"), &workload_pageout);
	assert_null(workload__find("pageou"));
	assert_int_equal(bystander_kind__parse("spin", &kind), 0);
	assert_string_equal(bystander_kind__name(kind), "spin");
	assert_int_equal(bystander_kind__parse("", &kind), -EINVAL);
}

static void parameters_name_what_was_asked_for(void **state)
{
	struct workload_options options = {
		.pages = 7, .bystander = BYSTANDER_IDLE, .via = NULL, .initiator = 3
	};
	json_t *json;

	(void)state;
	cpus__add(&options.cpus, 3);
	cpus__add(&options.cpus, 200);
	json = workload_options__json(&options);
	assert_string_equal(json_string_value(json_object_get(json, "cpus")), "3,200");
	assert_string_equal(json_string_value(json_object_get(json, "bystander")), "idle");
	assert_int_equal(json_integer_value(json_object_get(json, "pages")), 7);
	assert_null(json_object_get(json, "via"));
	json_decref(json);
}

static void what_is_not_counted_is_absent_with_a_reason(void **state)
{
	static const char *const absent[] = { "remote_ipis",	 "flushes",
					      "requested_cpus",	 "asked_cpus",
					      "useful",		 "reconciliation_difference",
					      "ipis_raised",	 "filtered_lazy",
					      "shootdown_p50_ns" };
	struct observer_options none = { .method = ATTACH_NONE };
	struct workload_options options = { .pages = 50 };
	struct report *report = calloc(1, sizeof(*report));
	struct workload_run run = { .options = &options,
				    .report = report,
				    .values = json_object() };
	struct observer *observer;
	double value;

	(void)state;
	assert_int_equal(observer__open(&observer, &none), 0);
	*report = (struct report){ .observer = observer, .kernel_seen = true };
	report->kernel_interrupts = 120;
	run.pages_done = 40;
	run.elapsed_ns = 2000000;
	assert_int_equal(values__add(&run), 0);
	for (size_t i = 0; i < ARRAY_SIZE(absent); i++)
		assert_true(json_string_length(json_object_get(run.values, absent[i])) > 0);
	assert_true(values__number(run.values, "kernel_tlb_interrupts", &value) && value == 120);
	assert_true(values__number(run.values, "ipis_per_page", &value) && value == 3);
	assert_true(values__number(run.values, "elapsed_ms", &value) && value == 2);
	assert_true(values__number(run.values, "pages_per_s", &value) && value == 20000);
	assert_true(values__number(run.values, "pages_asked", &value) && value == 50);
	/* No page, no time, no kernel counter: no division by zero, and no zero instead. */
	run.pages_done = run.elapsed_ns = 0;
	assert_int_equal(values__add(&run), 0);
	assert_false(values__number(run.values, "ipis_per_page", &value));
	assert_false(values__number(run.values, "pages_per_s", &value));
	report->kernel_seen = false;
	assert_int_equal(values__add(&run), 0);
	assert_false(values__number(run.values, "kernel_tlb_interrupts", &value));
	json_decref(run.values);
	observer__close(observer);
	free(report);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_device_is_found_in_proc_swaps_by_its_whole_name),
		cmocka_unit_test(the_own_cgroup_is_the_one_of_version_2),
		in_a_folder(only_cgroups_of_our_name_are_removed),
		cmocka_unit_test(bystanders_run_on_every_cpu_but_one_and_end),
		cmocka_unit_test(a_worker_answers_from_a_copy_of_its_state),
		cmocka_unit_test(a_worker_that_dies_is_told_with_its_signal),
		cmocka_unit_test(a_stop_ends_the_call_and_the_worker),
		cmocka_unit_test(a_worker_dies_with_a_tlbbench_that_is_killed),
		cmocka_unit_test(a_crew_has_one_thread_on_every_cpu_but_one),
		cmocka_unit_test(workloads_and_bystanders_are_known_by_name),
		cmocka_unit_test(parameters_name_what_was_asked_for),
		cmocka_unit_test(what_is_not_counted_is_absent_with_a_reason),
	};

	diag__set_program("test");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
