/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Samples of call stacks. A record holds only the frames that are new since the sample before, from which it
 * takes the others. Each frame becomes a node in the tree of calling contexts, with the outermost frame as
 * the root, and the sample an event at its innermost node. It is no enter, and leaves the call stack of
 * regions alone. A record without a weight is no sample: its path is that of the call that is left next, and
 * an attribute of that leave.
 *
 * A sample that keeps more frames than the one before had, or whose number is out of sequence, is damaged: it
 * is dropped, together with all that follow until one keeps nothing. The same holds after a loss, since
 * samples may have been among what is lost. What VT_REWIND has cut out is no loss: the recording half builds
 * upon nothing of it (and the stream may have been read beyond the cut already).
 *
 * Limits: a worker remembers every pair of caller and address.
 */
#include "config.h"

#include "lib/assemble/adapters/half.h"
#include "lib/assemble/archive/samples.h"

#include "lib/assemble/archive/records.h"
#include "lib/assemble/util/array.h"

#include <stdlib.h>
#include <string.h>

#define SEVERAL (UINT32_MAX - 1) /* in `addresses`: its owner depends on the time */
#define NO_FILE ((uint64_t)UINT16_MAX << 48) /* instead of a mapping + 1: it was in none */

/* A forked child has what its parent had. */
static const struct gt_proc *before_fork(const struct gt_proc *proc)
{
	return proc->header.origin == 1 ? proc->parent : NULL;
}

bool gt_samples_any(const struct gt_proc *proc)
{
	for (; proc; proc = before_fork(proc))
		for (size_t i = 0; i < gt_journal_count(&proc->journal, GT_D_PROPERTY); i++) {
			const char *key = gt_journal_nth(&proc->journal, GT_D_PROPERTY, i, NULL, NULL);

			if (!strcmp(key, "adapter") && !strcmp(key + sizeof("adapter"), "sampling"))
				return true;
		}
	return false;
}

/* Nanoseconds of processor time between samples, as the process wanted them. */
static uint64_t period_of(const struct gt_proc *proc)
{
	const char *value = NULL;

	for (; proc && !value; proc = before_fork(proc))
		value = gt_journal_property(&proc->journal, "sampling:period");
	return value ? strtoull(value, NULL, 10) : GT_SAMPLE_PERIOD;
}

/* Processor time of a process before its first samples, which is the main thread's; but for what it had used
 * when it was another program. */
static uint64_t start_of(const struct gt_loc *loc)
{
	const char *value = gt_journal_property(&loc->proc->journal, "sampling:start");
	const struct gt_proc *before = loc->proc->parent;
	uint64_t ns = value && loc->win.tid == loc->proc->pid ? strtoull(value, NULL, 10) : 0, earlier = 0;

	if (before && before->pid == loc->proc->pid && before->loc_count)
		earlier = before->header.processor_ns;
	return ns > earlier ? ns - earlier : 0;
}

static uint32_t attribute(struct gt_defs *defs, const char *name, OTF2_Type type, const char *description)
{
	struct gt_attribute_def def = { .name = gt_defs_string(defs, name),
					.description = gt_defs_string(defs, description),
					.type = type };

	return gt_defs_attribute(defs, &def);
}

static struct gt_call_paths *begin_samples(struct gt_track *t)
{
	struct gt_defs *defs = t->conv->defs;
	struct gt_call_paths *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	t->w->samples = s; /* who frees what there is of it */
	s->attributes = OTF2_AttributeList_New();
	if (!s->attributes || gt_lookup_init(&s->addresses) || gt_lookup_init(&s->nodes))
		return NULL;
	s->time = attribute(defs, "SAMPLE_TIME", OTF2_TYPE_UINT64,
			    "Nanoseconds of processor time that the sample stands for, "
			    "if not the period of its interrupt generator");
	s->path = attribute(defs, "CALL_PATH", OTF2_TYPE_CALLING_CONTEXT, "Who made the call");
	s->flags = attribute(defs, "SAMPLE_FLAGS", OTF2_TYPE_UINT64,
			     "1: frames in the middle are missing, 2: the outermost ones are, "
			     "4: in gputrace itself, 8: in the kernel");
	return s;
}

