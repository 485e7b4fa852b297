/* SPDX-License-Identifier: GPL-2.0-only */
#include "support.h"

#include "common/procfs.h"

#define FIXTURES "tests/fixtures/"

/* 64 KiB each, so not on the stack. */
static struct percpu_counts counts, later;

static int parse_text(const char *text, const char *row)
{
	return procfs__parse_interrupts(text, strlen(text), row, &counts);
}

static void assert_present(const char *list)
{
	char text[256];

	cpus__format(&counts.present, text, sizeof(text));
	assert_string_equal(text, list);
}

static void parse_fixture(const char *name, const char *row)
{
	size_t len;
	char *text = get_file(name, &len);

	assert_int_equal(procfs__parse_interrupts(text, len, row, &counts), 0);
	free(text);
}

static void recorded_counts_are_read(void **state)
{
	(void)state;
	parse_fixture(FIXTURES "interrupts-6.18", "TLB");
	assert_present("0-1");
	assert_int_equal(counts.count[0], 3233);
	assert_int_equal(counts.count[1], 1832);
}

/* CPUs 1, 4 and 5 were offline: the second column is CPU 2. */
static void the_position_of_a_column_is_not_the_id(void **state)
{
	static const struct {
		const char *file;
		uint64_t loc[3];
	} cases[] = {
		{ FIXTURES "interrupts-6.1-offline", { 702, 577, 368 } },
		{ FIXTURES "interrupts-6.12-offline", { 475, 428, 497 } },
		{ FIXTURES "interrupts-7.3-offline", { 549, 538, 554 } },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		parse_fixture(cases[i].file, "LOC");
		assert_present("0,2-3");
		assert_int_equal(counts.count[0], cases[i].loc[0]);
		assert_int_equal(counts.count[1], 0);
		assert_int_equal(counts.count[2], cases[i].loc[1]);
		assert_int_equal(counts.count[3], cases[i].loc[2]);
	}
}

static void every_row_with_a_count_per_cpu_is_read_from_the_recorded_files(void **state)
{
	static const char *const rows[] = {
		"NMI", "LOC", "PMI", "IWI", "RES", "CAL", "TLB", "TRM"
	};
	static const char *const files[] = { FIXTURES "interrupts-6.1-offline",
					     FIXTURES "interrupts-6.12-offline",
					     FIXTURES "interrupts-7.3-offline",
					     FIXTURES "interrupts-6.18" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(files) * ARRAY_SIZE(rows); i++)
		parse_fixture(files[i / ARRAY_SIZE(rows)], rows[i % ARRAY_SIZE(rows)]);
}

/* The kernel's layout for any set of CPUs: the count of a CPU is 10 times its id, plus @add. */
static char *make_interrupts(const struct cpus *online, unsigned int add, size_t *len)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, len);

	fputs("           ", out);
	cpus__for_each (id, online) {
		fprintf(out, "CPU%-8u", id);
	}
	fputs("\n  0:", out);
	cpus__for_each (id, online) {
		fprintf(out, " %10u", id);
	}
	fputs("   IO-APIC   2-edge      timer\nTLB: ", out);
	cpus__for_each (id, online) {
		fprintf(out, "%10u ", 10 * id + add);
	}
	fputs("  TLB shootdowns\nERR:          0\n", out);
	fclose(out);
	return text;
}

static void machines_of_any_size_are_read_whole(void **state)
{
	static const unsigned int sizes[] = { 1, 64, 65, 256, 257, 512, 513, 4096, CPUS_MAX };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct cpus online;
		size_t len;
		char *text;

		cpus__clear(&online);
		for (unsigned int id = 0; id < sizes[i]; id++)
			cpus__add(&online, id);
		text = make_interrupts(&online, 3, &len);
		/* The longest rows have 90 KiB. */
		assert_true(len > 22 * (size_t)sizes[i]);
		assert_int_equal(procfs__parse_interrupts(text, len, "TLB", &counts), 0);
		assert_true(cpus__equal(&counts.present, &online));
		for (unsigned int id = 0; id < CPUS_MAX; id++)
			assert_int_equal(counts.count[id], id < sizes[i] ? 10 * id + 3 : 0);
		free(text);
	}
}

