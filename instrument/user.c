/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The user API for C and C++: what the macros of vt_user.h call.
 *
 * Limits: only adapter.h and lib/record/control.h are used. A region known to its place of use costs a few
 * loads, gt_active_inside(), gt_enter() and a store to the thread's stack of open regions; a region known
 * by its name a comparison of the name or a hash more. That stack knows GT_OPEN_MAX levels: deeper
 * ones are recorded, but not checked. gt_leave() itself leaves out what comes after VT_OFF.
 */
#include <errno.h>
#include <string.h>

#define VTRACE
#include "instrument/user.h"
#include "lib/common/sized.h"
#include "lib/record/control.h"
#include "vt_user.h"

static void at_end(int how)
{
	unsigned long wrong = gt_user_fault_count(GT_USER_NULL) + gt_user_fault_count(GT_USER_UNKNOWN) +
			      gt_user_fault_count(GT_USER_TYPE) + gt_user_fault_count(GT_USER_FULL);

	(void)how;
	if (wrong)
		gt_message(1,
			   "%lu calls of the user API were ignored: %lu without a name, %lu with an "
			   "unknown id, %lu of a wrong type, %lu for too many definitions",
			   wrong, gt_user_fault_count(GT_USER_NULL), gt_user_fault_count(GT_USER_UNKNOWN),
			   gt_user_fault_count(GT_USER_TYPE), gt_user_fault_count(GT_USER_FULL));
	if (gt_user_fault_count(GT_USER_UNMATCHED))
		gt_message(2, "%lu calls of VT_USER_END had no open region on their thread",
			   gt_user_fault_count(GT_USER_UNMATCHED));
}

/* The definition with this id if it is of this kind, else NULL and a fault. */
static struct gt_user_def *get(uint32_t id, enum gt_user_kind kind, const char *where)
{
	struct gt_user_def *def = gt_user_def_of(id);

	if (def && def->kind == kind)
		return def;
	gt_user_fault_say(GT_USER_UNKNOWN, where);
	return NULL;
}

static struct gt_user_text text(const char *bytes)
{
	return (struct gt_user_text){ bytes, bytes ? strlen(bytes) : 0 };
}

/* ---- regions ------------------------------------------------------------------------------------ */

#define GT_OPEN_MAX 32u

/*
 * The regions that are open on this thread, so that a leave is recorded if and only if its enter
 * was, and a leave that fits nothing is found. `id` 0 is a region that could not be defined, `ref`
 * GT_NONE one whose enter is not in the trace.
 *
 * Signal handlers may open and close regions at any point here: `depth` is raised before the entry
 * is written and lowered after it is read, so that they only touch entries above.
 */
struct entry {
	uint32_t id;
	gt_ref ref;
};

static GT_TLS struct {
	uint32_t depth;
	struct entry entry[GT_OPEN_MAX];
} open;

/*
 * Those that an adapter watches (gt_user_watch()). Their definitions have no `ref`, and neither have their
 * entries, so that only they come to the slow paths of enter() and leave(). Deeper ones are not watched.
 */
#define GT_WATCHED_MAX 8u
static const struct gt_user_watch *watch;
static GT_TLS struct {
	uint32_t count;
	uint32_t depth[GT_WATCHED_MAX]; /* of their entries */
} watched;

/*
 * In a forked child: the enters of the regions that are open are in the parent's trace, so their
 * leaves are not recorded here. The parent tells about its own wrong calls.
 */
static void in_child(void)
{
	uint32_t depth = open.depth < GT_OPEN_MAX ? open.depth : GT_OPEN_MAX;

	for (uint32_t i = 0; i < depth; i++)
		open.entry[i].ref = GT_NONE;
	watched.count = 0;
	gt_user_faults_forget();
}

__attribute__((constructor)) static void start(void)
{
	static const struct gt_adapter adapter = {
		.bytes = sizeof(adapter),
		.abi = GT_ADAPTER_ABI,
		.name = "user",
		.fork_child = in_child,
		.end = at_end, /* says what was wrong with calls */
		.ends_silently = true,
	};

	gt_adapter_register(&adapter);
}

static inline void fence(void)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

