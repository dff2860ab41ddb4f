/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PM sampling: the GPU writes its counters into a buffer at an interval while the program runs as it would; a
 * thread of ours decodes them and records each sample as values of a METRIC location of the device, at the
 * end of the sample. One sampler for each device, in one of the run's processes that use it.
 *
 * Invariant: samples between the first and the last are recorded or counted as missing (gt_lost, and the
 * property CUDA_SAMPLING_<device>).
 *
 * Limits: DEVICES devices. Values are the whole device's, whoever used it. Only this thread calls CUPTI's PM
 * functions. What CUPTI does with them was seen with 13.0 on an H100 and an H200: they need no context and
 * outlive cudaDeviceReset(); after an overflow only a new session helps; metrics of NVLinks that are down
 * hold all samples back. GPUs without the trigger by time (GA100, Turing) were never met.
 */
#include "cuda/counters/sampler.h"

#include <dlfcn.h>
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "cuda/cuda.h"
#include "cuda/elect.h"
#include "cuda/hooks.h"
#include "cuda/counters/older.h"
#include "accel/wait.h"
#include "cuda/counters/metrics.h"
#include "gputrace/syscall.h"

#define DEVICES       16u
#define ROUND_MS      100u     /* how often samples are fetched; a kill loses those since */
#define SEAT_MS       500u     /* how often a process asks whether the device's sampler is gone */
#define BUSY_MS       3000u    /* how long the counters may be busy with a process that just ended */
#define STALL_NS      UINT64_C(1000000000)
#define BEGIN_MS      2000u    /* the program waits so long for the first session */
#define HARDWARE      (64u << 20)
#define IMAGE_LEAST   64u      /* samples decoded at once */
#define IMAGE_MOST    512u
#define ROUNDS_MOST   64u
#define NOTHING       (-1)
#define INTERVAL_MOST UINT64_C(10000000)
#define MODE_LAST          0x21u /* OTF2_METRIC_ABSOLUTE_LAST: of the time since the value before */
#define MODE_LAST_RELATIVE 0x22u /* OTF2_METRIC_RELATIVE_LAST: what was added since then */

enum state {
	IDLE = 0, /* no context yet */
	WANTED,
	BUSY,     /* the counters are: tried again */
	OTHERS,   /* another process of the run samples it */
	RUNNING,
	FAILED,
	ENDED,
};

static struct sampler {
	uint32_t state;        /* atomic; written by our thread, but for IDLE to WANTED */
	gt_ref group;
	struct gt_cu_seat seat;
	bool seatless;         /* no socket can be made: CUPTI decides */
	char chip[32];
	struct gt_cu_set set;
	void *object;
	uint8_t *data;
	size_t data_bytes;
	uint64_t interval;     /* nanoseconds */
	uint64_t begun;        /* of the session; CLOCK_MONOTONIC */
	uint64_t tried;        /* since when the counters may be busy */
	bool announced, decoded;
	uint64_t last_end;     /* of the last sample, as CUPTI has it; 0: none yet */
	uint64_t in_session;   /* samples */
	uint64_t samples, missing, overflows;
	struct gt_location *location;
	gt_ref refs[GT_CU_METRICS];
	bool whole[GT_CU_METRICS]; /* the value is a number of things */
	bool in_a_row;
} samplers[DEVICES];

static struct gt_cu_wishes *wishes;
static uint64_t interval_asked;
static void (*finish_first)(void);
static uint32_t wake;             /* a futex: something is to be done */
static uint32_t changed;          /* a futex: a state has changed, or a round is over */
static uint32_t rounds, ending;   /* atomic */
static uint32_t there;            /* atomic: the thread runs */

static void set_state(struct sampler *s, enum state state)
{
	__atomic_store_n(&s->state, (uint32_t)state, __ATOMIC_SEQ_CST);
	gt_accel_wake(&changed);
}

static enum state state_of(const struct sampler *s)
{
	return (enum state)__atomic_load_n(&s->state, __ATOMIC_SEQ_CST);
}

static unsigned device_of(const struct sampler *s)
{
	return (unsigned)(s - samplers);
}

/* ---- what is said ------------------------------------------------------------------------------------ */

static void give_up(struct sampler *s, const char *why)
{
	gt_message(1, "GPU %u: its metrics are not sampled: %s", device_of(s), why);
	gt_cu_profiler_property("sampling", device_of(s), "none: ", why);
	set_state(s, FAILED);
}

