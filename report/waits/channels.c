/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds who ended the waits at pipes, pairs of sockets and eventfds.
 *
 * What is written first is read first. So a read waited for the write whose first byte it got, if that began
 * after it (one of stdio, for its last byte), and one that got nothing for the end of who could have written.
 * A write that found a channel as full as one was never seen to be without a wait had to wait for the last
 * read that began before it returned.
 *
 * Limits: nothing is said of a channel of which more was read than written, because somebody unknown wrote,
 * nor of a wait that either of two writers may have ended. The operations of a channel are in memory while
 * they are looked at; those of one with more than MOST are not.
 */
#include "config.h"

#include "lib/assemble/util/memory.h"
#include "report/waits/sync.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 1 << 23, MOST_NEAR = 64 };

/* Who did something, and when. */
struct source {
	uint32_t location; /* or GT_NO_CAUSE */
	uint64_t time;
};

/* The one before that another location did: `before` is its place, + 1. */
struct closed {
	struct source source;
	size_t before;
};

struct channel {
	struct gt_sync *sync;
	const struct source *ends;  /* by process */
	struct gt_item *ops;        /* in the order in which they begin */
	size_t count, room;
	uint32_t *writes, *reads;   /* in that order, those that moved bytes */
	uint32_t *ended;            /* reads in the order of their ends */
	uint32_t *first, *last;     /* by place in `ended`: the writes whose bytes it got */
	size_t write_count, read_count;
	uint64_t *behind;           /* by write: bytes up to its end */
	struct closed *closed;      /* what may have ended the channel, in the order of time */
	size_t closed_count, closed_room;
	uint32_t *looked;           /* by process: in which channel its end was last taken; their number */
	uint32_t number;
	bool readers;               /* there are several */
};

static unsigned operation(const struct gt_item *item)
{
	return item->what & GT_IO_OPERATION;
}

static const struct gt_item *write_at(const struct channel *channel, size_t i)
{
	return &channel->ops[channel->writes[i]];
}

static uint32_t process_of(const struct channel *channel, uint32_t location)
{
	return channel->sync->report->classes.locations[location].process;
}

static uint64_t segment_end(const struct channel *channel, const struct gt_item *op)
{
	return gt_segment_at(channel->sync, op->location, op->segment)->end;
}

/* It did not have to wait, as far as is known. */
static void settle(const struct channel *channel, const struct gt_item *op)
{
	gt_segment_at(channel->sync, op->location, op->segment)->settled = true;
}

/* ---- the two sides ------------------------------------------------------------------------------- */

/* All of one key, or none if there are too many; false: there is no other key. */
static bool load(struct gt_bag *bag, struct channel *channel)
{
	const struct gt_item *next = gt_bag_next(bag);
	uint64_t key = next ? next->key : 0, count = 0;

	channel->count = 0;
	for (; next && next->key == key; next = gt_bag_next(bag), count++) {
		struct gt_item item = gt_bag_take(bag);

		if (count >= MOST)
			continue;
		channel->ops = gt_grown(channel->ops, channel->count, &channel->room, sizeof(item));
		channel->ops[channel->count++] = item;
	}
	if (count >= MOST)
		channel->count = 0;
	return count;
}

static int by_end(const void *a, const void *b, void *ops)
{
	const struct gt_item *x = (struct gt_item *)ops + *(const uint32_t *)a;
	const struct gt_item *y = (struct gt_item *)ops + *(const uint32_t *)b;

	return x->time != y->time ? (x->time > y->time) - (x->time < y->time) : (x > y) - (x < y);
}

