/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a run would have taken if something in it were changed; see whatif.h.
 *
 * Limits: see whatif.h.
 */
#include "config.h"

#include "report/waits/whatif.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gputrace/near.h"
#include "lib/assemble/util/memory.h"

/* ---- what is written ----------------------------------------------------------------------------- */

#define FACTOR_MOST 1000.0

/* The number at the end, behind `*` or `=`; NULL: there is none. Sets where it begins. */
static const char *parse_factor(const char *text, struct gt_change *change, size_t *length)
{
	const char *star = strrchr(text, '*'), *equals = strrchr(text, '=');
	const char *at = !star || (equals && equals > star) ? equals : star;
	char *end;

	if (!at || at == text)
		return "has neither =0 nor *FACTOR at its end";
	*length = (size_t)(at - text);
	if (*at == '=' && !strcmp(at + 1, "mean")) {
		change->mean = true;
		return NULL;
	}
	change->factor = strtod(at + 1, &end);
	if (!at[1] || at[1 + strspn(at + 1, "0123456789.")] || *end || change->factor > FACTOR_MOST)
		return "does not end in a factor from 0 to 1000";
	if (*at == '=' && change->factor > 0)
		return "sets a time that is not 0: say *FACTOR";
	return NULL;
}

static const char *parse_rank(struct gt_change *change, size_t length)
{
	char *end;
	unsigned long rank = strtoul(change->text + 5, &end, 10);

	change->kind = GT_CHANGE_RANK;
	change->rank = (uint32_t)rank;
	return end == change->text + length && rank < GT_NO_RANK ? NULL : "names no rank";
}

static const char *take_name(struct gt_change *change, const char *name, size_t length)
{
	if (!length)
		return "names nothing";
	if (length >= sizeof(change->name))
		return "has a name that is too long";
	memcpy(change->name, name, length);
	return NULL;
}

static bool begins(const char *text, const char *word)
{
	return !strncmp(text, word, strlen(word));
}

static bool ends(const char *text, const char *word)
{
	size_t length = strlen(text), n = strlen(word);

	return length > n && !strcmp(text + length - n, word);
}

const char *gt_change_parse(struct gt_change *change, const char *text)
{
	size_t length = strlen(text);
	const char *wrong;

	*change = (struct gt_change){ .text = text, .kind = GT_CHANGE_REGION, .factor = 1 };
	if (!strcmp(text, "copies overlap")) {
		change->kind = GT_CHANGE_COPIES; /* which keep their time */
		return NULL;
	}
	if (begins(text, "lock ") && ends(text, " free")) {
		change->kind = GT_CHANGE_LOCK;
		return length < 11 ? "names nothing" : take_name(change, text + 5, length - 10);
	}
	wrong = parse_factor(text, change, &length);
	if (wrong)
		return wrong;
	if (begins(text, "rank ") && text[5] >= '0' && text[5] <= '9')
		return parse_rank(change, length);
	if (change->mean)
		return "wants a mean, which there is of ranks: 'rank N=mean'";
	if (!begins(text, "kernel "))
		return take_name(change, text, length);
	change->kind = GT_CHANGE_KERNEL;
	return take_name(change, text + 7, length > 7 ? length - 7 : 0);
}

/* ---- locks --------------------------------------------------------------------------------------- */

/* As the table of locks names them. */
bool gt_whatif_frees(struct gt_whatif *whatif, const struct gt_otf2_cursor *at, uint32_t lock)
{
	uint64_t id = gt_otf2_attribute_named(at->read, "GPUTRACE::LOCK_ADDRESS");
	OTF2_AttributeValue address;
	char name[32];
	bool frees = false;

	if (gt_otf2_attribute(at, id, OTF2_TYPE_UINT64, &address) && address.uint64)
		snprintf(name, sizeof(name), "0x%llx", (unsigned long long)address.uint64);
	else
		snprintf(name, sizeof(name), "lock %u", lock);
	for (unsigned i = 0; i < whatif->count; i++)
		if (whatif->changes[i].kind == GT_CHANGE_LOCK && !strcmp(whatif->changes[i].name, name)) {
			__atomic_store_n(&whatif->changes[i].met, true, __ATOMIC_RELAXED);
			frees = true;
		}
	return frees;
}

