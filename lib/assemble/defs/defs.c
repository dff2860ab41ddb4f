/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Unifying definitions: a hash table of byte strings under every kind of definition.
 *
 * Limits: when memory runs out the numbers are no longer valid; `failed` is set and the archive is
 * abandoned.
 */
#include "config.h"

#include "gputrace/hash.h"
#include "lib/assemble/defs/defs.h"
#include "lib/assemble/util/utf8.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CONTEXTS_MOST (1u << 20)

/* ---- byte strings ---------------------------------------------------------------------------- */

static uint32_t hash_bytes(const void *data, size_t bytes)
{
	uint64_t hash = gt_hash_bytes(GT_HASH_START, data, bytes);

	return (uint32_t)(hash ^ hash >> 32);
}

static int grow_table(struct gt_intern *intern)
{
	size_t size = intern->table ? 2 * (intern->mask + 1) : 256;
	uint32_t *table = calloc(size, sizeof(*table));

	if (!table)
		return -ENOMEM;
	for (size_t i = 0; i < intern->count; i++) {
		size_t slot = intern->entries[i].hash & (size - 1);

		while (table[slot])
			slot = (slot + 1) & (size - 1);
		table[slot] = (uint32_t)i + 1;
	}
	free(intern->table);
	intern->table = table;
	intern->mask = size - 1;
	return 0;
}

static uint32_t intern_find(const struct gt_intern *intern, const void *data, size_t bytes,
			    uint32_t hash, size_t *free_slot)
{
	size_t slot;

	if (!intern->table)
		return GT_UNDEFINED;
	for (slot = hash & intern->mask; intern->table[slot]; slot = (slot + 1) & intern->mask) {
		uint32_t number = intern->table[slot] - 1;
		const struct gt_intern_entry *entry = &intern->entries[number];

		if (entry->hash == hash && entry->length == bytes &&
		    !memcmp(intern->blob + entry->at, data, bytes))
			return number;
	}
	*free_slot = slot;
	return GT_UNDEFINED;
}

static void *grow(void *data, size_t *room, size_t need, size_t item)
{
	size_t size = *room ? *room : 64;

	if (need <= *room)
		return data;
	while (size < need)
		size *= 2;
	data = realloc(data, size * item);
	if (data)
		*room = size;
	return data;
}

static int append(struct gt_intern *intern, const void *data, size_t bytes, uint32_t hash)
{
	char *blob = grow(intern->blob, &intern->room, intern->used + bytes + 1, 1);
	void *entries;

	if (!blob)
		return -ENOMEM;
	intern->blob = blob;
	entries = grow(intern->entries, &intern->entry_room, intern->count + 1,
		       sizeof(*intern->entries));
	if (!entries)
		return -ENOMEM;
	intern->entries = entries;
	memcpy(blob + intern->used, data, bytes);
	blob[intern->used + bytes] = 0;
	intern->entries[intern->count++] = (struct gt_intern_entry){
		.at = intern->used, .length = (uint32_t)bytes, .hash = hash,
	};
	intern->used += bytes + 1;
	return 0;
}

int gt_intern_append(struct gt_intern *intern, const void *data, size_t bytes)
{
	return append(intern, data, bytes, 0);
}

/* The number of the byte string; *fresh: it is new. GT_UNDEFINED without memory. */
static uint32_t intern_put(struct gt_intern *intern, const void *data, size_t bytes, bool *fresh)
{
	uint32_t hash = hash_bytes(data, bytes);
	size_t slot = 0;
	uint32_t number = intern_find(intern, data, bytes, hash, &slot);

	*fresh = false;
	if (number != GT_UNDEFINED)
		return number;
	if (bytes > UINT32_MAX || intern->count >= UINT32_MAX - 1)
		return GT_UNDEFINED;
	if (!intern->table || intern->count + intern->count / 2 >= intern->mask) {
		if (grow_table(intern))
			return GT_UNDEFINED;
		intern_find(intern, data, bytes, hash, &slot);
	}
	if (append(intern, data, bytes, hash))
		return GT_UNDEFINED;
	intern->table[slot] = (uint32_t)intern->count;
	*fresh = true;
	return (uint32_t)intern->count - 1;
}

