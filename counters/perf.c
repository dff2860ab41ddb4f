/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counters of the kernel's perf_event interface, of the calling thread: hardware, caches, software, raw
 * codes.
 *
 * Those of one thread are one group, which the kernel has on the processor all the time or not at all
 * (pinned): values are never estimated from a part of the time. What does not fit beside the others begins a
 * group of its own; if the processor has no room for that, open() says so. A group is read with one read(),
 * or, where the kernel lets the thread (cap_user_rdpmc), without a system call from the page that it shares.
 *
 * Limits: hardware counts user mode only; what is inherited by children or other threads is theirs. The
 * descriptors are out of the program's way (gt_descriptor_away()), and where there is no room for that its
 * readings are lost; one that it closed all the same is not used again, whatever has its number since.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "counters/counters.h"
#include "counters/perf.h"
#include "gputrace/syscall.h"

#define TYPE_SHIFT 56   /* in the id of a metric: type, and the code below */
#define ID(type, config) ((uint64_t)(type) << TYPE_SHIFT | (config))
#define PAGE       4096u

static const struct event {
	const char *name, *description, *unit;
	uint64_t id;
} events[] = {
#define HW(name, code, what) { name, what, "#", ID(PERF_TYPE_HARDWARE, PERF_COUNT_HW_##code) },
#define SW(name, code, what) { name, what, "#", ID(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_##code) },
#define NS(name, code, what) { name, what, "ns", ID(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_##code) },
	HW("cycles", CPU_CYCLES, "cycles of the processor")
	HW("instructions", INSTRUCTIONS, "instructions that were completed")
	HW("cache-references", CACHE_REFERENCES, "accesses of the last level of cache")
	HW("cache-misses", CACHE_MISSES, "of these, those that went to memory")
	HW("branches", BRANCH_INSTRUCTIONS, "branches that were completed")
	HW("branch-misses", BRANCH_MISSES, "of these, those that were predicted wrongly")
	HW("bus-cycles", BUS_CYCLES, "cycles of the bus")
	HW("stalled-cycles-frontend", STALLED_CYCLES_FRONTEND, "cycles without an instruction to begin")
	HW("stalled-cycles-backend", STALLED_CYCLES_BACKEND, "cycles in which none could be completed")
	HW("ref-cycles", REF_CPU_CYCLES, "cycles at the nominal rate")
	NS("cpu-clock", CPU_CLOCK, "time, by a clock of the processor")
	NS("task-clock", TASK_CLOCK, "time on a processor")
	SW("page-faults", PAGE_FAULTS, "page faults")
	SW("context-switches", CONTEXT_SWITCHES, "context switches")
	SW("cpu-migrations", CPU_MIGRATIONS, "moves to another processor")
	SW("minor-faults", PAGE_FAULTS_MIN, "page faults without I/O")
	SW("major-faults", PAGE_FAULTS_MAJ, "page faults with I/O")
	SW("alignment-faults", ALIGNMENT_FAULTS, "accesses that the kernel had to align")
	SW("emulation-faults", EMULATION_FAULTS, "instructions that the kernel had to emulate")
};
#define EVENTS (sizeof(events) / sizeof(events[0]))
static const struct {
	const char *name, *meant;
} aliases[] = { { "cpu-cycles", "cycles" },
		{ "branch-instructions", "branches" },
		{ "faults", "page-faults" },
		{ "cs", "context-switches" },
		{ "migrations", "cpu-migrations" } };
/* L1-dcache-load-misses: cache, access, result, as in the kernel's enumerations. */
static const char *const caches[] = { "L1-dcache", "L1-icache", "LLC", "dTLB", "iTLB", "branch", "node" };
static const char *const accesses[] = { "loads",  "load-misses", "stores", "store-misses", "prefetches",
					"prefetch-misses" };

/* ---- the system ---------------------------------------------------------------------------------- */

