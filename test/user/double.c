/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A stand-in for the core that logs what the user API asks of it (double.h).
 * Limits: ids count from 1 over all kinds, so that an id of the wrong kind shows in the log.
 */
#include "double.h"
#include "lib/record/control.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gputrace/adapter.h"
#include "lib/format.h"

#define NAMES 200000

bool double_active = true;
bool double_quiet;
unsigned double_refuse;
const char *double_filter;
unsigned long double_definitions, double_enters, double_leaves;
unsigned long double_lost[16];
const char *double_balance = "yes";
int double_verbose = 2;

static char log_text[1 << 16], log_copy[1 << 16];
static size_t log_bytes;
static char *names[NAMES];
static unsigned name_count;
static char arena[8 << 20];
static size_t arena_bytes;
static struct gt_adapter registered;
static bool is_on = true;

__attribute__((format(printf, 1, 0)))
static void put(const char *format, va_list ap)
{
	if (double_quiet)
		return;
	log_bytes += (size_t)vsnprintf(log_text + log_bytes, sizeof(log_text) - log_bytes, format, ap);
	if (log_bytes >= sizeof(log_text) - 1)
		abort();
}

__attribute__((format(printf, 1, 2))) static void say(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	put(format, ap);
	va_end(ap);
}

const char *double_log(void)
{
	memcpy(log_copy, log_text, log_bytes + 1);
	log_bytes = 0;
	log_text[0] = '\0';
	return log_copy;
}

void double_end(void)
{
	registered.end(GT_END_EXIT);
}

void double_fork_child(void)
{
	registered.fork_child();
}

/* A definition: its name under a fresh id, unless it is to be refused. */
static gt_ref define(const char *name)
{
	size_t length = strlen(name) + 1, at;
	unsigned id;

	__atomic_fetch_add(&double_definitions, 1, __ATOMIC_RELAXED);
	if (double_refuse) {
		double_refuse--;
		return GT_NONE;
	}
	id = __atomic_add_fetch(&name_count, 1, __ATOMIC_RELAXED);
	at = __atomic_fetch_add(&arena_bytes, length, __ATOMIC_RELAXED);
	if (id >= NAMES || at + length > sizeof(arena))
		abort();
	names[id] = memcpy(arena + at, name, length); /* no malloc: signal handlers come here */
	return id;
}

static const char *name_of(gt_ref ref)
{
	return ref < NAMES && names[ref] ? names[ref] : "?";
}

static const char *or_none(const char *text)
{
	return text ? text : "-";
}

int gt_adapter_register(const struct gt_adapter *adapter)
{
	if (adapter->bytes != sizeof(*adapter) || adapter->abi != GT_ADAPTER_ABI)
		return -EPROTO;
	registered = *adapter;
	return 0;
}

bool gt_active(void)
{
	return double_active && is_on;
}

bool gt_active_inside(void)
{
	return gt_active();
}

void gt_lost_inactive(unsigned events)
{
	(void)events;
}

const char *gt_setting(const char *name)
{
	return strcmp(name, "VT_ONOFF_CHECK_STACK_BALANCE") ? NULL : double_balance;
}

void gt_message(int level, const char *format, ...)
{
	va_list ap;

	if (level > double_verbose)
		return;
	say("message %d: ", level);
	va_start(ap, format);
	put(format, ap);
	va_end(ap);
	say("\n");
}

gt_ref gt_def_string(const char *text)
{
	say("string \"%s\"\n", text);
	return define(text);
}

gt_ref gt_def_region(const struct gt_region_info *info)
{
	if (info->bytes != sizeof(*info))
		abort();
	say("region \"%s\" group=%s file=%s line=%u,%u role=%u paradigm=%u\n", info->name,
	    or_none(info->group), or_none(info->file), info->begin_line, info->end_line, info->role,
	    info->paradigm);
	if (double_filter && !strcmp(info->name, double_filter)) {
		double_definitions++;
		return GT_NONE;
	}
	return define(info->name);
}

gt_ref gt_def_metric(const struct gt_metric_info *info)
{
	if (info->bytes != sizeof(*info))
		abort();
	say("metric \"%s\" unit=%s group=%s type=%u mode=%u scope=%u\n", info->name,
	    or_none(info->unit), or_none(info->group), info->value, info->mode, info->scope);
	return define(info->name);
}

gt_ref gt_def_marker(const char *name, const char *group, unsigned severity)
{
	say("marker \"%s\" group=%s severity=%u\n", name, or_none(group), severity);
	return define(name);
}

gt_ref gt_def_comm(const char *name, gt_ref parent, uint32_t paradigm, uint64_t key)
{
	say("comm \"%s\" parent=%u paradigm=%u key=%lu\n", name, parent, paradigm,
	    (unsigned long)key);
	return define(name);
}

void gt_def_property(const char *key, const char *value)
{
	say("property %s=%s\n", key, value);
}

void gt_enter(gt_ref region)
{
	if (!region || !gt_active())
		return;
	__atomic_fetch_add(&double_enters, 1, __ATOMIC_RELAXED);
	say("enter %s\n", name_of(region));
}

void gt_leave(gt_ref region)
{
	if (!region || !gt_active())
		return;
	__atomic_fetch_add(&double_leaves, 1, __ATOMIC_RELAXED);
	say("leave %s\n", name_of(region));
}

void gt_record(unsigned type, uint64_t low, const uint64_t *data, unsigned extra)
{
	const char *what = type == GT_T_USER_SEND   ? "send"
			   : type == GT_T_USER_RECV ? "recv"
			   : type == GT_T_COMMENT   ? "comment"
						    : "?";

	if (type == GT_T_COMMENT)
		say("comment \"%s\" low=%lu extra=%u %lu\n", name_of((gt_ref)data[0]),
		    (unsigned long)low, extra, (unsigned long)data[1]);
	else
		say("%s %s tag=%lu bytes=%lu extra=%u\n", what, name_of((gt_ref)low),
		    (unsigned long)data[0], (unsigned long)data[1], extra);
}

void gt_lost(unsigned cause, uint64_t events)
{
	double_lost[cause] += events;
}

void gt_metric_uint(gt_ref metric, uint64_t value)
{
	say("value %s uint %lu\n", name_of(metric), (unsigned long)value);
}

void gt_metric_int(gt_ref metric, int64_t value)
{
	say("value %s int %ld\n", name_of(metric), (long)value);
}

void gt_metric_double(gt_ref metric, double value)
{
	say("value %s double %g\n", name_of(metric), value);
}

void gt_marker(gt_ref marker, const char *text)
{
	say("mark %s \"%s\"\n", name_of(marker), text);
}

void gt_switch_thread(bool on)
{
	is_on = on;
	say("switch %s\n", on ? "on" : "off");
}

bool gt_is_on(void)
{
	return is_on;
}

/* Structs of this tree's size only. */
bool gt_taken(void *copy, size_t bytes, size_t first, const void *given, const char *function,
	      const void *caller)
{
	(void)first, (void)function, (void)caller;
	memcpy(copy, given, bytes);
	return true;
}

void gt_timesync(void)
{
}

void gt_buffer_flush(void)
{
	say("flush\n");
}

void gt_update_counters(void)
{
	say("update\n");
}

void gt_rewind_mark(void)
{
	say("rewind mark\n");
}

void gt_rewind(void)
{
	say("rewind\n");
}
