/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The filter as the hooks see it: the table of verdicts and how an address gets into it.
 *
 * Limits: everything that changes the table holds `lock`; modules.c may call in here with its own lock held.
 */
#include "lib/record/verdict.h"

#include "lib/common/text.h"
#include "lib/record/record.h"
#include "lib/record/verdict_name.h"

#include <errno.h>
#include <string.h>

#define TABLE_BYTES   (GT_VERDICTS_MAX * sizeof(uint64_t))
#define FIRST_PLACES  4096u
#define INFOS_BYTES   ((size_t)GT_VERDICT_INFOS_MAX * sizeof(struct gt_verdict_info))
#define NAMES_BYTES   (16u << 20)
#define NOT_FOUND     UINT64_MAX

#ifdef __x86_64__
#define CAN_PATCH true
#else
#define CAN_PATCH false
#endif

/* A table in which nothing is found, so that nobody has to ask whether there is one. */
static uint64_t no_table[1];
GT_HIDDEN struct gt_verdicts gt_verdicts = { .mode = GT_VERDICT_UNSET, .table = no_table };
GT_HIDDEN bool gt_verdict_patches;
GT_HIDDEN uint64_t gt_dropped[GT_DROPPED_PLACES] __attribute__((aligned(64)));
GT_HIDDEN struct gt_filter *gt_verdict_filter;
GT_HIDDEN struct gt_verdict_info *gt_verdict_infos;

static struct gt_lock *const lock = &gt_locks[GT_LOCK_VERDICTS];
static uint32_t *ids;       /* beside each place of the table: index in gt_verdict_infos, or 0 */
static uint64_t used;       /* places that are not free */
static uint32_t info_count; /* infos in use; 0 is none */
static char *names;         /* of regions, for when the rank becomes known */
static uint32_t names_used;
static bool asks_paths;     /* gt_verdict_ask_paths(); atomic */
static bool full;           /* no room: functions that are not in the table are recorded */
static uint32_t looked_up, found_dropped;

/* ---- the table ------------------------------------------------------------------------------- */

/* The place of a key, or NOT_FOUND; *verdict tells what it says. Safe without the lock. */
static uint64_t find(uint64_t key, enum gt_verdict *verdict)
{
	uint64_t mask = __atomic_load_n(&gt_verdicts.mask, __ATOMIC_RELAXED);
	uint64_t place = gt_verdict_hash(key);

	for (uint64_t tries = 0; tries <= mask; tries++, place++) {
		uint64_t entry = __atomic_load_n(&gt_verdicts.table[place & mask],
						 __ATOMIC_ACQUIRE); /* pairs with put() */

		if (!entry)
			break;
		if (entry >> 2 == (key & UINT64_MAX >> 2)) {
			*verdict = (enum gt_verdict)(entry & 3);
			return place & mask;
		}
	}
	return NOT_FOUND;
}

static void put(uint64_t place, uint64_t entry, uint32_t id)
{
	__atomic_store_n(&ids[place], id, __ATOMIC_RELAXED);
	__atomic_store_n(&gt_verdicts.table[place], entry, __ATOMIC_RELEASE); /* pairs with find() */
}

void gt_verdict_settle(uint64_t key)
{
	if (!(key >> 61) && gt_verdicts.table != no_table)
		__atomic_store_n(&gt_dropped[gt_dropped_slot(key)], key, __ATOMIC_RELAXED);
}

/* Forgets the functions in [start, end). */
static void drop_no_more(uint64_t start, uint64_t end)
{
	for (uint32_t i = 0; i < GT_DROPPED_PLACES; i++)
		if (gt_dropped[i] && gt_dropped[i] >= start && gt_dropped[i] < end)
			__atomic_store_n(&gt_dropped[i], 0, __ATOMIC_RELAXED);
}

/*
 * Dropped functions are the ones that must be fast, so they take the first place of their chain
 * from one that is not dropped: that one moves to the end.
 */
