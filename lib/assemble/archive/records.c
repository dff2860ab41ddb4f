/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The core's records but counters and I/O: enter and leave, switching on and off, spooling, attributes,
 * parameters, markers, processes, user messages; program begin and end.
 *
 * Limits: records of unknown types are skipped and counted.
 */
#include "config.h"

#include "lib/assemble/archive/records.h"

#include "lib/assemble/archive/io.h"
#include "lib/assemble/pair/messages.h"
#include "lib/assemble/util/losses.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEVERITY_WARNING 2u /* OTF2_SEVERITY_MEDIUM */

/* ---- attributes and parameters ------------------------------------------------------------------------ */

static uint32_t spoken(struct gt_track *t, uint32_t string)
{
	return gt_defs_spoken(t->conv->defs, string);
}

/* A number of the process as one of the archive. The others have the same bits for all types. */
static OTF2_AttributeValue attribute_value(struct gt_track *t, OTF2_Type type, uint64_t bits)
{
	OTF2_AttributeValue value = { .uint64 = bits };

	if (type == OTF2_TYPE_STRING)
		value.stringRef = spoken(t, gt_names_string(t->names, (uint32_t)bits, ""));
	if (type == OTF2_TYPE_IO_HANDLE)
		value.ioHandleRef = gt_archive_handle(t, bits);
	return value;
}

static OTF2_Type attribute_type(uint32_t type)
{
	return type == GT_VALUE_STRING || type == GT_VALUE_FILE ? (OTF2_Type)type : gt_track_value_type(type);
}

void gt_convert_attribute(struct gt_track *t, const struct gt_slot *slot, uint64_t tick)
{
	bool tag = GT_WORD_TYPE(slot->word) == GT_T_TAG;
	uint32_t id = (uint32_t)(tag ? GT_WORD_PAYLOAD(slot->word) >> 32 : GT_WORD_LOW(slot->word));
	const struct gt_lookup_entry *entry = gt_track_remembered(t, GT_T_ATTR, id);
	uint64_t bits = tag ? (uint32_t)slot->word : slot[1].time;
	struct gt_attribute_def attribute = { .type = OTF2_TYPE_UINT64 };
	const struct gt_def_attribute *def;
	char text[64];

	(void)tick;
	if (entry) {
		gt_track_attribute(t, entry->value, (OTF2_Type)entry->aux,
				   attribute_value(t, (OTF2_Type)entry->aux, bits));
		return;
	}
	def = gt_proc_find(t->loc->proc, GT_D_ATTRIBUTE, id, NULL);
	snprintf(text, sizeof(text), "attribute %u", id);
	attribute.name = gt_names_string(t->names, def ? def->name : 0, text);
	attribute.description = gt_names_string(t->names, def ? def->description : 0, "");
	if (def)
		attribute.type = (uint8_t)attribute_type(def->type);
	gt_track_attribute(t,
		      gt_track_remember(t, GT_T_ATTR, id, gt_defs_attribute(t->conv->defs, &attribute),
			       attribute.type),
		      attribute.type, attribute_value(t, attribute.type, bits));
}

/* Its number. */
static uint32_t parameter(struct gt_track *t, unsigned slot_type, uint32_t id)
{
	const struct gt_lookup_entry *entry = gt_track_remembered(t, slot_type, id);
	const struct gt_def_attribute *def;
	struct gt_attribute_def item = { 0 };
	char text[64];

	if (entry)
		return entry->value;
	def = gt_proc_find(t->loc->proc, GT_D_PARAMETER, id, NULL);
	snprintf(text, sizeof(text), "parameter %u", id);
	item.name = gt_names_string(t->names, def ? def->name : 0, text);
	item.type = slot_type == GT_T_PARAM_INT	   ? OTF2_PARAMETER_TYPE_INT64
		    : slot_type == GT_T_PARAM_UINT ? OTF2_PARAMETER_TYPE_UINT64
						   : OTF2_PARAMETER_TYPE_STRING;
	return gt_track_remember(t, slot_type, id, gt_defs_parameter(t->conv->defs, &item), 0);
}

