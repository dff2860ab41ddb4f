/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * VT_CUPTI_PCSAMPLING: where the device's warps are, and what they wait for, as CUPTI samples it.
 *
 * The hardware looks at one warp of each multiprocessor every 2^period cycles. CUPTI sums the samples up
 * by instruction and stall reason; a thread of ours fetches the sums (and, if kernels are serialized,
 * each launch does, for CUPTI keeps launches apart only until the next). They are records of our own on a
 * location of the process, as are the cubins, once each: cuda/assemble/pcsamples.c puts both into the
 * archive.
 *
 * All calls of CUPTI's here are made under one lock. GetData does not wait for the device; Disable does,
 * and is called where the program waits for it anyway, or on our thread.
 *
 * Limits: CONTEXTS contexts at once. Another process that begins to sample the
 * same GPU takes it away (CUPTI answers "unknown error" then). CUPTI's buffer in the device's memory,
 * once it is full, stays so: what was in it is lost, and sampling ends there. Names of functions are
 * CUPTI's and are never freed: its other records point at them, too.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "cuda/cuda.h"
#include "cuda/hooks.h"
#include "cuda/elect.h"
#include "accel/wait.h"
#include "cuda/profiler.h"
#include "cuda/samples/pcsampling_abi.h"
#include "cuda/samples/samples.h"
#include "gputrace/syscall.h"

#define CONTEXTS       32u
#define DEVICES        64u
#define PCS            4096u /* that are fetched at once */
#define REASONS        64u
#define HARDWARE_BYTES (256u << 20)
#define SCRATCH_BYTES  (16u << 20)

enum function { ENABLE, DISABLE, CONFIGURE, GET_DATA, COUNT_REASONS, GET_REASONS, FUNCTIONS };
static const char *const function_names[FUNCTIONS] = {
	"cuptiPCSamplingEnable", "cuptiPCSamplingDisable", "cuptiPCSamplingSetConfigurationAttribute",
	"cuptiPCSamplingGetData", "cuptiPCSamplingGetNumStallReasons", "cuptiPCSamplingGetStallReasons",
};
static int (*functions[FUNCTIONS])(void *params);

static struct sampled {
	void *context;           /* NULL: free */
	uint32_t id, device, period;
	bool lost;               /* it has ended before its time */
	struct cu_pc_data *rest; /* CUPTI puts there what is left at the end */
} contexts[CONTEXTS];

static struct cu_pc_data *fetched;
static gt_ref record_drain, record_pc, record_reason, metric_samples, metric_dropped;

/* ---- records ------------------------------------------------------------------------------------- */

static gt_ref metric(const char *name, const char *description)
{
	struct gt_metric_info info = {
		.bytes = sizeof(info), .name = name, .unit = "#", .description = description,
		.value = GT_VALUE_UINT, .mode = GT_METRIC_RELATIVE_LAST,
	};

	return gt_def_metric(&info);
}

static void define(void)
{
	static bool defined;

	if (defined)
		return;
	defined = true;
	record_drain = gt_def_record("cuda", "pc_drain");
	record_pc = gt_def_record("cuda", "pc");
	record_reason = gt_def_record("cuda", "pc_reason");
	metric_samples = metric("gpu_pc_samples", "Samples of the program's instructions on a GPU");
	metric_dropped = metric("gpu_pc_samples_dropped", "Samples that the hardware dropped");
}

static void put_pc(const struct sampled *s, const struct cu_pc *pc)
{
	uint64_t data[4 + REASONS];
	unsigned n = 4;

	data[0] = pc->crc;
	data[1] = pc->offset;
	data[2] = (uint64_t)pc->function << 32 | gt_cu_code_name(pc->name);
	data[3] = (uint64_t)pc->correlation << 32 | (s->id & 0xffffff) << 8 | s->period;
	for (size_t i = 0; i < pc->stalls && i < REASONS; i++)
		if (pc->stall[i].samples)
			data[n++] = (uint64_t)pc->stall[i].reason << 32 | pc->stall[i].samples;
	if (n & 1)
		data[n++] = 0;
	if (n > 4)
		gt_cu_code_put(record_pc, data, n);
}