static int sys_open(struct perf_event_attr *attr, int cpu, int group)
{
	int fd = (int)gt_raw(SYS_perf_event_open, attr, cpu < 0 ? 0 : -1, cpu, group, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? fd : gt_descriptor_away(fd);
}

/* Nothing but perf events knows this call: asking another file does nothing to it. */
static uint64_t sys_id(int fd)
{
	uint64_t id = 0;

	return gt_raw(SYS_ioctl, fd, PERF_EVENT_IOC_ID, &id) ? 0 : id;
}

static long sys_read(int fd, void *data, size_t bytes)
{
	return gt_raw(SYS_read, fd, data, bytes);
}

static void *sys_map(int fd)
{
	long page = gt_raw(SYS_mmap, 0, PAGE, PROT_READ, MAP_SHARED, fd, 0);

	return page < 0 && page > -4096 ? NULL : (void *)page;
}

static void sys_close(int fd)
{
	gt_raw(SYS_close, fd);
}

static void sys_unmap(void *page)
{
	gt_raw(SYS_munmap, page, PAGE);
}

#if defined(__x86_64__)
static uint64_t sys_counter(uint32_t index)
{
	uint32_t low, high;

	__asm__ volatile("rdpmc" : "=a"(low), "=d"(high) : "c"(index));
	return (uint64_t)high << 32 | low;
}
#else
#define sys_counter NULL /* read() it is */
#endif

struct gt_cn_perf_system gt_cn_perf_system = { sys_open,  sys_id,    sys_read,   sys_map,
					       sys_close, sys_unmap, sys_counter };

static bool is_own(const struct gt_cn_event *event)
{
	return event->fd >= 0 && gt_cn_perf_system.id(event->fd) == event->id;
}

int gt_cn_event_open(struct gt_cn_event *event, struct perf_event_attr *attr, int cpu,
		     const struct gt_cn_event *group)
{
	int fd = group && !is_own(group) ? -EBADF : gt_cn_perf_system.open(attr, cpu, group ? group->fd : -1);

	event->id = fd < 0 ? 0 : gt_cn_perf_system.id(fd);
	event->trust = 0;
	event->fd = fd < 0 || event->id ? fd : -EBADF; /* it is not ours any more */
	return event->fd < 0 ? event->fd : 0;
}

/* Is it, or was it just now? To ask takes half as long as to read. */
static bool is_still_own(struct gt_cn_event *event)
{
	uint64_t now = event->trust ? gt_now() : 0;

	if (event->trust && now - event->asked < event->trust)
		return true;
	event->asked = now;
	if (event->trust == GT_CN_TRUST) /* a tick was not known to be more or less than 1 ns */
		event->trust = gt_cn_ticks(GT_CN_TRUST);
	return is_own(event);
}

long gt_cn_event_read(struct gt_cn_event *event, void *data, size_t bytes)
{
	return is_still_own(event) ? gt_cn_perf_system.read(event->fd, data, bytes) : -EBADF;
}

void gt_cn_event_close(struct gt_cn_event *event)
{
	if (is_own(event))
		gt_cn_perf_system.close(event->fd);
	event->fd = -1;
}

/* ---- names ------------------------------------------------------------------------------------------ */

static void describe(const char *name, uint64_t id, const char *description, const char *unit,
		     struct gt_plugin_metric *metric)
{
	metric->id = id;
	gt_cn_text(metric->name, sizeof(metric->name), name);
	gt_cn_text(metric->description, sizeof(metric->description), description);
	gt_cn_text(metric->unit, sizeof(metric->unit), unit);
	metric->value = GT_PLUGIN_UINT;
	metric->mode = GT_PLUGIN_ACCUMULATED;
	metric->base = GT_PLUGIN_DECIMAL;
	metric->scope = GT_PLUGIN_THREAD;
}

static void cache_event(unsigned cache, unsigned access, struct gt_plugin_metric *metric)
{
	char name[64], what[128];

	snprintf(name, sizeof(name), "%s-%s", caches[cache], accesses[access]);
	snprintf(what, sizeof(what), "%s of the cache %s", accesses[access], caches[cache]);
	describe(name, ID(PERF_TYPE_HW_CACHE, cache | access / 2 << 8 | (access & 1) << 16), what, "#",
		 metric);
}
#define CACHES   (sizeof(caches) / sizeof(caches[0]))
#define ACCESSES (sizeof(accesses) / sizeof(accesses[0]))

/* rXXXX: a code of the processor, up to 56 bits. */
static bool raw_event(const char *name, struct gt_plugin_metric *metric)
{
	char *end;
	uint64_t code;

	if (name[0] != 'r' || !strchr("0123456789abcdefABCDEF", name[1]) || !name[1])
		return false;
	code = strtoull(name + 1, &end, 16);
	if (*end || code >> TYPE_SHIFT)
		return false;
	describe(name, ID(PERF_TYPE_RAW, code), "code of the processor", "#", metric);
	return true;
}

static bool parse(const char *name, struct gt_plugin_metric *metric)
{
	for (unsigned i = 0; i < sizeof(aliases) / sizeof(aliases[0]); i++)
		if (!strcmp(name, aliases[i].name))
			name = aliases[i].meant;
	for (unsigned i = 0; i < EVENTS; i++)
		if (!strcmp(name, events[i].name)) {
			describe(name, events[i].id, events[i].description, events[i].unit, metric);
			return true;
		}
	for (unsigned i = 0; i < CACHES * ACCESSES; i++) {
		cache_event(i / ACCESSES, i % ACCESSES, metric);
		if (!strcmp(name, metric->name))
			return true;
	}
	return raw_event(name, metric);
}

/* ---- opening ------------------------------------------------------------------------------------------- */

/* One of a thread. They are not given back but used again, so that a forked child finds what it has of
 * them. */
struct set {
	struct set *next;
	bool used;              /* atomic */
	unsigned count;
	bool shared;            /* all of them can be read from their pages */
	bool dead;              /* the program closed a descriptor */
	struct {
		struct gt_cn_event event;
		unsigned leader, members; /* of a leader: how many they are with it */
		struct perf_event_mmap_page *page;
	} at[GT_PLUGIN_METRICS];
};

static struct set *sets; /* atomic; a new one is put before the others */

static struct set *take_set(void)
{
	struct set *set = __atomic_load_n(&sets, __ATOMIC_ACQUIRE);

	for (; set; set = set->next)
		if (!__atomic_exchange_n(&set->used, true, __ATOMIC_ACQUIRE))
			break;
	if (!set) {
		set = gt_raw_memory(sizeof(*set), MAP_PRIVATE);
		if (!set)
			return NULL;
		set->used = true;
		set->next = __atomic_load_n(&sets, __ATOMIC_ACQUIRE);
		/* Pairs with the acquire in this function. */
		while (!__atomic_compare_exchange_n(&sets, &set->next, set, false, __ATOMIC_RELEASE,
						    __ATOMIC_ACQUIRE))
			continue;
	}
	set->count = 0;
	set->shared = true;
	set->dead = false;
	return set;
}

static int open_event(struct gt_cn_event *event, uint64_t id, const struct gt_cn_event *group)
{
	struct perf_event_attr attr = { .size = sizeof(attr), .type = (uint32_t)(id >> TYPE_SHIFT),
					.config = id & ((UINT64_C(1) << TYPE_SHIFT) - 1) };
	int rc;

	attr.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED |
			   PERF_FORMAT_TOTAL_TIME_RUNNING;
	attr.exclude_kernel = attr.exclude_hv = attr.type != PERF_TYPE_SOFTWARE;
	attr.pinned = !group;
	rc = gt_cn_event_open(event, &attr, -1, group);
	/* Without the right to see the kernel these count what the thread does in user mode. */
	if (rc == -EACCES && attr.type == PERF_TYPE_SOFTWARE &&
	    attr.config != PERF_COUNT_SW_CONTEXT_SWITCHES && attr.config != PERF_COUNT_SW_CPU_MIGRATIONS) {
		attr.exclude_kernel = attr.exclude_hv = 1;
		rc = gt_cn_event_open(event, &attr, -1, group);
	}
	return rc;
}

/* Why it cannot be counted here. */
static void explain(int error, uint64_t id, char *why, size_t room)
{
	char level[16];

	if (error == -EACCES || error == -EPERM) {
		gt_cn_read_text("/proc/sys/kernel/perf_event_paranoid", level, sizeof(level));
		level[strcspn(level, "\n")] = '\0';
		snprintf(why, room, "no permission (perf_event_paranoid is %s)", level[0] ? level : "?");
	} else if (error == -ENOSYS) {
		gt_cn_text(why, room, "the kernel offers no perf events");
	} else if (id >> TYPE_SHIFT != PERF_TYPE_SOFTWARE) {
		gt_cn_text(why, room,
			   "the processor offers no such counter to this system (a virtual machine?)");
	} else {
		gt_cn_text(why, room, "the kernel does not count it");
	}
}

static bool offered(const struct gt_plugin_metric *metric, char *why, size_t room)
{
	struct gt_cn_event event;
	int rc = open_event(&event, metric->id, NULL);

	if (!rc)
		gt_cn_event_close(&event);
	else
		explain(rc, metric->id, why, room);
	return !rc;
}

static void close_set(void *state)
{
	struct set *set = state;

	for (unsigned i = 0; i < set->count; i++) {
		if (set->at[i].page)
			gt_cn_perf_system.unmap(set->at[i].page);
		gt_cn_event_close(&set->at[i].event);
	}
	__atomic_store_n(&set->used, false, __ATOMIC_RELEASE); /* pairs with take_set() */
}

/* The descriptors count threads of the parent; the pages are not in the child. */
static void forked(void)
{
	for (struct set *set = sets; set; set = set->next) {
		for (unsigned i = 0; set->used && i < set->count; i++)
			gt_cn_event_close(&set->at[i].event);
		set->used = false;
	}
}

static int read_set(void *state, uint64_t *values, unsigned count);

/* Linux brings clocks up to date only if they lead the group that is read (seen with 6.18). */
static bool is_clock(uint64_t id)
{
	return id == ID(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK) ||
	       id == ID(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK);
}

static int open_one(struct set *set, uint64_t id)
{
	unsigned i = set->count, leader = i ? set->at[i - 1].leader : 0;
	struct gt_cn_event *event = &set->at[i].event;
	int rc = -EINVAL;

	if (i && !is_clock(id))
		rc = open_event(event, id, &set->at[leader].event);
	if (rc) {
		rc = open_event(event, id, NULL);
		leader = i;
	}
	if (rc)
		return rc;
	set->at[i].leader = leader;
	set->at[i].members = 0;
	set->at[leader].members++;
	if (event->fd >= GT_CN_HIGH) {
		event->trust = gt_cn_ticks(GT_CN_TRUST);
		event->asked = gt_now() - event->trust;
	}
	set->at[i].page = gt_cn_perf_system.counter ? gt_cn_perf_system.map(event->fd) : NULL;
	set->shared &= set->at[i].page && set->at[i].page->cap_user_rdpmc && set->at[i].page->index;
	set->count++;
	return 0;
}

static int open_set(const uint64_t *ids, unsigned count, unsigned flags, void **state)
{
	uint64_t values[GT_PLUGIN_METRICS];
	struct set *set = take_set();
	int rc = 0;

	(void)flags;
	if (!set)
		return -ENOMEM;
	for (unsigned i = 0; !rc && i < count; i++)
		rc = open_one(set, ids[i]);
	if (!rc)
		rc = read_set(set, values, count);
	if (rc) {
		close_set(set);
		return rc;
	}
	*state = set;
	return 0;
}

/* ---- reading ------------------------------------------------------------------------------------- */

/* From the page, as the kernel's header has it; false: it is on no counter now. */
static bool read_page(const struct perf_event_mmap_page *page, uint64_t *value)
{
	uint32_t sequence, index;
	uint64_t offset, enabled, running;
	int64_t part;

	do {
		sequence = __atomic_load_n(&page->lock, __ATOMIC_ACQUIRE);
		index = page->index;
		if (!index || !page->cap_user_rdpmc)
			return false;
		offset = (uint64_t)page->offset;
		enabled = page->time_enabled;
		running = page->time_running;
		part = (int64_t)(gt_cn_perf_system.counter(index - 1) << (64 - page->pmc_width));
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
	} while (__atomic_load_n(&page->lock, __ATOMIC_RELAXED) != sequence);
	*value = offset + (uint64_t)(part >> (64 - page->pmc_width));
	return enabled == running;
}

static bool read_pages(const struct set *set, uint64_t *values)
{
	for (unsigned i = 0; i < set->count; i++)
		if (!read_page(set->at[i].page, &values[i]))
			return false;
	return true;
}

static int read_group(struct set *set, unsigned first, unsigned n, uint64_t *values)
{
	struct {
		uint64_t count, enabled, running, values[GT_PLUGIN_METRICS];
	} data;
	const long whole = (long)((3 + n) * sizeof(uint64_t));
	long bytes = gt_cn_event_read(&set->at[first].event, &data, (size_t)whole);

	if (gt_unlikely(bytes != whole || data.count != n)) {
		set->dead |= bytes < 0 && bytes != -EINTR;
		return bytes < 0 ? (int)bytes : -ENOSPC; /* 0 bytes: it is on no counter any more */
	}
	if (gt_unlikely(data.enabled != data.running))
		return -EBUSY;
	for (unsigned i = 0; i < n; i++) /* without a call of memcpy() */
		__atomic_store_n(&values[i], data.values[i], __ATOMIC_RELAXED);
	return 0;
}

static int read_set(void *state, uint64_t *values, unsigned count)
{
	struct set *set = state;
	int rc = 0;

	(void)count;
	if (set->dead)
		return -EBADF;
	if (set->shared && read_pages(set, values))
		return 0;
	for (unsigned first = 0; !rc && first < set->count; first += set->at[first].members)
		rc = read_group(set, first, set->at[first].members, values + first);
	return rc;
}

/* ---- the source ---------------------------------------------------------------------------------- */

static int find(const char *name, struct gt_plugin_metric *metrics, unsigned room, char *why, size_t why_room)
{
	if (!room || !parse(name, &metrics[0]))
		return 0;
	return offered(&metrics[0], why, why_room) ? 1 : -ENOTSUP;
}

static void list(gt_plugin_each *each, void *argument)
{
	for (unsigned i = 0; i < EVENTS + CACHES * ACCESSES; i++) {
		struct gt_plugin_metric metric = { .bytes = sizeof(metric) };

		if (i < EVENTS)
			describe(events[i].name, events[i].id, events[i].description, events[i].unit,
				 &metric);
		else
			cache_event((i - EVENTS) / ACCESSES, (i - EVENTS) % ACCESSES, &metric);
		offered(&metric, metric.missing, sizeof(metric.missing));
		each(&metric, argument);
	}
}

const struct gt_plugin gt_cn_perf = {
	.bytes = sizeof(gt_cn_perf),
	.abi = GT_PLUGIN_ABI,
	.ways = GT_PLUGIN_SYNC,
	.name = "perf",
	.description = "perf events of threads: hardware, caches, software; rCODE: the processor's own",
	.forked = forked,
	.list = list,
	.find = find,
	.open = open_set,
	.read = read_set,
	.close = close_set,
	.flags = GT_PLUGIN_BARE,
};
