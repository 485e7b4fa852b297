/* SPDX-License-Identifier: GPL-2.0-only */
#include "support.h"

#include "vm/receive.h"

/* Each test runs in a child, whose output is that of the receiver. */
static uint32_t sequence;

static void send_frame(struct receiver *receiver, enum frame_type type, const char *payload)
{
	static uint8_t frame[FRAME_MAX];
	size_t length = frame__encode(frame, sequence++, type, payload, strlen(payload));

	receiver__feed(receiver, frame, length);
}

static struct child child;

static void in_child(int (*run)(void *), void *arg)
{
	child__run(&child, run, arg);
}

static int a_whole_job(void *arg)
{
	struct receiver receiver;

	(void)arg;
	receiver__init(&receiver, NULL, 0);
	send_frame(&receiver, FRAME_HELLO, "cpus 16\nuptime_ms 4321\n");
	send_frame(&receiver, FRAME_STDOUT, "out");
	send_frame(&receiver, FRAME_HEARTBEAT, "");
	send_frame(&receiver, FRAME_STDERR, "error");
	send_frame(&receiver, FRAME_STDOUT, "put\n");
	if (receiver__complete(&receiver) || !receiver.hello || receiver.hello_cpus != 16 ||
	    receiver.hello_uptime_ms != 4321)
		return 100;
	send_frame(&receiver, FRAME_FINAL, "exit 3\nstdout 7\nstderr 5\nfiles 0\nmissing 2\n");
	if (!receiver__complete(&receiver) || receiver.signaled || receiver.missing != 2)
		return 101;
	return (int)receiver.code;
}

static void output_and_end_of_a_job_arrive(void **state)
{
	(void)state;
	in_child(a_whole_job, NULL);
	assert_int_equal(child__code(&child), 3);
	assert_string_equal(child.out, "output\n");
	assert_string_equal(child.err, "error");
}

/* 0 if the final record is believed. */
static int with_final(void *final)
{
	struct receiver receiver;

	receiver__init(&receiver, NULL, 0);
	send_frame(&receiver, FRAME_HELLO, "cpus 1\n");
	send_frame(&receiver, FRAME_STDOUT, "12345");
	send_frame(&receiver, FRAME_FINAL, final);
	return receiver__complete(&receiver) ? (receiver.signaled ? 128 : 0) + (int)receiver.code
					     : 99;
}

