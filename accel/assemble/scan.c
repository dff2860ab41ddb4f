/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Looking through GPU streams before they are converted.
 *
 * Whether each transfer has both endpoints is decided by a sum: every send adds a hash of the transfer's
 * properties, every receive subtracts it. Only if a sum is not zero are the transfers listed and paired.
 */
#include "config.h"

#include "accel/assemble/scan.h"
#include "accel/assemble/idle.h"
#include "lib/assemble/spool/units.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define KEY_RUN (4u << 20) /* bytes of start and end times sorted at once */

struct scan {
	struct gt_accel_gpu *gpu;
	struct gt_spool *spool;
	struct gt_defs *defs;
	struct gt_loc *loc;       /* whose stream is being read */
	struct gt_units *units;
	struct gt_slot *buffer;
	struct gt_idle idle;
	struct gt_messages *list; /* second time: the transfers go here */
	int dirfd;
};

/* ---- communicators ------------------------------------------------------------------------------- */

static const struct gt_def_shared *definition(const struct gt_proc *proc, uint32_t id, bool window)
{
	return gt_proc_find(proc, window ? GT_D_WINDOW : GT_D_COMM, id, NULL);
}

unsigned gt_gpu_find(const struct gt_accel_gpu *gpu, struct gt_defs *defs, const struct gt_proc *proc,
		     uint32_t id, bool window)
{
	const struct gt_def_shared *def = definition(proc, id, window);
	const char *text = def ? gt_proc_string(proc, def->name) : NULL;
	uint32_t name;

	if (!text)
		return GT_GPU_COMMS;
	name = gt_defs_string(defs, text);
	for (unsigned i = 0; i < gpu->count; i++)
		if (gpu->comms[i].name == name && gpu->comms[i].window == window &&
		    gpu->comms[i].paradigm == (uint8_t)def->paradigm)
			return i;
	return GT_GPU_COMMS;
}

static unsigned find_or_add(struct scan *s, uint32_t id, bool window)
{
	struct gt_accel_gpu *gpu = s->gpu;
	unsigned at = gt_gpu_find(gpu, s->defs, s->loc->proc, id, window);
	const struct gt_def_shared *def = definition(s->loc->proc, id, window);
	const char *text = def ? gt_proc_string(s->loc->proc, def->name) : NULL;

	if (at < GT_GPU_COMMS || !text || gpu->count == GT_GPU_COMMS)
		return at;
	gpu->comms[gpu->count] = (struct gt_gpu_comm){
		.name = gt_defs_string(s->defs, text),
		.paradigm = (uint8_t)def->paradigm,
		.window = window,
	};
	return gpu->count++;
}

/* ---- transfers -------------------------------------------------------------------------------------- */

static uint64_t mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ hash >> 29;
}

/* A key of the data that both ends of a transfer share. */
static uint64_t pair_key(const struct gt_xfer *x, uint64_t seed)
{
	uint32_t from = x->send ? x->at->id : x->other, to = x->send ? x->other : x->at->id;

	seed = mix(seed, (uint64_t)(x->at->proc - x->at->proc->spool->procs));
	seed = mix(seed, (uint64_t)from << 32 | to);
	seed = mix(seed, (uint64_t)x->comm << 32 | x->tag);
	return mix(mix(seed, x->bytes), 1);
}

static int list_transfer(struct scan *s, const struct gt_xfer *x)
{
	struct gt_pair_message message = {
		.tick = x->tick,
		.ns = x->tick,
		.pair = pair_key(x, 0),
		.tag = x->tag,
		.location = x->at->number,
		.send = x->send,
		.peer = GT_NO_PEER,
	};

	return x->at->number == GT_NOT_WRITTEN ? 0 : gt_messages_add(s->list, &message);
}