/* Has the adapter for counters read those of the driver's management library, which need no permission. */
static bool read_nvml(void)
{
	static const char list[] = "nvml::all:nvml::gpm@1000";
	bool (*more)(const char *setting, const char *source, const char *list) = NULL;
	char path[512];
	Dl_info info;
	void *handle, *symbol;
	const char *end;

	if (!dladdr(&wishes, &info) || !info.dli_fname || !(end = strrchr(info.dli_fname, '/')))
		return false;
	snprintf(path, sizeof(path), "%.*s/libgputrace-counters.so", (int)(end - info.dli_fname),
		 info.dli_fname);
	handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	symbol = handle ? dlsym(handle, "gt_counters_add") : NULL;
	memcpy(&more, &symbol, sizeof(more));
	return more && more("VT_CUPTI_METRICS", "nvml", list);
}

static const char *reason_of(const struct sampler *s, int rc)
{
	if (rc != CU_ERROR_INSUFFICIENT_PRIVILEGES && gt_cu_older_is_for(device_of(s)))
		return "CUPTI samples GPUs from compute capability 7.5 on, and this one is older "
		       "(VT_CUPTI_KERNEL=replay counts single kernels on it)";
	return gt_cu_profiler_reason(rc);
}

/* CUPTI will not do it: the next best. */
static void refuse(struct sampler *s, int rc)
{
	static int there_is; /* 1 yes, -1 no */
	char text[400];

	if (!there_is)
		there_is = read_nvml() ? 1 : -1;
	snprintf(text, sizeof(text), "%s; %s", reason_of(s, rc),
		 there_is > 0 ? "NVML is read instead (power, clocks, utilization, memory, "
			      "PCIe, NVLink; since Hopper pipes, too)"
			      : "neither is NVML");
	give_up(s, text);
}

static void account(struct sampler *s)
{
	char text[320];

	snprintf(text, sizeof(text),
		 "PM sampling of %u metric%s every %llu us, kernels not slowed, a thread decodes; %llu "
		 "samples, %llu missing, %llu overflows",
		 s->set.count, s->set.count == 1 ? "" : "s", (unsigned long long)(s->interval / 1000),
		 (unsigned long long)s->samples,
		 (unsigned long long)s->missing, (unsigned long long)s->overflows);
	gt_cu_profiler_property("sampling", device_of(s), "", text);
}

static void refused(const char *name, const char *why, void *argument)
{
	gt_message(1, "VT_CUPTI_METRICS: %s is left out on GPU %u: %s", name, device_of(argument), why);
}

/* ---- the location ------------------------------------------------------------------------------------ */

static void define_metric(struct sampler *s, unsigned i)
{
	struct cu_host_properties p = { .unit = NULL };
	struct gt_metric_info info = { .bytes = sizeof(info), .name = s->set.names[i],
				       .value = GT_VALUE_DOUBLE, .mode = MODE_LAST, .scope = 2,
				       .scope_id = s->group };

	s->whole[i] = gt_cu_metric_is_sum(s->set.host, s->set.names[i], &p);
	info.unit = p.unit;
	info.description = p.description;
	if (s->whole[i]) {
		info.value = GT_VALUE_UINT;
		info.mode = MODE_LAST_RELATIVE;
	}
	s->refs[i] = gt_def_metric(&info);
}

static void define(struct sampler *s)
{
	char name[40];
	const struct gt_location_info info = { .bytes = sizeof(info), .name = name, .kind = GT_LOC_METRIC,
					       .flags = GT_LOC_UNSORTED | GT_LOC_COMMITS, .group = s->group };

	snprintf(name, sizeof(name), "CUDA[%u] metrics", device_of(s));
	s->in_a_row = true;
	for (unsigned i = 0; i < s->set.count; i++) {
		define_metric(s, i);
		s->in_a_row &= s->refs[i] && s->refs[i] == s->refs[0] + i;
	}
	s->location = gt_location_create(&info);
}

