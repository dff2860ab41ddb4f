/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counts enters, leaves and samples by location and region, fast: for tests with millions of events, where
 * the Python reader would take minutes. Also the shortest program that shows lib/read/read.h.
 *
 * Limits: knows no other events. Output, one line each: REGION <tab> ENTERS <tab> LEAVES <tab> LOCATION; of
 * samples whose innermost function it is: sample:REGION <tab> SAMPLES <tab> their time (ns) <tab> LOCATION
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/read/read.h"
#include "report/model/stacks.h"

struct counts {
	struct {
		uint64_t enters, leaves, samples, sampled;
	} *of; /* by the place of the region in its table */
};

static size_t place(const struct gt_otf2_cursor *at, const struct gt_otf2_region *region)
{
	return (size_t)(region - gt_otf2_region_at(at->read, 0));
}

static bool defined(const struct gt_otf2_cursor *at, const struct gt_otf2_region *region)
{
	return place(at, region) < at->read->tables[GT_OTF2_REGION].count;
}

static void begin(struct gt_otf2_cursor *at)
{
	struct counts *counts = at->state;

	counts->of = calloc(at->read->tables[GT_OTF2_REGION].count + 1, sizeof(*counts->of));
	if (!counts->of)
		abort();
}

/* A call that is left and entered again, because its thread goes on on another stack, counts once. */
static bool continues(const struct gt_otf2_cursor *at)
{
	return at->attribute_count &&
	       gt_otf2_has_attribute(at, gt_otf2_attribute_named(at->read, "CONTINUES"));
}

static void enter(struct gt_otf2_cursor *at)
{
	const struct gt_otf2_region *region = at->stack[at->depth - 1].region;
	struct counts *counts = at->state;

	if (!defined(at, region))
		return;
	if (continues(at))
		counts->of[place(at, region)].leaves--;
	else
		counts->of[place(at, region)].enters++;
}

static void leave(struct gt_otf2_cursor *at, const struct gt_otf2_frame *frame)
{
	if (defined(at, frame->region))
		((struct counts *)at->state)->of[place(at, frame->region)].leaves++;
}

static void event(struct gt_otf2_cursor *at, const struct gt_otf2_event *e)
{
	const struct gt_otf2_context *context =
		e->type == GT_OTF2_CallingContextSample
			? gt_otf2_find_context(at->read, e->CallingContextSample.context) : NULL;
	const struct gt_otf2_region *region = context ? gt_otf2_find_region(at->read, context->region) : NULL;
	struct gt_stack_ids stacks = gt_stacks_of(at->read);
	struct counts *counts = at->state;

	if (!region)
		return;
	counts->of[place(at, region)].samples++;
	counts->of[place(at, region)].sampled += gt_stack_sample_of(&stacks, at, &e->CallingContextSample).ns;
}

static void merge(struct gt_otf2_cursor *at)
{
	struct counts *counts = at->state;

	for (size_t i = 0; i < at->read->tables[GT_OTF2_REGION].count; i++) {
		if (counts->of[i].enters || counts->of[i].leaves)
			printf("%s\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\n",
			       gt_otf2_region_at(at->read, i)->name, counts->of[i].enters,
			       counts->of[i].leaves, at->location->id);
		if (counts->of[i].samples)
			printf("sample:%s\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\n",
			       gt_otf2_region_at(at->read, i)->name, counts->of[i].samples,
			       counts->of[i].sampled, at->location->id);
	}
	free(counts->of);
}

__attribute__((format(printf, 4, 0)))
static void fault(void *user, struct gt_otf2_cursor *at, enum gt_otf2_fault what, const char *format,
		  va_list args)
{
	(void)user, (void)at;
	if (what != GT_OTF2_FILES)
		return;
	fputs("otf2counts: ", stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
}

int main(int argc, char **argv)
{
	static const struct gt_otf2_visitor visitor = { .state_size = sizeof(struct counts), .begin = begin,
							.enter = enter, .leave = leave, .event = event,
							.merge = merge, .fault = fault };
	struct gt_otf2 *read = NULL;
	int rc;

	if (argc == 2)
		read = gt_otf2_open(argv[1], &(struct gt_otf2_options){ .visitor = &visitor });
	if (!read)
		return 1;
	rc = gt_otf2_definitions(read);
	if (!rc)
		rc = gt_otf2_events(read);
	gt_otf2_close(read);
	return rc != 0;
}