/* ---- what it means in this archive --------------------------------------------------------------- */

static bool is_thread(const struct gt_sync *sync, uint32_t location)
{
	enum gt_location_kind kind = sync->report->classes.locations[location].kind;

	return kind == GT_LOCATION_MAIN || kind == GT_LOCATION_THREAD;
}

static uint32_t rank_of(const struct gt_sync *sync, uint32_t location)
{
	const struct gt_classes *classes = &sync->report->classes;

	return classes->processes[classes->locations[location].process].rank;
}

/* Refuses, with a sentence. */
#define refuse(sync, ...)                                                                             \
	((sync)->report->whatif->refused = gt_figures_text(&(sync)->report->figures, __VA_ARGS__))

/*
 * How long its threads worked, and those of all ranks: in code and files, and the first one where nothing was
 * recorded, too. Of other threads that is mostly waiting, as of MPI's own.
 */
static double worked(const struct gt_sync *sync, uint32_t rank, double *all)
{
	double own = 0;

	for (uint32_t i = 0; i < gt_sync_locations(sync); i++) {
		const struct gt_profile_location *of = &sync->profile->locations[i];
		double ns = (double)(of->times[GT_TIME_USEFUL] + of->times[GT_TIME_IO]);

		if (sync->report->classes.locations[i].kind == GT_LOCATION_MAIN)
			ns += (double)gt_profile_unseen(of);
		if (!is_thread(sync, i) || rank_of(sync, i) == GT_NO_RANK)
			continue;
		*all += ns;
		own += rank_of(sync, i) == rank ? ns : 0;
	}
	return own;
}

static bool find_rank(struct gt_sync *sync, struct gt_change *change)
{
	double all = 0, own = worked(sync, change->rank, &all);
	const struct gt_classes *classes = &sync->report->classes;
	bool there = false;

	for (uint32_t i = 0; i < classes->process_count; i++)
		there |= classes->processes[i].rank == change->rank;
	if (!there)
		return !refuse(sync, "there is no rank %u in this archive", change->rank);
	if (change->mean && !(own > 0))
		return !refuse(sync, "nothing is known of what rank %u worked", change->rank);
	if (change->mean)
		change->factor = all / classes->ranks / own;
	return true;
}

enum named { WHOLE, FUNCTION, PATTERN, WAYS };

/*
 * Is it the region's name, that of a function with parameters ("void gemm<float>(float*)" is "gemm"), or a
 * pattern of it?
 */
static bool is_named(const struct gt_change *change, const char *name, enum named how)
{
	size_t length = strlen(change->name);

	if (how == WHOLE)
		return !strcmp(name, change->name);
	if (how == PATTERN)
		return !fnmatch(change->name, name, 0);
	if (begins(name, "void ")) /* of templates */
		name += 5;
	return !strncmp(name, change->name, length) && (name[length] == '(' || name[length] == '<');
}

static bool refuse_region(struct gt_sync *sync, const struct gt_change *change)
{
	const char *near = NULL;
	unsigned least = (unsigned)strlen(change->name) / 2 + 1;

	for (size_t i = 0; i < sync->report->read->tables[GT_OTF2_REGION].count; i++) {
		const char *name = gt_report_region_name(sync->report, i);
		unsigned distance = gt_near_distance(change->name, name, least);

		if (distance < least) {
			least = distance;
			near = name;
		}
	}
	if (near)
		return !refuse(sync, "there is no region '%s' in this archive; did you mean '%s'?",
			       change->name, near);
	return !refuse(sync, "there is no region '%s' in this archive", change->name);
}

/* By region: the changes of it, one bit each. False: refused. */
static bool find_regions(struct gt_sync *sync, unsigned number, uint32_t *bits)
{
	const struct gt_change *change = &sync->report->whatif->changes[number];
	size_t count = sync->report->read->tables[GT_OTF2_REGION].count, found = 0;

	for (enum named how = WHOLE; how < WAYS && !found; how++)
		for (size_t i = 0; i < count; i++)
			if (is_named(change, gt_report_region_name(sync->report, i), how)) {
				bits[i] |= UINT32_C(1) << number;
				found++;
			}
	return found || refuse_region(sync, change);
}

