/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * roctx: ranges that are pushed and popped become regions, those that are started and stopped regions of the
 * location "ROCTX ranges" (accel/ranges.c), marks become markers, and threads and streams get their names.
 *
 * Limits: RANGES ranges inside of each other on a thread; NAMES different messages, further ones share one
 * region.
 */
#include <string.h>

#include "hip/hip.h"

enum { RANGES = 32, NAMES = 8192, OPERATIONS = 32, BUCKETS = 1024, OPEN = 2048 };

static enum kind { OTHER, MARK, PUSH, POP, START, STOP } kinds[OPERATIONS];
static gt_ref mark;
static unsigned name_count;

static GT_TLS struct {
	uint32_t depth;
	gt_ref ranges[RANGES];
	gt_ref starting; /* the region of the range that roctxRangeStart() is about to number ... */
	uint64_t begun;  /* ... and when that was called */
} self;

void gt_hip_markers_setup(uint32_t kind)
{
	static const struct {
		const char *name;
		enum kind kind;
	} known[] = { { "roctxMarkA", MARK }, { "roctxRangePushA", PUSH }, { "roctxRangePop", POP },
		      { "roctxRangeStartA", START }, { "roctxRangeStop", STOP } };

	mark = gt_def_marker("ROCTX", "ROCTX", 3);
	for (int32_t i = 0; i < OPERATIONS; i++) {
		const char *name = NULL;
		uint64_t length = 0;

		if (gt_hip_api.operation(kind, i, &name, &length) || !name)
			continue;
		for (size_t k = 0; k < sizeof(known) / sizeof(known[0]); k++)
			if (!strcmp(name, known[k].name))
				kinds[i] = known[k].kind;
	}
}

static const char *message_of(const struct rocp_call *call)
{
	const struct rocp_api *api = call->payload;

	if (!api || api->size < sizeof(api->size) + sizeof(api->arguments.message) || !api->arguments.message)
		return "(no message)";
	return *api->arguments.message ? api->arguments.message : "(no message)";
}

static gt_ref region_of(const char *message)
{
	uint64_t mask = gt_lock(&gt_hip_lock);
	const struct gt_accel_name *name = NULL;
	unsigned before = gt_accel_name_count();

	if (mask != GT_LOCK_REFUSED)
		name = gt_accel_named(name_count < NAMES ? message : "ROCTX: too many different messages",
				      false, "ROCTX", GT_REGION_ROLE_CODE);
	name_count += gt_accel_name_count() - before;
	gt_unlock(&gt_hip_lock, mask);
	return name ? name->region : GT_NONE;
}

static gt_ref region_for(const struct rocp_call *call)
{
	gt_ref region = GT_NONE;

	if (!gt_active())
		return region;
	gt_guard();
	region = region_of(message_of(call));
	gt_unguard();
	return region;
}

static void push(const struct rocp_call *call)
{
	gt_ref region = region_for(call);

	if (region && self.depth < RANGES)
		gt_enter(region);
	if (self.depth < RANGES)
		self.ranges[self.depth] = region;
	self.depth++;
}

static void pop(void)
{
	if (!self.depth)
		return;
	self.depth--;
	if (self.depth < RANGES && self.ranges[self.depth])
		gt_leave(self.ranges[self.depth]);
}

/* Which range of ours roctx has numbered how. */
static struct started {
	uint64_t id, range;
	struct started *next;
} *open_ranges[BUCKETS], *unused;

/* Under the lock. NULL: no memory. */
static struct started *take(void)
{
	struct started *s = unused;

	if (!s) {
		s = gt_memory(OPEN * sizeof(*s));
		for (size_t i = 0; s && i + 1 < OPEN; i++)
			s[i].next = &s[i + 1];
	}
	unused = s ? s->next : NULL;
	return s;
}

static void note_range(uint64_t id, uint64_t range)
{
	uint64_t mask = gt_lock(&gt_hip_lock);
	struct started *s = mask == GT_LOCK_REFUSED ? NULL : take();

	if (s) {
		*s = (struct started){ id, range, open_ranges[id % BUCKETS] };
		open_ranges[id % BUCKETS] = s;
	}
	gt_unlock(&gt_hip_lock, mask);
}

/* 0: it is not known. */
static uint64_t noted_range(uint64_t id)
{
	uint64_t mask = gt_lock(&gt_hip_lock), range = 0;
	struct started **at = &open_ranges[id % BUCKETS], *s;

	while (mask != GT_LOCK_REFUSED && (s = *at)) {
		if (s->id == id) {
			range = s->range;
			*at = s->next;
			s->next = unused;
			unused = s;
			break;
		}
		at = &s->next;
	}
	gt_unlock(&gt_hip_lock, mask);
	return range;
}

/* Its number is known when the call returns. */
static void started(const struct rocp_call *call)
{
	const struct rocp_api *api = call->payload;
	struct gt_accel_range range = { .region = self.starting };
	uint64_t id;

	self.starting = GT_NONE;
	if (!range.region || !api || api->size < sizeof(api->size) + ROCP_MARKER_RESULT_BYTES)
		return;
	memcpy(&id, (const char *)api + api->size - ROCP_MARKER_RESULT_BYTES, sizeof(id));
	note_range(id, gt_accel_range_begin(self.begun, &range));
}

static void stop(const struct rocp_call *call)
{
	const struct rocp_api *api = call->payload;

	if (api && api->size >= sizeof(api->size) + sizeof(api->arguments.range))
		gt_accel_range_end(noted_range(api->arguments.range));
}

static void enter(enum kind kind, const struct rocp_call *call)
{
	if (kind == PUSH) {
		push(call);
	} else if (kind == POP) {
		pop();
	} else if (kind == START) {
		self.begun = gt_now();
		self.starting = region_for(call);
	} else if (kind == STOP) {
		stop(call);
	} else if (kind == MARK && gt_active()) {
		gt_marker(mark, message_of(call));
	}
}

void gt_hip_marker(struct rocp_call call, union rocp_user *user, void *data)
{
	enum kind kind = call.operation >= 0 && call.operation < OPERATIONS ? kinds[call.operation] : OTHER;

	(void)user;
	(void)data;
	if (!gt_hip_ready())
		return;
	if (call.phase == ROCP_PHASE_ENTER)
		enter(kind, &call);
	else if (call.phase == ROCP_PHASE_EXIT && kind == START)
		started(&call);
}

/* ---- names -------------------------------------------------------------------------------------- */

static void name_stream(const struct rocp_call *call)
{
	const struct rocp_api *api = call->payload;
	uint64_t mask;

	if (!api || api->size < sizeof(*api) + ROCP_MARKER_RESULT_BYTES || !api->arguments.named.name)
		return;
	mask = gt_lock(&gt_hip_lock);
	if (mask != GT_LOCK_REFUSED)
		gt_hip_stream_name((uintptr_t)api->arguments.named.handle, api->arguments.named.name);
	gt_unlock(&gt_hip_lock, mask);
}

void gt_hip_name(struct rocp_call call, union rocp_user *user, void *data)
{
	const char *name = NULL;
	uint64_t length = 0;

	(void)user;
	(void)data;
	if (call.phase != ROCP_PHASE_EXIT || !gt_hip_ready() ||
	    gt_hip_api.operation(call.kind, call.operation, &name, &length) || !name)
		return;
	gt_guard();
	if (!strcmp(name, "roctxNameOsThread"))
		gt_thread_name(0, message_of(&call));
	else if (!strcmp(name, "roctxNameHipStream"))
		name_stream(&call);
	gt_unguard();
}
