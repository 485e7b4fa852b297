/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>

#include "vm/modules.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char out[64];
	int length;

	memset(out, 'x', sizeof(out));
	length = module__info(data, size, "depends", out, sizeof(out));
	promise(length >= -ENOEXEC && length <= (int)size);
	promise(memchr(out, '\0', sizeof(out)));
	if (length < 0) {
		promise(length == -ENOEXEC && !*out);
		return 0;
	}
	/* What is found is a part of the file. */
	if (*out)
		promise(memmem(data, size, out, strlen(out)));
	if ((size_t)length < sizeof(out))
		promise(strlen(out) <= (size_t)length);
	return 0;
}