static bool is_on_stream(const struct gt_sync *sync, unsigned number, const uint32_t *regions)
{
	size_t count = sync->report->read->tables[GT_OTF2_REGION].count;

	for (uint32_t i = 0; i < gt_sync_locations(sync); i++) {
		uint32_t nodes = sync->profile->locations[i].node_count;

		for (uint32_t k = 0; k < nodes && !is_thread(sync, i); k++) {
			uint32_t node = gt_profile_node_at(sync->profile, i, k);
			uint32_t region = sync->profile->tree.nodes[node].region;

			if (node && region < count && regions[region] >> number & 1 &&
			    sync->report->classes.locations[i].kind == GT_LOCATION_STREAM)
				return true;
		}
	}
	return false;
}

/* By node of the whole tree: the changes that it lies in. */
static uint32_t *bits_of_nodes(const struct gt_sync *sync, const uint32_t *regions)
{
	const struct gt_profile_tree *tree = &sync->profile->tree;
	uint32_t *bits = gt_zeroed((size_t)tree->count + 1, sizeof(*bits));

	for (uint32_t i = 1; i < tree->count; i++) /* callers come first */
		bits[i] = bits[tree->nodes[i].parent] | regions[tree->nodes[i].region];
	return bits;
}

/* Does the change of a rank change what a node of one of its threads does? */
static bool is_work(const struct gt_sync *sync, uint32_t node)
{
	const struct gt_report *report = sync->report;
	uint32_t region = sync->profile->tree.nodes[node].region;
	enum gt_time time = GT_TIME_USEFUL;

	if (node && region < report->read->tables[GT_OTF2_REGION].count)
		time = gt_class_times[report->classes.regions[region]];
	return time == GT_TIME_USEFUL || time == GT_TIME_IO;
}

/* Does a stream copy there between a device and its host? `node`: of the whole tree. */
static enum gt_copying copying(const struct gt_sync *sync, uint32_t location, uint32_t node)
{
	const struct gt_report *report = sync->report;
	uint32_t region = sync->profile->tree.nodes[node].region;

	return report->classes.locations[location].kind == GT_LOCATION_STREAM && node &&
	       region < report->read->tables[GT_OTF2_REGION].count &&
	       report->classes.regions[region] == GT_CLASS_GPU_TRANSFER
		? gt_copy_way(gt_report_region_name(report, region)) : GT_COPYING_NOT;
}

static bool changes(const struct gt_sync *sync, unsigned number, uint32_t location, uint32_t node,
		    uint32_t bits)
{
	const struct gt_change *change = &sync->report->whatif->changes[number];

	switch (change->kind) {
	case GT_CHANGE_RANK:
		return is_thread(sync, location) && rank_of(sync, location) == change->rank &&
		       is_work(sync, node);
	case GT_CHANGE_KERNEL:
		return bits >> number & 1 &&
		       sync->report->classes.locations[location].kind == GT_LOCATION_STREAM;
	case GT_CHANGE_COPIES:
		return copying(sync, location, node) != GT_COPYING_NOT;
	case GT_CHANGE_REGION:
		return bits >> number & 1;
	default:
		return false;
	}
}

/* What is left of the time of a node of a location's tree. */
static double kept_of(const struct gt_sync *sync, uint32_t location, uint32_t node, uint32_t bits)
{
	struct gt_whatif *whatif = sync->report->whatif;
	double kept = 1;

	for (unsigned i = 0; i < whatif->count; i++)
		if (changes(sync, i, location, node, bits))
			kept *= whatif->changes[i].factor;
	return kept < FACTOR_MOST ? kept : FACTOR_MOST;
}

static bool overlaps(const struct gt_whatif *whatif)
{
	for (unsigned i = 0; i < whatif->count; i++)
		if (whatif->changes[i].kind == GT_CHANGE_COPIES)
			return true;
	return false;
}

