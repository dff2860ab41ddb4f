/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The child that reads single events, and how it is asked.
 *
 * Limits: see single.h.
 */
#include "config.h"

#include "report/page/single.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/assemble/util/memory.h"
#include "lib/read/read.h"
#include "report/model/stacks.h"
#include "report/page/pyramid.h"

enum { MOST_ANSWER = 64 << 20 };

struct question {
	uint64_t from, to;
	uint64_t size;     /* of the place that follows; 0: from the begin */
	uint32_t row, sums;
};

struct reading {
	const struct question *question;
	struct gt_bytes spans, events;
	uint64_t span_count, event_count;
	struct gt_single_sum *sums; /* by region */
	size_t *nested;             /* open calls, by region */
	size_t regions;
	uint64_t time;
	uint64_t attribute, bytes; /* of the activity that is open */
	uint64_t path;      /* the attribute CALL_PATH */
};

/* ---- the child's visitor ------------------------------------------------------------------------- */

static size_t region_of(const struct gt_otf2 *read, const struct gt_otf2_region *region)
{
	ptrdiff_t index = gt_otf2_index(read, GT_OTF2_REGION, region->id);

	return index < 0 ? read->tables[GT_OTF2_REGION].count : (size_t)index;
}

static bool inside(const struct reading *r, uint64_t time)
{
	return time >= r->question->from && time < r->question->to;
}

/* The time since the event before is the region's, as much of it as is in the window; so are bytes. */
static void spend(struct reading *r, const struct gt_otf2_cursor *at, size_t depth, uint64_t bytes)
{
	uint64_t from = r->time > r->question->from ? r->time : r->question->from;
	uint64_t to = at->time < r->question->to ? at->time : r->question->to;
	uint64_t begin = r->time, whole = at->time - begin;
	struct gt_single_sum *sum;

	r->time = at->time;
	if (!r->sums || !depth)
		return;
	sum = &r->sums[region_of(at->read, at->stack[depth - 1].region)];
	if (to > from) {
		sum->exclusive += to - from;
		sum->bytes += gt_pyramid_bytes(bytes, to - begin, whole) -
			      gt_pyramid_bytes(bytes, from - begin, whole);
	} else if (!whole && inside(r, at->time)) {
		sum->bytes += bytes;
	}
}

static void take_bytes(struct reading *r, const struct gt_otf2_cursor *at)
{
	OTF2_AttributeValue value;

	if (gt_otf2_attribute(at, r->attribute, OTF2_TYPE_UINT64, &value))
		r->bytes = value.uint64;
}

static void on_begin(struct gt_otf2_cursor *at)
{
	struct reading *r = at->user;

	r->time = at->time;
	for (size_t i = 0; r->sums && i < at->depth; i++)
		r->nested[region_of(at->read, at->stack[i].region)]++;
}

static void on_enter(struct gt_otf2_cursor *at)
{
	struct reading *r = at->user;
	size_t region;

	spend(r, at, at->depth - 1, 0);
	if (!r->sums)
		return;
	region = region_of(at->read, at->stack[at->depth - 1].region);
	r->nested[region]++;
	r->sums[region].calls += inside(r, at->time);
	r->bytes = 0;
	take_bytes(r, at);
}

/* A call ends, or what was read of its row. One within another of its region is counted with that one. */
static void end_call(struct reading *r, const struct gt_otf2_cursor *at, const struct gt_otf2_frame *frame)
{
	size_t region = r->sums ? region_of(at->read, frame->region) : 0;
	uint64_t from = frame->begin > r->question->from ? frame->begin : r->question->from;
	uint64_t to = at->time < r->question->to ? at->time : r->question->to;

	if (r->sums && !--r->nested[region] && to > from)
		r->sums[region].inclusive += to - from;
}

/* "main > take (a.c:12)" */
static void put_path(struct reading *r, const struct gt_otf2 *read, uint32_t path)
{
	const struct gt_otf2_source *source = gt_call_source(read, path);
	char *functions = gt_call_functions(read, path);
	struct gt_bytes text = { .count = 0 };

	gt_bytes_print(&text, "%s", functions);
	if (source)
		gt_bytes_print(&text, " (%s:%" PRIu32 ")", source->file, source->line);
	gt_bytes_add(&text, "", 1);
	gt_bytes_print(&r->spans, ",");
	gt_bytes_json(&r->spans, (const char *)text.data);
	free(text.data);
	free(functions);
}

