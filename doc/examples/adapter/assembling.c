/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The assembling half: what the adapter's own record becomes in the archive. An urgent parcel is a region of
 * no length, with two attributes: which parcel, and how urgent.
 *
 * It is a shared library that gputrace loads when it finds such a record: parcel.so in the folder that
 * VT_ASSEMBLERS names, or in PREFIX/lib/gputrace/assemble.
 *
 * Limits: all other records of the adapter are gputrace's own kinds, which need no such half.
 */
#include <errno.h>
#include <stdlib.h>

#include <gputrace/assemble.h>

extern const struct gt_assembler gt_assembler;

/* Numbers of the archive's definitions. */
struct state {
	uint32_t region, number, level;
};

static int scan(struct gt_assembly *a)
{
	const struct gt_region_info info = { .bytes = sizeof(info), .name = "urgent", .group = "PARCEL" };
	struct state *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	*gt_state(a, &gt_assembler) = s;
	s->region = gt_out_region(a, &info);
	s->number = gt_out_attribute(a, "PARCEL", "Number of the parcel", GT_VALUE_UINT);
	s->level = gt_out_attribute(a, "URGENCY", "How urgent it is", GT_VALUE_UINT);
	return 0;
}

static void end(struct gt_assembly *a)
{
	free(*gt_state(a, &gt_assembler));
}

/* The data of the record are in the slots behind the first: two words each. */
static void urgent(struct gt_track *t, const struct gt_slot *slot, uint64_t tick)
{
	const struct state *s = *gt_state(gt_track_assembly(t), &gt_assembler);

	gt_write_attribute(t, s->number, GT_VALUE_UINT, slot[1].time);
	gt_write_attribute(t, s->level, GT_VALUE_UINT, slot[1].word);
	gt_write_enter(t, s->region, tick);
	gt_write_leave(t, s->region, tick);
}

static const struct gt_own_record records[] = { { "urgent", 1, urgent }, { NULL, 0, NULL } };

__attribute__((visibility("default"))) const struct gt_assembler gt_assembler = {
	.bytes = sizeof(gt_assembler),
	.abi = GT_ASSEMBLER_ABI,
	.name = "parcel",
	.records = records,
	.scan = scan,
	.end = end,
};
