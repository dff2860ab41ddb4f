/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages and collectives: by call, size and communicator, and who sends to whom.
 *
 * Limits: messages between a host and a GPU (communicators of CUDA, HIP, OpenCL) are in the table of copies.
 * The time of a message is not here: a call's is in "mpi", and waits have a section of their own.
 */
#include "config.h"

#include "lib/assemble/util/memory.h"
#include "lib/assemble/util/places.h"
#include "report/sections/profile.h"
#include "report/model/sums.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct messages {
	struct gt_sums sent;     /* region, communicator, class of size */
	struct gt_sums received; /* the same */
	struct gt_sums matrix;   /* sending and receiving location */
	struct gt_sums collectives; /* operation, communicator, root or none */
	struct last {            /* the message that the innermost call sends: it may still be refused */
		bool open;
		uint64_t region, comm, own, to, bytes, request;
	} last;
	uint64_t mpi_error;      /* the attribute, or GT_OTF2_NOTHING */
	bool is_known;           /* mpi_error */
	uint64_t begun;          /* when the collective began, + 1 */
	uint64_t *requested;     /* when non-blocking collectives began that are not complete */
	struct gt_places open;   /* of them, by their requests */
	size_t room;
};

static bool of_gpu(const struct gt_report *report, uint64_t comm_id)
{
	const struct gt_otf2_comm *comm = gt_otf2_find_comm(report->read, comm_id);
	const struct gt_otf2_group *group = comm ? gt_otf2_find_group(report->read, comm->group) : NULL;

	return group && (group->paradigm == OTF2_PARADIGM_CUDA || group->paradigm == OTF2_PARADIGM_HIP ||
			 group->paradigm == OTF2_PARADIGM_OPENCL);
}

/* 0: nothing; n: 2^(n-1) to 2^n - 1 bytes. */
static unsigned size_class(uint64_t bytes)
{
	return bytes ? 64 - (unsigned)__builtin_clzll(bytes) : 0;
}

static uint64_t region_at(const struct gt_report *report, const struct gt_otf2_cursor *at)
{
	return at->depth ? gt_report_region(report, at->stack[at->depth - 1].region) : GT_OTF2_NOTHING;
}

static void take_last(struct messages *state)
{
	const struct last *last = &state->last;

	if (last->open) {
		gt_sum_add(gt_sums_at(&state->sent, last->region, last->comm, size_class(last->bytes), 0), 0,
			   last->bytes);
		gt_sum_add(gt_sums_at(&state->matrix, last->own, last->to, 0, 0), 0, last->bytes);
	}
	state->last.open = false;
}

/* Whether it was refused is seen at the end of its call; one of code has no end that is looked at. */
static bool in_loud_call(const struct gt_report *report, const struct gt_otf2_cursor *at)
{
	return at->depth && gt_class_loud(gt_class_of(&report->classes, at->stack[at->depth - 1].region));
}

static void sent(struct gt_report *report, struct gt_otf2_cursor *at, uint64_t comm, uint32_t peer,
		 uint64_t bytes, uint64_t request, struct messages *state)
{
	struct last *last = &state->last;

	take_last(state);
	if (of_gpu(report, comm))
		return;
	last->open = true;
	last->region = region_at(report, at);
	last->comm = comm;
	last->own = gt_otf2_own(at->read, comm, at->location->id);
	last->to = gt_otf2_member(at->read, comm, peer, last->own);
	last->own = last->own == GT_OTF2_NOTHING ? at->location->id : last->own;
	last->bytes = bytes;
	last->request = request;
	if (!in_loud_call(report, at))
		take_last(state);
}

static bool has_failed(const struct gt_otf2_cursor *at, struct messages *state)
{
	if (!at->attribute_count)
		return false;
	if (!state->is_known)
		state->mpi_error = gt_otf2_attribute_named(at->read, "MPI_ERROR");
	state->is_known = true;
	return gt_otf2_has_attribute(at, state->mpi_error);
}

/* Messages that MPI refused were not sent: the call ends with an error, a request at once by cancellation. */
static void leave(struct gt_report *report, struct gt_otf2_cursor *at, const struct gt_otf2_frame *frame,
		  void *memory)
{
	struct messages *state = memory;

	(void)report, (void)frame;
	if (!state->last.open)
		return;
	if (has_failed(at, state))
		state->last.open = false;
	take_last(state);
}

