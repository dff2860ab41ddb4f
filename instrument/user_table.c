/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The program's definitions through the user API: one append-only table for all kinds, with a hash index
 * and each entry's id in the core, which is requested when first needed. So definitions work before the
 * core is ready and while recording is off.
 *
 * Limits: memory is mapped part by part, when it is needed, and never given back. Two threads that define the
 * same thing at the same moment may waste an entry, never more.
 */
#include <string.h>

#include "gputrace/hash.h"
#include "instrument/user.h"
#include "lib/common/sys.h"

#define CHAINS 8192u /* power of two */
#define TEXT_PART  65536u
/* The end of a part, where the next text does not fit, stays free. */
#define TEXT_PARTS (GT_USER_TEXT_BYTES / (TEXT_PART - GT_USER_NAME_MAX - 1) + 1)
#define TEXT_ROOM  ((size_t)TEXT_PARTS * TEXT_PART)

struct gt_user_def *gt_user_defs[GT_USER_PARTS];
static uint32_t def_count;              /* may run past GT_USER_MAX */
static uint32_t chains[CHAINS];         /* by hash: id of the latest, 0: none; then its `next` */
static char *texts[TEXT_PARTS];
static size_t text_bytes;               /* may run past the end */

static struct {
	uint64_t count;
	const char *sentence;
	int level; /* of VT_VERBOSE, from which on the sentence is printed */
} faults[GT_USER_FAULTS] = {
	[GT_USER_NULL] = { 0, "no name given; the call is ignored", 1 },
	[GT_USER_UNKNOWN] = { 0, "no such id; the call is ignored", 1 },
	[GT_USER_TYPE] = { 0, "wrong type; the call is ignored", 1 },
	[GT_USER_FULL] = { 0, "too many definitions; uses of this one are not recorded", 1 },
	[GT_USER_UNMATCHED] = { 0, "the region is not open on this thread; the call is ignored", 2 },
};

void gt_user_fault_say(enum gt_user_fault fault, const char *where)
{
	if (__atomic_fetch_add(&faults[fault].count, 1, __ATOMIC_RELAXED) == 0)
		gt_message(faults[fault].level, "%s: %s", where, faults[fault].sentence);
}

unsigned long gt_user_fault_count(enum gt_user_fault fault)
{
	return (unsigned long)__atomic_load_n(&faults[fault].count, __ATOMIC_RELAXED);
}

void gt_user_faults_forget(void)
{
	for (unsigned i = 0; i < GT_USER_FAULTS; i++)
		__atomic_store_n(&faults[i].count, 0, __ATOMIC_RELAXED);
}

