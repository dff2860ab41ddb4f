/* SPDX-License-Identifier: BSD-3-Clause */
/* Segments of shared memory; see segment.h. */
#include "config.h"

#include "live/segment.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lib/common/process.h"

#define FOLDER    "/dev/shm"
#define TRIES     50   /* to copy it between two updates */
#define TRY_US    200
#define LATE_NS   UINT64_C(3000000000) /* and three intervals: nobody updates it any more */

static uint64_t monotonic_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static bool fresh(const struct gt_live_header *header)
{
	uint64_t now = monotonic_ns();

	return header->updated_ns > now || now - header->updated_ns < LATE_NS + 3 * header->interval_ns;
}

/* ---- reading ------------------------------------------------------------------------------------------ */

static bool read_all(int fd, void *data, uint64_t bytes)
{
	return pread(fd, data, bytes, 0) == (ssize_t)bytes;
}

static bool table_fits(uint64_t at, uint64_t each, uint64_t least, uint64_t count, uint64_t bytes)
{
	return at >= sizeof(struct gt_live_header) && at <= bytes && each >= least && each % 8 == 0 &&
	       at % 8 == 0 && (!count || each <= (bytes - at) / count);
}

static bool believable(const struct gt_live_header *header, uint64_t bytes)
{
	return header->bytes <= bytes &&
	       table_fits(header->locations_at, header->location_bytes, sizeof(struct gt_live_location),
			  header->locations, header->bytes) &&
	       table_fits(header->metrics_at, header->metric_bytes, sizeof(struct gt_live_metric),
			  header->metrics, header->bytes);
}

/* A text ends within its field, whatever was written there. */
#define ENDS(field) ((field)[sizeof(field) - 1] = '\0')

static void end_texts(struct gt_image *image)
{
	struct gt_live_header *header = image->header;

	ENDS(header->host);
	ENDS(header->program);
	ENDS(header->archive);
	for (uint32_t i = 0; i < header->locations; i++) {
		ENDS(gt_image_location(image, i)->name);
		ENDS(gt_image_location(image, i)->region);
	}
	for (uint32_t i = 0; i < header->metrics; i++) {
		ENDS(gt_image_metric(image, i)->name);
		ENDS(gt_image_metric(image, i)->unit);
	}
}

/* Copies it between two updates. */
static bool copy(int fd, struct gt_image *image)
{
	for (int i = 0; i < TRIES; i++) {
		struct gt_live_header before, after;

		if (i)
			usleep(TRY_US);
		if (!read_all(fd, &before, sizeof(before)) ||
		    memcmp(before.magic, GT_LIVE_MAGIC, sizeof(before.magic)) ||
		    before.version != GT_LIVE_VERSION)
			return false;
		if (before.sequence % 2)
			continue;
		if (before.bytes < sizeof(before) || !gt_image_room(image, before.bytes))
			return false;
		if (!read_all(fd, image->header, before.bytes) || !read_all(fd, &after, sizeof(after)) ||
		    after.sequence != before.sequence || image->header->sequence != before.sequence)
			continue;
		if (!believable(image->header, before.bytes))
			return false;
		end_texts(image);
		return true;
	}
	return false;
}

/* Ours, and nobody else may have written it. */
static int open_ours(const char *name, int flags)
{
	int fd = shm_open(name, flags, 0);
	struct stat st;

	if (fd < 0)
		return -errno;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_uid == geteuid() && !(st.st_mode & 022))
		return fd;
	close(fd);
	return -EACCES;
}

/* Nobody will update it any more, and nobody will remove it. */
static bool left_behind(const struct gt_live_header *header)
{
	return !fresh(header) && !gt_process_start_time(header->publisher);
}