static void received(struct gt_report *report, struct gt_otf2_cursor *at, uint64_t comm, uint64_t bytes,
		     struct messages *state)
{
	if (has_failed(at, state)) /* that is what the call fails with (MPI_Sendrecv) */
		take_last(state);
	if (!of_gpu(report, comm))
		gt_sum_add(gt_sums_at(&state->received, region_at(report, at), comm, size_class(bytes), 0), 0,
			   bytes);
}

static void collective(struct gt_otf2_cursor *at, uint64_t op, uint64_t comm, uint64_t out, uint64_t in,
		       uint64_t ns, struct messages *state)
{
	struct gt_sum *sum = gt_sums_at(&state->collectives, op, comm, 0, 0);

	(void)at;
	gt_sum_add(sum, ns, out);
	/* What was received is a sum of its own, so that one table has both. */
	gt_sums_at(&state->collectives, op, comm, 1, 0)->bytes += in;
}

static void begin_request(struct messages *state, uint64_t id, uint64_t time)
{
	state->requested = gt_grown(state->requested, state->open.count, &state->room,
				    sizeof(*state->requested));
	state->requested[state->open.count] = time;
	gt_places_add(&state->open, 0, id);
}

/* How long it has been open; 0 where its begin is not in the archive. */
static uint64_t end_request(struct messages *state, uint64_t id, uint64_t time)
{
	size_t place = gt_places_take(&state->open, 0, id);

	if (place == GT_NO_PLACE)
		return 0;
	time -= state->requested[place];
	state->requested[place] = state->requested[state->open.count];
	return time;
}

static void event(struct gt_report *report, struct gt_otf2_cursor *at, const struct gt_otf2_event *event,
		  void *memory)
{
	struct messages *state = memory;

	switch (event->type) {
	case GT_OTF2_MpiSend:
		sent(report, at, event->MpiSend.comm, event->MpiSend.peer, event->MpiSend.bytes,
		     GT_OTF2_NOTHING, state);
		break;
	case GT_OTF2_MpiIsend:
		sent(report, at, event->MpiIsend.comm, event->MpiIsend.peer, event->MpiIsend.bytes,
		     event->MpiIsend.request, state);
		break;
	case GT_OTF2_MpiRequestCancelled:
		if (state->last.request == event->MpiRequestCancelled.request)
			state->last.open = false;
		break;
	case GT_OTF2_MpiRecv:
		received(report, at, event->MpiRecv.comm, event->MpiRecv.bytes, state);
		break;
	case GT_OTF2_MpiIrecv:
		received(report, at, event->MpiIrecv.comm, event->MpiIrecv.bytes, state);
		break;
	case GT_OTF2_MpiCollectiveBegin:
		state->begun = at->time + 1;
		break;
	case GT_OTF2_MpiCollectiveEnd:
		collective(at, event->MpiCollectiveEnd.op, event->MpiCollectiveEnd.comm,
			   event->MpiCollectiveEnd.sent, event->MpiCollectiveEnd.received,
			   state->begun ? at->time + 1 - state->begun : 0, state);
		state->begun = 0;
		break;
	case GT_OTF2_NonBlockingCollectiveRequest:
		begin_request(state, event->NonBlockingCollectiveRequest.request, at->time);
		break;
	case GT_OTF2_NonBlockingCollectiveComplete:
		collective(at, event->NonBlockingCollectiveComplete.op,
			   event->NonBlockingCollectiveComplete.comm,
			   event->NonBlockingCollectiveComplete.sent,
			   event->NonBlockingCollectiveComplete.received,
			   end_request(state, event->NonBlockingCollectiveComplete.request, at->time), state);
		break;
	default:
		break;
	}
}

static void end(struct gt_report *report, struct gt_otf2_cursor *at, void *memory)
{
	(void)report, (void)at;
	take_last(memory);
}

static void release(void *memory)
{
	struct messages *messages = memory;

	gt_sums_free(&messages->sent);
	gt_sums_free(&messages->received);
	gt_sums_free(&messages->matrix);
	gt_sums_free(&messages->collectives);
	free(messages->requested);
	gt_places_free(&messages->open);
}