static void insert(uint64_t key, enum gt_verdict verdict, uint32_t id)
{
	uint64_t home = gt_verdict_hash(key) & gt_verdicts.mask;
	uint64_t place = home, entry = key << 2 | verdict;
	uint64_t there;

	while (gt_verdicts.table[place])
		place = (place + 1) & gt_verdicts.mask;
	there = gt_verdicts.table[home];
	if (there && verdict == GT_VERDICT_DROP && (there & 3) != GT_VERDICT_DROP) {
		put(place, there, ids[home]);
		put(home, entry, id);
	} else {
		put(place, entry, id);
	}
	if (verdict == GT_VERDICT_DROP && !__atomic_load_n(&gt_verdict_patches, __ATOMIC_RELAXED))
		gt_verdict_settle(key);
	used++;
}

/* Enters everything anew, into `places` places. Who misses an entry meanwhile waits for the lock. */
static void rebuild(uint64_t places)
{
	uint64_t old = gt_verdicts.mask + 1, kept = 0;
	uint64_t *entries = gt_sys_memory(old * (sizeof(uint64_t) + sizeof(uint32_t)));
	uint32_t *old_ids = (uint32_t *)(entries + old);

	if (!entries)
		return;
	for (uint64_t i = 0; i < old; i++) {
		if (!gt_verdicts.table[i])
			continue;
		entries[kept] = gt_verdicts.table[i];
		old_ids[kept++] = ids[i];
		__atomic_store_n(&gt_verdicts.table[i], 0, __ATOMIC_RELAXED);
	}
	__atomic_store_n(&gt_verdicts.mask, places - 1, __ATOMIC_RELEASE);
	used = 0;
	for (uint64_t i = 0; i < kept; i++)
		insert(entries[i] >> 2, (enum gt_verdict)(entries[i] & 3), old_ids[i]);
	gt_sys_munmap(entries, old * (sizeof(uint64_t) + sizeof(uint32_t)));
}

/* Room for one more? A quarter full, the first place of a chain is nearly always the right one. */
static bool make_room(void)
{
	if ((used + 1) * 4 > gt_verdicts.mask + 1 && gt_verdicts.mask + 1 < GT_VERDICTS_MAX)
		rebuild(4 * (gt_verdicts.mask + 1));
	/* Free places end every search; three quarters full, that takes eight steps. */
	if (used < (gt_verdicts.mask + 1) / 4 * 3)
		return true;
	__atomic_store_n(&full, true, __ATOMIC_RELAXED);
	return false;
}

static void clear_table(void)
{
	for (uint64_t i = 0; i <= gt_verdicts.mask; i++)
		if (gt_verdicts.table[i])
			__atomic_store_n(&gt_verdicts.table[i], 0, __ATOMIC_RELAXED);
	drop_no_more(0, UINT64_MAX);
	used = 0;
	__atomic_store_n(&full, false, __ATOMIC_RELAXED);
}

/* ---- what a name means ----------------------------------------------------------------------- */

static enum gt_verdict judge(const struct gt_filter_names *n, struct gt_verdict_info *info)
{
	unsigned mode = gt_verdicts.mode;
	struct gt_filter_rule rule = { .limit = -1, .min = 1, .max = UINT32_MAX };

	if (gt_verdict_filter) {
		rule = gt_filter_rule_at(gt_verdict_filter, gt_filter_match(gt_verdict_filter, n));
		info->word = gt_filter_path_word(gt_verdict_filter, n);
	}
	info->limit = rule.limit;
	info->min = rule.min;
	info->max = rule.max;
	info->recursive = rule.recursive;
	if (mode & GT_VERDICT_DEPTH)
		return GT_VERDICT_ASK;
	if (!rule.limit && !rule.recursive)
		return GT_VERDICT_DROP;
	if (mode & GT_VERDICT_CALLEES || rule.limit > 0)
		return GT_VERDICT_ASK;
	return GT_VERDICT_RECORD;
}

