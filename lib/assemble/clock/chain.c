/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Chains of clocks, the line through comparisons, the conversions that hosts have used, and corrections
 * where they differ; see chain.h. clock.c computes the conversions.
 */
#include "config.h"

#include "lib/assemble/clock/chain.h"

#include "gputrace/hash.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- chains --------------------------------------------------------------------------------------- */

static const struct gt_def_clock *find(const struct gt_chains *chains, const char *host, uint32_t kind)
{
	for (size_t i = 0; i < chains->count; i++)
		if (chains->list[i]->kind == kind && !strcmp(chains->list[i]->host, host))
			return chains->list[i];
	return NULL;
}

static size_t bytes_of(const struct gt_def_clock *link)
{
	return sizeof(*link) + link->count * sizeof(struct gt_def_sync_point);
}

/* False: it contradicts what is there, or leads nowhere. */
static bool add(struct gt_chains *chains, const struct gt_def_clock *link)
{
	const struct gt_def_clock *known = find(chains, link->host, link->kind);

	if (known)
		return known->count == link->count && !memcmp(known, link, bytes_of(link));
	if (link->count ? !find(chains, link->reference, link->reference_kind) : chains->count != 0)
		return false;
	chains->list[chains->count++] = link;
	return true;
}

static uint64_t hash_of(const void *data, size_t bytes)
{
	uint64_t hash = gt_hash_bytes(GT_HASH_START, data, bytes);

	return hash ? hash : 1;
}

int gt_chains_find(struct gt_chains *chains, const struct gt_spool *spool)
{
	bool good = true;
	size_t room = 0;

	memset(chains, 0, sizeof(*chains));
	for (size_t i = 0; i < spool->proc_count; i++)
		room += gt_journal_count(&spool->procs[i].journal, GT_D_CLOCK);
	if (!room)
		return 0;
	chains->list = calloc(room, sizeof(struct gt_def_clock *));
	if (!chains->list)
		return -ENOMEM;
	for (size_t i = 0; i < spool->proc_count; i++) {
		const struct gt_journal *journal = &spool->procs[i].journal;
		size_t n = gt_journal_count(journal, GT_D_CLOCK);

		for (size_t k = 0; good && k < n; k++)
			good = add(chains, gt_journal_nth(journal, GT_D_CLOCK, k, NULL, NULL));
	}
	for (size_t i = 0; good && i < spool->proc_count; i++)
		good = find(chains, spool->procs[i].header.host, spool->procs[i].header.clock);
	if (good)
		chains->common = hash_of(chains->list[0], sizeof(*chains->list[0]));
	else
		chains->count = 0;
	return 0;
}

void gt_chains_free(struct gt_chains *chains)
{
	free(chains->list);
	memset(chains, 0, sizeof(*chains));
}

#define STRAIGHT_MOST 200 /* of more, one that is bad tilts little; and all pairs are tried */

/* ---- comparisons ---------------------------------------------------------------------------------- */

/* How far the line through two sync points may be off at a tick: by both errors, as far as they go there. */
static int64_t line_error(const struct sync_point *a, const struct sync_point *b, uint64_t tick)
{
	double span = (double)gt_between(a->tick, b->tick), at = (double)gt_between(a->tick, tick) / span;
	double one = (1 - at) * (double)a->error, two = at * (double)b->error;

	return (int64_t)((one < 0 ? -one : one) + (two < 0 ? -two : two)) + 1;
}

static __int128 line_ns(const struct sync_point *a, const struct sync_point *b, uint64_t tick)
{
	return a->ns + gt_scaled(gt_between(a->tick, tick), gt_slope(a, b));
}

/* Is every sync point, within its own error and the line's, on the line through two of them? */
static bool all_on_line(const struct sync_point *list, size_t count, const struct sync_point *a,
			const struct sync_point *b)
{
	for (size_t k = 0; k < count; k++) {
		const struct sync_point *point = &list[k];
		__int128 off = line_ns(a, b, point->tick) - point->ns;

		if ((off < 0 ? -off : off) > point->error + line_error(a, b, point->tick))
			return false;
	}
	return true;
}

