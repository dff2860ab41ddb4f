/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Samples of call stacks.
 *
 * Limits: see stacks.h.
 */
#include "config.h"

#include "report/model/stacks.h"

#include "lib/assemble/util/memory.h"
#include "lib/read/visit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OURS = 4 };      /* of SAMPLE_FLAGS (doc/FORMAT.md) */
enum { LAUNCHERS = 4 }; /* functions that the compiler has made */
#define LONGEST UINT64_C(1000000000000000) /* ns of one sample: a damaged one would outweigh all others */

const struct gt_otf2_region gt_stacks_ours = { .id = GT_OTF2_NOTHING, .name = "[gputrace]",
					       .canonical = "", .description = "", .file = "" };

struct gt_stack_ids gt_stacks_of(const struct gt_otf2 *read)
{
	return (struct gt_stack_ids){ .time = gt_otf2_attribute_named(read, "SAMPLE_TIME"),
				   .flags = gt_otf2_attribute_named(read, "SAMPLE_FLAGS"),
				   .path = gt_otf2_attribute_named(read, "CALL_PATH") };
}

/* False: it is not one of time. */
static bool period_of(const struct gt_otf2 *read, uint64_t id, uint64_t *period)
{
	const struct gt_otf2_interrupt *of = gt_otf2_find_interrupt(read, id);
	double ns;

	if (!of || of->mode != OTF2_INTERRUPT_GENERATOR_MODE_TIME)
		return false;
	ns = 1e9 * (double)of->period * pow(of->base == OTF2_BASE_BINARY ? 2 : 10, (double)of->exponent);
	*period = ns < 1e18 ? (uint64_t)(ns + 0.5) : 0;
	return ns < 1e18;
}

static bool attribute_of(const struct gt_otf2_cursor *at, uint64_t attribute, uint64_t *number)
{
	OTF2_AttributeValue value;

	if (attribute == GT_OTF2_NOTHING || !gt_otf2_attribute(at, attribute, OTF2_TYPE_UINT64, &value))
		return false;
	*number = value.uint64;
	return true;
}

struct gt_stack_sample gt_stack_sample_of(const struct gt_stack_ids *stacks, const struct gt_otf2_cursor *at,
					  const struct gt_otf2_CallingContextSample *event)
{
	struct gt_stack_sample sample = { .context = gt_otf2_find_context(at->read, event->context) };
	uint64_t flags = 0;

	sample.known = attribute_of(at, stacks->time, &sample.ns) ||
		       period_of(at->read, event->interrupt, &sample.ns);
	if (sample.ns > LONGEST)
		sample.known = false, sample.ns = 0;
	sample.ours = attribute_of(at, stacks->flags, &flags) && flags & OURS;
	return sample;
}

uint32_t gt_stack_call_path(const struct gt_otf2_cursor *at, uint64_t attribute)
{
	OTF2_AttributeValue value;
	ptrdiff_t context = -1;

	if (attribute != GT_OTF2_NOTHING &&
	    gt_otf2_attribute(at, attribute, OTF2_TYPE_CALLING_CONTEXT, &value))
		context = gt_otf2_index(at->read, GT_OTF2_CONTEXT, value.callingContextRef);
	return (uint32_t)(context + 1);
}

uint32_t gt_stack_launcher(const struct gt_otf2 *read, uint32_t path, const char *kernel)
{
	const struct gt_otf2_context *context = path ? gt_otf2_context_at(read, path - 1) : NULL;

	for (unsigned i = 0; context && i < LAUNCHERS; i++) {
		const struct gt_otf2_region *function = gt_otf2_find_region(read, context->region);

		context = gt_otf2_caller(read, context);
		if (context && function && !strcmp(function->name, kernel))
			return (uint32_t)gt_otf2_index(read, GT_OTF2_CONTEXT, context->id) + 1;
	}
	return path;
}

/* A call of a library is in several frames: body_MPI_Wait (gputrace's), PMPI_Wait; ___pthread_mutex_lock. */
static bool is_library_call(const char *function, const char *call)
{
	size_t n = strlen(function), length = strlen(call), before = n - length;

	return n > length && !strcmp(function + before, call) &&
	       (strspn(function, "_") >= before || (before == 1 && *function == 'P') ||
		(before == strlen("body_") && !strncmp(function, "body_", before)));
}

static bool is_frame_of(const struct gt_otf2_region *function, const struct gt_otf2_region *call)
{
	bool own = call->paradigm == OTF2_PARADIGM_COMPILER || call->paradigm == OTF2_PARADIGM_USER;

	return function == call || !strcmp(function->name, call->name) ||
	       (!own && is_library_call(function->name, call->name));
}

/* Those below the frame of an open call. False: it has none, and they are all. */
static bool find_below(const struct gt_otf2 *read, const struct gt_otf2_context *context,
		       const struct gt_otf2_region *open, struct gt_frames *frames)
{
	frames->count = 0;
	for (; context && frames->count < GT_FRAMES_MOST; context = gt_otf2_caller(read, context)) {
		const struct gt_otf2_region *function = gt_otf2_find_region(read, context->region);

		function = function ? function : &gt_otf2_unknown_region;
		if (open && is_frame_of(function, open))
			return true;
		frames->contexts[frames->count] = context;
		frames->regions[frames->count++] = function;
	}
	return false;
}