/* Keeps an info; 0 when there is no more room. The key is written last (see gt_verdict_info_of). */
static uint32_t keep_info(const struct gt_verdict_info *info, uint64_t key)
{
	struct gt_verdict_info *place;

	if (info_count + 1 >= GT_VERDICT_INFOS_MAX)
		return 0;
	place = &gt_verdict_infos[++info_count];
	*place = *info;
	__atomic_store_n(&place->key, key, __ATOMIC_RELEASE); /* pairs with gt_verdict_info_of() */
	return info_count;
}

/* With the lock held: judges a function that is not in the table, and enters it there. */
static enum gt_verdict judge_function(uint64_t key, const struct gt_module_range *range)
{
	struct gt_filter_names n = { .group = "Application" };
	struct gt_verdict_info info = { 0 };
	enum gt_verdict verdict = GT_VERDICT_RECORD;
	uint32_t id = 0;

	if (!make_room())
		return GT_VERDICT_RECORD;
	if (!(key >> 61)) {
		if (range)
			info.bytes = gt_verdict_names(key, range, &n);
		verdict = judge(&n, &info);
		looked_up++;
		found_dropped += verdict == GT_VERDICT_DROP;
	}
	if (verdict == GT_VERDICT_ASK) {
		id = keep_info(&info, key);
		if (!id && !(gt_verdicts.mode & (GT_VERDICT_DEPTH | GT_VERDICT_CALLEES)))
			verdict = GT_VERDICT_RECORD;
	}
	insert(key, verdict, id);
	return verdict;
}

bool gt_verdict_known(uint64_t key, enum gt_verdict *verdict)
{
	*verdict = GT_VERDICT_RECORD;
	return gt_verdicts.table == no_table || find(key, verdict) != NOT_FOUND ||
	       __atomic_load_n(&full, __ATOMIC_RELAXED);
}

enum gt_verdict gt_verdict_judge(uint64_t key, const struct gt_module_range *range)
{
	enum gt_verdict verdict = GT_VERDICT_RECORD;
	uint64_t mask = gt_lock(lock);

	if (mask != GT_LOCK_REFUSED && find(key, &verdict) == NOT_FOUND)
		verdict = judge_function(key, range);
	gt_unlock(lock, mask);
	return verdict;
}

uint32_t gt_verdict_bytes(uint64_t key, const struct gt_module_range *range)
{
	uint64_t mask = gt_lock(lock);
	uint32_t bytes = 0;

	if (mask != GT_LOCK_REFUSED && !gt_verdict_symbol(key, range, &bytes))
		bytes = 0;
	gt_unlock(lock, mask);
	return bytes;
}

/* work, work.part.0, work.constprop.1.cold */
static bool same_origin(const char *a, const char *b)
{
	size_t length = a && b ? strcspn(a, ".") : 0;

	return length && length == strcspn(b, ".") && !memcmp(a, b, length);
}

bool gt_verdict_owns(uint64_t key, const struct gt_module_range *range, uint64_t address)
{
	uint64_t mask = gt_lock(lock);
	const char *own = NULL, *there = NULL;
	uint32_t bytes = 0;
	bool owns;

	if (mask != GT_LOCK_REFUSED) {
		own = gt_verdict_symbol(key, range, &bytes);
		there = gt_verdict_symbol(address, range, &bytes);
	}
	owns = bytes && same_origin(own, there);
	gt_unlock(lock, mask);
	return owns;
}

