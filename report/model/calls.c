/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tables of calls.h.
 */
#include "config.h"

#include "report/model/calls.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct rule {
	const char *name; /* how it begins; "=name": all of it */
	enum gt_call_kind call;
};

static const struct rule rules[] = {
#define GT_CALL_IS(name, call) { name, GT_CALL_##call },
#include "registry/classes.def"
};

/* Names are asked for once for each region: the table need not be fast. Fortran's may be in any case. */
static bool fits(const char *name, const char *prefix, bool device)
{
	bool whole = *prefix == '=';
	size_t n = strlen(prefix += whole);

	return !(device ? strncmp(name, prefix, n) : strncasecmp(name, prefix, n)) && !(whole && name[n]);
}

/* The first that fits, of calls for messages or of those of devices. */
static enum gt_call_kind by_rules(const char *name, bool device)
{
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
		if ((rules[i].call >= GT_CALL_LAUNCH) == device && fits(name, rules[i].name, device))
			return rules[i].call;
	return GT_CALL_NONE;
}

/* Fortran's names end with "_", those of the profiling interface begin with "P". */
enum gt_call_kind gt_message_call(const char *name)
{
	char plain[64];
	enum gt_call_kind call;
	size_t n = strnlen(name, sizeof(plain) - 1);

	memcpy(plain, name, n);
	while (n && plain[n - 1] == '_')
		n--;
	plain[n] = '\0';
	call = by_rules(plain, false);
	return call || toupper((unsigned char)*plain) != 'P' ? call : by_rules(plain + 1, false);
}

static bool begins(const char *text, const char *prefix)
{
	return !strncmp(text, prefix, strlen(prefix));
}

enum gt_call_kind gt_device_call(const char *name)
{
	enum gt_call_kind call;

	if (strstr(name, "IDLE"))
		return begins(name, "HOST") ? GT_CALL_HIDDEN_WAIT : GT_CALL_DEVICE_IDLE;
	if (strstr(name, "SYNCHRONIZE"))
		return GT_CALL_DEVICE_WAIT;
	call = by_rules(name + 2 * begins(name, "__"), true);
	return call ? call : GT_CALL_DEVICE_OTHER;
}

bool gt_call_async(const char *name)
{
	return strstr(name, "Async");
}

enum gt_activity_kind gt_activity(const char *group)
{
	static const char *const families[] = {
#define GT_DEVICE_GROUPS(prefix) prefix,
#include "registry/classes.def"
	};

	for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++) {
		const char *rest = group + strlen(families[i]);

		if (begins(group, families[i]))
			return begins(rest, "KERNEL")	? GT_ACTIVITY_KERNEL
			       : begins(rest, "MEMCPY") ? GT_ACTIVITY_COPY
			       : begins(rest, "MEMSET") ? GT_ACTIVITY_SET : GT_ACTIVITY_NONE;
	}
	return GT_ACTIVITY_NONE;
}

bool gt_copy_pageable(const char *name)
{
	return strstr(name, "pageable");
}

static bool has_one(const char *name, const char *const *words)
{
	while (*words && !strstr(name, *words))
		words++;
	return *words;
}

enum gt_copying gt_copy_way(const char *name)
{
	static const char *const in[] = { "H2D", "HtoD", "HOST_TO_DEVICE", "Write", NULL };
	static const char *const out[] = { "D2H", "DtoH", "DEVICE_TO_HOST", "Read", NULL };

	return has_one(name, in) ? GT_COPYING_IN : has_one(name, out) ? GT_COPYING_OUT : GT_COPYING_NOT;
}

static bool is_one(const char *name, const char *const *names)
{
	while (*names && strcmp(*names, name))
		names++;
	return *names;
}

/* Runtimes call them blocks or groups. */
enum gt_size gt_size_of(const char *parameter)
{
	static const char *const grids[] = { "grid", "blocks per grid", "group count", NULL };
	static const char *const blocks[] = { "block", "threads per block", "group size", "local work size",
					      NULL };

	return is_one(parameter, grids)	   ? GT_SIZE_GRID
	       : is_one(parameter, blocks) ? GT_SIZE_BLOCK
	       : strcmp(parameter, "global work size") ? GT_SIZE_NONE : GT_SIZE_ITEMS;
}

uint64_t gt_size_product(const char *text)
{
	uint64_t value = 1;
	char *end;

	for (text += strcspn(text, "0123456789"); *text; text = end + strcspn(end, "0123456789"))
		value *= strtoull(text, &end, 10);
	return value;
}