const char *gt_intern_text(const struct gt_intern *intern, size_t n, size_t *length)
{
	if (length)
		*length = intern->entries[n].length;
	return intern->blob + intern->entries[n].at;
}

static void intern_free(struct gt_intern *intern)
{
	free(intern->blob);
	free(intern->entries);
	free(intern->table);
}

/* ---- tables of structs --------------------------------------------------------------------------- */

static uint32_t table_put(struct gt_defs *defs, struct gt_table *table, const void *key,
			  size_t bytes, const void *item, size_t size, bool *fresh)
{
	bool is_new;
	uint32_t number;

	if (size) {
		void *items = grow(table->items, &table->room, table->keys.count + 1, size);

		if (!items)
			goto failed;
		table->items = items;
	}
	number = intern_put(&table->keys, key, bytes, &is_new);
	if (number == GT_UNDEFINED)
		goto failed;
	if (is_new && size)
		memcpy((char *)table->items + number * size, item, size);
	if (fresh)
		*fresh = is_new;
	return number;
failed:
	defs->failed = -ENOMEM;
	if (fresh)
		*fresh = false;
	return 0;
}

static void table_free(struct gt_table *table)
{
	intern_free(&table->keys);
	free(table->items);
}

int gt_defs_init(struct gt_defs *defs)
{
	memset(defs, 0, sizeof(*defs));
	pthread_mutex_init(&defs->lock, NULL);
	defs->contexts_most = CONTEXTS_MOST;
	gt_defs_string(defs, "");
	return defs->failed;
}

void gt_defs_free(struct gt_defs *defs)
{
	struct gt_comm *comms = defs->comms.items;

	for (size_t i = 0; i < gt_table_count(&defs->comms); i++) {
		free(comms[i].members);
		free(comms[i].remote);
	}
	intern_free(&defs->strings);
	table_free(&defs->regions);
	table_free(&defs->attributes);
	table_free(&defs->parameters);
	table_free(&defs->members);
	table_free(&defs->metrics);
	table_free(&defs->recorders);
	table_free(&defs->comms);
	table_free(&defs->windows);
	table_free(&defs->topologies);
	table_free(&defs->files);
	table_free(&defs->handles);
	table_free(&defs->markers);
	table_free(&defs->locks);
	table_free(&defs->sources);
	table_free(&defs->contexts);
	table_free(&defs->generators);
	table_free(&defs->places);
	free(defs->member_ids);
	free(defs->spoken);
	pthread_mutex_destroy(&defs->lock);
	memset(defs, 0, sizeof(*defs));
}

uint32_t gt_defs_string(struct gt_defs *defs, const char *text)
{
	bool fresh;
	uint32_t number = GT_UNDEFINED;
	char *clean = NULL;

	if (!gt_utf8_valid(text)) {
		size_t room = 4 * strlen(text) + 1;

		clean = malloc(room);
		text = clean ? gt_utf8_clean(clean, room, text) : NULL;
	}
	pthread_mutex_lock(&defs->lock);
	if (text)
		number = intern_put(&defs->strings, text, strlen(text), &fresh);
	if (number == GT_UNDEFINED) {
		defs->failed = -ENOMEM;
		number = 0;
	}
	pthread_mutex_unlock(&defs->lock);
	free(clean);
	return number;
}

uint32_t gt_defs_spoken(struct gt_defs *defs, uint32_t string)
{
	unsigned char *spoken;

	if (!defs->note_spoken)
		return string;
	pthread_mutex_lock(&defs->lock);
	if (string >= defs->spoken_room) {
		size_t room = (size_t)string + string / 2 + 256;

		spoken = realloc(defs->spoken, room);
		if (spoken) {
			memset(spoken + defs->spoken_room, 0, room - defs->spoken_room);
			defs->spoken = spoken;
			defs->spoken_room = room;
		} else {
			defs->failed = -ENOMEM;
		}
	}
	if (string < defs->spoken_room)
		defs->spoken[string] = 1;
	pthread_mutex_unlock(&defs->lock);
	return string;
}

/* The structs that are their own keys must have no padding that differs. */
static uint32_t put_locked(struct gt_defs *defs, struct gt_table *table, const void *key,
			   size_t bytes, const void *item, size_t size, bool *fresh)
{
	uint32_t number;

	pthread_mutex_lock(&defs->lock);
	number = table_put(defs, table, key, bytes, item, size, fresh);
	pthread_mutex_unlock(&defs->lock);
	return number;
}