static inline gt_ref ref_of(uint32_t id)
{
	struct gt_user_def *def = gt_user_at(id);
	gt_ref ref = __atomic_load_n(&def->ref, __ATOMIC_ACQUIRE);

	return gt_likely(ref != GT_NONE) ? ref : gt_user_ref(def);
}

static bool is_region_kind(const struct gt_user_def *def)
{
	return def->kind == GT_USER_NAMED || def->kind == GT_USER_REGION;
}

/* Its reference is known to this file only from now on. GT_NONE: it is filtered. */
static gt_ref hide(struct gt_user_def *def)
{
	gt_ref ref = __atomic_load_n(&def->watched, __ATOMIC_ACQUIRE);

	if (ref)
		return ref;
	ref = gt_user_ref(def);
	__atomic_store_n(&def->watched, ref, __ATOMIC_RELEASE);
	__atomic_store_n(&def->ref, GT_NONE, __ATOMIC_RELEASE); /* pairs with ref_of() and enter() */
	return ref;
}

/* The region has no reference yet, or is watched. Returns what is to be entered: GT_NONE if it was. */
static __attribute__((noinline, cold)) gt_ref enter_first(struct gt_user_def *def)
{
	const struct gt_user_watch *w = __atomic_load_n(&watch, __ATOMIC_ACQUIRE);
	gt_ref ref;

	if (!w || !is_region_kind(def) || !w->wanted(def->name))
		return gt_user_ref(def);
	ref = hide(def);
	if (!ref || !gt_active() || watched.count == GT_WATCHED_MAX)
		return ref;
	w->enter(def->name);
	gt_enter(ref);
	watched.depth[watched.count] = open.depth;
	fence();
	watched.count++;
	return GT_NONE;
}

/* A region that has no reference, at this depth, is left: was it watched? Those inside of it end, too. */
static __attribute__((noinline, cold)) void leave_watched(uint32_t id, uint32_t depth)
{
	struct gt_user_def *def = gt_user_def_of(id);

	while (watched.count && watched.depth[watched.count - 1] >= depth) {
		bool is_it = watched.depth[watched.count - 1] == depth;

		watched.count--;
		watch->leave();
		if (is_it && def && def->watched)
			gt_leave(def->watched);
	}
}

int gt_user_watch(const struct gt_user_watch *given)
{
	static struct gt_user_watch own;
	static bool taken;
	struct gt_user_watch w;

	if (!GT_TAKEN(w, GT_FIRST_WATCH, given))
		return -EPROTO;
	if (__atomic_exchange_n(&taken, true, __ATOMIC_ACQ_REL))
		return -EBUSY;
	own = w;
	__atomic_store_n(&watch, &own, __ATOMIC_RELEASE); /* pairs with enter_first() */
	for (uint32_t id = 1; id <= GT_USER_MAX; id++) {
		struct gt_user_def *def = gt_user_def_of(id);

		if (!def)
			break;
		if (is_region_kind(def) && def->ref && w.wanted(def->name))
			hide(def);
	}
	return 0;
}

/* Its events are not recorded. A definition that was asked for in vain is one that the filter leaves out. */
static __attribute__((noinline, cold)) void miss(uint32_t id, unsigned events)
{
	const struct gt_user_def *def = gt_user_def_of(id);

	if (def && (def->ref || def->watched || !def->tries))
		gt_lost_inactive(events);
}

static inline void enter(uint32_t id)
{
	uint32_t depth = open.depth;
	gt_ref ref = GT_NONE;

	if (id && gt_active_inside()) {
		struct gt_user_def *def = gt_user_at(id);

		ref = __atomic_load_n(&def->ref, __ATOMIC_ACQUIRE);
		if (gt_unlikely(ref == GT_NONE))
			ref = enter_first(def);
		gt_enter(ref);
	} else if (id) {
		miss(id, 2); /* and its leave */
	}
	open.depth = depth + 1;
	fence();
	if (depth < GT_OPEN_MAX)
		open.entry[depth] = (struct entry){ id, ref };
}

