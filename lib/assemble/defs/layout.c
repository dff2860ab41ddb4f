/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Numbering and naming processes and locations as Score-P's readers expect it.
 */
#include "config.h"

#include "lib/assemble/defs/layout.h"
#include "lib/assemble/adapters/half.h"
#include "lib/assemble/spool/stream.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOOK_AT_MOST 65536u /* bytes of a stream that are looked at to find out if it is idle */

/* Does the stream hold nothing but the announcement that the process becomes another program? */
static bool idle_stream(const struct gt_loc *loc)
{
	struct gt_stream stream;
	struct gt_slot *buffer;
	bool idle = true;

	if (loc->begin >= loc->end)
		return true;
	if (loc->end - loc->begin > LOOK_AT_MOST)
		return false;
	buffer = malloc(GT_STREAM_BUFFER);
	if (!buffer || gt_stream_open(&stream, loc, buffer)) {
		free(buffer);
		return false;
	}
	while (idle) {
		if (gt_stream_more(&stream)) {
			idle = false;
			break;
		}
		if (stream.at == stream.end)
			break;
		for (const struct gt_slot *slot = stream.at; idle && slot < stream.end; slot++) {
			unsigned type = GT_WORD_TYPE(slot->word);

			idle = type == GT_T_NONE || type == GT_T_PAD || type == GT_T_FLUSH ||
			       type == GT_T_EXEC || type == GT_T_THREAD_BEGIN;
			if (GT_TYPE_HAS_EXTRA(type))
				slot += GT_WORD_EXTRA(slot->word);
		}
		stream.at = stream.end;
	}
	gt_stream_close(&stream);
	free(buffer);
	return idle;
}

/* A forked child that became another program at once: the other program tells the story. */
static bool only_a_step(const struct gt_proc *proc)
{
	if (proc->header.origin != 1 || proc->header.state != GT_PROC_EXEC)
		return false;
	for (size_t i = 0; i < proc->loc_count; i++)
		if (!idle_stream(&proc->locs[i]))
			return false;
	return true;
}

/* Every process has at least one thread, even if nothing of it was recorded. */
static int give_thread(struct gt_proc *proc)
{
	struct gt_loc *locs;

	for (size_t i = 0; i < proc->loc_count; i++)
		if (proc->locs[i].win.kind == GT_LOC_THREAD)
			return 0;
	locs = realloc(proc->locs, (proc->loc_count + 1) * sizeof(*locs));
	if (!locs)
		return -ENOMEM;
	proc->locs = locs;
	memset(&locs[proc->loc_count], 0, sizeof(*locs));
	locs[proc->loc_count].proc = proc;
	locs[proc->loc_count].number = GT_NOT_WRITTEN;
	locs[proc->loc_count].win.half_bytes = GT_PAGE;
	locs[proc->loc_count].win.begin = proc->header.begin;
	locs[proc->loc_count].win.tid = proc->header.pid; /* its main thread's */
	proc->loc_count++;
	return 0;
}

static int find_node(struct gt_layout *layout, struct gt_defs *defs, const char *host)
{
	uint32_t name = gt_defs_string(defs, *host ? host : "localhost");

	for (uint32_t i = 1; i < layout->node_count; i++)
		if (layout->nodes[i].name == name && !layout->nodes[i].uuid)
			return (int)i;
	layout->nodes[layout->node_count] = (struct gt_out_node){
		.name = name, .class_name = gt_defs_string(defs, "node"), .parent = 0,
	};
	return (int)layout->node_count++;
}

/* What the process says about the device of a location group, or NULL, and its runtime. The group's key:
 * the paradigm of the runtime (0: the first that says something), the device's number, and what the runtime
 * adds. */
static const char *device_text(const struct gt_proc *proc, uint64_t key, const struct gt_accel **accel)
{
	const char *text = NULL;
	char wanted[64];

	for (size_t i = 0; !text && (*accel = gt_half_accel(i)); i++) {
		if (key >> 56 && key >> 56 != (*accel)->paradigm)
			continue;
		snprintf(wanted, sizeof(wanted), "%s%u", (*accel)->device, (unsigned)(key >> 32 & 0xffffff));
		text = gt_journal_property(&proc->journal, wanted);
	}
	return text;
}

/* No fewer than the devices of which it says something. */
static size_t count_devices(const struct gt_proc *proc)
{
	const struct gt_accel *accel;
	size_t n = 0;

	for (size_t k = 0; (accel = gt_half_accel(k)); k++)
		for (size_t i = 0; i < gt_journal_count(&proc->journal, GT_D_PROPERTY); i++)
			n += !strncmp(gt_journal_nth(&proc->journal, GT_D_PROPERTY, i, NULL, NULL),
				      accel->device, strlen(accel->device));
	return n;
}

