/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions of adapter.h that the pthread adapter uses, as a log in plain text.
 *
 * Limits: addresses are not logged; locks are told apart by the caller's order numbers.
 */
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "gputrace/adapter.h"
#include "gputrace/thread.h"
#include "lib/format.h"
#include "test/pthread/double.h"

bool double_active = true;
const char *double_locks = "contended";
const char *double_filtered;
unsigned long double_joined;
unsigned long double_time = 1;

static char text[262144], given[sizeof(text)];
static size_t used;
static const char *region_names[256];
static gt_ref regions;
static uint64_t threads;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static __attribute__((format(printf, 1, 2))) void tell(const char *format, ...)
{
	va_list args;
	int n;

	pthread_mutex_lock(&lock);
	va_start(args, format);
	if (used)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "; ");
	n = vsnprintf(text + used, sizeof(text) - used, format, args);
	va_end(args);
	used += (size_t)n;
	if (used > sizeof(text) - 512)
		used = sizeof(text) - 512;
	pthread_mutex_unlock(&lock);
}

const char *double_log(void)
{
	memcpy(given, text, used + 1);
	given[used] = '\0';
	used = 0;
	return given;
}

int gt_adapter_register(const struct gt_adapter *adapter)
{
	(void)adapter;
	return 0;
}

bool double_guarded;

bool gt_is_on(void)
{
	return double_active || double_guarded;
}

bool gt_active(void)
{
	return double_active;
}

bool double_inside;

bool gt_inside(void)
{
	return double_inside;
}

void gt_lost(unsigned cause, uint64_t events)
{
	(void)cause;
	(void)events;
}

void *gt_memory(size_t bytes)
{
	int saved = errno;
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	errno = saved;
	return memory == MAP_FAILED ? NULL : memory;
}

void gt_memory_free(void *memory, size_t bytes)
{
	munmap(memory, bytes);
}

bool gt_is_confined(void)
{
	return false;
}

uint64_t gt_now(void)
{
	return double_time;
}

const char *gt_setting(const char *name)
{
	if (strcmp(name, "VT_PTHREAD_LOCKS") == 0)
		return double_locks;
	return strcmp(name, "VT_MODE") == 0 ? "TRACE" : NULL;
}

void gt_message(int level, const char *format, ...)
{
	tell("message %d %s", level, format);
}

gt_ref gt_def_region(const struct gt_region_info *info)
{
	if (double_filtered && strcmp(info->name, double_filtered) == 0)
		return GT_NONE;
	if (info->bytes != sizeof(*info) || strcmp(info->group, "Pthreads") != 0)
		abort();
	region_names[++regions] = info->name;
	return regions;
}

void gt_enter(gt_ref region)
{
	tell("+%s", region_names[region]);
}

gt_ref gt_def_attribute(const char *name, const char *description, enum gt_value value)
{
	if (!*description || value != GT_VALUE_UINT)
		abort();
	return strcmp(name, "GPUTRACE::HELD_BY") == 0 ? 2 : 1;
}

bool gt_enter_attribute(gt_ref region, gt_ref attribute, uint64_t value, uint64_t tick)
{
	if (!attribute || tick)
		abort();
	if (attribute == 2)
		tell("+%s, held by %lu", region_names[region], (unsigned long)value);
	else
		tell("+%s", region_names[region]);
	return true;
}

void gt_leave(gt_ref region)
{
	tell("-%s", region_names[region]);
}

void gt_leave_woken(gt_ref region, uint64_t by, uint64_t tick)
{
	tell("-%s, woken by %lu at %lu", region_names[region], (unsigned long)by,
	     (unsigned long)GT_WOKEN_TIME(tick) * GT_WOKEN_UNIT);
}

void gt_enter_at(gt_ref region, uint64_t tick)
{
	tell("+%s@%lu", region_names[region], (unsigned long)tick);
}

void gt_record(unsigned type, uint64_t low, const uint64_t *data, unsigned extra)
{
	if (extra != 1 || low == 0 || data[1] != 0)
		abort();
	tell("%s %lu", type == GT_T_LOCK_ACQUIRE ? "acquire" : "release", (unsigned long)data[0]);
}

uint64_t gt_thread_number(void)
{
	return __atomic_add_fetch(&threads, 1, __ATOMIC_RELAXED);
}

void gt_thread_created(uint64_t sequence, uint64_t tick)
{
	tell("created@%lu", (unsigned long)tick);
	if (sequence == 0)
		abort();
}

void gt_thread_not_created(uint64_t sequence)
{
	tell("not created");
	if (sequence == 0)
		abort();
}

void gt_thread_begin(uint64_t sequence)
{
	(void)sequence;
	tell("begin");
}

void gt_thread_end(unsigned how)
{
	tell("end %u", how);
}

void gt_thread_join(uint64_t sequence)
{
	__atomic_store_n(&double_joined, (unsigned long)sequence, __ATOMIC_RELAXED);
	tell("join");
}

void gt_thread_name(uint32_t kernel_tid, const char *name)
{
	tell("name %s %s", kernel_tid ? "other" : "self", name);
}