static void sparse_ids_are_read_by_their_ids(void **state)
{
	struct cpus online;
	size_t len;
	char *text;

	(void)state;
	cpus__clear(&online);
	for (unsigned int id = 5; id < CPUS_MAX; id += 97)
		cpus__add(&online, id);
	text = make_interrupts(&online, 1, &len);
	assert_int_equal(procfs__parse_interrupts(text, len, "TLB", &counts), 0);
	assert_true(cpus__equal(&counts.present, &online));
	for (unsigned int id = 0; id < CPUS_MAX; id++)
		assert_int_equal(counts.count[id], cpus__has(&online, id) ? 10 * id + 1 : 0);
	free(text);
}

/* However it is cut, the answer is the right one or a refusal, never another number. */
static void a_text_cut_anywhere_gives_no_wrong_count(void **state)
{
	struct cpus online;
	size_t len;
	char *text;
	unsigned int whole = 0;

	(void)state;
	cpus__clear(&online);
	cpus__add(&online, 0);
	cpus__add(&online, 2);
	cpus__add(&online, 300);
	text = make_interrupts(&online, 1234, &len);
	for (size_t cut = 0; cut <= len; cut++) {
		/* A copy of just that size, so that the sanitizer sees a read past its end. */
		char *part = malloc(cut + !cut);
		int err;

		memcpy(part, text, cut);
		err = procfs__parse_interrupts(part, cut, "TLB", &counts);
		free(part);
		if (err) {
			assert_true(err == -EBADMSG || err == -ENOENT);
			continue;
		}
		whole++;
		assert_true(cpus__equal(&counts.present, &online));
		assert_int_equal(counts.count[0], 1234);
		assert_int_equal(counts.count[2], 1254);
		assert_int_equal(counts.count[300], 4234);
	}
	/* From the space after the last count on. */
	assert_int_equal(whole, strlen("   TLB shootdowns\nERR:          0\n"));
	free(text);
}

static void a_missing_row_is_told_apart_from_a_broken_one(void **state)
{
	static const struct {
		const char *text;
		int err;
	} cases[] = {
		{ "CPU0 CPU1\nTLB: 1 2 x\n", 0 },
		{ "CPU0 CPU1\nTLB: 1 2\n", 0 },
		{ "CPU0 CPU1\n TLB:1 2 x", 0 },
		{ "CPU0 CPU1\nNMI: 1 2 x\n", -ENOENT },
		{ "CPU0 CPU1\nXTLB: 1 2 x\nTLBX: 1 2 x\nTLB 1 2\n", -ENOENT },
		{ "CPU0 CPU1\n", -ENOENT },
		{ "CPU0 CPU1", -ENOENT },
		{ "", -EBADMSG },
		{ "\n", -EBADMSG },
		{ "garbage\nTLB: 1 2\n", -EBADMSG },
		{ "TLB: 1 2 x\n", -EBADMSG },
		{ "CPU0 CPU0\nTLB: 1 2 x\n", -EBADMSG },
		{ "CPU1 CPU0\nTLB: 1 2 x\n", -EBADMSG },
		{ "CPU0 CPU\nTLB: 1 2 x\n", -EBADMSG },
		{ "CPU0 CPUx\nTLB: 1 2 x\n", -EBADMSG },
		{ "CPU0 CPU-1\nTLB: 1 2 x\n", -EBADMSG },
		{ "CPU0 CPU8192\nTLB: 1 2 x\n", -EBADMSG },
		{ "CPU0 CPU4294967297\nTLB: 1 2 x\n", -EBADMSG },
		{ "CPU0 CPU18446744073709551617\nTLB: 1 2 x\n", -EBADMSG },
		{ "CPU0 CPU1\nTLB:\n", -EBADMSG },
		{ "CPU0 CPU1\nTLB: 1\n", -EBADMSG },
		{ "CPU0 CPU1\nTLB: 1 TLB shootdowns\n", -EBADMSG },
		{ "CPU0 CPU1\nTLB: 1 2 3 TLB shootdowns\n", -EBADMSG },
		{ "CPU0 CPU1\nTLB: 1 -2 x\n", -EBADMSG },
		{ "CPU0 CPU1\nTLB: 1 2x\n", -EBADMSG },
		{ "CPU0 CPU1\nTLB: 1 0x2 x\n", -EBADMSG },
		{ "CPU0 CPU1\nTLB: 1 18446744073709551616 x\n", -EBADMSG },
		{ "CPU0 CPU1\nTLB: 1 200000000000000000000 x\n", -EBADMSG },
		{ "CPU0 CPU1\nTLB: 1\t2 x\n", -EBADMSG },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		int err = parse_text(cases[i].text, "TLB");

		if (err != cases[i].err)
			fail_msg("\"%s\": %d, expected %d", cases[i].text, err, cases[i].err);
		if (err)
			continue;
		assert_int_equal(counts.count[0], 1);
		assert_int_equal(counts.count[1], 2);
	}
}