uint32_t gt_verdict_info_of(uint64_t key)
{
	enum gt_verdict verdict;
	uint64_t place = find(key, &verdict), mask;
	uint32_t id = 0;

	if (place != NOT_FOUND) {
		id = __atomic_load_n(&ids[place], __ATOMIC_RELAXED);
		/* The place may have changed hands since; then the key differs. */
		if (id && __atomic_load_n(&gt_verdict_infos[id].key, __ATOMIC_ACQUIRE) == key)
			return id;
	}
	mask = gt_lock(lock);
	place = mask != GT_LOCK_REFUSED ? find(key, &verdict) : NOT_FOUND;
	id = place != NOT_FOUND ? ids[place] : 0;
	gt_unlock(lock, mask);
	return id;
}

/* ---- regions --------------------------------------------------------------------------------- */

/* The lock is held. A region that has only its linker's name is matched as a function of that name is. */
static struct gt_filter_names names_of(const char *name, const char *canonical, const char *group)
{
	struct gt_filter_names n = { .name = name, .full = canonical, .group = group };

	if (!name || !*name) {
		n = (struct gt_filter_names){ .name = canonical, .group = group };
		gt_verdict_demangle(&n);
	}
	return n;
}

/* Keeps up to three strings for gt_verdict_set_rank(); 0 if there is no room. */
static uint32_t keep_names(const char *name, const char *canonical, const char *group)
{
	const char *all[3] = { name, canonical, group };
	uint32_t at = names_used;
	size_t bytes = 0;

	for (int i = 0; i < 3; i++)
		bytes += all[i] ? strlen(all[i]) + 1 : 1;
	if (!names)
		names = gt_sys_memory(NAMES_BYTES);
	if (!names || bytes > NAMES_BYTES - names_used)
		return 0;
	for (int i = 0; i < 3; i++) {
		size_t length = all[i] ? strlen(all[i]) : 0;

		if (length)
			memcpy(names + names_used, all[i], length);
		names_used += (uint32_t)length + 1; /* the memory is zero: there is the NUL */
	}
	return at + 1;
}

enum gt_verdict gt_verdict_region(const char *name, const char *canonical, const char *group,
				  uint32_t *ticket)
{
	struct gt_verdict_info info = { 0 };
	struct gt_filter_names n;
	enum gt_verdict verdict;
	bool may_change;
	uint64_t mask;

	*ticket = 0;
	if (!gt_verdict_filters() || gt_verdicts.mode & GT_VERDICT_UNSET)
		return GT_VERDICT_RECORD;
	mask = gt_lock(lock);
	if (mask == GT_LOCK_REFUSED)
		return GT_VERDICT_RECORD;
	n = names_of(name, canonical, group);
	verdict = judge(&n, &info);
	/* The rank may change the answer, and a region that was never defined cannot come back. */
	may_change = gt_verdict_filter &&
		     gt_filter_needs(gt_verdict_filter) & GT_FILTER_HAS_CLAUSES;
	if (may_change) {
		verdict = GT_VERDICT_ASK;
		info.names = keep_names(name, canonical, group);
	}
	if (verdict == GT_VERDICT_ASK)
		*ticket = keep_info(&info, 0);
	if (verdict == GT_VERDICT_ASK && !*ticket)
		verdict = GT_VERDICT_RECORD;
	gt_unlock(lock, mask);
	return verdict;
}

void gt_verdict_region_made(uint32_t ref, uint32_t ticket)
{
	uint64_t key = GT_VERDICT_REGION(ref), mask;
	enum gt_verdict verdict;

	if (!ticket || ticket > info_count)
		return;
	mask = gt_lock(lock);
	/* Pairs with gt_verdict_info_of(). */
	__atomic_store_n(&gt_verdict_infos[ticket].key, key, __ATOMIC_RELEASE);
	if (mask != GT_LOCK_REFUSED && find(key, &verdict) == NOT_FOUND && make_room())
		insert(key, GT_VERDICT_ASK, ticket);
	gt_unlock(lock, mask);
}

const char *gt_verdict_group(const char *name, const char *canonical, const char *group)
{
	struct gt_filter_names n;
	uint64_t mask;

	if (!gt_verdict_filter)
		return group;
	mask = gt_lock(lock);
	if (mask == GT_LOCK_REFUSED)
		return group;
	n = names_of(name, canonical, group);
	group = gt_filter_group(gt_verdict_filter, &n);
	gt_unlock(lock, mask);
	return group;
}