static int note_transfer(struct scan *s, struct gt_loc *at, const struct gt_slot *slot)
{
	bool window = GT_WORD_TYPE(slot->word) >= GT_T_XFER_PUT &&
		      GT_WORD_TYPE(slot->word) <= GT_T_XFER_COMPLETE;
	struct gt_loc *other = gt_proc_loc(at->proc, (uint32_t)slot[1].time);
	struct gt_xfer x = {
		.at = at,
		.tick = slot->time,
		.send = GT_WORD_TYPE(slot->word) == GT_T_XFER_SEND,
		.other = (uint32_t)slot[1].time,
		.tag = (uint32_t)(slot[1].time >> 32),
		.bytes = slot[1].word,
	};

	x.comm = find_or_add(s, (uint32_t)GT_WORD_LOW(slot->word), window);
	if (x.comm == GT_GPU_COMMS || !other)
		return 0; /* counted when it is converted */
	if (s->list)
		return window ? 0 : list_transfer(s, &x);
	at->comms |= UINT32_C(1) << x.comm;
	if (window && GT_WORD_TYPE(slot->word) == GT_T_XFER_COMPLETE)
		return 0; /* completions name nobody */
	other->comms |= UINT32_C(1) << x.comm;
	for (unsigned i = 0; !window && i < 2; i++) {
		uint64_t key = pair_key(&x, i + 1);

		s->gpu->sum[i] += x.send ? key : -key;
	}
	return 0;
}

/* All transfers in a unit. */
static int note_unit(struct scan *s, struct gt_loc *at)
{
	const struct gt_units *u = s->units;
	int rc = 0;

	for (unsigned i = 0; !rc && i < u->used && !u->rubbish; i += gt_slots_of(&u->slots[i]))
		if (gt_type_transfer(GT_WORD_TYPE(u->slots[i].word)) &&
		    GT_WORD_EXTRA(u->slots[i].word))
			rc = note_transfer(s, at, &u->slots[i]);
	return rc;
}

/* ---- streams --------------------------------------------------------------------------------- */

static int count_lanes(struct gt_loc *loc, struct gt_sorter *sorter)
{
	struct gt_lanes lanes = { .count = 0 };
	struct gt_slot key;
	int rc = gt_sorter_finish(sorter);
	long n;

	while (!rc && (n = gt_sorter_unit(sorter, &key, 1)) != 0) {
		if (n < 0)
			return (int)n;
		gt_lane_of(&lanes, key.time, key.word);
	}
	loc->lanes = lanes.count ? lanes.count : 1;
	return rc;
}

/* A GPU's stream, open in `stream`. */
static int scan_gpu(struct scan *s, struct gt_stream *stream)
{
	struct gt_loc *loc = s->loc;
	struct gt_units *u = s->units;
	struct gt_sorter *sorter = s->list ? NULL : gt_sorter_new(s->dirfd, KEY_RUN);
	bool ordered = true, only_activities = true;
	uint64_t last = 0;
	int rc = sorter || s->list ? 0 : -ENOMEM;

	gt_units_open(u, stream);
	while (!rc && (rc = gt_units_next(u)) > 0) {
		struct gt_slot key = { .time = u->start, .word = u->end };

		rc = note_unit(s, loc);
		if (rc || s->list)
			continue;
		only_activities &= u->activity;
		if (!u->activity)
			continue;
		ordered &= u->start >= last;
		last = u->end > last ? u->end : last;
		rc = gt_sorter_add(sorter, u->start, u->end - u->start, &key, 1);
		if (!rc)
			rc = gt_idle_add(&s->idle, loc, u, s->dirfd);
	}
	if (!rc && !s->list) {
		loc->lanes = 1;
		rc = ordered ? 0 : count_lanes(loc, sorter);
		loc->plain = loc->lanes == 1 && only_activities;
		loc->sorted = ordered && only_activities && !u->torn;
	}
	gt_sorter_free(sorter);
	return rc;
}

/* Records for other locations. */
static int scan_deferred(struct scan *s, struct gt_stream *stream)
{
	int rc;

	gt_units_open(s->units, stream);
	while ((rc = gt_units_next(s->units)) > 0) {
		struct gt_loc *at = gt_proc_loc(s->loc->proc, s->units->location);

		if (!at || at->win.kind == GT_LOC_DEFERRED)
			continue;
		at->deferred = true;
		rc = note_unit(s, at);
		if (rc)
			break;
	}
	return rc;
}