static uint32_t put_attribute(struct gt_defs *defs, struct gt_table *table,
			      const struct gt_attribute_def *item)
{
	uint32_t key[3] = { item->name, item->description, item->type };

	return put_locked(defs, table, key, sizeof(key), item, sizeof(*item), NULL);
}

uint32_t gt_defs_attribute(struct gt_defs *defs, const struct gt_attribute_def *attribute)
{
	return put_attribute(defs, &defs->attributes, attribute);
}

uint32_t gt_defs_parameter(struct gt_defs *defs, const struct gt_attribute_def *parameter)
{
	return put_attribute(defs, &defs->parameters, parameter);
}

uint32_t gt_defs_member(struct gt_defs *defs, const struct gt_member *member)
{
	uint32_t key[8] = { member->name, member->description, member->unit,   member->value,
			    member->mode, member->kind,	       member->binary, (uint32_t)member->exponent };

	return put_locked(defs, &defs->members, key, sizeof(key), member, sizeof(*member), NULL);
}

uint32_t gt_defs_metric_class(struct gt_defs *defs, const uint32_t *members, uint32_t count, bool synchronous)
{
	struct gt_metric metric = { .count = count, .synchronous = synchronous };
	uint32_t key[256], number = 0;
	uint32_t *ids;
	bool fresh;

	memcpy(key, members, count * sizeof(*key));
	key[count] = GT_UNDEFINED; /* no member's number */
	pthread_mutex_lock(&defs->lock);
	ids = grow(defs->member_ids, &defs->member_id_room, defs->member_id_count + count,
		   sizeof(*ids));
	if (!ids) {
		defs->failed = -ENOMEM;
	} else {
		defs->member_ids = ids;
		metric.first = (uint32_t)defs->member_id_count;
		number = table_put(defs, &defs->metrics, key, (count + synchronous) * sizeof(*key), &metric,
				   sizeof(metric), &fresh);
		if (fresh) {
			memcpy(ids + metric.first, members, count * sizeof(*members));
			defs->member_id_count += count;
		}
	}
	pthread_mutex_unlock(&defs->lock);
	return number;
}

uint32_t gt_defs_metric_instance(struct gt_defs *defs, const struct gt_metric *instance)
{
	/* A class's key is a multiple of four bytes, so that this one never equals it. */
	unsigned char key[17];

	memcpy(key, &instance->base, 4);
	memcpy(key + 4, &instance->recorder, 4);
	memcpy(key + 8, &instance->scope_id, 4);
	memset(key + 12, instance->scope, 5);
	return put_locked(defs, &defs->metrics, key, sizeof(key), instance, sizeof(*instance), NULL);
}

bool gt_defs_is_instance(struct gt_defs *defs, uint32_t metric)
{
	bool is;

	pthread_mutex_lock(&defs->lock);
	is = ((const struct gt_metric *)defs->metrics.items)[metric].instance;
	pthread_mutex_unlock(&defs->lock);
	return is;
}

void gt_defs_recorder(struct gt_defs *defs, uint32_t metric, uint32_t location)
{
	struct gt_recorder recorder = { metric, location };

	put_locked(defs, &defs->recorders, &recorder, sizeof(recorder), &recorder, sizeof(recorder),
		   NULL);
}

uint32_t gt_defs_marker(struct gt_defs *defs, const struct gt_marker_def *marker)
{
	uint32_t key[3] = { marker->category, marker->group, marker->severity };

	return put_locked(defs, &defs->markers, key, sizeof(key), marker, sizeof(*marker), NULL);
}

uint32_t gt_defs_region(struct gt_defs *defs, const void *key, size_t bytes,
			const struct gt_region *region)
{
	struct gt_region *there;
	uint32_t number;

	pthread_mutex_lock(&defs->lock);
	number = table_put(defs, &defs->regions, key, bytes, region, sizeof(*region), NULL);
	there = (struct gt_region *)defs->regions.items + number;
	if (!defs->failed && there->paradigm == GT_PARADIGM_SAMPLING)
		there->paradigm = region->paradigm;
	pthread_mutex_unlock(&defs->lock);
	return number;
}