/* Sorts the operations `from` to `to` into reads and writes. */
static void take_sides(struct channel *channel, size_t from, size_t to)
{
	uint64_t bytes = 0;

	channel->write_count = channel->read_count = 0;
	channel->readers = false;
	for (size_t i = from; i < to; i++) {
		const struct gt_item *op = &channel->ops[i];

		if (!op->value || operation(op) > GT_IO_WRITE)
			continue;
		if (operation(op) == GT_IO_WRITE) {
			channel->behind[channel->write_count] = bytes += op->value;
			channel->writes[channel->write_count++] = (uint32_t)i;
		} else {
			if (channel->read_count &&
			    channel->ops[channel->reads[0]].location != op->location)
				channel->readers = true;
			channel->reads[channel->read_count++] = (uint32_t)i;
		}
	}
	memcpy(channel->ended, channel->reads, channel->read_count * sizeof(*channel->reads));
	qsort_r(channel->ended, channel->read_count, sizeof(*channel->ended), by_end, channel->ops);
}

/* False: more was read than was written by then. */
static bool match(struct channel *channel)
{
	size_t first = 0, last = 0;
	uint64_t taken = 0;

	for (size_t i = 0; i < channel->read_count; i++) {
		const struct gt_item *read = &channel->ops[channel->ended[i]];

		while (first < channel->write_count && channel->behind[first] <= taken)
			first++;
		taken += read->value;
		last = last < first ? first : last;
		while (last < channel->write_count && channel->behind[last] < taken)
			last++;
		if (last >= channel->write_count || write_at(channel, last)->begin > read->time)
			return false;
		channel->first[i] = (uint32_t)first;
		channel->last[i] = (uint32_t)last;
	}
	return true;
}

/* ---- readers ------------------------------------------------------------------------------------- */

/*
 * May another one have written what this read got, so that it is not known for whom it waited? If their
 * writes overlap; and if others read meanwhile, also if one was before the other.
 */
static bool is_doubtful(const struct channel *channel, const struct gt_item *read, size_t i)
{
	const struct gt_item *write = write_at(channel, i);

	for (size_t k = i + 1; k < channel->write_count; k++) {
		const struct gt_item *other = write_at(channel, k);

		if (other->begin > read->time || (other->begin > write->time && !channel->readers))
			break;
		if (other->location != write->location || k > i + MOST_NEAR)
			return true;
	}
	return channel->readers && i && write_at(channel, i - 1)->begin > read->begin &&
	       write_at(channel, i - 1)->location != write->location;
}