static void a_final_record_whose_sums_differ_is_not_believed(void **state)
{
	static const struct {
		const char *final;
		int code;
	} cases[] = {
		{ "exit 0\nstdout 5\nstderr 0\nfiles 0\nmissing 0\n", 0 },
		{ "signal 9\nstdout 5\nstderr 0\nfiles 0\nmissing 0\n", 128 + 9 },
		{ "exit 0\nstdout 4\nstderr 0\nfiles 0\nmissing 0\n", 99 },
		{ "exit 0\nstdout 5\nstderr 1\nfiles 0\nmissing 0\n", 99 },
		{ "exit 0\nstdout 5\nstderr 0\nfiles 1\nmissing 0\n", 99 },
		{ "stdout 5\nstderr 0\nfiles 0\nmissing 0\n", 99 },
		{ "exit x\nstdout 5\nstderr 0\nfiles 0\nmissing 0\n", 99 },
		{ "exit 0", 99 },
		{ "", 99 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		in_child(with_final, (void *)cases[i].final);
		assert_int_equal(child__code(&child), cases[i].code);
	}
}

static int with_a_hole(void *arg)
{
	struct receiver receiver;

	(void)arg;
	receiver__init(&receiver, NULL, 0);
	send_frame(&receiver, FRAME_HELLO, "cpus 1\n");
	sequence++;
	send_frame(&receiver, FRAME_FINAL, "exit 0\nstdout 0\nstderr 0\nfiles 0\nmissing 0\n");
	return receiver.final && !receiver__complete(&receiver) ? 0 : 1;
}

static void a_result_with_a_hole_is_not_complete(void **state)
{
	(void)state;
	in_child(with_a_hole, NULL);
	assert_int_equal(child__code(&child), 0);
}

struct transfer {
	const char *target;
	bool damaged, cut;
};

static int get_a_file(void *arg)
{
	const struct transfer *transfer = arg;
	struct get_file get = { .source = "/root/result.json", .target = transfer->target };
	struct receiver receiver;
	int failure;

	receiver__init(&receiver, &get, 1);
	send_frame(&receiver, FRAME_HELLO, "cpus 1\n");
	send_frame(&receiver, FRAME_FILE, "/root/result.json");
	send_frame(&receiver, FRAME_FILE_DATA, "{ \"a\":");
	sequence += transfer->damaged;
	if (!transfer->cut) {
		send_frame(&receiver, FRAME_FILE_DATA, " 1 }");
		send_frame(&receiver, FRAME_FILE_END, "");
	}
	send_frame(&receiver, FRAME_FINAL, "exit 0\nstdout 0\nstderr 0\nfiles 1\nmissing 0\n");
	failure = -receiver.failure;
	if (!failure && !receiver__complete(&receiver))
		failure = 99;
	receiver__free(&receiver);
	return failure;
}

static void a_file_arrives_whole(void **state)
{
	const char *path = in_folder(state, "result.json");
	size_t length;
	char *text;

	in_child(get_a_file, &(struct transfer){ .target = path });
	assert_int_equal(child__code(&child), 0);
	text = get_file(path, &length);
	assert_string_equal(text, "{ \"a\": 1 }");
	free(text);
}

static void half_a_file_is_not_written(void **state)
{
	const char *path = in_folder(state, "result.json");

	put_file(path, "old", 3);
	in_child(get_a_file, &(struct transfer){ .target = path, .cut = true });
	assert_int_equal(child__code(&child), 99);
	in_child(get_a_file, &(struct transfer){ .target = path, .damaged = true });
	assert_int_equal(child__code(&child), 99);

	size_t length;
	char *text = get_file(path, &length);

	assert_string_equal(text, "old");
	free(text);
}

static void a_file_that_cannot_be_written_is_an_error(void **state)
{
	(void)state;
	in_child(get_a_file, &(struct transfer){ .target = "/nonexistent/result.json" });
	assert_int_equal(child__code(&child), ENOENT);
	assert_contains(child.err, "/nonexistent");
}

static int get_a_stranger(void *name)
{
	struct get_file get = { .source = "/root/a", .target = "/dev/null" };
	struct receiver receiver;

	receiver__init(&receiver, &get, 1);
	send_frame(&receiver, FRAME_FILE, name);
	return receiver.failure ? 0 : 1;
}

static void a_file_that_was_not_asked_for_is_refused(void **state)
{
	static const char *const names[] = { "/root/ab", "/root/", "/root/b", "" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		in_child(get_a_stranger, (void *)names[i]);
		assert_int_equal(child__code(&child), 0);
	}
}

static int write_to_a_full_disk(void *arg)
{
	struct receiver receiver;

	(void)arg;
	receiver__init(&receiver, NULL, 0);
	receiver.out = open("/dev/full", O_WRONLY);
	send_frame(&receiver, FRAME_STDOUT, "x");
	return -receiver.failure;
}

static void output_that_cannot_be_written_is_an_error(void **state)
{
	(void)state;
	in_child(write_to_a_full_disk, NULL);
	assert_int_equal(child__code(&child), ENOSPC);
	assert_contains(child.err, "write the job's standard output: No space left on device");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(output_and_end_of_a_job_arrive),
		cmocka_unit_test(a_final_record_whose_sums_differ_is_not_believed),
		cmocka_unit_test(a_result_with_a_hole_is_not_complete),
		in_a_folder(a_file_arrives_whole),
		in_a_folder(half_a_file_is_not_written),
		cmocka_unit_test(a_file_that_cannot_be_written_is_an_error),
		cmocka_unit_test(a_file_that_was_not_asked_for_is_refused),
		cmocka_unit_test(output_that_cannot_be_written_is_an_error),
	};

	return cmocka_run_group_tests_name("receive", tests, NULL, NULL);
}