static void begin_process(struct gt_call_paths *s, struct gt_track *t)
{
	s->proc = t->loc->proc;
	gt_lookup_clear(&s->addresses);
	gt_lookup_clear(&s->nodes);
	s->place_count = 0;
	s->period = period_of(s->proc);
	s->generator = gt_defs_generator(t->conv->defs, s->period);
}

/* The samples of this location; NULL: no memory. */
static struct gt_call_paths *samples_of(struct gt_track *t)
{
	struct gt_call_paths *s = t->w->samples;
	uint64_t lost = t->torn + t->holes;

	if (!s)
		s = begin_samples(t);
	if (!s) {
		gt_track_no_memory(t);
		return NULL;
	}
	if (s->proc != t->loc->proc)
		begin_process(s, t);
	if (s->loc != t->loc || s->lost != lost)
		s->count = s->same = 0;
	if (s->loc != t->loc) {
		s->over = 0;
		s->start = start_of(t->loc);
	}
	s->loc = t->loc;
	s->lost = lost;
	s->contexts[0] = GT_UNDEFINED;
	return s;
}

/* ---- frames -------------------------------------------------------------------------------------------- */

/* The number of a place that is found out now; GT_UNDEFINED: no memory. */
static uint32_t new_place(struct gt_call_paths *s, struct gt_track *t, uint64_t key, uint64_t code,
			  uint32_t mapping)
{
	if (!gt_array_has_room(s->places, s->place_count, &s->place_room) ||
	    !gt_lookup_put(&s->addresses, key, (uint32_t)s->place_count, 0))
		return gt_track_no_memory(t);
	gt_names_place(t->names, code, mapping, &s->places[s->place_count]);
	return (uint32_t)s->place_count++;
}

/* The number of an address that several files had in the course of time. */
static uint32_t timed_place(struct gt_call_paths *s, struct gt_track *t, uint64_t code, uint64_t tick)
{
	uint32_t mapping = gt_names_mapping(t->names, code, tick);
	uint64_t key = code | (uint64_t)(mapping + 1) << 48;
	const struct gt_lookup_entry *entry = gt_lookup_find(&s->addresses, key);

	return entry ? entry->value : new_place(s, t, key, code, mapping);
}

static uint32_t place_of(struct gt_call_paths *s, struct gt_track *t, uint64_t frame, uint64_t tick)
{
	unsigned flags = GT_FRAME_FLAGS(frame);
	uint64_t code = GT_FRAME_ADDRESS(frame) - !(flags & GT_FRAME_EXACT);
	const struct gt_lookup_entry *entry;
	bool several;

	if (!code || code > GT_LOW48)
		code = 1; /* no file lies there */
	entry = gt_lookup_find(&s->addresses, flags & GT_FRAME_UNMAPPED ? code | NO_FILE : code);
	if (!entry && flags & GT_FRAME_UNMAPPED)
		return new_place(s, t, code | NO_FILE, code, GT_NO_MAPPING);
	if (entry)
		return entry->value != SEVERAL ? entry->value : timed_place(s, t, code, tick);
	several = t->names->mapping_count < UINT16_MAX - 1 && gt_names_reused(t->names, code);
	if (!several)
		return new_place(s, t, code, code, gt_names_mapping(t->names, code, tick));
	if (!gt_lookup_put(&s->addresses, code, SEVERAL, 0))
		return gt_track_no_memory(t);
	return timed_place(s, t, code, tick);
}

/* A way down the tree: where it has come to, and by how many nodes, from the last root on if there is one. */
struct descent {
	uint32_t context, nodes;
	bool root;
};

static void descend(struct gt_track *t, struct descent *way, uint32_t region, uint32_t source)
{
	struct gt_context context = { .region = region, .source = source, .parent = way->context };

	way->context = gt_defs_context(t->conv->defs, &context);
	way->root |= context.parent == GT_UNDEFINED;
	way->nodes = context.parent == GT_UNDEFINED ? 1 : way->nodes + 1;
}

/* From a context to that of a frame below it, by way of a node for each function that was inlined there. It
 * is a root, too, if the tree is full. */
