/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The events that <gputrace/assemble.h> lets handlers of other trees write.
 *
 * Limits: see there.
 */
#include "config.h"

#include "gputrace/assemble.h"

#include "lib/assemble/archive/metrics.h"
#include "lib/assemble/archive/records.h"
#include "lib/assemble/adapters/assemblers.h"

/* ---- where we are ------------------------------------------------------------------------------------ */

struct gt_assembly *gt_track_assembly(const struct gt_track *t)
{
	return t->conv->assembly;
}

const struct gt_proc *gt_track_process(const struct gt_track *t)
{
	return t->loc->proc;
}

const struct gt_loc *gt_track_location(const struct gt_track *t)
{
	return t->loc;
}

uint32_t gt_track_region(struct gt_track *t, gt_ref id)
{
	return gt_names_region(t->names, id);
}

uint32_t gt_track_metric(struct gt_track *t, gt_ref id)
{
	return gt_track_metric_number(t, id, 1);
}

void gt_write_unknown(struct gt_track *t)
{
	t->w->tally.unknown_records++;
}

void gt_write_unmatched(struct gt_track *t)
{
	gt_track_no_attributes(t);
	t->w->tally.unmatched++;
}

/* Disk space for a record was reserved before; anything beyond is counted as unknown. */
static bool has_room(struct gt_track *t)
{
	if (!t->own_events) {
		t->w->tally.unknown_records++;
		return false;
	}
	t->own_events--;
	return true;
}

/* Is this the number of something in a table, which others may add to at this moment? */
static bool is_in(struct gt_track *t, const struct gt_table *table, uint32_t number)
{
	if (number < __atomic_load_n(&table->keys.count, __ATOMIC_RELAXED))
		return has_room(t);
	gt_write_unknown(t);
	return false;
}

/* ---- events ------------------------------------------------------------------------------------------ */

void gt_write_enter(struct gt_track *t, uint32_t region, uint64_t tick)
{
	if (is_in(t, &t->conv->defs->regions, region))
		gt_track_enter_region(t, region, tick);
}

void gt_write_leave(struct gt_track *t, uint32_t region, uint64_t tick)
{
	if (is_in(t, &t->conv->defs->regions, region))
		gt_track_leave_region(t, region, tick);
}

void gt_write_attribute(struct gt_track *t, uint32_t attribute, enum gt_value type, uint64_t bits)
{
	if (is_in(t, &t->conv->defs->attributes, attribute))
		gt_track_attribute(t, attribute, (OTF2_Type)type, (OTF2_AttributeValue){ .uint64 = bits });
}

void gt_write_attribute_string(struct gt_track *t, const char *name, const char *description,
			       const char *value)
{
	struct gt_attribute_def attribute = { .name = gt_defs_string(t->conv->defs, name),
					  .description = gt_defs_string(t->conv->defs, description),
					  .type = OTF2_TYPE_STRING };
	OTF2_AttributeValue text = {
		.stringRef = gt_defs_spoken(t->conv->defs, gt_defs_string(t->conv->defs, value ? value : ""))
	};

	if (has_room(t))
		gt_track_attribute(t, gt_defs_attribute(t->conv->defs, &attribute), OTF2_TYPE_STRING, text);
}

void gt_write_metric(struct gt_track *t, uint32_t metric, enum gt_value type, uint64_t bits, uint64_t tick)
{
	OTF2_Type types = (OTF2_Type)type;
	OTF2_MetricValue value = { .unsigned_int = bits };

	if (!is_in(t, &t->conv->defs->metrics, metric))
		return;
	gt_track_metric_here(t, metric);
	gt_track_write(t, Metric, gt_track_time(t, tick), metric, 1, &types, &value);
}

void gt_write_parameter(struct gt_track *t, uint32_t parameter, enum gt_value type, uint64_t bits,
			uint64_t tick)
{
	uint64_t ns = gt_track_time(t, tick);

	if (!is_in(t, &t->conv->defs->parameters, parameter))
		return;
	if (type == GT_VALUE_INT)
		gt_track_write(t, ParameterInt, ns, parameter, (int64_t)bits);
	else
		gt_track_write(t, ParameterUnsignedInt, ns, parameter, bits);
}

