/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rare half of a library's wrappers: finds the real functions, defines the regions. A copy of
 * this file is part of every wrapper project; names.h beside it says group and libraries.
 *
 * Limits: errno is the caller's. A call of a function that no object has (a weak symbol) returns 0, errno
 * ENOSYS, after one sentence. What dlerror() had to tell, and has told, is gone after a function's first
 * call, unless gt_wrap_early() has found the function before.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <gputrace/adapter.h>
#include <gputrace/syscall.h>
#include <gputrace/wrap.h>

#include "find.h"
#include "names.h"

#define ROLE_FUNCTION   1    /* OTF2_REGION_ROLE_FUNCTION */
#define LOSS_DEFINITION 11   /* GT_LOSS_DEFINITION */
#define PLACES          2048 /* of functions and the objects that call them */
/* A thread is defining the region; one that was at it when this process was forked is not here any more. */
#define BUSY            (2u | forks << 2)

/* For wrappers of what dlsym() itself calls: what serves those calls meanwhile. */
extern GT_HIDDEN void *gt_wrap_meanwhile(const char *symbol) __attribute__((weak));
extern GT_HIDDEN bool gt_wrap_jumps(const void *stack) __attribute__((weak));
GT_TLS int gt_wrap_finding;

/* The archive for the linker's --wrap has none. */
extern struct gt_wrap *const gt_wrap_table[] __attribute__((weak));

static GT_TLS int defining;
static unsigned forks; /* between the first process and this one */

static const char *const libraries[] = { GT_WRAP_LIBRARIES NULL };

/* ---- the real function ----------------------------------------------------------------------------- */

static bool contains(const struct dl_phdr_info *object, const void *address)
{
	for (unsigned i = 0; i < object->dlpi_phnum; i++)
		if (object->dlpi_phdr[i].p_type == PT_LOAD &&
		    (uintptr_t)address - object->dlpi_addr - object->dlpi_phdr[i].p_vaddr <
			    object->dlpi_phdr[i].p_memsz)
			return true;
	return false;
}

/* Stops at the function's object, or behind it at ours. */
static int look_before(struct dl_phdr_info *object, size_t size, void *data)
{
	static const char here;
	const void **found = data;

	(void)size;
	if (contains(object, *found))
		*found = NULL;
	return !*found || contains(object, &here);
}

/*
 * NULL for ours, and for one that stands before us: another wrapper's, which may have called us in search of
 * the next one.
 */
static void *foreign(void *found)
{
	const void *behind = found;

	if (found)
		dl_iterate_phdr(look_before, &behind);
	if (behind)
		gt_pin(found); /* the program may close the library that brought it, and open it again */
	return behind ? found : NULL;
}

/* The function as a library and those that it needs have it. */
static void *in_library(const char *library, int flags, const char *symbol)
{
	/* libgputrace looks at the whole process after its own dlopen() and dlclose(). */
	void *(*get)(const char *, int) = (void *(*)(const char *, int))gt_next_symbol("dlopen");
	int (*let_go)(void *) = (int (*)(void *))gt_next_symbol("dlclose");
	void *handle = (get && flags & RTLD_NOLOAD ? get : dlopen)(library, flags);
	void *found = handle ? foreign(dlsym(handle, symbol)) : NULL;

	if (handle && let_go)
		let_go(handle);
	return found;
}

static void *in_named(int flags, const char *symbol)
{
	void *found = NULL;

	for (unsigned i = 0; !found && libraries[i]; i++)
		found = in_library(libraries[i], flags, symbol);
	return found;
}

/* The n-th object of the process. */
struct nth {
	unsigned left;
	char name[2048]; /* a longer one is left out */
};

static int copy_nth(struct dl_phdr_info *info, size_t size, void *data)
{
	struct nth *nth = data;
	size_t length = strlen(info->dlpi_name);

	(void)size;
	if (nth->left--)
		return 0;
	if (length < sizeof(nth->name))
		memcpy(nth->name, info->dlpi_name, length + 1);
	return 1;
}

/* The first that is loaded at all. Looked at one by one: who walks the list may not open what is in it. */
static void *in_any(const char *symbol)
{
	struct nth nth;
	void *found = NULL;

	for (unsigned n = 0; !found; n++) {
		nth.left = n;
		nth.name[0] = 0;
		if (!dl_iterate_phdr(copy_nth, &nth))
			break;
		if (nth.name[0])
			found = in_library(nth.name, RTLD_LAZY | RTLD_NOLOAD, symbol);
	}
	return found;
}

#ifdef DLFO_STRUCT_HAS_EH_DBASE /* glibc 2.35: takes nanoseconds, and no lock */
static const struct link_map *object_of(const void *address)
{
	struct dl_find_object found;

	return _dl_find_object((void *)(uintptr_t)address, &found) ? NULL : found.dlfo_link_map;
}
#else
static const struct link_map *object_of(const void *address)
{
	struct link_map *map = NULL;
	Dl_info its;

	return dladdr1(address, &its, (void **)&map, RTLD_DL_LINKMAP) ? map : NULL;
}
#endif