static void keep_all(struct gt_sync *sync, const uint32_t *bits)
{
	struct gt_whatif *whatif = sync->report->whatif;
	uint32_t locations = (uint32_t)gt_sync_locations(sync);

	whatif->kept = gt_zeroed(locations + 1, sizeof(*whatif->kept));
	whatif->copying = gt_zeroed(locations + 1, sizeof(*whatif->copying));
	for (uint32_t i = 0; i < locations; i++) {
		uint32_t count = sync->profile->locations[i].node_count;

		whatif->kept[i] = gt_zeroed((size_t)count + 1, sizeof(**whatif->kept));
		whatif->copying[i] = gt_zeroed((size_t)count + 1, sizeof(**whatif->copying));
		for (uint32_t k = 0; k < count; k++) {
			uint32_t node = gt_profile_node_at(sync->profile, i, k);

			whatif->kept[i][k] = (float)kept_of(sync, i, node, bits[node]);
			if (overlaps(whatif))
				whatif->copying[i][k] = (unsigned char)copying(sync, i, node);
		}
	}
}

/* ---- what it takes away -------------------------------------------------------------------------- */

/* ns of a node of a location that are not a wait for somebody. */
static void add(struct gt_sync *sync, const uint32_t *bits, uint32_t location, uint32_t node, double ns)
{
	struct gt_whatif *whatif = sync->report->whatif;
	uint32_t whole = gt_profile_node_at(sync->profile, location, node);
	double lost = ns * (1 - gt_whatif_kept(whatif, location, node));

	if (lost > 0)
		whatif->less += (uint64_t)lost;
	else
		whatif->more += (uint64_t)-lost;
	if (gt_whatif_copying(whatif, location, node)) /* it may be hidden */
		whatif->less += (uint64_t)(ns - lost);
	for (unsigned i = 0; i < whatif->count; i++)
		if (changes(sync, i, location, whole, bits[whole])) {
			whatif->changes[i].ns += (uint64_t)ns;
			whatif->changes[i].lost += ns * (1 - whatif->changes[i].factor);
		}
}

static void add_gap(struct gt_sync *sync, const uint32_t *bits, uint32_t location, uint64_t from, uint64_t to)
{
	struct gt_parts parts = gt_parts_of(&sync->timelines[location].profile, from, to);

	while (gt_parts_next(&parts))
		for (const uint32_t *words = parts.words; words < parts.last;) {
			struct gt_part_of part;

			words = gt_part_take(words, &part);
			add(sync, bits, location, part.node, (double)part.time);
		}
}

/* A call that is free of its lock loses its wait. */
static void add_free(struct gt_whatif *whatif, uint64_t waited)
{
	whatif->less += waited;
	for (unsigned i = 0; i < whatif->count; i++)
		if (whatif->changes[i].kind == GT_CHANGE_LOCK) { /* of several, the first one has all */
			whatif->changes[i].ns += waited;
			whatif->changes[i].lost += (double)waited;
			return;
		}
}

static void add_location(struct gt_sync *sync, const uint32_t *bits, uint32_t location)
{
	uint64_t from = 0;

	for (uint64_t i = 0; i < gt_segment_count(sync, location); i++, gt_spill_used(&sync->spill)) {
		const struct gt_wait_segment *segment = gt_segment_at(sync, location, i);
		bool caused = segment->cause != GT_NO_CAUSE && segment->until > segment->begin;
		uint64_t own = caused ? segment->until : segment->begin;

		add_gap(sync, bits, location, from, segment->profile);
		from = segment->profile;
		if (segment->free)
			add_free(sync->report->whatif, caused ? own - segment->begin
							      : segment->end - segment->begin);
		if (segment->end > own && !segment->birth && !(segment->free && !caused))
			add(sync, bits, location, segment->node, (double)(segment->end - own));
	}
}

/* ---- figures ------------------------------------------------------------------------------------- */

static const struct gt_column columns[] = {
	{ "duration_s", "duration", GT_SECONDS },
	{ "predicted_s", "predicted", GT_SECONDS },
	{ "low_s", "at least", GT_SECONDS },
	{ "high_s", "at most", GT_SECONDS },
};
static const struct gt_section_kind whatif_kind = GT_SECTION("whatif", "What if", GT_TOP, columns);