/* Does the one, and the most that clocks drift apart, tell more of the other's moment? */
static bool tells_more(const struct sync_point *one, const struct sync_point *other, uint64_t mult)
{
	__int128 apart = gt_scaled(gt_between(one->tick, other->tick), mult);

	return one->error + (apart < 0 ? -apart : apart) * GT_UNKNOWN_PPM / 1000000 < other->error;
}

/* Of those before, and then of those behind, the one that tells most of a moment does so of later ones. */
size_t gt_sync_points_believed(struct sync_point *list, size_t count, uint64_t mult)
{
	size_t kept = 0, best = 0;

	for (size_t i = 0; i < count; i++) {
		list[i].wide = tells_more(&list[best], &list[i], mult);
		best = list[i].wide ? best : i;
	}
	for (size_t i = best = count ? count - 1 : 0; i-- > 0;) {
		bool wide = tells_more(&list[best], &list[i], mult);

		list[i].wide |= wide;
		best = wide ? best : i;
	}
	for (size_t i = 0; i < count; i++)
		if (!list[i].wide)
			list[kept++] = list[i];
	return kept;
}

void gt_sync_points_straighten(struct sync_point *list, size_t count)
{
	const struct sync_point *best_a = NULL, *best_b = NULL;
	int64_t least = INT64_MAX;
	struct sync_point a, b;

	if (count < 3 || count > STRAIGHT_MOST)
		return;
	for (size_t i = 0; i < count; i++)
		for (size_t k = i + 1; k < count; k++) {
			const struct sync_point *one = &list[i], *two = &list[k];
			int64_t first = line_error(one, two, list[0].tick);
			int64_t last = line_error(one, two, list[count - 1].tick);
			int64_t most = first > last ? first : last;

			if (most >= least || !all_on_line(list, count, one, two))
				continue;
			least = most;
			best_a = one;
			best_b = two;
		}
	if (!best_a)
		return;
	a = *best_a;
	b = *best_b;
	for (size_t k = 0; k < count; k++) {
		struct sync_point *point = &list[k];
		int64_t error = line_error(&a, &b, point->tick);

		if (error >= point->error)
			continue;
		point->ns = line_ns(&a, &b, point->tick);
		point->error = error;
	}
}

/* ---- what hosts have made of them ----------------------------------------------------------------- */

static int by_host(const void *a, const void *b)
{
	const struct gt_origin *x = *(const struct gt_origin *const *)a;
	const struct gt_origin *y = *(const struct gt_origin *const *)b;

	return strcmp(x->host, y->host);
}

/* Do all that compared their clocks have the same time, and did the others compare with none? */
static bool have_one_time(const struct gt_origins *origins)
{
	uint64_t common = 0;

	for (size_t i = 0; i < origins->count; i++) {
		const struct gt_origin *origin = &origins->list[i];

		if (!common)
			common = origin->common;
		if (origin->common ? origin->common != common : origin->point_count > 0)
			return false;
	}
	return common;
}

/* The number of hosts in a list that is sorted by them; 0: parts of one host differ. */
static unsigned count_hosts(const struct gt_origin *const *list, size_t count)
{
	unsigned hosts = 0;

	for (size_t i = 0; i < count; i++) {
		bool again = i && !by_host(&list[i - 1], &list[i]);

		if (again && list[i - 1]->common != list[i]->common)
			return 0;
		hosts += !again;
	}
	return hosts;
}

/*
 * Hosts that have compared their clocks must all have the same time. One that has compared it with none
 * goes by its wall clock, unless another part of it is better off. Returns the number of hosts; 0: they do
 * not agree.
 */
