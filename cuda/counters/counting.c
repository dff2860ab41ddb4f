/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counts metrics on a device, in a session for each context: by CUPTI's range profiler, or by events where
 * the device is older than that (events.c). Such a device is asked at the first launch or range that is
 * measured, for then CUPTI has its context ready; its kernels are recorded one at a time all along, as
 * CUPTI's usual way to time them adds instructions to them.
 *
 * Limits: the caller lets one thread at a time in, under gt_guard(). DEVICES devices, SESSIONS contexts
 * at once. Of the contexts of a device one has the counters at a time: CUPTI answers that they are busy
 * otherwise.
 */
#include "cuda/counters/counting.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/cuda.h"
#include "cuda/elect.h"
#include "cuda/counters/metrics.h"
#include "cuda/counters/older.h"

#define DEVICES    16u
#define SESSIONS   32u
#define RANGES     2u    /* that CUPTI can tell us of: more than one is one too many */
#define MODE_SUM   0x12u /* OTF2_METRIC_RELATIVE_POINT: of the kernel or range */
#define MODE_OTHER 0x11u /* OTF2_METRIC_ABSOLUTE_POINT */
#define DURATION   "gpu__time_duration.sum"

static struct device {
	bool tried, usable;
	char chip[32];
	struct gt_cu_set set;    /* what CUPTI counts: `shown` of them are recorded */
	unsigned shown;
	int duration;            /* which one is the kernel's time; -1: none */
	bool whole[GT_CU_METRICS];
	struct gt_cu_seat seat;
	struct gt_cu_session *current; /* who has the counters */
	bool events;             /* CUPTI's events, not its range profiler */
} devices[DEVICES];

static struct gt_cu_session {
	void *context; /* NULL: free */
	uint32_t id;
	struct device *device;
	bool defined;
	void *object;  /* NULL: CUPTI counts nothing for it now; events: struct gt_cu_groups */
	uint8_t *data;
	size_t data_bytes;
	gt_ref refs[GT_CU_METRICS];
	bool failed;
	size_t pass;
	bool under_way; /* a range that needs more passes */
} sessions[SESSIONS];

static struct gt_cu_wishes *wishes;
static uint64_t without_value; /* atomic */

/* ---- devices ----------------------------------------------------------------------------------------- */

static unsigned number_of(const struct device *d)
{
	return (unsigned)(d - devices);
}

static void give_up(struct device *d, const char *why)
{
	gt_message(1, "GPU %u: no metrics of single kernels: %s", number_of(d), why);
	gt_cu_profiler_property("exact", number_of(d), "none: ", why);
	d->usable = false;
}

static void refused(const char *name, const char *why, void *argument)
{
	gt_message(1, "VT_CUPTI_METRICS: %s is left out on GPU %u: %s", name, number_of(argument), why);
}

/* The kernel's own time, too, if that costs no further pass: the replay takes much longer. */
static void add_duration(struct device *d)
{
	size_t before = gt_cu_set_passes(&d->set);

	for (unsigned i = 0; i < d->set.count; i++)
		if (!strcmp(d->set.names[i], DURATION))
			d->duration = (int)i;
	if (d->duration >= 0 || d->set.count == GT_CU_METRICS)
		return;
	d->set.names[d->set.count++] = DURATION;
	if (gt_cu_set_passes(&d->set) == before)
		d->duration = (int)d->set.count - 1;
	else
		d->set.count--;
}

/* Says what it costs; by events that has not been measured. */
static void announce_events(const struct device *d, const char *passes, const char *times, char *text,
			    size_t size)
{
	bool replay = gt_cu_options.exact == GT_CU_EXACT_REPLAY;

	snprintf(text, size,
		 "%s by CUPTI's events, for %s is older than its range profiler: %u metric%s in %s: "
		 "each selected %s %s; price: two waits for the GPU each time, and all kernels run one at a "
		 "time%s",
		 replay ? "replay of kernels" : "ranges of the program", d->chip, d->shown,
		 d->shown == 1 ? "" : "s", passes,
		 replay ? "kernel runs alone," : "range has values when it has come", times,
		 gt_cu_older->extrapolates(d->set.host)
			 ? "; some counters cannot be read, and are taken to count as the others do"
			 : "");
}

