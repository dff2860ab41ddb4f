/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counts the bytes that the program's allocator has given out, as malloc_usable_size() tells them, and
 * records the sum as a counter of the process.
 *
 * While a real function is being looked for, dlsym() itself may want memory: it gets some of a small
 * arena of our own, which is never given back.
 *
 * Limits: an allocator that brings malloc without malloc_usable_size is not counted. Memory that was
 * allocated before this library was loaded is not in the sum, which then stays at 0 rather than below.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include <gputrace/adapter.h>

#include "find.h"
#include "hooks.h"

#define ARENA (64u << 10)
#define HINT  3u /* severity of a marker */

GT_TLS int gt_memory_depth;
static GT_TLS const void *outermost; /* on the stack: the call with which the depth began */
int gt_memory_events;
static int64_t held;
static int ready; /* set_up() is over */
static gt_ref counter, made_marker, freed_marker; /* the markers with VT_MEMTRACE_MARKER */
static size_t (*usable)(void *);
static char arena[ARENA] __attribute__((aligned(64)));
static size_t arena_used;

/* ---- the arena -------------------------------------------------------------------------------- */

static void *take(size_t bytes)
{
	size_t need = (bytes + 16 + 63) & ~(size_t)63, at;

	if (bytes > ARENA)
		return NULL;
	at = __atomic_fetch_add(&arena_used, need, __ATOMIC_RELAXED);
	if (at + need > ARENA)
		return NULL;
	*(size_t *)(void *)(arena + at) = bytes;
	return arena + at + 16;
}

static void *take_array(size_t n, size_t bytes)
{
	return bytes && n > ARENA / bytes ? NULL : take(n * bytes);
}

static void *take_again(void *old, size_t bytes)
{
	void *fresh = take(bytes);

	if (fresh && old)
		memcpy(fresh, old, bytes); /* all of it lies in the arena */
	return fresh;
}

static void drop(void *old)
{
	(void)old;
}

int gt_memory_own(unsigned long long address)
{
	return address - (uintptr_t)arena < ARENA;
}

/* Memory for calls made while the real function is looked up. */
GT_HIDDEN void *gt_wrap_meanwhile(const char *symbol)
{
	if (!strcmp(symbol, "malloc"))
		return (void *)take;
	if (!strcmp(symbol, "calloc"))
		return (void *)take_array;
	if (!strcmp(symbol, "realloc"))
		return (void *)take_again;
	return !strcmp(symbol, "free") ? (void *)drop : NULL;
}

/* ---- the counter -------------------------------------------------------------------------------- */

static void account(int64_t change)
{
	int64_t now = __atomic_add_fetch(&held, change, __ATOMIC_RELAXED);
	gt_ref metric = __atomic_load_n(&counter, __ATOMIC_ACQUIRE);

	if (metric && gt_active())
		gt_metric_uint(metric, now > 0 ? (uint64_t)now : 0);
}

/* For counters/heap.c. -EAGAIN: nothing is counted (yet). */
GT_API int gt_memory_held(uint64_t *bytes);
int gt_memory_held(uint64_t *bytes)
{
	int64_t now = __atomic_load_n(&held, __ATOMIC_RELAXED);

	if (!__atomic_load_n(&counter, __ATOMIC_ACQUIRE))
		return -EAGAIN;
	*bytes = now > 0 ? (uint64_t)now : 0;
	return 0;
}

/* Texts that are equal are kept once. */
static void mark(gt_ref marker, uint64_t bytes)
{
	char text[32], *at = text + sizeof(text) - sizeof(" bytes");

	if (!marker || !bytes || !gt_active())
		return;
	memcpy(at, " bytes", sizeof(" bytes"));
	for (; bytes; bytes /= 10)
		*--at = (char)('0' + bytes % 10);
	gt_marker(marker, at);
}

static uint64_t size_of(unsigned long long address)
{
	return address && usable && !gt_memory_own(address) ? usable((void *)address) : 0;
}

static void set_up(void);

