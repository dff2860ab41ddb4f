/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The definitions of adapter.h: each gets the next id of its type and goes to the journal at once.
 *
 * Limits: strings are kept (and written) once per process; memory comes from mmap and is not given
 * back. A definition that cannot be written is counted and yields GT_NONE.
 */
#include "gputrace/accel.h"
#include "gputrace/hash.h"
#include "gputrace/io.h"
#include "gputrace/ranks.h"
#include "lib/common/sized.h"
#include "lib/record/call_paths.h"
#include "lib/record/control.h"
#include "lib/record/record.h"
#include "lib/record/verdict.h"

#include <errno.h>
#include <string.h>

static struct gt_lock *const lock = &gt_locks[GT_LOCK_DEFS];

/* For a definition: is the process recorded, and the lock to be had? Goes with gt_unlock(). */
static bool begin(uint64_t *mask)
{
	if (!gt_start())
		return false;
	*mask = gt_lock(lock);
	if (*mask == GT_LOCK_REFUSED)
		gt_count_lost(GT_LOSS_DEFINITION, 1);
	return *mask != GT_LOCK_REFUSED;
}

/* ---- strings ------------------------------------------------------------------------------- */

struct interned {
	uint32_t hash;
	gt_ref id; /* 0: free */
	const char *text;
};

static struct interned *strings; /* open addressing, a power of two */
static uint32_t strings_room, strings_used;
#define POOL 32768
static char *pool, *pool_end;

static bool grow(void)
{
	uint32_t room = strings_room ? strings_room * 2 : 1024;
	struct interned *bigger = gt_memory(room * sizeof(*bigger));

	if (!bigger)
		return false;
	for (uint32_t i = 0; i < strings_room; i++) {
		uint32_t at = strings[i].hash & (room - 1);

		if (!strings[i].id)
			continue;
		while (bigger[at].id)
			at = (at + 1) & (room - 1);
		bigger[at] = strings[i];
	}
	if (strings)
		gt_memory_free(strings, strings_room * sizeof(*strings));
	strings = bigger;
	strings_room = room;
	return true;
}

static const char *keep(const char *text, size_t length)
{
	if ((size_t)(pool_end - pool) <= length) {
		pool = gt_memory(POOL);
		pool_end = pool ? pool + (POOL) : NULL;
		if (!pool)
			return NULL;
	}
	memcpy(pool, text, length);
	pool += length + 1; /* fresh memory is zero */
	return pool - length - 1;
}

static gt_ref no_room(void)
{
	gt_count_lost(GT_LOSS_DEFINITION, 1);
	return GT_NONE;
}

static gt_ref string_locked(const char *text)
{
	size_t length = strnlen(text, GT_NAME_MAX);
	uint32_t hash = (uint32_t)gt_hash_bytes(GT_HASH_START, text, length);
	struct interned *slot;
	uint32_t at;

	if (strings_used * 2 >= strings_room && !grow())
		return no_room();
	for (at = hash & (strings_room - 1); strings[at].id; at = (at + 1) & (strings_room - 1))
		if (strings[at].hash == hash && !strncmp(strings[at].text, text, length) &&
		    !strings[at].text[length])
			return strings[at].id;
	slot = &strings[at];
	slot->text = keep(text, length);
	if (!slot->text)
		return no_room();
	if (gt_journal_put_locked(GT_D_STRING, strings_used + 1,
				  &(struct gt_piece){ slot->text, length + 1 }, 1))
		return GT_NONE;
	slot->hash = hash;
	slot->id = ++strings_used;
	return slot->id;
}

gt_ref gt_def_string(const char *text)
{
	uint64_t mask;
	gt_ref id;

	if (!text || !begin(&mask))
		return GT_NONE;
	id = string_locked(text);
	gt_unlock(lock, mask);
	return id;
}

/* ---- the others ---------------------------------------------------------------------------------- */

static uint32_t next_id[GT_D_LAST + 1]; /* last id given, per type */

static gt_ref put_locked(unsigned type, const struct gt_piece *pieces, unsigned count)
{
	if (gt_journal_put_locked(type, next_id[type] + 1, pieces, count))
		return GT_NONE;
	return ++next_id[type];
}

static gt_ref put(unsigned type, const struct gt_piece *pieces, unsigned count)
{
	uint64_t mask;
	gt_ref id;

	if (!begin(&mask))
		return GT_NONE;
	id = put_locked(type, pieces, count);
	gt_unlock(lock, mask);
	return id;
}