/*
 * What was found for each object. The key is a hash of 64 bits: an object that is closed and another one
 * in its place differ in where their tables are. NULL: no room.
 */
static void **place_of(const struct gt_wrap *w, const struct link_map *object)
{
	static struct {
		uint64_t key;
		void *found;
	} places[PLACES];
	uint64_t key = (uintptr_t)w * 0x9e3779b97f4a7c15u, seen;

	if (object) {
		key = (key ^ (uintptr_t)object) * 0xff51afd7ed558ccdu;
		key = (key ^ key >> 32 ^ object->l_addr) * 0xc4ceb9fe1a85ec53u;
		key = (key ^ key >> 29 ^ (uintptr_t)object->l_ld) * 0x9e3779b97f4a7c15u;
	}
	key = (key ^ key >> 32) | 1;
	for (unsigned i = 0; i < 16; i++) {
		uint64_t *at = &places[(key / 2 + i) % PLACES].key;

		seen = __atomic_load_n(at, __ATOMIC_RELAXED);
		if (!seen &&
		    __atomic_compare_exchange_n(at, &seen, key, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
			seen = key;
		if (seen == key)
			return &places[(key / 2 + i) % PLACES].found;
	}
	return NULL;
}

/* The next definition behind ours in the global scope; what is found there first is what all have. */
static void *look_global(struct gt_wrap *w)
{
	void *found = foreign(dlsym(RTLD_NEXT, w->gt_symbol));

	if (!found)
		__atomic_fetch_or(&w->gt_scoped, 1, __ATOMIC_RELAXED);
	else if (!__atomic_load_n(&w->gt_scoped, __ATOMIC_RELAXED))
		/* Pairs with gt_wrap_real() and gt_wrap_known(). */
		__atomic_store_n(&w->gt_real, found, __ATOMIC_RELEASE);
	return found;
}

/*
 * As the dynamic linker would find it for the calling object: in the global scope, or in what the object
 * brought along, which others do not see. Two objects may have two functions of one name. A call that
 * is the last thing its function does comes from elsewhere, so that other loaded objects are asked, too;
 * and what is not loaded (a weak symbol) is, where `load` allows that. NULL: there is none.
 */
static void *look_for(struct gt_wrap *w, const void *caller, bool load)
{
	const struct link_map *object = object_of(caller);
	void **place = NULL, *found = NULL;

	if (__atomic_load_n(&w->gt_scoped, __ATOMIC_RELAXED)) {
		place = place_of(w, object);
		found = place ? __atomic_load_n(place, __ATOMIC_ACQUIRE) : NULL;
		if (found)
			return found;
	}
	gt_wrap_finding++;
	gt_guard();
	found = look_global(w);
	if (!found && object && object->l_name && *object->l_name)
		found = in_library(object->l_name, RTLD_LAZY | RTLD_NOLOAD, w->gt_symbol);
	if (!found)
		found = in_named(RTLD_LAZY | RTLD_NOLOAD, w->gt_symbol);
	if (!found)
		found = in_any(w->gt_symbol);
	if (!found && load && !gt_is_confined())
		found = in_named(RTLD_LAZY | RTLD_LOCAL, w->gt_symbol);
	gt_unguard();
	gt_wrap_finding--;
	if (!place && __atomic_load_n(&w->gt_scoped, __ATOMIC_RELAXED))
		place = place_of(w, object);
	if (place && found)
		/* Pairs with the acquire in this function. */
		__atomic_store_n(place, found, __ATOMIC_RELEASE);
	return found;
}

void *gt_wrap_known(struct gt_wrap *w, const void *caller)
{
	void *found = __atomic_load_n(&w->gt_real, __ATOMIC_ACQUIRE);
	int saved = errno;

	if (!found)
		found = look_for(w, caller, false);
	errno = saved;
	return found;
}

/* Copies the object that has the C library. */
static int is_libc(struct dl_phdr_info *object, size_t size, void *libc)
{
	(void)size;
	if (!contains(object, (const void *)(uintptr_t)__errno_location))
		return 0;
	memcpy(libc, object, offsetof(struct dl_phdr_info, dlpi_phnum) + sizeof(object->dlpi_phnum));
	return 1;
}

/* Of the C library, which is behind us and stays, there is no need to ask foreign(). */
void gt_wrap_early(void)
{
	struct dl_phdr_info libc = { .dlpi_phnum = 0 };
	int saved = errno;

	dl_iterate_phdr(is_libc, &libc);
	gt_wrap_finding++;
	gt_guard();
	for (struct gt_wrap *const *w = gt_wrap_table; w && *w; w++) {
		void *found = dlsym(RTLD_NEXT, (*w)->gt_symbol);

		if (found && contains(&libc, found))
			/* Pairs with gt_wrap_real() and gt_wrap_known(). */
			__atomic_store_n(&(*w)->gt_real, found, __ATOMIC_RELEASE);
	}
	gt_unguard();
	gt_wrap_finding--;
	errno = saved;
}

int gt_wrap_scoped(struct gt_wrap *w)
{
	int saved = errno;

	if (__atomic_load_n(&w->gt_real, __ATOMIC_RELAXED))
		return 0;
	if (!__atomic_load_n(&w->gt_scoped, __ATOMIC_RELAXED) && !gt_wrap_finding) {
		gt_wrap_finding++;
		gt_guard();
		look_global(w);
		gt_unguard();
		gt_wrap_finding--;
		errno = saved;
	}
	return (int)__atomic_load_n(&w->gt_scoped, __ATOMIC_RELAXED);
}

void gt_wrap_nothing(void)
{
}

void *gt_wrap_find(struct gt_wrap *w, const void *caller)
{
	int saved = errno;
	void *found;

	if (gt_wrap_finding && gt_wrap_meanwhile && (found = gt_wrap_meanwhile(w->gt_symbol)))
		return found;
	found = look_for(w, caller, true);
	if (!found && !(__atomic_fetch_or(&w->gt_scoped, 2, __ATOMIC_RELAXED) & 2))
		gt_message(0, "no library has the function %s that the program calls: its calls return 0",
			   w->gt_symbol);
	errno = found ? saved : ENOSYS;
	return found;
}

/* ---- its region ------------------------------------------------------------------------------------- */

/* Another thread defines the region: that takes microseconds, unless it does not run. */
static void wait_for(struct gt_wrap *w)
{
	const struct timespec pause = { 0, 1000000 };
	unsigned busy = BUSY;

	for (int i = 0; i < 2000; i++) {
		if (__atomic_load_n(&w->gt_state, __ATOMIC_ACQUIRE) != BUSY)
			return;
		if (gt_is_confined())
			continue;
		if (i < 1000)
			gt_raw(SYS_sched_yield);
		else
			gt_raw(SYS_nanosleep, &pause, NULL); /* libc's would be a point to cancel at */
	}
	/* It is gone, who knows how. The next call begins anew. */
	__atomic_compare_exchange_n(&w->gt_state, &busy, 0, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
	gt_lost(LOSS_DEFINITION, 2);
}

void gt_wrap_define(struct gt_wrap *w)
{
	struct gt_region_info info = {
		.bytes = sizeof(info),
		.name = w->gt_name,
		.canonical = w->gt_symbol == w->gt_name ? NULL : w->gt_symbol,
		.group = GT_WRAP_GROUP,
		.role = ROLE_FUNCTION,
		.paradigm = GT_PARADIGM_USER,
	};
	unsigned none;
	int saved = errno;

	if (defining) { /* a signal came meanwhile, and must not wait for what it interrupted */
		gt_lost(LOSS_DEFINITION, 2);
		return;
	}
	none = __atomic_load_n(&w->gt_state, __ATOMIC_ACQUIRE);
	if (none == 1 || none == BUSY ||
	    !__atomic_compare_exchange_n(&w->gt_state, &none, BUSY, 0, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE)) {
		if (none == BUSY)
			wait_for(w);
		errno = saved;
		return;
	}
	defining = 1;
	for (unsigned i = 0; w->gt_param_names && w->gt_param_names[i]; i++)
		w->gt_param[i] = gt_def_parameter(w->gt_param_names[i] + 1,
						  *w->gt_param_names[i] == 'i' ? GT_VALUE_INT
									       : GT_VALUE_UINT);
	w->gt_region = gt_def_region(&info);
	defining = 0;
	__atomic_store_n(&w->gt_state, 1, __ATOMIC_RELEASE); /* pairs with gt_wrap_ready() */
	errno = saved;
}

void gt_wrap_param(unsigned param, unsigned long long value, char kind)
{
	const uint64_t data[2] = { value, 0 };

	if (param) /* GT_T_PARAM_INT, GT_T_PARAM_UINT */
		gt_record(kind == 'i' ? 0x21 : 0x22, param, data, 1);
}

static void fork_child(void)
{
	forks++;
}

__attribute__((constructor)) static void begin(void)
{
	const struct gt_adapter adapter = {
		.bytes = sizeof(adapter),
		.abi = GT_ADAPTER_ABI,
		.name = "wrap-" GT_WRAP_GROUP,
		.fork_child = fork_child,
		.jumps = gt_wrap_jumps,
	};
	int saved = errno;

	gt_adapter_register(&adapter);
	errno = saved;
}
