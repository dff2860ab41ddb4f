/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An archive: opening it, its properties and markers, and the threads that read its locations.
 *
 * Limits: see read.h. Locations are begun in their order, so that few wait to be merged.
 */
#include "config.h"

#include "lib/read/read_int.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_THREADS = 16 };

static void append_property(struct gt_otf2 *read, const char *name, const char *value)
{
	struct gt_otf2_table *table = &read->tables[GT_OTF2_PROPERTY];
	size_t length = strlen(name) + 1, size = strlen(value) + 1;
	char *text = gt_otf2_keep(read, length + size);

	memcpy(text, name, length);
	memcpy(text + length, value, size);
	table->items = gt_grown(table->items, table->count, &table->room, sizeof(struct gt_otf2_property));
	((struct gt_otf2_property *)table->items)[table->count] = (struct gt_otf2_property){
		.id = table->count, .kind = GT_OTF2_KINDS, .owner = GT_OTF2_NOTHING, .name = text,
		.type = OTF2_TYPE_STRING, .text = text + length };
	table->count++;
	gt_otf2_owned(read);
}

static void read_properties(struct gt_otf2 *read)
{
	uint32_t count = 0;
	char **names = NULL;

	if (OTF2_Reader_GetPropertyNames(read->reader, &count, &names) != OTF2_SUCCESS)
		return;
	for (uint32_t i = 0; i < count; i++) {
		char *value = NULL;

		if (OTF2_Reader_GetProperty(read->reader, names[i], &value) == OTF2_SUCCESS && value)
			append_property(read, names[i], value);
		free(value);
	}
	free(names);
}

/* libotf2 says of all but a missing file that the creation of an archive has failed. */
static const char *anchor_fault(const struct gt_otf2 *read)
{
	return access(read->anchor, R_OK) ? strerror(errno)
					  : "this is not an anchor file of OTF2, or a damaged one";
}

struct gt_otf2 *gt_otf2_open(const char *anchor, const struct gt_otf2_options *options)
{
	struct gt_otf2 *read = calloc(1, sizeof(*read));

	if (!read || gt_lookup_init(&read->owners) || !(read->unread = gt_otf2_unread_new())) {
		free(read ? read->owners.entries : NULL);
		free(read);
		return NULL;
	}
	read->options = *options;
	read->factor = 1;
	for (int kind = 0; kind < GT_OTF2_KINDS; kind++)
		read->tables[kind].dense = true;
	if ((size_t)snprintf(read->anchor, sizeof(read->anchor), "%s", anchor) >= sizeof(read->anchor)) {
		gt_otf2_unreadable(read, NULL, "otf2", "%s", strerror(ENAMETOOLONG));
		gt_otf2_close(read);
		return NULL;
	}
	gt_otf2_listen();
	read->reader = gt_otf2_reader(read);
	if (!read->reader) {
		gt_otf2_unreadable(read, NULL, "otf2", "%s", anchor_fault(read));
		gt_otf2_close(read);
		return NULL;
	}
	read_properties(read);
	return read;
}

void gt_otf2_close(struct gt_otf2 *read)
{
	if (!read)
		return;
	for (int kind = 0; kind < GT_OTF2_KINDS; kind++) {
		free(read->tables[kind].items);
		free(read->tables[kind].ids.entries);
	}
	free(read->owners.entries);
	while (read->blocks) {
		struct gt_otf2_block *next = read->blocks->next;

		free(read->blocks);
		read->blocks = next;
	}
	if (read->reader && !read->failed)
		OTF2_Reader_Close(read->reader);
	free(read->unread);
	free(read);
}

/* ---- threads ----------------------------------------------------------------------------------- */

struct pool {
	struct gt_otf2 *read;
	pthread_mutex_t lock;
	size_t next, merged, count; /* locations begun, merged, and all */
	struct gt_otf2_cursor **done;
	bool failed;
};

/* Takes the next location, or says that there is none. */
static bool take(struct pool *pool, size_t *index)
{
	bool any;

	pthread_mutex_lock(&pool->lock);
	any = pool->next < pool->count;
	*index = pool->next;
	pool->next += any;
	pthread_mutex_unlock(&pool->lock);
	return any;
}

static void add_state(struct gt_otf2_cursor *at)
{
	if (at->visitor->state_size && !(at->state = calloc(1, at->visitor->state_size)))
		gt_no_memory();
}

static void hand_in(struct pool *pool, struct gt_otf2_cursor *at)
{
	pthread_mutex_lock(&pool->lock);
	pool->failed |= !at->whole;
	pool->done[at->index] = at;
	for (; pool->merged < pool->count && pool->done[pool->merged]; pool->merged++) {
		at = pool->done[pool->merged];
		if (!at->state)
			add_state(at);
		if (at->visitor->merge)
			at->visitor->merge(at);
		free(at->state);
		free(at);
	}
	pthread_mutex_unlock(&pool->lock);
}