static void record(struct sampler *s, const double *values, uint64_t tick)
{
	uint64_t data[GT_CU_METRICS + 2] = { s->set.count };
	unsigned n = s->set.count;

	for (unsigned i = 0; i < n; i++) {
		double value = isfinite(values[i]) ? values[i] : 0; /* a ratio of nothing */

		if (s->whole[i])
			data[1 + i] = value > 0 ? (uint64_t)(value + 0.5) : 0;
		else
			memcpy(&data[1 + i], &value, sizeof(value));
	}
	data[1 + n] = 0;
	if (s->in_a_row) {
		gt_location_record(s->location, GT_T_METRICS, s->refs[0], data, (1 + n + 1) / 2, tick);
		return;
	}
	for (unsigned i = 0; i < n; i++)
		gt_location_record(s->location, GT_T_METRIC, s->refs[i], (uint64_t[2]){ data[1 + i], 0 }, 1,
				   tick);
}

/* ---- sessions ---------------------------------------------------------------------------------------- */

static void close_session(struct sampler *s)
{
	if (!s->object)
		return;
	gt_cu_profiler_object(GT_CU_P_PmSamplingDisable, s->object);
	s->object = NULL;
	free(s->data);
	s->data = NULL;
}

static int clear_image(struct sampler *s)
{
	struct cu_profiler_data p = { CU_PARAMS(cu_profiler_data, data), .object = s->object,
				      .size = s->data_bytes, .data = s->data };

	return gt_cu_profiler(GT_CU_P_PmSamplingCounterDataImageInitialize, &p);
}

static int make_image(struct sampler *s)
{
	uint64_t most = ROUND_MS * UINT64_C(2000000) / s->interval;
	struct cu_pm_data_size p = { CU_PARAMS(cu_pm_data_size, size), .object = s->object,
				     .names = s->set.names, .count = s->set.count };
	int rc;

	p.most = most < IMAGE_LEAST ? IMAGE_LEAST : most > IMAGE_MOST ? IMAGE_MOST : (uint32_t)most;
	rc = gt_cu_profiler(GT_CU_P_PmSamplingGetCounterDataSize, &p);
	if (rc)
		return rc;
	s->data_bytes = p.size;
	s->data = malloc(p.size);
	return s->data ? clear_image(s) : CU_ERROR_OUT_OF_MEMORY;
}

static int configure(struct sampler *s)
{
	struct cu_pm_config p = { CU_PARAMS(cu_pm_config, append), .object = s->object,
				  .size = s->set.image_bytes, .image = s->set.image,
				  .hardware_bytes = HARDWARE, .interval = s->interval,
				  .trigger = CU_PM_TRIGGER_TIME, .append = CU_PM_KEEP_OLDEST };
	int rc = gt_cu_profiler(GT_CU_P_PmSamplingSetConfig, &p);

	if (rc == CU_ERROR_INVALID_PARAMETER) { /* 12.6 does not know the last member */
		p.bytes = CU_BYTES_TO(cu_pm_config, trigger);
		rc = gt_cu_profiler(GT_CU_P_PmSamplingSetConfig, &p);
	}
	if (rc != CU_ERROR_NOT_SUPPORTED && rc != CU_ERROR_INVALID_PARAMETER)
		return rc;
	p.trigger = CU_PM_TRIGGER_CLOCK; /* of some 1.5 GHz */
	p.interval += p.interval / 2;
	return gt_cu_profiler(GT_CU_P_PmSamplingSetConfig, &p) ? rc : 0;
}

/*
 * CUPTI's libraries have destructors, which were registered when it loaded them, or used them first: the last
 * samples must be fetched before these run.
 */
static void end_before_cupti(void)
{
	static unsigned times;

	if (times++ < 2 * DEVICES)
		atexit(finish_first);
}

static int open_session(struct sampler *s)
{
	struct cu_pm_enable p = { CU_PARAMS(cu_pm_enable, object), .device = device_of(s) };
	int rc = gt_cu_profiler(GT_CU_P_PmSamplingEnable, &p);

	if (rc)
		return rc;
	s->object = p.object;
	rc = configure(s);
	if (!rc)
		rc = make_image(s);
	if (!rc)
		rc = gt_cu_profiler_object(GT_CU_P_PmSamplingStart, s->object);
	s->in_session = 0;
	s->begun = gt_monotonic();
	if (rc)
		close_session(s);
	else
		end_before_cupti();
	return rc;
}