void gt_frames_below(const struct gt_otf2 *read, const struct gt_otf2_context *context, bool ours,
		     const struct gt_otf2_region *const *open, unsigned count, struct gt_frames *frames)
{
	frames->count = 1;
	frames->regions[0] = &gt_stacks_ours;
	frames->contexts[0] = context;
	if (ours || find_below(read, context, count ? open[0] : NULL, frames) || !count)
		return;
	for (unsigned i = 1; i < count && open[i - 1]->paradigm == OTF2_PARADIGM_COMPILER; i++)
		if (find_below(read, context, open[i], frames))
			return;
	frames->count = frames->count != 0;
}

/*
 * What the C library does ahead of a program's or a thread's first function, by how far inwards it is; the
 * program may have functions of these names, too. 0: it is none. There the library may have no symbols.
 */
static unsigned start_of(const char *name)
{
	static const struct {
		const char *name;
		unsigned depth;
	} starts[] = { { "_start", 1 }, { "__libc_start_main", 2 }, { "__libc_start_call_main", 3 },
		       { "clone", 1 }, { "__clone", 1 }, { "clone3", 1 }, { "__clone3", 1 },
		       { "start_thread", 2 } };

	for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++)
		if (!strncmp(name, starts[i].name, strlen(starts[i].name)) &&
		    strchr("@", name[strlen(starts[i].name)]))
			return starts[i].depth;
	return 0;
}

/* Frames of the start are the outermost ones, each once and in their order. */
static void drop_start(struct gt_frames *frames)
{
	unsigned last = 0;

	for (; frames->count; frames->count--) {
		const char *name = frames->regions[frames->count - 1]->name;
		bool nameless = !strncmp(name, "libc.so.", strlen("libc.so."));
		unsigned depth = start_of(name);

		if (!nameless && depth <= last)
			return;
		last = nameless ? 3 : depth;
	}
}

void gt_call_frames(const struct gt_otf2 *read, uint32_t path, const struct gt_otf2_region *const *open,
		    unsigned count, struct gt_frames *frames)
{
	frames->count = 0;
	if (path)
		gt_frames_below(read, gt_otf2_context_at(read, path - 1), false, open, count, frames);
	drop_start(frames);
	for (unsigned i = 0; i < frames->count; i++)
		if (!strcmp(frames->regions[i]->name, "main"))
			frames->count = i + 1;
}

char *gt_call_functions(const struct gt_otf2 *read, uint32_t path)
{
	struct gt_frames *frames = gt_zeroed(1, sizeof(*frames));
	char *text = NULL;
	size_t size;
	FILE *out = gt_need(open_memstream(&text, &size));

	gt_call_frames(read, path, NULL, 0, frames);
	for (unsigned i = frames->count; i--;)
		fprintf(out, "%s%s", frames->regions[i]->name, i ? " > " : "");
	free(frames);
	if (fclose(out))
		gt_no_memory();
	return text;
}

const struct gt_otf2_source *gt_call_source(const struct gt_otf2 *read, uint32_t path)
{
	const struct gt_otf2_context *context = path ? gt_otf2_context_at(read, path - 1) : NULL;
	const struct gt_otf2_source *source = context ? gt_otf2_find_source(read, context->source) : NULL;

	return source && source->line ? source : NULL;
}

/* ---- objects ------------------------------------------------------------------------------------- */

static uint32_t number_of(struct gt_lookup *known, struct gt_stack_objects *objects, size_t *room,
			  const char *name)
{
	const struct gt_lookup_entry *entry = gt_lookup_find(known, (uintptr_t)name);

	if (!entry) {
		objects->names = gt_grown(objects->names, objects->count, room, sizeof(*objects->names));
		objects->names[objects->count++] = name;
		entry = gt_need((void *)gt_lookup_put(known, (uintptr_t)name, objects->count, 0));
	}
	return entry->value;
}

struct gt_stack_objects gt_stack_objects_of(const struct gt_otf2 *read)
{
	struct gt_stack_objects objects = { .of = gt_zeroed(read->tables[GT_OTF2_REGION].count + 1,
							    sizeof(*objects.of)) };
	struct gt_lookup known;
	size_t room = 0;

	if (gt_lookup_init(&known))
		gt_no_memory();
	for (size_t i = 0; i < read->tables[GT_OTF2_PROPERTY].count; i++) {
		const struct gt_otf2_property *p = gt_otf2_property_at(read, i);
		bool named = p->kind == GT_OTF2_CONTEXT && p->type == OTF2_TYPE_STRING &&
			     !strcmp(p->name, "module");
		const struct gt_otf2_context *of = named ? gt_otf2_find_context(read, p->owner) : NULL;
		ptrdiff_t region = of ? gt_otf2_index(read, GT_OTF2_REGION, of->region) : -1;

		if (region >= 0 && !objects.of[region])
			objects.of[region] = number_of(&known, &objects, &room, p->text);
	}
	free(known.entries);
	return objects;
}

void gt_stack_objects_free(struct gt_stack_objects *objects)
{
	free(objects->names);
	free(objects->of);
}

const char *gt_stack_file(const struct gt_otf2_region *region, const char *object)
{
	bool source = *region->file && (region->begin_line || !object || strcmp(region->file, object));

	return source ? region->file : NULL;
}