static struct gt_otf2_cursor *new_cursor(const struct gt_otf2 *read, size_t index)
{
	struct gt_otf2_cursor *at = gt_zeroed(1, sizeof(*at));

	at->read = read;
	at->location = gt_otf2_location_at(read, index);
	at->index = index;
	at->visitor = read->options.visitor;
	at->user = read->options.user;
	return at;
}

static void select_all(const struct gt_otf2 *read, OTF2_Reader *reader)
{
	for (size_t i = 0; i < read->tables[GT_OTF2_LOCATION].count; i++)
		OTF2_Reader_SelectLocation(reader, gt_otf2_location_at(read, i)->id);
	OTF2_Reader_OpenDefFiles(reader);
	OTF2_Reader_OpenEvtFiles(reader);
}

static bool is_elsewhere(const struct gt_otf2 *read, size_t index)
{
	return read->options.elsewhere && read->options.elsewhere(read->options.user, index);
}

static void read_with(struct pool *pool, OTF2_Reader *reader)
{
	struct gt_otf2_hand hand = { reader, gt_otf2_callbacks(), gt_otf2_local_callbacks(),
				     gt_otf2_decoder_new() };
	size_t index;

	select_all(pool->read, reader);
	while (take(pool, &index)) {
		struct gt_otf2_cursor *at = new_cursor(pool->read, index);

		at->whole = true;
		if (!is_elsewhere(pool->read, index)) {
			add_state(at);
			gt_otf2_location(&hand, at);
		}
		hand_in(pool, at);
	}
	gt_otf2_decoder_free(hand.decoder);
	OTF2_DefReaderCallbacks_Delete(hand.definitions);
	OTF2_EvtReaderCallbacks_Delete(hand.callbacks);
}

/* A thread has a reader of its own. Without one, or without threads, the first one reads everything. */
static void *worker(void *argument)
{
	struct pool *pool = argument;
	OTF2_Reader *reader = gt_otf2_reader(pool->read);

	if (reader)
		read_with(pool, reader);
	if (reader && !pool->failed)
		OTF2_Reader_Close(reader);
	return NULL;
}

static unsigned thread_count(const struct gt_otf2 *read)
{
	size_t locations = read->tables[GT_OTF2_LOCATION].count;
	unsigned n = read->options.threads;
	cpu_set_t set;

	if (!n)
		n = sched_getaffinity(0, sizeof(set), &set) ? 1 : (unsigned)CPU_COUNT(&set);
	n = n < locations ? n : (unsigned)locations;
	return n < MOST_THREADS ? n : MOST_THREADS;
}

int gt_otf2_events(struct gt_otf2 *read)
{
	struct pool pool = { .read = read, .count = read->tables[GT_OTF2_LOCATION].count };
	pthread_t threads[MOST_THREADS];
	unsigned started = 0, n = thread_count(read);

	gt_otf2_count_bytes(read);
	pool.done = calloc(pool.count + 1, sizeof(pool.done[0]));
	if (!pool.done)
		return -ENOMEM;
	pthread_mutex_init(&pool.lock, NULL);
	while (started + 1 < n && !pthread_create(&threads[started], NULL, worker, &pool))
		started++;
	read_with(&pool, read->reader);
	while (started)
		pthread_join(threads[--started], NULL);
	pthread_mutex_destroy(&pool.lock);
	free(pool.done);
	read->failed |= pool.failed;
	gt_otf2_say_unread(read);
	return pool.failed ? -EIO : 0;
}

int gt_otf2_part(struct gt_otf2 *read, size_t location, const struct gt_otf2_place *from, uint64_t until)
{
	struct gt_otf2_hand hand = { .reader = read->reader };
	struct gt_otf2_cursor *at;
	bool whole;

	if (location >= read->tables[GT_OTF2_LOCATION].count)
		return -ENOENT;
	if (!read->selected)
		select_all(read, read->reader);
	read->selected = true;
	hand.callbacks = gt_otf2_callbacks();
	hand.definitions = gt_otf2_local_callbacks();
	at = new_cursor(read, location);
	gt_otf2_location_part(&hand, at, from, until);
	OTF2_DefReaderCallbacks_Delete(hand.definitions);
	OTF2_EvtReaderCallbacks_Delete(hand.callbacks);
	if (at->visitor->merge)
		at->visitor->merge(at);
	whole = at->whole;
	read->failed |= !whole;
	free(at->state);
	free(at);
	return whole ? 0 : -EIO;
}

/* ---- markers ----------------------------------------------------------------------------------- */

struct markers {
	struct gt_otf2 *read;
	void (*visit)(void *user, const struct gt_otf2_marker *marker);
	struct {
		char *group, *category;
		OTF2_MarkerSeverity severity;
	} *kinds;
	struct gt_lookup ids;
	size_t kind_count, kind_room, count;
};

static char *copy_of(struct gt_otf2 *read, const char *text)
{
	size_t size = strlen(text ? text : "") + 1;

	return memcpy(gt_otf2_keep(read, size), text ? text : "", size);
}

