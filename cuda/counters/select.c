/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * VT_CUPTI_KERNELS: words with blanks, commas or semicolons between them, PATTERN or PATTERN:INSTANCES.
 * A pattern fits the name as the linker knows it, or the function with or without its namespaces; * is
 * any text, ? any character. INSTANCES are N, N-M or N- (all from N on), counted from 1 for each name by
 * itself.
 *
 * Limits: RULES words, NAMES names: further names are never selected by a pattern. Of a mangled name only
 * namespaces, classes and the function are understood.
 */
#include "cuda/counters/select.h"

#include <stdlib.h>
#include <string.h>

#include "gputrace/hash.h"
#include "gputrace/lock.h"
#include "gputrace/near.h"

#define RULES   32u
#define PATTERN 128u
#define NAMES   4096u
#define PLAIN   96u
#define BETWEEN " ,;\t\n"

static struct rule {
	char pattern[PATTERN];
	uint64_t first, last;
	bool used;
} rules[RULES];
static unsigned rule_count;
static bool some; /* there is a list */

/* Names that came, by their hash. */
static struct name {
	uint64_t hash;
	uint64_t count;
	uint32_t rules; /* those that fit */
	char plain[PLAIN];
} names[NAMES];
static unsigned name_count;
static struct gt_lock lock;

/* ---- the list ---------------------------------------------------------------------------------------- */

/* "3", "1-3", "5-"; false: it is none of these. */
static bool read_instances(const char *text, struct rule *rule)
{
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	rule->first = rule->last = strtoull(text, &end, 10);
	if (*end == '-' && !end[1]) {
		rule->last = UINT64_MAX;
		return rule->first;
	}
	if (*end == '-' && end[1] >= '0' && end[1] <= '9')
		rule->last = strtoull(end + 1, &end, 10);
	return !*end && rule->first && rule->first <= rule->last;
}

static bool add_rule(const char *word, size_t length)
{
	struct rule *rule = &rules[rule_count];
	char *colon;

	if (rule_count == RULES || length >= PATTERN)
		return false;
	*rule = (struct rule){ .first = 1, .last = UINT64_MAX };
	memcpy(rule->pattern, word, length);
	colon = strrchr(rule->pattern, ':');
	if (colon && (colon == rule->pattern || colon[-1] != ':')) {
		if (colon == rule->pattern || !read_instances(colon + 1, rule))
			return false;
		*colon = '\0';
	}
	rule_count++;
	return true;
}

unsigned gt_cu_select_read(const char *list)
{
	unsigned wrong = 0;

	for (list += strspn(list, BETWEEN); *list; list += strspn(list, BETWEEN)) {
		size_t n = strcspn(list, BETWEEN);

		wrong += !add_rule(list, n);
		some = true;
		list += n;
	}
	return wrong;
}

/* ---- names ------------------------------------------------------------------------------------------- */