void gt_write_marker(struct gt_track *t, const char *category, const char *group, uint8_t severity,
		     const char *text)
{
	if (has_room(t))
		gt_track_marker(t, category, group,
				severity <= OTF2_SEVERITY_HIGH ? severity : OTF2_SEVERITY_NONE, text);
}

static bool is_comm(struct gt_track *t, uint32_t comm)
{
	return is_in(t, &t->conv->defs->comms, comm);
}

void gt_write_message(struct gt_track *t, bool send, uint32_t comm, uint32_t peer, uint32_t tag,
		      uint64_t bytes, uint64_t tick)
{
	uint64_t ns = gt_track_time(t, tick);

	if (!is_comm(t, comm))
		return;
	if (send)
		gt_track_write(t, MpiSend, ns, peer, comm, tag, bytes);
	else
		gt_track_write(t, MpiRecv, ns, peer, comm, tag, bytes);
}

void gt_write_lock(struct gt_track *t, bool acquire, uint8_t paradigm, uint64_t address, uint32_t order,
		   uint64_t tick)
{
	uint32_t id = gt_defs_lock_id(t->conv->defs, t->loc->proc->number, address);
	uint64_t ns = gt_track_time(t, tick);

	if (!has_room(t))
		return;
	if (acquire)
		gt_track_write(t, ThreadAcquireLock, ns, paradigm, id, order);
	else
		gt_track_write(t, ThreadReleaseLock, ns, paradigm, id, order);
}

void gt_write_fork(struct gt_track *t, uint8_t paradigm, uint32_t threads, uint64_t tick)
{
	if (has_room(t))
		gt_track_write(t, ThreadFork, gt_track_time(t, tick), paradigm, threads);
}

void gt_write_join(struct gt_track *t, uint8_t paradigm, uint64_t tick)
{
	if (has_room(t))
		gt_track_write(t, ThreadJoin, gt_track_time(t, tick), paradigm);
}

void gt_write_team(struct gt_track *t, bool begin, uint32_t team, uint64_t tick)
{
	uint64_t ns = gt_track_time(t, tick);

	if (!is_comm(t, team))
		return;
	if (begin)
		gt_track_write(t, ThreadTeamBegin, ns, team);
	else
		gt_track_write(t, ThreadTeamEnd, ns, team);
}

void gt_write_task(struct gt_track *t, enum gt_task what, uint32_t team, uint32_t creator,
		   uint32_t generation, uint64_t tick)
{
	uint64_t ns = gt_track_time(t, tick);

	if (!is_comm(t, team))
		return;
	if (what == GT_TASK_CREATE)
		gt_track_write(t, ThreadTaskCreate, ns, team, creator, generation);
	else if (what == GT_TASK_SWITCH)
		gt_track_write(t, ThreadTaskSwitch, ns, team, creator, generation);
	else
		gt_track_write(t, ThreadTaskComplete, ns, team, creator, generation);
}

/* ---- the record -------------------------------------------------------------------------------------- */

/* Of an adapter's own kind: what its half does is looked up once for a process. */
void gt_convert_own(struct gt_track *t, const struct gt_slot *slot, uint64_t tick)
{
	uint64_t id = GT_WORD_LOW(slot->word);
	const struct gt_lookup_entry *entry = gt_track_remembered(t, GT_T_OWN, id);
	uint32_t place = entry ? entry->value
			       : gt_track_remember(t, GT_T_OWN, id,
						   gt_assembler_record(t->loc->proc, (uint32_t)id), 0);
	const struct gt_own_record *record = gt_assembler_record_at(place);

	t->own_events = GT_OWN_EVENTS * (1 + GT_WORD_EXTRA(slot->word));
	if (record && GT_WORD_EXTRA(slot->word) >= record->least)
		record->convert(t, slot, tick);
	else
		gt_convert_unknown(t, slot, tick);
	gt_track_no_attributes(t);
}
