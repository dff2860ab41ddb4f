/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The definitions journal of the process: mapped chunk by chunk, so that a killed process leaves all complete
 * ones, and the next one needs no system call. It follows the process's header in one file, because short
 * processes are many, and to make a file may cost more than all that is written into it.
 *
 * Limits: definitions up to JOURNAL_MAX bytes; written under the definitions lock, signals blocked.
 */
#include "lib/common/text.h"
#include "lib/record/record.h"

#include <errno.h>
#include <string.h>

#define JOURNAL_MAX 12288u

#define CHUNK       16384u /* or two pages; what a short process has to say is half of it */
#define CONFINED    65536u /* fit in at least when nothing can be mapped any more */

static struct gt_lock *const lock = &gt_locks[GT_LOCK_DEFS];
static char record[JOURNAL_MAX]; /* under the lock; not on small stacks */

/* The part of the file that is being written. */
static char *chunk;
static uint64_t chunk_at; /* in the file, as journal_end() */
static size_t chunk_room;
static bool closed = true;
struct gt_file gt_proc_file = { .fd = -1 };

static uint32_t fnv(uint32_t hash, const void *data, size_t bytes)
{
	const unsigned char *p = data;

	while (bytes--)
		hash = (hash ^ *p++) * 16777619u;
	return hash;
}

static uint64_t journal_end(void)
{
	return GT_DEFS_AT + gt_proc->defs_bytes;
}

static size_t chunk_bytes(void)
{
	size_t two = 2 * gt_page_size();

	return two > CHUNK ? two : CHUNK;
}

/* Maps `room` bytes more: for what is written from now on, beginning with the page that is not full. */
static int map_next(void *room)
{
	size_t bytes = *(size_t *)room;
	uint64_t at = journal_end() / gt_page_size() * gt_page_size();
	void *next = NULL;
	int rc = gt_folder_map("proc", &gt_proc_file, at, bytes, &next);

	if (rc)
		return rc;
	if (chunk)
		gt_sys_munmap(chunk, chunk_room);
	chunk = next;
	chunk_at = at;
	chunk_room = bytes;
	return 0;
}

static int map_chunk(void)
{
	size_t room = chunk_bytes();

	return gt_folder_apart(map_next, &room, -1);
}

int gt_journal_open(void)
{
	const struct gt_file_header header = { .magic = GT_MAGIC_DEFS, .version = GT_FORMAT_VERSION };
	int rc;

	gt_proc->defs_bytes = 0;
	rc = map_chunk();
	if (rc)
		return rc;
	memcpy(chunk + (journal_end() - chunk_at), &header, sizeof(header));
	gt_proc->defs_bytes = sizeof(header);
	closed = false;
	return 0;
}

void gt_journal_forget(void)
{
	if (chunk)
		gt_sys_munmap(chunk, chunk_room);
	chunk = NULL;
	closed = true; /* not to be opened again: the assembly may have taken it away */
	gt_proc_file = (struct gt_file){ .fd = -1 };
}

void gt_journal_make_room(void)
{
	size_t room = CONFINED + gt_page_size();
	uint64_t mask = gt_lock(lock);

	/* If it fails there is what is mapped: a definition that does not fit is counted. */
	if (mask != GT_LOCK_REFUSED && !closed && journal_end() + CONFINED > chunk_at + chunk_room)
		gt_folder_apart(map_next, &room, -1);
	gt_unlock(lock, mask);
}

static int append(const void *data, size_t bytes)
{
	int rc = closed ? -EBADF : 0;

	if (!rc && journal_end() + bytes > chunk_at + chunk_room)
		rc = map_chunk();
	if (rc) {
		gt_count_lost(GT_LOSS_DEFINITION, 1);
		if (!closed)
			gt_warn_once(GT_WARN_SPACE, "cannot write to %s/proc: %s", gt_proc_folder,
				     gt_text_errno(rc));
		return rc;
	}
	memcpy(chunk + (journal_end() - chunk_at), data, bytes);
	/* Pairs with read_journal() in live/follow.c. */
	__atomic_store_n(&gt_proc->defs_bytes, gt_proc->defs_bytes + bytes, __ATOMIC_RELEASE);
	return 0;
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
	uint64_t mask = gt_lock(lock);
	int rc = -EBUSY;

	if (mask != GT_LOCK_REFUSED)
		rc = gt_journal_put_locked(type, id, pieces, n);
	else
		gt_count_lost(GT_LOSS_DEFINITION, 1);
	gt_unlock(lock, mask);
	return rc;
}

static void put_property_locked(const char *key, const char *value)
{
	const struct gt_piece pieces[4] = {
		{ key, strnlen(key, 256) }, { "", 1 }, { value, strnlen(value, GT_NAME_MAX) }, { "", 1 },
	};

	gt_journal_put_locked(GT_D_PROPERTY, 0, pieces, 4);
}

void gt_put_property(const char *key, const char *value)
{
	uint64_t mask = gt_lock(lock);

	if (mask != GT_LOCK_REFUSED)
		put_property_locked(key, value);
	else
		gt_count_lost(GT_LOSS_DEFINITION, 1);
	gt_unlock(lock, mask);
}

void gt_put_settings(void)
{
	uint64_t mask = gt_lock(lock);
	char key[80], text[GT_NAME_MAX];

	for (size_t i = 0; mask != GT_LOCK_REFUSED && i < gt_setting_count; i++) {
		gt_text(key, sizeof(key), GT_SETTING "%s", gt_setting_rows[i].name);
		put_property_locked(key, gt_settings_text(&gt_setting_rows[i], text, sizeof(text)));
	}
	if (mask == GT_LOCK_REFUSED)
		gt_count_lost(GT_LOSS_DEFINITION, gt_setting_count);
	gt_unlock(lock, mask);
}

/* Does a forked child take over such definitions? All except those of the parent's own streams. */
static bool inherited(unsigned type)
{
	return type != GT_D_LOCATION && type != GT_D_LOCATION_NAME && type != GT_D_CUT &&
	       type != GT_D_CALIB && type != GT_D_PROPERTY;
}

int gt_journal_copy(int folder, uint64_t bytes)
{
	uint64_t mask = gt_lock(lock);
	uint64_t at = sizeof(struct gt_file_header);
	struct stat own;
	int fd, rc = 0;

	if (mask == GT_LOCK_REFUSED)
		return -EBUSY;
	fd = gt_sys_open_own(folder, "proc", O_NOFOLLOW, &own);
	if (fd < 0)
		rc = fd;
	while (!rc && at + sizeof(struct gt_def) <= bytes) {
		struct gt_def def;
		ssize_t n = gt_sys_pread(fd, record, sizeof(record), GT_DEFS_AT + at);
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
		gt_sys_close_own(fd, &own);
	gt_unlock(lock, mask);
	return rc;
}