static const struct gt_column change_columns[] = {
	{ "seconds", "changes", GT_SECONDS },
	{ "less_s", "less", GT_SECONDS }, /* one of both */
	{ "more_s", "more", GT_SECONDS },
	{ "factor", "factor", GT_NUMBER },
	{ "change", "change", GT_TEXT },
};
static const struct gt_section_kind changes_kind = GT_SECTION("changes", "Changes", GT_ROWS, change_columns);

static void change_rows(struct gt_report *report)
{
	struct gt_section *section = gt_section_add(&report->figures, &changes_kind);

	for (unsigned i = 0; i < report->whatif->count; i++) {
		const struct gt_change *change = &report->whatif->changes[i];
		union gt_cell *row = gt_row_add(section);

		double lost = change->kind == GT_CHANGE_COPIES ? (double)report->whatif->hidden
							       : change->lost;

		row[0].count = change->ns;
		if (lost >= 0)
			row[1].count = (uint64_t)lost;
		else
			row[2].count = (uint64_t)-lost;
		if (change->kind < GT_CHANGE_LOCK)
			row[3].number = change->factor;
		row[4].text = change->text;
	}
	section->note = "less, more: of the time of all threads and streams, not of the run";
}

static const char *said_difference(struct gt_report *report, uint64_t before, uint64_t after)
{
	uint64_t by = before > after ? before - after : after - before;
	char share[32];

	if (!by || !before)
		return "the run takes as long as it did";
	gt_cell_print(share, sizeof(share), (union gt_cell){ .number = (double)by / (double)before },
		      GT_SHARE);
	return gt_figures_text(&report->figures, "the run is %s (%s) %s", gt_said(report, by, GT_SECONDS),
			       share, before > after ? "shorter" : "longer");
}

static void whatif_row(struct gt_report *report, const uint64_t *predicted)
{
	struct gt_section *section = gt_section_add(&report->figures, &whatif_kind);
	union gt_cell *row = gt_row_add(section);

	row[0].count = report->duration;
	for (unsigned i = 0; i < GT_WHATIF_ENDS; i++)
		row[1 + i].count = predicted[i];
	section->note = said_difference(report, report->duration, predicted[GT_WHATIF_PREDICTED]);
	if (report->whatif->unseen)
		section->note = gt_figures_text(
			&report->figures, "%s, if nobody waits for %s who did not before%s", section->note,
			report->whatif->unseen == GT_UNSEEN_LOCKS ? "a lock" : "another thread",
			report->whatif->unseen == GT_UNSEEN_LOCKS
				? "; with VT_PTHREAD_LOCKS=all that is predicted, too" : "");
}

/* ---- all ----------------------------------------------------------------------------------------- */

static bool any_copies(const struct gt_sync *sync)
{
	for (uint32_t i = 0; i < gt_sync_locations(sync); i++)
		for (uint32_t k = 0; k < sync->profile->locations[i].node_count; k++)
			if (copying(sync, i, gt_profile_node_at(sync->profile, i, k)))
				return true;
	return false;
}

static bool resolve(struct gt_sync *sync, uint32_t *regions)
{
	struct gt_whatif *whatif = sync->report->whatif;

	for (unsigned i = 0; i < whatif->count; i++) {
		struct gt_change *change = &whatif->changes[i];

		if (change->kind == GT_CHANGE_RANK && !find_rank(sync, change))
			return false;
		if (change->kind == GT_CHANGE_LOCK && !change->met)
			return !refuse(sync, "nobody waited for a lock '%s'; gputrace report -s locks has "
					     "their names", change->name);
		if (change->kind < GT_CHANGE_RANK && !find_regions(sync, i, regions))
			return false;
		if (change->kind == GT_CHANGE_COPIES && !any_copies(sync))
			return !refuse(sync, "no GPU copies from or to its host in this archive");
		if (change->kind == GT_CHANGE_KERNEL && !is_on_stream(sync, i, regions))
			return !refuse(sync, "no stream of a GPU has a '%s' in this archive", change->name);
	}
	return true;
}

