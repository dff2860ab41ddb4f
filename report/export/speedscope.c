/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * JSON for speedscope (www.speedscope.app): a profile of opened and closed frames for each location, and one
 * of its samples of call stacks, if it has any.
 *
 * Limits: has no messages and no values; written as text, because a JSON library would hold all of it in
 * memory, and location after location, because the events of a profile stand together. Samples of one path
 * are one, at no time.
 */
#include "config.h"

#include <inttypes.h>
#include <stdlib.h>

#include "report/export/export.h"

#include "lib/assemble/util/memory.h"
#include "report/model/sums.h"

struct speedscope {
	bool profile, event; /* a profile, an event was written before */
};

static void put_frame(struct gt_export_text *text, const struct gt_otf2_region *region)
{
	gt_text_add(text, "{\"name\":");
	gt_text_json(text, region->name);
	if (*region->file) {
		gt_text_add(text, ",\"file\":");
		gt_text_json(text, region->file);
		if (region->begin_line)
			gt_text_add(text, ",\"line\":%" PRIu32, region->begin_line);
	}
	gt_text_add(text, "},\n");
}

static bool start(struct gt_export *export)
{
	struct gt_export_text text = { .count = 0 };

	export->face = gt_zeroed(1, sizeof(struct speedscope));
	gt_text_add(&text, "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n"
		    "\"exporter\":\"gputrace %s\",\"shared\":{\"frames\":[\n", PACKAGE_VERSION);
	for (size_t i = 0; i < export->read->tables[GT_OTF2_REGION].count; i++)
		put_frame(&text, gt_otf2_region_at(export->read, i));
	/* What an event names and the archive does not define. */
	gt_text_add(&text, "{\"name\":\"?\"},\n{\"name\":\"%s\"}]},\n\"profiles\":[", gt_stacks_ours.name);
	gt_export_write(export, &text);
	free(text.data);
	return true;
}

static uint64_t end_of(const struct gt_export *export)
{
	uint64_t end = gt_otf2_ns(export->read, export->read->end);

	return end < export->part.to ? end : export->part.to;
}

static void begin(struct gt_export_place *place)
{
	struct gt_export *export = place->export;
	struct speedscope *speedscope = export->face;
	struct gt_export_text name = { .count = 0 };

	gt_text_location(&name, export->read, place->at->location);
	gt_export_print(place, "%s\n{\"type\":\"evented\",\"unit\":\"nanoseconds\",\"name\":",
			speedscope->profile ? "," : "");
	gt_text_json(&place->text, name.data);
	gt_export_print(place, ",\"startValue\":%" PRIu64 ",\"endValue\":%" PRIu64 ",\"events\":[",
			export->part.from, end_of(export));
	free(name.data);
	speedscope->profile = true;
	speedscope->event = false;
}

static void put(struct gt_export_place *place, char type, const struct gt_otf2_region *region, uint64_t time)
{
	struct speedscope *speedscope = place->export->face;

	gt_export_print(place, "%s\n{\"type\":\"%c\",\"frame\":%zu,\"at\":%" PRIu64 "}",
			speedscope->event ? "," : "", type, gt_export_region(place, region), time);
	speedscope->event = true;
}

static void enter(struct gt_export_place *place, const struct gt_otf2_region *region, uint64_t time)
{
	put(place, 'O', region, time);
}

static void call(struct gt_export_place *place, const struct gt_export_call *call)
{
	put(place, 'C', call->region, call->end);
}

/* place->face: samples by calling context, and whether they are gputrace's own. */
static void event(struct gt_export_place *place, const struct gt_otf2_event *event)
{
	const struct gt_otf2 *read = place->export->read;
	struct gt_stack_sample sample;

	if (event->type != GT_OTF2_CallingContextSample)
		return;
	sample = gt_stack_sample_of(&place->export->stacks, place->at, &event->CallingContextSample);
	if (!sample.context || !sample.ns)
		return;
	if (!place->face)
		place->face = gt_zeroed(1, sizeof(struct gt_sums));
	gt_sum_add(gt_sums_at(place->face, (uint64_t)(sample.context - gt_otf2_context_at(read, 0)),
			      sample.ours, 0, 0), sample.ns, 0);
}

/* Callers first. */
static void put_stack(struct gt_export_place *place, const struct gt_sum *sum)
{
	const struct gt_otf2 *read = place->export->read;
	const char *between = "";
	struct gt_frames frames;

	gt_frames_below(read, gt_otf2_context_at(read, sum->key[0]), sum->key[1], NULL, 0, &frames);
	gt_export_print(place, "[");
	while (frames.count) {
		const struct gt_otf2_region *region = frames.regions[--frames.count];

		gt_export_print(place, "%s%zu", between, region == &gt_stacks_ours
				? read->tables[GT_OTF2_REGION].count + 1 : gt_export_region(place, region));
		between = ",";
	}
	gt_export_print(place, "]");
}

static void put_samples(struct gt_export_place *place, const struct gt_sums *sums)
{
	struct gt_export_text name = { .count = 0 };
	uint64_t all = 0;

	for (uint32_t i = 0; i < sums->count; i++)
		all += sums->items[i].ns;
	gt_text_location(&name, place->export->read, place->at->location);
	gt_text_add(&name, " (samples)");
	gt_export_print(place, ",\n{\"type\":\"sampled\",\"unit\":\"nanoseconds\",\"name\":");
	gt_text_json(&place->text, name.data);
	gt_export_print(place, ",\"startValue\":0,\"endValue\":%" PRIu64 ",\"samples\":[", all);
	free(name.data);
	for (uint32_t i = 0; i < sums->count; i++) {
		gt_export_print(place, i ? ",\n" : "\n");
		put_stack(place, &sums->items[i]);
	}
	gt_export_print(place, "],\"weights\":[");
	for (uint32_t i = 0; i < sums->count; i++)
		gt_export_print(place, "%s%" PRIu64, i ? "," : "", sums->items[i].ns);
	gt_export_print(place, "]}");
}

static void end(struct gt_export_place *place)
{
	gt_export_print(place, "]}");
	if (!place->face)
		return;
	put_samples(place, place->face);
	gt_sums_free(place->face);
	free(place->face);
}

static bool finish(struct gt_export *export)
{
	return fputs("\n]}\n", export->out) >= 0;
}

const struct gt_export_face gt_export_speedscope = {
	.option = "speedscope",
	.what = "JSON for speedscope.app.",
	.serial = true,
	.start = start,
	.begin = begin,
	.enter = enter,
	.call = call,
	.event = event,
	.end = end,
	.finish = finish,
};
