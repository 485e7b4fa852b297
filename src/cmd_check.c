/* SPDX-License-Identifier: GPL-2.0-only */
/* "tlbstat check": what can be counted here. */
#include "commands.h"

#include <stdlib.h>

#include "common/diag.h"

static const char doc[] =
	"Show what can be counted on this machine, by which probe, and what cannot and why.\v"
	"Exit status: 0 if anything can be counted, 77 if BPF is refused altogether or, with "
	"--strict, if any counter is missing.\n\n"
	"Examples:\n"
	"  tlbstat check\n"
	"  tlbstat check --json | jq .counters\n";

static int write_check(const struct observer *observer, const struct common_options *options)
{
	char *text = NULL;
	size_t len = 0;
	FILE *stream = open_memstream(&text, &len);
	int code;

	if (!stream)
		return EXIT_FAILED;
	if (options->format == OUTPUT_JSON) {
		json_t *json = observer__check_json(observer);

		json_dumpf(json, stream, JSON_INDENT(2));
		fputc('\n', stream);
		json_decref(json);
	} else {
		observer__print_check(observer, stream);
	}
	fclose(stream);
	code = write_output(options, text, len);
	free(text);
	return code;
}

int cmd_check(int argc, char **argv)
{
	static const struct argp_child children[] = { { &common_argp, 0, NULL, 0 }, { 0 } };
	static const struct argp argp = { .doc = doc, .children = children };
	struct common_options options = { 0 };
	struct observer *observer;
	int code;

	argp_parse(&argp, argc, argv, 0, NULL, &options);
	if (options.observer.tlbi == TLBI_DEFAULT && options.observer.method == ATTACH_AUTO)
		options.observer.tlbi = TLBI_TRY;
	code = open_observer(&observer, &options);
	if (code)
		return code;
	code = write_check(observer, &options);
	if (!code && observer__fallback(observer, NULL) && !observer__tlbi(observer, NULL))
		code = EXIT_UNSUPPORTED;
	observer__close(observer);
	return code;
}