static struct descent descent_of(struct gt_call_paths *s, struct gt_track *t, uint32_t parent,
				 uint32_t number)
{
	uint64_t key = ((uint64_t)parent << 32 | number) + 1;
	const struct gt_lookup_entry *entry = gt_lookup_find(&s->nodes, key);
	const struct gt_place *place = &s->places[number];
	struct descent way = { .context = parent };

	if (entry)
		return (struct descent){ entry->value, entry->aux >> 1, entry->aux & 1 };
	descend(t, &way, place->region, place->source);
	for (unsigned i = 0; i < place->inlined_count; i++)
		descend(t, &way, place->inlined[i].region, place->inlined[i].source);
	if (!gt_lookup_put(&s->nodes, key, way.context, way.nodes << 1 | way.root))
		way.context = gt_track_no_memory(t);
	return way;
}

/* What the kernel's code does there is its caller's, and what a part of the C library without a name, its
 * own caller's: read() and write() enter the kernel by the same one. So is what that library calls of
 * gputrace, as where a thread begins. */
static bool is_callers(const struct gt_call_paths *s, const struct gt_place *place)
{
	bool in_libc = s->marks[s->count] == GT_IN_LIBC;

	return s->contexts[s->count] != GT_UNDEFINED &&
	       (!place || (in_libc && (place->own || (place->libc && place->nameless))));
}

static uint8_t mark_of(const struct gt_place *place)
{
	if (place->own || place->libc)
		return place->own ? GT_IN_GPUTRACE : GT_IN_LIBC;
	return place->runtime ? GT_IN_RUNTIME : 0;
}

/* The last frame up to one that is not gputrace's own, through which the program's code has called other. */
static unsigned last_of_others(const struct gt_call_paths *s, unsigned count)
{
	while (count && s->marks[count] == GT_IN_GPUTRACE)
		count--;
	return count;
}

/* Adds the frame to the path. False: no memory. */
static bool add_frame(struct gt_call_paths *s, struct gt_track *t, uint64_t frame, uint64_t tick)
{
	struct descent way = { .context = s->contexts[s->count] };
	unsigned caller = s->count;
	bool kernels = GT_FRAME_FLAGS(frame) & GT_FRAME_KERNELS;
	uint32_t number = GT_UNDEFINED;
	uint8_t mark = s->marks[s->count];

	if (!kernels || !is_callers(s, NULL))
		number = place_of(s, t, frame, tick);
	if (number == GT_UNDEFINED && !(kernels && is_callers(s, NULL)))
		return false;
	if (number != GT_UNDEFINED)
		mark = mark_of(&s->places[number]);
	if (number != GT_UNDEFINED && !is_callers(s, &s->places[number])) {
		if (!s->places[number].own)
			caller = last_of_others(s, s->count);
		way = descent_of(s, t, s->contexts[caller], number);
	}
	s->count++;
	s->marks[s->count] = mark;
	s->contexts[s->count] = way.context;
	s->depths[s->count] = way.nodes + (way.root ? 0 : s->depths[caller]);
	s->roots[s->count] = way.root ? (uint16_t)s->count : s->roots[caller];
	return way.context != GT_UNDEFINED;
}

/* ---- the record ---------------------------------------------------------------------------------------- */

/* The last slot may be padded. */
static unsigned frames_in(const struct gt_slot *slot)
{
	unsigned extra = GT_WORD_EXTRA(slot->word);

	return extra ? 2 * extra - !slot[extra].word : 0;
}

static void put_attribute(struct gt_call_paths *s, struct gt_track *t, uint32_t number, uint64_t value)
{
	gt_track_bad(t,
		     OTF2_AttributeList_AddAttribute(s->attributes, number, OTF2_TYPE_UINT64,
						     (OTF2_AttributeValue){ .uint64 = value }),
		     "attribute");
}

/*
 * The time that the sample stands for has to be said only if it is not about a period: what it differs by,
 * the next one has. So eleven bytes are spared, and the sum is right within a part of one period.
 */
static bool is_period(struct gt_call_paths *s, uint64_t *ns)
{
	int64_t over = (int64_t)(*ns - s->period), most = (int64_t)(s->period / 4);

	if (s->period > INT64_MAX / 2 || over < -most || over > most)
		return false;
	s->over += over;
	if (s->over >= -most && s->over <= most)
		return true;
	*ns = (uint64_t)((int64_t)s->period + s->over);
	s->over = 0;
	return false;
}

