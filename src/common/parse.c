/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * strtoul() and its kin take leading spaces, signs (and turn "-1" into 2^64-1), and obey the
 * locale; so digits are read here, one by one.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "diag.h"
#include "parse.h"

/* Room for the digits of a fraction: anything finer than a nanosecond is refused. */
#define FRACTION_DIGITS 9

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/*
 * Reads the digits at *@text and moves it past them, also when they do not fit: what follows
 * decides between -EINVAL and -ERANGE. Returns 0, -EINVAL (no digit), -ERANGE.
 */
static int take_digits(const char **text, uint64_t *out)
{
	uint64_t value = 0;
	int err = is_digit(**text) ? 0 : -EINVAL;

	for (; is_digit(**text); (*text)++) {
		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, **text - '0', &value))
			err = -ERANGE;
	}
	*out = value;
	return err;
}

int parse__u64(const char *text, uint64_t min, uint64_t max, uint64_t *out)
{
	uint64_t value;
	int err = take_digits(&text, &value);

	if (*text)
		return -EINVAL;
	if (!err && (value < min || value > max))
		err = -ERANGE;
	if (!err)
		*out = value;
	return err;
}

int parse__size(const char *text, uint64_t *bytes)
{
	static const char suffixes[] = "KMGT";
	unsigned int shift = 0;
	uint64_t value;
	int err = take_digits(&text, &value);

	if (*text) {
		const char *suffix = strchr(suffixes, *text);

		if (!suffix || text[1])
			return -EINVAL;
		shift = 10 * (suffix - suffixes + 1);
	}
	if (!err && value > UINT64_MAX >> shift)
		err = -ERANGE;
	if (!err)
		*bytes = value << shift;
	return err;
}

static const struct unit {
	const char *name;
	uint64_t ns;
} units[] = {
	{ "", 1000000000 }, { "s", 1000000000 },  { "ms", 1000000 },	  { "us", 1000 },
	{ "ns", 1 },	    { "m", 60000000000 }, { "h", 3600000000000 },
};

static const struct unit *find_unit(const char *name)
{
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
		if (strcmp(units[i].name, name) == 0)
			return &units[i];
	}
	return NULL;
}

int parse__duration(const char *text, uint64_t *ns)
{
	uint64_t whole, fraction = 0, scale = 1;
	int err = take_digits(&text, &whole);

	if (err == -EINVAL)
		return err;
	if (*text == '.') {
		const char *first = ++text;
		int fraction_err = take_digits(&text, &fraction);

		if (fraction_err == -EINVAL)
			return fraction_err;
		if (text - first > FRACTION_DIGITS)
			err = -ERANGE;
		for (ptrdiff_t i = 0; !err && i < text - first; i++)
			scale *= 10;
	}

	const struct unit *unit = find_unit(text);

	if (!unit)
		return -EINVAL;
	if (err)
		return err;

	unsigned __int128 total = (unsigned __int128)whole * unit->ns +
				  (unsigned __int128)fraction * unit->ns / scale;

	if (total > UINT64_MAX)
		return -ERANGE;
	*ns = total;
	return 0;
}

/* Reads "3" or "0-3". Returns 0, -EINVAL, -ERANGE. */
static int take_run(const char **text, uint64_t *first, uint64_t *last)
{
	int err = take_digits(text, first), last_err = 0;

	if (err == -EINVAL)
		return err;
	*last = *first;
	if (**text == '-') {
		(*text)++;
		last_err = take_digits(text, last);
		if (last_err == -EINVAL)
			return last_err;
	}
	if (err || last_err || *first >= CPUS_MAX || *last >= CPUS_MAX)
		return -ERANGE;
	return *first > *last ? -EINVAL : 0;
}

int parse__cpulist(const char *text, struct cpus *out)
{
	struct cpus set;
	int range_err = 0;

	cpus__clear(&set);
	while (*text) {
		uint64_t first, last;
		int err = take_run(&text, &first, &last);

		if (err == -EINVAL)
			return err;
		/* A list that is too high and malformed further on is malformed. */
		if (err)
			range_err = err;
		for (uint64_t id = first; !err && id <= last; id++)
			cpus__add(&set, id);
		if (*text == ',' && text[1])
			text++;
		else if (*text)
			return -EINVAL;
	}
	if (!range_err)
		*out = set;
	return range_err;
}

uint64_t parse__u64_or_err(const char *option, const char *text, uint64_t min, uint64_t max)
{
	uint64_t value;

	if (parse__u64(text, min, max, &value) == 0)
		return value;
	if (max == UINT64_MAX)
		diag__error("%s: expected a whole number of %" PRIu64 " or more, got \"%s\"",
			    option, min, text);
	else
		diag__error("%s: expected a whole number from %" PRIu64 " to %" PRIu64
			    ", got \"%s\"",
			    option, min, max, text);
	exit(EXIT_USAGE);
}

static _Noreturn void refuse(int err, const char *option, const char *text, const char *expected)
{
	diag__error("%s: expected %s, got \"%s\"%s", option, expected, text,
		    err == -ERANGE ? ", which is out of range" : "");
	exit(EXIT_USAGE);
}

uint64_t parse__size_or_err(const char *option, const char *text)
{
	uint64_t bytes;
	int err = parse__size(text, &bytes);

	if (err)
		refuse(err, option, text, "a size such as 4096, 64K, 16M, 2G or 1T");
	return bytes;
}

uint64_t parse__duration_or_err(const char *option, const char *text)
{
	uint64_t ns;
	int err = parse__duration(text, &ns);

	if (err)
		refuse(err, option, text, "a time such as 1, 0.5, 250ms, 2s or 3m");
	return ns;
}

void parse__cpulist_or_err(const char *option, const char *text, struct cpus *out)
{
	int err = parse__cpulist(text, out);

	if (err)
		refuse(err, option, text, "a list such as 0-3,7");
}

int parse__choice_or_err(const char *option, const char *text, const char *const *choices)
{
	for (int i = 0; choices[i]; i++)
		if (strcmp(text, choices[i]) == 0)
			return i;
	diag__error("%s: '%s' is none of the choices", option, text);
	for (int i = 0; choices[i]; i++)
		diag__hint("%s=%s", option, choices[i]);
	exit(EXIT_USAGE);
}
