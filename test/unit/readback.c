/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An archive as text: a visitor of lib/read.
 *
 * Limits: see readback.h.
 */
#include "test/unit/readback.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/read/read.h"

#define NAME(read, kind, id) (gt_otf2_find_##kind(read, id) ? gt_otf2_find_##kind(read, id)->name : "?")
#define ALL(KIND, kind, d)                                                                                  \
	const struct gt_otf2_##kind *d = gt_otf2_##kind##_at(read, 0);                                      \
	d < gt_otf2_##kind##_at(read, read->tables[GT_OTF2_##KIND].count);                                  \
	d++

/* ---- definitions ---------------------------------------------------------------------------- */

static void put_places(FILE *out, const struct gt_otf2 *read)
{
	for (ALL(NODE, node, d))
		fprintf(out, "node %" PRIu64 " %s %s parent %d\n", d->id, d->class_name, d->name,
			(int)d->parent);
	for (ALL(LOCATION_GROUP, location_group, d))
		fprintf(out, "group %" PRIu64 " %s %s node %u creator %d\n", d->id,
			d->type == OTF2_LOCATION_GROUP_TYPE_PROCESS ? "PROCESS" : "ACCELERATOR", d->name,
			d->parent, (int)d->creator);
	for (ALL(LOCATION, location, d))
		fprintf(out, "location %" PRIu64 " %s %s in %s: %" PRIu64 " events\n", d->id,
			d->type == OTF2_LOCATION_TYPE_CPU_THREAD ? "THREAD"
			: d->type == OTF2_LOCATION_TYPE_METRIC	 ? "METRIC"
								 : "STREAM",
			d->name, NAME(read, location_group, d->group), d->events);
	for (ALL(REGION, region, d))
		fprintf(out, "region %" PRIu64 " %s (%s) role %u paradigm %u at %s:%u\n", d->id, d->name,
			d->canonical, d->role, d->paradigm, *d->file ? d->file : "?", d->begin_line);
}

static void put_comms(FILE *out, const struct gt_otf2 *read)
{
	static const char *const types[] = { "UNKNOWN", "LOCATIONS", "REGIONS", "METRIC",
					     "COMM_LOCATIONS", "COMM_GROUP", "COMM_SELF" };

	for (ALL(GROUP, group, d)) {
		fprintf(out, "set %" PRIu64 " %s %s paradigm %u:", d->id, types[d->type], d->name,
			d->paradigm);
		for (uint32_t i = 0; i < d->count; i++)
			fprintf(out, " %" PRIu64, d->members[i]);
		fputc('\n', out);
	}
	for (ALL(COMM, comm, d))
		fprintf(out, "comm %" PRIu64 " %s set %u parent %d\n", d->id, d->name, d->group,
			(int)d->parent);
	for (ALL(WINDOW, window, d))
		fprintf(out, "window %" PRIu64 " %s comm %u\n", d->id, d->name, d->comm);
	for (ALL(PARADIGM, paradigm, d))
		fprintf(out, "paradigm %u %s class %u\n", d->paradigm, d->name, d->class_of);
}

static void put_io(FILE *out, const struct gt_otf2 *read)
{
	for (ALL(IO_PARADIGM, io_paradigm, d))
		fprintf(out, "io %" PRIu64 " %s %s\n", d->id, d->identification, d->name);
	for (ALL(IO_FILE, io_file, d))
		fprintf(out, "file %" PRIu64 " %s\n", d->id, d->name);
	for (ALL(IO_HANDLE, io_handle, d)) {
		const struct gt_otf2_io_paradigm *io = gt_otf2_find_io_paradigm(read, d->paradigm);

		fprintf(out, "handle %" PRIu64 " %s %s file %d%s\n", d->id, io ? io->identification : "?",
			d->name, (int)d->file, d->flags & OTF2_IO_HANDLE_FLAG_PRE_CREATED ? " found" : "");
	}
	for (ALL(IO_STATE, io_state, d))
		fprintf(out, "found %u mode %u status %u\n", d->handle, d->mode, d->flags);
}