/* `path`: gt_stack_call_path() */
static void put_span(struct reading *r, const struct gt_otf2_cursor *at, const struct gt_otf2_frame *frame,
		     size_t depth, bool open, uint32_t path)
{
	if (r->sums || frame->begin >= r->question->to || r->span_count == GT_SINGLE_MOST)
		return;
	gt_bytes_print(&r->spans, "%s[%" PRIu64, r->span_count++ ? "," : "", frame->begin);
	if (open)
		gt_bytes_print(&r->spans, ",null");
	else
		gt_bytes_print(&r->spans, ",%" PRIu64, at->time);
	gt_bytes_print(&r->spans, ",%zu,%zu", region_of(at->read, frame->region), depth);
	if (path)
		put_path(r, at->read, path);
	gt_bytes_print(&r->spans, "]");
}

static void on_leave(struct gt_otf2_cursor *at, const struct gt_otf2_frame *frame)
{
	struct reading *r = at->user;

	take_bytes(r, at);
	at->depth++; /* the frame is still behind the others */
	spend(r, at, at->depth, r->bytes);
	at->depth--;
	end_call(r, at, frame);
	r->bytes = 0;
	if (at->time >= r->question->from)
		put_span(r, at, frame, at->depth + 1, false, gt_stack_call_path(at, r->path));
}

static void on_end(struct gt_otf2_cursor *at, bool whole)
{
	struct reading *r = at->user;

	/* Nothing behind the window was read: the row ends here, and with it what is open. */
	for (size_t i = 0; i < at->depth; i++)
		put_span(r, at, &at->stack[i], i + 1, !whole || at->time > r->question->to, 0);
	for (size_t i = at->depth; i-- > 0;)
		end_call(r, at, &at->stack[i]);
}

/* ---- events as text ------------------------------------------------------------------------------ */

static void put_values(struct gt_bytes *text, const struct gt_otf2 *read, const struct gt_otf2_Metric *e)
{
	const struct gt_otf2_metric *metric = gt_otf2_find_metric(read, e->metric);

	for (uint8_t i = 0; metric && i < e->count && i < metric->count; i++) {
		const struct gt_otf2_metric_member *member =
			gt_otf2_find_metric_member(read, metric->members[i]);

		gt_bytes_print(text, "%s%s ", i ? ", " : "", member ? member->name : "?");
		if (e->types[i] == OTF2_TYPE_DOUBLE)
			gt_bytes_print(text, "%g", e->values[i].floating_point);
		else if (e->types[i] == OTF2_TYPE_INT64)
			gt_bytes_print(text, "%" PRId64, e->values[i].signed_int);
		else
			gt_bytes_print(text, "%" PRIu64, e->values[i].unsigned_int);
	}
}

/* "peer 3, comm 0, tag 7, bytes 1024" */
static void put_fields(struct gt_bytes *text, const struct gt_otf2_event *event)
{
	const char *between = "";

#define FIELD_V(type, name)                                                                        \
	gt_bytes_print(text, "%s" #name " %" PRIu64, between, (uint64_t)e->name);                  \
	between = ", ";
#define FIELD_R(kind, type, name) FIELD_V(type, name)
#define CASE(type)                                                                                 \
	case GT_OTF2_##type: {                                                                     \
		const struct gt_otf2_##type *e = &event->type;                                     \
		(void)e;                                                                           \
		GT_OTF2_EVT_##type(FIELD_V, FIELD_R)                                               \
		break;                                                                             \
	}
	switch (event->type) {
		GT_OTF2_EVENTS_ALL(CASE)
	case GT_OTF2_TYPES:
		break;
	}
	(void)between;
}

static void put_text(struct gt_bytes *text, const struct gt_otf2 *read, const struct gt_otf2_event *event)
{
	if (event->type == GT_OTF2_Metric)
		put_values(text, read, &event->Metric);
	else if (event->type == GT_OTF2_ParameterString)
		gt_bytes_print(text, "%s", gt_otf2_text(read, event->ParameterString.string));
	else if (event->type == GT_OTF2_ProgramBegin)
		gt_bytes_print(text, "%s", gt_otf2_text(read, event->ProgramBegin.name));
	else
		put_fields(text, event);
	gt_bytes_add(text, "", 1);
}

