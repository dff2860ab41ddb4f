/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads structs of the public interface that begin with their size (`bytes`), as adapters and plug-ins pass
 * them that were compiled against an earlier or a later gputrace. Missing members are zero, unknown ones
 * behind the end are ignored; a struct that is smaller than in the first release is refused.
 *
 * Limits: structs may only have grown at the end. Elements of an array are as far apart as `bytes` of the
 * first one says.
 */
#ifndef GT_COMMON_SIZED_H
#define GT_COMMON_SIZED_H

#include "gputrace/adapter.h"
#include "gputrace/ranks.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* No struct comes near it: a larger size is one that was never set. */
#define GT_SIZED_MOST 4096u
/* By how much a struct that is filled in may have grown: a size that was never set must not be written to. */
#define GT_SIZED_BEYOND 256u

/* Bytes of a struct up to `last`, its last member in release 0.1. These never change. Those of <assemble.h>
 * are in lib/assemble/adapters/assemblers.h. */
#define GT_SIZED_UP_TO(type, last) (offsetof(type, last) + sizeof(((type *)NULL)->last))
#define GT_FIRST_ADAPTER	   GT_SIZED_UP_TO(struct gt_adapter, holds)
#define GT_FIRST_REGION		   GT_SIZED_UP_TO(struct gt_region_info, variable)
#define GT_FIRST_METRIC		   GT_SIZED_UP_TO(struct gt_metric_info, binary)
#define GT_FIRST_SOURCE		   GT_SIZED_UP_TO(struct gt_metric_source, close)
#define GT_FIRST_WATCH		   GT_SIZED_UP_TO(struct gt_user_watch, leave)
#define GT_FIRST_LOCATION	   GT_SIZED_UP_TO(struct gt_location_info, key)
#define GT_FIRST_SHARED		   GT_SIZED_UP_TO(struct gt_shared_info, flags)

/* The size that a caller's struct gives for itself. */
static inline size_t gt_sized(const void *given)
{
	size_t bytes;

	memcpy(&bytes, given, sizeof(bytes));
	return bytes;
}

/* Copies a caller's struct to our own one of `bytes`. False: it is smaller than `first`, or has no size. */
static inline bool gt_sized_in(void *copy, size_t bytes, size_t first, const void *given)
{
	size_t its = given ? gt_sized(given) : 0;

	if (its < first || its > GT_SIZED_MOST)
		return false;
	memset(copy, 0, bytes);
	memcpy(copy, given, its < bytes ? its : bytes);
	return true;
}

/* The other way: fills in a caller's struct, the size of which stays as it is. */
static inline bool gt_sized_out(void *given, size_t first, const void *own, size_t bytes)
{
	size_t its = gt_sized(given);

	if (its < first || its > bytes + GT_SIZED_BEYOND)
		return false;
	memset(given, 0, its);
	memcpy(given, own, its < bytes ? its : bytes);
	memcpy(given, &its, sizeof(its));
	return true;
}

/* The file of the loaded object that `address` is in, or "an adapter". */
const char *gt_sized_object(const void *address);

/*
 * The sentence for a struct that was refused: what `caller`, an address in it, gave to `function`. Looks for
 * the object in the loader's list; returns buffer.
 */
const char *gt_sized_refusal(char *buffer, size_t room, const char *function, size_t bytes, size_t first,
			     const void *caller);

#endif