/* ERR has one count for the whole machine, so it is no count per CPU. */
static void a_row_with_one_count_for_all_cpus_is_refused(void **state)
{
	size_t len;
	char *text = get_file(FIXTURES "interrupts-6.18", &len);

	(void)state;
	assert_int_equal(procfs__parse_interrupts(text, len, "ERR", &counts), -EBADMSG);
	free(text);
}

static void nul_bytes_end_nothing_early(void **state)
{
	static const char before[] = "CPU0 CPU1\nX\0Y: 1 2\nTLB: 1 2 x\n";
	static const char within[] = "CPU0 CPU1\nTLB: 1 2\0 x\n";
	static const char header[] = "CPU0 CPU1\0\nTLB: 1 2 x\n";

	(void)state;
	assert_int_equal(procfs__parse_interrupts(before, sizeof(before) - 1, "TLB", &counts), 0);
	assert_int_equal(procfs__parse_interrupts(within, sizeof(within) - 1, "TLB", &counts),
			 -EBADMSG);
	assert_int_equal(procfs__parse_interrupts(header, sizeof(header) - 1, "TLB", &counts),
			 -EBADMSG);
}

static void keyed_values_are_found_by_the_whole_key(void **state)
{
	static const char text[] = "nr_tlb_remote_flush_received 7\n"
				   "nr_tlb_remote_flush 5\n"
				   "\n"
				   "big 18446744073709551615\n"
				   "over 18446744073709551616\n"
				   "negative -1\n"
				   "unit 5 kB\n"
				   "none \n"
				   "bare\n"
				   "nul 1\0002\n"
				   "last 12";
	static const struct {
		const char *key;
		int err;
		uint64_t value;
	} cases[] = {
		{ "nr_tlb_remote_flush", 0, 5 },
		{ "nr_tlb_remote_flush_received", 0, 7 },
		{ "big", 0, UINT64_MAX },
		{ "nr_tlb", -ENOENT, 99 },
		{ "tlb_remote_flush", -ENOENT, 99 },
		{ "missing", -ENOENT, 99 },
		{ "bare", -ENOENT, 99 },
		{ "over", -EBADMSG, 99 },
		{ "negative", -EBADMSG, 99 },
		{ "unit", -EBADMSG, 99 },
		{ "none", -EBADMSG, 99 },
		{ "nul", -EBADMSG, 99 },
		{ "last", -EBADMSG, 99 }, /* may have been 123 */
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		uint64_t value = 99;
		int err = procfs__parse_keyed(text, sizeof(text) - 1, cases[i].key, &value);

		if (err != cases[i].err)
			fail_msg("%s: %d, expected %d", cases[i].key, err, cases[i].err);
		assert_true(value == cases[i].value);
	}
	assert_int_equal(procfs__parse_keyed("", 0, "key", &(uint64_t){ 0 }), -ENOENT);
}

static void recorded_vmstat_is_read(void **state)
{
	size_t len;
	char *text = get_file(FIXTURES "vmstat-6.18", &len);
	uint64_t value;

	(void)state;
	assert_int_equal(procfs__parse_keyed(text, len, "pgfault", &value), 0);
	assert_int_equal(value, 2807744);
	assert_int_equal(procfs__parse_keyed(text, len, "nr_tlb_remote_flush", &value), -ENOENT);
	free(text);
}

static void set_counts(struct percpu_counts *out, const uint64_t *value, size_t n)
{
	memset(out, 0, sizeof(*out));
	for (size_t id = 0; id < n; id++) {
		cpus__add(&out->present, id);
		out->count[id] = value[id];
	}
}

static void delta_sums_what_each_cpu_counted(void **state)
{
	bool gone = true;

	(void)state;
	set_counts(&counts, (uint64_t[]){ 10, 20, 5 }, 3);
	set_counts(&later, (uint64_t[]){ 13, 20, 105 }, 3);
	assert_int_equal(procfs__delta(&counts, &later, &gone), 103);
	assert_false(gone);
}

