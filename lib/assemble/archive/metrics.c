/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counters: the values that adapters give one by one, and those that are read at enters and leaves.
 *
 * Limits: what a class is made of is looked up once for each location; 255 values in an event.
 */
#include "config.h"

#include "lib/assemble/archive/metrics.h"

#include "lib/assemble/archive/records.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MEMBERS_MOST 255u /* OTF2's limit for the metrics of one class */

/* The values of a METRIC or METRICS: how many, 0: too many, or more than there are; and where they are, one
 * after the other: those of METRICS behind their number. */
static uint32_t values_of(const struct gt_slot *slot, const uint64_t **values)
{
	bool many = GT_WORD_TYPE(slot->word) == GT_T_METRICS;
	unsigned extra = GT_WORD_EXTRA(slot->word);
	uint64_t count = !extra ? 0 : many ? slot[1].time : 1;

	*values = many ? &slot[1].word : &slot[1].time;
	return count <= MEMBERS_MOST && count + many <= 2 * extra ? (uint32_t)count : 0;
}

static uint64_t key_of(uint32_t id, uint32_t count)
{
	return GT_WORD(GT_T_METRIC, id | (uint64_t)count << 32);
}

/* NULL: it is the first of its kind on this location. */
static const struct gt_metric_use *use_of(const struct gt_worker *w, uint32_t id, uint32_t count)
{
	const struct gt_lookup_entry *entry = gt_lookup_find(&w->local, key_of(id, count));

	return entry ? &w->uses[entry->value] : NULL;
}

static uint32_t member(struct gt_track *t, uint32_t id, struct gt_def_metric *def)
{
	const struct gt_def_metric *found = gt_proc_find(t->loc->proc, GT_D_METRIC, id, NULL);
	struct gt_member item = { .kind = OTF2_METRIC_TYPE_USER };
	char text[64];

	memset(def, 0, sizeof(*def));
	def->value = OTF2_TYPE_UINT64;
	if (found)
		*def = *found;
	def->value = (uint8_t)gt_track_value_type(def->value);
	snprintf(text, sizeof(text), "metric %u", id);
	item.name = gt_names_string(t->names, def->name, text);
	item.description = gt_names_string(t->names, def->description, "");
	item.unit = gt_names_string(t->names, def->unit, "#");
	item.value = def->value;
	item.binary = def->binary == 1;
	item.exponent = def->exponent;
	/* What OTF2 knows: accumulated, absolute, relative; point, last, next, and start of the first. */
	item.mode = (def->mode & 15u) <= 2 && (def->mode >> 4) <= 3 ? def->mode
								     : OTF2_METRIC_ABSOLUTE_POINT;
	if (item.mode == 1 || item.mode == 2)
		item.mode |= OTF2_METRIC_ACCUMULATED_POINT;
	if (found && (def->kind & ~GT_METRIC_SYNCHRONOUS) <= OTF2_METRIC_TYPE_USER)
		item.kind = (uint8_t)(def->kind & ~GT_METRIC_SYNCHRONOUS);
	return gt_defs_member(t->conv->defs, &item);
}

/* ---- what the scheduler did -------------------------------------------------------------------------- */

#define STATES 3u /* how many sums there are; of the process's metrics none has the number 0 */

/* Of the location: its threads' sums, which at the last one's end are its properties of the same names. */
static uint32_t states_metric(struct gt_track *t, struct gt_metric_use *use)
{
	static const char *const texts[STATES][2] = {
		{ "GPUTRACE::RUNNING_NS", "Since the thread began it had a processor for so long" },
		{ "GPUTRACE::READY_NS", "Since the thread began it was ready, and waited for a processor" },
		{ "GPUTRACE::BLOCKED_NS", "Since the thread began it was blocked" },
	};
	struct gt_defs *defs = t->conv->defs;
	uint32_t members[STATES], number;

	for (unsigned i = 0; i < STATES; i++) {
		struct gt_member item = { .name = gt_defs_string(defs, texts[i][0]),
					  .description = gt_defs_string(defs, texts[i][1]),
					  .unit = gt_defs_string(defs, "ns"),
					  .value = OTF2_TYPE_UINT64, .mode = OTF2_METRIC_ACCUMULATED_POINT,
					  .kind = OTF2_METRIC_TYPE_OTHER };

		members[i] = gt_defs_member(defs, &item);
		t->w->types[use->types + i] = OTF2_TYPE_UINT64;
	}
	use->synchronous = true; /* no attribute is meant for it */
	number = gt_defs_metric_class(defs, members, STATES, false);
	gt_defs_recorder(defs, number, t->loc->number);
	return number;
}