/* The leave is not that of the innermost region: forget those above, or the leave if it fits none. */
static __attribute__((noinline, cold)) void leave_other(uint32_t id, const char *where)
{
	static bool reported;
	uint32_t depth = open.depth;
	struct gt_user_def *def = gt_user_def_of(id);
	gt_ref ref;

	if (depth > GT_OPEN_MAX) { /* too deep to be checked */
		open.depth = depth - 1;
		if (id && gt_active_inside())
			gt_leave(ref_of(id));
		return;
	}
	while (depth && open.entry[depth - 1].id != id)
		depth--;
	if (!depth) {
		gt_user_fault_say(GT_USER_UNMATCHED, where);
		return;
	}
	if (!__atomic_exchange_n(&reported, true, __ATOMIC_RELAXED))
		gt_message(2, "%s(%s): %u regions inside it were still open and are closed, too",
			   where, def ? def->name : "", open.depth - depth);
	ref = open.entry[depth - 1].ref;
	fence();
	open.depth = depth - 1;
	if (watched.count)
		leave_watched(id, depth - 1);
	gt_leave(ref);
}

static inline void leave(uint32_t id, const char *where)
{
	uint32_t depth = open.depth - 1;
	gt_ref ref;

	if (gt_unlikely(depth >= GT_OPEN_MAX || open.entry[depth].id != id)) {
		leave_other(id, where); /* none is open: depth has wrapped round */
		return;
	}
	ref = open.entry[depth].ref;
	fence();
	open.depth = depth;
	if (ref)
		gt_leave(ref);
	else if (gt_unlikely(watched.count))
		leave_watched(id, depth);
}

static inline uint32_t at_site(const struct vt_user_site *site, const char *name)
{
	/* Pairs with the release in keep_site(): the id is there if the name is. */
	if (site && __atomic_load_n(&site->name, __ATOMIC_ACQUIRE) == name)
		return site->id;
	return 0;
}

/*
 * The first name that comes to a site stays: with inlining, one site may see several literals, and
 * the others are then looked up. Whoever sets the id writes the name.
 */
static void keep_site(struct vt_user_site *site, const char *name, uint32_t id)
{
	uint32_t none = 0;

	if (site && id &&
	    __atomic_compare_exchange_n(&site->id, &none, id, false, __ATOMIC_RELAXED,
					__ATOMIC_RELAXED))
		__atomic_store_n(&site->name, name, __ATOMIC_RELEASE);
}

static uint32_t named(struct gt_user_text name, const char *file, uint32_t line)
{
	struct gt_user_key key = { .kind = GT_USER_NAMED, .name = name, .number = line };
	uint32_t id = gt_user_find_named(name);

	if (id)
		return id;
	key.file = text(file);
	id = gt_user_define(&key, "VT_USER_START");
	if (!id && name.length && gt_active_inside())
		gt_lost(GT_LOSS_DEFINITION, 2); /* this enter and its leave */
	return id;
}

void gt_user_enter(struct gt_user_text name)
{
	enter(named(name, NULL, 0));
}

void gt_user_leave(struct gt_user_text name)
{
	leave(gt_user_find_named(name), "VT_USER_END");
}

uint32_t gt_user_region(struct gt_user_text name, struct gt_user_text group,
			struct gt_user_text file, int line)
{
	struct gt_user_key key = {
		.kind = GT_USER_REGION,
		.name = name,
		.group = group.length ? group : (struct gt_user_text){ NULL, 0 },
		.file = file.length ? file : (struct gt_user_text){ NULL, 0 },
		.number = line > 0 ? (uint32_t)line : 0,
	};

	return gt_user_define(&key, "VT_USER_DEF");
}

GT_API unsigned int vt_user_enter(struct vt_user_site *site, const char *name, const char *file,
				  unsigned int line)
{
	uint32_t id = at_site(site, name);

	if (gt_unlikely(!id)) {
		id = named(text(name), file, line);
		keep_site(site, name, id);
	}
	enter(id);
	return id;
}

GT_API void vt_user_leave(struct vt_user_site *site, const char *name)
{
	uint32_t id = at_site(site, name);

	if (gt_unlikely(!id)) {
		id = gt_user_find_named(text(name));
		keep_site(site, name, id);
	}
	leave(id, "VT_USER_END");
}

GT_API unsigned int vt_user_define(const char *name, const char *group, const char *file, int line)
{
	return gt_user_region(text(name), text(group), text(file), line);
}

