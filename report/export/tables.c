/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Turns definitions and events into rows of tables.
 *
 * Limits: see tables.h.
 */
#include "config.h"

#include "report/export/tables.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/assemble/util/memory.h"

/* Of one location. */
struct state {
	struct operation {
		uint64_t matching, begin;
		const char *file;
		OTF2_IoOperationMode mode;
	} *operations; /* that were begun */
	size_t count, room;
	uint64_t collective; /* begin */
};

#define INT(v)  ((struct gt_export_value){ .type = 'i', .integer = (int64_t)(v) })
#define REAL(v) ((struct gt_export_value){ .type = 'r', .real = (v) })
#define TEXT(v) ((struct gt_export_value){ .type = 't', .text = (v) })
#define NONE    ((struct gt_export_value){ .type = 0 })
#define REF(v, none) ((v) == (none) ? NONE : INT(v))
#define ROW(export, place, table, ...)                                                                       \
	((struct gt_tables *)(export)->face)                                                                 \
		->row(export, place, GT_TABLE_##table, (struct gt_export_value[]){ __VA_ARGS__ })

/* ---- the kinds --------------------------------------------------------------------------------- */

static void parse(struct gt_table_kind *kind, const char *name, const char *columns)
{
	kind->name = name;
	for (const char *c = columns, *end; *c; c = *end ? end + 1 : end, kind->count++) {
		size_t length = strcspn(c, ":;");

		end = strchrnul(c, ';');
		memcpy(kind->columns[kind->count].name, c, length);
		kind->columns[kind->count].type = c[length] == ':' ? c[length + 1] : 'i';
	}
}

struct gt_tables *gt_tables_new(struct gt_export *export)
{
	struct gt_tables *tables = gt_zeroed(1, sizeof(*tables));

#define PARSE(KIND, name, columns) parse(&tables->kinds[GT_TABLE_##KIND], #name, columns);
	GT_TABLES(PARSE)
#undef PARSE
	export->face = tables;
	return tables;
}

/* ---- definitions ------------------------------------------------------------------------------- */

static void put_info(struct gt_export *export)
{
	const struct gt_otf2 *read = export->read;
	char number[32];

	ROW(export, NULL, INFO, TEXT("exporter"), TEXT("gputrace " PACKAGE_VERSION));
	snprintf(number, sizeof(number), "%" PRIu64, gt_otf2_ns(read, read->end));
	ROW(export, NULL, INFO, TEXT("duration_ns"), TEXT(number));
	if (read->realtime != OTF2_UNDEFINED_TIMESTAMP) {
		snprintf(number, sizeof(number), "%" PRIu64, read->realtime);
		ROW(export, NULL, INFO, TEXT("begin_ns_since_1970"), TEXT(number));
	}
	for (size_t i = 0; i < read->tables[GT_OTF2_PROPERTY].count; i++) {
		const struct gt_otf2_property *p = gt_otf2_property_at(read, i);

		if (p->kind == GT_OTF2_KINDS)
			ROW(export, NULL, INFO, TEXT(p->name), TEXT(p->text));
	}
}

/* The rank in MPI_COMM_WORLD of each location group, UINT32_MAX: none. */
static uint32_t *ranks_of(const struct gt_otf2 *read)
{
	size_t count = read->tables[GT_OTF2_LOCATION_GROUP].count;
	uint32_t *ranks = gt_need(malloc((count + 1) * sizeof(*ranks)));

	memset(ranks, 0xff, (count + 1) * sizeof(*ranks));
	for (size_t i = 0; i < read->tables[GT_OTF2_GROUP].count; i++) {
		const struct gt_otf2_group *group = gt_otf2_group_at(read, i);

		if (group->type != OTF2_GROUP_TYPE_COMM_LOCATIONS || group->paradigm != OTF2_PARADIGM_MPI)
			continue;
		for (uint32_t m = 0; m < group->count; m++) {
			const struct gt_otf2_location *l = gt_otf2_find_location(read, group->members[m]);
			ptrdiff_t at = l ? gt_otf2_index(read, GT_OTF2_LOCATION_GROUP, l->group) : -1;

			if (at >= 0 && ranks[at] == UINT32_MAX)
				ranks[at] = m;
		}
	}
	return ranks;
}

static void put_processes(struct gt_export *export)
{
	const struct gt_otf2 *read = export->read;
	uint32_t *ranks = ranks_of(read);

	for (size_t i = 0; i < read->tables[GT_OTF2_LOCATION_GROUP].count; i++) {
		const struct gt_otf2_location_group *group = gt_otf2_location_group_at(read, i);

		ROW(export, NULL, PROCESSES, INT(group->id), TEXT(group->name),
		    TEXT(group->type == OTF2_LOCATION_GROUP_TYPE_ACCELERATOR ? "accelerator" : "process"),
		    REF(group->creator, OTF2_UNDEFINED_LOCATION_GROUP), REF(ranks[i], UINT32_MAX));
	}
	free(ranks);
}

static const char *location_kind(OTF2_LocationType type)
{
	switch (type) {
	case OTF2_LOCATION_TYPE_CPU_THREAD:
		return "thread";
	case OTF2_LOCATION_TYPE_ACCELERATOR_STREAM:
		return "stream";
	case OTF2_LOCATION_TYPE_METRIC:
		return "metric";
	}
	return "other";
}

static void put_threads(struct gt_export *export)
{
	const struct gt_otf2 *read = export->read;

	for (size_t i = 0; i < read->tables[GT_OTF2_LOCATION].count; i++) {
		const struct gt_otf2_location *l = gt_otf2_location_at(read, i);

		if (gt_part_has(&export->part, i))
			ROW(export, NULL, THREADS, INT(l->id), TEXT(l->name), TEXT(location_kind(l->type)),
			    REF(l->group, OTF2_UNDEFINED_LOCATION_GROUP), INT(l->events));
	}
}

static const char *paradigm_name(const struct gt_otf2 *read, OTF2_Paradigm paradigm)
{
	static const struct {
		OTF2_Paradigm paradigm;
		const char *name;
	} names[] = {
		{ OTF2_PARADIGM_USER, "user" },         { OTF2_PARADIGM_COMPILER, "compiler" },
		{ OTF2_PARADIGM_OPENMP, "OpenMP" },     { OTF2_PARADIGM_MPI, "MPI" },
		{ OTF2_PARADIGM_CUDA, "CUDA" },         { OTF2_PARADIGM_PTHREAD, "Pthreads" },
		{ OTF2_PARADIGM_MEASUREMENT_SYSTEM, "measurement" },
	};

	for (size_t i = 0; i < read->tables[GT_OTF2_PARADIGM].count; i++)
		if (gt_otf2_paradigm_at(read, i)->paradigm == paradigm)
			return gt_otf2_paradigm_at(read, i)->name;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (names[i].paradigm == paradigm)
			return names[i].name;
	return "other";
}

static void put_regions(struct gt_export *export)
{
	const struct gt_otf2 *read = export->read;

	for (size_t i = 0; i < read->tables[GT_OTF2_REGION].count; i++) {
		const struct gt_otf2_region *r = gt_otf2_region_at(read, i);

		ROW(export, NULL, REGIONS, INT(r->id), TEXT(r->name), TEXT(r->canonical),
		    TEXT(paradigm_name(read, r->paradigm)), *r->file ? TEXT(r->file) : NONE,
		    *r->file && r->begin_line ? INT(r->begin_line) : NONE);
	}
}

void gt_tables_definitions(struct gt_export *export)
{
	const struct gt_otf2 *read = export->read;

	put_info(export);
	put_processes(export);
	put_threads(export);
	put_regions(export);
	for (size_t i = 0; i < read->tables[GT_OTF2_METRIC_MEMBER].count; i++) {
		const struct gt_otf2_metric_member *m = gt_otf2_metric_member_at(read, i);

		ROW(export, NULL, METRICS, INT(m->id), TEXT(m->name), TEXT(m->unit), TEXT(m->description));
	}
	for (size_t i = 0; i < read->tables[GT_OTF2_COMM].count; i++) {
		const struct gt_otf2_comm *c = gt_otf2_comm_at(read, i);

		ROW(export, NULL, COMMUNICATORS, INT(c->id), TEXT(c->name),
		    INT(gt_otf2_comm_size(read, c->id)));
	}
}

/* ---- events ------------------------------------------------------------------------------------ */

#define INNER(place) REF(gt_export_inner(place), 0)

void gt_tables_begin(struct gt_export_place *place)
{
	place->face = gt_zeroed(1, sizeof(struct state));
}

void gt_tables_end(struct gt_export_place *place)
{
	struct state *state = place->face;

	free(state->operations);
	free(state);
}

/* A call that says who made it. */
static void put_path(struct gt_export_place *place, const struct gt_export_call *call)
{
	const struct gt_otf2_source *source = gt_call_source(place->export->read, call->path);
	char *functions = gt_call_functions(place->export->read, call->path);

	ROW(place->export, place, PATHS, INT(call->id), TEXT(functions), source ? TEXT(source->file) : NONE,
	    source ? INT(source->line) : NONE);
	free(functions);
}

void gt_tables_call(struct gt_export_place *place, const struct gt_export_call *call)
{
	ROW(place->export, place, CALLS, INT(call->id), INT(place->at->location->id),
	    REF(call->region->id, GT_OTF2_NOTHING), REF(call->parent, 0), INT(call->depth), INT(call->begin),
	    INT(call->end), INT(call->self), INT(call->whole));
	if (call->path)
		put_path(place, call);
}

/* What a real number may not have all digits of; nothing if it is none, or too large for an integer. */
static struct gt_export_value exact_value(OTF2_Type type, OTF2_MetricValue value)
{
	bool is = type == OTF2_TYPE_INT64 || (type == OTF2_TYPE_UINT64 && value.unsigned_int <= INT64_MAX);

	return is ? INT(value.signed_int) : NONE;
}

static void put_values(struct gt_export_place *place, const struct gt_otf2_Metric *e)
{
	const struct gt_otf2_metric *metric = gt_otf2_find_metric(place->export->read, e->metric);

	for (unsigned i = 0; metric && i < e->count && i < metric->count; i++)
		ROW(place->export, place, VALUES, INT(place->at->location->id), INT(metric->members[i]),
		    INT(place->at->time), REAL(gt_otf2_number(e->types[i], e->values[i])),
		    exact_value(e->types[i], e->values[i]));
}

static void put_parameter(struct gt_export_place *place, uint64_t id, const char *value)
{
	const struct gt_otf2_parameter *parameter = gt_otf2_find_parameter(place->export->read, id);

	ROW(place->export, place, PARAMETERS, INNER(place), INT(place->at->location->id),
	    INT(place->at->time), TEXT(parameter->name), TEXT(value));
}

static const char *collective_name(OTF2_CollectiveOp op)
{
	static const struct {
		OTF2_CollectiveOp op;
		const char *name;
	} names[] = {
#define OP(name) { OTF2_COLLECTIVE_OP_##name, #name }
		OP(BARRIER), OP(BCAST), OP(GATHER), OP(GATHERV), OP(SCATTER), OP(SCATTERV), OP(ALLGATHER),
		OP(ALLGATHERV), OP(ALLTOALL), OP(ALLTOALLV), OP(ALLTOALLW), OP(ALLREDUCE), OP(REDUCE),
		OP(REDUCE_SCATTER), OP(REDUCE_SCATTER_BLOCK), OP(SCAN), OP(EXSCAN), OP(CREATE_HANDLE),
		OP(DESTROY_HANDLE), OP(ALLOCATE), OP(DEALLOCATE), OP(CREATE_HANDLE_AND_ALLOCATE),
		OP(DESTROY_HANDLE_AND_DEALLOCATE),
#undef OP
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (names[i].op == op)
			return names[i].name;
	return "OTHER";
}

/* A non-blocking one has no begin of its own. */
static void put_collective(struct gt_export_place *place, const struct gt_otf2_MpiCollectiveEnd *e,
			   bool blocking)
{
	struct state *state = place->face;

	ROW(place->export, place, COLLECTIVES, INT(place->at->location->id), INNER(place),
	    blocking ? INT(state->collective) : NONE, INT(place->at->time), TEXT(collective_name(e->op)),
	    INT(e->comm), e->root < OTF2_COLLECTIVE_ROOT_THIS_GROUP ? INT(e->root) : NONE, INT(e->sent),
	    INT(e->received));
}

static void begin_operation(struct gt_export_place *place, const struct gt_otf2_IoOperationBegin *e)
{
	const struct gt_otf2 *read = place->export->read;
	const struct gt_otf2_io_handle *handle = gt_otf2_find_io_handle(read, e->handle);
	const struct gt_otf2_io_file *file = handle ? gt_otf2_find_io_file(read, handle->file) : NULL;
	struct state *state = place->face;

	if (state->count == state->room) {
		state->room = state->room ? 2 * state->room : 16;
		state->operations = reallocarray(state->operations, state->room, sizeof(*state->operations));
		if (!state->operations)
			gt_no_memory();
	}
	state->operations[state->count++] = (struct operation){ e->matching, place->at->time,
								file     ? file->name
								: handle ? handle->name
									 : "?",
								e->mode };
}

static const char *operation_name(OTF2_IoOperationMode mode)
{
	return mode == OTF2_IO_OPERATION_MODE_READ    ? "read"
	       : mode == OTF2_IO_OPERATION_MODE_WRITE ? "write"
						      : "flush";
}

static void end_operation(struct gt_export_place *place, const struct gt_otf2_IoOperationComplete *e)
{
	struct state *state = place->face;

	for (size_t i = state->count; i-- > 0;) {
		const struct operation *o = &state->operations[i];

		if (o->matching != e->matching)
			continue;
		ROW(place->export, place, IO, INT(place->at->location->id), INNER(place), INT(o->begin),
		    INT(place->at->time), TEXT(operation_name(o->mode)), TEXT(o->file), INT(e->bytes));
		state->operations[i] = state->operations[--state->count];
		return;
	}
}

void gt_tables_event(struct gt_export_place *place, const struct gt_otf2_event *event)
{
	struct state *state = place->face;
	char number[32];

	if (event->undefined)
		return;
	switch (event->type) {
	case GT_OTF2_Metric:
		put_values(place, &event->Metric);
		break;
	case GT_OTF2_ParameterString:
		put_parameter(place, event->ParameterString.parameter,
			      gt_otf2_text(place->export->read, event->ParameterString.string));
		break;
	case GT_OTF2_ParameterInt:
		snprintf(number, sizeof(number), "%" PRId64, event->ParameterInt.value);
		put_parameter(place, event->ParameterInt.parameter, number);
		break;
	case GT_OTF2_ParameterUnsignedInt:
		snprintf(number, sizeof(number), "%" PRIu64, event->ParameterUnsignedInt.value);
		put_parameter(place, event->ParameterUnsignedInt.parameter, number);
		break;
	case GT_OTF2_MpiCollectiveBegin:
		state->collective = place->at->time;
		break;
	case GT_OTF2_MpiCollectiveEnd:
		put_collective(place, &event->MpiCollectiveEnd, true);
		break;
	case GT_OTF2_NonBlockingCollectiveComplete: /* begins with the same fields */
		put_collective(place, &event->MpiCollectiveEnd, false);
		break;
	case GT_OTF2_IoOperationBegin:
		begin_operation(place, &event->IoOperationBegin);
		break;
	case GT_OTF2_IoOperationComplete:
		end_operation(place, &event->IoOperationComplete);
		break;
	default:
		break;
	}
}

void gt_tables_pair(struct gt_export *export, const struct gt_end *from, const struct gt_end *to)
{
	const struct gt_otf2 *read = export->read;

	if (from->what == GT_END_CALL)
		ROW(export, NULL, LAUNCHES, REF(from->user, 0), REF(to->user, 0), INT(to->bytes));
	else
		ROW(export, NULL, MESSAGES, INT(gt_otf2_location_at(read, from->location)->id),
		    INT(gt_otf2_location_at(read, to->location)->id), INT(from->time), INT(to->time),
		    INT(to->bytes), INT(from->tag), INT(from->comm), REF(from->user, 0), REF(to->user, 0));
}
