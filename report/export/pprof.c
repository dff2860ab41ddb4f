/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Samples of call stacks for pprof (profile.proto): of each path of a location how many there are, and the
 * processor time that they stand for. Functions, files and lines are known, addresses are not. What pprof
 * reads may be compressed, but need not.
 *
 * Limits: of a path longer than GT_FRAMES_MOST the innermost frames. Measured calls are not in it: it is of
 * processor time, they are of elapsed time. Samples that stand for a time that is not known have none.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "lib/assemble/util/lookup.h"
#include "lib/assemble/util/memory.h"
#include "lib/read/visit.h"
#include "report/export/export.h"
#include "report/model/classes.h"
#include "report/model/sums.h"

/* Numbers of fields in profile.proto. */
enum { SAMPLE_TYPE = 1, SAMPLE, MAPPING, LOCATION, FUNCTION, STRING, TIME = 9, DURATION, PERIOD_TYPE };
enum { TYPE_NAME = 1, TYPE_UNIT };
enum { SAMPLE_LOCATIONS = 1, SAMPLE_VALUES, SAMPLE_LABEL };
enum { LABEL_KEY = 1, LABEL_TEXT, LABEL_NUMBER, LABEL_UNIT };
enum { MAPPING_ID = 1, MAPPING_FILE = 5, MAPPING_FUNCTIONS = 7, MAPPING_FILES, MAPPING_LINES };
enum { LOCATION_ID = 1, LOCATION_MAPPING, LOCATION_LINE = 4 };
enum { LINE_FUNCTION = 1, LINE_NUMBER };
enum { FUNCTION_ID = 1, FUNCTION_NAME, FUNCTION_SYSTEM_NAME, FUNCTION_FILE, FUNCTION_LINE };

/* What was numbered from 1; of strings 0 is the empty one. */
struct numbers {
	struct gt_lookup known;
	uint32_t count;
};

struct pprof {
	struct gt_stack_objects objects;
	struct gt_classes classes;
	struct gt_export_text text;
	struct numbers strings, functions, lines;
};

/* ---- protocol buffers -------------------------------------------------------------------------- */

static void put_varint(struct gt_export_text *to, uint64_t value)
{
	gt_text_room(to, 10);
	for (; value > 127; value >>= 7)
		to->data[to->count++] = (char)(value | 128);
	to->data[to->count++] = (char)value;
}

/* Zero is what a field has that is not there. */
static void put_number(struct gt_export_text *to, unsigned field, uint64_t value)
{
	if (!value)
		return;
	put_varint(to, field << 3);
	put_varint(to, value);
}

static void put_bytes(struct gt_export_text *to, unsigned field, const char *data, size_t size)
{
	put_varint(to, field << 3 | 2);
	put_varint(to, size);
	gt_text_room(to, size);
	if (size)
		memcpy(to->data + to->count, data, size);
	to->count += size;
}

/* A message in a message; its text is empty afterwards. */
static void put_message(struct gt_export_text *to, unsigned field, struct gt_export_text *message)
{
	put_bytes(to, field, message->data, message->count);
	free(message->data);
	*message = (struct gt_export_text){ .count = 0 };
}

/* ---- what samples refer to --------------------------------------------------------------------- */

static void init(struct numbers *numbers)
{
	if (gt_lookup_init(&numbers->known))
		gt_no_memory();
}

/* The number of a key, which is not 0. True: it is a new one. */
static bool number_of(struct numbers *numbers, uint64_t key, uint32_t *number)
{
	const struct gt_lookup_entry *entry = gt_lookup_find(&numbers->known, key);
	bool fresh = !entry;

	if (fresh)
		entry = gt_need((void *)gt_lookup_put(&numbers->known, key, ++numbers->count, 0));
	*number = entry->value;
	return fresh;
}

static uint32_t add_string(struct pprof *pprof, const char *text)
{
	char *clean = gt_export_clean(text);

	put_bytes(&pprof->text, STRING, clean, strlen(clean));
	free(clean);
	return ++pprof->strings.count;
}

/* Of the archive, or a constant: texts are told apart by where they are. */
static uint32_t string_of(struct pprof *pprof, const char *text)
{
	const struct gt_lookup_entry *entry;
	uint32_t number;

	if (!text || !*text)
		return 0;
	entry = gt_lookup_find(&pprof->strings.known, (uintptr_t)text);
	if (entry)
		return entry->value;
	number = add_string(pprof, text);
	gt_need((void *)gt_lookup_put(&pprof->strings.known, (uintptr_t)text, number, 0));
	return number;
}

/* A region that is not in the table has the number of them, and of gputrace itself one more. */
static uint64_t index_of(const struct gt_otf2 *read, const struct gt_otf2_region *region)
{
	ptrdiff_t index = gt_otf2_index(read, GT_OTF2_REGION, region->id);

	return index >= 0 ? (uint64_t)index
			  : read->tables[GT_OTF2_REGION].count + (region == &gt_stacks_ours);
}