static bool is_region(uint32_t id, const char *where)
{
	struct gt_user_def *def = gt_user_def_of(id);

	if (def && (def->kind == GT_USER_REGION || def->kind == GT_USER_NAMED))
		return true;
	gt_user_fault_say(GT_USER_UNKNOWN, where);
	return false;
}

/* A wrong id opens a region that is not recorded, so that the one around it keeps its place. */
GT_API void vt_user_enter_id(unsigned int id)
{
	enter(is_region(id, "VT_USER_START2") ? id : 0);
}

GT_API void vt_user_leave_id(unsigned int id)
{
	leave(is_region(id, "VT_USER_END2") ? id : 0, "VT_USER_END2");
}

/* ---- control ------------------------------------------------------------------------------------ */

/* Has this thread switched its recording off, and how many regions were open there? */
static GT_TLS struct {
	bool is;
	uint32_t depth;
} off;

static bool balance_is_checked(void)
{
	const char *value = gt_setting("VT_ONOFF_CHECK_STACK_BALANCE");

	return value && strcmp(value, "yes") == 0;
}

GT_API void vt_user_off(void)
{
	off.is = true;
	off.depth = open.depth;
	gt_switch_thread(false);
}

GT_API void vt_user_on(void)
{
	static bool reported;

	if (off.is && off.depth != open.depth &&
	    balance_is_checked() && !__atomic_exchange_n(&reported, true, __ATOMIC_RELAXED))
		gt_message(1, "VT_OFF was called inside %u user regions, VT_ON inside %u: "
			      "the regions between will look too long or be missing",
			   off.depth, open.depth);
	off.is = false;
	gt_switch_thread(true);
}

GT_API int vt_user_is_on(void)
{
	return gt_is_on();
}

GT_API void vt_user_buffer_flush(void)
{
	gt_buffer_flush();
}

GT_API void vt_user_timesync(void)
{
	gt_timesync();
}

GT_API void vt_user_update_counter(void)
{
	gt_update_counters();
}

GT_API void vt_user_set_rewind_mark(void)
{
	gt_rewind_mark();
}

GT_API void vt_user_rewind(void)
{
	gt_rewind();
}

/* ---- counters ----------------------------------------------------------------------------------- */

uint32_t gt_user_count_group(struct gt_user_text name)
{
	struct gt_user_key key = { .kind = GT_USER_GROUP, .name = name };

	return gt_user_define(&key, "VT_COUNT_GROUP_DEF");
}

static bool is_count_type(int type)
{
	return (type >= VT_COUNT_TYPE_SIGNED && type <= VT_COUNT_TYPE_DOUBLE) ||
	       (type >= VT_COUNT_TYPE_INTEGER && type <= VT_COUNT_TYPE_REAL);
}

uint32_t gt_user_count(struct gt_user_text name, struct gt_user_text unit, int type, uint32_t group)
{
	struct gt_user_key key = {
		.kind = GT_USER_COUNTER,
		.name = name,
		.group = unit,
		.number = (uint32_t)type,
		.parent = group == GT_USER_DEFAULT ? 0 : group,
	};

	if (!is_count_type(type)) {
		gt_user_fault_say(GT_USER_TYPE, "VT_COUNT_DEF");
		return 0;
	}
	if (key.parent && !get(key.parent, GT_USER_GROUP, "VT_COUNT_DEF"))
		key.parent = 0; /* the counter itself is all right */
	return gt_user_define(&key, "VT_COUNT_DEF");
}

GT_API unsigned int vt_user_count_group_def(const char *name)
{
	return gt_user_count_group(text(name));
}

GT_API unsigned int vt_user_count_def(const char *name, const char *unit, int type,
				      unsigned int group)
{
	return gt_user_count(text(name), text(unit), type, group);
}

/* The core's id of a counter that takes this kind of value. */
static gt_ref counter(uint32_t id, enum gt_value value, const char *where)
{
	struct gt_user_def *def = get(id, GT_USER_COUNTER, where);

	if (!def)
		return GT_NONE;
	if (gt_user_value(def) != value) {
		gt_user_fault_say(GT_USER_TYPE, where);
		return GT_NONE;
	}
	return gt_user_ref(def);
}

