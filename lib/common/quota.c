/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads cgroups' quotas; see quota.h. Version 2 has cpu.max and throttled_usec, version 1 cpu.cfs_quota_us,
 * cpu.cfs_period_us and throttled_time (ns).
 */
#include "lib/common/quota.h"

#include "lib/common/sys.h"
#include "lib/common/text.h"

#include <string.h>

/* The folder of a group, and which version it is of. */
struct place {
	char path[1024];
	size_t root, length; /* of the path: up to the root of all groups, and to this one */
	bool old;
};

static const char *number(const char *at, uint64_t *value)
{
	for (*value = 0; *at >= '0' && *at <= '9'; at++)
		*value = 10 * *value + (uint64_t)(*at - '0');
	return at;
}

/* Is "cpu" one of the names up to the colon? */
static bool has_cpu(const char *names)
{
	for (; *names && *names != ':' && *names != '\n'; names++)
		if (!strncmp(names, "cpu", 3) && (names[3] == ',' || names[3] == ':') &&
		    (names[-1] == ',' || names[-1] == ':'))
			return true;
	return false;
}

static const char *next_line(const char *line)
{
	line = strchr(line, '\n');
	return line ? line + 1 : NULL;
}

/* Adds what comes before the end of the line, or another one. */
static bool add(struct place *at, const char *text, char end)
{
	for (; *text && *text != '\n' && *text != end; text++) {
		if (at->length + 1 == sizeof(at->path))
			return false;
		at->path[at->length++] = *text;
	}
	at->path[at->length] = '\0';
	return true;
}

static ssize_t read_file(struct place *at, const char *name, char *text, size_t size)
{
	size_t length = at->length;
	ssize_t n = add(at, name, '\n') ? gt_sys_read_text(at->path, text, size) : -ENAMETOOLONG;

	at->length = length;
	at->path[length] = '\0';
	return n;
}

/* A line is NUMBER:NAMES:PATH; returns the names. If there is a group of version 1, it has the limits. */
static const char *find(const char *line, bool *old)
{
	const char *names, *found = NULL;

	for (; line; line = next_line(line)) {
		names = strchr(line, ':');
		if (!names || (names[1] != ':' && !has_cpu(names + 1)))
			continue;
		found = names + 1;
		*old = names[1] != ':';
		if (*old)
			break;
	}
	return found && strchr(found, ':') ? found : NULL;
}

/* Goes to the group: below root and, of version 1, a folder with these names. */
static bool go(struct place *at, const char *root, const char *names, const char *path)
{
	at->length = 0;
	if (!add(at, root, '\n') || (at->old && (!add(at, "/", '\n') || !add(at, names, ':'))))
		return false;
	at->root = at->length;
	if (!add(at, path, '\n'))
		return false;
	while (at->length > at->root && at->path[at->length - 1] == '/')
		at->path[--at->length] = '\0';
	return !strstr(at->path, "/.."); /* it is outside of what can be seen here */
}

/*
 * Thousandths of a processor; 0: no limit. Or a negative errno: there is no such file of the outermost group,
 * of one without the controller, and of one that is not seen here, though those above it are.
 */
static int64_t read_part(struct place *at)
{
	char text[64], period[32];
	uint64_t quota, each;
	ssize_t n = read_file(at, at->old ? "/cpu.cfs_quota_us" : "/cpu.max", text, sizeof(text));
	const char *rest;

	if (n < 0)
		return n;
	if (*text < '0' || *text > '9')
		return 0; /* -1, max */
	rest = number(text, &quota);
	if (at->old) {
		n = read_file(at, "/cpu.cfs_period_us", period, sizeof(period));
		if (n < 0)
			return n;
		rest = period;
	}
	number(*rest == ' ' ? rest + 1 : rest, &each);
	if (!each)
		return -EINVAL;
	return 1000 * quota > each ? (int64_t)(1000 * quota / each) : 1;
}

/* Reads a cgroup with a quota. */
static int read_group(struct place *at, struct gt_quota *to)
{
	const char *name = at->old ? "throttled_time " : "throttled_usec ", *found;
	char text[1024];
	struct stat st;
	ssize_t n = read_file(at, "/cpu.stat", text, sizeof(text));

	if (n < 0 || gt_sys_fstatat(AT_FDCWD, at->path, &st, 0))
		return n < 0 ? (int)n : -ENOENT;
	found = strstr(text, name);
	if (!found)
		return -EINVAL;
	number(found + strlen(name), &to->after);
	to->after *= at->old ? 1 : 1000;
	to->group = (uint64_t)st.st_ino;
	return 0;
}

/* From a group outwards. */
static int walk(struct place *at, struct gt_quota list[GT_QUOTAS])
{
	bool seen = false;
	char text[16];
	int count = 0, rc;

	for (;;) {
		int64_t part = read_part(at);

		if ((part < 0 && part != -ENOENT) || (part > 0 && count == GT_QUOTAS))
			return part < 0 ? (int)part : -E2BIG;
		seen |= part >= 0;
		if (part > 0) {
			list[count].part = (uint64_t)part;
			rc = read_group(at, &list[count++]);
			if (rc)
				return rc;
		}
		if (at->length == at->root)
			return seen || read_file(at, "/cpu.stat", text, sizeof(text)) >= 0 ? count : -ENOENT;
		while (at->length > at->root && at->path[--at->length] != '/')
			;
		at->path[at->length] = '\0';
	}
}

int gt_quotas_read(const char *root, const char *groups, struct gt_quota list[GT_QUOTAS])
{
	struct place at;
	const char *names = find(groups, &at.old), *path = names ? strchr(names, ':') + 1 : NULL;
	int rc = -ENOENT;

	memset(list, 0, GT_QUOTAS * sizeof(*list));
	if (names && go(&at, root, names, path))
		rc = walk(&at, list);
	if (rc == -ENOENT && names && at.old && go(&at, root, "cpu", path)) /* mounted with others */
		rc = walk(&at, list);
	return rc;
}
