/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Start and end. A program that uses HIP has its runtime load rocprofiler-sdk, which loads this library
 * (ROCP_TOOL_LIBRARIES) and asks rocprofiler_configure() what is wanted. Without HIP nothing of this is
 * loaded.
 *
 * A thread of ours has rocprofiler-sdk flush its buffer from time to time, so that a kill loses little, and
 * when the process ends: a flush that hangs holds up the end for EXIT_MS at most.
 *
 * Limits: not in forked children. Major version 1 of rocprofiler-sdk.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "accel/wait.h"
#include "gputrace/syscall.h"
#include "hip/hip.h"

#define BUFFER_BYTES (4u << 20)
#define EXIT_MS      10000u
#define FAST_MS      2000u /* _exit and exec: somebody may wait for them */
#define FORK_MS      200u

GT_API struct rocp_tool *rocprofiler_configure(uint32_t version, const char *text, uint32_t priority,
					       struct rocp_client *client);

static struct rocp_id context, buffer;
static unsigned flush_ms, finish_ms;
static bool have_thread;

/* ---- flushing ----------------------------------------------------------------------------------- */

static uint32_t wake, answered;   /* words to wait for */
static uint32_t asked, done;      /* flushes; atomic */

static uint64_t now_ms(void)
{
	return gt_monotonic() / 1000000;
}

/*
 * No fork while it is flushed: a child that goes on with HIP would find locks of rocprofiler-sdk's taken. A
 * flush that hangs holds up nobody for longer than FORK_MS.
 */
static bool flushing; /* or not to be; a lock */
static GT_TLS bool forking;

static bool lock_flush(unsigned limit)
{
	uint64_t end = now_ms() + limit;
	uint32_t never = 0;

	while (__atomic_exchange_n(&flushing, true, __ATOMIC_ACQUIRE)) {
		if (now_ms() >= end || gt_is_confined())
			return false;
		gt_accel_wait(&never, 0, 1);
	}
	return true;
}

static void unlock_flush(void)
{
	__atomic_store_n(&flushing, false, __ATOMIC_RELEASE); /* pairs with lock_flush() */
}

static void before_fork(void)
{
	forking = gt_hip_ready() && lock_flush(FORK_MS);
}

static void after_fork(void)
{
	if (forking)
		unlock_flush();
	forking = false;
}

static void *flush(void *unused)
{
	uint64_t flushed_at = 0;
	uint32_t seen;
	bool held;

	(void)unused;
	gt_guard(); /* for good: nothing of this thread is recorded */
	gt_raw(SYS_prctl, PR_SET_NAME, "gputrace-hip");
	gt_accel_calls_touch(gt_hip_calls);
	while (gt_accel_thread_stays(&wake, &seen)) {
		uint32_t want = __atomic_load_n(&asked, __ATOMIC_SEQ_CST);
		uint64_t requested = __atomic_load_n(&gt_hip_counts.calls, __ATOMIC_RELAXED);

		if (gt_hip_ready() && (want != done || requested != flushed_at)) {
			gt_accel_clock_note();
			held = lock_flush(FAST_MS);
			gt_hip_api.flush(buffer);
			if (held)
				unlock_flush();
			flushed_at = requested;
		}
		if (want != done) {
			__atomic_store_n(&done, want, __ATOMIC_SEQ_CST);
			gt_accel_wake(&answered);
		}
		gt_accel_wait(&wake, seen, flush_ms);
	}
	gt_accel_thread_ends();
	return NULL;
}

/* False: it is not done in time. */
static bool flush_until(uint64_t end)
{
	uint32_t request = __atomic_add_fetch(&asked, 1, __ATOMIC_SEQ_CST);

	gt_accel_wake(&wake);
	for (;;) {
		uint32_t seen = __atomic_load_n(&answered, __ATOMIC_SEQ_CST);
		uint64_t now = now_ms();

		if ((int32_t)(__atomic_load_n(&done, __ATOMIC_SEQ_CST) - request) >= 0)
			return true;
		if (now >= end)
			return false;
		gt_accel_wait(&answered, seen, end - now < 100 ? (unsigned)(end - now) : 100);
	}
}

/* Brings in the records there are, and those of work that the device ends within `finish` milliseconds. */
static void collect(unsigned limit, unsigned finish)
{
	uint64_t begin = now_ms();
	uint32_t never = 0;

	if (!have_thread || gt_is_confined())
		return;
	while (flush_until(begin + limit) && gt_hip_pending() > gt_hip_counts.dropped &&
	       now_ms() < begin + finish)
		gt_accel_wait(&never, 0, 2);
}

