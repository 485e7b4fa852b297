/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>

#include "common/parse.h"
#include "fuzz.h"

#define UNTOUCHED UINT64_C(0x5a5a5a5a5a5a5a5a)

/* Accepted, or refused with the result left alone. */
static bool accepted(int err, uint64_t out)
{
	promise(err == 0 || ((err == -EINVAL || err == -ERANGE) && out == UNTOUCHED));
	return err == 0;
}

static void check_u64(const char *text)
{
	uint64_t out = UNTOUCHED, limited = UNTOUCHED;

	if (!accepted(parse__u64(text, 0, UINT64_MAX, &out), out))
		return;
	promise(strspn(text, "0123456789") == strlen(text) && *text);
	promise(out == strtoull(text, NULL, 10));
	/* Limits let it pass exactly if it lies within. */
	promise(parse__u64(text, out, out, &limited) == 0 && limited == out);
	if (out < UINT64_MAX)
		promise(parse__u64(text, out + 1, UINT64_MAX, &limited) == -ERANGE);
	if (out > 0)
		promise(parse__u64(text, 0, out - 1, &limited) == -ERANGE);
}

static void check_size(const char *text)
{
	uint64_t out = UNTOUCHED, factor = 1;
	char *suffix;

	if (!accepted(parse__size(text, &out), out))
		return;
	uint64_t value = strtoull(text, &suffix, 10);

	for (const char *at = "KMGT"; *suffix && *at; at++) {
		factor *= 1024;
		if (*at == *suffix)
			break;
	}
	promise(suffix[0] == '\0' || (factor > 1 && suffix[1] == '\0'));
	promise(out == value * factor && out / factor == value);
}

/* Written as seconds, the same time reads back. */
static void check_duration(const char *text)
{
	uint64_t out = UNTOUCHED, again = UNTOUCHED;
	char seconds[64];

	if (!accepted(parse__duration(text, &out), out))
		return;
	promise(*text >= '0' && *text <= '9');
	snprintf(seconds, sizeof(seconds), "%" PRIu64 ".%09" PRIu64 "s", out / 1000000000,
		 out % 1000000000);
	promise(parse__duration(seconds, &again) == 0 && again == out);

	/* 64 bits of mantissa: right to the nanosecond but for the rounding down. */
	char *unit;
	long double value = strtold(text, &unit);
	long double scale = strcmp(unit, "h") == 0    ? 3600e9L
			    : strcmp(unit, "m") == 0  ? 60e9L
			    : strcmp(unit, "ms") == 0 ? 1e6L
			    : strcmp(unit, "us") == 0 ? 1e3L
			    : strcmp(unit, "ns") == 0 ? 1
						      : 1e9L;
	long double difference = value * scale - (long double)out;

	promise(difference > -2 && difference < 3);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = string_of(data, size);

	check_u64(text);
	check_size(text);
	check_duration(text);
	free(text);
	return 0;
}