/* A function as far as it is in one file: others may have been inlined into it. */
static uint32_t function_of(struct gt_export *export, const struct gt_otf2_region *region, const char *file,
			    bool own)
{
	struct pprof *pprof = export->face;
	struct gt_export_text function = { .count = 0 };
	uint32_t place = string_of(pprof, file), number;
	uint64_t key = (index_of(export->read, region) + 1) << 32 | place;

	if (!number_of(&pprof->functions, key, &number))
		return number;
	put_number(&function, FUNCTION_ID, number);
	put_number(&function, FUNCTION_NAME, string_of(pprof, region->name));
	put_number(&function, FUNCTION_SYSTEM_NAME,
		   string_of(pprof, *region->canonical ? region->canonical : region->name));
	put_number(&function, FUNCTION_FILE, place);
	put_number(&function, FUNCTION_LINE, own ? region->begin_line : 0);
	put_message(&pprof->text, FUNCTION, &function);
	return number;
}

/* A line of a function, `source` may be NULL: what pprof calls a location. */
static uint32_t line_of(struct gt_export *export, const struct gt_otf2_region *region,
			const struct gt_otf2_source *source)
{
	const struct gt_otf2 *read = export->read;
	uint64_t index = index_of(read, region),
		 place = source ? (uint64_t)gt_otf2_index(read, GT_OTF2_SOURCE, source->id) + 1 : 0;
	struct pprof *pprof = export->face;
	struct gt_export_text location = { .count = 0 }, line = { .count = 0 };
	uint32_t object = index < read->tables[GT_OTF2_REGION].count ? pprof->objects.of[index] : 0, number;
	const char *own = gt_stack_file(region, object ? pprof->objects.names[object - 1] : NULL),
		   *file = source && *source->file ? source->file : own;

	if (!number_of(&pprof->lines, (index + 1) << 32 | place, &number))
		return number;
	put_number(&line, LINE_FUNCTION,
		   function_of(export, region, file, file && own && !strcmp(file, own)));
	put_number(&line, LINE_NUMBER, source ? source->line : 0);
	put_number(&location, LOCATION_ID, number);
	put_number(&location, LOCATION_MAPPING, object);
	put_message(&location, LOCATION_LINE, &line);
	put_message(&pprof->text, LOCATION, &location);
	return number;
}

/* ---- the profile ------------------------------------------------------------------------------- */

static void put_type(struct pprof *pprof, unsigned field, const char *name, const char *unit)
{
	struct gt_export_text type = { .count = 0 };

	put_number(&type, TYPE_NAME, string_of(pprof, name));
	put_number(&type, TYPE_UNIT, string_of(pprof, unit));
	put_message(&pprof->text, field, &type);
}

/* All is known of them: pprof needs not look for names in the files. */
static void put_mappings(struct pprof *pprof)
{
	for (uint32_t i = 0; i < pprof->objects.count; i++) {
		struct gt_export_text mapping = { .count = 0 };

		put_number(&mapping, MAPPING_ID, i + 1);
		put_number(&mapping, MAPPING_FILE, string_of(pprof, pprof->objects.names[i]));
		put_number(&mapping, MAPPING_FUNCTIONS, 1);
		put_number(&mapping, MAPPING_FILES, 1);
		put_number(&mapping, MAPPING_LINES, 1);
		put_message(&pprof->text, MAPPING, &mapping);
	}
}

static bool start(struct gt_export *export)
{
	static const char count[] = "count", cpu[] = "cpu", nanoseconds[] = "nanoseconds";
	const struct gt_otf2 *read = export->read;
	uint64_t end = gt_otf2_ns(read, read->end), to = export->part.to < end ? export->part.to : end;
	struct pprof *pprof;

	if (!read->tables[GT_OTF2_CONTEXT].count) {
		fprintf(stderr, "gputrace export: there are no samples of call stacks in the archive\n");
		return false;
	}
	export->face = pprof = gt_zeroed(1, sizeof(*pprof));
	if (gt_classes_make(&pprof->classes, read))
		gt_no_memory();
	pprof->objects = gt_stack_objects_of(read);
	init(&pprof->strings);
	init(&pprof->functions);
	init(&pprof->lines);
	put_bytes(&pprof->text, STRING, "", 0);
	put_type(pprof, SAMPLE_TYPE, "samples", count);
	put_type(pprof, SAMPLE_TYPE, cpu, nanoseconds);
	put_type(pprof, PERIOD_TYPE, cpu, nanoseconds);
	put_number(&pprof->text, TIME,
		   read->realtime == OTF2_UNDEFINED_TIMESTAMP ? 0 : read->realtime + export->part.from);
	put_number(&pprof->text, DURATION, to > export->part.from ? to - export->part.from : 0);
	put_mappings(pprof);
	return true;
}

