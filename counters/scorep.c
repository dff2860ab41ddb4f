/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Metric plug-ins of Score-P; see scorep.h. Synchronous ones are read with enters and leaves, asynchronous
 * ones give all that they have when the recording ends.
 */
#include "counters/scorep.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the interface, as Score-P's manual has it: versions 0 and 1 ----------------------------- */

enum { SYNC_STRICT, SYNC_OPTIONAL, ASYNC_EVENT, ASYNC };
enum { SYNCHRONIZE_BEGIN = 0, SYNCHRONIZE_END = 2 };
#define NEWEST 1u

struct scorep_metric {
	char *name, *description;
	int mode, value, base;
	int64_t exponent;
	char *unit;
};

struct scorep_time_value {
	uint64_t time, value;
};

struct scorep_info {
	uint32_t version;
	int per, sync;
	uint64_t delta_t;
	int32_t (*initialize)(void);
	void (*finalize)(void);
	struct scorep_metric *(*get_event_info)(char *name);
	int32_t (*add_counter)(char *name);
	uint64_t (*get_current_value)(int32_t id);
	bool (*get_optional_value)(int32_t id, uint64_t *value);
	void (*set_clock_function)(uint64_t (*now)(void));
	uint64_t (*get_all_values)(int32_t id, struct scorep_time_value **values);
	void (*synchronize)(bool responsible, int when); /* since version 1 */
	uint64_t reserved[128]; /* more than any version has */
};

/* ---- plug-ins -------------------------------------------------------------------------------- */

struct state {
	unsigned count;
	int32_t ids[GT_PLUGIN_METRICS];
	uint64_t values[GT_PLUGIN_METRICS];
	uint64_t due; /* ticks */
};

static struct slot {
	struct gt_plugin plugin;
	struct scorep_info info;
	char name[64];
	char metrics[GT_PLUGIN_METRICS][GT_PLUGIN_NAME]; /* by id */
	unsigned metric_count;
	bool synchronized;
} *slots[GT_CN_SCOREP];
static unsigned slot_count;

static int begin(struct slot *slot, const struct gt_plugin_host *host, char *why, size_t room)
{
	int32_t rc;

	if (slot->info.set_clock_function)
		slot->info.set_clock_function(host->now);
	rc = slot->info.initialize();
	if (rc)
		snprintf(why, room, "its initialize() returned %d", rc);
	return rc ? -EIO : 0;
}

static void end(struct slot *slot)
{
	if (slot->synchronized)
		slot->info.synchronize(true, SYNCHRONIZE_END);
	slot->info.finalize();
}

static uint8_t mode_of(int mode)
{
	/*
	 * accumulated, absolute, relative; from the start, at a point, since the last, until the next value
	 */
	static const uint8_t modes[] = { 0x00, 0x10, 0x20, 0x30, 0x11, 0x21, 0x31, 0x12, 0x22, 0x32 };

	return mode >= 0 && mode < (int)sizeof(modes) ? modes[mode] : GT_PLUGIN_ABSOLUTE;
}

static uint8_t value_of(int value)
{
	return value == 0 ? GT_PLUGIN_INT : value == 2 ? GT_PLUGIN_DOUBLE : GT_PLUGIN_UINT;
}

static void fill(struct slot *slot, const struct scorep_metric *from, struct gt_plugin_metric *to)
{
	to->id = slot->metric_count;
	gt_cn_text(to->name, sizeof(to->name), from->name);
	gt_cn_text(to->description, sizeof(to->description), from->description ? from->description : "");
	gt_cn_text(to->unit, sizeof(to->unit), from->unit ? from->unit : "");
	to->value = value_of(from->value);
	to->mode = mode_of(from->mode);
	to->base = from->base == 0 ? GT_PLUGIN_BINARY : GT_PLUGIN_DECIMAL;
	to->exponent = (int32_t)from->exponent;
	to->scope = (uint8_t)slot->info.per;
	gt_cn_text(slot->metrics[slot->metric_count++], GT_PLUGIN_NAME, from->name);
}

/* The plug-in's results were allocated by malloc() and belong to the caller. */
static int find(struct slot *slot, const char *name, struct gt_plugin_metric *metrics, unsigned room)
{
	char text[GT_PLUGIN_NAME];
	struct scorep_metric *found;
	unsigned n = 0;

	gt_cn_text(text, sizeof(text), name);
	found = slot->info.get_event_info(text);
	for (struct scorep_metric *m = found; m && m->name; m++)
		if (n < room && slot->metric_count < GT_PLUGIN_METRICS)
			fill(slot, m, &metrics[n++]);
	free(found);
	return (int)n;
}

static int open_metrics(struct slot *slot, const uint64_t *ids, unsigned count, void **out)
{
	struct state *state = count > GT_PLUGIN_METRICS ? NULL : calloc(1, sizeof(*state));
	char text[GT_PLUGIN_NAME];

	if (!state)
		return -ENOMEM;
	state->count = count;
	for (unsigned i = 0; i < count; i++) {
		memcpy(text, slot->metrics[ids[i]], sizeof(text));
		state->ids[i] = slot->info.add_counter(text);
		if (state->ids[i] < 0) {
			free(state);
			return -ENOTSUP;
		}
	}
	if (slot->info.version && slot->info.synchronize && !slot->synchronized) {
		slot->synchronized = true;
		slot->info.synchronize(true, SYNCHRONIZE_BEGIN);
	}
	*out = state;
	return 0;
}