/* The set of metrics. 0, or CUPTI's result; NOTHING: the device has none of those that are asked for. */
static int choose(struct sampler *s)
{
	int rc = gt_cu_profiler_chip(device_of(s), CU_API_PM, s->chip, sizeof(s->chip));

	if (rc)
		return rc;
	s->set = (struct gt_cu_set){ .type = CU_PROFILER_PM, .chip = s->chip };
	s->interval = interval_asked;
	gt_cu_wishes_fit(wishes, &s->set, refused, s);
	return s->set.count ? gt_cu_set_open(&s->set) : NOTHING;
}

static void running(struct sampler *s)
{
	if (!s->announced)
		gt_message(1, "GPU %u: %u metric%s sampled every %lu us; kernels run at full speed, "
			   "a thread decodes the samples",
			   device_of(s), s->set.count, s->set.count == 1 ? " is" : "s are",
			   (unsigned long)(s->interval / 1000));
	s->announced = true;
	account(s);
	set_state(s, RUNNING);
}

/* Is it this process that samples the device? */
static bool is_elected(struct sampler *s)
{
	char uuid[64];

	if (s->seat.fd >= 0 || s->seatless)
		return true;
	if (!gt_cu_seat_take(&s->seat, gt_cu_device_uuid(device_of(s), uuid, sizeof(uuid)))) {
		if (state_of(s) != OTHERS)
			set_state(s, OTHERS);
		return false;
	}
	s->seatless = s->seat.fd < 0;
	s->tried = gt_monotonic();
	return true;
}

static void begin(struct sampler *s)
{
	int rc = s->set.host ? 0 : choose(s);

	if (!rc && !is_elected(s))
		return;
	if (!rc)
		rc = open_session(s);
	if (!rc)
		running(s);
	else if (rc == NOTHING)
		give_up(s, "it has none of the metrics that are asked for");
	else if (rc == CU_ERROR_HARDWARE_BUSY && gt_monotonic() - s->tried < BUSY_MS * UINT64_C(1000000))
		set_state(s, BUSY);
	else
		refuse(s, rc);
}

/* ---- samples ----------------------------------------------------------------------------------------- */

static bool is_of_links(const char *name)
{
	return !strncmp(name, "nvl", 3) || !strncmp(name, "c2c", 3) || !strncmp(name, "ctc", 3) ||
	       !strncmp(name, "CTC.", 4) || !strncmp(name, "NVL", 3);
}

/* Links that are down never count, and no sample is complete without them: the others go on alone. */
static void leave_out_links(struct sampler *s)
{
	unsigned kept = 0, before = s->set.count;
	int rc;

	close_session(s);
	gt_cu_set_close(&s->set);
	for (unsigned i = 0; i < before; i++)
		if (!is_of_links(s->set.names[i]))
			s->set.names[kept++] = s->set.names[i];
	s->set.count = kept;
	if (kept == before || !kept) {
		give_up(s, "no sample is ever complete");
		return;
	}
	gt_message(1, "GPU %u: its links are down, and samples with their metrics would never be complete: "
		   "these metrics are left out", device_of(s));
	rc = gt_cu_set_open(&s->set);
	rc = rc ? rc : open_session(s);
	if (rc)
		refuse(s, rc);
	else
		running(s);
}

static void count_gap(struct sampler *s, uint64_t start, uint64_t end)
{
	uint64_t length = end - start, missing;

	if (!s->last_end || start <= s->last_end + length / 2)
		return;
	missing = (start - s->last_end + length / 2) / length;
	s->missing += missing;
	gt_lost(GT_LOSS_METRIC, missing);
}

/* A new session, at a longer interval: samples arrive faster than they can be decoded. */
static void overflowed(struct sampler *s)
{
	int rc;

	s->overflows++;
	if (__atomic_load_n(&ending, __ATOMIC_SEQ_CST)) {
		count_gap(s, gt_cu_clock_now(), gt_cu_clock_now() + s->interval);
		return;
	}
	close_session(s);
	if (s->interval < INTERVAL_MOST)
		s->interval *= 2;
	gt_message(1, "GPU %u: samples arrive faster than they can be decoded; some were lost; sampling "
		   "every %lu us from now on",
		   device_of(s), (unsigned long)(s->interval / 1000));
	rc = open_session(s);
	if (rc)
		refuse(s, rc);
}