/* `entered`: nodes that the sample before did not have. */
static void write_event(struct gt_call_paths *s, struct gt_track *t, uint64_t ns, unsigned flags,
			uint64_t tick, uint32_t context, uint32_t entered)
{
	if (!is_period(s, &ns))
		put_attribute(s, t, s->time, ns);
	if (flags)
		put_attribute(s, t, s->flags, flags);
	gt_track_bad(t,
		     OTF2_EvtWriter_CallingContextSample(gt_writer_evt(t->writer), s->attributes,
							 gt_track_time(t, tick), context, entered + 1,
							 s->generator),
		     "sample");
}

/* Before the thread's first sample: the time before. */
static void write_start(struct gt_call_paths *s, struct gt_track *t, uint64_t tick)
{
	struct gt_defs *defs = t->conv->defs;
	struct gt_region region = { .name = gt_defs_string(defs, "[start of the process]"),
				    .group = GT_UNDEFINED, .role = GT_REGION_ROLE_ARTIFICIAL,
				    .paradigm = GT_PARADIGM_SAMPLING };
	struct gt_context context = { .source = GT_UNDEFINED, .parent = GT_UNDEFINED };

	region.canonical = region.name;
	context.region = gt_defs_named_region(defs, &region, 0);
	write_event(s, t, s->start, 0, tick, gt_defs_context(defs, &context), 1);
	s->start = 0;
}

static void write_sample(struct gt_call_paths *s, struct gt_track *t, uint64_t word, uint64_t tick,
			 uint32_t entered)
{
	unsigned flags = GT_SAMPLE_FLAGS(word) | (s->marks[s->count] == GT_IN_GPUTRACE ? GT_SAMPLE_OWN : 0);

	if (s->start) {
		entered = s->depths[s->count];
		write_start(s, t, tick);
	}
	write_event(s, t, (uint64_t)GT_SAMPLE_WEIGHT(word) * GT_SAMPLE_UNIT, flags, tick,
		    s->contexts[s->count], entered);
}

/* Does its number come after that of the sample before? */
static bool follows(const struct gt_call_paths *s, const struct gt_slot *slot)
{
	return GT_SAMPLE_NUMBER(slot->word) == ((s->number + 1) & 15);
}

/* How many nodes of this path and of the last sample's are the same, at least. */
static uint32_t same_nodes(const struct gt_call_paths *s)
{
	unsigned same = last_of_others(s, s->same); /* frames behind it may be in neither path */

	return s->root <= same && s->roots[s->count] <= same ? s->depths[same] : 0;
}

/* The function that made a call: what its runtime did until it told gputrace is left out. */
static uint32_t caller_of(const struct gt_call_paths *s, struct gt_defs *defs)
{
	uint32_t innermost = s->contexts[s->count], caller;
	unsigned count = s->count;

	while (s->marks[count] == GT_IN_RUNTIME)
		count--;
	if (count == s->count)
		return innermost;
	caller = gt_defs_caller(defs, s->contexts[count], s->contexts[count + 1], gt_half_entry);
	return caller == GT_UNDEFINED ? innermost : caller;
}

void gt_convert_sample(struct gt_track *t, const struct gt_slot *slot, uint64_t tick)
{
	unsigned kept = GT_SAMPLE_KEPT(slot->word), fresh = frames_in(slot);
	const uint64_t *frames = (const uint64_t *)(slot + 1);
	struct gt_call_paths *s = samples_of(t);

	if (!s)
		return;
	if (kept > s->count || kept + fresh > GT_SAMPLE_FRAMES || !(kept + fresh) ||
	    (kept && !follows(s, slot))) {
		t->w->tally.damaged_samples++;
		s->count = s->same = 0;
		return;
	}
	s->number = GT_SAMPLE_NUMBER(slot->word);
	s->same = kept < s->same ? kept : s->same;
	s->count = kept;
	while (fresh)
		if (!add_frame(s, t, frames[--fresh], tick))
			return;
	if (!GT_SAMPLE_WEIGHT(slot->word)) {
		t->path = caller_of(s, t->conv->defs) + 1;
		return;
	}
	write_sample(s, t, slot->word, tick, s->depths[s->count] - same_nodes(s));
	s->same = s->count;
	s->root = s->roots[s->count];
}