void gt_memory_begin(struct gt_memory_hook *hook, unsigned long long freed)
{
	int saved = errno;

	hook->gt_inside = gt_wrap_scoped(hook->gt_of) ? 2 : 1;
	if (hook->gt_inside == 1 && !gt_memory_depth++) {
		outermost = hook;
		if (gt_unlikely(!__atomic_load_n(&ready, __ATOMIC_ACQUIRE)))
			set_up();
		hook->gt_held = size_of(freed);
	}
	if (hook->gt_w) {
		gt_enter(hook->gt_w->gt_region);
		hook->gt_open = 1;
	}
	errno = saved;
}

void gt_memory_end(struct gt_memory_hook *hook, unsigned long long made)
{
	int saved = errno;
	uint64_t size;

	if (hook->gt_inside == 1 && gt_memory_depth && !--gt_memory_depth) {
		size = size_of(made);
		mark(freed_marker, hook->gt_held);
		mark(made_marker, size);
		if (size != hook->gt_held)
			account((int64_t)size - (int64_t)hook->gt_held);
	}
	hook->gt_inside = 0;
	if (hook->gt_open)
		gt_leave(hook->gt_w->gt_region);
	hook->gt_open = 0;
	errno = saved;
}

/* A handler jumps out of the allocator. */
GT_HIDDEN bool gt_wrap_jumps(const void *stack)
{
	if (gt_memory_depth && stack > outermost)
		gt_memory_depth = 0;
	return false;
}

void gt_memory_done(struct gt_memory_hook *hook)
{
	hook->gt_held = 0;
	gt_memory_end(hook, 0);
}

int gt_hook_change_begin(struct gt_memory_hook *hook, unsigned long long address, unsigned long long bytes)
{
	void *fresh;
	size_t old;

	if (gt_unlikely(gt_memory_own(address))) {
		old = *(size_t *)(void *)((char *)address - 16);
		fresh = malloc(bytes);
		if (fresh)
			memcpy(fresh, (void *)address, old < bytes ? old : bytes);
		hook->gt_answer = (uintptr_t)fresh;
		return 1;
	}
	gt_memory_begin(hook, address);
	hook->gt_answer = bytes;
	return 0;
}

void gt_hook_change_end(struct gt_memory_hook *hook, unsigned long long result)
{
	if (!result && hook->gt_answer) /* it failed: the old block is as it was */
		hook->gt_held = 0;
	gt_memory_end(hook, result);
}

/* ---- set-up --------------------------------------------------------------------------------------- */

/* malloc_usable_size is only good for the allocator that it came with. */
static void find_usable(void)
{
	void *size = dlsym(RTLD_NEXT, "malloc_usable_size"), *make = dlsym(RTLD_NEXT, "malloc");
	Dl_info of_size, of_make;

	if (size && make && dladdr(size, &of_size) && dladdr(make, &of_make) &&
	    of_size.dli_fbase == of_make.dli_fbase)
		usable = (size_t (*)(void *))size;
	else
		gt_message(1, "memory is not counted: the program's allocator does not report sizes");
}

/* Once the settings can be read: by the first call, which may be another library's constructor's. */
static void set_up(void)
{
	struct gt_metric_info info = {
		.bytes = sizeof(info),
		.name = "memory held",
		.unit = "bytes",
		.group = "memory",
		.description = "bytes allocated by malloc and similar functions",
		.value = GT_VALUE_UINT,
		.mode = GT_METRIC_ABSOLUTE_NEXT,
		.scope = 1,
	};
	const char *events = gt_setting("VT_MEMTRACE_EVENTS"), *markers = gt_setting("VT_MEMTRACE_MARKER");
	static int begun;

	if (!events || __atomic_exchange_n(&begun, 1, __ATOMIC_ACQ_REL))
		return;
	find_usable();
	gt_memory_events = events && !strcmp(events, "yes");
	if (markers && !strcmp(markers, "yes") && usable) {
		made_marker = gt_def_marker("Memory Allocation", "memory", HINT);
		freed_marker = gt_def_marker("Memory Deallocation", "memory", HINT);
	}
	if (usable)
		__atomic_store_n(&counter, gt_def_metric(&info), __ATOMIC_RELEASE);
	__atomic_store_n(&ready, 1, __ATOMIC_RELEASE); /* pairs with gt_memory_begin() */
}