/* False: it was empty. */
static bool put_data(const struct sampled *s, const struct cu_pc_data *d, bool lost)
{
	uint64_t data[6] = { d->total, d->dropped, d->foreign, (uint64_t)s->id << 32 | s->device,
			     s->period | (uint64_t)lost << 8,
			     (uint64_t)metric_samples << 32 | metric_dropped };

	for (size_t i = 0; i < d->count && i < PCS; i++)
		put_pc(s, &d->pcs[i]);
	if (d->total || d->dropped || lost)
		gt_cu_code_put(record_drain, data, 6);
	return d->count || d->total;
}

/* ---- contexts ------------------------------------------------------------------------------------ */

static int call_plain(enum function function, void *context)
{
	struct cu_pc_plain params = { .bytes = sizeof(params), .context = context };

	return functions[function](&params);
}

static struct cu_pc_data *new_data(void)
{
	struct cu_pc_data *d = calloc(1, sizeof(*d) + PCS * (sizeof(struct cu_pc) +
							    REASONS * sizeof(struct cu_pc_stall)));
	struct cu_pc_stall *stalls;

	if (!d)
		return NULL;
	d->bytes = sizeof(*d);
	d->room = PCS;
	d->pcs = (struct cu_pc *)(d + 1);
	stalls = (struct cu_pc_stall *)(d->pcs + PCS);
	for (size_t i = 0; i < PCS; i++) {
		d->pcs[i].bytes = sizeof(d->pcs[i]);
		d->pcs[i].stall = stalls + i * REASONS;
	}
	return d;
}

static void refused(const struct sampled *s, const char *what, int rc)
{
	gt_message(1, "PC sampling on device %u: %s (%s)%s", s->device, what, gt_cu_result(rc),
		   rc == CU_ERROR_INSUFFICIENT_PRIVILEGES ? ": NVreg_RestrictProfilingToAdminUsers" : "");
}

/* Which stall reasons there are; their names are recorded. */
static int get_reasons(const struct sampled *s, uint32_t *index, size_t *count)
{
	static char text[REASONS][CU_PC_REASON_TEXT];
	char *names[REASONS];
	struct cu_pc_count how_many = { .bytes = sizeof(how_many), .context = s->context, .count = count };
	struct cu_pc_names get = { .bytes = sizeof(get), .context = s->context, .index = index,
				   .names = names };
	int rc = functions[COUNT_REASONS](&how_many);

	if (rc || *count > REASONS)
		return rc ? rc : CU_ERROR_NOT_COMPATIBLE;
	for (unsigned i = 0; i < REASONS; i++)
		names[i] = text[i];
	get.count = *count;
	rc = functions[GET_REASONS](&get);
	for (size_t i = 0; !rc && i < *count; i++) {
		text[i][CU_PC_REASON_TEXT - 1] = 0;
		gt_cu_code_put(record_reason, (uint64_t[2]){ index[i], gt_def_string(text[i]) }, 2);
	}
	return rc;
}

static int configure(struct sampled *s)
{
	uint32_t index[REASONS];
	size_t count = 0;
	int rc = get_reasons(s, index, &count);
	struct cu_pc_option options[] = {
		{ .type = CU_PC_MODE,
		  .value.number = gt_cu_options.pc_serialized ? CU_PC_SERIALIZED : CU_PC_CONTINUOUS },
		{ .type = CU_PC_PERIOD, .value.number = s->period },
		{ .type = CU_PC_REASONS, .value.reasons = { count, index } },
		{ .type = CU_PC_HARDWARE_BYTES, .value.size = HARDWARE_BYTES },
		{ .type = CU_PC_SCRATCH_BYTES, .value.size = SCRATCH_BYTES },
		{ .type = CU_PC_BUFFER, .value.buffer = s->rest },
	};
	struct cu_pc_configure params = { .bytes = sizeof(params), .context = s->context,
					  .count = sizeof(options) / sizeof(options[0]), .options = options };

	return rc ? rc : functions[CONFIGURE](&params);
}

/* Under the lock, as what follows. */
static int start(struct sampled *s)
{
	int rc = call_plain(ENABLE, s->context);

	if (rc)
		return rc;
	rc = configure(s);
	if (rc)
		call_plain(DISABLE, s->context);
	return rc;
}

/*
 * Nothing more can be had. CUPTI is not asked to end it: with a full buffer, and kernels being launched, that
 * made the program hang (CUDA 13.0).
 */
static void lose(struct sampled *s)
{
	s->lost = true;
	put_data(s, fetched, true);
}

