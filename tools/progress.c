/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A bar on the terminal.
 *
 * Limits: see progress.h.
 */
#include "config.h"

#include "tools/progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/read/read.h"

enum { WIDTH = 40, LEAST_BYTES = 32 << 20, PAUSE_MS = 100 };

static const char *command;
static uint64_t next_ms; /* the next bar; UINT64_MAX: no other one */

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void draw(uint64_t done, uint64_t all)
{
	unsigned part = (unsigned)(done * WIDTH / all);
	char bar[WIDTH + 1];

	memset(bar, ' ', WIDTH);
	memset(bar, '#', part);
	bar[WIDTH] = '\0';
	fprintf(stderr, "\r%s: [%s] %3u %%", command, bar, (unsigned)(done * 100 / all));
}

static void show(uint64_t done, uint64_t all)
{
	uint64_t now = now_ms(), next = __atomic_load_n(&next_ms, __ATOMIC_RELAXED);

	if (all < LEAST_BYTES)
		return;
	if (done >= all) {
		__atomic_store_n(&next_ms, UINT64_MAX, __ATOMIC_RELAXED);
		gt_progress_end();
		return;
	}
	if (now >= next && __atomic_compare_exchange_n(&next_ms, &next, now + PAUSE_MS, false,
							    __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		draw(done, all);
}

bool gt_progress_begin(const char *name)
{
	const char *terminal = getenv("TERM"), *verbose = getenv("VT_VERBOSE");

	if (!isatty(STDERR_FILENO) || (terminal && !strcmp(terminal, "dumb")) ||
	    (verbose && !strcmp(verbose, "0")))
		return false;
	command = name;
	gt_otf2_show_progress(show);
	return true;
}

void gt_progress_end(void)
{
	fputs("\r\033[K", stderr);
}
