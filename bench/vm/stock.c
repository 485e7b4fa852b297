/* SPDX-License-Identifier: GPL-2.0-only */
#include "vm/stock.h"

#include <ctype.h>
#include <string.h>

static const char binary_prefix[] = "linux-binary-", image_prefix[] = "linux-image-";

/* From 6.19 on, linux-image- only depends on the parts: it has a few kilobytes. */
#define MIN_IMAGE_SIZE (1 << 20)

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

const struct package *stock__part(const struct package *packages, size_t count, const char *prefix,
				  const char *version)
{
	size_t length = strlen(prefix);

	for (size_t i = 0; i < count; i++)
		if (starts(packages[i].name, prefix) && !strcmp(packages[i].name + length, version))
			return &packages[i];
	return NULL;
}

bool stock__is_split(const struct package *image)
{
	return starts(image->name, binary_prefix);
}

/* Old parts may linger in an archive while others are gone. */
static bool is_complete(const struct package *packages, size_t count, const struct package *image,
			const char *version)
{
	return image->size >= MIN_IMAGE_SIZE &&
	       (!stock__is_split(image) || stock__part(packages, count, STOCK_MODULES, version));
}

const struct package *stock__choose(const struct package *packages, size_t count,
				    const struct arch *arch, const char *series)
{
	const struct package *best = NULL;
	const char *best_version = NULL;

	for (size_t i = 0; i < count; i++) {
		const char *version = stock__version(packages[i].name, arch);

		if (!version || !stock__in_series(version, series) ||
		    !is_complete(packages, count, &packages[i], version))
			continue;
		if (best && stock__compare(version, best_version) <= 0)
			continue;
		best = &packages[i];
		best_version = version;
	}
	return best;
}