/* What it costs, as measured on an H100 with CUDA 13.0 (doc/cuda.md). */
static void announce(struct device *d)
{
	char passes[32], times[32], text[480];

	snprintf(passes, sizeof(passes), d->set.passes == 1 ? "one pass" : "%zu passes", d->set.passes);
	snprintf(times, sizeof(times), d->set.passes == 1 ? "once" : "%zu times", d->set.passes);
	if (d->events)
		announce_events(d, passes, times, text, sizeof(text));
	else if (gt_cu_options.exact == GT_CU_EXACT_REPLAY)
		snprintf(text, sizeof(text),
			 "replay of kernels: %u metric%s in %s: each selected kernel runs alone, %s, and "
			 "its memory is restored in between; price: 15 ms for each and 7 ms for each further "
			 "pass, 0.7 s for the first kernel; times between selected kernels are not those of "
			 "the program",
			 d->shown, d->shown == 1 ? "" : "s", passes, times);
	else
		snprintf(text, sizeof(text),
			 "ranges of the program: %u metric%s in %s: each selected range has values when it "
			 "has come %s; price: 15 ms each time, 0.7 s for the first; kernels in it run one at "
			 "a time",
			 d->shown, d->shown == 1 ? "" : "s", passes, times);
	gt_message(1, "GPU %u: %s", number_of(d), text);
	gt_cu_profiler_property("exact", number_of(d), "", text);
}

/* One at a time, or side by side, for which CUPTI adds instructions to them. */
static void serialize(bool on)
{
	for (unsigned i = 0; i < DEVICES; i++)
		on |= devices[i].events;
	if (!gt_cu_api.disable)
		return;
	gt_cu_api.disable(on ? CU_KIND_CONCURRENT_KERNEL : CU_KIND_KERNEL);
	gt_cu_api.enable(on ? CU_KIND_KERNEL : CU_KIND_CONCURRENT_KERNEL);
}

static bool is_whole(const struct device *d, const char *name, struct cu_host_properties *p)
{
	bool sum = false;

	if (!d->events)
		return gt_cu_metric_is_sum(d->set.host, name, p);
	return gt_cu_older->describe(number_of(d), name, p, &sum) && sum;
}

/* Which chip, in which way; 0, or CUPTI's result. */
static int choose_way(struct device *d, void *context)
{
	unsigned capability = gt_cu_device_capability(number_of(d), NULL);

	d->set = (struct gt_cu_set){ .type = CU_PROFILER_RANGE, .chip = d->chip };
	if (!d->events)
		return gt_cu_profiler_chip(number_of(d), CU_API_RANGE, d->chip, sizeof(d->chip));
	snprintf(d->chip, sizeof(d->chip), "this GPU (%u.%u)", capability / 10, capability % 10);
	d->set.type = CU_PROFILER_EVENTS;
	d->set.device = number_of(d);
	d->set.context = context;
	return gt_cu_older->offered(number_of(d));
}

static const char *choose(struct device *d, void *context)
{
	struct cu_host_properties p;
	int rc = choose_way(d, context);

	if (rc)
		return gt_cu_profiler_reason(rc);
	gt_cu_wishes_fit(wishes, &d->set, refused, d);
	d->shown = d->set.count;
	d->duration = -1;
	if (!d->shown)
		return "it has none of the metrics that are asked for";
	if (!d->events && gt_cu_options.exact == GT_CU_EXACT_REPLAY)
		add_duration(d);
	rc = d->events ? gt_cu_older->open(&d->set) : gt_cu_set_open(&d->set);
	for (unsigned i = 0; !rc && i < d->shown; i++)
		d->whole[i] = is_whole(d, d->set.names[i], &p);
	return rc ? gt_cu_profiler_reason(rc) : NULL;
}

static bool is_elected(struct device *d)
{
	char uuid[64], name[80];

	snprintf(name, sizeof(name), "range-%s", gt_cu_device_uuid(number_of(d), uuid, sizeof(uuid)));
	return gt_cu_seat_take(&d->seat, name);
}