/* The last operation that begins at that time or before, + 1. */
static size_t behind(const struct channel *channel, uint64_t time)
{
	size_t from = 0, to = channel->count;

	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (channel->ops[middle].begin <= time)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

/*
 * When a write reached a read that returned at `time`: what stdio has, with what its process last did with it
 * before that, or when it ended.
 */
static struct source flushed(const struct channel *channel, size_t i, uint64_t time)
{
	const struct gt_item *write = write_at(channel, i);
	uint32_t process = process_of(channel, write->location);
	struct source source = { write->location, write->begin };
	size_t at = behind(channel, time), steps = 0;

	if (!(write->what & GT_IO_STDIO))
		return source;
	for (; at-- > channel->writes[i] && steps < MOST_NEAR; steps++) {
		const struct gt_item *op = &channel->ops[at];

		if (!(op->what & GT_IO_STDIO) || operation(op) == GT_IO_READ ||
		    process_of(channel, op->location) != process)
			continue;
		source = (struct source){ op->location, op->begin };
		break;
	}
	if (channel->ends[process].location != GT_NO_CAUSE && channel->ends[process].time <= time)
		source = channel->ends[process];
	return source;
}

/* What the read at place i of `ended` waited for, or would have if it had been earlier. */
static void read_waited(const struct channel *channel, size_t i)
{
	const struct gt_item *read = &channel->ops[channel->ended[i]];
	size_t target = read->what & GT_IO_STDIO ? channel->last[i] : channel->first[i];
	const struct gt_item *write = write_at(channel, target);
	struct source source;

	if (write->begin > read->begin) {
		if (is_doubtful(channel, read, target))
			return;
		source = flushed(channel, target, read->time);
		gt_sync_wait(channel->sync, read->location, read->segment, GT_WAIT_LATE_WRITER,
			     source.location, source.time);
		return;
	}
	settle(channel, read);
	/* It needed what it got last, of what was there when it began. */
	while (target < channel->last[i] && write_at(channel, target + 1)->begin <= read->begin)
		target++;
	write = write_at(channel, target);
	source = flushed(channel, target, read->time);
	if (write->what & GT_IO_STDIO && source.time > read->begin)
		gt_sync_wait(channel->sync, read->location, read->segment, GT_WAIT_LATE_WRITER,
			     source.location, source.time);
	else
		gt_sync_wait(channel->sync, read->location, read->segment, GT_WAIT_LATE_WRITER,
			     write->location, write->begin);
}

/* ---- ends ---------------------------------------------------------------------------------------- */

static void add_closed(struct channel *channel, struct source source)
{
	channel->closed = gt_grown(channel->closed, channel->closed_count, &channel->closed_room,
				   sizeof(*channel->closed));
	channel->closed[channel->closed_count++].source = source;
}

static int by_time(const void *a, const void *b)
{
	const struct source *x = &((const struct closed *)a)->source;
	const struct source *y = &((const struct closed *)b)->source;

	return x->time != y->time ? (x->time > y->time) - (x->time < y->time)
				  : (x->location > y->location) - (x->location < y->location);
}

/* Everybody's who closed it, and those of the processes that had it open. */
static void collect_ends(struct channel *channel, size_t from, size_t to)
{
	struct closed *closed;

	channel->closed_count = 0;
	channel->number++;
	for (size_t i = from; i < to; i++) {
		const struct gt_item *op = &channel->ops[i];
		uint32_t process = process_of(channel, op->location);

		if (operation(op) == GT_IO_CLOSED)
			add_closed(channel, (struct source){ op->location, op->begin });
		if (channel->looked[process] == channel->number)
			continue;
		channel->looked[process] = channel->number;
		if (channel->ends[process].location != GT_NO_CAUSE)
			add_closed(channel, channel->ends[process]);
	}
	if (channel->closed_count)
		qsort(channel->closed, channel->closed_count, sizeof(*channel->closed), by_time);
	for (size_t i = 0; i < channel->closed_count; i++) {
		closed = &channel->closed[i];
		closed->before = !i ? 0 : closed[-1].source.location == closed->source.location
					? closed[-1].before : i;
	}
}

/* The last that somebody else ended by that time; NULL: there is none. */
static const struct source *last_closed(const struct channel *channel, const struct gt_item *read)
{
	size_t low = 0, high = channel->closed_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (channel->closed[middle].source.time <= read->time)
			low = middle + 1;
		else
			high = middle;
	}
	if (low && channel->closed[low - 1].source.location == read->location)
		low = channel->closed[low - 1].before;
	return low ? &channel->closed[low - 1].source : NULL;
}

/*
 * A read that got nothing waited for the last of those that ended meanwhile. If it returned long after that,
 * somebody else had it open who is not known.
 */
static void end_waited(const struct channel *channel, const struct gt_item *read)
{
	const struct source *last = last_closed(channel, read);

	if (last && last->time > read->begin && last->time - read->begin >= read->time - last->time)
		gt_sync_wait(channel->sync, read->location, read->segment, GT_WAIT_LATE_WRITER,
			     last->location, last->time);
}

static void ends_waited(struct channel *channel, size_t from, size_t to)
{
	bool collected = false;

	for (size_t i = from; i < to; i++) {
		const struct gt_item *op = &channel->ops[i];

		if (operation(op) != GT_IO_READ || op->value || !(op->what & GT_IO_ASKED))
			continue;
		if (!collected)
			collect_ends(channel, from, to);
		collected = true;
		end_waited(channel, op);
	}
}

/* ---- writers ------------------------------------------------------------------------------------- */

/* What a pipe always has room for; what the kernel needs beside a message in a socket. */
enum { ROOM = 4096, BESIDE = 1024 };