uint32_t gt_defs_named_region(struct gt_defs *defs, const struct gt_region *region, uint32_t proc)
{
	const uint32_t key[GT_NAMED_KEY] = { 'R', region->name, region->canonical, region->file,
					     region->group, region->begin, region->end, region->role,
					     (uint32_t)region->paradigm << 16 | region->flags, proc };

	return gt_defs_region(defs, key, sizeof(key), region);
}

uint32_t gt_defs_inlined_region(struct gt_defs *defs, const struct gt_region *region)
{
	const uint32_t key[GT_INLINED_KEY] = { 'I', region->canonical, region->file, region->begin,
					       region->module };

	return gt_defs_region(defs, key, sizeof(key), region);
}

uint32_t gt_defs_own_region(struct gt_defs *defs, const char *name, uint8_t paradigm)
{
	struct gt_region region = {
		.name = gt_defs_string(defs, name),
		.file = gt_defs_string(defs, "gputrace"),
		.group = GT_UNDEFINED,
		.role = GT_REGION_ROLE_ARTIFICIAL,
		.paradigm = paradigm,
	};

	region.canonical = region.name;
	return gt_defs_region(defs, name, strlen(name) + 1, &region);
}

uint32_t gt_defs_region_known(struct gt_defs *defs, const void *key, size_t bytes)
{
	uint32_t number;
	size_t slot;

	pthread_mutex_lock(&defs->lock);
	number = intern_find(&defs->regions.keys, key, bytes, hash_bytes(key, bytes), &slot);
	pthread_mutex_unlock(&defs->lock);
	return number;
}

uint32_t gt_defs_comm(struct gt_defs *defs, const void *key, size_t bytes,
		      const struct gt_comm *comm, bool *fresh)
{
	return put_locked(defs, &defs->comms, key, bytes, comm, sizeof(*comm), fresh);
}

uint32_t gt_defs_window(struct gt_defs *defs, uint32_t name, uint32_t comm)
{
	const uint32_t key[2] = { name, comm };
	struct gt_window window = { .name = name, .comm = comm };

	return put_locked(defs, &defs->windows, key, sizeof(key), &window, sizeof(window), NULL);
}

uint32_t gt_defs_window_of(struct gt_defs *defs, uint64_t key, const struct gt_window *window)
{
	const uint64_t whole[2] = { 'M', key };

	return put_locked(defs, &defs->windows, whole, sizeof(whole), window, sizeof(*window), NULL);
}

bool gt_defs_topology(struct gt_defs *defs, const struct gt_topology *topology)
{
	bool fresh;

	put_locked(defs, &defs->topologies, &topology->comm, sizeof(topology->comm), topology,
		   sizeof(*topology), &fresh);
	return fresh;
}

uint32_t gt_defs_file(struct gt_defs *defs, uint32_t name)
{
	return put_locked(defs, &defs->files, &name, sizeof(name), &name, sizeof(name), NULL);
}

uint32_t gt_defs_handle(struct gt_defs *defs, uint64_t key, const struct gt_handle *handle)
{
	return put_locked(defs, &defs->handles, &key, sizeof(key), handle, sizeof(*handle), NULL);
}

uint32_t gt_defs_lock_id(struct gt_defs *defs, uint64_t a, uint64_t b)
{
	uint64_t key[2] = { a, b };

	return put_locked(defs, &defs->locks, key, sizeof(key), NULL, 0, NULL);
}

uint32_t gt_defs_source(struct gt_defs *defs, uint32_t file, uint32_t line)
{
	const struct gt_source source = { file, line };

	return put_locked(defs, &defs->sources, &source, sizeof(source), &source, sizeof(source), NULL);
}

uint32_t gt_defs_generator(struct gt_defs *defs, uint64_t period)
{
	return put_locked(defs, &defs->generators, &period, sizeof(period), &period, sizeof(period), NULL);
}

static uint32_t find_context(struct gt_defs *defs, const struct gt_context *context)
{
	size_t slot;

	return intern_find(&defs->contexts.keys, context, sizeof(*context),
			   hash_bytes(context, sizeof(*context)), &slot);
}

