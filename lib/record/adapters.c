/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The adapters that have registered: their names and callbacks.
 *
 * Limits: they stay for as long as the process lives; their objects are pinned in memory.
 */
#include "lib/record/record.h"

#include "lib/common/sized.h"
#include "lib/common/text.h"
#include "lib/record/control.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <string.h>

#define MOST  256 /* each library wrapper is one */
static struct gt_adapter adapters[MOST];
static unsigned count; /* atomic for readers outside the lock; entries below it do not change */
static bool named[MOST]; /* atomic: it is among the process's properties */
static struct gt_lock lock;
static uint32_t ended;    /* threads of the program's that want the adapters' ended; atomic */
static uint32_t changing; /* one of them sees to it now */
static uint32_t refused;  /* definitions, and adapters, that the process does not know as lost yet; atomic */
static bool said;         /* why; atomic */
static bool threads_matter; /* an adapter wants to know of the program's; atomic */
static int own;           /* threads of their own, at most as many as there are; atomic */
GT_EARLY void *gt_next_symbol(const char *symbol)
{
	return dlsym(RTLD_NEXT, symbol);
}

/* Where the C library is, which every program has from its start to its end. */
static ElfW(Addr) libc_at(void)
{
	struct link_map *map = NULL;
	Dl_info info;

	return dladdr1((void *)(uintptr_t)__errno_location, &info, (void **)&map, RTLD_DL_LINKMAP) && map
		       ? map->l_addr
		       : 0;
}

/* Can it never be unloaded? Asked of its dynamic section, because dlopen() allocates: the program's allocator
 * may be setting itself up just now, under a lock, and what it calls for that may be what brought us here. */
static bool stays(const struct link_map *map)
{
	const ElfW(Dyn) *entry = map->l_ld;

	if (!map->l_name || !*map->l_name) /* the program itself */
		return true;
	for (; entry && entry->d_tag != DT_NULL; entry++)
		if (entry->d_tag == DT_FLAGS_1 && entry->d_un.d_val & DF_1_NODELETE)
			return true;
	return map->l_addr == libc_at(); /* the last: all symbols of the C library are looked at for this */
}