static int scan_location(struct scan *s)
{
	bool gpu = s->loc->win.kind == GT_LOC_GPU_STREAM;
	struct gt_stream stream;
	int rc;

	if (!gpu && s->loc->win.kind != GT_LOC_DEFERRED)
		return 0;
	if (gpu && !s->loc->lanes)
		s->loc->lanes = 1;
	if (s->loc->begin >= s->loc->end)
		return 0;
	if (!gpu && !s->list && s->loc->missing > s->loc->lost[GT_LOSS_SPACE])
		s->loc->lost[GT_LOSS_SPACE] = s->loc->missing;
	if (!s->buffer)
		s->buffer = malloc(GT_STREAM_BUFFER);
	if (!s->units)
		s->units = malloc(sizeof(*s->units));
	if (!s->buffer || !s->units)
		return -ENOMEM;
	rc = gt_stream_open(&stream, s->loc, s->buffer);
	if (rc) /* the conversion counts what is not there */
		return gt_spool_try_again(rc) ? rc : 0;
	rc = gpu ? scan_gpu(s, &stream) : scan_deferred(s, &stream);
	gt_stream_close(&stream);
	return rc && gt_spool_try_again(rc) ? rc : 0;
}

static int scan_all(struct scan *s)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < s->spool->proc_count; i++)
		for (size_t k = 0; !rc && k < s->spool->procs[i].loc_count; k++) {
			s->loc = &s->spool->procs[i].locs[k];
			if (s->loc->added)
				continue;
			rc = scan_location(s);
		}
	free(s->buffer);
	free(s->units);
	return rc;
}

int gt_gpu_scan(struct gt_accel_gpu *gpu, struct gt_spool *spool, struct gt_defs *defs, int dirfd)
{
	struct scan scan = { .gpu = gpu, .spool = spool, .defs = defs, .dirfd = dirfd };
	int rc;

	memset(gpu, 0, sizeof(*gpu));
	rc = scan_all(&scan);
	return gt_idle_finish(&scan.idle, spool, defs, dirfd, rc);
}

/* ---- members --------------------------------------------------------------------------------- */

static int number_comm(struct gt_gpu_comm *c, unsigned place, const struct gt_layout *layout,
		       struct gt_defs *defs)
{
	uint32_t key[2] = { c->window ? 'W' : 'G', c->name };
	struct gt_comm comm = { .name = c->window ? 0 : c->name, .parent = GT_UNDEFINED,
				.proc = GT_UNDEFINED, .paradigm = c->paradigm };

	c->rank = malloc((layout->location_count + 1) * sizeof(*c->rank));
	comm.members = malloc((layout->location_count + 1) * sizeof(*comm.members));
	if (!c->rank || !comm.members) {
		free(comm.members);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < layout->location_count; i++) {
		c->rank[i] = GT_NO_PEER;
		if (layout->locations[i].lane ||
		    !(layout->locations[i].loc->comms & UINT32_C(1) << place))
			continue;
		c->rank[i] = (uint32_t)comm.member_count;
		comm.members[comm.member_count++] = i;
	}
	c->number = gt_defs_comm(defs, key, sizeof(key), &comm, NULL);
	if (c->window)
		c->number = gt_defs_window(defs, c->name, c->number);
	return defs->failed;
}

int gt_gpu_finish(struct gt_accel_gpu *gpu, const struct gt_spool *spool, const struct gt_layout *layout,
		  struct gt_defs *defs, int dirfd)
{
	struct scan scan = { .gpu = gpu, .spool = (struct gt_spool *)spool, .defs = defs,
			     .dirfd = dirfd };
	int rc = 0;

	for (unsigned i = 0; !rc && i < gpu->count; i++)
		rc = number_comm(&gpu->comms[i], i, layout, defs);
	if (rc || !(gpu->sum[0] | gpu->sum[1]))
		return rc;
	rc = gt_messages_new(&scan.list, dirfd);
	if (!rc)
		rc = scan_all(&scan);
	if (!rc)
		gt_messages_pair_equal(scan.list);
	gpu->unpaired = scan.list;
	return rc;
}

bool gt_gpu_paired(const struct gt_accel_gpu *gpu, const struct gt_xfer *xfer)
{
	return !gpu->unpaired ||
	       gt_messages_has_pair(gpu->unpaired, xfer->at->number, xfer->tick, xfer->send,
				    xfer->tag, pair_key(xfer, 0));
}

void gt_gpu_free(struct gt_accel_gpu *gpu)
{
	for (unsigned i = 0; i < gpu->count; i++)
		free(gpu->comms[i].rank);
	gt_messages_free(gpu->unpaired);
	memset(gpu, 0, sizeof(*gpu));
}
