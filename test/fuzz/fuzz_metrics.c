/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzz target: VT_CUPTI_METRICS and the file VT_CUPTI_METRICS_SPEC, separated by a line "%%", and which of
 * the names a chip takes.
 *
 * Limits: the chip is one of ours: what it knows, and how many passes it needs, follows from the names.
 *
 * fuzz-sources: cuda/counters/metrics.c
 */
#include "cuda/counters/metrics.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cuda/counters/older.h"
#include "gputrace/adapter.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char *list;
static const char *path = "";

static void require(int holds, const char *what)
{
	if (!holds) {
		fprintf(stderr, "does not hold: %s\n", what);
		abort();
	}
}

/* ---- in place of the core and of CUPTI ------------------------------------------------------------ */

const char *gt_setting(const char *name)
{
	return strcmp(name, "VT_CUPTI_METRICS") ? path : list;
}

void gt_message(int level, const char *format, ...)
{
	char text[8192];
	va_list args;

	va_start(args, format);
	require(vsnprintf(text, sizeof(text), format, args) < (int)sizeof(text) && level == 1, "a message");
	va_end(args);
}

/* Some names are not known; of the others seven fit into a pass, and not all go together. */
size_t gt_cu_set_passes(const struct gt_cu_set *set)
{
	for (unsigned i = 0; i < set->count; i++)
		if (strchr(set->names[i], 'q') || (set->count > 1 && strchr(set->names[i], 'z')))
			return 0;
	return set->count / 7 + 1;
}

static size_t events_passes(const struct gt_cu_set *set)
{
	return gt_cu_set_passes(set);
}

static void events_explain(const struct gt_cu_set *set, const char *name, char *why, size_t size)
{
	snprintf(why, size, "%s has no %s", set->chip, name);
}

static const struct gt_cu_older events = { .passes = events_passes, .explain = events_explain };

void *gt_cu_host_open(int type, const char *chip)
{
	(void)type;
	return (void *)(uintptr_t)chip;
}

void gt_cu_host_close(void *host)
{
	(void)host;
}

bool gt_cu_metric_near(void *host, const char *name, char *text, size_t size)
{
	(void)host;
	return (size_t)snprintf(text, size, "near %s", name) % 2;
}

/* ---- the input ------------------------------------------------------------------------------------ */

static unsigned refused;

static void refuse(const char *name, const char *why, void *argument)
{
	(void)argument;
	require(*name && *why && strlen(why) < 3 * GT_CU_METRIC_NAME, "a reason");
	refused++;
}

static void check(const struct gt_cu_wishes *w, int type)
{
	struct gt_cu_set set = { .type = type, .chip = "FAKE1" };

	require(w->count <= GT_CU_METRICS, "the number of names");
	for (unsigned i = 0; i < w->count; i++) {
		require(strlen(w->names[i]) > 0 && strlen(w->names[i]) < GT_CU_METRIC_NAME &&
			!strpbrk(w->names[i], " \t\r\n,:#"), "a name");
		for (unsigned k = 0; k < i; k++)
			require(strcmp(w->names[i], w->names[k]) != 0, "each name once");
	}
	refused = 0;
	gt_cu_wishes_fit(w, &set, refuse, NULL);
	require(set.count + refused <= w->count, "what is taken and what is refused");
	require(w->usual || set.count + refused == w->count, "every name but the usual ones");
	require(type != CU_PROFILER_PM || set.count < 7, "one pass");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char name[64];
	static int fd = -1;
	const uint8_t *mark = size ? memmem(data, size, "\n%%\n", 4) : NULL;
	size_t length = mark ? (size_t)(mark - data) : size;

	gt_cu_older = &events;
	if (fd < 0)
		fd = memfd_create("metrics", 0);
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	path = mark ? name : "";
	if (fd < 0 || ftruncate(fd, 0) ||
	    (mark && pwrite(fd, mark + 4, size - length - 4, 0) != (ssize_t)(size - length - 4)))
		abort();
	list = strndup((const char *)data, length);
	for (int exact = 0; exact < 2; exact++) {
		struct gt_cu_wishes *w = gt_cu_wishes_of_settings(exact);

		if (!w)
			continue;
		check(w, exact ? CU_PROFILER_RANGE : CU_PROFILER_PM);
		check(w, CU_PROFILER_EVENTS);
		free(w);
	}
	free(list);
	return 0;
}