static void put_metrics(FILE *out, const struct gt_otf2 *read)
{
	static const char *const kinds[] = { "any", "instances", "threads", "GPUs" };

	for (ALL(METRIC_MEMBER, metric_member, d))
		fprintf(out, "member %" PRIu64 " %s mode %u type %u unit %s\n", d->id, d->name, d->mode,
			d->type, d->unit);
	for (ALL(METRIC, metric, d)) {
		if (d->instance) {
			fprintf(out, "instance %" PRIu64 " of %u recorder %" PRIu64 " scope %u %" PRIu64 "\n",
				d->id, d->class_id, d->recorder, d->scope, d->scope_id);
			continue;
		}
		fprintf(out, "class %" PRIu64 " of %s:", d->id,
			d->recorder_kind < 4 ? kinds[d->recorder_kind] : "?");
		for (unsigned i = 0; i < d->count; i++)
			fprintf(out, " %u", d->members[i]);
		fputc('\n', out);
	}
}

/* "main:12/work:30": regions and lines of a path, or only the regions. */
static void put_path(FILE *out, const struct gt_otf2 *read, uint32_t id, bool lines)
{
	const struct gt_otf2_context *c = gt_otf2_find_context(read, id);
	const struct gt_otf2_source *s = c ? gt_otf2_find_source(read, c->source) : NULL;

	if (c && c->parent != OTF2_UNDEFINED_CALLING_CONTEXT) {
		put_path(out, read, c->parent, lines);
		putc('/', out);
	}
	fputs(c ? NAME(read, region, c->region) : "?", out);
	if (s && lines)
		fprintf(out, ":%u", s->line);
}

static void put_samples(FILE *out, const struct gt_otf2 *read)
{
	for (ALL(INTERRUPT, interrupt, d))
		fprintf(out, "interrupt %s mode %u period %" PRIu64 " exponent %d base %u\n", d->name,
			d->mode, d->period, (int)d->exponent, d->base);
	for (ALL(SOURCE, source, d))
		fprintf(out, "source %s:%u\n", d->file, d->line);
	for (ALL(CONTEXT, context, d)) {
		const struct gt_otf2_property *module =
			gt_otf2_find_owned(read, GT_OTF2_CONTEXT, d->id, "module");

		fprintf(out, "context ");
		put_path(out, read, (uint32_t)d->id, true);
		fprintf(out, "%s%s\n", module ? " of " : "", module ? module->text : "");
	}
}

static void put_definitions(FILE *out, const struct gt_otf2 *read)
{
	for (ALL(PROPERTY, property, d)) {
		if (d->kind == GT_OTF2_KINDS)
			fprintf(out, "property %s=%s\n", d->name, d->text);
		else if (d->kind == GT_OTF2_LOCATION_GROUP || d->kind == GT_OTF2_LOCATION)
			fprintf(out, "%s %" PRIu64 " %s=%s\n",
				d->kind == GT_OTF2_LOCATION ? "location" : "group", d->owner, d->name,
				d->text);
	}
	fprintf(out, "clock %" PRIu64 " from %" PRIu64 " length %" PRIu64 " real %d\n", read->resolution,
		read->begin, read->end - read->begin, read->realtime > UINT64_C(1500000000000000000));
	put_places(out, read);
	put_comms(out, read);
	put_io(out, read);
	put_metrics(out, read);
	put_samples(out, read);
}

/* ---- events --------------------------------------------------------------------------------- */

static void put_begin(const struct gt_otf2_cursor *at)
{
	fprintf(at->user, "%" PRIu64 " %" PRIu64 " ", at->location->id, at->ticks);
}

static void put_end(const struct gt_otf2_cursor *at)
{
	for (uint32_t i = 0; i < at->attribute_count; i++) {
		OTF2_AttributeValue value;
		OTF2_Type type;
		uint32_t id;

		if (!gt_otf2_nth_attribute(at, i, &id, &type, &value))
			continue;
		fprintf(at->user, " [%s=", NAME(at->read, attribute, id));
		if (type == OTF2_TYPE_STRING)
			fputs(gt_otf2_text(at->read, value.stringRef), at->user);
		else if (type == OTF2_TYPE_CALLING_CONTEXT)
			put_path(at->user, at->read, value.callingContextRef, false);
		else
			fprintf(at->user, "%" PRIu64, value.uint64);
		putc(']', at->user);
	}
	putc('\n', at->user);
}