void gt_convert_parameter(struct gt_track *t, const struct gt_slot *slot, uint64_t tick)
{
	unsigned type = GT_WORD_TYPE(slot->word);
	uint32_t number = parameter(t, type, (uint32_t)GT_WORD_LOW(slot->word));
	uint64_t ns = gt_track_time(t, tick);

	if (type == GT_T_PARAM_INT)
		gt_track_write(t, ParameterInt, ns, number, (int64_t)slot[1].time);
	else if (type == GT_T_PARAM_UINT)
		gt_track_write(t, ParameterUnsignedInt, ns, number, slot[1].time);
	else
		gt_track_write(t, ParameterString, ns, number,
			       spoken(t, gt_names_string(t->names, (uint32_t)slot[1].time, "")));
}

/* All of a set. */
void gt_convert_parameters(struct gt_track *t, const struct gt_slot *slot, uint64_t tick)
{
	const struct gt_def_params *set =
		gt_proc_find(t->loc->proc, GT_D_PARAMS, (uint32_t)GT_WORD_LOW(slot->word), NULL);
	const struct gt_def_param *param;

	if (!set) {
		gt_convert_unknown(t, slot, tick);
		return;
	}
	param = (const struct gt_def_param *)(set + 1);
	for (uint32_t i = 0; i < set->count; i++, param++) {
		const struct gt_slot one[2] = {
			{ tick, GT_WORDX(param->type, 1, param->parameter) },
			{ param->value, 0 },
		};

		if (param->type >= GT_T_PARAM_INT && param->type <= GT_T_PARAM_STR)
			gt_convert_parameter(t, one, tick);
	}
}

/* A number about the region that is open, under a name of ours. */
static void own_parameter(struct gt_track *t, const char *name, uint64_t ns, uint64_t value)
{
	struct gt_attribute_def item = { .name = gt_defs_string(t->conv->defs, name),
				     .type = OTF2_PARAMETER_TYPE_UINT64 };

	gt_track_write(t, ParameterUnsignedInt, ns, gt_defs_parameter(t->conv->defs, &item), value);
}

void gt_convert_process(struct gt_track *t, const struct gt_slot *slot, uint64_t tick)
{
	struct gt_attribute_def item = { .type = OTF2_PARAMETER_TYPE_STRING };
	uint64_t ns = gt_track_time(t, tick);

	switch (GT_WORD_TYPE(slot->word)) {
	case GT_T_FORK:
		own_parameter(t, "child process id", ns, slot[1].time);
		break;
	case GT_T_WAITPID:
		own_parameter(t, "child process id", ns, slot[1].time);
		own_parameter(t, "wait status", ns, slot[1].word);
		gt_spool_waited(t->loc->proc, (uint32_t)slot[1].time, (uint32_t)slot[1].word, tick);
		break;
	default:
		item.name = gt_defs_string(t->conv->defs, "program");
		gt_track_write(t, ParameterString, ns, gt_defs_parameter(t->conv->defs, &item),
			       spoken(t, gt_names_string(t->names, (uint32_t)slot[1].time, "?")));
		break;
	}
}

/* ---- markers --------------------------------------------------------------------------------- */

