/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How a guest's results reach the host: frames on a serial port of their own.
 *
 * A frame is a header of FRAME_HEADER bytes and a payload, all numbers little-endian:
 *
 *	magic	 4 bytes
 *	sequence 4 bytes, 0 for the first frame, then one more for each
 *	type	 2 bytes, enum frame_type
 *	length	 2 bytes of payload, at most FRAME_PAYLOAD_MAX
 *	crc	 4 bytes, CRC-32 (zlib's) of sequence, type, length and payload
 *
 * Sequence and checksum make every loss visible: a lost byte breaks a checksum, a lost frame leaves
 * a hole in the sequence. A result counts only if frame_decoder__intact() holds at the final frame.
 */
#ifndef TLBVM_FRAMES_H
#define TLBVM_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FRAME_HEADER	  16
#define FRAME_PAYLOAD_MAX 16384
#define FRAME_MAX	  (FRAME_HEADER + FRAME_PAYLOAD_MAX)

enum frame_type {
	FRAME_HELLO = 1, /* first of all: facts of the guest, "key value" lines */
	FRAME_HEARTBEAT, /* nothing to tell, still alive; no payload */
	FRAME_STDOUT,	 /* what the job wrote */
	FRAME_STDERR,
	FRAME_LOG,	 /* a sentence of the agent for the user */
	FRAME_FILE,	 /* a file begins: its path, as it was asked for */
	FRAME_FILE_DATA, /* its content, in order */
	FRAME_FILE_END,	 /* it is complete; no payload */
	FRAME_FINAL,	 /* last of all: how the job ended, "key value" lines */
	FRAME_TYPE_COUNT,
};

struct frame {
	enum frame_type type;
	const uint8_t *payload; /* inside the decoder, valid until the next call on it */
	size_t length;
};

/*
 * Writes one frame to @out, which has room for FRAME_HEADER + @length bytes; @length is at most
 * FRAME_PAYLOAD_MAX. Returns the bytes written.
 */
size_t frame__encode(uint8_t *out, uint32_t sequence, enum frame_type type, const void *payload,
		     size_t length);

struct frame_decoder {
	uint8_t buffer[2 * FRAME_MAX];
	size_t start, end;
	uint32_t next_sequence;
	bool begun;	  /* a good frame was seen */
	uint64_t noise;	  /* bytes before the first good frame: a firmware's or boot loader's */
	uint64_t damaged; /* bytes after it that belong to no good frame */
	uint64_t lost;	  /* frames missing in the sequence, and frames out of order */
};

void frame_decoder__init(struct frame_decoder *decoder);

/* Takes bytes from the port; returns how many fitted. Take all frames out, then offer the rest. */
size_t frame_decoder__feed(struct frame_decoder *decoder, const void *data, size_t length);

/* The next good frame. Returns false if more bytes are needed. */
bool frame_decoder__next(struct frame_decoder *decoder, struct frame *out);

/* True if nothing was lost or damaged since the first frame of the stream. */
bool frame_decoder__intact(const struct frame_decoder *decoder);

#endif