/*
 * The node of the device of a location group, by its key, below the process's own node `host`; that one if
 * the device is not known. Processes that number their devices differently share a node.
 */
static uint32_t find_device(struct gt_layout *layout, struct gt_defs *defs, const struct gt_proc *proc,
			    uint32_t host, uint64_t key, const struct gt_accel **runtime)
{
	const struct gt_accel *accel;
	const char *text = device_text(proc, key, &accel);
	char uuid[64], address[32], name[320];
	uint32_t id;
	int at = 0;

	if (text)
		*runtime = accel;
	if (!text || sscanf(text, "%63s %31s %n", uuid, address, &at) != 2 || !at)
		return host;
	id = gt_defs_string(defs, uuid);
	for (uint32_t i = 1; i < layout->node_count; i++)
		if (layout->nodes[i].uuid == id && layout->nodes[i].parent == host)
			return i;
	snprintf(name, sizeof(name), "%s [%s]", text + at, address);
	layout->nodes[layout->node_count] = (struct gt_out_node){
		.name = gt_defs_string(defs, name),
		.class_name = gt_defs_string(defs, accel->device_class),
		.parent = host,
		.uuid = id,
		.address = gt_defs_string(defs, address),
	};
	return layout->node_count++;
}

/*
 * The name of a thread's location: what the program called its thread. Where several threads have
 * used the location and were called differently, or some of them not at all, none of the names is right for
 * all; one that lived for a moment does not count (lib/record/location.c).
 */
static uint32_t thread_name(struct gt_defs *defs, const struct gt_loc *loc)
{
	const struct gt_journal *journal = &loc->proc->journal;
	const char *name = NULL;
	uint32_t named = 0;
	char text[64];

	for (size_t i = 0; i < gt_journal_count(journal, GT_D_LOCATION_NAME); i++) {
		const struct gt_def_loc_name *def =
			gt_journal_nth(journal, GT_D_LOCATION_NAME, i, NULL, NULL);
		const char *next;

		if (def->location != loc->id)
			continue;
		next = gt_proc_string(loc->proc, def->name);
		if (!next || !*next)
			continue;
		if (name && strcmp(name, next) && loc->win.incarnation > 1) {
			name = NULL;
			break;
		}
		name = next;
		named++;
	}
	if (name && (!(loc->win.flags & GT_LOC_MIXED) || named >= loc->win.incarnation))
		return gt_defs_string(defs, name);
	snprintf(text, sizeof(text), "Thread %u", loc->id);
	return gt_defs_string(defs, text);
}

/* The last name that a stream was given after it was made, or NULL. */
static const char *later_name(const struct gt_loc *loc)
{
	const struct gt_journal *journal = &loc->proc->journal;
	const char *name = NULL;

	for (size_t i = 0; i < gt_journal_count(journal, GT_D_LOCATION_NAME); i++) {
		const struct gt_def_loc_name *def =
			gt_journal_nth(journal, GT_D_LOCATION_NAME, i, NULL, NULL);

		if (def->location == loc->id)
			name = gt_proc_string(loc->proc, def->name);
	}
	return name && *name ? name : NULL;
}

static uint32_t location_name(struct gt_defs *defs, const struct gt_loc *loc, bool first)
{
	const struct gt_def_location *def =
		gt_journal_find(&loc->proc->journal, GT_D_LOCATION, loc->id, NULL);
	const char *name = def ? gt_proc_string(loc->proc, def->name) : NULL;
	char text[256];

	if (loc->added)
		return loc->added_name;
	if (first)
		return gt_defs_string(defs, "Master thread");
	if (loc->win.kind != GT_LOC_THREAD && gt_assemblers_name(loc, text, sizeof(text)))
		return gt_defs_string(defs, text);
	if (loc->win.kind != GT_LOC_THREAD && later_name(loc))
		return gt_defs_string(defs, later_name(loc));
	if (name && *name)
		return gt_defs_string(defs, name);
	if (loc->win.kind == GT_LOC_THREAD)
		return thread_name(defs, loc);
	snprintf(text, sizeof(text), "%s %u",
		 loc->win.kind == GT_LOC_GPU_STREAM ? "Stream" : "Metrics", loc->id);
	return gt_defs_string(defs, text);
}

/* An accelerator's context becomes a location group when its first stream does. */
static uint32_t add_context(struct gt_layout *layout, struct gt_defs *defs, const struct gt_loc *loc,
			    uint32_t id)
{
	const struct gt_def_locgroup *context = gt_proc_find(loc->proc, GT_D_LOCGROUP, id, NULL);
	const char *name = context ? gt_proc_string(loc->proc, context->name) : NULL;
	const struct gt_accel *runtime = gt_half_accel(0);
	uint32_t node = layout->groups[loc->proc->number].node;

	if (context)
		node = find_device(layout, defs, loc->proc, node, context->key, &runtime);
	layout->groups[layout->group_count] = (struct gt_out_group){
		.name = gt_defs_string(defs, name ? name : "Accelerator"),
		.node = node,
		.runtime = runtime,
		.creator = loc->proc->number,
		.accelerator = true,
		.context = id,
		.proc = loc->proc,
	};
	return layout->group_count++;
}