static void drain(struct sampled *s)
{
	struct cu_pc_get params = { .bytes = sizeof(params), .context = s->context, .data = fetched };
	int rc;

	do {
		fetched->count = fetched->remaining = 0;
		fetched->total = fetched->dropped = fetched->foreign = 0;
		fetched->full = 0;
		rc = functions[GET_DATA](&params);
		if (rc == CU_ERROR_OUT_OF_MEMORY || fetched->full) {
			gt_message(1, "PC sampling on device %u ends: its buffer was full (raise "
				      "VT_CUPTI_PCSAMPLING_PERIOD, which is %u)", s->device, s->period);
			lose(s);
		} else if (rc) {
			refused(s, "another process may have begun to sample it", rc);
			lose(s);
		}
	} while (!s->lost && put_data(s, fetched, false) && fetched->remaining);
}

/* The context ends, or the program does. */
static void finish(struct sampled *s)
{
	int rc = 0;

	if (!s->lost) {
		drain(s);
		s->rest->count = 0;
		s->rest->total = s->rest->dropped = s->rest->foreign = 0;
		rc = call_plain(DISABLE, s->context);
	}
	if (rc)
		refused(s, "the last samples are lost", rc);
	else if (!s->lost)
		put_data(s, s->rest, false);
	s->context = NULL;
}

static bool is_on(void)
{
	return fetched && gt_cu_state_now() == GT_CU_READY;
}

static struct seat {
	bool asked, taken;
	struct gt_cu_seat seat;
} seats[DEVICES];

/* A second process that samples a device would break CUPTI in one of them: no more calls, no more records. */
static bool take_seat(uint32_t device)
{
	struct seat *s = &seats[device % DEVICES];
	char uuid[64], name[80];

	if (s->asked)
		return s->taken;
	s->asked = true;
	snprintf(name, sizeof(name), "pc-%s", gt_cu_device_uuid(device, uuid, sizeof(uuid)));
	s->taken = gt_cu_seat_take(&s->seat, name);
	if (!s->taken)
		gt_message(1, "PC sampling: another process of this run samples device %u, this one does not",
			   device);
	return s->taken;
}

static void forked(void)
{
	for (unsigned i = 0; i < DEVICES; i++)
		if (seats[i].taken)
			gt_cu_seat_forked(&seats[i].seat);
}

static void begin(void *context)
{
	struct sampled *s = NULL;
	int rc;

	define();
	for (unsigned i = 0; !s && i < CONTEXTS; i++)
		if (!contexts[i].context)
			s = &contexts[i];
	if (s && !s->rest)
		s->rest = new_data();
	if (s && s->rest) {
		s->context = context;
		s->period = gt_cu_options.pc_period;
		s->id = s->device = 0;
		s->lost = false;
		if (gt_cu_api.context_id)
			gt_cu_api.context_id(context, &s->id);
		if (gt_cu_api.device_id)
			gt_cu_api.device_id(context, &s->device);
		if (!take_seat(s->device)) {
			s->context = NULL;
			return;
		}
		rc = start(s);
		if (rc) {
			refused(s, "not possible", rc);
			s->context = NULL;
		}
	} else {
		gt_message(1, "PC sampling: there are too many contexts, this one is not sampled");
	}
}

static void end(void *context)
{
	for (unsigned i = 0; i < CONTEXTS; i++) {
		if (contexts[i].context != context)
			continue;
		finish(&contexts[i]);
	}
}

/* ---- when ---------------------------------------------------------------------------------------- */

static void fetch_all(void *last)
{
	for (unsigned i = 0; i < CONTEXTS && is_on(); i++) {
		if (contexts[i].context && last)
			finish(&contexts[i]);
		else if (contexts[i].context && !contexts[i].lost)
			drain(&contexts[i]);
	}
}

static void locked(void (*function)(void *), void *argument)
{
	if (is_on())
		gt_cu_code_locked(function, argument);
}

static void context_made(void *context)
{
	locked(begin, context);
}

static void context_gone(void *context)
{
	locked(end, context);
}

/* A launch whose samples must not be mixed with those of the next has ended. */
static void launch_over(void)
{
	locked(fetch_all, NULL);
}

static uint32_t wake, asked, last_asked, done, answered;