/* Where there are many nodes already a new one has no line, then no callers. */
static void shorten(struct gt_defs *defs, struct gt_context *context)
{
	size_t count = gt_table_count(&defs->contexts);
	enum gt_paths paths = GT_PATHS_WITHOUT_LINES;

	if (count < defs->contexts_most - defs->contexts_most / 4)
		return;
	context->source = GT_UNDEFINED;
	if (count >= defs->contexts_most && context->parent != GT_UNDEFINED &&
	    find_context(defs, context) == GT_UNDEFINED) {
		context->parent = GT_UNDEFINED;
		paths = GT_PATHS_CUT;
	}
	if (defs->paths < paths)
		defs->paths = paths;
}

uint32_t gt_defs_context(struct gt_defs *defs, struct gt_context *context)
{
	uint32_t number;

	pthread_mutex_lock(&defs->lock);
	number = find_context(defs, context);
	if (number == GT_UNDEFINED) {
		shorten(defs, context);
		number = table_put(defs, &defs->contexts, context, sizeof(*context), context,
				   sizeof(*context), NULL);
	}
	pthread_mutex_unlock(&defs->lock);
	return number;
}

static uint32_t parent_of(const struct gt_defs *defs, uint32_t context)
{
	return ((const struct gt_context *)defs->contexts.items)[context].parent;
}

/* NULL: there is none. */
static const struct gt_region *region_of(const struct gt_defs *defs, uint32_t context)
{
	const struct gt_context *node = (const struct gt_context *)defs->contexts.items + context;

	return context == GT_UNDEFINED || defs->failed || node->region >= gt_table_count(&defs->regions)
		       ? NULL
		       : (const struct gt_region *)defs->regions.items + node->region;
}

uint32_t gt_defs_caller(struct gt_defs *defs, uint32_t context, uint32_t callee,
			bool (*skip)(const char *name, const char *symbol, const char *callee))
{
	const struct gt_region *of, *inner;
	const char *called;

	pthread_mutex_lock(&defs->lock);
	while (callee != GT_UNDEFINED && !defs->failed && parent_of(defs, callee) != context)
		callee = parent_of(defs, callee); /* it is inlined */
	inner = region_of(defs, callee);
	called = inner ? gt_intern_text(&defs->strings, inner->canonical, NULL) : "";
	while ((of = region_of(defs, context))) {
		const char *symbol = gt_intern_text(&defs->strings, of->canonical, NULL);

		if (!skip(gt_intern_text(&defs->strings, of->name, NULL), symbol, called))
			break;
		context = parent_of(defs, context);
		called = symbol;
	}
	pthread_mutex_unlock(&defs->lock);
	return context;
}

bool gt_defs_place_known(struct gt_defs *defs, const void *key, size_t bytes, struct gt_place *place)
{
	uint32_t number;
	size_t slot;

	pthread_mutex_lock(&defs->lock);
	number = intern_find(&defs->places.keys, key, bytes, hash_bytes(key, bytes), &slot);
	if (number != GT_UNDEFINED)
		*place = ((const struct gt_place *)defs->places.items)[number];
	pthread_mutex_unlock(&defs->lock);
	return number != GT_UNDEFINED;
}

void gt_defs_place(struct gt_defs *defs, const void *key, size_t bytes, const struct gt_place *place)
{
	put_locked(defs, &defs->places, key, bytes, place, sizeof(*place), NULL);
}

uint64_t gt_defs_bytes(struct gt_defs *defs)
{
	uint64_t bytes;

	pthread_mutex_lock(&defs->lock);
	bytes = defs->strings.used + 24 * defs->strings.count + 64 * defs->regions.keys.count +
		48 * (defs->attributes.keys.count + defs->parameters.keys.count +
		      defs->members.keys.count + defs->markers.keys.count) +
		64 * defs->metrics.keys.count + 24 * defs->recorders.keys.count +
		8 * defs->member_id_count + 64 * (defs->comms.keys.count + defs->windows.keys.count) +
		24 * GT_DIMENSIONS * defs->topologies.keys.count +
		64 * (defs->files.keys.count + defs->handles.keys.count) + 16 * defs->sources.keys.count +
		24 * defs->contexts.keys.count + defs->other_bytes;
	pthread_mutex_unlock(&defs->lock);
	return bytes;
}
