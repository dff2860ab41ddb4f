/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions that NCCL calls: one table for each version of its interface. All versions pass the same
 * struct gt_nccl_about on; nothing here fails, as far as NCCL can see.
 *
 * Limits: see plugin.h.
 */
#include <string.h>

#include "nccl/nccl.h"

#define EXPORT __attribute__((visibility("default"), used))

/* As in NCCL's headers. */
#define AT(N, member, offset) \
	_Static_assert(offsetof(struct gt_nccl_v##N##_event, member) == (offset), "layout of version " #N)
_Static_assert(sizeof(struct gt_nccl_v2_event) == 128 && sizeof(struct gt_nccl_v3_event) == 120 &&
	       sizeof(struct gt_nccl_v4_event) == 104 && sizeof(struct gt_nccl_v6_event) == 112, "sizes");
AT(2, coll.protocol, 120);
AT(3, coll.protocol, 112);
AT(4, coll.protocol, 96);
AT(6, coll.protocol, 96);
AT(6, ce_coll.stream, 104);

/* ---- handles ------------------------------------------------------------------------------------------ */

static gt_nccl_result begin_comm(void **context, int *mask, const char *name, uint64_t hash, int ranks,
				 int rank)
{
	if (mask)
		*mask = gt_nccl_mask();
	if (context)
		*context = (void *)(uintptr_t)gt_nccl_open(name, hash, ranks, rank);
	return 0;
}

static gt_nccl_result begin_event(void *context, void **handle, const struct gt_nccl_about *about)
{
	uint64_t event = gt_nccl_start((uint64_t)(uintptr_t)context, about);

	if (handle)
		*handle = (void *)(uintptr_t)event;
	return 0;
}

static gt_nccl_result stop(void *handle)
{
	gt_nccl_stop((uint64_t)(uintptr_t)handle);
	return 0;
}

/* The first word of all that can go with a state. */
static gt_nccl_result state(void *handle, int state, union gt_nccl_state_args *args)
{
	gt_nccl_state((uint64_t)(uintptr_t)handle, state, args ? args->step.bytes : 0);
	return 0;
}

static gt_nccl_result finalize(void *context)
{
	gt_nccl_close((uint64_t)(uintptr_t)context);
	return 0;
}

/* ---- descriptions ------------------------------------------------------------------------------------- */

#define ABOUT(event)                                                          \
	{                                                                     \
		.type = (event)->type, .parent = (uintptr_t)(event)->parent,  \
		.rank = (event)->rank, .root = -1,                            \
	}

#define SAY_COLL(about, event)                                                \
	do {                                                                  \
		(about)->function = (event)->coll.function;                   \
		(about)->datatype = (event)->coll.datatype;                   \
		(about)->algorithm = (event)->coll.algorithm;                 \
		(about)->protocol = (event)->coll.protocol;                   \
		(about)->count = (event)->coll.count;                         \
		(about)->sequence = (event)->coll.sequence;                   \
		(about)->root = (event)->coll.root;                           \
		(about)->channels = (event)->coll.channels;                   \
		(about)->warps = (event)->coll.warps;                         \
	} while (0)

#define SAY_P2P(about, event)                                                 \
	do {                                                                  \
		(about)->function = (event)->p2p.function;                    \
		(about)->datatype = (event)->p2p.datatype;                    \
		(about)->count = (event)->p2p.count;                          \
		(about)->root = (event)->p2p.peer;                            \
	} while (0)

#define SAY_PROXY(about, event)                                               \
	do {                                                                  \
		(about)->pid = (event)->proxy_op.pid;                         \
		(about)->channel = (event)->proxy_op.channel;                 \
		(about)->root = (event)->proxy_op.peer;                       \
		(about)->steps = (event)->proxy_op.steps;                     \
		(about)->send = (event)->proxy_op.is_send != 0;               \
	} while (0)

/* Shared by versions 2 and 3. */
#define SAY_OLD(about, event)                                                 \
	do {                                                                  \
		if ((event)->type == GT_NCCL_COLL) {                          \
			SAY_COLL(about, event);                               \
			(about)->name = (event)->coll.name;                   \
			(about)->hash = (event)->coll.hash;                   \
		} else if ((event)->type == GT_NCCL_P2P) {                    \
			SAY_P2P(about, event);                                \
			(about)->name = (event)->p2p.name;                    \
			(about)->hash = (event)->p2p.hash;                    \
		} else if ((event)->type == GT_NCCL_PROXY_OP) {               \
			SAY_PROXY(about, event);                              \
		} else if ((event)->type == GT_NCCL_PROXY_STEP) {             \
			(about)->step = (event)->proxy_step.step;             \
		}                                                             \
	} while (0)

/* ... and 4 to 6. */
#define SAY_NEW(about, event)                                                 \
	do {                                                                  \
		if ((event)->type == GT_NCCL_COLL) {                          \
			SAY_COLL(about, event);                               \
		} else if ((event)->type == GT_NCCL_P2P) {                    \
			SAY_P2P(about, event);                                \
			(about)->channels = (event)->p2p.channels;            \
		} else if ((event)->type == GT_NCCL_PROXY_OP) {               \
			SAY_PROXY(about, event);                              \
		} else if ((event)->type == GT_NCCL_PROXY_STEP) {             \
			(about)->step = (event)->proxy_step.step;             \
		} else if ((event)->type == GT_NCCL_KERNEL_CH) {              \
			(about)->channel = (event)->kernel_ch.channel;        \
			(about)->timer = (event)->kernel_ch.timer;            \
		}                                                             \
	} while (0)

static gt_nccl_result start2(void *context, void **handle, struct gt_nccl_v2_event *event)
{
	struct gt_nccl_about about = ABOUT(event);

	SAY_OLD(&about, event);
	return begin_event(context, handle, &about);
}

static gt_nccl_result start3(void *context, void **handle, struct gt_nccl_v3_event *event)
{
	struct gt_nccl_about about = ABOUT(event);

	SAY_OLD(&about, event);
	if (event->type == GT_NCCL_KERNEL_CH)
		about.channel = event->kernel_ch.channel;
	return begin_event(context, handle, &about);
}

static gt_nccl_result start4(void *context, void **handle, struct gt_nccl_v4_event *event)
{
	struct gt_nccl_about about = ABOUT(event);

	SAY_NEW(&about, event);
	return begin_event(context, handle, &about);
}

static void say_call(struct gt_nccl_about *about, const struct gt_nccl_v6_event *event)
{
	if (event->type == GT_NCCL_GROUP_API) {
		about->captured = event->group_api.captured;
		about->depth = event->group_api.depth;
	} else if (event->type == GT_NCCL_COLL_API) {
		about->function = event->coll_api.function;
		about->root = event->coll_api.root;
		about->count = event->coll_api.count;
		about->datatype = event->coll_api.datatype;
		about->captured = event->coll_api.captured;
	} else if (event->type == GT_NCCL_P2P_API) {
		about->function = event->p2p_api.function;
		about->count = event->p2p_api.count;
		about->datatype = event->p2p_api.datatype;
		about->captured = event->p2p_api.captured;
	} else if (event->type == GT_NCCL_CE_COLL) {
		about->type = GT_NCCL_COLL;
		about->function = event->ce_coll.function;
		about->count = event->ce_coll.count;
		about->datatype = event->ce_coll.datatype;
		about->sequence = event->ce_coll.sequence;
		about->root = event->ce_coll.root;
		about->algorithm = "CE";
		about->protocol = event->ce_coll.strategy;
	}
}

static gt_nccl_result start6(void *context, void **handle, struct gt_nccl_v6_event *event)
{
	struct gt_nccl_about about = ABOUT(event);

	SAY_NEW(&about, event);
	say_call(&about, event);
	return begin_event(context, handle, &about);
}

/* ---- the tables --------------------------------------------------------------------------------------- */

static gt_nccl_result init2(void **context, int *mask)
{
	return begin_comm(context, mask, NULL, 0, 0, -1);
}

static gt_nccl_result init4(void **context, int *mask, const char *name, uint64_t hash, int nodes, int ranks,
			    int rank, gt_nccl_logger *log)
{
	(void)nodes;
	(void)log;
	return begin_comm(context, mask, name, hash, ranks, rank);
}

static gt_nccl_result init5(void **context, uint64_t hash, int *mask, const char *name, int nodes, int ranks,
			    int rank, gt_nccl_logger *log)
{
	(void)nodes;
	(void)log;
	return begin_comm(context, mask, name, hash, ranks, rank);
}

#define TABLE(N, init_, start_)                                               \
	extern struct gt_nccl_v##N ncclProfiler_v##N;                         \
	EXPORT struct gt_nccl_v##N ncclProfiler_v##N = {                      \
		.name = "gputrace", .init = init_, .start = start_,           \
		.stop = stop, .state = state, .finalize = finalize,           \
	}
TABLE(2, init2, start2);
TABLE(3, init2, start3);
TABLE(4, init4, start4);
TABLE(5, init5, start6);
TABLE(6, init5, start6);

/* ---- the adapter -------------------------------------------------------------------------------------- */

static void fork_child(void)
{
	gt_nccl_events_forked();
	gt_nccl_comms_forked();
	gt_nccl_names_forked();
}

static void at_end(int how)
{
	if (how != GT_END_NONE && !gt_is_confined())
		gt_nccl_comms_end();
}

static const struct gt_adapter adapter = {
	.bytes = sizeof(adapter),
	.abi = GT_ADAPTER_ABI,
	.name = "nccl",
	.fork_child = fork_child,
	.end = at_end,
};

/* NCCL has loaded this library. */
__attribute__((constructor)) static void begin(void)
{
	const char *wanted = gt_setting("VT_NCCL");

	if (!wanted || !strcmp(wanted, "no") || gt_adapter_register(&adapter))
		return;
	gt_nccl_names_begin();
	gt_nccl_comms_begin();
	gt_nccl_mode = !strcmp(wanted, "detail")    ? GT_NCCL_DETAIL
		       : !strcmp(wanted, "kernels") ? GT_NCCL_KERNELS
						    : GT_NCCL_CALLS;
}
