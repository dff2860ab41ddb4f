/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The recording half of an adapter for the library parcel: its functions become regions, parcels become
 * messages, how many are waiting becomes a metric on a location of its own, and an urgent parcel is a record
 * of a kind that only this adapter has; assembling.c makes events of it.
 *
 * It is a shared library in front of the real one (LD_PRELOAD, or linked before it). What it needs of
 * gputrace is installed: <gputrace/adapter.h> and libgputrace.
 *
 * Limits: a parcel that was sent before the adapter was there has no sender in the trace.
 */
#include "parcel.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

#include <gputrace/adapter.h>

static unsigned long (*real_send)(int to, size_t bytes, int urgent);
static struct parcel (*real_receive)(int at);

static gt_ref send_region, receive_region, comm, waiting, urgent_record;
static struct gt_location *office; /* NULL: nothing is recorded there */
static pthread_mutex_t office_lock = PTHREAD_MUTEX_INITIALIZER;
static long count;                 /* of parcels that wait */

static gt_ref region(const char *name)
{
	const struct gt_region_info info = { .bytes = sizeof(info), .name = name, .group = "PARCEL" };

	return gt_def_region(&info);
}

/* Definitions are made once. They work in a constructor, and where they do not they give GT_NONE, which all
 * functions take. */
static void define(void)
{
	const struct gt_metric_info metric = { .bytes = sizeof(metric),
					       .name = "parcels waiting",
					       .unit = "1",
					       .value = GT_VALUE_INT,
					       .mode = GT_METRIC_ABSOLUTE_NEXT };
	const struct gt_location_info location = { .bytes = sizeof(location), .name = "post office",
						   .kind = GT_LOC_METRIC };

	send_region = region("parcel_send");
	receive_region = region("parcel_receive");
	comm = gt_def_comm("parcels", GT_NONE, GT_PARADIGM_USER, 0);
	waiting = gt_def_metric(&metric);
	urgent_record = gt_def_record("parcel", "urgent");
	office = gt_location_create(&location);
}

__attribute__((constructor)) static void begin(void)
{
	static const struct gt_adapter adapter = { .bytes = sizeof(adapter),
						   .abi = GT_ADAPTER_ABI,
						   .name = "parcel" };
	void *symbols[2] = { dlsym(RTLD_NEXT, "parcel_send"), dlsym(RTLD_NEXT, "parcel_receive") };

	memcpy(&real_send, &symbols[0], sizeof(real_send));
	memcpy(&real_receive, &symbols[1], sizeof(real_receive));
	if (!gt_adapter_register(&adapter))
		define();
}

/* One more, or one less, is waiting. A location has one writer at a time. */
static void note(long change)
{
	gt_guard(); /* the lock is none of the program's */
	pthread_mutex_lock(&office_lock);
	count += change;
	gt_location_record(office, GT_T_METRIC, waiting, (uint64_t[2]){ (uint64_t)count, 0 }, 1, gt_now());
	pthread_mutex_unlock(&office_lock);
	gt_unguard();
}

/* Calls that are not recorded are passed on untouched. */
unsigned long parcel_send(int to, size_t bytes, int urgent)
{
	unsigned long number;
	uint64_t before;

	if (!gt_enter_if_active(send_region))
		return real_send(to, bytes, urgent);
	note(1);
	before = gt_now();
	number = real_send(to, bytes, urgent);
	/* The two ends of a message have the same tag. It is sent before anybody can have received it. */
	gt_record_at(GT_T_USER_SEND, comm, (uint64_t[2]){ number, bytes }, 1, before);
	if (urgent)
		gt_record(GT_T_OWN, urgent_record, (uint64_t[2]){ number, (uint64_t)urgent }, 1);
	gt_leave(send_region);
	return number;
}

struct parcel parcel_receive(int at)
{
	struct parcel parcel;

	if (!gt_enter_if_active(receive_region))
		return real_receive(at);
	parcel = real_receive(at);
	gt_record(GT_T_USER_RECV, comm, (uint64_t[2]){ parcel.number, parcel.bytes }, 1);
	note(-1);
	gt_leave(receive_region);
	return parcel;
}
