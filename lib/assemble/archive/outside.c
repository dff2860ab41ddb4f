/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Implements <gputrace/assemble.h> for adapters outside of the tree: reading the spool, and definitions.
 * Events are in write.c.
 *
 * Limits: see there.
 */
#include "config.h"

#include "lib/assemble/assembly.h"
#include "lib/assemble/spool/stream.h"
#include "lib/assemble/spool/units.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void **gt_state(struct gt_assembly *a, const struct gt_assembler *self)
{
	static void *nobody;

	for (size_t i = 0; gt_assembler(i); i++)
		if (gt_assembler(i)->name == self->name) /* what is listed may be a copy */
			return &a->states[i];
	return &nobody;
}

void gt_assembly_say(const struct gt_assembly *a, int level, const char *format, ...)
{
	char text[1200];
	va_list ap;

	if (a->options->verbose < level)
		return;
	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	fprintf(stderr, "[gputrace] %s\n", text);
}

/* ---- reading ----------------------------------------------------------------------------------------- */

const struct gt_proc *gt_read_process(const struct gt_assembly *a, size_t n)
{
	return n < a->spool.proc_count ? &a->spool.procs[n] : NULL;
}

const struct gt_loc *gt_read_location(const struct gt_proc *proc, size_t n)
{
	return n < proc->loc_count ? &proc->locs[n] : NULL;
}

/* Says of the first struct that cannot be used whose it is and why. */
static void refuse(const char *function, size_t bytes, size_t first, const void *caller)
{
	static bool said;
	char sentence[700];

	if (!said)
		fprintf(stderr, "[gputrace] %s\n",
			gt_sized_refusal(sentence, sizeof(sentence), function, bytes, first, caller));
	said = true;
}

static bool taken(void *copy, size_t bytes, size_t first, const void *given, const char *function,
		  const void *caller)
{
	bool is_usable = gt_sized_in(copy, bytes, first, given);

	if (!is_usable && given)
		refuse(function, gt_sized(given), first, caller);
	return is_usable;
}
#define TAKEN(copy, first, given)                                                                            \
	taken(&(copy), sizeof(copy), first, given, __func__, __builtin_return_address(0))

void gt_read_process_info(const struct gt_proc *proc, struct gt_process_info *info)
{
	const struct gt_process_info own = { .pid = proc->header.pid, .rank = proc->header.rank,
					     .host = proc->header.host, .program = proc->header.program };

	if (!gt_sized_out(info, GT_FIRST_PROCESS, &own, sizeof(own)))
		refuse(__func__, info->bytes, GT_FIRST_PROCESS, __builtin_return_address(0));
}

void gt_read_location_info(const struct gt_loc *loc, struct gt_loc_info *info)
{
	const struct gt_def_location *def =
		gt_journal_find(&loc->proc->journal, GT_D_LOCATION, loc->id, NULL);

	const struct gt_loc_info own = { .id = loc->id, .kind = loc->win.kind, .flags = loc->win.flags,
					 .group = def ? def->group : 0, .key = def ? def->key : 0,
					 .name = def ? gt_proc_string(loc->proc, def->name) : NULL };

	if (!gt_sized_out(info, GT_FIRST_LOC, &own, sizeof(own)))
		refuse(__func__, info->bytes, GT_FIRST_LOC, __builtin_return_address(0));
}

uint32_t gt_read_number(const struct gt_loc *loc)
{
	return loc->number;
}

const char *gt_read_string(const struct gt_proc *proc, gt_ref id)
{
	return gt_proc_string(proc, id);
}

const char *gt_read_property(const struct gt_proc *proc, const char *key)
{
	for (size_t i = gt_journal_count(&proc->journal, GT_D_PROPERTY); i-- > 0;) {
		const char *found = gt_journal_nth(&proc->journal, GT_D_PROPERTY, i, NULL, NULL);

		if (!strcmp(found, key))
			return found + strlen(found) + 1;
	}
	return NULL;
}

bool gt_read_is_own(const struct gt_proc *proc, const struct gt_slot *slot, const struct gt_assembler *self,
		    const char *name)
{
	const struct gt_def_record *def =
		GT_WORD_TYPE(slot->word) == GT_T_OWN
			? gt_proc_find(proc, GT_D_RECORD, (uint32_t)GT_WORD_LOW(slot->word), NULL)
			: NULL;
	const char *adapter = def ? gt_proc_string(proc, def->adapter) : NULL;
	const char *text = def ? gt_proc_string(proc, def->name) : NULL;

	return adapter && text && !strcmp(adapter, self->name) && !strcmp(text, name);
}

int gt_read_records(const struct gt_loc *loc,
		    int (*each)(void *context, const struct gt_loc *loc, const struct gt_slot *slot),
		    void *context)
{
	struct gt_slot *buffer = malloc(GT_STREAM_BUFFER);
	struct gt_stream stream;
	int rc = buffer ? 0 : -ENOMEM;

	if (rc || loc->begin >= loc->end)
		goto out;
	rc = gt_stream_open(&stream, loc, buffer);
	if (rc) {
		rc = gt_spool_try_again(rc) ? rc : 0; /* the conversion counts what is not there */
		goto out;
	}
	for (;;) {
		size_t rest = (size_t)(stream.end - stream.at);
		unsigned slots;

		if (rest * sizeof(*stream.at) < GT_STREAM_TAIL && !stream.eof) {
			rc = gt_stream_more(&stream);
			if (rc)
				break;
			continue;
		}
		if (!rest)
			break;
		slots = gt_slots_of(stream.at);
		if (gt_type_known(GT_WORD_TYPE(stream.at->word)) && slots <= rest) {
			rc = GT_WORD_TYPE(stream.at->word) == GT_T_PAD ? 0 : each(context, loc, stream.at);
			if (rc)
				break;
			stream.at += slots;
		} else {
			stream.at++;
		}
	}
	gt_stream_close(&stream);
out:
	free(buffer);
	return rc;
}