/*
 * Who did not have to wait for a lock or a semaphore may have to then: of locks that is known if all
 * acquisitions are recorded; which call lets which go on is known of semaphores and conditions only from
 * waits.
 */
static enum gt_unseen unseen_waits(const struct gt_sync *sync)
{
	enum gt_unseen unseen = GT_UNSEEN_NOTHING;

	for (uint32_t i = 0; i < gt_sync_locations(sync); i++) {
		const uint64_t *calls = sync->profile->locations[i].class_calls;

		if (!is_thread(sync, i))
			continue;
		if (calls[GT_CLASS_SEMAPHORE] || calls[GT_CLASS_CONDITION])
			return GT_UNSEEN_WAKES;
		if (calls[GT_CLASS_LOCK] && !sync->report->classes.all_locks)
			unseen = GT_UNSEEN_LOCKS;
	}
	return unseen;
}

static void within(struct gt_sync *sync, uint64_t *predicted)
{
	struct gt_whatif *whatif = sync->report->whatif;
	uint64_t longest = sync->report->duration + whatif->more;
	uint64_t shortest = sync->report->duration - whatif->less;

	if (whatif->less || whatif->more)
		whatif->unseen = unseen_waits(sync);
	if (whatif->less > sync->report->duration)
		shortest = 0;
	if (predicted[GT_WHATIF_LOW] < shortest)
		predicted[GT_WHATIF_LOW] = shortest;
	if (predicted[GT_WHATIF_HIGH] > longest || whatif->unseen)
		predicted[GT_WHATIF_HIGH] = longest;
	if (predicted[GT_WHATIF_LOW] > predicted[GT_WHATIF_PREDICTED]) /* by rounding */
		predicted[GT_WHATIF_LOW] = predicted[GT_WHATIF_PREDICTED];
	if (predicted[GT_WHATIF_HIGH] < predicted[GT_WHATIF_PREDICTED])
		predicted[GT_WHATIF_HIGH] = predicted[GT_WHATIF_PREDICTED];
}

/* The new ends, of what is kept. */
static bool predict(struct gt_sync *sync, uint64_t *predicted)
{
	struct gt_whatif *whatif = sync->report->whatif;
	uint64_t (*ends)[GT_GAINS] = gt_zeroed(gt_sync_locations(sync) + 1, sizeof(*ends));
	bool done = gt_gain_whatif(sync, whatif, false, ends);

	for (unsigned k = 0; done && k < GT_WHATIF_ENDS; k++)
		predicted[k] = gt_path_new_end(sync, ends, k);
	done = done && gt_gain_whatif(sync, whatif, true, ends);
	free(ends);
	if (!done)
		return !refuse(sync, "it has too many calls that wait or communicate for this; gputrace "
				     "slice makes a smaller archive");
	within(sync, predicted);
	return true;
}

bool gt_whatif_predict(struct gt_sync *sync)
{
	struct gt_report *report = sync->report;
	uint32_t *regions = gt_zeroed(report->read->tables[GT_OTF2_REGION].count + 1, sizeof(*regions));
	uint64_t predicted[GT_WHATIF_ENDS];
	bool done = resolve(sync, regions);

	if (done) {
		uint32_t *bits = bits_of_nodes(sync, regions);

		keep_all(sync, bits);
		for (uint32_t i = 0; i < gt_sync_locations(sync); i++)
			add_location(sync, bits, i);
		free(bits);
		done = predict(sync, predicted);
	}
	free(regions);
	if (!done)
		return false;
	whatif_row(report, predicted);
	change_rows(report);
	report->duration = predicted[GT_WHATIF_PREDICTED];
	return true;
}

void gt_whatif_drop(struct gt_sync *sync)
{
	struct gt_whatif *whatif = sync->report->whatif;

	if (!whatif || !whatif->kept)
		return;
	for (size_t i = 0; i < gt_sync_locations(sync); i++) {
		free(whatif->kept[i]);
		free(whatif->copying[i]);
	}
	free(whatif->kept);
	free(whatif->copying);
}