/* The memory that the pointer at `part` means, mapped by whoever comes first; NULL: there is none. */
static void *part_of(void *part, size_t bytes)
{
	void **at = part, *there = __atomic_load_n(at, __ATOMIC_ACQUIRE), *mine;

	if (there)
		return there;
	mine = gt_sys_memory(bytes);
	/* Pairs with the acquire in this function. */
	if (!mine || __atomic_compare_exchange_n(at, &there, mine, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return mine;
	gt_sys_munmap(mine, bytes);
	return there;
}

/* ---- texts ---------------------------------------------------------------------------------- */

static size_t cut(struct gt_user_text text)
{
	return text.length < GT_USER_NAME_MAX ? text.length : GT_USER_NAME_MAX;
}

/* A copy of the text; NULL if there is none or no room. */
static const char *keep(struct gt_user_text text)
{
	size_t length = cut(text), at;
	char *part;

	do {
		if (!text.bytes || __atomic_load_n(&text_bytes, __ATOMIC_RELAXED) >= TEXT_ROOM)
			return NULL;
		at = __atomic_fetch_add(&text_bytes, length + 1, __ATOMIC_RELAXED);
	} while (at % TEXT_PART + length + 1 > TEXT_PART); /* would lie in two parts */
	part = at < TEXT_ROOM ? part_of(&texts[at / TEXT_PART], TEXT_PART) : NULL;
	if (!part)
		return NULL;
	part += at % TEXT_PART;
	memcpy(part, text.bytes, length); /* the NUL is there: the memory is fresh */
	return part;
}

static bool same(struct gt_user_text text, const char *kept)
{
	size_t length = cut(text);

	if (!text.bytes || !kept)
		return !text.bytes && !kept;
	return strncmp(kept, text.bytes, length) == 0 && kept[length] == '\0';
}

/* ---- index ------------------------------------------------------------------------------------ */

/* Texts are short: eight bytes at a time, the last eight overlap with those before. */
static uint64_t hash_text(uint64_t hash, const char *bytes, size_t length)
{
	uint64_t word = length;

	if (length < 8) {
		while (length--)
			word = word << 8 | (unsigned char)bytes[length];
		return gt_hash_mix(hash, word);
	}
	hash = gt_hash_mix(hash, word);
	for (; length > 8; length -= 8, bytes += 8) {
		memcpy(&word, bytes, 8);
		hash = gt_hash_mix(hash, word);
	}
	memcpy(&word, bytes + length - 8, 8);
	return gt_hash_mix(hash, word);
}

/* A region of VT_USER_START is known by its name alone: where it was first seen is no part of it. */
static uint32_t hash_of(const struct gt_user_key *key)
{
	uint64_t hash = key->kind;

	if (key->kind != GT_USER_NAMED)
		hash = gt_hash_mix(hash, (uint64_t)key->number << 32 | key->parent);
	return (uint32_t)hash_text(hash, key->name.bytes, cut(key->name));
}

static bool matches(const struct gt_user_def *def, const struct gt_user_key *key, uint32_t hash)
{
	if (def->hash != hash || def->kind != key->kind || !same(key->name, def->name))
		return false;
	return key->kind == GT_USER_NAMED ||
	       (def->number == key->number && def->parent == key->parent &&
		same(key->group, def->group) && same(key->file, def->file));
}

/*
 * The id of the key in the chain from `id` on, or 0. Who loaded that acquired what the exchange in
 * gt_user_define() released: the definitions in the chain are complete.
 */
static uint32_t search(const struct gt_user_key *key, uint32_t hash, uint32_t id)
{
	while (id && !matches(gt_user_at(id), key, hash))
		id = gt_user_at(id)->next;
	return id;
}

static uint32_t chain_of(uint32_t hash)
{
	return __atomic_load_n(&chains[hash % CHAINS], __ATOMIC_ACQUIRE);
}

static uint32_t find(const struct gt_user_key *key)
{
	uint32_t hash;

	if (!key->name.bytes || !key->name.length)
		return 0;
	hash = hash_of(key);
	return search(key, hash, chain_of(hash));
}

/*
 * A guess by the address of the text, which the text itself confirms: spares the hash where the
 * same variable comes again with the same text, as it mostly does.
 */
static uint32_t guesses[1024];

static uint32_t *guess_of(const char *bytes)
{
	return &guesses[gt_hash_word((uintptr_t)bytes) >> 54];
}

uint32_t gt_user_find_named(struct gt_user_text name)
{
	struct gt_user_key key = { .kind = GT_USER_NAMED, .name = name };
	uint32_t *guess = guess_of(name.bytes);
	uint32_t id = __atomic_load_n(guess, __ATOMIC_ACQUIRE);

	if (id && same(name, gt_user_at(id)->name))
		return id;
	id = find(&key);
	if (id)
		/* Pairs with the acquire in this function. */
		__atomic_store_n(guess, id, __ATOMIC_RELEASE); /* carries search()'s acquire on */
	return id;
}

/* Makes a new entry, not yet in the index. */
static uint32_t append(const struct gt_user_key *key, uint32_t hash)
{
	struct gt_user_def *def;
	uint32_t at;

	if (__atomic_load_n(&def_count, __ATOMIC_RELAXED) >= GT_USER_MAX)
		return 0;
	at = __atomic_fetch_add(&def_count, 1, __ATOMIC_RELAXED);
	if (at >= GT_USER_MAX)
		return 0;
	def = part_of(&gt_user_defs[at / GT_USER_PER_PART], GT_USER_PER_PART * sizeof(*def));
	if (!def)
		return 0;
	def = gt_user_at(at + 1);
	def->name = keep(key->name);
	def->group = keep(key->group);
	def->file = keep(key->file);
	if (!def->name || (key->group.bytes && !def->group) || (key->file.bytes && !def->file))
		return 0;
	def->hash = hash;
	def->number = key->number;
	def->parent = key->parent;
	__atomic_store_n(&def->kind, key->kind, __ATOMIC_RELEASE);
	return at + 1;
}

uint32_t gt_user_define(const struct gt_user_key *key, const char *where)
{
	uint32_t hash, first, id, mine = 0;

	if (!key->name.bytes || !key->name.length) {
		gt_user_fault_say(GT_USER_NULL, where);
		return 0;
	}
	hash = hash_of(key);
	for (first = chain_of(hash);;) {
		id = search(key, hash, first);
		if (id)
			return id; /* perhaps another thread's, while ours was made: ours is wasted */
		if (!mine)
			mine = append(key, hash);
		if (!mine) {
			gt_user_fault_say(GT_USER_FULL, where);
			return 0;
		}
		gt_user_at(mine)->next = first;
		/* Pairs with chain_of(). */
		if (__atomic_compare_exchange_n(&chains[hash % CHAINS], &first, mine, false, __ATOMIC_ACQ_REL,
						__ATOMIC_ACQUIRE))
			return mine;
	}
}

struct gt_user_def *gt_user_def_of(uint32_t id)
{
	struct gt_user_def *def;

	if (id - 1 >= GT_USER_MAX ||
	    !__atomic_load_n(&gt_user_defs[(id - 1) / GT_USER_PER_PART], __ATOMIC_ACQUIRE))
		return NULL;
	def = gt_user_at(id);
	return __atomic_load_n(&def->kind, __ATOMIC_ACQUIRE) == GT_USER_FREE ? NULL : def;
}

/* ---- the core's ids ---------------------------------------------------------------------------- */

static gt_ref define_region(const struct gt_user_def *def)
{
	struct gt_region_info info = {
		.bytes = sizeof(info),
		.name = def->name,
		.group = def->group ? def->group : "Application",
		.file = def->file,
		.begin_line = def->number,
		.end_line = def->number,
		.role = GT_REGION_ROLE_CODE,
		.paradigm = GT_PARADIGM_USER,
	};

	return gt_def_region(&info);
}

enum gt_value gt_user_value(const struct gt_user_def *counter)
{
	switch (counter->number) {
	case 2: /* VT_COUNT_TYPE_UNSIGNED */
		return GT_VALUE_UINT;
	case 1: /* _SIGNED, _INTEGER, _INTEGER8 */
	case 11:
	case 12:
		return GT_VALUE_INT;
	default:
		return GT_VALUE_DOUBLE;
	}
}

static gt_ref define_counter(const struct gt_user_def *def)
{
	struct gt_user_def *parent = gt_user_def_of(def->parent);
	struct gt_metric_info info = {
		.bytes = sizeof(info),
		.name = def->name,
		.unit = def->group,
		.group = parent ? parent->name : "User",
		.value = gt_user_value(def),
		.mode = GT_METRIC_ABSOLUTE_POINT,
	};

	return gt_def_metric(&info);
}

static gt_ref ask_core(const struct gt_user_def *def)
{
	switch (def->kind) {
	case GT_USER_NAMED:
	case GT_USER_REGION:
		return define_region(def);
	case GT_USER_COUNTER:
		return define_counter(def);
	case GT_USER_MARKER:
		return gt_def_marker(def->name, "Application", def->number);
	case GT_USER_COMM:
		return gt_def_comm(def->name, GT_NONE, GT_PARADIGM_USER, 0);
	default:
		return GT_NONE;
	}
}

gt_ref gt_user_ref(struct gt_user_def *def)
{
	gt_ref ref = __atomic_load_n(&def->ref, __ATOMIC_ACQUIRE), mine;

	if (ref || __atomic_load_n(&def->tries, __ATOMIC_RELAXED) >= GT_USER_TRIES)
		return ref;
	mine = ask_core(def);
	if (!mine) {
		/* Filtered, or a definition that may not wait here: only asking again can tell. */
		__atomic_fetch_add(&def->tries, 1, __ATOMIC_RELAXED);
		return __atomic_load_n(&def->ref, __ATOMIC_ACQUIRE);
	}
	/* The first one is used by all threads, so that enter and leave name the same region. */
	/* Pairs with the acquire in this function. */
	if (__atomic_compare_exchange_n(&def->ref, &ref, mine, false, __ATOMIC_RELEASE,
					__ATOMIC_ACQUIRE))
		return mine;
	return ref;
}