/*
 * The location group of a location: its process, or the accelerator context it belongs to. Streams
 * whose context is unknown share a group: a process may not have any.
 */
static uint32_t find_group(struct gt_layout *layout, struct gt_defs *defs, const struct gt_loc *loc)
{
	const struct gt_def_location *def =
		gt_journal_find(&loc->proc->journal, GT_D_LOCATION,
				loc->added ? loc->like : loc->id, NULL);
	uint32_t id = def ? def->group : 0, group;

	if (loc->win.kind != GT_LOC_GPU_STREAM || loc->win.flags & GT_LOC_ASIDE)
		return loc->proc->number;
	if (!gt_journal_find(&loc->proc->journal, GT_D_LOCGROUP, id, NULL))
		id = 0;
	group = gt_layout_context(layout, loc->proc, id);
	return group != loc->proc->number ? group : add_context(layout, defs, loc, id);
}

uint32_t gt_layout_context(const struct gt_layout *layout, const struct gt_proc *proc, uint32_t id)
{
	for (uint32_t i = proc->number + 1; i < layout->group_count; i++) {
		const struct gt_out_group *group = &layout->groups[i];

		if (group->proc != proc)
			break;
		if (group->accelerator && group->context == id)
			return i;
	}
	return proc->number;
}

/* The locations of a stream: one for each lane. */
static void add_lanes(struct gt_layout *layout, struct gt_defs *defs, const struct gt_loc *loc)
{
	const struct gt_out_location first = layout->locations[loc->number];
	char text[GT_NAME_MAX + 32];

	for (uint32_t lane = 1; lane < loc->lanes; lane++) {
		struct gt_out_location *out = &layout->locations[layout->location_count++];

		*out = first;
		out->lane = lane;
		snprintf(text, sizeof(text), "%s lane %u",
			 gt_intern_text(&defs->strings, first.name, NULL), lane + 1);
		out->name = gt_defs_string(defs, text);
	}
}

static bool has_place(const struct gt_loc *loc, bool first)
{
	return first || loc->win.kind == GT_LOC_GPU_STREAM || loc->deferred ||
	       (loc->win.kind != GT_LOC_DEFERRED && loc->begin < loc->end);
}

/* A process in the archive: ranks come first, in order; then the others as they began. */
struct entry {
	struct gt_proc *proc;
	uint64_t job;
	uint32_t job_seq;       /* place of the job's first process; UINT32_MAX: in no job */
};

static int compare_entries(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	uint32_t one = x->job ? x->proc->header.rank : 0, two = y->job ? y->proc->header.rank : 0;

	if (x->job_seq != y->job_seq)
		return x->job_seq < y->job_seq ? -1 : 1;
	if (one != two)
		return one < two ? -1 : 1;
	return x->proc < y->proc ? -1 : x->proc > y->proc;
}

static struct entry *in_order(struct gt_spool *spool)
{
	struct entry *list = calloc(spool->proc_count + 1, sizeof(*list));

	for (size_t i = 0; list && i < spool->proc_count; i++) {
		list[i] = (struct entry){ .proc = &spool->procs[i],
					  .job = gt_proc_job(&spool->procs[i]),
					  .job_seq = UINT32_MAX };
		for (size_t k = 0; list[i].job && k <= i; k++)
			if (list[k].job == list[i].job) {
				list[i].job_seq = (uint32_t)k;
				break;
			}
	}
	if (list)
		qsort(list, spool->proc_count, sizeof(*list), compare_entries);
	return list;
}

static uint8_t location_type(const struct gt_loc *loc)
{
	switch (loc->win.kind) {
	case GT_LOC_GPU_STREAM:
		return loc->win.flags & GT_LOC_ASIDE ? GT_AS_THREAD : GT_AS_STREAM;
	case GT_LOC_METRIC:
		return GT_AS_METRIC;
	default:
		return GT_AS_THREAD;
	}
}

uint32_t gt_layout_rank(struct gt_defs *defs, uint32_t rank, unsigned job)
{
	const char *kind = gt_half_ranks();
	char text[96];
	int n = snprintf(text, sizeof(text), "%s%sRank %u", kind, *kind ? " " : "", rank);

	if (job > 1)
		snprintf(text + n, sizeof(text) - (size_t)n, " of job %u", job);
	return gt_defs_string(defs, text);
}

