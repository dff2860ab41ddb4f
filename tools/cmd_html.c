/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `gputrace html`: a trace as one page that any browser shows (report/page/).
 *
 * Limits: what is finer than the page has room for is not in it; `gputrace view` shows that.
 */
#include "config.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/assemble/util/memory.h"
#include "lib/read/guard.h"
#include "report/print/output.h"
#include "report/page/index.h"
#include "report/page/page.h"
#include "tools/archive.h"
#include "tools/cmds.h"
#include "tools/options.h"

#ifdef HAVE_ZLIB
enum { WITH_ZLIB = 1 };
#else
enum { WITH_ZLIB = 0 };
#endif
enum { DEFAULT_MB = 20 };

static const struct gt_option option_table[] = {
	{'o', "output", "FILE", "Write FILE (default: DIR.html beside DIR)."},
	{'s', "size", "MB", "Leave out detail so that the page has at most this many megabytes (20)."},
	{'a', "against", "DIR|FILE", "Compare the call trees with those of another run, in the flame graph."},
	{0, NULL, NULL, NULL},
};

static const struct gt_usage usage = {
	"gputrace html",
	"[options] DIR|FILE",
	"Writes a trace as one page that any browser shows, without a server and without a network.",
	option_table,
	"DIR is the directory of an archive, FILE its anchor file (traces.otf2).\n"
	"Exit status: 0; 1 if files of the archive are damaged: the page is of the rest;\n"
	"2 if the archive cannot be read or the page not be written.\n",
	false};

/* "runs/a/" -> "runs/a.html", "runs/a/traces.otf2" -> "runs/a/traces.html". */
static char *default_name(const char *name)
{
	size_t length = strlen(name);
	char *path;

	while (length > 1 && name[length - 1] == '/')
		length--;
	if (length > 5 && !strncmp(name + length - 5, ".otf2", 5))
		length -= 5;
	else if (!strncmp(name, ".", length) || !strncmp(name, "..", length))
		return strdup("trace.html"); /* a name of its own is not there */
	if (asprintf(&path, "%.*s.html", (int)length, name) < 0)
		gt_no_memory();
	return path;
}

static int failed(const char *path)
{
	fprintf(stderr, "gputrace html: %s cannot be written: %s\n", path, strerror(errno));
	return GT_RC_USAGE;
}

/* Under another name until it is whole. */
static int write_page(const struct gt_store *store, const struct gt_store *against, uint64_t most,
		      const char *path)
{
	char *part = gt_output_part(path);
	int rc = GT_RC_OK, error;
	FILE *out = gt_output_open(part, path);

	if (!out) {
		free(part);
		return failed(path);
	}
	errno = 0;
	rc = gt_page_write(store, against, most, out) ? GT_RC_OK : GT_RC_USAGE;
	error = errno;
	if (fclose(out) && !rc) {
		rc = GT_RC_USAGE;
		error = errno;
	}
	if (!rc && !gt_output_keep(part, path)) {
		rc = GT_RC_USAGE;
		error = errno;
	}
	errno = error;
	if (rc) {
		failed(path);
		gt_output_discard(path);
	}
	free(part);
	return rc;
}

static int open_index(const char *name, struct gt_index *index)
{
	char anchor[3500], spool[3500];
	const char *reason;

	gt_archive_wait(&usage, name);
	reason = gt_otf2_find_anchor(name, anchor, sizeof(anchor), spool, sizeof(spool));
	return reason ? gt_archive_unreadable(&usage, name, reason)
		      : gt_index_open(index, "gputrace html", anchor, false);
}

static int page_of(const char *name, const char *against, const char *out, uint64_t most)
{
	struct gt_index index, other;
	char *path;
	int rc = open_index(name, &index), damage = GT_RC_OK;

	if (rc)
		return rc;
	rc = against ? open_index(against, &other) : 0;
	path = out ? strdup(out) : default_name(name);
	if (!rc)
		rc = write_page(&index.store, against ? &other.store : NULL, most, path);
	if (!rc && !out)
		printf("%s\n", path);
	if (!rc)
		damage = gt_archive_damage(name, index.damaged, index.locations, false);
	if (!rc && against)
		damage |= gt_archive_damage(against, other.damaged, other.locations, true);
	gt_index_close(&index);
	if (against && !rc)
		gt_index_close(&other);
	free(path);
	return rc ? rc : damage;
}

int gt_cmd_html(int argc, char **argv)
{
	unsigned long size = DEFAULT_MB;
	const char *out = NULL, *against = NULL;
	char *end;
	int key;

	while ((key = gt_option_next(&usage, argc, argv)) > 0) {
		if (key == 'o') {
			out = optarg;
			continue;
		}
		if (key == 'a') {
			against = optarg;
			continue;
		}
		size = strtoul(optarg, &end, 10);
		if (end == optarg || *end || !size || size > 1000)
			return gt_usage_error(&usage, "'%s' is not a number of megabytes (1 to 1000)",
					      optarg);
	}
	if (key < 0)
		return GT_OPT_STATUS(key);
	if (optind + 1 != argc)
		return gt_usage_error(&usage, "name one trace");
	if (!WITH_ZLIB)
		return gt_usage_error(&usage, "this gputrace was built without zlib");
	return page_of(argv[optind], against, out, (uint64_t)size * 1000000);
}