static void begin_device(struct device *d, void *context)
{
	const char *why;

	d->tried = true;
	if (!is_elected(d)) {
		give_up(d, "another process of this run has its counters");
		return;
	}
	why = choose(d, context);
	if (why) {
		give_up(d, why);
		return;
	}
	d->usable = true;
	announce(d);
	if (d->events)
		serialize(true);
}

/* ---- sessions ---------------------------------------------------------------------------------------- */

static void close_session(struct gt_cu_session *s)
{
	if (!s || !s->object)
		return;
	if (s->device->events)
		gt_cu_older->groups_close(s->object);
	else
		gt_cu_profiler_object(GT_CU_P_RangeProfilerDisable, s->object);
	s->object = NULL;
	free(s->data);
	s->data = NULL;
	s->under_way = false;
	if (s->device->current == s)
		s->device->current = NULL;
}

static int clear_data(struct gt_cu_session *s)
{
	struct cu_profiler_data p = { CU_PARAMS(cu_profiler_data, data), .object = s->object,
				      .size = s->data_bytes, .data = s->data };

	return gt_cu_profiler(GT_CU_P_RangeProfilerCounterDataImageInitialize, &p);
}

static int configure(struct gt_cu_session *s)
{
	bool user = gt_cu_options.exact == GT_CU_EXACT_USER;
	struct cu_range_config p = { CU_PARAMS(cu_range_config, target_level), .object = s->object,
				     .size = s->device->set.image_bytes, .image = s->device->set.image,
				     .data_size = s->data_bytes, .data = s->data,
				     .range = user ? CU_RANGE_USER : CU_RANGE_AUTO,
				     .replay = user ? CU_REPLAY_USER : CU_REPLAY_KERNEL,
				     .most = RANGES, .levels = 1, .least_level = 1 };

	return gt_cu_profiler(GT_CU_P_RangeProfilerSetConfig, &p);
}

static int make_data(struct gt_cu_session *s)
{
	struct cu_range_data_size p = { CU_PARAMS(cu_range_data_size, size), .object = s->object,
					.names = s->device->set.names, .count = s->device->set.count,
					.most = RANGES, .most_nodes = RANGES };
	int rc = gt_cu_profiler(GT_CU_P_RangeProfilerGetCounterDataSize, &p);

	if (rc)
		return rc;
	s->data_bytes = p.size;
	s->data = malloc(p.size);
	return s->data ? clear_data(s) : CU_ERROR_OUT_OF_MEMORY;
}

static int open_groups(struct gt_cu_session *s)
{
	struct gt_cu_groups *groups = NULL;
	int rc = gt_cu_older->groups_open(s->device->set.host, s->context,
				   gt_cu_options.exact == GT_CU_EXACT_USER, &groups);

	s->object = groups;
	return rc;
}

static int open_session(struct gt_cu_session *s)
{
	struct cu_range_enable p = { CU_PARAMS(cu_range_enable, object), .context = s->context };
	int rc;

	if (s->device->current != s)
		close_session(s->device->current);
	if (s->object)
		return 0;
	if (s->device->events) {
		s->device->current = s;
		return open_groups(s);
	}
	rc = gt_cu_profiler(GT_CU_P_RangeProfilerEnable, &p);
	if (rc)
		return rc;
	s->object = p.object;
	s->device->current = s;
	rc = make_data(s);
	if (!rc)
		rc = configure(s);
	if (rc)
		close_session(s);
	return rc;
}

static void define(struct gt_cu_session *s)
{
	const struct device *d = s->device;
	gt_ref group = gt_cu_context_group(number_of(d), s->id);

	s->defined = true;
	for (unsigned i = 0; i < d->shown; i++) {
		struct cu_host_properties p = { .unit = NULL };
		struct gt_metric_info info = { .bytes = sizeof(info), .name = d->set.names[i],
					       .value = d->whole[i] ? GT_VALUE_UINT : GT_VALUE_DOUBLE,
					       .mode = d->whole[i] ? MODE_SUM : MODE_OTHER, .scope = 2,
					       .scope_id = group };

		is_whole(d, d->set.names[i], &p);
		info.unit = p.unit;
		info.description = p.description;
		s->refs[i] = gt_def_metric(&info);
	}
}