static void carry(struct gt_report *report, struct gt_carry *carry, void *memory)
{
	struct messages *state = memory;

	(void)report;
	gt_carry_sums(carry, &state->sent);
	gt_carry_sums(carry, &state->received);
	gt_carry_sums(carry, &state->matrix);
	gt_carry_sums(carry, &state->collectives);
}

static void merge(struct gt_report *report, struct gt_otf2_cursor *at, void *memory, void *result)
{
	struct messages *state = memory, *all = result;

	(void)report, (void)at;
	gt_sums_merge(&all->sent, &state->sent);
	gt_sums_merge(&all->received, &state->received);
	gt_sums_merge(&all->matrix, &state->matrix);
	gt_sums_merge(&all->collectives, &state->collectives);
	release(state);
}

/* ---- figures ------------------------------------------------------------------------------------- */

static const struct gt_column mpi_columns[] = {
	{ "count", "calls", GT_COUNT },
	{ "seconds", "time", GT_SECONDS },
	{ "share", "of run", GT_SHARE },
	{ "max_s", "longest", GT_SECONDS },
	{ "location_min_s", NULL, GT_SECONDS },
	{ "location_mean_s", "mean rank", GT_SECONDS },
	{ "location_max_s", "largest", GT_SECONDS },
	{ "location_of_max", "of", GT_TEXT },
	{ "sent", NULL, GT_COUNT },
	{ "sent_bytes", "sent", GT_BYTES },
	{ "received", NULL, GT_COUNT },
	{ "received_bytes", NULL, GT_BYTES },
	{ "class", NULL, GT_WORD },
	{ "name", "call", GT_TEXT },
};
static const struct gt_section_kind mpi_kind =
	GT_SECTION("mpi", "MPI calls", GT_ROWS, mpi_columns, .spare = "max_s,sent_bytes");

static const struct gt_column messages_columns[] = {
	{ "count", "messages", GT_COUNT },
	{ "bytes", "bytes", GT_BYTES },
	{ "received", NULL, GT_COUNT },
	{ "received_bytes", NULL, GT_BYTES },
	{ "pairs", "pairs", GT_COUNT },
};
static const struct gt_section_kind messages_kind =
	GT_SECTION("messages", "Messages", GT_OBJECT, messages_columns);

static const struct gt_column size_columns[] = {
	{ "least_bytes", "from", GT_BYTES },   { "most_bytes", "to", GT_BYTES },
	{ "count", "messages", GT_COUNT },     { "bytes", "bytes", GT_BYTES },
	{ "communicator", "communicator", GT_TEXT }, { "communicator_id", NULL, GT_COUNT },
	{ "ranks", "ranks", GT_COUNT },        { "call", "call", GT_TEXT },
};
static const struct gt_section_kind sizes_kind =
	GT_SECTION("messages.sizes", "Messages by size, communicator and call", GT_ROWS, size_columns);

static const struct gt_column matrix_columns[] = {
	{ "count", "messages", GT_COUNT },
	{ "bytes", "bytes", GT_BYTES },
	{ "from", "from", GT_TEXT },
	{ "to", "to", GT_TEXT },
};
static const struct gt_section_kind matrix_kind =
	GT_SECTION("messages.matrix", "Messages from and to", GT_ROWS, matrix_columns);

static const struct gt_column collective_columns[] = {
	{ "count", "calls", GT_COUNT },
	{ "seconds", "time", GT_SECONDS },
	{ "max_s", "longest", GT_SECONDS },
	{ "sent_bytes", "sent", GT_BYTES },
	{ "received_bytes", "received", GT_BYTES },
	{ "ranks", "ranks", GT_COUNT },
	{ "communicator", "communicator", GT_TEXT },
	{ "communicator_id", NULL, GT_COUNT },
	{ "name", "operation", GT_TEXT },
};
static const struct gt_section_kind collectives_kind =
	GT_SECTION("collectives", "Collectives", GT_ROWS, collective_columns);

