/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * OpenMP's records in the archive: fork, join, teams, tasks.
 *
 * Limits: a process has one team, of all its threads.
 */
#include "config.h"

#include <string.h>

#include "lib/assemble/adapters/half.h"
#include "lib/assemble/archive/records.h"

extern const struct gt_assembler gt_assembler_openmp;

static uint32_t team_of(struct gt_track *t)
{
	const struct gt_out_comm comm = { .bytes = sizeof(comm),
					  .name = "OpenMP team",
					  .paradigm = OTF2_PARADIGM_OPENMP,
					  .proc = gt_track_process(t) };

	static GT_TLS const struct gt_proc *last;
	static GT_TLS uint32_t team;

	if (last != gt_track_process(t)) {
		last = gt_track_process(t);
		team = gt_out_comm(gt_track_assembly(t), &comm);
	}
	return team;
}

/* The creator of a task among the threads of its process: they are numbered as their locations are. */
static uint32_t rank_of(const struct gt_proc *proc, uint32_t id)
{
	static GT_TLS const struct gt_proc *last;
	static GT_TLS uint32_t last_id, last_rank;
	uint32_t own = GT_NO_NUMBER, rank = 0;
	const struct gt_loc *loc;

	if (last == proc && last_id == id)
		return last_rank;

	for (size_t i = 0; (loc = gt_read_location(proc, i)); i++) {
		struct gt_loc_info info = { .bytes = sizeof(info) };

		gt_read_location_info(loc, &info);
		if (info.kind == GT_LOC_THREAD && info.id == id)
			own = gt_read_number(loc);
	}
	for (size_t i = 0; (loc = gt_read_location(proc, i)); i++) {
		struct gt_loc_info info = { .bytes = sizeof(info) };

		gt_read_location_info(loc, &info);
		rank += info.kind == GT_LOC_THREAD && gt_read_number(loc) < own;
	}
	last = proc;
	last_id = id;
	return last_rank = own == GT_NO_NUMBER ? 0 : rank;
}

static void convert_fork(struct gt_track *t, const struct gt_slot *slot, uint64_t tick)
{
	gt_write_fork(t, OTF2_PARADIGM_OPENMP, (uint32_t)slot[1].time, tick);
}

static void convert_join(struct gt_track *t, const struct gt_slot *slot, uint64_t tick)
{
	(void)slot;
	gt_write_join(t, OTF2_PARADIGM_OPENMP, tick);
}

static void convert_team(struct gt_track *t, const struct gt_slot *slot, uint64_t tick)
{
	gt_write_team(t, slot[1].time, team_of(t), tick);
}

static void convert_task(struct gt_track *t, const struct gt_slot *slot, uint64_t tick)
{
	uint32_t what = slot[1].time & 255, creator = (uint32_t)(slot[1].time >> 8);

	if (what > GT_TASK_COMPLETE) {
		gt_write_unknown(t);
		return;
	}
	gt_write_task(t, (enum gt_task)what, team_of(t), rank_of(gt_track_process(t), creator),
		      (uint32_t)slot[1].word, tick);
}

static const struct gt_own_record records[] = {
	{ "fork", 1, convert_fork },
	{ "join", 1, convert_join },
	{ "team", 1, convert_team },
	{ "task", 1, convert_task },
	{ NULL, 0, NULL },
};

static const struct gt_paradigm paradigms[] = {
	{ .name = "OPENMP",
	  .paradigm = OTF2_PARADIGM_OPENMP,
	  .kind = OTF2_PARADIGM_CLASS_THREAD_FORK_JOIN },
	{ .name = NULL },
};

/* Of `critical(name)` gcc makes .gomp_critical_user_name and clang .gomp_critical_user_name.var. */
static bool critical_name(const char *symbol, char *text, size_t size)
{
	static const char begin[] = ".gomp_critical_user_", end[] = ".var";
	size_t length = strlen(symbol);

	if (strncmp(symbol, begin, sizeof(begin) - 1) != 0)
		return false;
	symbol += sizeof(begin) - 1;
	length -= sizeof(begin) - 1;
	if (length >= sizeof(end) - 1 && !strcmp(symbol + length - (sizeof(end) - 1), end))
		length -= sizeof(end) - 1;
	length = length < size ? length : size - 1;
	memcpy(text, symbol, length);
	text[length] = '\0';
	return true;
}

static const struct gt_half half = { .variable = critical_name };

const struct gt_assembler gt_assembler_openmp = {
	.bytes = sizeof(struct gt_assembler),
	.abi = GT_ASSEMBLER_ABI,
	.name = "openmp",
	.records = records,
	.paradigms = paradigms,
	.half = &half,
};