static void on_enter(struct gt_otf2_cursor *at)
{
	put_begin(at);
	fprintf(at->user, "ENTER %s", at->stack[at->depth - 1].region->name);
	put_end(at);
}

static void on_leave(struct gt_otf2_cursor *at, const struct gt_otf2_frame *frame)
{
	put_begin(at);
	fprintf(at->user, "LEAVE %s", frame->region->name);
	put_end(at);
}

static void put_metric(FILE *out, const struct gt_otf2_Metric *m)
{
	fprintf(out, "METRIC %u", m->metric);
	for (unsigned i = 0; i < m->count; i++) {
		if (m->types[i] == OTF2_TYPE_DOUBLE)
			fprintf(out, " %g", m->values[i].floating_point);
		else if (m->types[i] == OTF2_TYPE_INT64)
			fprintf(out, " %" PRId64, m->values[i].signed_int);
		else
			fprintf(out, " %" PRIu64, m->values[i].unsigned_int);
	}
}

#define CASE(type, ...)                       \
	case GT_OTF2_##type: {                \
		const struct gt_otf2_##type *d = &e->type; \
					      \
		(void)d;                      \
		fprintf(out, __VA_ARGS__);    \
		return;                       \
	}
#define HANDLE NAME(read, io_handle, d->handle)
#define COMM   NAME(read, comm, d->comm)
#define WINDOW NAME(read, window, d->win)

static void put_io_event(FILE *out, const struct gt_otf2 *read, const struct gt_otf2_event *e)
{
	switch (e->type) {
	CASE(IoCreateHandle, "OPEN %s mode %u creation %u status %u", HANDLE, d->mode, d->creation, d->status)
	CASE(IoDestroyHandle, "CLOSE %s", HANDLE)
	CASE(IoDuplicateHandle, "DUP %s to %u %s status %u", HANDLE, d->copy, NAME(read, io_handle, d->copy),
	     d->status)
	CASE(IoSeek, "SEEK %s %" PRId64 " whence %u at %" PRId64, HANDLE, d->offset, d->whence,
	     (int64_t)d->result)
	CASE(IoOperationBegin, "IO %s mode %u flags %u bytes %" PRId64 " id %" PRIx64, HANDLE, d->mode,
	     d->flags, (int64_t)d->bytes, d->matching)
	CASE(IoOperationComplete, "DONE %s bytes %" PRId64 " id %" PRIx64, HANDLE, (int64_t)d->bytes,
	     d->matching)
	default:
		fprintf(out, "%s", gt_otf2_type_names[e->type]);
	}
}