/* Definitions that have texts begin with their ids; only the first may be an empty string. */
static void texts_locked(void *def, const char *const *texts, unsigned count)
{
	gt_ref *ids = def;

	for (unsigned i = 0; i < count; i++)
		ids[i] = texts[i] && (!i || *texts[i]) ? string_locked(texts[i]) : GT_NONE;
}

static gt_ref define(unsigned type, void *def, size_t bytes, const char *const *texts, unsigned count)
{
	uint64_t mask;
	gt_ref id;

	if (!begin(&mask))
		return GT_NONE;
	texts_locked(def, texts, count);
	id = put_locked(type, &(struct gt_piece){ def, bytes }, 1);
	gt_unlock(lock, mask);
	return id;
}

static gt_ref region(const struct gt_region_info *info)
{
	struct gt_def_region def = { 0 };
	enum gt_verdict verdict = GT_VERDICT_RECORD;
	uint32_t ticket = 0;
	const char *group;
	gt_ref id;

	if (!info->internal)
		verdict = gt_verdict_region(info->name, info->canonical, info->group, &ticket);
	if (verdict == GT_VERDICT_DROP)
		return GT_NONE;
	group = gt_verdict_group(info->name, info->canonical, info->group);
	def.begin_line = info->begin_line;
	def.end_line = info->end_line;
	def.role = info->role;
	def.paradigm = info->paradigm;
	def.flags = (info->brief ? GT_REGION_BRIEF : 0) | (info->phase ? GT_REGION_PHASE : 0);
	def.address = (uintptr_t)info->address;
	def.variable = (uintptr_t)info->variable;
	id = define(GT_D_REGION, &def, sizeof(def),
		    (const char *const[]){ info->name, info->canonical, info->file, group }, 4);
	if (id && verdict == GT_VERDICT_ASK)
		gt_verdict_region_made(id, ticket);
	if (id)
		gt_path_region(id, info);
	return id;
}

gt_ref gt_def_region(const struct gt_region_info *given)
{
	struct gt_region_info info;

	if (!GT_TAKEN(info, GT_FIRST_REGION, given) || !(info.name || info.canonical) || !gt_start())
		return GT_NONE;
	return region(&info);
}

static gt_ref metric_locked(const struct gt_metric_info *info, unsigned flags)
{
	struct gt_def_metric def = { 0 };
	const char *const texts[] = { info->name, info->unit, info->group, info->description };

	texts_locked(&def, texts, 4);
	def.value = (uint8_t)info->value;
	def.mode = info->mode;
	def.scope = info->scope;
	def.scope_id = info->scope_id;
	def.exponent = info->exponent;
	def.binary = info->binary;
	def.kind = (uint8_t)((info->kind & ~GT_METRIC_SYNCHRONOUS) | flags);
	return put_locked(GT_D_METRIC, &(struct gt_piece){ &def, sizeof(def) }, 1);
}

gt_ref gt_def_metric(const struct gt_metric_info *given)
{
	struct gt_metric_info info;
	uint64_t mask;
	gt_ref id;

	if (!GT_TAKEN(info, GT_FIRST_METRIC, given) || !info.name || !begin(&mask))
		return GT_NONE;
	id = metric_locked(&info, 0);
	gt_unlock(lock, mask);
	return id;
}

/* The source's metric number i, in an array of its structs. */
static bool metric_of(const struct gt_metric_source *source, uint32_t i, struct gt_metric_info *metric)
{
	const char *first = (const char *)source->metrics;

	return gt_taken(metric, sizeof(*metric), GT_FIRST_METRIC, first + i * gt_sized(first),
			"gt_metric_source_register", (const void *)(uintptr_t)source->read);
}

static bool usable(const struct gt_metric_source *source)
{
	struct gt_metric_info metric;

	if (!source->read || !source->metrics || !source->count || source->count > GT_SOURCE_METRICS)
		return false;
	for (uint32_t i = 0; i < source->count; i++)
		if (!metric_of(source, i, &metric) || !metric.name)
			return false;
	return true;
}

static int source_locked(const struct gt_metric_source *source)
{
	gt_ref first = GT_NONE;

	if (!gt_metrics_fit(source->count))
		return -ENOSPC;
	for (uint32_t i = 0; i < source->count; i++) {
		struct gt_metric_info metric;
		gt_ref id = metric_of(source, i, &metric) ? metric_locked(&metric, GT_METRIC_SYNCHRONOUS)
							  : GT_NONE;

		if (!id)
			return -ENOSPC;
		first = i ? first : id;
	}
	gt_metrics_add(source, first);
	return 0;
}