static void on_event(struct gt_otf2_cursor *at, const struct gt_otf2_event *event)
{
	struct gt_bytes text = { .count = 0 };
	struct reading *r = at->user;

	spend(r, at, at->depth, 0);
	if (r->sums || !inside(r, at->time) || r->event_count == GT_SINGLE_MOST)
		return;
	put_text(&text, at->read, event);
	gt_bytes_print(&r->events, "%s[%" PRIu64 ",\"%s\",", r->event_count++ ? "," : "", at->time,
		       gt_otf2_type_names[event->type]);
	gt_bytes_json(&r->events, (const char *)text.data);
	gt_bytes_print(&r->events, "]");
	free(text.data);
}

/* ---- the child ----------------------------------------------------------------------------------- */

static bool read_all(int fd, void *to, size_t size, int milliseconds)
{
	for (size_t done = 0; done < size;) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		ssize_t n = 0;

		if (poll(&p, 1, milliseconds) > 0)
			n = read(fd, (char *)to + done, size - done);
		else if (errno == EINTR)
			continue;
		if (n <= 0 && !(n < 0 && errno == EINTR))
			return false;
		done += n > 0 ? (size_t)n : 0;
	}
	return true;
}

static bool write_all(int fd, const void *from, size_t size)
{
	for (size_t done = 0; done < size;) {
		ssize_t n = write(fd, (const char *)from + done, size - done);

		if (n <= 0 && !(n < 0 && errno == EINTR))
			return false;
		done += n > 0 ? (size_t)n : 0;
	}
	return true;
}

/* Reads its data, written by picture.c. */
static bool place_of(const struct gt_otf2 *read, const unsigned char *data, size_t size,
		     struct gt_otf2_place *place)
{
	size_t at = 0;
	uint64_t depth, region;

	if (!gt_bytes_read(data, size, &at, &place->event) ||
	    !gt_bytes_read(data, size, &at, &place->ticks) ||
	    !gt_bytes_read(data, size, &at, &depth) || depth > size)
		return false;
	place->depth = depth;
	place->stack = gt_zeroed(depth + 1, sizeof(*place->stack));
	for (size_t i = 0; i < depth; i++) {
		struct gt_otf2_frame *frame = (struct gt_otf2_frame *)&place->stack[i];

		if (!gt_bytes_read(data, size, &at, &region) ||
		    !gt_bytes_read(data, size, &at, &frame->begin))
			return false;
		if (region < read->tables[GT_OTF2_REGION].count)
			frame->region = gt_otf2_region_at(read, region);
	}
	return true;
}

static void finish(struct reading *r, bool read_well, struct gt_bytes *out)
{
	const struct question *q = r->question;

	if (r->sums) {
		if (read_well)
			gt_bytes_add(out, r->sums, (r->regions + 1) * sizeof(*r->sums));
		return;
	}
	gt_bytes_print(out,
		       "{\"row\":%u,\"from\":%" PRIu64 ",\"to\":%" PRIu64
		       ",\"truncated\":%s,\"whole\":%s,\"spans\":[",
		       q->row, q->from, q->to,
		       r->span_count == GT_SINGLE_MOST || r->event_count == GT_SINGLE_MOST ? "true" : "false",
		       read_well ? "true" : "false");
	gt_bytes_add(out, r->spans.data, r->spans.count);
	gt_bytes_print(out, "],\"events\":[");
	gt_bytes_add(out, r->events.data, r->events.count);
	gt_bytes_print(out, "]}\n");
}

static void answer(struct gt_otf2 *read, struct reading *r, const unsigned char *data, struct gt_bytes *out)
{
	const struct question *q = r->question;
	struct gt_otf2_place place = { .event = 0 };
	bool known = !q->size || place_of(read, data, q->size, &place);

	r->regions = read->tables[GT_OTF2_REGION].count;
	r->attribute = gt_otf2_attribute_named(read, "BYTES");
	r->path = gt_otf2_attribute_named(read, "CALL_PATH");
	if (q->sums) {
		r->sums = calloc(r->regions + 1, sizeof(*r->sums));
		r->nested = calloc(r->regions + 1, sizeof(*r->nested));
		if (!r->sums || !r->nested)
			gt_no_memory();
	}
	finish(r, known && !gt_otf2_part(read, q->row, &place, q->to), out);
	free((void *)place.stack);
	free(r->sums);
	free(r->nested);
	free(r->spans.data);
	free(r->events.data);
}

