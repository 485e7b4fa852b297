/* SPDX-License-Identifier: GPL-2.0-only */
#include "support.h"

#include "vm/frames.h"

/* A stream of frames as the agent sends it. */
struct stream {
	uint8_t bytes[8 * FRAME_MAX];
	size_t length;
	size_t start[64]; /* where frame N begins */
	uint32_t count;
};

static struct stream stream;
static struct frame_decoder decoder;

static int reset(void **state)
{
	(void)state;
	memset(&stream, 0, sizeof(stream));
	frame_decoder__init(&decoder);
	return 0;
}

static void send_frame(enum frame_type type, const void *payload, size_t length)
{
	stream.start[stream.count] = stream.length;
	stream.length +=
		frame__encode(stream.bytes + stream.length, stream.count, type, payload, length);
	stream.start[++stream.count] = stream.length;
}

static void send_text(enum frame_type type, const char *text)
{
	send_frame(type, text, strlen(text));
}

/* What was received: "TYPE:PAYLOAD;" for each frame. */
static char received[16 * FRAME_MAX];

static const char *receive(const uint8_t *bytes, size_t length, size_t chunk)
{
	char *out = received + strlen(received);

	while (length) {
		size_t offered = length < chunk ? length : chunk;
		size_t taken = frame_decoder__feed(&decoder, bytes, offered);
		struct frame frame;

		bytes += taken;
		length -= taken;
		while (frame_decoder__next(&decoder, &frame))
			out += sprintf(out, "%d:%.*s;", (int)frame.type, (int)frame.length,
				       (const char *)frame.payload);
		assert_true(taken > 0);
	}
	return received;
}

static const char *receive_all(void)
{
	*received = '\0';
	return receive(stream.bytes, stream.length, sizeof(stream.bytes));
}

static void send_three(void)
{
	send_text(FRAME_HELLO, "cpus 4");
	send_text(FRAME_STDOUT, "some output");
	send_text(FRAME_FINAL, "exit 0");
}

#define THREE "1:cpus 4;3:some output;9:exit 0;"

static void frames_arrive_as_sent_whatever_the_chunks(void **state)
{
	static const size_t chunks[] = { 1, 2, 3, 7, 15, 16, 17, 64, 4096 };

	(void)state;
	send_three();
	for (size_t i = 0; i < ARRAY_SIZE(chunks); i++) {
		frame_decoder__init(&decoder);
		*received = '\0';
		assert_string_equal(receive(stream.bytes, stream.length, chunks[i]), THREE);
		assert_true(frame_decoder__intact(&decoder));
	}
}

static void empty_and_largest_payloads_arrive(void **state)
{
	static char large[FRAME_PAYLOAD_MAX + 1];

	(void)state;
	memset(large, 'x', FRAME_PAYLOAD_MAX);
	send_text(FRAME_HEARTBEAT, "");
	for (int i = 0; i < 5; i++)
		send_text(FRAME_STDOUT, large);
	send_text(FRAME_HEARTBEAT, "");
	receive_all();
	assert_int_equal(strlen(received), 2 * strlen("2:;") + 5 * (FRAME_PAYLOAD_MAX + 3));
	assert_true(frame_decoder__intact(&decoder));
}

static void every_changed_byte_is_noticed(void **state)
{
	(void)state;
	send_three();
	send_text(FRAME_HEARTBEAT, "");
	for (size_t i = 0; i < stream.length; i++) {
		uint8_t was = stream.bytes[i];

		for (int bit = 0; bit < 8; bit++) {
			frame_decoder__init(&decoder);
			stream.bytes[i] = was ^ (uint8_t)(1 << bit);
			receive_all();
			/* The last frame may be waiting for a longer payload that never comes. */
			if (decoder.next_sequence == stream.count)
				assert_false(frame_decoder__intact(&decoder));
			stream.bytes[i] = was;
		}
	}
}

static void every_lost_byte_is_noticed(void **state)
{
	(void)state;
	send_three();
	send_text(FRAME_HEARTBEAT, "");
	for (size_t i = 0; i < stream.length; i++) {
		frame_decoder__init(&decoder);
		*received = '\0';
		receive(stream.bytes, i, sizeof(stream.bytes));
		receive(stream.bytes + i + 1, stream.length - i - 1, sizeof(stream.bytes));
		if (decoder.next_sequence == stream.count)
			assert_false(frame_decoder__intact(&decoder));
		assert_string_not_equal(received, THREE "2:;");
	}
}

static void a_lost_frame_is_noticed(void **state)
{
	(void)state;
	send_three();
	*received = '\0';
	receive(stream.bytes, stream.start[1], 64);
	receive(stream.bytes + stream.start[2], stream.length - stream.start[2], 64);
	assert_string_equal(received, "1:cpus 4;9:exit 0;");
	assert_int_equal(decoder.lost, 1);
	assert_false(frame_decoder__intact(&decoder));
}