struct gt_cu_session *gt_cu_session_of(const void *context, bool usable)
{
	for (unsigned i = 0; context && i < SESSIONS; i++) {
		struct gt_cu_session *s = &sessions[i];

		if (s->context == context)
			return !usable || (s->device->usable && !s->failed) ? s : NULL;
	}
	return NULL;
}

void gt_cu_session_add(void *context)
{
	uint32_t number = DEVICES, id = 0;
	struct gt_cu_session *s = NULL;
	static bool said;

	if (!gt_cu_api.device_id || !gt_cu_api.context_id || gt_cu_api.device_id(context, &number) ||
	    gt_cu_api.context_id(context, &id) || number >= DEVICES)
		return;
	if (!devices[number].tried && gt_cu_older_is_for(number)) /* later */
		devices[number].events = devices[number].usable = true;
	else if (!devices[number].tried)
		begin_device(&devices[number], context);
	for (unsigned i = 0; !s && i < SESSIONS; i++)
		if (!sessions[i].context)
			s = &sessions[i];
	if (s) {
		*s = (struct gt_cu_session){ .context = context, .id = id, .device = &devices[number] };
		if (!devices[number].events)
			define(s);
	} else if (devices[number].usable && !said) {
		gt_message(1, "there are too many contexts: no metrics of single kernels in this one");
		said = true;
	}
}

static int begin(struct gt_cu_session *s, const char *range)
{
	struct cu_range_push push = { CU_PARAMS(cu_range_push, name), .name = range };
	int rc = open_session(s);

	if (s->device->events)
		return rc ? rc : gt_cu_older->start(s->object);
	if (!rc && range && !s->under_way)
		rc = configure(s);
	if (!rc)
		rc = gt_cu_profiler_object(GT_CU_P_RangeProfilerStart, s->object);
	push.object = s->object;
	if (!rc && range)
		rc = gt_cu_profiler(GT_CU_P_RangeProfilerPushRange, &push);
	return rc;
}

int gt_cu_session_start(struct gt_cu_session *s, const char *range)
{
	bool serial = range && !s->device->events;
	int rc;

	if (!s->device->tried)
		begin_device(s->device, s->context);
	if (!s->device->usable)
		return CU_ERROR_NOT_SUPPORTED;
	if (!s->defined)
		define(s);
	if (serial)
		serialize(true);
	rc = begin(s, range);
	if (!rc)
		return 0;
	if (serial)
		serialize(false);
	s->failed = true;
	close_session(s);
	gt_message(1, "GPU %u: no metrics of single kernels in context %u: %s", number_of(s->device), s->id,
		   gt_cu_profiler_reason(rc));
	return rc;
}

static int stop_range(struct gt_cu_session *s, bool range, bool *complete)
{
	struct cu_range_stop p = { CU_PARAMS(cu_range_stop, all_passes), .object = s->object };
	int popped = range ? gt_cu_profiler_object(GT_CU_P_RangeProfilerPopRange, s->object) : 0;
	int rc = gt_cu_profiler(GT_CU_P_RangeProfilerStop, &p);

	if (range)
		serialize(false);
	rc = popped ? popped : rc;
	*complete = !rc && (!range || p.all_passes);
	return rc;
}

int gt_cu_session_stop(struct gt_cu_session *s, bool range, bool *complete)
{
	int rc = s->device->events ? gt_cu_older->stop(s->object, true, complete)
				   : stop_range(s, range, complete);

	s->under_way = !rc && !*complete;
	return rc;
}

void gt_cu_session_end(struct gt_cu_session *s, bool counts)
{
	bool complete;

	if (counts && s->device->events)
		gt_cu_older->stop(s->object, false, &complete); /* its context goes: nothing can be read */
	else if (counts)
		gt_cu_session_stop(s, gt_cu_options.exact == GT_CU_EXACT_USER, &complete);
	close_session(s);
	s->context = NULL;
}

bool gt_cu_session_waits(const struct gt_cu_session *s)
{
	return s->under_way;
}

/* ---- values ------------------------------------------------------------------------------------------ */

