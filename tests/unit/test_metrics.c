/* SPDX-License-Identifier: GPL-2.0-only */
#include "support.h"

#include "cgroup_list.h"
#include "metrics.h"
#include "observer_internal.h"

/* Large structures, made anew for each test. */
struct fixture {
	struct observer observer;
	struct snapshot now;
	struct metrics *metrics;
	char *text;
};

static int make_fixture(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	*state = f;
	if (!f)
		return -1;
	for (int id = 0; id < PROBE_COUNT; id++)
		f->observer.probes.probe[id].prog_fd = -1;
	return 0;
}

static int free_fixture(void **state)
{
	struct fixture *f = *state;

	metrics__free(f->metrics);
	free(f->text);
	free(f);
	return 0;
}

static void start(struct fixture *f)
{
	f->metrics = metrics__new(&f->observer, &f->now, 1000);
	assert_non_null(f->metrics);
}

static void print(struct fixture *f)
{
	size_t len;
	FILE *out;

	free(f->text);
	out = open_memstream(&f->text, &len);
	metrics__print(f->metrics, 2000.5, 3, out);
	fclose(out);
}

static void look(struct fixture *f)
{
	metrics__add(f->metrics, &f->now);
	print(f);
}

static void set_kernel_row(struct fixture *f, unsigned int cpu, uint64_t count)
{
	f->now.kernel_seen = true;
	cpus__add(&f->now.kernel.present, cpu);
	f->now.kernel.count[cpu] = count;
}

#define assert_lacks(text, part)                                            \
	do {                                                                \
		if (strstr((text), (part)))                                 \
			fail_msg("\"%s\" contains \"%s\"", (text), (part)); \
	} while (0)

static void what_was_counted_before_the_start_is_not_shown(void **state)
{
	struct fixture *f = *state;

	f->now.cell[CELL_ipis_sent] = 100;
	start(f);
	print(f);
	assert_contains(f->text, "\ntlbstat_ipis_sent_total 0\n");
	f->now.cell[CELL_ipis_sent] = 107;
	look(f);
	assert_contains(f->text, "\ntlbstat_ipis_sent_total 7\n");
}

static void counters_never_decrease(void **state)
{
	struct fixture *f = *state;

	start(f);
	f->now.cell[CELL_asked_cpus + PATH_BATCH] = 9;
	look(f);
	f->now.cell[CELL_asked_cpus + PATH_BATCH] = 4;
	look(f);
	assert_contains(f->text, "\ntlbstat_asked_cpus_total{path=\"batch\"} 9\n");
	f->now.cell[CELL_asked_cpus + PATH_BATCH] = 12;
	look(f);
	assert_contains(f->text, "\ntlbstat_asked_cpus_total{path=\"batch\"} 12\n");
}

static void what_is_not_counted_is_left_out_and_not_zero(void **state)
{
	struct fixture *f = *state;

	f->observer.probes.gone[CELL_ipis_sent] = "not here";
	f->observer.probes.gone[CELL_flushes + PATH_ALL * REACH_COUNT + REACH_BROADCAST] =
		cannot_occur;
	start(f);
	print(f);
	assert_lacks(f->text, "ipis_sent");
	assert_lacks(f->text, "tlbstat_flushes_total{path=\"all\",reach=\"broadcast\"}");
	assert_contains(f->text, "\ntlbstat_flushes_total{path=\"all\",reach=\"ipi\"} 0\n");
}

static void handled_has_what_the_kernels_row_has(void **state)
{
	struct fixture *f = *state;

	start(f);
	f->now.cell[CELL_handled + HANDLED_MM_RANGE] = 5;
	f->now.cell[CELL_handled + HANDLED_BATCH] = 60;
	f->now.cell[CELL_handled + HANDLED_KERNEL] = 1000;
	look(f);
	assert_contains(f->text, "\ntlbstat_handled_flushes_total 65\n");
}

static void the_difference_is_that_of_all_intervals(void **state)
{
	struct fixture *f = *state;

	set_kernel_row(f, 0, 50);
	start(f);
	f->now.cell[CELL_handled + HANDLED_BATCH] = 10;
	set_kernel_row(f, 0, 53);
	look(f);
	assert_contains(f->text, "_difference{against=\"interrupts\"} 7\n");
	set_kernel_row(f, 0, 62);
	look(f);
	assert_contains(f->text, "_difference{against=\"interrupts\"} -2\n");
	assert_contains(f->text, "\ntlbstat_kernel_interrupts_total 12\n");
}

static void a_cpu_that_leaves_takes_nothing_from_the_kernels_count(void **state)
{
	struct fixture *f = *state;

	set_kernel_row(f, 0, 50);
	set_kernel_row(f, 1, 1000);
	start(f);
	set_kernel_row(f, 0, 53);
	set_kernel_row(f, 1, 1004);
	f->now.cell[CELL_handled + HANDLED_BATCH] = 7;
	look(f);
	cpus__remove(&f->now.kernel.present, 1);
	f->now.kernel.count[1] = 0;
	set_kernel_row(f, 0, 60);
	f->now.cell[CELL_handled + HANDLED_BATCH] = 20; /* of which we cannot know */
	look(f);
	assert_contains(f->text, "\ntlbstat_kernel_interrupts_total 14\n");
	assert_contains(f->text, "_difference{against=\"interrupts\"} 0\n");
}

