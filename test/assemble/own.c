/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Records of kinds of two adapters' own. With -DHALF: the assembling half of one of them, "demo".
 *
 * Limits: the other, "absent", has none.
 */
#ifdef HALF
#include <gputrace/assemble.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const struct gt_assembler gt_assembler;

struct state {
	uint32_t region, metric, attribute;
	unsigned steps;
	const struct gt_proc *proc; /* that is being read */
};

static struct state *state_of(struct gt_assembly *a)
{
	return *gt_state(a, &gt_assembler);
}

static int count_steps(void *context, const struct gt_loc *loc, const struct gt_slot *slot)
{
	struct state *s = context;

	(void)loc;
	s->steps += gt_read_is_own(s->proc, slot, &gt_assembler, "step") && GT_WORD_EXTRA(slot->word);
	return 0;
}

static int scan(struct gt_assembly *a)
{
	struct gt_region_info region = { .bytes = sizeof(region), .name = "step", .group = "demo" };
	struct gt_metric_info metric = { .bytes = sizeof(metric), .name = "square", .unit = "1",
					 .value = GT_VALUE_UINT };
	struct state *s = calloc(1, sizeof(*s));
	const struct gt_loc *loc;
	int rc = 0;

	if (!s)
		return -12;
	*gt_state(a, &gt_assembler) = s;
	s->region = gt_out_region(a, &region);
	s->metric = gt_out_metric(a, &metric);
	s->attribute = gt_out_attribute(a, "number", "of the step", GT_VALUE_UINT);
	for (size_t i = 0; (s->proc = gt_read_process(a, i)); i++)
		for (size_t k = 0; !rc && (loc = gt_read_location(s->proc, k)); k++)
			rc = gt_read_records(loc, count_steps, s);
	return rc;
}

enum { TASKS = 17, THREADS_CLASS = 3 }; /* OTF2_PARADIGM_TBBTHREAD, OTF2_PARADIGM_CLASS_THREAD_CREATE_WAIT */

static int define(struct gt_assembly *a)
{
	const struct gt_out_comm tasks = { .bytes = sizeof(tasks), .name = "crew", .paradigm = TASKS,
					   .proc = gt_read_process(a, 0) };

	return gt_out_comm(a, &tasks) == GT_NO_NUMBER ? -12 : 0;
}

static void properties(struct gt_assembly *a, const struct gt_proc *proc)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", state_of(a)->steps);
	gt_out_property(a, proc, "DEMO_STEPS", text);
	gt_out_property(a, NULL, "DEMO_ALL", text);
}

static void end(struct gt_assembly *a)
{
	free(state_of(a));
}

static void step(struct gt_track *t, const struct gt_slot *slot, uint64_t tick)
{
	const struct state *s = state_of(gt_track_assembly(t));

	gt_write_attribute(t, s->attribute, GT_VALUE_UINT, slot[1].time);
	gt_write_enter(t, s->region, tick);
	gt_write_metric(t, s->metric, GT_VALUE_UINT, slot[1].word, tick);
	gt_write_leave(t, s->region, tick);
}

static bool location_name(const struct gt_loc *loc, char *text, size_t size)
{
	struct gt_loc_info info = { .bytes = sizeof(info) };

	gt_read_location_info(loc, &info);
	if (info.key != 4711)
		return false;
	snprintf(text, size, "row %s", info.name);
	return true;
}

static const struct gt_own_record records[] = { { "step", 1, step }, { NULL, 0, NULL } };
static const struct gt_paradigm paradigms[] = {
	{ "DEMO TASKS", TASKS, THREADS_CLASS, "crew %d" }, { NULL, 0, 0, NULL }
};

__attribute__((visibility("default"))) const struct gt_assembler gt_assembler = {
	.bytes = sizeof(struct gt_assembler),
	.abi = GT_ASSEMBLER_ABI,
	.name = "demo",
	.records = records,
	.paradigms = paradigms,
	.scan = scan,
	.define = define,
	.properties = properties,
	.end = end,
	.location_name = location_name,
};
#else
#include <gputrace/adapter.h>
#include <stdio.h>

static const struct gt_adapter adapter = { .bytes = sizeof(adapter), .abi = GT_ADAPTER_ABI, .name = "demo" };

int main(void)
{
	struct gt_location_info info = { .bytes = sizeof(info), .name = "one", .kind = GT_LOC_METRIC,
					 .key = 4711 };
	gt_ref mine, other, metric;
	struct gt_location *row;

	if (gt_adapter_register(&adapter))
		return 1;
	mine = gt_def_record("demo", "step");
	other = gt_def_record("absent", "step");
	metric = gt_def_metric(&(struct gt_metric_info){ .bytes = sizeof(struct gt_metric_info), .name = "m",
							 .value = GT_VALUE_UINT });
	row = gt_location_create(&info);
	gt_location_record(row, GT_T_METRIC, metric, (uint64_t[]){ 1, 0 }, 1, gt_now());
	for (uint64_t i = 0; i < 10; i++)
		gt_record(GT_T_OWN, mine, (uint64_t[]){ i, i * i }, 1);
	for (uint64_t i = 0; i < 3; i++)
		gt_record(GT_T_OWN, other, (uint64_t[]){ 1000 + i, 0 }, 1);
	gt_record(GT_T_OWN, mine, NULL, 0); /* shorter than it may be */
	return 0;
}
#endif