/* ---- set-up, rank, modules ------------------------------------------------------------------- */

static unsigned mode_needed(void)
{
	unsigned needs = gt_verdict_filter ? gt_filter_needs(gt_verdict_filter) : 0;
	unsigned mode = 0;

	if (needs & GT_FILTER_HAS_RULES)
		mode |= GT_VERDICT_TABLE;
	if (needs & (GT_FILTER_HAS_LIMITS | GT_FILTER_HAS_CLAUSES))
		mode |= GT_VERDICT_TABLE | GT_VERDICT_TRACK;
	if (needs & (GT_FILTER_HAS_LEVELS | GT_FILTER_HAS_PATHS) || gt_settings.max_stack_depth)
		mode |= GT_VERDICT_TABLE | GT_VERDICT_TRACK | GT_VERDICT_DEPTH;
	if (needs & GT_FILTER_HAS_RECURSIVE)
		mode |= GT_VERDICT_TABLE | GT_VERDICT_TRACK | GT_VERDICT_CALLEES;
	return mode;
}

/* A call that is switched off stays so: only if no verdict changes later, as it may with the rank. */
static bool may_patch(void)
{
	return CAN_PATCH && gt_settings.patch && gt_verdict_filter &&
	       !(gt_filter_needs(gt_verdict_filter) & GT_FILTER_HAS_CLAUSES);
}

static void set_mode(unsigned mode)
{
	__atomic_store_n(&gt_verdicts.mode, mode, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&asks_paths, __ATOMIC_SEQ_CST))
		__atomic_fetch_or(&gt_verdicts.mode, GT_VERDICT_PATHS, __ATOMIC_SEQ_CST);
}

/* The assembly reads the groups file once more, maybe when the program has gone to another folder. */
static const char *absolute(const char *path)
{
	static char whole[8192];
	long length;

	if (*path == '/')
		return path;
	length = GT_SYS2(SYS_getcwd, whole, 4096);
	if (length <= 1 || whole[0] != '/')
		return path;
	gt_text(whole + length - 1, sizeof(whole) - (size_t)length + 1, "/%s", path);
	return whole;
}

static bool make_table(void)
{
	uint64_t *table = gt_sys_memory(TABLE_BYTES);

	ids = gt_sys_memory(GT_VERDICTS_MAX * sizeof(*ids));
	gt_verdict_infos = gt_sys_memory(INFOS_BYTES);
	if (!table || !ids || !gt_verdict_infos) {
		if (table)
			gt_sys_munmap(table, TABLE_BYTES);
		if (ids)
			gt_sys_munmap(ids, GT_VERDICTS_MAX * sizeof(*ids));
		if (gt_verdict_infos)
			gt_sys_munmap(gt_verdict_infos, INFOS_BYTES);
		return false;
	}
	gt_verdicts.mask = FIRST_PLACES - 1;
	gt_verdicts.table = table;
	return true;
}

struct load {
	enum gt_filter_kind kind;
	const char *path;
	ssize_t size;
};

static int load(void *argument)
{
	struct load *l = argument;

	l->size = gt_filter_load(gt_verdict_filter, l->kind, l->path);
	return l->size == -EMFILE ? -EMFILE : 0;
}

/* Also if the program has no descriptor left. */
static void read_file(enum gt_filter_kind kind, const char *path, gt_filter_complaint *complain)
{
	struct load l = { kind, path, 0 };

	gt_folder_apart(load, &l, -1);
	gt_filter_take(gt_verdict_filter, kind, path, l.size, complain);
}