static int read_strict(struct slot *slot, struct state *state, uint64_t *values)
{
	for (unsigned i = 0; i < state->count; i++)
		values[i] = slot->info.get_current_value(state->ids[i]);
	return 0;
}

/* Metrics without a new value keep the last one if another one has a new one. */
static int read_optional(struct slot *slot, struct state *state, uint64_t *values)
{
	bool any = false;
	uint64_t now = slot->info.delta_t ? gt_now() : 0;

	if (now < state->due)
		return -EAGAIN;
	state->due = now + slot->info.delta_t;
	for (unsigned i = 0; i < state->count; i++)
		any |= slot->info.get_optional_value(state->ids[i], &state->values[i]);
	memcpy(values, state->values, state->count * sizeof(*values));
	return any ? 0 : -EAGAIN;
}

static int read_metrics(struct slot *slot, struct state *state, uint64_t *values, unsigned count)
{
	if (count != state->count)
		return -EINVAL;
	return slot->info.sync == SYNC_STRICT ? read_strict(slot, state, values)
					      : read_optional(slot, state, values);
}

static int collect(struct slot *slot, struct state *state, const struct gt_plugin_sink *sink)
{
	for (unsigned i = 0; i < state->count; i++) {
		struct scorep_time_value *values = NULL;
		uint64_t n = slot->info.get_all_values(state->ids[i], &values);

		for (uint64_t k = 0; values && k < n; k++)
			sink->put(sink, i, values[k].time, values[k].value);
		free(values);
	}
	return 0;
}

static void list_none(gt_plugin_each *each, void *argument)
{
	(void)each;
	(void)argument;
}

/* A struct gt_plugin has functions without an argument of their own: some for each slot. */
#define EACH(F) F(0) F(1) F(2) F(3) F(4) F(5) F(6) F(7)
#define FUNCTIONS(s)                                                                                         \
	static int begin_##s(const struct gt_plugin_host *host, char *why, size_t room)                      \
	{                                                                                                    \
		return begin(slots[s], host, why, room);                                                     \
	}                                                                                                    \
	static void end_##s(void)                                                                            \
	{                                                                                                    \
		end(slots[s]);                                                                               \
	}                                                                                                    \
	static int find_##s(const char *name, struct gt_plugin_metric *metrics, unsigned room, char *why,    \
			    size_t n)                                                                        \
	{                                                                                                    \
		(void)why;                                                                                   \
		(void)n;                                                                                     \
		return find(slots[s], name, metrics, room);                                                  \
	}                                                                                                    \
	static int open_##s(const uint64_t *ids, unsigned count, unsigned flags, void **state)               \
	{                                                                                                    \
		(void)flags;                                                                                 \
		return open_metrics(slots[s], ids, count, state);                                            \
	}                                                                                                    \
	static int read_##s(void *state, uint64_t *values, unsigned count)                                   \
	{                                                                                                    \
		return read_metrics(slots[s], state, values, count);                                         \
	}                                                                                                    \
	static int collect_##s(void *state, const struct gt_plugin_sink *sink)                               \
	{                                                                                                    \
		return collect(slots[s], state, sink);                                                       \
	}
#define ROW(s) { .begin = begin_##s, .end = end_##s, .list = list_none, .find = find_##s, .open = open_##s, \
		 .read = read_##s, .close = free, .collect = collect_##s },
EACH(FUNCTIONS)
static const struct gt_plugin functions[GT_CN_SCOREP] = { EACH(ROW) };

/* What the manual demands; what is missing. */
static const char *lacks(const struct scorep_info *info)
{
	if (info->version > NEWEST)
		return "it has a newer version of Score-P's interface";
	if (info->per < 0 || info->per > GT_PLUGIN_ONCE || info->sync < SYNC_STRICT || info->sync > ASYNC)
		return "its description of itself is invalid";
	if (!info->initialize || !info->finalize || !info->get_event_info || !info->add_counter ||
	    (info->sync == SYNC_STRICT && !info->get_current_value) ||
	    (info->sync == SYNC_OPTIONAL && !info->get_optional_value) ||
	    (info->sync >= ASYNC_EVENT && !info->get_all_values))
		return "a function is missing in it";
	return NULL;
}

const struct gt_plugin *gt_cn_scorep(const char *name, void *get_info, char *why, size_t room)
{
	struct slot *slot = slot_count < GT_CN_SCOREP ? calloc(1, sizeof(*slot)) : NULL;
	struct scorep_info (*function)(void);
	const char *reason;

	if (!slot) {
		snprintf(why, room, "too many plug-ins of Score-P");
		return NULL;
	}
	memcpy(&function, &get_info, sizeof(function));
	slot->info = function();
	reason = lacks(&slot->info);
	if (reason) {
		snprintf(why, room, "%s", reason);
		free(slot);
		return NULL;
	}
	gt_cn_text(slot->name, sizeof(slot->name), name);
	slots[slot_count] = slot;
	slot->plugin = functions[slot_count++];
	slot->plugin.bytes = sizeof(slot->plugin);
	slot->plugin.abi = GT_PLUGIN_ABI;
	slot->plugin.name = slot->name;
	slot->plugin.description = "a plug-in of Score-P (its documentation names its metrics)";
	slot->plugin.ways = slot->info.sync <= SYNC_OPTIONAL ? GT_PLUGIN_SYNC : GT_PLUGIN_POST_MORTEM;
	/* Nothing tells it of a fork: its threads are missing in a child, and it has its parent's values. */
	slot->plugin.flags = slot->info.sync <= SYNC_OPTIONAL ? 0 : GT_PLUGIN_NO_FORK;
	return &slot->plugin;
}
