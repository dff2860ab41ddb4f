/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the GPU metrics that the user wants, those of them that a chip has, and those that fit into one
 * pass.
 *
 * Limits: see metrics.h. A file is read as far as FILE_MOST.
 */
#include "cuda/counters/metrics.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cuda/counters/older.h"
#include "gputrace/adapter.h"
#include "gputrace/syscall.h"

#define FILE_MOST 65536u
#define BETWEEN   " \t\r\n,:"

/*
 * "default": what most questions need; those that a chip lacks are left out. One pass on all chips since
 * GA10x.
 */
static const char *const usual[] = {
	"gr__cycles_active.sum.pct_of_peak_sustained_elapsed",
	"sm__cycles_active.avg.pct_of_peak_sustained_elapsed",
	"sm__inst_executed_realtime.avg.pct_of_peak_sustained_elapsed",
	"sm__pipe_tensor_cycles_active_realtime.avg.pct_of_peak_sustained_elapsed",
	"dram__bytes_read.sum",
	"dram__bytes_write.sum",
	"pcie__read_bytes.sum",
	"pcie__write_bytes.sum",
};

/* The same for kernels one by one: one pass. */
static const char *const usual_exact[] = {
	"gpu__time_duration.sum",
	"sm__cycles_elapsed.max",
	"smsp__warps_launched.sum",
	"smsp__inst_executed.sum",
	"smsp__thread_inst_executed.sum",
	"dram__bytes_read.sum",
	"dram__bytes_write.sum",
};

/* The same where CUPTI counts by events (cuda/counters/older.h). */
static const char *const usual_events[] = {
	"active_cycles",
	"warps_launched",
	"inst_executed",
	"thread_inst_executed",
	"dram_read_bytes",
	"dram_write_bytes",
};

const struct gt_cu_older *gt_cu_older;

static const struct usual {
	const char *const *names;
	size_t count;
} by_time = { usual, sizeof(usual) / sizeof(usual[0]) },
  by_range = { usual_exact, sizeof(usual_exact) / sizeof(usual_exact[0]) },
  by_event = { usual_events, sizeof(usual_events) / sizeof(usual_events[0]) };

static bool has(const struct usual *list, const char *name)
{
	for (size_t i = 0; i < list->count; i++)
		if (!strcmp(list->names[i], name))
			return true;
	return false;
}

static void add(struct gt_cu_wishes *w, const char *name, size_t length)
{
	for (unsigned i = 0; i < w->count; i++)
		if (strlen(w->names[i]) == length && !memcmp(w->names[i], name, length))
			return;
	if (w->count == GT_CU_METRICS || length >= GT_CU_METRIC_NAME) {
		w->cut++;
		return;
	}
	memcpy(w->names[w->count], name, length);
	w->names[w->count++][length] = '\0';
}

static void add_usual(struct gt_cu_wishes *w, const struct usual *list)
{
	w->usual = true;
	for (size_t i = 0; i < list->count; i++)
		add(w, list->names[i], strlen(list->names[i]));
}

void gt_cu_wishes_add(struct gt_cu_wishes *w, const char *text)
{
	while (*text) {
		size_t n = strcspn(text, BETWEEN "#");

		if (n == 7 && !strncmp(text, "default", n)) {
			add_usual(w, w->exact ? &by_range : &by_time);
			if (w->exact) /* which of them is not known yet */
				add_usual(w, &by_event);
		} else if (n) {
			add(w, text, n);
		}
		text += n;
		if (*text == '#')
			text += strcspn(text, "\n");
		text += strspn(text, BETWEEN);
	}
}