static _Noreturn void child(const char *anchor, int from, int to)
{
	static const struct gt_otf2_visitor visitor = { .begin = on_begin, .enter = on_enter,
							.leave = on_leave, .event = on_event, .end = on_end };
	struct rlimit none = { 0, 0 };
	struct reading r;
	struct question q;
	struct gt_otf2 *read;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setrlimit(RLIMIT_CORE, &none);
	signal(SIGINT, SIG_IGN); /* of the terminal: the parent ends it */
	read = gt_otf2_open(anchor, &(struct gt_otf2_options){ .visitor = &visitor, .user = &r });
	if (!read || gt_otf2_definitions(read))
		_exit(2);
	while (read_all(from, &q, sizeof(q), -1)) {
		struct gt_bytes out = { .count = 0 };
		unsigned char *data = malloc(q.size + 1);
		uint64_t size;

		if (!data || !read_all(from, data, q.size, -1))
			break;
		r = (struct reading){ .question = &q };
		answer(read, &r, data, &out);
		size = out.count;
		if (!write_all(to, &size, sizeof(size)) || !write_all(to, out.data, out.count))
			break;
		free(out.data);
		free(data);
	}
	_exit(0);
}

/* ---- the parent ---------------------------------------------------------------------------------- */

void gt_single_end(struct gt_single *single)
{
	if (!single->child)
		return;
	kill(single->child, SIGKILL);
	while (waitpid(single->child, NULL, 0) < 0 && errno == EINTR)
		;
	close(single->to);
	close(single->from);
	single->child = 0;
}

static bool begin(struct gt_single *single)
{
	int questions[2], answers[2];

	if (single->child)
		return true;
	if (pipe2(questions, O_CLOEXEC))
		return false;
	if (pipe2(answers, O_CLOEXEC)) {
		close(questions[0]);
		close(questions[1]);
		return false;
	}
	single->child = fork();
	if (!single->child) {
		close(questions[1]);
		close(answers[0]);
		child(single->anchor, questions[0], answers[1]);
	}
	close(questions[0]);
	close(answers[1]);
	single->to = questions[1];
	single->from = answers[0];
	if (single->child > 0)
		return true;
	close(single->to);
	close(single->from);
	single->child = 0;
	return false;
}

/* The last place that is not behind the time; NULL: the begin of the row. */
static const struct gt_tile *place_before(const struct gt_store *store, uint32_t row, uint64_t time)
{
	size_t i = gt_store_find(store, 0, GT_TILE_PLACE, row, time);

	while (i-- > 0 && store->tiles[i].kind == GT_TILE_PLACE && store->tiles[i].row == row)
		if (store->tiles[i].tile < time) /* events of this very time may be before the place */
			return &store->tiles[i];
	return NULL;
}

static bool ask(struct gt_single *single, struct question *q, struct gt_bytes *out)
{
	const struct gt_tile *place = place_before(single->store, q->row, q->from);
	uint64_t size = 0;
	bool well;

	q->size = place ? place->length : 0;
	if (!begin(single))
		return false;
	well = write_all(single->to, q, sizeof(*q)) &&
	       (!place || write_all(single->to, gt_store_data(single->store, place), place->length)) &&
	       read_all(single->from, &size, sizeof(size), GT_SINGLE_SECONDS * 1000) && size < MOST_ANSWER;
	if (well) {
		gt_bytes_room(out, size);
		well = read_all(single->from, out->data + out->count, size, GT_SINGLE_SECONDS * 1000);
		out->count += well ? size : 0;
	}
	if (!well)
		gt_single_end(single);
	return well;
}

bool gt_single_events(struct gt_single *single, uint32_t row, uint64_t from, uint64_t to,
		      struct gt_bytes *out)
{
	struct question q = { .from = from, .to = to, .row = row };

	return ask(single, &q, out);
}

bool gt_single_sums(struct gt_single *single, uint32_t row, uint64_t from, uint64_t to,
		    struct gt_single_sum *sums, size_t regions)
{
	struct question q = { .from = from, .to = to, .row = row, .sums = 1 };
	struct gt_bytes out = { .count = 0 };
	bool well = ask(single, &q, &out) && out.count == (regions + 1) * sizeof(*sums);

	for (size_t i = 0; well && i <= regions; i++) {
		struct gt_single_sum one;

		memcpy(&one, out.data + i * sizeof(one), sizeof(one));
		sums[i].calls += one.calls;
		sums[i].exclusive += one.exclusive;
		sums[i].inclusive += one.inclusive;
		sums[i].bytes += one.bytes;
	}
	free(out.data);
	return well;
}