/* Metrics of an accelerator belong to its context, if that has streams: a group of metrics alone is none. */
static void place_metrics(struct gt_layout *layout, const struct gt_proc *proc)
{
	for (uint32_t i = 0; i < layout->location_count; i++) {
		struct gt_out_location *out = &layout->locations[i];
		const struct gt_def_location *def;

		if (out->type != GT_AS_METRIC || out->loc->proc != proc)
			continue;
		def = gt_journal_find(&proc->journal, GT_D_LOCATION, out->loc->id, NULL);
		if (def && def->group)
			out->group = gt_layout_context(layout, proc, def->group);
	}
}

/* `job`: 0 no rank, 1 the run's first parallel program, 2 its second ... */
static void add_process(struct gt_layout *layout, struct gt_defs *defs, const struct entry *e,
			unsigned job)
{
	struct gt_proc *proc = e->proc;
	bool have_first = false;
	char text[320];

	proc->number = layout->group_count++;
	snprintf(text, sizeof(text), "%s [%u]", proc->header.program, proc->header.pid);
	layout->groups[proc->number] = (struct gt_out_group){
		.name = job ? gt_layout_rank(defs, proc->header.rank, job)
			    : gt_defs_string(defs, text),
		.node = (uint32_t)find_node(layout, defs, proc->header.host),
		.creator = GT_UNDEFINED,
		.proc = proc,
		.job = e->job,
		.rank = proc->header.rank,
	};
	for (size_t i = 0; i < proc->loc_count; i++) {
		struct gt_loc *loc = &proc->locs[i];
		bool first = !have_first && loc->win.kind == GT_LOC_THREAD;

		if (!has_place(loc, first))
			continue;
		have_first |= first;
		loc->number = layout->location_count++;
		layout->locations[loc->number] = (struct gt_out_location){
			.loc = loc,
			.name = location_name(defs, loc, first),
			.group = find_group(layout, defs, loc),
			.type = location_type(loc),
			.thread = loc->win.kind == GT_LOC_THREAD,
			.first = first,
		};
		add_lanes(layout, defs, loc);
	}
	place_metrics(layout, proc);
}

/* Marks processes that have started ranks, however many processes are in between. */
static void mark_launchers(struct gt_layout *layout)
{
	for (uint32_t i = 0; i < layout->group_count; i++) {
		const struct gt_proc *proc = layout->groups[i].job ? layout->groups[i].proc : NULL;

		while (proc && (proc = proc->parent))
			if (proc->number < layout->group_count && !layout->groups[proc->number].job)
				layout->groups[proc->number].launcher = true;
	}
}

int gt_layout_make(struct gt_layout *layout, struct gt_spool *spool, struct gt_defs *defs)
{
	size_t locations = 0, groups = 0, nodes = spool->proc_count + 1;
	struct entry *order;
	unsigned jobs = 0;
	int rc = 0;

	memset(layout, 0, sizeof(*layout));
	for (size_t i = 0; !rc && i < spool->proc_count; i++) {
		rc = give_thread(&spool->procs[i]);
		locations += spool->procs[i].loc_count;
		for (size_t k = 0; k < spool->procs[i].loc_count; k++)
			locations += spool->procs[i].locs[k].lanes;
		groups += 2 + gt_journal_count(&spool->procs[i].journal, GT_D_LOCGROUP);
		nodes += count_devices(&spool->procs[i]);
	}
	if (rc)
		return rc;
	layout->nodes = calloc(nodes, sizeof(*layout->nodes));
	layout->groups = calloc(groups, sizeof(*layout->groups));
	layout->locations = calloc(locations, sizeof(*layout->locations));
	if (!layout->nodes || !layout->groups || !layout->locations) {
		gt_layout_free(layout);
		return -ENOMEM;
	}
	layout->nodes[layout->node_count++] = (struct gt_out_node){
		.name = gt_defs_string(defs, "machine"),
		.class_name = gt_defs_string(defs, "machine"),
		.parent = GT_UNDEFINED,
	};
	order = in_order(spool);
	if (!order) {
		gt_layout_free(layout);
		return -ENOMEM;
	}
	for (size_t i = 0; i < spool->proc_count; i++) {
		const struct entry *e = &order[i];

		jobs += e->job && (!i || e->job != e[-1].job);
		/* The last one stays even then: an archive needs a process. */
		if (only_a_step(e->proc) && (layout->group_count || i + 1 < spool->proc_count))
			layout->left_out++;
		else
			add_process(layout, defs, e, e->job ? jobs : 0);
	}
	layout->ranks = jobs > 0;
	free(order);
	mark_launchers(layout);
	return 0;
}

void gt_layout_free(struct gt_layout *layout)
{
	free(layout->nodes);
	free(layout->groups);
	free(layout->locations);
	memset(layout, 0, sizeof(*layout));
}