static void put_sample(struct sampler *s, size_t index)
{
	struct cu_pm_sample time = { CU_PARAMS(cu_pm_sample, end), .object = s->object, .data = s->data,
				     .size = s->data_bytes, .index = index };
	double values[GT_CU_METRICS];
	struct cu_host_evaluate p = { CU_PARAMS(cu_host_evaluate, values), .object = s->set.host,
				      .data = s->data, .size = s->data_bytes, .range = index,
				      .names = s->set.names, .count = s->set.count, .values = values };
	int rc = gt_cu_profiler(GT_CU_P_PmSamplingCounterDataGetSampleInfo, &time);

	if (!rc && !s->in_session++) /* begins before the session */
		return;
	if (rc || time.end <= time.start || time.end <= s->last_end ||
	    gt_cu_profiler(GT_CU_P_ProfilerHostEvaluateToGpuValues, &p)) {
		s->missing++;
		gt_lost(GT_LOSS_METRIC, 1);
		return;
	}
	count_gap(s, time.start, time.end);
	if (!s->location)
		define(s);
	record(s, values, gt_cu_ticks(time.end));
	s->last_end = time.end;
	s->samples++;
}

/* Once CUPTI's buffer into the image, and that into the trace. Returns whether there is more. */
static bool fetch(struct sampler *s)
{
	struct cu_pm_decode p = { CU_PARAMS(cu_pm_decode, overflow), .object = s->object, .data = s->data,
				  .size = s->data_bytes };
	struct cu_pm_info info = { CU_PARAMS(cu_pm_info, completed), .data = s->data, .size = s->data_bytes };
	int rc = gt_cu_profiler(GT_CU_P_PmSamplingDecodeData, &p);

	if (rc == CU_ERROR_OUT_OF_MEMORY || p.overflow) {
		overflowed(s);
		return false;
	}
	if (!rc)
		rc = gt_cu_profiler(GT_CU_P_PmSamplingGetCounterDataInfo, &info);
	if (rc) {
		refuse(s, rc);
		return false;
	}
	for (size_t i = 0; i < info.completed; i++)
		put_sample(s, i);
	if (s->samples && !s->decoded)
		end_before_cupti();
	s->decoded = s->samples;
	if (!s->in_session && info.populated && gt_monotonic() - s->begun > STALL_NS) {
		leave_out_links(s);
		return false;
	}
	return !clear_image(s) && p.reason == CU_PM_STOP_FULL;
}

static void fetch_all(struct sampler *s)
{
	for (unsigned i = 0; i < ROUNDS_MOST && state_of(s) == RUNNING && fetch(s); i++)
		;
}

/* No CUPTI call is left to be made then: CUPTI ends by itself with the process. */
static void end(struct sampler *s)
{
	if (state_of(s) == RUNNING) {
		gt_cu_profiler_object(GT_CU_P_PmSamplingStop, s->object);
		fetch_all(s);
		account(s);
	} else if (state_of(s) == BUSY) {
		give_up(s, gt_cu_profiler_reason(CU_ERROR_HARDWARE_BUSY));
	}
	if (state_of(s) != FAILED)
		set_state(s, ENDED);
}

/* ---- the thread -------------------------------------------------------------------------------------- */

static void step(struct sampler *s)
{
	switch (state_of(s)) {
	case WANTED:
	case BUSY:
	case OTHERS:
		begin(s);
		break;
	case RUNNING:
		fetch_all(s);
		break;
	default:
		break;
	}
}

static unsigned pause_of(void)
{
	unsigned pause = 60000;

	for (unsigned i = 0; i < DEVICES; i++) {
		enum state state = state_of(&samplers[i]);

		if (state == RUNNING || state == WANTED || state == BUSY)
			return ROUND_MS;
		if (state == OTHERS)
			pause = SEAT_MS;
	}
	return pause;
}

static bool is_usable(void)
{
	enum gt_cu_state now = gt_cu_state_now();

	return now == GT_CU_READY || now == GT_CU_OFF; /* of which the second is before the first */
}

static void *sample(void *unused)
{
	uint32_t seen;

	(void)unused;
	gt_guard();
	gt_raw(SYS_prctl, PR_SET_NAME, "gputrace-pm");
	__atomic_store_n(&there, 1, __ATOMIC_SEQ_CST);
	while (gt_accel_thread_stays(&wake, &seen) && is_usable()) {
		bool last = __atomic_load_n(&ending, __ATOMIC_SEQ_CST);

		for (unsigned i = 0; i < DEVICES; i++)
			if (last)
				end(&samplers[i]);
			else
				step(&samplers[i]);
		__atomic_add_fetch(&rounds, 1, __ATOMIC_SEQ_CST);
		gt_accel_wake(&changed);
		if (last)
			break;
		gt_accel_wait(&wake, seen, pause_of());
	}
	__atomic_store_n(&there, 0, __ATOMIC_SEQ_CST);
	gt_accel_wake(&changed);
	gt_accel_thread_ends();
	return NULL;
}

