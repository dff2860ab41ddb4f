/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `gputrace view`: the page of `gputrace html`, served, with everything that is in the trace (report/page/).
 *
 * Limits: for one user of this machine; others come through ssh.
 */
#include "config.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/read/guard.h"
#include "report/page/index.h"
#include "report/page/serve.h"
#include "tools/archive.h"
#include "tools/cmds.h"
#include "tools/options.h"

enum { KEY_IDLE = 256, KEY_INDEX_ONLY, ANCHOR = 3500 };

static const struct gt_option option_table[] = {
	{'p', "port", "PORT", "Listen on this port (default: any free port)."},
	{KEY_IDLE, "idle", "SECONDS", "End after so long without a request; without it, never."},
	{KEY_INDEX_ONLY, "index-only", NULL, "Make the index, and do not show anything."},
	{'a', "against", "DIR|FILE", "Compare the call trees with those of another run, in the flame graph."},
	{0, NULL, NULL, NULL},
};

static const struct gt_usage usage = {
	"gputrace view",
	"[options] DIR|FILE",
	"Shows a trace in the browser, down to single events.",
	option_table,
	"DIR is the directory of an archive, FILE its anchor file (traces.otf2). Ends with Ctrl-C.\n"
	"Exit status: 0; 1 if files of the archive are damaged: what is shown is the rest;\n"
	"2 if the archive cannot be read or nothing be served.\n",
	false};

static bool number(const char *text, unsigned most, unsigned *n)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	*n = (unsigned)value;
	return *text >= '0' && *text <= '9' && !*end && value <= most;
}

#ifdef HAVE_MICROHTTPD
static void print_address(const struct gt_serve *serve)
{
	char host[256] = "this-host";

	gethostname(host, sizeof(host) - 1);
	printf("http://127.0.0.1:%u/%s/\n"
	       "From another machine: ssh -L %u:127.0.0.1:%u %s   and open the same address there.\n",
	       serve->port, serve->token, serve->port, serve->port, host);
	fflush(stdout);
}

static int serve_index(struct gt_serve *serve, const char *anchor, const struct gt_index *index)
{
	int rc = gt_serve_begin(serve, anchor, &index->store);

	if (rc) {
		fprintf(stderr, "gputrace view: nothing can be served: %s\n",
			rc == -ELIBACC ? "libmicrohttpd.so.12 is not installed" : strerror(-rc));
		return GT_RC_USAGE;
	}
	print_address(serve);
	gt_serve_run(serve);
	return GT_RC_OK;
}
#else
static int serve_index(struct gt_serve *serve, const char *anchor, const struct gt_index *index)
{
	(void)serve, (void)anchor, (void)index;
	return gt_usage_error(&usage, "this gputrace was built without libmicrohttpd");
}
#endif

/* `anchor` has ANCHOR bytes, for the name of the file that was found. */
static int open_index(const char *name, char *anchor, struct gt_index *index)
{
	char spool[ANCHOR];
	const char *reason;

	gt_archive_wait(&usage, name);
	reason = gt_otf2_find_anchor(name, anchor, ANCHOR, spool, sizeof(spool));
	return reason ? gt_archive_unreadable(&usage, name, reason)
		      : gt_index_open(index, "gputrace view", anchor, true);
}

static int view(const char *name, const char *against, struct gt_serve *serve, bool index_only)
{
	char anchor[ANCHOR], other_anchor[ANCHOR];
	struct gt_index index, other;
	int rc = open_index(name, anchor, &index), damage;

	if (rc)
		return rc;
	damage = gt_archive_damage(name, index.damaged, index.locations, false);
	rc = against ? open_index(against, other_anchor, &other) : 0;
	if (rc) {
		gt_index_close(&index);
		return rc;
	}
	serve->against = against ? &other.store : NULL;
	if (against)
		damage |= gt_archive_damage(against, other.damaged, other.locations, true);
	if (index_only)
		printf("%s\n", *index.path ? index.path : "the index cannot be kept");
	else
		rc = serve_index(serve, anchor, &index);
	gt_index_close(&index);
	if (against)
		gt_index_close(&other);
	return rc ? rc : damage;
}

int gt_cmd_view(int argc, char **argv)
{
	struct gt_serve serve = { .port = 0 };
	const char *against = NULL;
	bool index_only = false;
	int key;

	while ((key = gt_option_next(&usage, argc, argv)) > 0) {
		if (key == KEY_INDEX_ONLY)
			index_only = true;
		else if (key == 'a')
			against = optarg;
		else if (key == 'p' && !number(optarg, 65535, &serve.port))
			return gt_usage_error(&usage, "'%s' is not a port", optarg);
		else if (key == KEY_IDLE && !number(optarg, 1000000, &serve.idle))
			return gt_usage_error(&usage, "'%s' is not a number of seconds", optarg);
	}
	if (key < 0)
		return GT_OPT_STATUS(key);
	if (optind + 1 != argc)
		return gt_usage_error(&usage, "name one trace");
	return view(argv[optind], against, &serve, index_only);
}