static OTF2_CallbackCode on_marker_kind(void *user, OTF2_MarkerRef self, const char *group,
					const char *category, OTF2_MarkerSeverity severity)
{
	struct markers *m = user;

	m->kinds = gt_grown(m->kinds, m->kind_count, &m->kind_room, sizeof(*m->kinds));
	m->kinds[m->kind_count].group = copy_of(m->read, group);
	m->kinds[m->kind_count].category = copy_of(m->read, category);
	m->kinds[m->kind_count].severity = severity;
	if (!gt_lookup_find(&m->ids, (uint64_t)self + 1) &&
	    !gt_lookup_put(&m->ids, (uint64_t)self + 1, (uint32_t)m->kind_count, 0))
		gt_no_memory();
	m->kind_count++;
	return OTF2_CALLBACK_SUCCESS;
}

static bool scope_exists(const struct gt_otf2 *read, OTF2_MarkerScope scope, uint64_t id)
{
	switch (scope) {
	case OTF2_MARKER_SCOPE_LOCATION:
		return gt_otf2_find_location(read, id);
	case OTF2_MARKER_SCOPE_LOCATION_GROUP:
		return gt_otf2_find_location_group(read, id);
	case OTF2_MARKER_SCOPE_SYSTEM_TREE_NODE:
		return gt_otf2_find_node(read, id);
	}
	return true;
}

static OTF2_CallbackCode on_marker(void *user, OTF2_TimeStamp time, OTF2_TimeStamp duration,
				   OTF2_MarkerRef kind, OTF2_MarkerScope scope, uint64_t scope_id,
				   const char *text)
{
	struct markers *m = user;
	const struct gt_otf2 *read = m->read;
	const struct gt_lookup_entry *entry = gt_lookup_find(&m->ids, (uint64_t)kind + 1);
	struct gt_otf2_marker marker = { .group = "?",
					 .category = "?",
					 .text = text ? text : "",
					 .time = time,
					 .duration = duration,
					 .scope = scope,
					 .scope_id = scope_id };

	m->count++;
	if (entry) {
		marker.group = m->kinds[entry->value].group;
		marker.category = m->kinds[entry->value].category;
		marker.severity = m->kinds[entry->value].severity;
	} else {
		gt_otf2_report(read, NULL, GT_OTF2_MARKERS, "marker %zu is of kind %u, which is not defined",
			       m->count, kind);
	}
	if (time < read->begin || time > read->end || duration > read->end - time)
		gt_otf2_report(read, NULL, GT_OTF2_MARKERS,
			       "marker %zu lies at tick %" PRIu64 ", outside the range of the clock",
			       m->count, time);
	if (!scope_exists(read, scope, scope_id))
		gt_otf2_report(read, NULL, GT_OTF2_MARKERS,
			       "marker %zu belongs to something that is not defined", m->count);
	if (m->visit)
		m->visit(read->options.user, &marker);
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_ErrorCode read_markers(struct markers *m, OTF2_MarkerReader *reader)
{
	OTF2_MarkerReaderCallbacks *callbacks = OTF2_MarkerReaderCallbacks_New();
	OTF2_ErrorCode rc;
	uint64_t n;

	if (!callbacks || gt_lookup_init(&m->ids))
		gt_no_memory();
	OTF2_MarkerReaderCallbacks_SetDefMarkerCallback(callbacks, on_marker_kind);
	OTF2_MarkerReaderCallbacks_SetMarkerCallback(callbacks, on_marker);
	OTF2_Reader_RegisterMarkerCallbacks(m->read->reader, reader, callbacks, m);
	rc = OTF2_Reader_ReadAllMarkers(m->read->reader, reader, &n);
	OTF2_MarkerReaderCallbacks_Delete(callbacks);
	free(m->kinds);
	free(m->ids.entries);
	return rc;
}

int gt_otf2_markers(struct gt_otf2 *read, void (*visit)(void *user, const struct gt_otf2_marker *marker))
{
	struct markers m = { .read = read, .visit = visit };
	OTF2_MarkerReader *reader;
	OTF2_ErrorCode rc;
	uint64_t size;

	if (!gt_otf2_file(read, GT_OTF2_NOTHING, "marker", &size))
		return 0; /* without markers there is no file */
	reader = OTF2_Reader_GetMarkerReader(read->reader);
	if (!reader) {
		gt_otf2_unreadable(read, NULL, "marker", "the markers: %s", gt_otf2_complaint);
		return -EIO;
	}
	rc = read_markers(&m, reader);
	OTF2_Reader_CloseMarkerReader(read->reader, reader);
	read->failed |= rc != OTF2_SUCCESS;
	if (rc != OTF2_SUCCESS)
		gt_otf2_unreadable(read, NULL, "marker", "the markers: %s", OTF2_Error_GetDescription(rc));
	return rc == OTF2_SUCCESS ? 0 : -EIO;
}