void gt_convert_marker(struct gt_track *t, const struct gt_slot *slot, uint64_t tick)
{
	const struct gt_def_marker *def = NULL;
	const char *text = gt_proc_string(t->loc->proc, (uint32_t)slot[1].time);
	const char *category = NULL, *group = NULL;

	gt_track_time(t, tick);
	if (GT_WORD_TYPE(slot->word) == GT_T_COMMENT) {
		gt_track_marker(t, "Comment", "user", 0, text ? text : "");
		return;
	}
	def = gt_proc_find(t->loc->proc, GT_D_MARKER, (uint32_t)GT_WORD_LOW(slot->word), NULL);
	if (def) {
		category = gt_proc_string(t->loc->proc, def->name);
		group = gt_proc_string(t->loc->proc, def->group);
	}
	/* VT_MARKER_TYPE_ERROR, WARNING, HINT are 1, 2, 3; OTF2's severities NONE to HIGH are 0 to 3 */
	gt_track_marker(t, category ? category : "Marker", group ? group : "user",
			def && def->severity >= 1 && def->severity <= 3
				? (uint8_t)(OTF2_SEVERITY_HIGH + 1 - def->severity)
				: OTF2_SEVERITY_NONE,
			text ? text : "");
}

void gt_convert_gap(struct gt_track *t, const struct gt_slot *slot, uint64_t tick)
{
	uint64_t payload = GT_WORD_PAYLOAD(slot->word);
	char text[160];

	gt_track_time(t, tick);
	snprintf(text, sizeof(text), "%llu events are missing here: %s",
		 (unsigned long long)(payload & GT_LOW48),
		 gt_loss_reason((unsigned)(payload >> GT_EXTRA_SHIFT)));
	gt_track_marker(t, "EVENTS LOST", "gputrace", SEVERITY_WARNING, text);
}

/* ---- the recorder's own doings --------------------------------------------------------------- */

/*
 * What others recorded for this location while it was spooled keeps its time: a message lies in the
 * flush, a region's border parts it in two, for it is the border of something around the flush.
 */
static void flush_meanwhile(struct gt_track *t, uint64_t word, uint64_t end)
{
	while (t->deferred_tick < end && !gt_archive_bad(t->conv->archive)) {
		uint64_t ns = gt_track_time(t, t->deferred_tick < t->last ? t->last : t->deferred_tick);
		bool parts = t->deferred->region;

		if (parts)
			gt_track_leave(t, ns);
		gt_track_foreign(t);
		if (parts)
			gt_track_enter(t, word, t->conv->region_flush, ns);
	}
}

static void count_flush(struct gt_tally *tally, uint64_t ns)
{
	tally->flushes++;
	tally->flush_ns += ns;
	if (ns > tally->longest_flush_ns)
		tally->longest_flush_ns = ns;
}

static void write_flush(struct gt_track *t, const struct gt_slot *slot, uint64_t tick)
{
	uint64_t end = slot->time + GT_WORD_PAYLOAD(slot->word);

	if (end > t->scale.tick_max || end < slot->time)
		end = slot->time;
	gt_track_enter(t, slot->word, t->conv->region_flush, gt_track_time(t, tick));
	if (end < t->last)
		end = t->last;
	if (t->hidden) {
		t->hidden--;
		return;
	}
	count_flush(&t->w->tally, gt_scale_ns(&t->scale, end) - gt_scale_ns(&t->scale, slot->time));
	flush_meanwhile(t, slot->word, end);
	gt_track_leave(t, gt_track_time(t, end));
}

void gt_convert_flush(struct gt_track *t, const struct gt_slot *slot, uint64_t tick)
{
	bool attributes = t->attributes;

	t->attributes = false; /* they are of the event that did not fit into the half */
	write_flush(t, slot, tick);
	t->attributes = attributes;
}

void gt_convert_on_off(struct gt_track *t, const struct gt_slot *slot, uint64_t tick)
{
	bool on = GT_WORD_TYPE(slot->word) == GT_T_ON;
	uint64_t word = GT_WORD(GT_T_OFF, 0), ns = gt_track_time(t, tick);
	bool off_is_open = t->depth && t->w->frames[t->depth - 1].word == word;

	if (on == !off_is_open)
		return; /* it is so already */
	if (!on)
		gt_track_enter(t, word, t->conv->region_off, ns);
	gt_track_write(t, MeasurementOnOff, ns, on ? OTF2_MEASUREMENT_ON : OTF2_MEASUREMENT_OFF);
	if (on)
		gt_track_leave(t, ns);
}