static const char *const operations[] = {
	[OTF2_COLLECTIVE_OP_BARRIER] = "barrier",
	[OTF2_COLLECTIVE_OP_BCAST] = "bcast",
	[OTF2_COLLECTIVE_OP_GATHER] = "gather",
	[OTF2_COLLECTIVE_OP_GATHERV] = "gatherv",
	[OTF2_COLLECTIVE_OP_SCATTER] = "scatter",
	[OTF2_COLLECTIVE_OP_SCATTERV] = "scatterv",
	[OTF2_COLLECTIVE_OP_ALLGATHER] = "allgather",
	[OTF2_COLLECTIVE_OP_ALLGATHERV] = "allgatherv",
	[OTF2_COLLECTIVE_OP_ALLTOALL] = "alltoall",
	[OTF2_COLLECTIVE_OP_ALLTOALLV] = "alltoallv",
	[OTF2_COLLECTIVE_OP_ALLTOALLW] = "alltoallw",
	[OTF2_COLLECTIVE_OP_ALLREDUCE] = "allreduce",
	[OTF2_COLLECTIVE_OP_REDUCE] = "reduce",
	[OTF2_COLLECTIVE_OP_REDUCE_SCATTER] = "reduce_scatter",
	[OTF2_COLLECTIVE_OP_SCAN] = "scan",
	[OTF2_COLLECTIVE_OP_EXSCAN] = "exscan",
	[OTF2_COLLECTIVE_OP_REDUCE_SCATTER_BLOCK] = "reduce_scatter_block",
	[OTF2_COLLECTIVE_OP_CREATE_HANDLE] = "create handle",
	[OTF2_COLLECTIVE_OP_DESTROY_HANDLE] = "destroy handle",
	[OTF2_COLLECTIVE_OP_ALLOCATE] = "allocate",
	[OTF2_COLLECTIVE_OP_DEALLOCATE] = "deallocate",
	[OTF2_COLLECTIVE_OP_CREATE_HANDLE_AND_ALLOCATE] = "create and allocate",
	[OTF2_COLLECTIVE_OP_DESTROY_HANDLE_AND_DEALLOCATE] = "destroy and deallocate",
};

static const char *communicator(struct gt_report *report, uint64_t id)
{
	const struct gt_otf2_comm *comm = gt_otf2_find_comm(report->read, id);

	if (comm && *comm->name)
		return comm->name;
	return gt_figures_text(&report->figures, "communicator %llu", (unsigned long long)id);
}

struct volume {
	uint64_t count, bytes;
};

static struct volume volume_of(const struct gt_sums *sums, uint64_t region)
{
	struct volume all = {0};

	for (uint32_t i = 0; i < sums->count; i++) {
		if (region != GT_OTF2_NOTHING && sums->items[i].key[0] != region)
			continue;
		all.count += sums->items[i].count;
		all.bytes += sums->items[i].bytes;
	}
	return all;
}

static void mpi_row(struct gt_report *report, const struct messages *all,
		    const struct gt_profile_region *region, size_t i, uint64_t whole, union gt_cell *row)
{
	struct volume out = volume_of(&all->sent, i), in = volume_of(&all->received, i);

	row[0].count = region->calls;
	row[1].count = region->exclusive;
	row[2].number = gt_profile_share(region, whole);
	row[3].count = region->most;
	row[4].count = region->location_least;
	row[5].count = region->exclusive / region->locations;
	row[6].count = region->location_most;
	row[7].text = gt_report_location(report, region->most_location);
	row[8].count = out.count;
	if (out.count)
		row[9].count = out.bytes;
	row[10].count = in.count;
	if (in.count)
		row[11].count = in.bytes;
	row[12].text = gt_class_names[report->classes.regions[i]];
	row[13].text = gt_report_region_name(report, i);
}

static void mpi_table(struct gt_report *report, const struct messages *all)
{
	struct gt_section *section = gt_section_add(&report->figures, &mpi_kind);
	const struct gt_profile *profile = gt_report_result(report, &gt_profile_analysis);
	uint64_t whole = gt_profile_whole(report, profile);

	for (size_t i = 0; i < report->read->tables[GT_OTF2_REGION].count; i++)
		if (profile->regions[i].calls && gt_class_times[report->classes.regions[i]] == GT_TIME_MPI)
			mpi_row(report, all, &profile->regions[i], i, whole, gt_row_add(section));
	gt_rows_sort(section, 1);
}