int gt_metric_source_register(const struct gt_metric_source *given)
{
	struct gt_metric_source source;
	uint64_t mask;
	int rc;

	if (!GT_TAKEN(source, GT_FIRST_SOURCE, given))
		return -EPROTO;
	if (!usable(&source))
		return -EINVAL;
	if (!gt_start())
		return -ECANCELED;
	mask = gt_lock(lock);
	rc = mask == GT_LOCK_REFUSED ? -ECANCELED : source_locked(&source);
	gt_unlock(lock, mask);
	if (rc)
		return rc;
	gt_pin((const void *)(uintptr_t)source.open);
	gt_pin((const void *)(uintptr_t)source.read);
	gt_pin((const void *)(uintptr_t)source.close);
	gt_attention_set(GT_ATT_METRICS);
	return 0;
}

gt_ref gt_def_marker(const char *name, const char *group, unsigned severity)
{
	struct gt_def_marker def = { .severity = severity };

	return name ? define(GT_D_MARKER, &def, sizeof(def), (const char *const[]){ name, group }, 2) :
		      GT_NONE;
}

static gt_ref put_attribute(unsigned type, const char *name, const char *description,
			    enum gt_value value)
{
	struct gt_def_attribute def = { .type = value };

	return name ? define(type, &def, sizeof(def), (const char *const[]){ name, description }, 2) :
		      GT_NONE;
}

gt_ref gt_def_attribute(const char *name, const char *description, enum gt_value value)
{
	return put_attribute(GT_D_ATTRIBUTE, name, description, value);
}

gt_ref gt_def_parameter(const char *name, enum gt_value value)
{
	return put_attribute(GT_D_PARAMETER, name, NULL, value);
}

/* Communicators, windows and handles; `again`: the definition that this one replaces, or 0. */
static gt_ref put_comm(unsigned type, const char *name, struct gt_def_shared def, gt_ref again)
{
	struct gt_piece piece = { &def, sizeof(def) };
	uint64_t mask;

	if (!begin(&mask))
		return GT_NONE;
	if (name && *name)
		def.name = string_locked(name);
	if (!again)
		again = put_locked(type, &piece, 1);
	else if (gt_journal_put_locked(type, again, &piece, 1))
		again = GT_NONE;
	gt_unlock(lock, mask);
	return again;
}

static gt_ref put_named(unsigned type, const char *name, gt_ref parent, uint32_t paradigm, uint64_t key)
{
	return name ? put_comm(type, name,
			       (struct gt_def_shared){ .parent = parent, .paradigm = paradigm, .key = key },
			       0)
		    : GT_NONE;
}

gt_ref gt_def_comm(const char *name, gt_ref parent, uint32_t paradigm, uint64_t key)
{
	return put_named(GT_D_COMM, name, parent, paradigm, key);
}

gt_ref gt_def_window(const char *name, gt_ref parent, uint32_t paradigm, uint64_t key)
{
	return put_named(GT_D_WINDOW, name, parent, paradigm, key);
}

gt_ref gt_def_handle(const char *name, uint32_t paradigm, uint32_t flags)
{
	return name ? put_comm(GT_D_HANDLE, name,
			       (struct gt_def_shared){ .paradigm = paradigm, .flags = flags }, 0)
		    : GT_NONE;
}

#define RANKS_AT_ONCE 2048u /* in one record of the journal */

/* first, first + step, first + 2 * step ...: as most communicators are, that of all ranks above all. */
static bool is_progression(const uint32_t *ranks, uint32_t count)
{
	if (count < 3 || ranks[1] <= ranks[0])
		return false;
	for (uint32_t i = 2; i < count; i++)
		if (ranks[i] - ranks[i - 1] != ranks[1] - ranks[0] || ranks[i] < ranks[i - 1])
			return false;
	return true;
}

static gt_ref put_progression(uint32_t first, uint32_t step, uint32_t count)
{
	struct gt_def_group def = { .kind = 2, .count = count };
	uint32_t numbers[2] = { first, step };

	return put(GT_D_GROUP,
		   (struct gt_piece[]){ { &def, sizeof(def) }, { numbers, sizeof(numbers) } }, 2);
}