/* ---- user messages --------------------------------------------------------------------------- */

void gt_convert_user_message(struct gt_track *t, const struct gt_slot *slot, uint64_t tick)
{
	bool send = GT_WORD_TYPE(slot->word) == GT_T_USER_SEND;
	struct gt_peer peer = { .rank = GT_NO_PEER };
	uint32_t tag = (uint32_t)slot[1].time;
	uint64_t ns = gt_track_time(t, tick), bytes = slot[1].word;

	if (t->conv->messages)
		peer = gt_messages_peer(t->conv->messages, t->loc->number, slot->time, send, tag);
	if (peer.rank == GT_NO_PEER) {
		gt_track_no_attributes(t);
		t->w->tally.unmatched++;
		return;
	}
	if (send)
		gt_track_write(t, MpiSend, ns, peer.rank, peer.comm, tag, bytes);
	else
		gt_track_write(t, MpiRecv, ns, peer.rank, peer.comm, tag, bytes);
}

/* ---- regions --------------------------------------------------------------------------------- */

void gt_convert_enter(struct gt_track *t, const struct gt_slot *slot, uint64_t tick)
{
	gt_track_enter_word(t, slot->word, tick);
}

void gt_convert_leave(struct gt_track *t, const struct gt_slot *slot, uint64_t tick)
{
	gt_track_leave_word(t, slot->word, tick);
}

/* The next record belongs to another location, but this stream is none for such records. */
void gt_convert_for_location(struct gt_track *t, const struct gt_slot *slot, uint64_t tick)
{
	(void)slot;
	(void)tick;
	t->skip = true;
}

/* ---- program begin and end ------------------------------------------------------------------- */

void gt_track_begin(struct gt_track *t)
{
	const struct gt_proc *proc = t->loc->proc;
	const char *program = gt_journal_property(&proc->journal, "executable");
	const char *command = gt_journal_property(&proc->journal, "command");
	const char *arguments = command ? strchr(command, ' ') : NULL;
	OTF2_AttributeValue pid = { .uint64 = proc->header.pid };
	uint32_t rest = 0;

	if (arguments)
		rest = spoken(t, gt_defs_string(t->conv->defs, arguments + 1));
	gt_track_attribute(t, t->conv->process_id, OTF2_TYPE_UINT64, pid);
	gt_track_write(t, ProgramBegin, gt_scale_ns(&t->scale, t->last),
		       spoken(t, gt_defs_string(t->conv->defs, program ? program : proc->header.program)),
		       arguments ? 1 : 0, &rest);
}

void gt_track_end(struct gt_track *t, uint64_t ns)
{
	const struct gt_proc *proc = t->loc->proc;
	OTF2_AttributeValue pid = { .uint64 = proc->header.pid };
	int64_t status = OTF2_UNDEFINED_INT64;
	char text[160];

	if (proc->ended && (proc->header.how == GT_END_EXIT || proc->header.how == GT_END__EXIT ||
			    proc->header.how == GT_END_QUICK_EXIT))
		status = proc->header.status;
	for (unsigned cause = 0; cause < GT_LOSS_N; cause++) {
		struct gt_marker_def marker = { .severity = OTF2_SEVERITY_MEDIUM };

		if (!proc->header.lost[cause] || !gt_loss_real(cause))
			continue;
		marker.category = gt_defs_string(t->conv->defs, "EVENTS LOST");
		marker.group = gt_defs_string(t->conv->defs, "gputrace");
		snprintf(text, sizeof(text), "%llu events of this process are missing: %s",
			 (unsigned long long)proc->header.lost[cause], gt_loss_reason(cause));
		gt_archive_marker(t->conv->archive, t->conv->defs, &marker, ns, t->out->group, true,
				  text);
	}
	gt_track_attribute(t, t->conv->process_id, OTF2_TYPE_UINT64, pid);
	gt_track_write(t, ProgramEnd, ns, status);
}