static bool fits(const char *pattern, const char *name)
{
	const char *star = NULL, *back = NULL;

	while (*name) {
		if (*pattern == '*') {
			star = ++pattern;
			back = name;
		} else if (*pattern == '?' || *pattern == *name) {
			pattern++;
			name++;
		} else if (star) {
			pattern = star;
			name = ++back;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return !*pattern;
}

/* Behind the template arguments that begin here, after their 'I'. */
static const char *skip_arguments(const char *at)
{
	unsigned depth = 1;

	while (*at && depth) {
		if (*at == 'L') { /* a literal: its type, its value, 'E' */
			at += strcspn(at, "E");
			at += *at == 'E';
		} else if (*at >= '0' && *at <= '9') {
			char *end;
			unsigned long n = strtoul(at, &end, 10);

			at = n < strlen(end) ? end + n : end + strlen(end);
		} else {
			depth += *at == 'I' || *at == 'N' || *at == 'J' || *at == 'X' || *at == 'F';
			depth -= *at == 'E';
			at++;
		}
	}
	return at;
}

/* Appends a name of a length; returns what follows it. */
static const char *take_name(const char *at, char *text, size_t size, size_t *used)
{
	char *end;
	unsigned long n = strtoul(at, &end, 10);

	if (n > strlen(end))
		return "";
	if (strncmp(end, "_GLOBAL__N", 10) && *used + 2 + n < size) {
		if (*used) {
			memcpy(text + *used, "::", 2);
			*used += 2;
		}
		memcpy(text + *used, end, n);
		*used += n;
	}
	return end + n;
}

void gt_cu_plain_name(const char *mangled, char *text, size_t size)
{
	const char *at = mangled;
	bool nested = !strncmp(at, "_ZN", 3);
	size_t used = 0;

	at += nested ? 3 : !strncmp(at, "_Z", 2) ? 2 : 0;
	while (at != mangled && *at) {
		if (*at == 'L' || (nested && (*at == 'K' || *at == 'V') && !used))
			at++;
		else if (*at >= '0' && *at <= '9')
			at = take_name(at, text, size, &used);
		else if (*at == 'I' && nested && used)
			at = skip_arguments(at + 1);
		else
			break;
		if (!nested && used)
			break;
	}
	if (!used) {
		used = strnlen(mangled, size - 1);
		memcpy(text, mangled, used);
	}
	text[used] = '\0';
}

/* Without its namespaces. */
static const char *last_of(const char *plain)
{
	const char *at;

	for (at = plain + strlen(plain); at > plain + 1; at--)
		if (at[-1] == ':' && at[-2] == ':')
			break;
	return at > plain + 1 ? at : plain;
}

static uint32_t rules_of(const char *mangled, const char *plain)
{
	uint32_t found = 0;

	for (unsigned i = 0; i < rule_count; i++)
		if (fits(rules[i].pattern, plain) || fits(rules[i].pattern, last_of(plain)) ||
		    fits(rules[i].pattern, mangled)) {
			found |= 1u << i;
			rules[i].used = true;
		}
	return found;
}

/* Under the lock. NULL: there are too many. */
static struct name *find(const char *mangled)
{
	uint64_t hash = gt_hash_text(GT_HASH_START, mangled) | 1;
	unsigned at = (unsigned)(hash >> 7) % NAMES;

	while (names[at].hash && names[at].hash != hash)
		at = (at + 1) % NAMES;
	if (names[at].hash)
		return &names[at];
	if (name_count == NAMES - 1)
		return NULL;
	name_count++;
	names[at].hash = hash;
	gt_cu_plain_name(mangled, names[at].plain, sizeof(names[at].plain));
	names[at].rules = rules_of(mangled, names[at].plain);
	return &names[at];
}

static bool is_selected(const struct name *n)
{
	for (unsigned i = 0; i < rule_count; i++)
		if (n->rules >> i & 1 && n->count >= rules[i].first && n->count <= rules[i].last)
			return true;
	return false;
}

bool gt_cu_select_fits(const char *name)
{
	char plain[PLAIN];

	gt_cu_plain_name(name, plain, sizeof(plain));
	return !some || rules_of(name, plain);
}

bool gt_cu_select_next(const char *name)
{
	bool selected = false;
	struct name *n;
	uint64_t mask;

	if (!some)
		return true;
	mask = gt_lock(&lock);
	n = mask == GT_LOCK_REFUSED ? NULL : find(name);
	if (n) {
		n->count++;
		selected = is_selected(n);
	}
	gt_unlock(&lock, mask);
	return selected;
}

void gt_cu_select_unused(void (*each)(const char *pattern, const char *near))
{
	for (unsigned i = 0; i < rule_count; i++) {
		unsigned best = (unsigned)strlen(rules[i].pattern) / 3 + 1;
		const char *near = NULL;

		for (unsigned k = 0; k < NAMES && !rules[i].used; k++) {
			unsigned d = names[k].hash ? gt_near_distance(rules[i].pattern,
								      last_of(names[k].plain), best)
						   : best;

			if (d < best) {
				best = d;
				near = last_of(names[k].plain);
			}
		}
		if (!rules[i].used)
			each(rules[i].pattern, near);
		rules[i].used = true; /* said once */
	}
}