/* Each member is `width` numbers. */
static gt_ref put_list(uint32_t kind, uint32_t width, const uint32_t *ranks, uint32_t count)
{
	struct gt_def_group def = { .kind = kind };

	do {
		def.count = count < RANKS_AT_ONCE / width ? count : RANKS_AT_ONCE / width;
		def.before = put(GT_D_GROUP,
				 (struct gt_piece[]){ { &def, sizeof(def) },
						      { ranks, def.count * width * sizeof(*ranks) } }, 2);
		ranks += (size_t)def.count * width;
		count -= def.count;
	} while (count && def.before);
	return def.before;
}

gt_ref gt_def_ranks(const uint32_t *ranks, uint32_t count)
{
	if (is_progression(ranks, count))
		return put_progression(ranks[0], ranks[1] - ranks[0], count);
	return put_list(1, 1, ranks, count);
}

gt_ref gt_def_far_ranks(const uint32_t *pairs, uint32_t count)
{
	return put_list(3, 2, pairs, count);
}

gt_ref gt_def_link(const struct gt_def_link *def, const char *place)
{
	return put(GT_D_LINK,
		   (struct gt_piece[]){ { def, sizeof(*def) },
					{ place ? place : "", place ? strnlen(place, GT_NAME_MAX) : 0 },
					{ "", 1 } }, 3);
}

gt_ref gt_def_shared(enum gt_shared what, const struct gt_shared_info *given, gt_ref again)
{
	static const uint8_t types[] = { GT_D_COMM, GT_D_WINDOW, GT_D_HANDLE };
	struct gt_shared_info info;

	if ((unsigned)what >= sizeof(types) || !GT_TAKEN(info, GT_FIRST_SHARED, given))
		return GT_NONE;
	return put_comm(types[what], info.name,
			(struct gt_def_shared){ .parent = info.parent, .group = info.ranks,
					      .paradigm = info.paradigm, .flags = info.flags,
					      .remote = info.remote, .key = info.key },
			again);
}

void gt_def_topology(gt_ref comm, uint32_t count, const uint32_t *numbers)
{
	struct gt_def_topology def = { comm, count };

	if (comm && count && count <= 64)
		put(GT_D_TOPOLOGY,
		    (struct gt_piece[]){ { &def, sizeof(def) },
					 { numbers, 2 * (size_t)count * sizeof(*numbers) } }, 2);
}

GT_HIDDEN struct gt_channel gt_channels[GT_CHANNEL_SLOTS];

/* Places are filled once and for all, the id last; half of them at most. */
gt_ref gt_def_channel(gt_ref comm, uint32_t peer, uint32_t tag)
{
	const struct gt_def_channel def = { .comm = comm, .peer = peer, .tag = tag };
	struct gt_channel *c;
	uint64_t mask;
	gt_ref id;

	if (next_id[GT_D_CHANNEL] >= GT_MESSAGE_CHANNELS || !begin(&mask))
		return GT_NONE;
	id = gt_channel_find(comm, peer, tag, &c);
	if (!id && next_id[GT_D_CHANNEL] < GT_MESSAGE_CHANNELS) {
		id = put_locked(GT_D_CHANNEL, &(struct gt_piece){ &def, sizeof(def) }, 1);
		c->tag = tag;
		c->key = gt_channel_key(comm, peer);
		/* Pairs with gt_channel_find() in lib/record/record.h. */
		__atomic_store_n(&c->id, id, __ATOMIC_RELEASE);
	}
	gt_unlock(lock, mask);
	return id;
}

gt_ref gt_def_locgroup(const char *name, uint32_t kind, uint64_t key)
{
	struct gt_def_locgroup def = { .kind = kind, .key = key };

	return name ? define(GT_D_LOCGROUP, &def, sizeof(def), &name, 1) : GT_NONE;
}

gt_ref gt_def_params(const struct gt_def_param *params, unsigned count)
{
	struct gt_def_params def = { count, 0 };

	if (!count || count > 64)
		return GT_NONE;
	return put(GT_D_PARAMS,
		   (struct gt_piece[]){ { &def, sizeof(def) }, { params, count * sizeof(*params) } }, 2);
}

gt_ref gt_def_record(const char *adapter, const char *name)
{
	struct gt_def_record def;

	if (!adapter || !name)
		return GT_NONE;
	return define(GT_D_RECORD, &def, sizeof(def), (const char *const[]){ adapter, name }, 2);
}

void gt_def_property(const char *key, const char *value)
{
	if (key && value && gt_start())
		gt_put_property(key, value);
}