void gt_segments_each(bool (*function)(const struct gt_image *image, void *argument), void *argument)
{
	struct gt_image image = {0};
	DIR *dir = opendir(FOLDER);
	struct dirent *entry;
	char ours[40];
	bool more = true;

	snprintf(ours, sizeof(ours), GT_LIVE_PREFIX "%u.", geteuid());
	while (dir && more && (entry = readdir(dir))) {
		int fd = strncmp(entry->d_name, ours, strlen(ours)) ? -1 : open_ours(entry->d_name, O_RDONLY);

		if (fd < 0)
			continue;
		if (copy(fd, &image)) {
			if (fresh(image.header))
				more = function(&image, argument);
			else if (left_behind(image.header))
				shm_unlink(entry->d_name);
		}
		close(fd);
	}
	if (dir)
		closedir(dir);
	free(image.header);
}

/* ---- writing ------------------------------------------------------------------------------------------ */

/* Makes room in the file, so that no store can fail, and maps it. */
static int enlarge(struct gt_live_segment *segment, uint64_t bytes)
{
	size_t room = (bytes + bytes / 4 + 4095) / 4096 * 4096;
	struct gt_live_header *header;
	int rc;

	if (bytes <= segment->mapped)
		return 0;
	rc = posix_fallocate(segment->fd, 0, (off_t)room);
	if (rc)
		return -rc;
	header = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_SHARED, segment->fd, 0);
	if (header == MAP_FAILED)
		return -errno;
	if (segment->header)
		munmap(segment->header, segment->mapped);
	segment->header = header;
	segment->mapped = room;
	return 0;
}

int gt_segment_write(struct gt_live_segment *segment, const struct gt_image *image)
{
	const size_t after = offsetof(struct gt_live_header, sequence) + sizeof(uint32_t);
	int rc = enlarge(segment, image->header->bytes);
	uint32_t sequence;

	if (rc)
		return rc;
	sequence = segment->header->sequence | 1;
	__atomic_store_n(&segment->header->sequence, sequence, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	memcpy(segment->header, image->header, offsetof(struct gt_live_header, sequence));
	memcpy((char *)segment->header + after, (const char *)image->header + after,
	       image->header->bytes - after);
	__atomic_store_n(&segment->header->sequence, sequence + 1, __ATOMIC_RELEASE);
	return 0;
}

/* One of that name that nobody publishes any more goes. */
static int make_way(const char *name)
{
	struct gt_live_header header;
	int fd = open_ours(name, O_RDONLY);
	bool used;

	if (fd < 0)
		return fd == -ENOENT ? 0 : fd;
	used = read_all(fd, &header, sizeof(header)) && gt_process_start_time(header.publisher) &&
	       fresh(&header);
	close(fd);
	if (used)
		return -EEXIST;
	return shm_unlink(name) && errno != ENOENT ? -errno : 0;
}

int gt_segment_create(struct gt_live_segment *segment, const struct gt_image *image)
{
	const struct gt_live_header *header = image->header;
	int rc;

	*segment = (struct gt_live_segment){.fd = -1};
	snprintf(segment->name, sizeof(segment->name), "/" GT_LIVE_PREFIX "%u.%u.%llu", geteuid(),
		 header->pid, (unsigned long long)header->start_time);
	rc = make_way(segment->name);
	if (!rc) {
		segment->fd = shm_open(segment->name, O_RDWR | O_CREAT | O_EXCL, 0600);
		rc = segment->fd < 0 ? -errno : 0;
	}
	if (rc) {
		segment->name[0] = '\0';
		return rc;
	}
	if (fchmod(segment->fd, 0600))
		rc = -errno;
	if (!rc)
		rc = gt_segment_write(segment, image);
	if (rc)
		gt_segment_remove(segment);
	return rc;
}

void gt_segment_remove(struct gt_live_segment *segment)
{
	if (segment->name[0])
		shm_unlink(segment->name);
	if (segment->header)
		munmap(segment->header, segment->mapped);
	if (segment->fd >= 0)
		close(segment->fd);
	*segment = (struct gt_live_segment){.fd = -1};
}