uint64_t gt_read_time(const struct gt_assembly *a, const struct gt_proc *proc, uint64_t tick)
{
	return gt_scale_ns(&a->clock.scales[proc - a->spool.procs], tick);
}

/* ---- definitions ------------------------------------------------------------------------------------- */

static uint32_t string_of(struct gt_assembly *a, const char *text)
{
	return gt_defs_string(&a->defs, text ? text : "");
}

uint32_t gt_out_string(struct gt_assembly *a, const char *text)
{
	return gt_defs_spoken(&a->defs, string_of(a, text));
}

static uint32_t region_of(struct gt_assembly *a, const struct gt_region_info *info)
{
	struct gt_region region = { .group = GT_UNDEFINED };
	char demangled[GT_NAME_MAX + 1];
	const char *name = info->name;

	if (!name)
		name = gt_demangled(info->canonical, demangled) ? demangled : info->canonical;
	region.name = string_of(a, name);
	region.canonical = info->canonical ? string_of(a, info->canonical) : region.name;
	region.file = string_of(a, info->file);
	if (info->group)
		region.group = string_of(a, info->group);
	region.begin = info->begin_line;
	region.end = info->end_line;
	region.role = info->role <= GT_ROLE_MOST ? info->role : 0;
	region.paradigm = info->paradigm <= GT_PARADIGM_MOST ? info->paradigm : 0;
	return gt_defs_named_region(&a->defs, &region, 0);
}

uint32_t gt_out_region(struct gt_assembly *a, const struct gt_region_info *given)
{
	struct gt_region_info info;

	if (!TAKEN(info, GT_FIRST_REGION, given) || !(info.name || info.canonical))
		return GT_NO_NUMBER;
	return region_of(a, &info);
}

uint32_t gt_out_attribute(struct gt_assembly *a, const char *name, const char *description,
			  enum gt_value value)
{
	return gt_defs_attribute(&a->defs, &(struct gt_attribute_def){ .name = string_of(a, name),
								   .description = string_of(a, description),
								   .type = (uint8_t)value });
}

uint32_t gt_out_parameter(struct gt_assembly *a, const char *name, enum gt_value value)
{
	/* OTF2_ParameterType: STRING 0, INT64 1, UINT64 2 */
	return gt_defs_parameter(&a->defs, &(struct gt_attribute_def){ .name = string_of(a, name),
								   .type = value == GT_VALUE_INT ? 1 : 2 });
}

uint32_t gt_out_metric(struct gt_assembly *a, const struct gt_metric_info *given)
{
	struct gt_metric_info info;
	struct gt_member member;
	uint32_t number;

	if (!TAKEN(info, GT_FIRST_METRIC, given) || !info.name)
		return GT_NO_NUMBER;
	member = (struct gt_member){ .name = string_of(a, info.name),
				     .description = string_of(a, info.description),
				     .unit = string_of(a, info.unit ? info.unit : "#"),
				     .value = (uint8_t)info.value,
				     .mode = info.mode,
				     .kind = GT_METRIC_TYPE_USER,
				     .binary = info.binary,
				     .exponent = info.exponent };
	number = gt_defs_member(&a->defs, &member);
	return gt_defs_metric_class(&a->defs, &number, 1, false);
}

static uint32_t comm_of(struct gt_assembly *a, const struct gt_out_comm *info)
{
	struct gt_comm comm = { .parent = GT_UNDEFINED, .proc = GT_UNDEFINED };
	/* Where hosts convert their own spools the first word and what it belongs to tell two apart. */
	uint32_t key[5] = { 0 }, number;
	bool fresh;

	comm.name = string_of(a, info->name);
	comm.paradigm = info->paradigm;
	if (info->proc) {
		comm.proc = info->proc->number;
	} else {
		comm.members = malloc((info->count + 1) * sizeof(*comm.members));
		if (!comm.members)
			return GT_NO_NUMBER;
		memcpy(comm.members, info->members, info->count * sizeof(*comm.members));
		comm.member_count = info->count;
	}
	key[0] = gt_fnv32(info->paradigm, info->name ? info->name : "", info->name ? strlen(info->name) : 0) |
		 1u << 31;
	memcpy(key + 1, (uint32_t[]){ comm.name, comm.paradigm, comm.proc }, 3 * sizeof(*key));
	number = gt_defs_comm(&a->defs, key, sizeof(key), &comm, &fresh);
	if (!fresh)
		free(comm.members);
	return number;
}

uint32_t gt_out_comm(struct gt_assembly *a, const struct gt_out_comm *given)
{
	struct gt_out_comm info;

	if (!TAKEN(info, GT_FIRST_OUT_COMM, given) || (!info.proc && info.count && !info.members))
		return GT_NO_NUMBER;
	return comm_of(a, &info);
}

void gt_out_property(struct gt_assembly *a, const struct gt_proc *proc, const char *name, const char *value)
{
	if (!proc)
		gt_archive_property(a->conv.archive, name, value);
	else if (proc->number != GT_NOT_WRITTEN)
		gt_properties_add(&a->properties, &a->defs, true, proc->number, name, value);
}