static void a_lost_first_frame_is_noticed(void **state)
{
	(void)state;
	send_three();
	*received = '\0';
	receive(stream.bytes + stream.start[1], stream.length - stream.start[1], 64);
	assert_string_equal(received, "3:some output;9:exit 0;");
	assert_false(frame_decoder__intact(&decoder));
}

static void a_frame_out_of_order_is_not_passed_on(void **state)
{
	(void)state;
	send_three();
	*received = '\0';
	receive(stream.bytes, stream.start[1], 64);
	receive(stream.bytes + stream.start[2], stream.length - stream.start[2], 64);
	receive(stream.bytes + stream.start[1], stream.start[2] - stream.start[1], 64);
	assert_string_equal(received, "1:cpus 4;9:exit 0;");
	assert_int_equal(decoder.lost, 2);
}

static void a_frame_that_comes_twice_is_passed_on_once(void **state)
{
	(void)state;
	send_three();
	*received = '\0';
	receive(stream.bytes, stream.start[2], 64);
	receive(stream.bytes + stream.start[1], stream.length - stream.start[1], 64);
	assert_string_equal(received, THREE);
	assert_false(frame_decoder__intact(&decoder));
}

static void noise_before_the_first_frame_is_no_damage(void **state)
{
	static const uint8_t noise[] = "SeaBIOS\r\n\xf5T\x1b\xfe\xf5T\x1b not a frame \xf5";

	(void)state;
	send_three();
	*received = '\0';
	receive(noise, sizeof(noise) - 1, 5);
	assert_string_equal(receive(stream.bytes, stream.length, 5), THREE);
	assert_true(frame_decoder__intact(&decoder));
	assert_int_equal(decoder.noise, sizeof(noise) - 1);
}

static void noise_between_frames_is_damage_that_later_frames_survive(void **state)
{
	static const uint8_t noise[] = "[    1.0] printk: a line on the wrong port\n";

	(void)state;
	send_three();
	*received = '\0';
	receive(stream.bytes, stream.start[1], 64);
	receive(noise, sizeof(noise) - 1, 64);
	receive(stream.bytes + stream.start[1], stream.length - stream.start[1], 64);
	assert_string_equal(received, THREE);
	assert_int_equal(decoder.damaged, sizeof(noise) - 1);
	assert_false(frame_decoder__intact(&decoder));
}

static void a_job_may_print_frames(void **state)
{
	static uint8_t inner[FRAME_MAX];
	size_t length = frame__encode(inner, 2, FRAME_FINAL, "exit 1", 6);
	struct frame frame;
	int count = 0;

	(void)state;
	send_text(FRAME_HELLO, "");
	send_frame(FRAME_STDOUT, inner, length);
	send_text(FRAME_FINAL, "exit 0");
	frame_decoder__feed(&decoder, stream.bytes, stream.length);
	while (frame_decoder__next(&decoder, &frame)) {
		if (count++ != 1)
			continue;
		assert_int_equal(frame.type, FRAME_STDOUT);
		assert_int_equal(frame.length, length);
		assert_memory_equal(frame.payload, inner, length);
	}
	assert_int_equal(count, 3);
	assert_true(frame_decoder__intact(&decoder));
}

static void headers_that_no_agent_writes_are_not_believed(void **state)
{
	(void)state;
	send_three();
	/* A type beyond the last one, with a checksum that fits. */
	frame__encode(stream.bytes + stream.start[1], 1, FRAME_TYPE_COUNT, "some output", 11);
	assert_string_equal(receive_all(), "1:cpus 4;9:exit 0;");
	assert_false(frame_decoder__intact(&decoder));
}

static void a_cut_stream_gives_no_final_frame(void **state)
{
	(void)state;
	send_three();
	for (size_t cut = 1; cut <= stream.length - stream.start[2]; cut++) {
		frame_decoder__init(&decoder);
		*received = '\0';
		receive(stream.bytes, stream.length - cut, 64);
		assert_string_equal(received, "1:cpus 4;3:some output;");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(frames_arrive_as_sent_whatever_the_chunks, reset),
		cmocka_unit_test_setup(empty_and_largest_payloads_arrive, reset),
		cmocka_unit_test_setup(every_changed_byte_is_noticed, reset),
		cmocka_unit_test_setup(every_lost_byte_is_noticed, reset),
		cmocka_unit_test_setup(a_lost_frame_is_noticed, reset),
		cmocka_unit_test_setup(a_lost_first_frame_is_noticed, reset),
		cmocka_unit_test_setup(a_frame_out_of_order_is_not_passed_on, reset),
		cmocka_unit_test_setup(a_frame_that_comes_twice_is_passed_on_once, reset),
		cmocka_unit_test_setup(noise_before_the_first_frame_is_no_damage, reset),
		cmocka_unit_test_setup(noise_between_frames_is_damage_that_later_frames_survive,
				       reset),
		cmocka_unit_test_setup(a_job_may_print_frames, reset),
		cmocka_unit_test_setup(headers_that_no_agent_writes_are_not_believed, reset),
		cmocka_unit_test_setup(a_cut_stream_gives_no_final_frame, reset),
	};

	return cmocka_run_group_tests_name("frames", tests, NULL, NULL);
}
