/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A sampler for a monitoring program (LDMS, collectd, ...): prints what the traced processes of this user
 * publish (VT_LIVE=1), one value a line, without any library of gputrace. The layout is in <gputrace/live.h>.
 *
 *	cc -I PREFIX/include -o sampler sampler.c && ./sampler
 *
 * Limits: Linux, where POSIX shared memory is in /dev/shm.
 */
#include <gputrace/live.h>

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* A copy of the whole segment as it was between two updates, to be freed; NULL: there is none. */
static struct gt_live_header *copy_segment(int fd)
{
	struct gt_live_header head, after, *copy = NULL;

	for (int i = 0; i < 100; i++, usleep(100)) {
		if (pread(fd, &head, sizeof(head), 0) != sizeof(head) ||
		    memcmp(head.magic, GT_LIVE_MAGIC, sizeof(head.magic)) || head.version != GT_LIVE_VERSION)
			break;
		if (head.sequence % 2 || head.bytes < sizeof(head) || head.bytes > 1u << 28)
			continue; /* it is being written */
		copy = realloc(copy, head.bytes);
		if (copy && pread(fd, copy, head.bytes, 0) == (ssize_t)head.bytes &&
		    pread(fd, &after, sizeof(after), 0) == sizeof(after) && after.sequence == head.sequence &&
		    copy->sequence == head.sequence)
			return copy;
	}
	free(copy);
	return NULL;
}

static int fits(const struct gt_live_header *head, uint64_t at, uint64_t each, uint64_t least, uint64_t count)
{
	return each >= least && at <= head->bytes && count <= (head->bytes - at) / each;
}

/* Are its tables within it? */
static int is_sound(const struct gt_live_header *head)
{
	return fits(head, head->locations_at, head->location_bytes, sizeof(struct gt_live_location),
		    head->locations) &&
	       fits(head, head->metrics_at, head->metric_bytes, sizeof(struct gt_live_metric), head->metrics);
}

/* Does the publisher still update it? */
static int is_fresh(const struct gt_live_header *head)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec <
	       head->updated_ns + 3 * head->interval_ns + 3000000000u;
}

static void print_value(const struct gt_live_metric *metric)
{
	if (metric->type == 10)
		printf("%.17g\n", metric->value.d);
	else if (metric->type == 8)
		printf("%lld\n", (long long)metric->value.i);
	else
		printf("%llu\n", (unsigned long long)metric->value.u);
}

static void sample(const struct gt_live_header *head)
{
	const char *base = (const char *)head;

	printf("%u events %llu\n", head->pid, (unsigned long long)head->events);
	printf("%u lost %llu\n", head->pid, (unsigned long long)head->lost);
	for (uint32_t i = 0; i < head->locations; i++) {
		const struct gt_live_location *location =
			(const void *)(base + head->locations_at + (size_t)i * head->location_bytes);

		printf("%u %u events %llu\n", head->pid, location->id, (unsigned long long)location->events);
		if (location->flags & GT_LIVE_ACTIVE)
			printf("%u %u region %.*s\n", head->pid, location->id,
			       (int)sizeof(location->region) - 1, location->region);
	}
	for (uint32_t i = 0; i < head->metrics; i++) {
		const struct gt_live_metric *metric =
			(const void *)(base + head->metrics_at + (size_t)i * head->metric_bytes);

		printf("%u %u metric %.*s ", head->pid, metric->location, (int)sizeof(metric->name) - 1,
		       metric->name);
		print_value(metric);
	}
}

int main(void)
{
	DIR *dir = opendir("/dev/shm");
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		char path[300];
		struct stat st;
		int fd;

		if (strncmp(entry->d_name, GT_LIVE_PREFIX, strlen(GT_LIVE_PREFIX)))
			continue;
		snprintf(path, sizeof(path), "/dev/shm/%s", entry->d_name);
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
		/* Anybody may make a file of that name: only what its owner has made is believed. */
		if (fd >= 0 && !fstat(fd, &st) && st.st_uid == geteuid() && !(st.st_mode & 022)) {
			struct gt_live_header *head = copy_segment(fd);

			if (head && is_sound(head) && is_fresh(head))
				sample(head);
			free(head);
		}
		if (fd >= 0)
			close(fd);
	}
	return 0;
}
