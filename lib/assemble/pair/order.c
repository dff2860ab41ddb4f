/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From messages to shifts of hosts' times; see order.h.
 *
 * A shift is the largest of many tents, one for each message that needs it: shift(t) is the highest of
 * (height - |t - received|) / 1024. Raising one may make other messages early, so that this goes on until
 * none is. It ends: clocks that run as fast as the true time, within a 1024th, have a shift that
 * satisfies all messages, and what is found never gets larger than the least such shift. Clocks whose rates
 * are further off, because bad comparisons were close to each other, need steeper tents.
 *
 * Limits: the messages are in a file that is mapped; memory grows with the number of tents,
 * those of a host being further apart than they are different in height.
 */
#include "config.h"

#include "lib/assemble/pair/order.h"

#include "lib/assemble/util/array.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SLOPE  10  /* a shift changes by a 2^10th of the time that passes */
#define STEEP  2   /* or by more, at most so: a 2^2nd */
#define MARGIN 4   /* ns: what readers lose when they interpolate */
#define PASSES 200
#define BATCH  512

/* ---- the file of a part ------------------------------------------------------------------------ */

struct gt_order_file {
	pthread_mutex_t lock;
	int dirfd, fd;     /* -1: nothing was written yet */
	bool failed;
	unsigned used;
	struct gt_order_endpoint ends[BATCH];
};

struct gt_order_file *gt_order_open(int dirfd)
{
	struct gt_order_file *file = calloc(1, sizeof(*file));

	if (!file)
		return NULL;
	file->dirfd = dirfd;
	file->fd = -1;
	pthread_mutex_init(&file->lock, NULL);
	return file;
}