static unsigned count_agreed(const struct gt_origins *origins)
{
	const struct gt_origin **list;
	unsigned hosts;

	if (!have_one_time(origins))
		return 0;
	list = calloc(origins->count, sizeof(*list));
	if (!list)
		return 0;
	for (size_t i = 0; i < origins->count; i++)
		list[i] = &origins->list[i];
	qsort(list, origins->count, sizeof(*list), by_host);
	hosts = count_hosts(list, origins->count);
	free(list);
	return hosts;
}

bool gt_origins_agree(struct gt_clock *clock, const struct gt_origins *origins)
{
	unsigned hosts = count_agreed(origins);
	bool unknown = false;

	if (!hosts)
		return false;
	clock->hosts = hosts;
	for (size_t i = 0; i < origins->count; i++) {
		const struct gt_origin *o = &origins->list[i];
		uint64_t end = gt_scale_ns(&o->scale, o->end);

		clock->scales[i] = o->scale;
		clock->errors[i] = o->common ? o->error : -1;
		clock->comparisons[i] = (uint32_t)o->point_count;
		unknown |= clock->errors[i] < 0;
		if (clock->errors[i] > clock->error_ns)
			clock->error_ns = clock->errors[i];
		if (o->reading_ns > clock->reading_ns)
			clock->reading_ns = o->reading_ns;
		if (end > clock->end_ns)
			clock->end_ns = end;
	}
	if (unknown)
		clock->error_ns = -1;
	return true;
}

void gt_clock_free(struct gt_clock *clock)
{
	for (size_t i = 0; i < clock->segment_lists; i++)
		free(clock->segments[i]);
	free(clock->segments);
	free(clock->scales);
	free(clock->errors);
	free(clock->comparisons);
	memset(clock, 0, sizeof(*clock));
}

/* ---- corrections ------------------------------------------------------------------------------------ */

void gt_origins_free(struct gt_origins *origins)
{
	for (size_t i = 0; origins->list && i < origins->count; i++)
		free(origins->list[i].sync_points);
	free(origins->list);
	free(origins->which);
	memset(origins, 0, sizeof(*origins));
}

static int compare_ticks(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

long gt_clock_offsets(const struct gt_origin *origin, const struct gt_scale *to,
		      struct gt_offset *points, size_t room)
{
	const struct gt_scale *from = &origin->scale;
	uint64_t *ticks = malloc((from->segment_count + to->segment_count + 2) * sizeof(*ticks));
	size_t n = 0, count = 0;
	bool differs = false;

	if (!ticks)
		return -ENOMEM;
	ticks[n++] = origin->begin;
	ticks[n++] = origin->end;
	for (size_t i = 0; i < from->segment_count; i++)
		ticks[n++] = from->segments[i].tick;
	for (size_t i = 0; i < to->segment_count; i++)
		ticks[n++] = to->segments[i].tick;
	qsort(ticks, n, sizeof(*ticks), compare_ticks);
	for (size_t i = 0; i < n && count < room; i++) {
		uint64_t ns = gt_scale_ns(from, ticks[i]);

		if (ticks[i] < origin->begin || (count && points[count - 1].ns >= ns))
			continue;
		points[count] = (struct gt_offset){ ns, (int64_t)(gt_scale_ns(to, ticks[i]) - ns) };
		differs |= points[count++].offset != 0;
	}
	free(ticks);
	return differs ? (long)count : 0;
}

uint64_t gt_offset_apply(const struct gt_offset *points, size_t count, uint64_t ns)
{
	size_t low = 0, high = count;
	__int128 offset;

	if (!count)
		return ns;
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (points[middle].ns <= ns)
			low = middle;
		else
			high = middle;
	}
	if (low && low + 1 == count)
		low--;
	offset = points[low].offset;
	if (low + 1 < count && ns > points[low].ns)
		offset += ((__int128)points[low + 1].offset - points[low].offset) *
			  ((__int128)ns - points[low].ns) /
			  ((__int128)points[low + 1].ns - points[low].ns);
	return (uint64_t)((__int128)ns + offset);
}
