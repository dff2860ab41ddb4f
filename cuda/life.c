/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The adapter's life: the CUDA driver loads this library when a program calls CUDA first
 * (CUDA_INJECTION64_PATH) and calls InitializeInjection(); at the program's end what CUPTI still has is
 * brought in, before the driver goes; a forked child never calls CUPTI again.
 *
 * Limits: whatever fails costs GPU events and one sentence, never the program. A call of CUPTI that
 * hangs holds up the end of the program for WAIT_EXIT_MS at most.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/cuda.h"
#include "cuda/counters/exact.h"
#include "cuda/counters/sampler.h"
#include "cuda/hooks.h"
#include "cuda/samples/samples.h"

#define WAIT_EXIT_MS 10000u
#define WAIT_FAST_MS 2000u  /* _exit and exec: somebody may wait for them */

static void *subscriber;

GT_API int InitializeInjection(void);

/* ---- the end --------------------------------------------------------------------------------------- */

static bool in_use(void)
{
	return !gt_is_confined() && (gt_cu_state_now() == GT_CU_READY || gt_cu_state_now() == GT_CU_FATAL);
}

/* PC samples first: they are records, too. At an exec, which may fail, sampling goes on. */
static void collect(unsigned what, unsigned limit)
{
	static bool reported;

	if (!in_use())
		return;
	gt_guard();
	GT_CU_HOOK(collect, what & GT_CU_FORCED, limit);
	if (!gt_cu_workers_collect(what, limit) && !__atomic_exchange_n(&reported, true, __ATOMIC_RELAXED))
		gt_message(1, "CUPTI did not deliver its records within %u seconds: the last ones are "
			"missing",
			   limit / 1000);
	gt_unguard();
}

/* Brings in the samples of metrics. */
static void sample(bool last, unsigned limit)
{
	if (!in_use())
		return;
	gt_guard();
	GT_CU_HOOK(sample, last, limit);
	gt_unguard();
}

/* The GPU has done its work, and samples of it are brought in. */
static void finish(void)
{
	gt_cu_options.error = false; /* the program is ending already */
	if (gt_cu_state_now() == GT_CU_READY && gt_cu_options.finish_ms &&
	    !gt_cu_workers_finish(gt_cu_options.finish_ms))
		gt_message(1, "the GPU is still busy %u ms after the program's end: its remaining work "
			"is not in the trace", gt_cu_options.finish_ms);
	sample(true, WAIT_FAST_MS);
}

/* Registered when CUDA starts, so it runs before the driver's own handlers. */
static void at_exit(void)
{
	finish();
	collect(GT_CU_FORCED, WAIT_EXIT_MS);
	if (in_use() && !gt_cu_workers_hung()) {
		gt_guard();
		gt_cu_account_ask();
		gt_unguard();
	}
}

/* Once more, for threads that were still launching. CUPTI is loaded later than we are and goes later. */
__attribute__((destructor)) static void destruct(void)
{
	if (!in_use())
		return;
	collect(GT_CU_FORCED | GT_CU_LAST, WAIT_EXIT_MS);
	gt_cu_state_set(GT_CU_ENDED);
}

/* Not in a forked child: what is still to be reported there is its parent's. */
static void end(int how)
{
	if (!in_use())
		return;
	switch (how) {
	case GT_END_NONE:
		gt_cu_account_again();
		GT_CU_HOOK(goes_on);
		return;
	case GT_END_EXEC: /* it may fail: what the device is still at is not forced out, for it comes later */
		sample(false, WAIT_FAST_MS);
		collect(GT_CU_ACCOUNT, WAIT_FAST_MS);
		return;
	default:
		sample(true, WAIT_FAST_MS);
		collect(GT_CU_FORCED | GT_CU_LAST, how == GT_END_EXIT ? WAIT_EXIT_MS : WAIT_FAST_MS);
		gt_cu_state_set(GT_CU_ENDED);
	}
}

/* ---- without our threads ----------------------------------------------------------------------------- */

static bool ended; /* they have ended, and can begin again */

