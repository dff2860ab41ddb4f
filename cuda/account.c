/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The account: what happened to every call and record, as properties of the archive.
 * Limits: from the reading thread, or when that has ended, but for gt_cu_account_again().
 */
#include <stdio.h>

#include "cuda/cuda.h"
#include "cuda/hooks.h"

static void property(const char *name, uint64_t value)
{
	char key[64], text[32];

	snprintf(key, sizeof(key), "cuda:%s", name);
	snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
	gt_def_property(key, text);
}

/* Losses counted so far: an exec that fails takes them back, and a later account has the rest. */
static uint64_t reported_late, reported_no_location;

static void report_lost(unsigned cause, uint64_t *reported, uint64_t events)
{
	uint64_t before = __atomic_exchange_n(reported, events, __ATOMIC_RELAXED);

	if (events != before)
		gt_lost(cause, events - before);
}

static void count_dropped(void)
{
	size_t dropped = 0;

	if (gt_cu_state_now() == GT_CU_READY && gt_cu_api.dropped &&
	    !gt_cu_api.dropped(NULL, 0, &dropped))
		gt_cu_count(&gt_cu_counts.dropped, dropped);
}

static const char *failed_text;

/* The driver has a text for each error, without calling the device, but none any more when it has ended. */
void gt_cu_account_ask(void)
{
	uint32_t error;

	if (gt_accel_first_failed(&error) && !__atomic_load_n(&failed_text, __ATOMIC_ACQUIRE))
		/* Pairs with gt_cu_account(). */
		__atomic_store_n(&failed_text, gt_cu_error(error), __ATOMIC_RELEASE);
}

void gt_cu_account(bool last, bool ask)
{
	struct gt_cu_counts *c = &gt_cu_counts;
	uint64_t kernels, missing;

	if (!(gt_cu_calls_seen() + c->records))
		return;
	if (ask)
		count_dropped();
	kernels = c->kernels - c->capture_kernels;
	missing = c->launches > kernels ? c->launches - kernels : 0;
	property("launches", c->launches + c->captured);
	property("launches_while_capturing", c->captured);
	property("graph_launches", c->graph_launches);
	property("failed_calls", c->errors);
	property("records", c->records);
	property("kernels", c->kernels);
	property("graph_kernels", c->graph_kernels);
	property("copies", c->copies);
	property("sets", c->sets);
	property("graphs", c->graphs);
	property("others", c->others);
	property("unknown_kinds", c->unknown);
	property("zero_time", c->zero_time);
	property("early", c->early);
	property("late", c->late);
	property("no_parent", c->no_parent);
	property("switched_off", c->off);
	property("dropped", c->dropped);
	property("refused_buffers", c->refused);
	property("thrown_away_buffers", c->scratch);
	property("no_location", c->no_location);
	property("clamped_waits", c->clamped);
	property("unfinished_calls", c->unfinished);
	if (gt_cu_options.kernel)
		property("launches_without_record", missing);
	if (ask)
		gt_cu_account_ask();
	gt_accel_failed_account(__atomic_load_n(&failed_text, __ATOMIC_ACQUIRE));
	gt_cu_align_report();
	GT_CU_HOOK(account, last);
	report_lost(GT_LOSS_LATE, &reported_late,
		    gt_cu_options.kernel && missing > c->dropped ? missing : c->dropped);
	report_lost(GT_LOSS_NO_LOCATION, &reported_no_location, c->no_location);
	if (!last)
		return;
	gt_cu_extras_end();
	if (gt_cu_options.kernel && missing + c->dropped)
		gt_message(1, "CUDA: %lu kernel launches have no record, %lu records were dropped by CUPTI",
			   (unsigned long)missing, (unsigned long)c->dropped);
}

void gt_cu_account_again(void)
{
	report_lost(GT_LOSS_LATE, &reported_late, 0);
	report_lost(GT_LOSS_NO_LOCATION, &reported_no_location, 0);
}
