/* SPDX-License-Identifier: GPL-2.0-only */
#include "vm/apt.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/diag.h"
#include "common/file.h"
#include "vm/cache.h"
#include "vm/child.h"
#include "vm/transfer.h"
#include "vm/sources.h"

/* Measured: lists take 42 MB, apt's index of them 65 MB. Those that are there are replaced. */
#define LISTS_SIZE (UINT64_C(110) << 20)

static char *path_in(const struct apt *apt, const char *name)
{
	char *path;

	return asprintf(&path, "%s/%s", apt->folder, name) < 0 ? NULL : path;
}

/* Hooks are for the host's own updates, and architectures are the guest's. */
static bool is_foreign(const char *line)
{
	return strstr(line, "-Invoke") || !strncmp(line, "APT::Architecture", 17) ||
	       !strncmp(line, "Dir::State", 10) || !strncmp(line, "Dir::Cache", 10);
}

static void write_config(FILE *out, const struct apt *apt, char *host)
{
	char *save = NULL;

	for (char *line = strtok_r(host, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		if (!is_foreign(line))
			fprintf(out, "%s\n", line);
	fprintf(out,
		"APT::Architecture \"%s\";\n"
		"APT::Architectures:: \"%s\";\n"
		/* It would be the user _apt, who cannot enter a home. */
		"APT::Sandbox::User \"root\";\n"
		"APT::Update::Error-Mode \"any\";\n"
		"Acquire::Languages \"none\";\n"
		"Acquire::Retries \"2\";\n"
		"Dir::State \"%s/state\";\n"
		"Dir::State::lists \"%s/lists\";\n"
		"Dir::State::status \"/dev/null\";\n"
		"Dir::Cache \"%s/cache\";\n"
		/* It would only save apt-get a second at the next update. */
		"Dir::Cache::srcpkgcache \"\";\n"
		"Dir::Etc::main \"/dev/null\";\n"
		"Dir::Etc::parts \"/dev/null\";\n"
		"Dir::Etc::sourcelist \"%s/sources.list\";\n"
		"Dir::Etc::sourceparts \"/dev/null\";\n"
		"Dir::Etc::preferences \"/dev/null\";\n"
		"Dir::Etc::preferencesparts \"/dev/null\";\n",
		apt->arch->debian, apt->arch->debian, apt->folder, apt->folder, apt->folder,
		apt->folder);
}

static int make_folders(const struct apt *apt)
{
	static const char *const names[] = { "state", "lists/partial", "cache/archives/partial" };
	int err = 0;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && !err; i++) {
		char *path = path_in(apt, names[i]);

		err = path ? file__make_dirs(path) : -ENOMEM;
		if (err)
			diag__fail(-err, "make the folder %s", path ? path : names[i]);
		free(path);
	}
	return err;
}

static int configure(const struct apt *apt)
{
	struct captured captured;
	char *path = path_in(apt, "apt.conf");
	int err = -ENOMEM, fd = -1;
	FILE *out = NULL;

	if (!path)
		return diag__fail(ENOMEM, "configure apt");
	/* Read as the host has it: after setenv() this would be our own. */
	unsetenv("APT_CONFIG");
	err = child__must_run((const char *const[]){ "apt-config", "dump", NULL }, NULL, "apt",
			      &captured, NULL, NULL);
	if (err)
		goto out;
	/* A proxy's password may be in there. */
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	out = fd < 0 ? NULL : fdopen(fd, "w");
	if (!out) {
		err = diag__fail(errno, "write %s", path);
		goto out;
	}
	write_config(out, apt, captured.out);
	if (fclose(out))
		err = diag__fail(errno, "write %s", path);
	if (!err && setenv("APT_CONFIG", path, 1))
		err = diag__fail(errno, "configure apt");
out:
	captured__free(&captured);
	free(path);
	return err;
}

int apt__open(struct apt *apt, const struct arch *arch)
{
	char name[32];
	int err;

	memset(apt, 0, sizeof(*apt));
	apt->arch = arch;
	snprintf(name, sizeof(name), "apt/%s", arch->debian);
	apt->folder = cache__path(name);
	if (!apt->folder)
		return -EIO;
	err = make_folders(apt);
	if (!err)
		err = configure(apt);
	if (err)
		apt__close(apt);
	return err;
}

void apt__close(struct apt *apt)
{
	free(apt->folder);
	memset(apt, 0, sizeof(*apt));
}

static int write_sources(const struct apt *apt)
{
	struct mirrors mirrors;
	char *text, *path;
	int err = mirrors__read(&mirrors);

	if (err)
		return err;
	text = mirrors__sources_list(&mirrors, apt->arch->debian, apt->sid);
	path = path_in(apt, "sources.list");
	err = text && path ? file__replace(path, text, strlen(text)) : -ENOMEM;
	free(text);
	free(path);
	mirrors__free(&mirrors);
	return err;
}

/* Fetches the lists of the suites in sources.list. */
static int fetch_lists(const struct apt *apt)
{
	static const char *const argv[] = { "apt-get", "-q", "update", NULL };
	char *partial = path_in(apt, "lists/partial");
	struct captured captured;
	struct transfer transfer;
	int err;

	if (!partial)
		return -ENOMEM;
	transfer__begin(&transfer, "reading the archive's package lists", 0, partial);
	err = child__must_run(argv, NULL, "apt", &captured, transfer__tick, &transfer);
	transfer__end(&transfer);
	captured__free(&captured);
	free(partial);
	return err;
}

int apt__update(struct apt *apt, bool sid)
{
	char *stamp;
	int err;

	apt->sid = sid;
	/* On a full disk apt-get was seen to hang. */
	err = cache__need(LISTS_SIZE);
	if (!err)
		err = write_sources(apt);
	if (!err)
		err = fetch_lists(apt);
	apt->stale = err == -EIO || err == -ETIMEDOUT;
	if (apt->stale) {
		diag__warn("not all package lists could be fetched; using those that are there");
		return 0;
	}
	if (err)
		return err;
	stamp = path_in(apt, "updated");
	if (!stamp)
		return -ENOMEM;
	/* Lists with unstable in them are for one search only. */
	if (sid)
		unlink(stamp);
	else
		err = file__replace(stamp, "", 0);
	free(stamp);
	return err;
}

double apt__age(const struct apt *apt)
{
	char *stamp = path_in(apt, "updated");
	struct stat stat_buf;
	double age = 1e18;

	if (stamp && stat(stamp, &stat_buf) == 0)
		age = difftime(time(NULL), stat_buf.st_mtime);
	free(stamp);
	return age;
}

static bool is_wanted(const char *name, const struct arch *arch)
{
	static const char *const parts[] = { STOCK_MODULES, STOCK_BASE };
	static const char source[] = "linux-source-";
	char as_image[256];

	if (stock__version(name, arch))
		return true;
	if (!strncmp(name, source, strlen(source)))
		return stock__is_series(name + strlen(source));
	/* The parts of a split package are wanted where the image would be. */
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (strncmp(name, parts[i], strlen(parts[i])))
			continue;
		snprintf(as_image, sizeof(as_image), "linux-image-%s", name + strlen(parts[i]));
		return stock__version(as_image, arch);
	}
	return false;
}

