/* SPDX-License-Identifier: GPL-2.0-only */
#include "vm/frames.h"

#include <endian.h>
#include <string.h>

#include <zlib.h>

/* Not text in any encoding, and not the start of an ELF, gzip or xz file. */
static const uint8_t magic[4] = { 0xf5, 'T', 0x1b, 0xfe };

struct header {
	uint8_t magic[4];
	uint32_t sequence;
	uint16_t type;
	uint16_t length;
	uint32_t crc;
} __attribute__((packed));

_Static_assert(sizeof(struct header) == FRAME_HEADER, "the header on the wire");

static uint32_t checksum(const struct header *header, const void *payload, size_t length)
{
	uLong crc = crc32(0, (const uint8_t *)&header->sequence, 8);

	if (length) /* zlib takes a NULL buffer for a reset */
		crc = crc32(crc, payload, (uInt)length);
	return (uint32_t)crc;
}

size_t frame__encode(uint8_t *out, uint32_t sequence, enum frame_type type, const void *payload,
		     size_t length)
{
	struct header header = {
		.sequence = htole32(sequence),
		.type = htole16((uint16_t)type),
		.length = htole16((uint16_t)length),
	};

	memcpy(header.magic, magic, sizeof(magic));
	header.crc = htole32(checksum(&header, payload, length));
	memcpy(out, &header, FRAME_HEADER);
	if (length)
		memcpy(out + FRAME_HEADER, payload, length);
	return FRAME_HEADER + length;
}

void frame_decoder__init(struct frame_decoder *decoder)
{
	memset(decoder, 0, sizeof(*decoder));
}

size_t frame_decoder__feed(struct frame_decoder *decoder, const void *data, size_t length)
{
	size_t room;

	if (decoder->start) {
		memmove(decoder->buffer, decoder->buffer + decoder->start,
			decoder->end - decoder->start);
		decoder->end -= decoder->start;
		decoder->start = 0;
	}
	room = sizeof(decoder->buffer) - decoder->end;
	if (length > room)
		length = room;
	memcpy(decoder->buffer + decoder->end, data, length);
	decoder->end += length;
	return length;
}

static void skip(struct frame_decoder *decoder, size_t bytes)
{
	decoder->start += bytes;
	*(decoder->begun ? &decoder->damaged : &decoder->noise) += bytes;
}

/* Moves to the next place where a frame could begin; false if there is none yet. */
static bool find_magic(struct frame_decoder *decoder)
{
	const uint8_t *from = decoder->buffer + decoder->start;
	size_t have = decoder->end - decoder->start, i;

	for (i = 0; i < have; i++) {
		size_t compare = have - i < sizeof(magic) ? have - i : sizeof(magic);

		if (!memcmp(from + i, magic, compare))
			break;
	}
	skip(decoder, i);
	return decoder->end - decoder->start >= FRAME_HEADER;
}

static bool header_is_sane(const struct header *header)
{
	uint16_t type = le16toh(header->type);

	return type >= FRAME_HELLO && type < FRAME_TYPE_COUNT &&
	       le16toh(header->length) <= FRAME_PAYLOAD_MAX;
}

/* False if the frame is older than one already delivered. */
static bool take_sequence(struct frame_decoder *decoder, uint32_t sequence)
{
	uint32_t ahead = sequence - decoder->next_sequence;

	decoder->begun = true;
	if (ahead > UINT32_MAX / 2) {
		decoder->lost++;
		return false;
	}
	decoder->lost += ahead;
	decoder->next_sequence = sequence + 1;
	return true;
}

bool frame_decoder__next(struct frame_decoder *decoder, struct frame *out)
{
	while (find_magic(decoder)) {
		const uint8_t *at = decoder->buffer + decoder->start;
		struct header header;
		size_t length;

		memcpy(&header, at, FRAME_HEADER);
		length = le16toh(header.length);
		if (!header_is_sane(&header)) {
			skip(decoder, 1);
			continue;
		}
		if (decoder->end - decoder->start < FRAME_HEADER + length)
			return false;
		if (le32toh(header.crc) != checksum(&header, at + FRAME_HEADER, length)) {
			skip(decoder, 1);
			continue;
		}
		decoder->start += FRAME_HEADER + length;
		if (!take_sequence(decoder, le32toh(header.sequence)))
			continue;
		out->type = le16toh(header.type);
		out->payload = at + FRAME_HEADER;
		out->length = length;
		return true;
	}
	return false;
}

bool frame_decoder__intact(const struct frame_decoder *decoder)
{
	return !decoder->damaged && !decoder->lost;
}
