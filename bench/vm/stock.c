/* SPDX-License-Identifier: GPL-2.0-only */
#include "vm/stock.h"

#include <ctype.h>
#include <string.h>

static const char binary_prefix[] = "linux-binary-", image_prefix[] = "linux-image-";

static const char *skip_digits(const char *at)
{
	while (isdigit((unsigned char)*at))
		at++;
	return at;
}

bool stock__is_series(const char *text)
{
	const char *dot = skip_digits(text), *end;

	if (dot == text || *dot != '.')
		return false;
	end = skip_digits(dot + 1);
	return end > dot + 1 && !*end;
}

/* X.Y.Z and whatever follows; "6.12-cloud-amd64" only follows the newest, "7.4-rc2" is none yet. */
static bool is_release(const char *version)
{
	for (int number = 0; number < 3; number++) {
		const char *end = skip_digits(version);

		if (end == version || (number < 2 && *end != '.'))
			return false;
		version = end + 1;
	}
	return true;
}

static bool starts(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

const char *stock__version(const char *package, const struct arch *arch)
{
	const char *version;
	size_t length, end = strlen(arch->flavour);

	if (starts(package, binary_prefix))
		version = package + strlen(binary_prefix);
	else if (starts(package, image_prefix))
		version = package + strlen(image_prefix);
	else
		return NULL;
	length = strlen(version);
	if (!is_release(version) || length <= end + 1 || version[length - end - 1] != '-' ||
	    strcmp(version + length - end, arch->flavour))
		return NULL;
	return version;
}

bool stock__in_series(const char *version, const char *series)
{
	return starts(version, series) && version[strlen(series)] == '.';
}

int stock__compare(const char *a, const char *b)
{
	return strverscmp(a, b);
}

ssize_t stock__choose(const struct package *packages, size_t count, const struct arch *arch,
		      const char *series)
{
	const char *best_version = NULL;
	ssize_t best = -1;

	for (size_t i = 0; i < count; i++) {
		const char *version = stock__version(packages[i].name, arch);
		int newer;

		if (!version || !stock__in_series(version, series))
			continue;
		newer = best_version ? stock__compare(version, best_version) : 1;
		if (newer > 0 || (newer == 0 && starts(packages[i].name, binary_prefix))) {
			best = (ssize_t)i;
			best_version = version;
		}
	}
	return best;
}