/* ---- the end ------------------------------------------------------------------------------------ */

static void finish(unsigned limit, unsigned finish_limit)
{
	if (!gt_hip_ready())
		return;
	collect(limit, finish_limit);
	gt_hip_account(false);
}

/* Registered when HIP starts, so it runs before its own handlers. */
static void at_exit(void)
{
	finish(EXIT_MS, finish_ms);
}

static void stop(unsigned limit)
{
	if (!gt_hip_ready())
		return;
	collect(limit, 0);
	gt_hip_account(true);
	__atomic_store_n(&gt_hip_state, GT_HIP_OFF, __ATOMIC_RELEASE);
}

/* rocprofiler-sdk ends, which it does at exit; or it was told to. */
static void finalize(void *unused)
{
	(void)unused;
	if (!gt_hip_ready())
		return;
	gt_guard();
	if (__atomic_load_n(&done, __ATOMIC_SEQ_CST) == __atomic_load_n(&asked, __ATOMIC_SEQ_CST))
		gt_hip_api.flush(buffer); /* else one hangs */
	gt_hip_account(true);
	__atomic_store_n(&gt_hip_state, GT_HIP_OFF, __ATOMIC_RELEASE);
	gt_unguard();
}

static void end(int how)
{
	gt_accel_ranges_finish(how != GT_END_NONE);
	if (!gt_hip_ready())
		return;
	if (how == GT_END_NONE)
		gt_hip_account(false);
	else if (how == GT_END_EXEC) /* it may fail */
		finish(FAST_MS, 0);
	else
		stop(how == GT_END_EXIT ? EXIT_MS : FAST_MS);
}

static void threads(bool on)
{
	if (!gt_hip_ready())
		return;
	gt_guard();
	if (on) {
		have_thread = gt_accel_threads_again();
	} else {
		finish(FAST_MS, 0);
		gt_accel_threads_end();
		have_thread = false;
	}
	gt_unguard();
}

static void forked(void)
{
	__atomic_store_n(&gt_hip_state, GT_HIP_OFF, __ATOMIC_RELEASE);
	gt_hip_lock = (struct gt_lock){ 0, 0 };
	gt_accel_ranges_forked();
	gt_hip_calls_forked();
}

/* ---- the beginning ------------------------------------------------------------------------------ */

static const struct gt_adapter adapter = {
	.bytes = sizeof(adapter),
	.abi = GT_ADAPTER_ABI,
	.name = "hip",
	.fork_child = forked,
	.end = end,
	.inside = gt_hip_inside,
	.threads = threads,
	.holds = gt_hip_holds,
};

static uint64_t clock_of_rocprofiler(void)
{
	uint64_t ns = 0;

	gt_hip_api.timestamp(&ns);
	return ns;
}

static unsigned number(const char *setting, unsigned otherwise)
{
	const char *value = gt_setting(setting);

	return value ? (unsigned)strtoul(value, NULL, 10) : otherwise;
}

/* What is missing then is said once. */
static bool refused(int status, const char *what)
{
	if (status)
		gt_message(1, "HIP: rocprofiler-sdk does not report %s (%s)", what, gt_hip_status(status));
	return status;
}

static void trace_calls(const char *kind, rocp_callback callback, const char *what)
{
	uint32_t number = gt_hip_callback_kind(kind);

	if (number)
		refused(gt_hip_api.trace_calls(context, number, NULL, 0, callback, NULL), what);
	else
		gt_message(2, "HIP: this rocprofiler-sdk does not support %s", what);
}

static uint32_t trace_records(const char *kind, const char *what)
{
	uint32_t number = gt_hip_buffer_kind(kind);

	if (!number)
		gt_message(2, "HIP: this rocprofiler-sdk does not support %s", what);
	if (number && refused(gt_hip_api.trace_records(context, number, NULL, 0, buffer), what))
		return 0;
	return number;
}

static void trace_markers(void)
{
	uint32_t kind = gt_hip_callback_kind("MARKER_CORE_API");

	if (!kind)
		return;
	gt_hip_markers_setup(kind);
	trace_calls("MARKER_CORE_API", gt_hip_marker, "ranges of roctx");
	trace_calls("MARKER_NAME_API", gt_hip_name, "names by roctx");
}