static void stand_still(void)
{
	if (!in_use())
		return;
	collect(GT_CU_ACCOUNT, WAIT_FAST_MS);
	GT_CU_HOOK(goes_on); /* as the program does: nobody may come to fetch the rest */
	gt_cu_buffers_still();
	gt_cu_state_set(gt_cu_state_now() == GT_CU_READY ? GT_CU_STILL : GT_CU_ENDED);
	ended = gt_accel_threads_end();
	if (ended) /* what has been launched and has no record by now counts as lost */
		gt_cu_account(false, false);
}

static void go_on(void)
{
	if (gt_cu_state_now() != GT_CU_STILL || !ended || !gt_accel_threads_again())
		return;
	gt_cu_calls_restart();
	gt_cu_account_again();
	gt_cu_state_set(GT_CU_READY);
}

/* Before the process confines itself, as the filter may be for all threads; or makes a user namespace. */
static void threads(bool on)
{
	gt_guard();
	if (on)
		go_on();
	else
		stand_still();
	gt_unguard();
}

static void forked(void)
{
	gt_cu_state_set(GT_CU_CHILD);
	gt_cu_calls_forked();
	GT_CU_HOOK(forked);
}

/* ---- the beginning ---------------------------------------------------------------------------------- */

static int (*pointer_attribute)(void *, int, uint64_t);

/* The driver is asked, by CU_POINTER_ATTRIBUTE_MEMORY_TYPE: CU_MEMORYTYPE_DEVICE is 2. */
static bool holds(const void *address)
{
	unsigned type = 0;

	return pointer_attribute && gt_cu_state_now() == GT_CU_READY &&
	       !pointer_attribute(&type, 2, (uint64_t)(uintptr_t)address) && type == 2;
}

static void find_pointer_attribute(void)
{
	void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
	void *symbol = driver ? dlsym(driver, "cuPointerGetAttribute") : NULL;

	memcpy(&pointer_attribute, &symbol, sizeof(symbol));
	if (driver)
		dlclose(driver);
}

static const struct gt_adapter adapter = {
	.bytes = sizeof(adapter),
	.abi = GT_ADAPTER_ABI,
	.name = "cuda",
	.fork_child = forked,
	.end = end,
	.jumps = gt_cu_calls_jump,
	.threads = threads,
	.holds = holds,
};

/* Returns a sentence if it fails. */
static const char *subscribe(char *why, size_t size)
{
	char holder[64] = "";
	struct cu_subscriber_params params = {
		.bytes = sizeof(params),
		.name = "gputrace",
		.old_name = holder,
		.old_size = sizeof(holder),
	};
	int rc;

	if (gt_cu_api.subscribe_v2)
		rc = gt_cu_api.subscribe_v2(&subscriber, gt_cu_callback, NULL, &params);
	else
		rc = gt_cu_api.subscribe(&subscriber, gt_cu_callback, NULL);
	holder[sizeof(holder) - 1] = 0;
	if (rc == CU_ERROR_SUBSCRIBER)
		snprintf(why, size, "another tool already uses CUPTI (%s)",
			 holder[0] ? holder : "name unknown");
	else if (rc)
		snprintf(why, size, "CUPTI cannot be used (%s)", gt_cu_result(rc));
	return rc ? why : NULL;
}

static bool enable(uint32_t kind, const char *name)
{
	int rc = gt_cu_api.enable(kind);

	if (rc)
		gt_message(1, "CUPTI does not record %s (%s)", name, gt_cu_result(rc));
	return !rc;
}

static void enable_kinds(void)
{
	if (gt_cu_options.graph_level)
		gt_cu_options.graph_level = enable(CU_KIND_GRAPH_TRACE, "graphs");
	/* Copies and sets also when only kernels are wanted: nodes of graphs leak otherwise. */
	if (gt_cu_options.kernel)
		enable(gt_cu_options.sass ? CU_KIND_KERNEL : CU_KIND_CONCURRENT_KERNEL, "kernels");
	if (gt_cu_options.kernel || gt_cu_options.memcpy) {
		enable(CU_KIND_MEMCPY, "copies");
		enable(CU_KIND_MEMCPY2, "copies between contexts");
		enable(CU_KIND_MEMSET, "memory sets");
	}
	gt_cu_extras_enable(enable);
}