GT_API void vt_user_count_signed(unsigned int id, vt_user_signed value)
{
	gt_ref ref;

	if (!gt_active_inside())
		miss(id, 1);
	else if ((ref = counter(id, GT_VALUE_INT, "VT_COUNT_SIGNED_VAL")))
		gt_metric_int(ref, value);
}

GT_API void vt_user_count_unsigned(unsigned int id, vt_user_unsigned value)
{
	gt_ref ref;

	if (!gt_active_inside())
		miss(id, 1);
	else if ((ref = counter(id, GT_VALUE_UINT, "VT_COUNT_UNSIGNED_VAL")))
		gt_metric_uint(ref, value);
}

GT_API void vt_user_count_double(unsigned int id, double value)
{
	gt_ref ref;

	if (!gt_active_inside())
		miss(id, 1);
	else if ((ref = counter(id, GT_VALUE_DOUBLE, "VT_COUNT_DOUBLE_VAL")))
		gt_metric_double(ref, value);
}

/* ---- markers ------------------------------------------------------------------------------------ */

uint32_t gt_user_marker_def(struct gt_user_text name, int type)
{
	struct gt_user_key key = {
		.kind = GT_USER_MARKER, .name = name, .number = (uint32_t)type
	};

	if (type < VT_MARKER_TYPE_ERROR || type > VT_MARKER_TYPE_HINT) {
		gt_user_fault_say(GT_USER_TYPE, "VT_MARKER_DEF");
		return 0;
	}
	return gt_user_define(&key, "VT_MARKER_DEF");
}

GT_API unsigned int vt_user_marker_def(const char *name, int type)
{
	return gt_user_marker_def(text(name), type);
}

GT_API void vt_user_marker(unsigned int id, const char *words)
{
	struct gt_user_def *def;
	gt_ref ref;

	if (!gt_active_inside()) {
		miss(id, 1);
		return;
	}
	if (!(def = get(id, GT_USER_MARKER, "VT_MARKER")))
		return;
	ref = gt_user_ref(def);
	if (ref)
		gt_marker(ref, words ? words : "");
}

/* ---- messages ----------------------------------------------------------------------------------- */

uint32_t gt_user_comm_def(struct gt_user_text name)
{
	struct gt_user_key key = { .kind = GT_USER_COMM, .name = name };

	return gt_user_define(&key, "VT_MSG_COMM_DEF");
}

GT_API unsigned int vt_user_comm_def(const char *name)
{
	return gt_user_comm_def(text(name));
}

static void message(unsigned type, uint32_t comm, uint32_t tag, uint64_t bytes, const char *where)
{
	uint64_t data[2] = { tag, bytes };
	struct gt_user_def *def;
	gt_ref ref;

	if (!gt_active_inside()) {
		gt_lost_inactive(1);
		return;
	}
	if (comm == GT_USER_DEFAULT)
		comm = vt_user_comm_def("VT_COMM_WORLD");
	def = get(comm, GT_USER_COMM, where);
	ref = def ? gt_user_ref(def) : GT_NONE;
	if (ref)
		gt_record(type, ref, data, 1);
}

GT_API void vt_user_send(unsigned int comm, unsigned int tag, vt_user_unsigned bytes)
{
	message(GT_T_USER_SEND, comm, tag, bytes, "VT_MSG_SEND");
}

GT_API void vt_user_recv(unsigned int comm, unsigned int tag, vt_user_unsigned bytes)
{
	message(GT_T_USER_RECV, comm, tag, bytes, "VT_MSG_RECV");
}

/* ---- comments ----------------------------------------------------------------------------------- */

GT_API void vt_user_comment_def(const char *words)
{
	if (!words) {
		gt_user_fault_say(GT_USER_NULL, "VT_COMMENT_DEF");
		return;
	}
	gt_def_property("comment", words); /* a process may have any number of them */
}

GT_API void vt_user_comment(const char *words)
{
	uint64_t data[2] = { 0, 0 };

	if (!words) {
		gt_user_fault_say(GT_USER_NULL, "VT_COMMENT");
		return;
	}
	if (!gt_active_inside()) {
		gt_lost_inactive(1);
		return;
	}
	data[0] = gt_def_string(words);
	if (data[0])
		gt_record(GT_T_COMMENT, 0, data, 1);
}
