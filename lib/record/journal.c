/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The definitions journal of the process: each definition is one write(), so that a killed process
 * leaves all that were complete.
 *
 * Limits: definitions up to JOURNAL_MAX bytes; written under the definitions lock, signals blocked.
 */
#include "lib/common/text.h"
#include "lib/record/record.h"

#include <errno.h>
#include <string.h>

#define JOURNAL_MAX 12288u

static struct gt_lock lock;
static struct gt_file file = { .fd = -1 };
static char path[1100];
static char record[JOURNAL_MAX]; /* under the lock; not on small stacks */

/* During set-up definitions are collected and written together: nothing is recorded yet that could
 * be lost, and every process of a run pays for this. */
static char batch[16384];
static size_t batched;
static bool batching;

uint64_t gt_defs_lock(void)
{
	return gt_lock(&lock);
}

void gt_defs_unlock(uint64_t mask)
{
	gt_unlock(&lock, mask);
}

void gt_defs_lock_reset(void)
{
	lock.word = 0;
}

static uint32_t fnv(uint32_t hash, const void *data, size_t bytes)
{
	const unsigned char *p = data;

	while (bytes--)
		hash = (hash ^ *p++) * 16777619u;
	return hash;
}

int gt_journal_open(const char *folder)
{
	struct gt_file_header header = { .magic = GT_MAGIC_DEFS, .version = GT_FORMAT_VERSION };
	int fd, rc;

	gt_text(path, sizeof(path), "%s/defs", folder);
	fd = gt_sys_openat(AT_FDCWD, path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			   0600);
	if (fd < 0)
		return fd;
	gt_sys_fchmod(fd, 0600);
	rc = gt_file_keep(&file, fd);
	if (rc)
		return rc;
	rc = gt_file_pwrite(file.fd, &header, sizeof(header), 0);
	gt_proc->defs_bytes = sizeof(header);
	return rc;
}

void gt_journal_forget(void)
{
	if (file.fd >= 0 && gt_file_valid(&file))
		gt_sys_close(file.fd);
	file.fd = -1;
	batching = false;
	batched = 0;
	file.ino = 0; /* not to be opened again: the assembly may have taken it away */
}

uint64_t gt_journal_bytes(void)
{
	return gt_proc->defs_bytes;
}

static int reopen(void)
{
	struct stat st;
	int fd = gt_sys_openat(AT_FDCWD, path, O_RDWR | O_NOFOLLOW | O_CLOEXEC, 0);
	int rc;

	if (fd < 0)
		return fd;
	rc = gt_sys_fstat(fd, &st);
	if (!rc && (st.st_ino != file.ino || st.st_dev != file.dev))
		rc = -EPROTO;
	if (rc) {
		gt_sys_close(fd);
		return rc;
	}
	return gt_file_keep(&file, fd);
}

static int write_out(const void *data, size_t bytes)
{
	int rc = 0;

	if (!file.ino)
		return -EBADF;
	if (!gt_file_valid(&file))
		rc = reopen();
	if (!rc)
		rc = gt_file_pwrite(file.fd, data, bytes, gt_proc->defs_bytes);
	if (rc) {
		gt_count_lost(GT_LOSS_DEFINITION, 1);
		gt_warn_once(GT_WARN_SPACE, "cannot write to %s: %s", path, gt_text_errno(rc));
		return rc;
	}
	__atomic_store_n(&gt_proc->defs_bytes, gt_proc->defs_bytes + bytes, __ATOMIC_RELEASE);
	return 0;
}

static int flush_batch(void)
{
	int rc = batched ? write_out(batch, batched) : 0;

	batched = 0;
	return rc;
}

static int append(const void *data, size_t bytes)
{
	int rc = 0;

	if (!batching)
		return write_out(data, bytes);
	if (batched + bytes > sizeof(batch))
		rc = flush_batch();
	if (!rc && bytes > sizeof(batch))
		return write_out(data, bytes);
	if (!rc) {
		memcpy(batch + batched, data, bytes);
		batched += bytes;
	}
	return rc;
}

void gt_journal_batch(bool on)
{
	uint64_t mask = gt_lock(&lock);

	batching = on;
	if (!on)
		flush_batch();
	gt_unlock(&lock, mask);
}

int gt_journal_put_locked(unsigned type, uint32_t id, const struct gt_piece *pieces, unsigned n)
{
	struct gt_def def = { .type = (uint16_t)type, .id = id };
	size_t at = sizeof(def);

	for (unsigned i = 0; i < n; i++) {
		if (at + pieces[i].bytes + 8 > sizeof(record))
			return -EINVAL;
		memcpy(record + at, pieces[i].data, pieces[i].bytes);
		at += pieces[i].bytes;
	}
	while (at % 8)
		record[at++] = 0;
	def.bytes = (uint32_t)at;
	def.check = fnv(fnv(2166136261u, &def, 12), record + sizeof(def), at - sizeof(def));
	memcpy(record, &def, sizeof(def));
	return append(record, at);
}

int gt_journal_put(unsigned type, uint32_t id, const struct gt_piece *pieces, unsigned n)
{
	uint64_t mask = gt_lock(&lock);
	int rc = gt_journal_put_locked(type, id, pieces, n);

	gt_unlock(&lock, mask);
	return rc;
}

/* What a forked child takes over: everything but what belongs to the parent's own streams. */
static bool inherited(unsigned type)
{
	return type != GT_D_LOCATION && type != GT_D_LOCATION_NAME && type != GT_D_CUT &&
	       type != GT_D_CALIB && type != GT_D_PROPERTY;
}

int gt_journal_copy(const char *folder, uint64_t bytes)
{
	char from[1100];
	uint64_t mask = gt_lock(&lock);
	uint64_t at = sizeof(struct gt_file_header);
	int fd, rc = 0;

	gt_text(from, sizeof(from), "%s/defs", folder);
	fd = gt_sys_openat(AT_FDCWD, from, O_RDONLY | O_NOFOLLOW | O_CLOEXEC, 0);
	if (fd < 0)
		rc = fd;
	while (!rc && at + sizeof(struct gt_def) <= bytes) {
		struct gt_def def;
		ssize_t n = gt_sys_pread(fd, record, sizeof(record), at);
		size_t used = 0;

		while (n > 0 && used + sizeof(def) <= (size_t)n) {
			memcpy(&def, record + used, sizeof(def));
			if (def.bytes < sizeof(def) || used + def.bytes > (size_t)n ||
			    at + used + def.bytes > bytes)
				break;
			if (inherited(def.type))
				rc = append(record + used, def.bytes);
			used += def.bytes;
			if (rc)
				break;
		}
		if (!used)
			break;
		at += used;
	}
	if (fd >= 0)
		gt_sys_close(fd);
	gt_unlock(&lock, mask);
	return rc;
}