static void enable_event(uint32_t domain, uint32_t id, const char *what)
{
	int rc = gt_cu_api.enable_callback(1, subscriber, domain, id);

	if (rc)
		gt_message(1, "CUPTI does not report %s (%s)", what, gt_cu_result(rc));
}

static bool modules_are_watched(void)
{
	GT_CU_EACH_HOOK(h)
		if (h->module)
			return true;
	return false;
}

static void enable_events(void)
{
	enable_event(CU_DOMAIN_RESOURCE, CU_RESOURCE_CONTEXT_CREATED, "new contexts");
	enable_event(CU_DOMAIN_RESOURCE, CU_RESOURCE_CONTEXT_DESTROY, "the end of contexts");
	enable_event(CU_DOMAIN_RESOURCE, CU_RESOURCE_INIT_FINISHED, "the start of CUDA");
	if (gt_cu_options.stream_reuse) {
		enable_event(CU_DOMAIN_RESOURCE, CU_RESOURCE_STREAM_CREATED, "new streams");
		enable_event(CU_DOMAIN_RESOURCE, CU_RESOURCE_STREAM_DESTROY, "the end of streams");
	}
	if (modules_are_watched())
		enable_event(CU_DOMAIN_RESOURCE, CU_RESOURCE_MODULE_LOADED, "modules");
	enable_event(CU_DOMAIN_STATE, CU_STATE_FATAL_ERROR, "fatal errors");
}

/* All set-up. Returns an error message if it fails. */
static const char *set_up(void)
{
	static char why[256];
	size_t one = 1;
	uint8_t on = 1;
	const char *failed;
	char number[32];
	int rc;

	if (!gt_cu_api.version && !gt_cu_api_load(why, sizeof(why)))
		return why;
	gt_cu_api.version(&gt_cu_version);
	snprintf(number, sizeof(number), "%u", gt_cu_version);
	gt_def_property("cuda:cupti", number);
	if (gt_cu_options.idle || gt_cu_options.pure_idle) /* the assembly computes them */
		gt_def_property("cuda:idle", !gt_cu_options.idle	? "all"
					     : !gt_cu_options.pure_idle ? "compute"
									: "compute, all");
	gt_def_property("cuda:cupti_path", gt_cu_api.path);
	failed = subscribe(why, sizeof(why));
	if (failed)
		return failed;
	gt_cu_capture_open();
	gt_cu_records_setup();
	failed = gt_cu_calls_setup();
	if (failed)
		return failed;
	if (gt_cu_api.set_attribute)
		gt_cu_api.set_attribute(CU_ATTR_ZEROED_BUFFERS, &one, &on);
	gt_cu_clock_setup();
	rc = gt_cu_api.register_buffers(gt_cu_buffer_request, gt_cu_buffer_complete);
	if (rc) {
		snprintf(why, sizeof(why), "CUPTI accepts no buffers (%s)", gt_cu_result(rc));
		return why;
	}
	if (!gt_cu_workers_start())
		return "no thread can be created";
	if (gt_cu_options.sass)
		gt_cu_options.sass = gt_cu_sass_setup();
	enable_kinds();
	gt_cu_exact_setup();
	gt_cu_sampler_start(finish);
	find_pointer_attribute();
	gt_cu_state_set(GT_CU_READY);
	if (gt_cu_options.pc)
		gt_cu_pc_setup();
	if (gt_cu_calls_enable(subscriber))
		enable_events();
	else
		gt_message(1, "CUPTI offers no callbacks: the trace has no CUDA calls");
	return NULL;
}

int InitializeInjection(void)
{
	const char *failed;

	if (gt_cu_state_now() != GT_CU_COLD || gt_is_confined())
		return 1;
	gt_cu_options_read();
	gt_cu_state_set(GT_CU_OFF);
	gt_cu_options_say_ignored();
	if (!gt_cu_options.on || !gt_def_string("CUDA") || gt_adapter_register(&adapter))
		return 1;
	gt_guard();
	failed = set_up();
	gt_unguard();
	if (!failed) {
		atexit(at_exit);
		return 1;
	}
	gt_message(1, "%s: the trace has no GPU events and no CUDA calls", failed);
	gt_def_property("cuda:not_recorded", "1"); /* for the summary, and whoever reads the archive later */
	gt_def_property("cuda:first_not_recorded", failed);
	return 1;
}