/* ---- single values ----------------------------------------------------------------------------------- */

/* The class of `count` metrics from `id` on, or its instance where they are of more than the location. */
static uint32_t metric(struct gt_track *t, uint32_t id, uint32_t count, struct gt_metric_use *use)
{
	uint32_t members[MEMBERS_MOST] = { 0 }, number;
	struct gt_def_metric first = { .scope = 0 }, def;
	struct gt_metric instance;

	for (uint32_t i = 0; i < count; i++) {
		members[i] = member(t, id + i, &def);
		t->w->types[use->types + i] = def.value;
		if (!i)
			first = def;
	}
	use->synchronous = first.kind & GT_METRIC_SYNCHRONOUS;
	number = gt_defs_metric_class(t->conv->defs, members, count, use->synchronous);
	if (!first.scope) { /* an instance names its recorder itself */
		gt_defs_recorder(t->conv->defs, number, t->loc->number);
		return number;
	}
	instance = (struct gt_metric){
		.instance = true,
		.base = number,
		.recorder = t->loc->number,
		.scope = 1,
		.scope_id = first.scope == 2
				    ? gt_layout_context(t->conv->layout, t->loc->proc, first.scope_id)
				    : t->out->group,
	};
	return gt_defs_metric_instance(t->conv->defs, &instance);
}

/* The first event of these metrics on this location. NULL: no memory. */
static const struct gt_metric_use *new_metric(struct gt_track *t, uint32_t id, uint32_t count)
{
	struct gt_worker *w = t->w;
	struct gt_metric_use *uses = realloc(w->uses, (w->use_count + 1) * sizeof(*uses));
	uint8_t *types = realloc(w->types, w->type_count + count);

	w->uses = uses ? uses : w->uses;
	w->types = types ? types : w->types;
	if (!uses || !types ||
	    !gt_lookup_put(&w->local, key_of(id, count), (uint32_t)w->use_count, 0)) {
		gt_archive_fail(t->conv->archive, "no memory");
		return NULL;
	}
	uses[w->use_count] = (struct gt_metric_use){ .types = (uint32_t)w->type_count };
	w->type_count += count;
	uses[w->use_count].number = id ? metric(t, id, count, &uses[w->use_count])
				       : states_metric(t, &uses[w->use_count]);
	return &uses[w->use_count++];
}

static const struct gt_metric_use *any_metric(struct gt_track *t, uint32_t id, uint32_t count)
{
	const struct gt_metric_use *use = use_of(t->w, id, count);

	return use ? use : new_metric(t, id, count);
}

uint32_t gt_track_metric_number(struct gt_track *t, uint32_t id, uint32_t count)
{
	const struct gt_metric_use *use = any_metric(t, id, count);

	return use ? use->number : 0;
}

void gt_track_metric_here(struct gt_track *t, uint32_t metric)
{
	uint64_t word = GT_WORD(GT_T_METRICS, metric);

	if (gt_lookup_find(&t->w->local, word))
		return;
	if (!gt_lookup_put(&t->w->local, word, 0, 0))
		gt_archive_fail(t->conv->archive, "no memory");
	if (!gt_defs_is_instance(t->conv->defs, metric)) /* an instance names its recorder itself */
		gt_defs_recorder(t->conv->defs, metric, t->loc->number);
}

static void write_values(struct gt_track *t, uint32_t id, uint32_t count, const uint64_t *values,
			 uint64_t tick)
{
	const struct gt_metric_use *use = any_metric(t, id, count);

	if (use)
		gt_track_bad(t,
			     OTF2_EvtWriter_Metric(gt_writer_evt(t->writer),
						   use->synchronous ? NULL : gt_track_attributes(t),
						   gt_track_time(t, tick), use->number, (uint8_t)count,
						   t->w->types + use->types,
						   (const OTF2_MetricValue *)values),
			     "metric");
}