int gt_cu_wishes_read(struct gt_cu_wishes *w, const char *path)
{
	int fd = (int)gt_raw(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
	struct stat own;
	int rc = (int)gt_raw_note_own(fd, &own);
	char *text = rc ? NULL : calloc(1, FILE_MOST + 1);
	long n = 0, got = 1;

	rc = rc || text ? rc : -ENOMEM;

	for (; text && got > 0 && n < (long)FILE_MOST; n += got > 0 ? got : 0)
		got = gt_raw(SYS_read, fd, text + n, FILE_MOST - (size_t)n);
	if (text && got < 0)
		rc = (int)got;
	gt_raw_close_own(fd, &own);
	if (text)
		gt_cu_wishes_add(w, text);
	free(text);
	return rc;
}

struct gt_cu_wishes *gt_cu_wishes_of_settings(bool exact)
{
	const char *list = gt_setting("VT_CUPTI_METRICS"), *file = gt_setting("VT_CUPTI_METRICS_SPEC");
	struct gt_cu_wishes *w;
	int rc;

	if (!((list && *list) || (file && *file)) || !(w = calloc(1, sizeof(*w))))
		return NULL;
	w->exact = exact;
	gt_cu_wishes_add(w, list ? list : "");
	rc = file && *file ? gt_cu_wishes_read(w, file) : 0;
	if (rc)
		gt_message(1, "VT_CUPTI_METRICS_SPEC: %s cannot be read (%s)", file, strerror(-rc));
	if (w->cut)
		gt_message(1, "VT_CUPTI_METRICS: %u names are left out: there are too many, "
			      "or they are too long", w->cut);
	return w;
}

static bool is_usual(const struct gt_cu_wishes *w, const char *name)
{
	return w->usual && (has(w->exact ? &by_range : &by_time, name) || (w->exact && has(&by_event, name)));
}

/* Is it of the usual set of devices that count in the other way? */
static bool is_others(const struct gt_cu_wishes *w, const struct gt_cu_set *set, const char *name)
{
	return w->usual && w->exact && has(set->type == CU_PROFILER_EVENTS ? &by_range : &by_event, name);
}

static void explain_unknown(const struct gt_cu_set *set, const char *name, char *why, size_t size)
{
	void *host;
	char near[2 * GT_CU_METRIC_NAME];

	if (set->type == CU_PROFILER_EVENTS) {
		gt_cu_older->explain(set, name, why, size);
		return;
	}
	host = gt_cu_host_open(set->type, set->chip);
	if (host && gt_cu_metric_near(host, name, near, sizeof(near)))
		snprintf(why, size, "%s has no such metric; did you mean %s?", set->chip, near);
	else
		snprintf(why, size, "%s has no such metric (gputrace info --gpu-metrics --chip %s)",
			 set->chip, set->chip);
	gt_cu_host_close(host);
}

size_t gt_cu_wishes_passes(const struct gt_cu_set *set)
{
	return set->type == CU_PROFILER_EVENTS ? gt_cu_older->passes(set) : gt_cu_set_passes(set);
}

/* Of the set with one more name: can it be? Fills in why not. */
static bool try(struct gt_cu_set *set, const char *name, char *why, size_t size)
{
	struct gt_cu_set alone = { .type = set->type, .chip = set->chip, .device = set->device,
				   .context = set->context, .names = { name }, .count = 1 };
	size_t one = gt_cu_wishes_passes(&alone), all;

	if (!one) {
		explain_unknown(set, name, why, size);
		return false;
	}
	set->names[set->count++] = name;
	all = gt_cu_wishes_passes(set);
	if (all && (all == 1 || set->type != CU_PROFILER_PM))
		return true;
	set->count--;
	if (!all)
		snprintf(why, size, "it cannot be counted together with the metrics before it");
	else if (one > 1)
		snprintf(why, size, "it needs %zu passes, sampling has one", one);
	else
		snprintf(why, size, "with the metrics before it %zu passes are needed, sampling has one",
			 all);
	return false;
}

void gt_cu_wishes_fit(const struct gt_cu_wishes *w, struct gt_cu_set *set, gt_cu_refuse *refuse,
		      void *argument)
{
	char why[3 * GT_CU_METRIC_NAME];

	set->count = 0;
	for (unsigned i = 0; i < w->count; i++)
		if (!is_others(w, set, w->names[i]) && !try(set, w->names[i], why, sizeof(why)) &&
		    !is_usual(w, w->names[i]))
			refuse(w->names[i], why, argument);
}