/* All set-up. Returns what failed, or NULL. */
static const char *set_up(int *status)
{
	const char *transfers = gt_setting("VT_GPU_TRANSFERS");
	const char *memory = gt_setting("VT_GPUTRACE_MEMUSAGE");
	uint32_t kernels, copies, allocations = 0, requests[2], count = 0;

	*status = gt_hip_api.create_context(&context);
	if (*status)
		return "there is no context";
	*status = gt_hip_api.create_buffer(context, BUFFER_BYTES, BUFFER_BYTES / 2, ROCP_POLICY_LOSSLESS,
					   gt_hip_buffer, NULL, &buffer);
	if (*status)
		return "there is no buffer";
	gt_accel_setup(transfers && !strcmp(transfers, "rma"));
	gt_accel_clock_setup(clock_of_rocprofiler);
	if (!gt_hip_calls_setup(gt_hip_callback_kind("HIP_RUNTIME_API")))
		return "there is no memory";
	if (gt_hip_api.agents)
		refused(gt_hip_agents_find(), "agents");
	kernels = trace_records("KERNEL_DISPATCH", "kernels");
	copies = trace_records("MEMORY_COPY", "copies");
	if (memory && strcmp(memory, "no") != 0)
		allocations = trace_records("MEMORY_ALLOCATION", "allocations");
	gt_hip_records_setup(kernels, copies, allocations);
	trace_calls("HIP_RUNTIME_API", gt_hip_call, "calls");
	trace_calls("CODE_OBJECT", gt_hip_code_object, "names of kernels");
	trace_calls("HIP_STREAM", gt_hip_stream, "streams");
	trace_markers();
	if (kernels)
		requests[count++] = ROCP_REQUEST_KERNEL;
	if (copies)
		requests[count++] = ROCP_REQUEST_COPY;
	if (gt_hip_api.request_ids && count)
		refused(gt_hip_api.request_ids(context, requests, count, gt_hip_request, NULL),
			"which stream a kernel is on");
	*status = gt_hip_api.start_context(context);
	return *status ? "it does not start" : NULL;
}

static int initialize(void *unused, void *data)
{
	const char *failed;
	int status = 0;

	(void)unused;
	(void)data;
	gt_guard();
	/* Callbacks may come before it has started wholly: they find it ready, with all that they need. */
	/* Pairs with gt_hip_ready() in hip/hip.h. */
	__atomic_store_n(&gt_hip_state, GT_HIP_READY, __ATOMIC_RELEASE);
	failed = set_up(&status);
	if (!failed)
		have_thread = gt_accel_thread_start(flush, &wake);
	gt_unguard();
	if (!failed) {
		atexit(at_exit);
		pthread_atfork(before_fork, after_fork, after_fork);
		return 0;
	}
	/* Pairs with gt_hip_ready() in hip/hip.h. */
	__atomic_store_n(&gt_hip_state, GT_HIP_OFF, __ATOMIC_RELEASE);
	gt_message(1, "HIP: rocprofiler-sdk cannot be used (%s: %s): HIP is not in the trace", failed,
		   gt_hip_status(status));
	return -1;
}

static struct rocp_tool tool = { sizeof(tool), initialize, finalize, NULL };

struct rocp_tool *rocprofiler_configure(uint32_t version, const char *text, uint32_t priority,
					struct rocp_client *client)
{
	const char *wanted = gt_setting("VT_HIP"), *missing;

	(void)text;
	(void)priority;
	(void)client;
	if (gt_hip_state != GT_HIP_COLD || gt_is_confined() || !wanted || strcmp(wanted, "yes") != 0)
		return NULL;
	gt_hip_state = GT_HIP_OFF;
	if (!gt_def_string("HIP") || gt_adapter_register(&adapter))
		return NULL;
	if (version / ROCP_VERSION_UNIT != 1) {
		gt_message(1, "HIP: rocprofiler-sdk %u.%u is not supported, only version 1: HIP is not in "
			      "the trace",
			   version / ROCP_VERSION_UNIT, version % ROCP_VERSION_UNIT / 100);
		return NULL;
	}
	if (!gt_hip_api_load(__builtin_return_address(0), &missing)) {
		gt_message(1, "HIP: rocprofiler-sdk lacks %s: HIP is not in the trace", missing);
		return NULL;
	}
	flush_ms = number("VT_CUDATRACE_FLUSH", 500);
	finish_ms = number("VT_CUDATRACE_FINISH", 2000);
	return &tool;
}