static void without_bpf_the_kernels_count_remains(void **state)
{
	struct fixture *f = *state;

	f->observer.probes.refused = true;
	for (int cell = 0; cell < CELL_COUNT; cell++)
		f->observer.probes.gone[cell] = "refused";
	set_kernel_row(f, 0, 50);
	start(f);
	set_kernel_row(f, 0, 53);
	look(f);
	assert_contains(f->text, "tlbstat_kernel_interrupts_total 3\n");
	assert_contains(f->text, ",method=\"none\"} 0\n");
	assert_lacks(f->text, "difference");
	assert_lacks(f->text, "flushes_total");
	assert_lacks(f->text, "missed");
	assert_lacks(f->text, "duration");
}

static void a_probe_left_out_by_choice_is_no_lost_one(void **state)
{
	struct fixture *f = *state;

	f->observer.probes.probe[PROBE_DECISION].unwanted = true;
	f->observer.probes.probe[PROBE_FUNC].method = "fentry";
	start(f);
	print(f);
	assert_lacks(f->text, "fexit_should_flush_tlb");
	assert_contains(f->text, "{probe=\"fentry_flush_tlb_func\",method=\"fentry\"} 1\n");
	assert_contains(f->text, "{probe=\"fentry_flush_tlb_all\",method=\"none\"} 0\n");
}

static void times_are_in_buckets_of_seconds(void **state)
{
	struct fixture *f = *state;

	start(f);
	f->now.cell[CELL_duration + 3] = 1;  /* 4 to 7 ns: below the lowest edge */
	f->now.cell[CELL_duration + 20] = 2; /* 2^19 to 2^20 - 1 ns */
	f->now.cell[CELL_duration + 39] = 1; /* above the highest */
	f->now.cell[CELL_duration_sum] = 1500000000;
	look(f);
	assert_contains(f->text, "seconds_bucket{le=\"2.55e-07\"} 1\n");
	assert_contains(f->text, "seconds_bucket{le=\"0.000524287\"} 1\n");
	assert_contains(f->text, "seconds_bucket{le=\"0.001048575\"} 3\n");
	assert_contains(f->text, "seconds_bucket{le=\"17.179869183\"} 3\n");
	assert_contains(f->text, "seconds_bucket{le=\"+Inf\"} 4\n");
	assert_contains(f->text, "seconds_sum 1.5\n");
	assert_contains(f->text, "seconds_count 4\n");
}

static void each_cgroup_has_its_series_and_the_rest_is_other(void **state)
{
	static struct cgroup_list list = { .count = 2,
					   .cgroup = { { .path = "/a" }, { .path = "/b\\\"c" } } };
	struct fixture *f = *state;

	f->now.cgroup[0] = 1;
	start(f);
	f->now.cgroup[0] = 5;
	f->now.cgroup[2] = 7;
	look(f);
	assert_lacks(f->text, "tlbstat_cgroup");
	f->observer.cgroups = &list;
	look(f);
	assert_contains(f->text, "# TYPE tlbstat_cgroup_requested_cpus_total counter\n"
				 "tlbstat_cgroup_requested_cpus_total{cgroup=\"/a\"} 0\n"
				 "tlbstat_cgroup_requested_cpus_total{cgroup=\"/b\\\\\\\"c\"} 7\n"
				 "tlbstat_cgroup_requested_cpus_total{cgroup=\"other\"} 4\n");
}

static void the_process_tells_its_times_and_failures(void **state)
{
	struct fixture *f = *state;

	start(f);
	print(f);
	assert_contains(f->text, "\ntlbstat_last_update_timestamp_seconds 2000.5\n");
	assert_contains(f->text, "\ntlbstat_start_time_seconds 1000\n");
	assert_contains(f->text, "\ntlbstat_write_failures_total 3\n");
	assert_contains(f->text,
			"\ntlbstat_build_info{version=\"" TLBSTAT_VERSION "\",revision=\"");
}

#define with_fixture(test) cmocka_unit_test_setup_teardown(test, make_fixture, free_fixture)

int main(void)
{
	const struct CMUnitTest tests[] = {
		with_fixture(what_was_counted_before_the_start_is_not_shown),
		with_fixture(counters_never_decrease),
		with_fixture(what_is_not_counted_is_left_out_and_not_zero),
		with_fixture(handled_has_what_the_kernels_row_has),
		with_fixture(the_difference_is_that_of_all_intervals),
		with_fixture(a_cpu_that_leaves_takes_nothing_from_the_kernels_count),
		with_fixture(without_bpf_the_kernels_count_remains),
		with_fixture(a_probe_left_out_by_choice_is_no_lost_one),
		with_fixture(times_are_in_buckets_of_seconds),
		with_fixture(each_cgroup_has_its_series_and_the_rest_is_other),
		with_fixture(the_process_tells_its_times_and_failures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