/* Of a write: how full the channel is with it, and which reads may have made room meanwhile. */
struct level {
	uint64_t bytes;
	size_t begun, over; /* reads that begin before it returns; that end before it begins */
};

/* Goes on from the write before; `taken`: by reads that have ended, `gone`: writes that were read. */
static struct level level_of(const struct channel *channel, size_t i, const struct level *before,
			     uint64_t *taken, size_t *gone)
{
	const struct gt_item *write = write_at(channel, i), *read;
	struct level level = *before;
	uint64_t written = channel->behind[i];

	for (; level.over < channel->read_count; level.over++) {
		read = &channel->ops[channel->ended[level.over]];
		if (read->time > write->begin)
			break;
		*taken += read->value;
	}
	for (level.begun = level.over; level.begun < channel->read_count; level.begun++)
		if (channel->ops[channel->reads[level.begun]].begin > write->time)
			break;
	while (*gone < i && channel->behind[*gone] <= *taken)
		++*gone;
	level.bytes = written > *taken ? written - *taken : 0;
	if (write->what & GT_IO_SOCKET)
		level.bytes += BESIDE * (uint64_t)(i - *gone);
	return level;
}

/* The read that begins last while a write goes on, by another; NULL: there is none. */
static const struct gt_item *last_read(const struct channel *channel, const struct gt_item *write,
				       size_t begun)
{
	for (size_t steps = 0; begun-- && steps < MOST_NEAR; steps++) {
		const struct gt_item *read = &channel->ops[channel->reads[begun]];

		if (read->begin <= write->begin)
			return NULL;
		if (read->location != write->location)
			return read;
	}
	return NULL;
}

/* Room is made by reads: a write during which there was none did not wait for it. */
static void writes_waited(const struct channel *channel)
{
	struct level level = { .bytes = 0 };
	uint64_t taken = 0, full = ROOM;
	size_t gone = 0;

	for (size_t i = 0; i < channel->write_count; i++) {
		level = level_of(channel, i, &level, &taken, &gone);
		if (level.begun == level.over && level.bytes > full)
			full = level.bytes;
	}
	level = (struct level){ .bytes = 0 };
	taken = gone = 0;
	for (size_t i = 0; i < channel->write_count; i++) {
		const struct gt_item *write = write_at(channel, i), *read;

		level = level_of(channel, i, &level, &taken, &gone);
		settle(channel, write);
		read = level.bytes > full - full / 4 ? last_read(channel, write, level.begun) : NULL;
		if (read && read->begin <= segment_end(channel, write))
			gt_sync_wait(channel->sync, write->location, write->segment, GT_WAIT_LATE_READER,
				     read->location, read->begin);
	}
}

/* ---- eventfds ------------------------------------------------------------------------------------ */

/*
 * A read waited for the first write that had not ended before it began. If there are as many reads as
 * writes, the n-th gets what the n-th has written.
 */
static void events_waited(struct channel *channel)
{
	bool equal = channel->write_count == channel->read_count;
	size_t next = 0;

	for (size_t i = 0; i < channel->read_count; i++) {
		const struct gt_item *read = &channel->ops[channel->ended[i]], *write;

		while (!equal && next < channel->write_count && write_at(channel, next)->time <= read->begin)
			next++;
		if (equal)
			next = i;
		write = next < channel->write_count ? write_at(channel, next) : NULL;
		if (write && write->begin <= read->begin)
			settle(channel, read);
		if (write && write->begin <= read->time &&
		    (write->begin <= read->begin || !is_doubtful(channel, read, next)))
			gt_sync_wait(channel->sync, read->location, read->segment, GT_WAIT_LATE_WRITER,
				     write->location, write->begin);
	}
}

/* Numbers of eventfds are used again: each that is created is another one. */
static void each_eventfd(struct channel *channel)
{
	for (size_t from = 0, to; from < channel->count; from = to) {
		for (to = from + 1; to < channel->count; to++)
			if (operation(&channel->ops[to]) == GT_IO_CREATED)
				break;
		take_sides(channel, from, to);
		events_waited(channel);
	}
}

