/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The server of `gputrace view`: one page and its tiles, on 127.0.0.1, for whoever knows the token.
 *
 * Limits: one request after the other. Answers are made in memory, of GT_SERVE_MOST bytes at most.
 */
#ifndef GT_REPORT_PAGE_SERVE_H
#define GT_REPORT_PAGE_SERVE_H

#include "report/page/single.h"

enum { GT_SERVE_MOST = 64 << 20, GT_SERVE_TOKEN = 32 };

struct gt_serve {
	const struct gt_store *store;
	const struct gt_store *against; /* another run, or NULL */
	struct gt_single single;
	unsigned port;      /* 0: any */
	unsigned idle;      /* seconds without a request after which it ends; 0: never */
	/* of the server: */
	uint64_t rows, regions, span_log2;
	uint64_t *sum_levels; /* by row: levels with sums */
	char token[GT_SERVE_TOKEN + 1];
	int listen;
	struct MHD_Daemon *daemon;
	bool over;
	uint64_t last;      /* request, ns */
};

/* Begins to listen, and sets the port and the token. 0 or a negative errno; -ELIBACC: no libmicrohttpd. */
int gt_serve_begin(struct gt_serve *serve, const char *anchor, const struct gt_store *store);
/* Answers until it is told to end: by SIGINT, SIGTERM, SIGHUP, "quit", or the idle time. */
void gt_serve_run(struct gt_serve *serve);

#endif