/* Of the one range that there is. 0, or CUPTI's result. */
static int evaluate(const struct gt_cu_session *s, double *values)
{
	struct cu_range_decode decode = { CU_PARAMS(cu_range_decode, dropped), .object = s->object };
	struct cu_range_info info = { CU_PARAMS(cu_range_info, count), .data = s->data,
				      .size = s->data_bytes };
	struct cu_host_evaluate p = { CU_PARAMS(cu_host_evaluate, values), .object = s->device->set.host,
				      .data = s->data, .size = s->data_bytes, .names = s->device->set.names,
				      .count = s->device->set.count, .values = values };
	int rc = gt_cu_profiler(GT_CU_P_RangeProfilerDecodeData, &decode);

	if (!rc)
		rc = gt_cu_profiler(GT_CU_P_RangeProfilerGetCounterDataInfo, &info);
	if (!rc && (info.count != 1 || decode.dropped)) /* a kernel of another thread came in, say */
		rc = CU_ERROR_NOT_COMPATIBLE;
	return rc ? rc : gt_cu_profiler(GT_CU_P_ProfilerHostEvaluateToGpuValues, &p);
}

/* What the metrics are depends on the kernel's time: gt_cu_counts_evaluate(). */
static int event_counts(const struct gt_cu_session *s, struct gt_cu_measured *m)
{
	m->plan = s->device->set.host;
	m->count = s->device->shown;
	memcpy(m->refs, s->refs, sizeof(m->refs));
	gt_cu_older->values(s->object, m->events, &m->ns);
	return 0;
}

void gt_cu_session_drop(struct gt_cu_session *s)
{
	struct gt_cu_measured nothing;
	bool complete;
	uint64_t ns;

	if (s->device->events) {
		gt_cu_older->stop(s->object, false, &complete);
		return;
	}
	gt_cu_session_stop(s, false, &complete);
	gt_cu_session_values(s, &nothing, &ns); /* which is not there for the next one then */
}

void gt_cu_counts_evaluate(struct gt_cu_measured *m, uint64_t ns)
{
	unsigned n = 0;

	if (!m->plan)
		return;
	for (unsigned i = 0; i < m->count; i++) {
		m->refs[n] = m->refs[i];
		n += gt_cu_older->evaluate(m->plan, i, m->events, ns ? ns : m->ns, &m->values[n]);
	}
	if (n < m->count) {
		gt_cu_count_shared(&without_value, m->count - n);
		gt_lost(GT_LOSS_METRIC, m->count - n);
	}
	m->count = n;
}

uint64_t gt_cu_counts_without_value(void)
{
	return __atomic_load_n(&without_value, __ATOMIC_RELAXED);
}

int gt_cu_session_values(struct gt_cu_session *s, struct gt_cu_measured *m, uint64_t *ns)
{
	const struct device *d = s->device;
	double values[GT_CU_METRICS];
	int rc;

	*ns = 0;
	m->plan = NULL;
	if (d->events)
		return event_counts(s, m);
	rc = evaluate(s, values);
	clear_data(s);
	m->count = rc ? 0 : d->shown;
	*ns = !rc && d->duration >= 0 && values[d->duration] > 0 ? (uint64_t)values[d->duration] : 0;
	for (unsigned i = 0; i < m->count; i++) {
		double value = isfinite(values[i]) ? values[i] : 0; /* a ratio of nothing */

		m->refs[i] = s->refs[i];
		if (d->whole[i])
			m->values[i] = value > 0 ? (uint64_t)(value + 0.5) : 0;
		else
			memcpy(&m->values[i], &value, sizeof(value));
	}
	return rc;
}

/* ---- all --------------------------------------------------------------------------------------------- */

bool gt_cu_counting_setup(void)
{
	struct cu_host_chips load = { CU_PARAMS(cu_host_chips, names) };

	for (unsigned i = 0; i < DEVICES; i++)
		devices[i].seat.fd = -1;
	wishes = gt_cu_wishes_of_settings(true);
	if (wishes)
		gt_cu_profiler(GT_CU_P_ProfilerHostGetSupportedChips, &load); /* its libraries */
	return wishes;
}

void gt_cu_counting_forked(void)
{
	for (unsigned i = 0; i < DEVICES && wishes; i++)
		gt_cu_seat_forked(&devices[i].seat);
}