static int grow(struct package **packages, size_t *count)
{
	struct package *grown = realloc(*packages, (*count + 1) * sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	grown[*count] = (struct package){ 0 };
	*packages = grown;
	(*count)++;
	return 0;
}

/* Reads the stanzas of "apt-cache show". */
static int parse_show(char *text, struct package **packages, size_t *count)
{
	char *save = NULL;

	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		struct package *last = *count ? &(*packages)[*count - 1] : NULL;

		if (!strncmp(line, "Package: ", 9)) {
			if (grow(packages, count))
				return -ENOMEM;
			(*packages)[*count - 1].name = strdup(line + 9);
		} else if (last && !strncmp(line, "Version: ", 9)) {
			free(last->version);
			last->version = strdup(line + 9);
		} else if (last && !strncmp(line, "Size: ", 6)) {
			last->size = strtoull(line + 6, NULL, 10);
		}
	}
	for (size_t i = 0; i < *count; i++)
		if (!(*packages)[i].name || !(*packages)[i].version)
			return -ENOMEM;
	return 0;
}

/* "apt-cache show" of the names that matter; many known names belong to no package any more. */
static const char **show_command(const struct apt *apt, char *names)
{
	size_t used = 0, room = 4;
	char *save = NULL;
	const char **argv;

	for (const char *at = names; *at; at++)
		room += *at == '\n';
	argv = calloc(room + 1, sizeof(*argv));
	if (!argv)
		return NULL;
	argv[used++] = "apt-cache";
	argv[used++] = "--no-all-versions";
	argv[used++] = "show";
	for (char *name = strtok_r(names, "\n", &save); name; name = strtok_r(NULL, "\n", &save))
		if (is_wanted(name, apt->arch))
			argv[used++] = name;
	return argv;
}

int apt__packages(const struct apt *apt, struct package **out, size_t *count)
{
	struct captured names, shown = { 0 };
	const char **argv = NULL;
	int err;

	*out = NULL;
	*count = 0;
	err = child__must_run((const char *const[]){ "apt-cache", "pkgnames", "linux-", NULL },
			      NULL, "apt", &names, NULL, NULL);
	if (err)
		goto out;
	argv = show_command(apt, names.out);
	if (!argv) {
		err = -ENOMEM;
		goto out;
	}
	if (!argv[3])
		goto out;
	/* Its exit code tells of names without a package only. */
	err = child__capture(argv, NULL, &shown, NULL, NULL);
	if (err >= 0)
		err = parse_show(shown.out, out, count);
	if (err)
		diag__fail(-err, "read the list of kernel packages");
out:
	if (err) {
		packages__free(*out, *count);
		*out = NULL;
		*count = 0;
	}
	free(argv);
	captured__free(&names);
	captured__free(&shown);
	return err;
}

void packages__free(struct package *packages, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		free(packages[i].name);
		free(packages[i].version);
	}
	free(packages);
}

int apt__download(const struct apt *apt, const char *const *names, uint64_t size,
		  const char *folder)
{
	const char *argv[16] = { "apt-get", "-q", "download" };
	struct captured captured;
	struct transfer transfer;
	int err;

	for (size_t used = 3; *names && used < 15; names++)
		argv[used++] = *names;
	transfer__begin(&transfer, "downloading", size, folder);
	err = child__must_run(argv, folder, "apt", &captured, transfer__tick, &transfer);
	transfer__end(&transfer);
	captured__free(&captured);
	if (err == -EIO && apt->stale)
		diag__hint("the package lists may be out of date: is there a network?");
	return err;
}