/* ---- all ----------------------------------------------------------------------------------------- */

/* What is written at a socket is read at the other one: the key of a channel is of who writes into it. */
static void pair_sockets(struct gt_sync *sync)
{
	struct gt_bag *bag = &sync->bags[GT_BAG_SOCKETS];
	uint64_t key = 0, other = 0;
	bool paired = false;

	for (; gt_bag_next(bag); gt_spill_used(&sync->spill)) {
		struct gt_item item = gt_bag_take(bag);

		if (item.key != key)
			paired = false;
		key = item.key;
		if (operation(&item) == GT_IO_PAIR) {
			paired = true;
			other = item.begin;
		} else if (paired) {
			if (operation(&item) == GT_IO_READ)
				item.key = other;
			gt_bag_add(&sync->spill, &sync->bags[GT_BAG_CHANNELS], &item);
		}
	}
	gt_bag_free(bag);
}

/* When each process ends, and where: in the thread that ends it, or in its last one. */
static struct source *find_ends(const struct gt_sync *sync)
{
	struct source *ends = gt_zeroed(sync->report->classes.process_count + 1, sizeof(*ends));

	for (uint32_t i = 0; i <= sync->report->classes.process_count; i++)
		ends[i].location = GT_NO_CAUSE;
	for (uint32_t i = 0; i < gt_sync_locations(sync); i++) {
		const struct gt_location_class *class = &sync->report->classes.locations[i];
		uint64_t count = gt_segment_count(sync, i);
		uint64_t end = count ? gt_segment_at(sync, i, count - 1)->end : 0;
		uint32_t exits = sync->exits[class->process];

		if (!count || class->kind > GT_LOCATION_THREAD)
			continue;
		if (exits == GT_NO_CAUSE ? end >= ends[class->process].time : i == exits)
			ends[class->process] = (struct source){ i, end };
	}
	return ends;
}

static void look_at(struct channel *channel)
{
	if (channel->ops->what & GT_IO_EVENTS) {
		each_eventfd(channel);
		return;
	}
	take_sides(channel, 0, channel->count);
	if (!match(channel))
		return;
	for (size_t i = 0; i < channel->read_count; i++)
		read_waited(channel, i);
	writes_waited(channel);
	ends_waited(channel, 0, channel->count);
}

static void make_room(struct channel *channel, size_t *room)
{
	uint32_t **const lists[] = { &channel->writes, &channel->reads, &channel->ended, &channel->first,
				     &channel->last };

	if (channel->count <= *room)
		return;
	*room = channel->room;
	for (unsigned i = 0; i < sizeof(lists) / sizeof(*lists); i++)
		*lists[i] = gt_resized(*lists[i], *room, sizeof(**lists[i]));
	channel->behind = gt_resized(channel->behind, *room, sizeof(*channel->behind));
}

void gt_channel_causes(struct gt_sync *sync)
{
	struct channel *channel = gt_zeroed(1, sizeof(*channel));
	struct source *ends = find_ends(sync);
	size_t room = 0;

	channel->sync = sync;
	channel->ends = ends;
	channel->looked = gt_zeroed(sync->report->classes.process_count + 1, sizeof(*channel->looked));
	pair_sockets(sync);
	for (; load(&sync->bags[GT_BAG_CHANNELS], channel); gt_spill_used(&sync->spill)) {
		if (!channel->count)
			continue;
		make_room(channel, &room);
		look_at(channel);
	}
	gt_bag_free(&sync->bags[GT_BAG_CHANNELS]);
	free(channel->ops);
	free(channel->writes);
	free(channel->reads);
	free(channel->ended);
	free(channel->first);
	free(channel->last);
	free(channel->behind);
	free(channel->closed);
	free(channel->looked);
	free(channel);
	free(ends);
}