static void sizes_table(struct gt_report *report, struct messages *all)
{
	struct gt_section *section = gt_section_add(&report->figures, &sizes_kind);

	gt_sums_sort(&all->sent, GT_SUMS_BY_BYTES);
	for (uint32_t i = 0; i < all->sent.count; i++) {
		const struct gt_sum *sum = &all->sent.items[i];
		union gt_cell *row = gt_row_add(section);
		unsigned class = (unsigned)sum->key[2];

		row[0].count = class ? UINT64_C(1) << (class - 1) : 0;
		row[1].count = class == 64 ? UINT64_MAX - 1 : (UINT64_C(1) << class) - 1;
		row[2].count = sum->count;
		row[3].count = sum->bytes;
		row[4].text = communicator(report, sum->key[1]);
		row[5].count = sum->key[1];
		row[6].count = gt_otf2_comm_size(report->read, sum->key[1]);
		if (sum->key[0] != GT_OTF2_NOTHING)
			row[7].text = gt_report_region_name(report, sum->key[0]);
	}
}

static const char *endpoint(struct gt_report *report, uint64_t id)
{
	ptrdiff_t index = gt_otf2_index(report->read, GT_OTF2_LOCATION, id);

	return index < 0 ? NULL : gt_report_location(report, (size_t)index);
}

static void matrix_table(struct gt_report *report, struct messages *all)
{
	struct gt_section *section = gt_section_add(&report->figures, &matrix_kind);

	gt_sums_sort(&all->matrix, GT_SUMS_BY_BYTES);
	for (uint32_t i = 0; i < all->matrix.count; i++) {
		union gt_cell *row = gt_row_add(section);

		row[0].count = all->matrix.items[i].count;
		row[1].count = all->matrix.items[i].bytes;
		row[2].text = endpoint(report, all->matrix.items[i].key[0]);
		row[3].text = endpoint(report, all->matrix.items[i].key[1]);
	}
}

static void messages_table(struct gt_report *report, const struct messages *all)
{
	struct gt_section *section = gt_section_add(&report->figures, &messages_kind);
	struct volume out = volume_of(&all->sent, GT_OTF2_NOTHING);
	struct volume in = volume_of(&all->received, GT_OTF2_NOTHING);
	union gt_cell *row = gt_row_add(section);

	row[0].count = out.count;
	row[1].count = out.bytes;
	row[2].count = in.count;
	row[3].count = in.bytes;
	row[4].count = all->matrix.count;
}

static void collectives_table(struct gt_report *report, struct messages *all)
{
	struct gt_section *section = gt_section_add(&report->figures, &collectives_kind);
	const size_t known = sizeof(operations) / sizeof(operations[0]);

	for (uint32_t i = 0; i < all->collectives.count; i++) {
		const struct gt_sum sum = all->collectives.items[i];
		union gt_cell *row;

		if (sum.key[2])
			continue;
		row = gt_row_add(section);
		row[0].count = sum.count;
		row[1].count = sum.ns;
		row[2].count = sum.most;
		row[3].count = sum.bytes;
		row[4].count = gt_sums_at(&all->collectives, sum.key[0], sum.key[1], 1, 0)->bytes;
		row[5].count = gt_otf2_comm_size(report->read, sum.key[1]);
		row[6].text = communicator(report, sum.key[1]);
		row[7].count = sum.key[1];
		row[8].text = sum.key[0] < known && operations[sum.key[0]]
			      ? operations[sum.key[0]]
			      : gt_figures_text(&report->figures, "operation %u", (unsigned)sum.key[0]);
	}
	gt_rows_sort(section, 1);
}

static void figures(struct gt_report *report, void *result)
{
	mpi_table(report, result);
	messages_table(report, result);
	sizes_table(report, result);
	matrix_table(report, result);
	collectives_table(report, result);
}

const struct gt_analysis gt_messages_analysis = {
	.name = "messages", .loud_only = true,
	.state_size = sizeof(struct messages), .result_size = sizeof(struct messages),
	.leave = leave, .event = event, .end = end, .carry = carry, .merge = merge, .figures = figures,
	.free = release,
};