static void flush(struct gt_order_file *file)
{
	size_t bytes = file->used * sizeof(*file->ends);

	if (!bytes || file->failed)
		return;
	if (file->fd < 0)
		file->fd = openat(file->dirfd, GT_ORDER_NAME,
				  O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	file->failed = write(file->fd, file->ends, bytes) != (ssize_t)bytes;
	file->used = 0;
}

void gt_order_put(struct gt_order_file *file, const struct gt_order_endpoint *end)
{
	pthread_mutex_lock(&file->lock);
	file->ends[file->used++] = *end;
	if (file->used == BATCH)
		flush(file);
	pthread_mutex_unlock(&file->lock);
}

void gt_order_close(struct gt_order_file *file)
{
	if (!file)
		return;
	flush(file);
	if (file->fd >= 0 && (close(file->fd) || file->failed))
		unlinkat(file->dirfd, GT_ORDER_NAME, 0);
	pthread_mutex_destroy(&file->lock);
	free(file);
}

static int add(struct gt_messages *ends, const struct gt_order_endpoint *end, const uint32_t *hosts,
	       const struct gt_corrections *times, size_t clocks)
{
	struct gt_pair_message message = { .pair = end->pair, .send = end->send == 1 };

	if (end->clock >= clocks)
		return -EPROTO;
	message.location = hosts[end->clock];
	message.ns = gt_offset_apply(times[end->clock].points, times[end->clock].count, end->ns);
	return gt_messages_add(ends, &message);
}

int gt_order_read(struct gt_messages *ends, int dirfd, const char *path, const uint32_t *hosts,
		  const struct gt_corrections *times, size_t clocks)
{
	struct gt_order_endpoint end;
	FILE *file;
	int rc = 0, fd = openat(dirfd, path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	file = fdopen(fd, "r");
	if (!file) {
		close(fd);
		return -ENOMEM;
	}
	while (!rc && fread(&end, sizeof(end), 1, file) == 1)
		rc = add(ends, &end, hosts, times, clocks);
	if (!rc && ferror(file))
		rc = -EIO;
	fclose(file);
	return rc;
}

/* ---- messages ------------------------------------------------------------------------------------ */

/* A message from host `location` to host `name`: sent at `tick`, received at `ns`. */
#define SENT(m)     ((m)->tick)
#define RECEIVED(m) ((m)->ns)
#define FROM(m)     ((m)->location)
#define TO(m)       ((m)->name)

static int by_pair(const struct gt_pair_message *a, const struct gt_pair_message *b)
{
	if (a->pair != b->pair)
		return a->pair < b->pair ? -1 : 1;
	if (a->send != b->send)
		return a->send ? -1 : 1;
	return (a->ns > b->ns) - (a->ns < b->ns);
}

static int by_receive(const struct gt_pair_message *a, const struct gt_pair_message *b)
{
	return (RECEIVED(a) > RECEIVED(b)) - (RECEIVED(a) < RECEIVED(b));
}

/*
 * Whatever receive belongs to whatever send: of one sender, receiver, communicator and tag no more can have
 * been received at any time than had been sent. So the k-th receive is not before the k-th send, and all the
 * more so if receives are missing; but not if sends are.
 */
static size_t pair(struct gt_pair_message *list, size_t n)
{
	size_t count = 0;

	for (size_t first = 0, middle, end; first < n; first = end) {
		for (middle = first; middle < n && list[middle].pair == list[first].pair &&
				     list[middle].send; middle++)
			;
		for (end = middle; end < n && list[end].pair == list[first].pair; end++)
			;
		if (end - middle > middle - first || end == middle ||
		    list[first].location == list[middle].location)
			continue;
		for (size_t k = first; k < first + end - middle; k++) {
			const struct gt_pair_message *receive = &list[middle + k - first];

			list[count++] = (struct gt_pair_message){ .tick = list[k].ns, .ns = receive->ns,
							     .location = list[k].location,
							     .name = receive->location };
		}
	}
	return count;
}

static int64_t early_by(const struct gt_pair_message *m)
{
	return (int64_t)(SENT(m) - RECEIVED(m));
}

/* Is it early by no more than the clocks can be off? */
static bool credible(const struct gt_pair_message *m, const int64_t *errors)
{
	return errors[FROM(m)] < 0 || errors[TO(m)] < 0 ||
	       early_by(m) <= errors[FROM(m)] + errors[TO(m)];
}

/* Counts, and keeps those that count and can be early when their sender is shifted. */
static size_t choose(struct gt_order *order, struct gt_pair_message *list, size_t n, const int64_t *errors,
		     int64_t *most)
{
	size_t count = 0;

	for (size_t i = 0; i < n; i++) {
		if (!credible(&list[i], errors))
			continue;
		list[count++] = list[i];
		order->early += early_by(&list[i]) > 0;
		if (early_by(&list[i]) > order->earliest)
			order->earliest = early_by(&list[i]);
	}
	order->messages = n = count;
	*most = (order->earliest + MARGIN) * (int64_t)(order->hosts + 1);
	count = 0;
	for (size_t i = 0; order->early && i < n; i++)
		if (early_by(&list[i]) + MARGIN + *most > 0)
			list[count++] = list[i];
	return count;
}

/* ---- shifts -------------------------------------------------------------------------------------- */

static int64_t tent(const struct gt_peak *peak, uint64_t ns)
{
	uint64_t away = ns > peak->ns ? ns - peak->ns : peak->ns - ns;

	return away < (uint64_t)peak->height ? peak->height - (int64_t)away : 0;
}

/* The first peak that is not before it. */
static size_t place(const struct gt_shift *s, uint64_t ns)
{
	size_t low = 0, high = s->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (s->peaks[middle].ns < ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* No peak lies within another one's tent: only the next ones count. */
static int64_t height_at(const struct gt_shift *s, uint64_t ns)
{
	size_t i = place(s, ns);
	int64_t left = i ? tent(&s->peaks[i - 1], ns) : 0;
	int64_t right = i < s->count ? tent(&s->peaks[i], ns) : 0;

	return left > right ? left : right;
}

int64_t gt_shift_at(const struct gt_shift *s, uint64_t ns)
{
	return height_at(s, ns) >> s->slope;
}

int64_t gt_shift_most(const struct gt_shift *s)
{
	int64_t most = 0;

	for (size_t i = 0; i < s->count; i++)
		most = s->peaks[i].height > most ? s->peaks[i].height : most;
	return most >> s->slope;
}

/* A new peak, which is above what is there; those within its tent go. */
static int raise_at(struct gt_shift *s, uint64_t ns, int64_t shift)
{
	struct gt_peak peak = { ns, shift << s->slope };
	size_t from = place(s, ns), to = from;

	while (to < s->count && tent(&peak, s->peaks[to].ns) >= s->peaks[to].height)
		to++;
	while (from && tent(&peak, s->peaks[from - 1].ns) >= s->peaks[from - 1].height)
		from--;
	if (from == to && !gt_array_has_room(s->peaks, s->count, &s->room))
		return -ENOMEM;
	memmove(&s->peaks[from + 1], &s->peaks[to], (s->count - to) * sizeof(*s->peaks));
	s->peaks[from] = peak;
	s->count += 1 + from - to;
	return 0;
}

/* How far the receive must be shifted. */
static int64_t needed(const struct gt_order *order, const struct gt_pair_message *m)
{
	return early_by(m) + MARGIN + gt_shift_at(&order->shifts[FROM(m)], SENT(m));
}

/* 1: some were raised; 2: above what can be; 0: all messages are in order; or -ENOMEM. */
static int pass(struct gt_order *order, const struct gt_pair_message *list, size_t n, bool back, int64_t most)
{
	int rc = 0;

	for (size_t i = 0; i < n; i++) {
		const struct gt_pair_message *m = &list[back ? n - 1 - i : i];
		int64_t need = needed(order, m);

		if (need <= gt_shift_at(&order->shifts[TO(m)], RECEIVED(m)))
			continue;
		if (need > most)
			return 2;
		if (raise_at(&order->shifts[TO(m)], RECEIVED(m), need))
			return -ENOMEM;
		rc = 1;
	}
	return rc;
}

/* Nothing is shifted; what will be has this slope. */
static void begin_with(struct gt_order *order, unsigned slope)
{
	for (size_t i = 0; i < order->hosts; i++) {
		order->shifts[i].count = 0;
		order->shifts[i].slope = slope;
	}
}

/* Returns the last result of pass(). */
static int shift_all(struct gt_order *order, const struct gt_pair_message *list, size_t n, int64_t most)
{
	int rc = 1;

	for (unsigned i = 0; rc == 1 && i < PASSES; i++)
		rc = pass(order, list, n, i & 1, most);
	return rc;
}

static void count_left(struct gt_order *order, const struct gt_pair_message *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		order->left += needed(order, &list[i]) - MARGIN >
			       gt_shift_at(&order->shifts[TO(&list[i])], RECEIVED(&list[i]));
	for (size_t i = 0; i < order->hosts; i++)
		if (gt_shift_most(&order->shifts[i]) > order->worst)
			order->worst = gt_shift_most(&order->shifts[i]);
}

int gt_order_make(struct gt_order *order, struct gt_messages *ends, const int64_t *errors, size_t hosts)
{
	struct gt_pair_message *list;
	int64_t most;
	size_t n;
	int rc = 1;

	*order = (struct gt_order){ .hosts = hosts,
				    .shifts = calloc(hosts + 1, sizeof(*order->shifts)) };
	if (!order->shifts)
		return -ENOMEM;
	gt_messages_sort(ends, by_pair);
	list = gt_messages_list(ends, &n);
	n = choose(order, list, pair(list, n), errors, &most);
	gt_messages_cut(ends, n);
	gt_messages_sort(ends, by_receive);
	for (unsigned slope = SLOPE; rc > 0 && slope >= STEEP; slope -= 2) {
		begin_with(order, slope);
		rc = shift_all(order, list, n, most);
	}
	if (rc == 2) /* the messages contradict each other, whatever the clocks */
		begin_with(order, SLOPE);
	count_left(order, list, n);
	return rc < 0 ? rc : 0;
}

void gt_order_free(struct gt_order *order)
{
	for (size_t i = 0; order->shifts && i < order->hosts; i++)
		free(order->shifts[i].peaks);
	free(order->shifts);
	memset(order, 0, sizeof(*order));
}

/* ---- shifts as corrections ------------------------------------------------------------------------ */

/* The time that the correction makes `ns` of. */
static uint64_t before(const struct gt_corrections *c, uint64_t ns)
{
	uint64_t low = 0, high = UINT64_MAX / 4;

	if (!c->count)
		return ns;
	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if ((int64_t)gt_offset_apply(c->points, c->count, middle) < (int64_t)ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int by_time(const void *a, const void *b)
{
	uint64_t x = ((const struct gt_offset *)a)->ns, y = ((const struct gt_offset *)b)->ns;

	return (x > y) - (x < y);
}

/* Where the shift is bent: at each peak and at its feet, or at the valley to the one before. */
static size_t corners(const struct gt_shift *s, const struct gt_corrections *c, struct gt_offset *points)
{
	int64_t right = 0; /* the other foot of the peak before */
	size_t n = 0;

	points[n++].ns = before(c, 0);
	for (size_t i = 0; i < s->count; i++) {
		const struct gt_peak *p = &s->peaks[i];
		int64_t foot = (int64_t)p->ns - p->height;

		if (i && right > foot)
			foot += (right - foot) / 2;
		else if (i)
			points[n++].ns = before(c, (uint64_t)right);
		if (foot > 0)
			points[n++].ns = before(c, (uint64_t)foot);
		points[n++].ns = before(c, p->ns);
		right = (int64_t)p->ns + p->height;
	}
	points[n++].ns = before(c, (uint64_t)right);
	points[n++].ns = before(c, (uint64_t)right + (1u << 20)); /* from there on it stays as it is */
	return n;
}

int gt_shift_correct(struct gt_corrections *c, const struct gt_shift *s)
{
	struct gt_offset *points;
	size_t n, count = 0;

	if (!s->count)
		return 0;
	points = calloc(3 * s->count + 3 + c->count, sizeof(*points));
	if (!points)
		return -ENOMEM;
	n = corners(s, c, points);
	for (size_t i = 0; i < c->count; i++)
		points[n++].ns = c->points[i].ns;
	qsort(points, n, sizeof(*points), by_time);
	for (size_t i = 0; i < n; i++) {
		uint64_t ns = points[i].ns, then = gt_offset_apply(c->points, c->count, ns);

		if (count && points[count - 1].ns == ns)
			continue;
		points[count++] = (struct gt_offset){ ns, (int64_t)(then - ns) + gt_shift_at(s, then) };
	}
	free(c->points);
	c->points = points;
	c->count = count;
	return 0;
}
