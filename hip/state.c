/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Data shared by all parts, and the account of every call and record, as properties of the archive.
 *
 * Limits: an account that is not the last may miss what is just being counted.
 */
#include <stdio.h>

#include "hip/hip.h"

uint32_t gt_hip_state;
struct gt_hip_counts gt_hip_counts;
struct gt_lock gt_hip_lock;

const struct gt_accel_info gt_accel_runtime = {
	.name = "HIP", .adapter = "hip", .comm = "HIP_COMM", .window = "HIP_WINDOW",
	.ranges = "ROCTX ranges",
	.paradigm = GT_PARADIGM_HIP,
};

uint64_t gt_hip_pending(void)
{
	const struct gt_hip_counts *c = &gt_hip_counts;
	uint64_t requested = __atomic_load_n(&c->requested, __ATOMIC_RELAXED);
	uint64_t got = __atomic_load_n(&c->kernels, __ATOMIC_RELAXED) +
		       __atomic_load_n(&c->copies, __ATOMIC_RELAXED) +
		       __atomic_load_n(&c->wrong_size, __ATOMIC_RELAXED);

	return requested > got ? requested - got : 0;
}

static void property(const char *name, uint64_t value)
{
	char key[64], text[32];

	snprintf(key, sizeof(key), "hip:%s", name);
	snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
	gt_def_property(key, text);
}

/* Counts losses beyond those counted so far: after an exec that fails the next account takes them back. */
static void lose(unsigned cause, uint64_t *so_far, uint64_t events)
{
	uint64_t before = __atomic_exchange_n(so_far, events, __ATOMIC_RELAXED);

	if (events != before)
		gt_lost(cause, events - before);
}

void gt_hip_account(bool last)
{
	static uint64_t late, without_location;
	const struct gt_hip_counts *c = &gt_hip_counts;
	uint64_t missing = gt_hip_pending();

	if (!c->calls && !c->records)
		return;
	if (missing < c->dropped)
		missing = c->dropped;
	property("calls", c->calls);
	property("failed_calls", c->failed);
	gt_accel_failed_account(NULL);
	property("unmatched_ends", c->unmatched);
	property("records", c->records);
	property("kernels", c->kernels);
	property("copies", c->copies);
	property("allocations", c->allocations);
	property("unknown_kinds", c->unknown);
	property("wrong_sizes", c->wrong_size);
	property("zero_time", c->zero_time);
	property("early", c->early);
	property("no_parent", c->no_parent);
	property("switched_off", c->off);
	property("no_location", c->no_location);
	property("dropped", c->dropped);
	property("without_record", missing);
	lose(GT_LOSS_LATE, &late, 2 * (missing + c->wrong_size));
	lose(GT_LOSS_NO_LOCATION, &without_location, 2 * c->no_location);
	if (last && missing + c->wrong_size)
		gt_message(1, "HIP: %lu kernels and copies have no record (%lu were dropped), %lu records "
			   "have an unknown size", (unsigned long)missing, (unsigned long)c->dropped,
			   (unsigned long)c->wrong_size);
}
