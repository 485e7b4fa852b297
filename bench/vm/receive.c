/* SPDX-License-Identifier: GPL-2.0-only */
#include "vm/receive.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/diag.h"
#include "common/file.h"
#include "common/procfs.h"
#include "common/stop.h"
#include "vm/job.h"

void receiver__init(struct receiver *receiver, const struct get_file *gets, size_t get_count)
{
	memset(receiver, 0, sizeof(*receiver));
	frame_decoder__init(&receiver->decoder);
	receiver->gets = gets;
	receiver->get_count = get_count;
	receiver->out = STDOUT_FILENO;
	receiver->err = STDERR_FILENO;
}

static void drop_file(struct receiver *receiver)
{
	if (receiver->file_stream)
		fclose(receiver->file_stream);
	free(receiver->file_data);
	receiver->file = NULL;
	receiver->file_stream = NULL;
	receiver->file_data = NULL;
}

void receiver__free(struct receiver *receiver)
{
	drop_file(receiver);
}

/* A reader that has stopped must not keep us from ending: a signal ends a write half-way. */
static int write_all(int fd, const uint8_t *data, size_t length)
{
	while (length && !stop__asked()) {
		ssize_t done = write(fd, data, length);

		if (done < 0 && errno == EAGAIN)
			poll(&(struct pollfd){ .fd = fd, .events = POLLOUT }, 1, 1000);
		else if (done < 0 && errno != EINTR)
			return -errno;
		if (done > 0) {
			data += done;
			length -= (size_t)done;
		}
	}
	return length ? -EINTR : 0;
}

static int pass_on(int fd, const struct frame *frame, const char *name)
{
	int err = write_all(fd, frame->payload, frame->length);

	if (err && err != -EPIPE && err != -EINTR)
		diag__fail(-err, "write the job's %s", name);
	return err;
}

static uint64_t value(const struct frame *frame, const char *key)
{
	uint64_t number = 0;

	procfs__parse_keyed((const char *)frame->payload, frame->length, key, &number);
	return number;
}

static void take_hello(struct receiver *receiver, const struct frame *frame)
{
	receiver->hello = true;
	receiver->hello_cpus = (unsigned int)value(frame, "cpus");
	receiver->hello_uptime_ms = value(frame, "uptime_ms");
}

static int begin_file(struct receiver *receiver, const struct frame *frame)
{
	drop_file(receiver);
	for (size_t i = 0; i < receiver->get_count; i++) {
		const struct get_file *get = &receiver->gets[i];

		if (strlen(get->source) == frame->length &&
		    !memcmp(get->source, frame->payload, frame->length))
			receiver->file = get;
	}
	if (!receiver->file)
		return diag__fail(0, "the guest sends a file that was not asked for");
	receiver->file_stream = open_memstream(&receiver->file_data, &receiver->file_size);
	return receiver->file_stream ? 0 : diag__fail(ENOMEM, "receive %s", receiver->file->source);
}

static int add_to_file(struct receiver *receiver, const struct frame *frame)
{
	if (!receiver->file_stream)
		return 0;
	if (fwrite(frame->payload, 1, frame->length, receiver->file_stream) != frame->length)
		return diag__fail(ENOMEM, "receive %s", receiver->file->source);
	return 0;
}

static int end_file(struct receiver *receiver)
{
	int err = 0;

	if (!receiver->file_stream)
		return 0;
	if (fflush(receiver->file_stream))
		err = diag__fail(ENOMEM, "receive %s", receiver->file->source);
	/* Half a file is worse than none; a damaged stream is reported at its end. */
	else if (frame_decoder__intact(&receiver->decoder))
		err = file__replace(receiver->file->target, receiver->file_data,
				    receiver->file_size);
	receiver->files++;
	drop_file(receiver);
	return err;
}

static void take_final(struct receiver *receiver, const struct frame *frame)
{
	const char *text = (const char *)frame->payload;
	uint64_t code = 0;

	receiver->final = true;
	receiver->signaled = procfs__parse_keyed(text, frame->length, "signal", &code) == 0;
	receiver->final_matches = (receiver->signaled ||
				   procfs__parse_keyed(text, frame->length, "exit", &code) == 0) &&
				  value(frame, FINAL_STDOUT) == receiver->out_bytes &&
				  value(frame, FINAL_STDERR) == receiver->err_bytes &&
				  value(frame, FINAL_FILES) == receiver->files;
	receiver->missing = value(frame, FINAL_MISSING);
	receiver->code = (unsigned int)code;
}

static int take(struct receiver *receiver, const struct frame *frame)
{
	receiver->frames++;
	switch (frame->type) {
	case FRAME_HELLO:
		take_hello(receiver, frame);
		return 0;
	case FRAME_STDOUT:
		receiver->out_bytes += frame->length;
		return pass_on(receiver->out, frame, "standard output");
	case FRAME_STDERR:
		receiver->err_bytes += frame->length;
		return pass_on(receiver->err, frame, "standard error");
	case FRAME_LOG:
		receiver->log_seen = true;
		diag__error("guest: %.*s", (int)frame->length, (const char *)frame->payload);
		return 0;
	case FRAME_FILE:
		return begin_file(receiver, frame);
	case FRAME_FILE_DATA:
		return add_to_file(receiver, frame);
	case FRAME_FILE_END:
		return end_file(receiver);
	case FRAME_FINAL:
		take_final(receiver, frame);
		return 0;
	case FRAME_HEARTBEAT:
	case FRAME_TYPE_COUNT:
		break;
	}
	return 0;
}

int receiver__feed(struct receiver *receiver, const void *data, size_t length)
{
	const uint8_t *bytes = data;

	while (length && !receiver->failure) {
		size_t taken = frame_decoder__feed(&receiver->decoder, bytes, length);
		struct frame frame;

		bytes += taken;
		length -= taken;
		while (!receiver->failure && frame_decoder__next(&receiver->decoder, &frame))
			receiver->failure = take(receiver, &frame);
	}
	return receiver->failure;
}

bool receiver__complete(const struct receiver *receiver)
{
	return receiver->final && receiver->final_matches &&
	       frame_decoder__intact(&receiver->decoder);
}
