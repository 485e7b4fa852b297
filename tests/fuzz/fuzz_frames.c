/* SPDX-License-Identifier: GPL-2.0-only */
#include "vm/frames.h"
#include "fuzz.h"

static struct frame_decoder decoder;
static uint8_t stream[16 * FRAME_MAX], again[FRAME_MAX];

/* The next good frame must be in the bytes that were fed: it is encoded anew and looked for. */
static size_t check_frame(const struct frame *frame, const uint8_t *data, size_t size)
{
	size_t length = frame__encode(again, decoder.next_sequence - 1, frame->type, frame->payload,
				      frame->length);

	promise(frame->type >= FRAME_HELLO && frame->type < FRAME_TYPE_COUNT);
	promise(frame->length <= FRAME_PAYLOAD_MAX);
	promise(memmem(data, size, again, length));
	return length;
}

/* Any bytes, in chunks: all are accounted for, as frames, noise, damage, or still waiting. */
static void check_bytes(const uint8_t *data, size_t size, size_t chunk)
{
	size_t fed = 0, in_frames = 0, delivered = 0;

	frame_decoder__init(&decoder);
	while (fed < size) {
		size_t offered = size - fed < chunk ? size - fed : chunk;
		size_t taken = frame_decoder__feed(&decoder, data + fed, offered);
		struct frame frame;

		promise(taken > 0 && taken <= offered);
		fed += taken;
		while (frame_decoder__next(&decoder, &frame)) {
			in_frames += check_frame(&frame, data, size);
			delivered++;
		}
	}
	promise(decoder.end - decoder.start < FRAME_MAX);
	/* Frames out of order are taken off, and not delivered. */
	if (!decoder.lost)
		promise(in_frames + decoder.noise + decoder.damaged + decoder.end - decoder.start ==
			size);
	promise(decoder.begun || !delivered);
}

/* After a first frame of the agent's own, the bytes as payloads of frames: all arrive. */
static size_t make_stream(const uint8_t *data, size_t size, uint32_t *count)
{
	size_t length = frame__encode(stream, 0, FRAME_HELLO, "cpus 4", 6);

	*count = 1;
	do {
		size_t payload = size ? 1 + data[0] % 200u : 0;

		if (payload > size)
			payload = size;
		length += frame__encode(stream + length, *count, 1 + *count % 9, data, payload);
		(*count)++;
		data += payload;
		size -= payload;
	} while (size && length + FRAME_MAX < sizeof(stream));
	return length;
}

static uint32_t receive(const uint8_t *data, size_t size)
{
	uint32_t count = 0;

	while (size) {
		size_t taken = frame_decoder__feed(&decoder, data, size);
		struct frame frame;

		data += taken;
		size -= taken;
		while (frame_decoder__next(&decoder, &frame))
			count++;
	}
	return count;
}

/*
 * One byte changed, dropped or doubled is either seen, or the last frame is not there: whatever the
 * payloads hold, which may be frames.
 */
static void check_damage(size_t length, uint32_t count, const uint8_t *data, size_t size)
{
	size_t at = (data[0] | data[size - 1] << 8) % length;
	uint32_t arrived;

	frame_decoder__init(&decoder);
	arrived = receive(stream, at);
	switch (data[size / 2] % 3) {
	case 0:
		stream[at] ^= (uint8_t)(1 + data[0] % 255);
		arrived += receive(stream + at, length - at);
		break;
	case 1:
		arrived += receive(stream + at + 1, length - at - 1);
		break;
	default:
		arrived += receive(stream + at, 1);
		arrived += receive(stream + at, length - at);
		/* No harm is done by one byte more before the first frame or after the last one. */
		if (arrived == count && (decoder.noise || decoder.end > decoder.start))
			return;
	}
	promise(!frame_decoder__intact(&decoder) || decoder.next_sequence < count);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint32_t count;
	size_t length;

	check_bytes(data, size, 1 + size);
	check_bytes(data, size, 7);
	length = make_stream(data, size, &count);
	frame_decoder__init(&decoder);
	promise(receive(stream, length) == count);
	promise(frame_decoder__intact(&decoder) && !decoder.noise);
	if (size)
		check_damage(length, count, data, size);
	return 0;
}