static void begin(struct gt_export_place *place)
{
	place->face = gt_zeroed(1, sizeof(struct gt_sums));
}

/* By the number of the context, from 1, or 0. */
static void event(struct gt_export_place *place, const struct gt_otf2_event *event)
{
	struct gt_stack_sample sample;
	uint64_t context = 0;

	if (event->type != GT_OTF2_CallingContextSample)
		return;
	sample = gt_stack_sample_of(&place->export->stacks, place->at, &event->CallingContextSample);
	if (sample.context && !sample.ours)
		context = (uint64_t)(sample.context - gt_otf2_context_at(place->export->read, 0)) + 1;
	gt_sum_add(gt_sums_at(place->face, context, sample.ours, 0, 0), sample.ns, 0);
}

static void put_path(struct gt_export *export, const struct gt_sum *sum, struct gt_export_text *path)
{
	const struct gt_otf2 *read = export->read;
	const struct gt_otf2_context *context =
		sum->key[0] ? gt_otf2_context_at(read, sum->key[0] - 1) : NULL;

	if (!context)
		put_varint(path, line_of(export, sum->key[1] ? &gt_stacks_ours : &gt_otf2_unknown_region,
					 NULL));
	for (unsigned i = 0; context && i < GT_FRAMES_MOST; context = gt_otf2_caller(read, context), i++) {
		const struct gt_otf2_region *region = gt_otf2_find_region(read, context->region);

		put_varint(path, line_of(export, region ? region : &gt_otf2_unknown_region,
					 gt_otf2_find_source(read, context->source)));
	}
}

static void put_label(struct gt_export_text *labels, uint32_t key, uint32_t text)
{
	struct gt_export_text label = { .count = 0 };

	put_number(&label, LABEL_KEY, key);
	put_number(&label, LABEL_TEXT, text);
	put_message(labels, SAMPLE_LABEL, &label);
}

/* A number that is 0 is one for pprof if it has a unit. */
static void put_rank(struct gt_export_text *labels, uint32_t key, uint32_t rank, uint32_t unit)
{
	struct gt_export_text label = { .count = 0 };

	put_number(&label, LABEL_KEY, key);
	put_number(&label, LABEL_NUMBER, rank);
	put_number(&label, LABEL_UNIT, unit);
	put_message(labels, SAMPLE_LABEL, &label);
}

/* The labels that all samples of a location have. */
static void put_labels(struct gt_export_place *place, struct gt_export_text *labels)
{
	const struct gt_otf2 *read = place->export->read;
	struct pprof *pprof = place->export->face;
	const struct gt_location_class *class = &pprof->classes.locations[place->at->index];
	uint32_t rank = class->process < pprof->classes.process_count
			? pprof->classes.processes[class->process].rank : GT_NO_RANK;
	struct gt_export_text process = { .count = 0 };

	gt_text_process(&process, read, gt_otf2_find_location_group(read, place->at->location->group));
	put_label(labels, string_of(pprof, "process"), add_string(pprof, process.data));
	put_label(labels, string_of(pprof, "thread"), string_of(pprof, place->at->location->name));
	if (rank != GT_NO_RANK)
		put_rank(labels, string_of(pprof, "rank"), rank, string_of(pprof, "rank"));
	free(process.data);
}

static void end(struct gt_export_place *place)
{
	struct pprof *pprof = place->export->face;
	struct gt_sums *sums = place->face;
	struct gt_export_text labels = { .count = 0 };

	if (sums->count)
		put_labels(place, &labels);
	for (uint32_t i = 0; i < sums->count; i++) {
		struct gt_export_text sample = { .count = 0 }, list = { .count = 0 };

		put_path(place->export, &sums->items[i], &list);
		put_message(&sample, SAMPLE_LOCATIONS, &list);
		put_varint(&list, sums->items[i].count);
		put_varint(&list, sums->items[i].ns);
		put_message(&sample, SAMPLE_VALUES, &list);
		gt_text_room(&sample, labels.count);
		memcpy(sample.data + sample.count, labels.data, labels.count);
		sample.count += labels.count;
		put_message(&pprof->text, SAMPLE, &sample);
		gt_export_write(place->export, &pprof->text);
	}
	free(labels.data);
	gt_sums_free(sums);
	free(sums);
}

static bool finish(struct gt_export *export)
{
	gt_export_write(export, &((struct pprof *)export->face)->text);
	return true;
}

const struct gt_export_face gt_export_pprof = {
	.option = "pprof",
	.what = "Samples of call stacks, for pprof.",
	.binary = true,
	.serial = true,
	.start = start,
	.begin = begin,
	.event = event,
	.end = end,
	.finish = finish,
};