void gt_verdict_setup(gt_filter_complaint *complain)
{
	unsigned mode = 0;

	if (*gt_settings.filter_spec || *gt_settings.groups_spec) {
		gt_verdict_filter = gt_filter_new();
		if (!gt_verdict_filter && complain)
			complain("there is no memory for a filter: everything is recorded");
	}
	if (gt_verdict_filter && *gt_settings.filter_spec)
		read_file(GT_FILTER_RULES, gt_settings.filter_spec, complain);
	if (gt_verdict_filter && *gt_settings.groups_spec) {
		gt_settings.groups_spec = absolute(gt_settings.groups_spec);
		read_file(GT_FILTER_GROUPS, gt_settings.groups_spec, complain);
	}
	mode = mode_needed();
	if (mode && gt_verdicts.table == no_table && !make_table()) {
		if (complain)
			complain("there is no memory for a filter: everything is recorded");
		mode = 0;
	}
	gt_verdict_patches = may_patch();
	set_mode(mode);
}

void gt_verdict_ask_paths(void)
{
	unsigned mode = gt_verdict_mode();

	__atomic_store_n(&asks_paths, true, __ATOMIC_SEQ_CST);
	/* Pairs with set_mode(): either it sees that they are asked for, or we see its mode. */
	while (!(mode & GT_VERDICT_UNSET) &&
	       !__atomic_compare_exchange_n(&gt_verdicts.mode, &mode, mode | GT_VERDICT_PATHS, false,
					    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
		;
}

/* The rules hold differently now: regions keep their infos, functions are judged anew. */
static void judge_again(void)
{
	clear_table();
	for (uint32_t i = 1; i <= info_count; i++) {
		struct gt_verdict_info *info = &gt_verdict_infos[i];
		struct gt_verdict_info fresh = *info;
		const char *name, *canonical;
		struct gt_filter_names n;

		if (!info->names || !info->key || !make_room())
			continue;
		name = names + info->names - 1;
		canonical = name + strlen(name) + 1;
		n = names_of(name, canonical, canonical + strlen(canonical) + 1);
		judge(&n, &fresh);
		*info = fresh;
		insert(info->key, GT_VERDICT_ASK, i);
	}
}

bool gt_verdict_set_rank(int64_t rank)
{
	unsigned mode;
	uint64_t mask;
	bool on;

	if (!gt_verdict_filter || gt_verdicts.mode & GT_VERDICT_UNSET ||
	    !(gt_filter_needs(gt_verdict_filter) & GT_FILTER_HAS_CLAUSES))
		return true;
	mask = gt_lock(lock);
	if (mask == GT_LOCK_REFUSED)
		return true;
	on = gt_filter_set_rank(gt_verdict_filter, rank);
	mode = mode_needed();
	if (gt_verdicts.table != no_table) {
		set_mode(mode);
		judge_again();
	}
	gt_unlock(lock, mask);
	return on;
}

void gt_verdict_forget(uint64_t start, uint64_t end)
{
	bool gone = false;
	uint64_t mask;

	if (gt_verdicts.table == no_table)
		return;
	mask = gt_lock(lock);
	for (uint64_t i = 0; mask != GT_LOCK_REFUSED && i <= gt_verdicts.mask; i++) {
		uint64_t entry = gt_verdicts.table[i];
		uint64_t key = entry >> 2;

		if (!entry || key < start || key >= end)
			continue;
		__atomic_store_n(&gt_verdicts.table[i], 0, __ATOMIC_RELAXED);
		used--;
		gone = true;
	}
	if (gone) {
		rebuild(gt_verdicts.mask + 1); /* the chains have holes */
		drop_no_more(start, end);
		__atomic_store_n(&full, false, __ATOMIC_RELAXED);
	}
	if (mask != GT_LOCK_REFUSED)
		gt_verdict_names_forget(start, end);
	gt_unlock(lock, mask);
}

void gt_verdict_counts(uint32_t *functions, uint32_t *dropped)
{
	*functions = looked_up;
	*dropped = found_dropped;
}