static void put_event(FILE *out, const struct gt_otf2 *read, const struct gt_otf2_event *e)
{
	switch (e->type) {
	CASE(MeasurementOnOff, "%s", d->mode == OTF2_MEASUREMENT_ON ? "ON" : "OFF")
	CASE(ProgramBegin, "BEGIN %s%s%s", gt_otf2_text(read, d->name), d->count ? " " : "",
	     d->count ? gt_otf2_text(read, d->arguments[0]) : "")
	CASE(ParameterInt, "INT %s=%" PRId64, NAME(read, parameter, d->parameter), d->value)
	CASE(ParameterUnsignedInt, "UINT %s=%" PRIu64, NAME(read, parameter, d->parameter), d->value)
	CASE(ParameterString, "STRING %s=%s", NAME(read, parameter, d->parameter),
	     gt_otf2_text(read, d->string))
	CASE(MpiSend, "SEND to %u tag %u %" PRIu64 " bytes on %s", d->peer, d->tag, d->bytes, COMM)
	CASE(MpiRecv, "RECV from %u tag %u %" PRIu64 " bytes on %s", d->peer, d->tag, d->bytes, COMM)
	CASE(RmaPut, "PUT to %u in %s bytes %" PRIu64 " id %" PRIu64, d->remote, WINDOW, d->bytes,
	     d->matching)
	CASE(RmaGet, "GET from %u in %s bytes %" PRIu64 " id %" PRIu64, d->remote, WINDOW, d->bytes,
	     d->matching)
	CASE(RmaOpCompleteBlocking, "COMPLETE in %s id %" PRIu64, WINDOW, d->matching)
	CASE(ThreadAcquireLock, "ACQUIRE %u order %u paradigm %u", d->lock, d->order, d->model)
	CASE(ThreadReleaseLock, "RELEASE %u order %u paradigm %u", d->lock, d->order, d->model)
	CASE(ThreadCreate, "THREAD_CREATE %" PRIu64 " on %s", d->number, COMM)
	CASE(ThreadBegin, "THREAD_BEGIN %" PRIu64 " on %s", d->number, COMM)
	CASE(ThreadWait, "THREAD_WAIT %" PRIu64 " on %s", d->number, COMM)
	CASE(ThreadEnd, "THREAD_END %" PRIu64 " on %s", d->number, COMM)
	case GT_OTF2_Metric:
		return put_metric(out, &e->Metric);
	case GT_OTF2_CallingContextSample:
		fprintf(out, "SAMPLE ");
		put_path(out, read, e->CallingContextSample.context, false);
		fprintf(out, " +%u by %s", e->CallingContextSample.unwind,
			NAME(read, interrupt, e->CallingContextSample.interrupt));
		return;
	case GT_OTF2_ProgramEnd:
		fprintf(out, "END");
		if (e->ProgramEnd.status != OTF2_UNDEFINED_INT64)
			fprintf(out, " %" PRId64, e->ProgramEnd.status);
		return;
	default:
		put_io_event(out, read, e);
	}
}

static void on_event(struct gt_otf2_cursor *at, const struct gt_otf2_event *e)
{
	put_begin(at);
	put_event(at->user, at->read, e);
	put_end(at);
}

static void on_marker(void *user, const struct gt_otf2_marker *m)
{
	fprintf(user, "marker %" PRIu64 " %s %s %" PRIu64 " %s\n", m->time, m->category,
		m->scope == OTF2_MARKER_SCOPE_LOCATION ? "location" : "group", m->scope_id, m->text);
}

/* ---- archives ------------------------------------------------------------------------------- */

enum what { EVENTS, DEFINITIONS, MARKERS };

static int put(FILE *out, struct gt_otf2 *read, enum what what)
{
	int rc = gt_otf2_definitions(read);

	if (!rc && what == EVENTS)
		rc = gt_otf2_events(read);
	if (!rc && what == DEFINITIONS)
		put_definitions(out, read);
	if (!rc && what == MARKERS)
		gt_otf2_markers(read, on_marker);
	return rc;
}

/* One thread reads the locations in their order. */
static char *read_archive(const char *dir, enum what what)
{
	static const struct gt_otf2_visitor visitor = { .enter = on_enter,
							.leave = on_leave,
							.event = on_event };
	struct gt_otf2_options options = { .visitor = &visitor, .threads = 1 };
	struct gt_otf2 *read;
	char path[700], *words = NULL;
	size_t size;
	int rc;

	snprintf(path, sizeof(path), "%s/traces.otf2", dir);
	options.user = open_memstream(&words, &size);
	if (!options.user)
		abort();
	read = gt_otf2_open(path, &options);
	rc = read ? put(options.user, read, what) : -1;
	gt_otf2_close(read);
	fclose(options.user);
	if (!rc)
		return words;
	free(words);
	return NULL;
}

char *rb_events(const char *dir)
{
	return read_archive(dir, EVENTS);
}

char *rb_definitions(const char *dir)
{
	return read_archive(dir, DEFINITIONS);
}

char *rb_markers(const char *dir)
{
	return read_archive(dir, MARKERS);
}
