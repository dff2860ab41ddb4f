/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The readings of one clock; see source.h.
 */
#include "config.h"

#include "lib/assemble/clock/source.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

static bool usable(const struct gt_calib *calib, uint64_t tick_max)
{
	return calib->tick && calib->tick <= tick_max && calib->mono_ns > 0 && calib->real_ns > 0 &&
	       calib->mono_ns < INT64_MAX / 4 && calib->real_ns < INT64_MAX / 4;
}

void gt_source_consider(struct source *source, const struct gt_calib *calib, uint64_t tick_max)
{
	if (!usable(calib, tick_max))
		return;
	if (!source->first.tick || calib->tick < source->first.tick)
		source->first = *calib;
	if (!source->last.tick || calib->tick > source->last.tick)
		source->last = *calib;
}

int gt_source_add(struct source *source, const struct gt_def_calib *reading, uint64_t tick_max)
{
	size_t n = source->reading_count;
	struct gt_def_calib *more;

	if (!usable(&reading->at, tick_max))
		return 0;
	gt_source_consider(source, &reading->at, tick_max);
	if (!(n & (n - 1))) { /* full: room for twice as many */
		more = realloc(source->readings, (n ? 2 * n : 1) * sizeof(*more));
		if (!more)
			return -ENOMEM;
		source->readings = more;
	}
	source->readings[source->reading_count++] = *reading;
	return 0;
}

int gt_source_segments(struct source *s)
{
	const struct gt_calib ends[] = { s->first, s->last };
	int rc = 0;

	if (!s->reading_count || s->kind == GT_CLOCK_MONOTONIC)
		return 0;
	for (int i = 0; !rc && i < 2; i++)
		rc = gt_source_add(s, &(struct gt_def_calib){ ends[i], 0 }, UINT64_MAX);
	return rc ? rc : gt_rates_make(&s->rates, s->readings, s->reading_count);
}

void gt_source_straight(struct source *s)
{
	s->rates.error += gt_rates_off(&s->rates, &s->first, s->mult);
	s->rates.count = 0;
}

void gt_sources_free(struct source *sources, size_t count)
{
	for (size_t i = 0; sources && i < count; i++) {
		free(sources[i].sync_points);
		free(sources[i].readings);
		free(sources[i].rates.list);
	}
	free(sources);
}