static void delta_follows_a_counter_across_its_wrap(void **state)
{
	bool gone;

	(void)state;
	set_counts(&counts, (uint64_t[]){ UINT32_MAX - 9, UINT32_MAX }, 2);
	set_counts(&later, (uint64_t[]){ 5, 0 }, 2);
	assert_int_equal(procfs__delta(&counts, &later, &gone), 15 + 1);
	assert_false(gone);
	/* A kernel with wider counters. */
	set_counts(&counts, (uint64_t[]){ UINT32_MAX - 9 }, 1);
	set_counts(&later, (uint64_t[]){ UINT64_C(1) << 33 }, 1);
	assert_true(procfs__delta(&counts, &later, &gone) == (UINT64_C(1) << 33) - UINT32_MAX + 9);
}

static void delta_tells_when_a_cpu_went_or_came(void **state)
{
	bool gone = false;

	(void)state;
	set_counts(&counts, (uint64_t[]){ 10, 20, 5 }, 3);
	set_counts(&later, (uint64_t[]){ 11, 20, 7 }, 3);
	cpus__remove(&later.present, 1);
	later.count[1] = 0;
	assert_int_equal(procfs__delta(&counts, &later, &gone), 3);
	assert_true(gone);
	gone = false;
	/* The other way round: what CPU 1 had counted when it came is not known. */
	cpus__remove(&counts.present, 1);
	counts.count[1] = 0;
	cpus__add(&later.present, 1);
	later.count[1] = 1000000;
	assert_int_equal(procfs__delta(&counts, &later, &gone), 3);
	assert_true(gone);
}

static void files_of_any_length_are_read_whole(void **state)
{
	static const size_t sizes[] = { 0, 1, 65534, 65535, 65536, 65537, 131071, 131072, 1000000 };
	const char *path = in_folder(state, "file");

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		char *data = malloc(sizes[i] + 1), *text;
		size_t len;

		for (size_t at = 0; at < sizes[i]; at++)
			data[at] = (at * 7 + at / 251) % 256;
		put_file(path, data, sizes[i]);
		assert_int_equal(procfs__read(path, &text, &len), 0);
		assert_int_equal(len, sizes[i]);
		assert_memory_equal(text, data, len);
		assert_int_equal(text[len], '\0');
		free(text);
		free(data);
	}
}

static void a_file_that_cannot_be_read_leaves_nothing_behind(void **state)
{
	char *text = (char *)"x";
	size_t len = 1;

	assert_int_equal(procfs__read(in_folder(state, "missing"), &text, &len), -ENOENT);
	assert_null(text);
	assert_int_equal(len, 0);
	text = (char *)"x";
	assert_int_equal(procfs__read(*state, &text, &len), -EISDIR);
	assert_null(text);
}

static void this_kernel_is_read(void **state)
{
	uint64_t faults;

	(void)state;
	assert_int_equal(procfs__vmstat("pgfault", &faults), 0);
	assert_true(faults > 0);
	assert_int_equal(procfs__vmstat("no_such_key", &faults), -ENOENT);
	assert_int_equal(procfs__interrupts("no such row", &counts), -ENOENT);
	assert_true(cpus__count(&counts.present) > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(recorded_counts_are_read),
		cmocka_unit_test(the_position_of_a_column_is_not_the_id),
		cmocka_unit_test(every_row_with_a_count_per_cpu_is_read_from_the_recorded_files),
		cmocka_unit_test(machines_of_any_size_are_read_whole),
		cmocka_unit_test(sparse_ids_are_read_by_their_ids),
		cmocka_unit_test(a_text_cut_anywhere_gives_no_wrong_count),
		cmocka_unit_test(a_missing_row_is_told_apart_from_a_broken_one),
		cmocka_unit_test(a_row_with_one_count_for_all_cpus_is_refused),
		cmocka_unit_test(nul_bytes_end_nothing_early),
		cmocka_unit_test(keyed_values_are_found_by_the_whole_key),
		cmocka_unit_test(recorded_vmstat_is_read),
		cmocka_unit_test(delta_sums_what_each_cpu_counted),
		cmocka_unit_test(delta_follows_a_counter_across_its_wrap),
		cmocka_unit_test(delta_tells_when_a_cpu_went_or_came),
		in_a_folder(files_of_any_length_are_read_whole),
		in_a_folder(a_file_that_cannot_be_read_leaves_nothing_behind),
		cmocka_unit_test(this_kernel_is_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