static bool is_there(void)
{
	return __atomic_load_n(&there, __ATOMIC_SEQ_CST);
}

/* ---- from outside ------------------------------------------------------------------------------------ */

/* So that what the program does next is sampled. */
static void wait_begun(const struct sampler *s)
{
	uint64_t end = gt_monotonic() + BEGIN_MS * UINT64_C(1000000);

	for (;;) {
		uint32_t seen = __atomic_load_n(&changed, __ATOMIC_SEQ_CST);

		if (state_of(s) != WANTED || !is_there() || gt_monotonic() >= end)
			return;
		gt_accel_wait(&changed, seen, 50);
	}
}

/* A context was made: its device is sampled from now on. */
static void context_made(void *context)
{
	uint32_t device = DEVICES, id = 0, idle = IDLE;
	struct sampler *s;

	if (!is_there() || !gt_cu_api.device_id || !gt_cu_api.context_id ||
	    gt_cu_api.device_id(context, &device) || gt_cu_api.context_id(context, &id) || device >= DEVICES)
		return;
	s = &samplers[device];
	if (state_of(s) != IDLE)
		return;
	s->group = gt_cu_context_group(device, id); /* several threads at once may do so: any will do */
	if (!__atomic_compare_exchange_n(&s->state, &idle, WANTED, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
		return;
	gt_accel_wake(&wake);
	wait_begun(s);
}

/* False: it was not done in time. */
static bool bring_in(bool last, unsigned limit_ms)
{
	uint64_t end = gt_monotonic() + limit_ms * UINT64_C(1000000);
	uint32_t want = __atomic_load_n(&rounds, __ATOMIC_SEQ_CST) + 2;

	if (last)
		__atomic_store_n(&ending, 1, __ATOMIC_SEQ_CST);
	/* A round that has begun may have looked already; after the last one the thread is gone. */
	for (;;) {
		uint32_t seen = __atomic_load_n(&changed, __ATOMIC_SEQ_CST);
		uint32_t round = __atomic_load_n(&rounds, __ATOMIC_SEQ_CST);

		gt_accel_wake(&wake);
		if (!is_there() || (int32_t)(round - want) >= 0)
			return true;
		if (gt_monotonic() >= end)
			return false;
		gt_accel_wait(&changed, seen, 20);
	}
}

static void bring_in_or_say(bool last, unsigned limit_ms)
{
	static bool reported;

	if (!bring_in(last, limit_ms) && !__atomic_exchange_n(&reported, true, __ATOMIC_RELAXED))
		gt_message(1, "CUPTI did not deliver its samples within %u seconds: the last ones are "
			   "missing", limit_ms / 1000);
}

static void forked(void)
{
	for (unsigned i = 0; i < DEVICES && is_there(); i++)
		gt_cu_seat_forked(&samplers[i].seat);
	there = 0;
}

void gt_cu_sampler_start(void (*finish)(void))
{
	struct cu_host_chips load = { CU_PARAMS(cu_host_chips, names) };
	static struct gt_cu_hooks hooks = { .context = context_made, .sample = bring_in_or_say,
					    .forked = forked };
	const char *interval = gt_setting("VT_CUPTI_EVENTS_SAMPLING");

	if (gt_cu_options.exact || !(wishes = gt_cu_wishes_of_settings(false)))
		return;
	interval_asked = (interval ? strtoull(interval, NULL, 10) : 0) * 1000;
	if (!interval_asked)
		interval_asked = 1000000;
	for (unsigned i = 0; i < DEVICES; i++)
		samplers[i].seat.fd = -1;
	finish_first = finish;
	gt_cu_profiler(GT_CU_P_ProfilerHostGetSupportedChips, &load); /* its libraries */
	there = wishes->count != 0;
	if (there && !gt_accel_thread_start(sample, &wake)) {
		gt_message(1, "metrics of the GPU are not sampled: no thread can be created");
		there = 0;
	}
	if (there)
		gt_cu_hooks_add(&hooks);
}