static void *fetch(void *unused)
{
	uint32_t seen;

	(void)unused;
	gt_guard();
	gt_raw(SYS_prctl, PR_SET_NAME, "gputrace-pc");
	while (gt_accel_thread_stays(&wake, &seen)) {
		uint32_t want = __atomic_load_n(&asked, __ATOMIC_SEQ_CST);

		locked(fetch_all, __atomic_load_n(&last_asked, __ATOMIC_SEQ_CST) ? contexts : NULL);
		__atomic_store_n(&done, want, __ATOMIC_SEQ_CST);
		gt_accel_wake(&answered);
		gt_accel_wait(&wake, seen, gt_cu_options.flush_ms);
	}
	gt_accel_thread_ends();
	return NULL;
}

/* Records what there is. False: it took too long (once only). */
static bool fetch_now(bool last, unsigned limit_ms)
{
	static bool reported;
	uint64_t end = gt_monotonic() / 1000000 + limit_ms;
	uint32_t request;

	if (!is_on())
		return true;
	if (gt_cu_code_hangs())
		return __atomic_exchange_n(&reported, true, __ATOMIC_RELAXED);
	if (last)
		__atomic_store_n(&last_asked, 1, __ATOMIC_SEQ_CST);
	request = __atomic_add_fetch(&asked, 1, __ATOMIC_SEQ_CST);
	gt_accel_wake(&wake);
	for (;;) {
		uint32_t seen = __atomic_load_n(&answered, __ATOMIC_SEQ_CST);

		if ((int32_t)(__atomic_load_n(&done, __ATOMIC_SEQ_CST) - request) >= 0)
			return true;
		if (gt_monotonic() / 1000000 >= end)
			break;
		gt_accel_wait(&answered, seen, 100);
	}
	gt_cu_code_give_up();
	return __atomic_exchange_n(&reported, true, __ATOMIC_RELAXED);
}

static void collect(bool last, unsigned limit_ms)
{
	if (!fetch_now(last, limit_ms))
		gt_message(1, "PC sampling: CUPTI does not answer: the last samples are missing");
}

/* What it costs, as measured on an H100 with CUDA 13.0 (doc/cuda.md). */
static void announce(void)
{
	const char *price = gt_cu_options.pc_serialized
		? "kernels run one at a time and up to 10 times as long, and each launch takes 0.4 ms or more"
		: "a launch takes 1 to 9 us longer, and the first of each module some 0.2 s";
	char text[320];

	snprintf(text, sizeof(text), "%s, every 2^%u cycles; price: %s; %u MB of each GPU's memory",
		 gt_cu_options.pc_serialized ? "serialized" : "continuous", gt_cu_options.pc_period, price,
		 HARDWARE_BYTES >> 20);
	gt_message(1, "PC sampling: %s", text);
	gt_def_property("cuda:pc_sampling", text);
}

/* A setting that is not empty. */
static bool is_set(const char *name)
{
	const char *value = gt_setting(name);

	return value && *value;
}

void gt_cu_pc_setup(void)
{
	static struct gt_cu_hooks hooks = { .context = context_made, .context_gone = context_gone,
					    .module = gt_cu_code_module, .collect = collect,
					    .forked = forked };

	if (is_set("VT_CUPTI_METRICS") || is_set("VT_CUPTI_METRICS_SPEC")) {
		gt_message(1, "VT_CUPTI_PCSAMPLING is ignored: CUPTI cannot sample instructions and count "
			      "VT_CUPTI_METRICS in one run");
		return;
	}
	if (gt_cu_profiler_mps()) {
		gt_message(1, "VT_CUPTI_PCSAMPLING is ignored under MPS: the program's kernels may fail "
			      "there");
		return;
	}
	if (!gt_cu_code_setup("CUDA PC sampling")) {
		gt_message(1, "PC sampling: this CUPTI lacks cuptiGetCubinCrc");
		return;
	}
	for (unsigned i = 0; i < FUNCTIONS; i++) {
		void *symbol = gt_cu_api_symbol(function_names[i]);

		if (!symbol) {
			gt_message(1, "PC sampling: this CUPTI lacks %s", function_names[i]);
			return;
		}
		memcpy(&functions[i], &symbol, sizeof(symbol));
	}
	announce();
	fetched = new_data();
	if (!fetched || !gt_accel_thread_start(fetch, &wake)) {
		gt_message(1, "PC sampling: no memory or no thread for it");
		free(fetched);
		fetched = NULL;
		return;
	}
	if (gt_cu_options.pc_serialized)
		hooks.launch_over = launch_over;
	gt_cu_hooks_add(&hooks);
}