void gt_convert_metric(struct gt_track *t, const struct gt_slot *slot, uint64_t tick)
{
	const uint64_t *values;
	uint32_t count = values_of(slot, &values), id = (uint32_t)GT_WORD_LOW(slot->word);

	if (count && id)
		write_values(t, id, count, values, tick);
	else
		t->w->tally.unknown_records++;
}

void gt_convert_states(struct gt_track *t, const struct gt_slot *slot, uint64_t tick)
{
	write_values(t, 0, STATES, &slot[1].time, tick);
}

/* ---- readings at enters and leaves ------------------------------------------------------------------- */

/* May more follow in the unit? A reading that failed is padding. */
static bool has_followers(unsigned type)
{
	return type == GT_T_METRICS || type == GT_T_PAD || GT_TYPE_IS_ATTR(type);
}

/* Is it about the recording? Such records have no attributes. */
static bool is_about_recording(unsigned type)
{
	return type == GT_T_FLUSH || type == GT_T_GAP || type == GT_T_ON || type == GT_T_OFF;
}

unsigned gt_track_unit_slots(const struct gt_slot *slot, const struct gt_slot *end, uint64_t *tick)
{
	unsigned type = GT_WORD_TYPE(slot->word), slots = gt_slots_of(slot);
	const struct gt_slot *next = slot + slots;
	bool attributes = GT_TYPE_IS_ATTR(type);

	*tick = slot->time;
	if (type != GT_T_METRICS && !attributes)
		return slots;
	for (; has_followers(type) && next < end; next = slot + slots) {
		unsigned more = gt_slots_of(next);

		type = GT_WORD_TYPE(next->word);
		if (attributes ? next->time < *tick : next->time != *tick)
			break;
		if (!gt_type_known(type) || is_about_recording(type) || more > (size_t)(end - next) ||
		    slots + more > GT_MAX_EXTRA + 1)
			break;
		*tick = next->time;
		slots += more;
	}
	return slots;
}

static bool is_call(unsigned type)
{
	return type == GT_T_ENTER_ADDR || type == GT_T_LEAVE_ADDR || type == GT_T_ENTER || type == GT_T_LEAVE;
}

/*
 * Does nothing behind the record, and what it stays together with, come before it? What cannot be seen may.
 */
static bool is_in_order(const struct gt_slot *slot, const struct gt_slot *next, const struct gt_slot *end)
{
	uint64_t tick = slot->time;

	while (next < end && next->time == tick && GT_WORD_TYPE(next->word) == GT_T_METRICS)
		next += gt_slots_of(next);
	if (next < end && next->time == tick && is_call(GT_WORD_TYPE(next->word)))
		return next[1].time >= tick;
	next = slot + gt_track_unit_slots(slot, end, &tick);
	return next < end && next->time >= slot->time;
}

const struct gt_slot *gt_track_run_metrics(struct gt_track *t, const struct gt_slot *slot,
					   const struct gt_slot *end, uint64_t most, uint64_t ns)
{
	const struct gt_slot *next = slot + gt_slots_of(slot);
	unsigned type = GT_WORD_TYPE(slot->word);
	const struct gt_metric_use *use;
	const uint64_t *values;
	uint32_t count;

	if ((type != GT_T_METRICS && type != GT_T_METRIC) || slot->time > most ||
	    !is_in_order(slot, next, end))
		return NULL;
	count = values_of(slot, &values);
	use = count ? use_of(t->w, (uint32_t)GT_WORD_LOW(slot->word), count) : NULL;
	if (!use)
		return NULL;
	if (t->writer->pipe)
		gt_pipe_put_metric(t->writer->pipe, ns, use->number, (uint8_t)count, t->w->types + use->types,
				   (const OTF2_MetricValue *)values);
	else
		gt_track_bad(t,
			     OTF2_EvtWriter_Metric(t->writer->direct, NULL, ns, use->number,
						   (uint8_t)count, t->w->types + use->types,
						   (const OTF2_MetricValue *)values),
			     "metric");
	return next;
}