void gt_pin(const void *address)
{
	void *(*open)(const char *, int);
	struct link_map *map = NULL;
	Dl_info info;

	if (!address || !dladdr1(address, &info, (void **)&map, RTLD_DL_LINKMAP) || !map || stays(map))
		return;
	open = (void *(*)(const char *, int))gt_next_symbol("dlopen");
	if (open)
		open(map->l_name, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

bool gt_devices; /* atomic */

static bool known(const char *name)
{
	for (unsigned i = 0; i < count; i++)
		if (!strcmp(adapters[i].name, name))
			return true;
	return false;
}

static int add(const struct gt_adapter *adapter)
{
	if (known(adapter->name))
		return -EALREADY;
	if (count == MOST)
		return -ENOSPC;
	adapters[count] = *adapter;
	/* Pairs with the loads of count in this file. */
	__atomic_store_n(&count, count + 1, __ATOMIC_RELEASE);
	return 0;
}

/* Counted once there is something to count in. */
static void count_refused(void)
{
	uint32_t n = __atomic_exchange_n(&refused, 0, __ATOMIC_RELAXED);

	if (n)
		gt_count_lost(GT_LOSS_DEFINITION, n);
}

static void refuse(const char *sentence)
{
	if (!__atomic_exchange_n(&said, true, __ATOMIC_RELAXED))
		gt_message(1, "%s", sentence);
	__atomic_fetch_add(&refused, 1, __ATOMIC_RELAXED);
	if (gt_state_now() == GT_READY)
		count_refused();
}

bool gt_taken(void *copy, size_t bytes, size_t first, const void *given, const char *function,
	      const void *caller)
{
	char sentence[700];

	if (gt_sized_in(copy, bytes, first, given))
		return true;
	if (given)
		refuse(gt_sized_refusal(sentence, sizeof(sentence), function, gt_sized(given), first,
					caller));
	return false;
}

static void refuse_abi(const struct gt_adapter *adapter)
{
	char sentence[700];

	gt_text(sentence, sizeof(sentence),
		"%s: gt_adapter_register() got version %lu of the interface (abi), and this gputrace has %u: "
		"compile it with the installed headers; nothing of it is recorded",
		gt_sized_object(adapter), (unsigned long)adapter->abi, GT_ADAPTER_ABI);
	refuse(sentence);
}

int gt_adapter_register(const struct gt_adapter *given)
{
	struct gt_adapter adapter;
	uint64_t mask;
	int rc;

	if (!gt_taken(&adapter, sizeof(adapter), GT_FIRST_ADAPTER, given, __func__, given))
		return -EPROTO;
	if (adapter.abi != GT_ADAPTER_ABI) {
		refuse_abi(given);
		return -EPROTO;
	}
	mask = gt_lock(&lock);
	rc = mask == GT_LOCK_REFUSED ? -EBUSY : add(&adapter);
	gt_unlock(&lock, mask);
	if (rc == -ENOSPC)
		gt_message(1, "more than %u adapters: no properties and no fork callback for %s",
			   MOST, adapter.name);
	if (rc)
		return rc;
	/* Who registers runs in its constructor and cannot go away before this is done. */
	gt_pin(adapter.name);
	gt_pin((const void *)(uintptr_t)adapter.fork_child);
	gt_pin((const void *)(uintptr_t)adapter.end);
	gt_pin((const void *)(uintptr_t)adapter.inside);
	if (adapter.jumps) {
		gt_pin((const void *)(uintptr_t)adapter.jumps);
		__atomic_store_n(&gt_jumps_matter, true, __ATOMIC_RELAXED);
	}
	if (adapter.holds) {
		gt_pin((const void *)(uintptr_t)adapter.holds);
		__atomic_store_n(&gt_devices, true, __ATOMIC_RELAXED);
	}
	if (adapter.thread) {
		gt_pin((const void *)(uintptr_t)adapter.thread);
		__atomic_store_n(&threads_matter, true, __ATOMIC_RELAXED);
	}
	if (gt_state_now() == GT_READY)
		gt_adapters_list();
	return 0;
}

void gt_adapters_list(void)
{
	unsigned n = __atomic_load_n(&count, __ATOMIC_ACQUIRE);

	count_refused();
	for (unsigned i = 0; i < n; i++)
		if (!__atomic_exchange_n(&named[i], true, __ATOMIC_RELAXED))
			gt_put_property("adapter", adapters[i].name);
}

bool gt_adapters_have(const char *name)
{
	return known(name);
}

void gt_adapters_forked(void)
{
	lock = (struct gt_lock){ 0 }; /* an entry that another thread was writing does not count yet */
	memset(named, 0, sizeof(named));
	ended = changing = own = 0;
	for (unsigned i = 0; i < count; i++)
		if (adapters[i].fork_child)
			adapters[i].fork_child();
}

void gt_adapters_fork_returns(void)
{
	unsigned n = __atomic_load_n(&count, __ATOMIC_ACQUIRE);

	for (unsigned i = 0; i < n; i++)
		if (adapters[i].fork_returns)
			adapters[i].fork_returns();
}

void gt_adapters_end(int how)
{
	unsigned n = __atomic_load_n(&count, __ATOMIC_ACQUIRE);

	for (unsigned i = 0; i < n; i++)
		if (adapters[i].end)
			adapters[i].end(how);
}

void gt_adapters_end_silently(int how)
{
	unsigned n = __atomic_load_n(&count, __ATOMIC_ACQUIRE);

	for (unsigned i = 0; i < n; i++)
		if (adapters[i].end && adapters[i].ends_silently)
			adapters[i].end(how);
}

bool gt_adapters_record_end(void)
{
	unsigned n = __atomic_load_n(&count, __ATOMIC_ACQUIRE);

	while (n && (!adapters[n - 1].end || adapters[n - 1].ends_silently))
		n--;
	return n;
}

void gt_adapters_thread(bool begins)
{
	unsigned n = __atomic_load_n(&threads_matter, __ATOMIC_RELAXED)
			     ? __atomic_load_n(&count, __ATOMIC_ACQUIRE)
			     : 0;

	for (unsigned i = 0; i < n; i++)
		if (adapters[i].thread)
			adapters[i].thread(begins);
}

static void call_threads(bool on)
{
	unsigned n = __atomic_load_n(&count, __ATOMIC_ACQUIRE);

	for (unsigned i = 0; i < n; i++)
		if (adapters[i].threads)
			adapters[i].threads(on);
}

/* Several of the program's threads may want it at once, each for a while. */
void gt_adapters_threads(bool on)
{
	uint64_t mask;

	if (!gt_is_our_process())
		return;
	mask = gt_signals_block();
	while (__atomic_exchange_n(&changing, 1, __ATOMIC_ACQUIRE))
		gt_sys_sleep_us(50);
	if (__atomic_fetch_add(&ended, on ? -1u : 1u, __ATOMIC_RELAXED) == on && !gt_sys_refused() &&
	    gt_takes_part())
		call_threads(on);
	__atomic_store_n(&changing, 0, __ATOMIC_RELEASE); /* pairs with the acquire in this function */
	gt_signals_restore(mask);
}

/* ---- threads of adapters' own ---------------------------------------------------------------------- */

/*
 * How many threads libc ends before it ends the process, these included. It has no function for this, but the
 * number itself, for debuggers (GLIBC_PRIVATE). Not of use is what the kernel says: it counts io_uring's
 * workers, too.
 */
static const unsigned *all_threads;

void gt_own_thread(int change)
{
	if (change > 0 && !all_threads)
		__atomic_store_n(&all_threads, gt_next_symbol("__nptl_nthreads"), __ATOMIC_RELAXED);
	__atomic_fetch_add(&own, change, __ATOMIC_SEQ_CST);
}

/* Are there, beside them, at most `others`? One that ends before it is counted makes them fewer than 0. */
static bool only_own_and(unsigned others)
{
	int n = __atomic_load_n(&own, __ATOMIC_SEQ_CST);
	const unsigned *all = __atomic_load_n(&all_threads, __ATOMIC_RELAXED);

	return n > 0 && all && __atomic_load_n(all, __ATOMIC_SEQ_CST) <= (unsigned)n + others;
}

bool gt_own_threads_only(void)
{
	return only_own_and(0);
}

void gt_adapters_thread_ends(void)
{
	if (gt_unlikely(only_own_and(1)))
		gt_adapters_threads(false);
}

/* ---- jumps, devices ---------------------------------------------------------------------------------- */

GT_HIDDEN bool gt_jumps_matter;

static bool anybody_stays(const void *stack)
{
	unsigned n = __atomic_load_n(&count, __ATOMIC_ACQUIRE);
	bool stays = false;

	for (unsigned i = 0; i < n; i++)
		stays |= adapters[i].jumps && adapters[i].jumps(stack);
	return stays;
}

/* The adapter that keeps gt_depth without gt_guard() (call.h) says itself what is over. */
void gt_jumps(const void *stack)
{
	if (!anybody_stays(stack) && (const char *)stack > gt_guard_frame) {
		gt_depth = 0;
		gt_guard_frame = NULL;
	}
}

bool gt_on_device(const void *address)
{
	unsigned n = __atomic_load_n(&count, __ATOMIC_ACQUIRE);

	for (unsigned i = 0; address && i < n; i++)
		if (adapters[i].holds && adapters[i].holds(address))
			return true;
	return false;
}

bool gt_inside(void)
{
	unsigned n = __atomic_load_n(&count, __ATOMIC_ACQUIRE);

	for (unsigned i = 0; i < n; i++)
		if (adapters[i].inside && adapters[i].inside())
			return true;
	return false;
}
