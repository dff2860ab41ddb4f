/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading a journal of definitions that may be cut off, damaged or hostile.
 *
 * Limits: every length is checked against what is there before it is used.
 */
#include "config.h"

#include "lib/assemble/spool/journal.h"

#include "lib/assemble/util/array.h"
#include "lib/assemble/util/io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

uint32_t gt_fnv32(uint32_t hash, const void *data, size_t bytes)
{
	const unsigned char *p = data;

	while (bytes--)
		hash = (hash ^ *p++) * 16777619u;
	return hash;
}

/* The least payload of each type; 0: any. */
static const size_t least_payload[GT_JOURNAL_TYPES] = {
	[GT_D_STRING] = 1,
	[GT_D_REGION] = sizeof(struct gt_def_region),
	[GT_D_METRIC] = sizeof(struct gt_def_metric),
	[GT_D_MARKER] = sizeof(struct gt_def_marker),
	[GT_D_ATTRIBUTE] = sizeof(struct gt_def_attribute),
	[GT_D_PARAMETER] = sizeof(struct gt_def_attribute),
	[GT_D_COMM] = sizeof(struct gt_def_shared),
	[GT_D_WINDOW] = sizeof(struct gt_def_shared),
	[GT_D_HANDLE] = sizeof(struct gt_def_shared),
	[GT_D_LOCATION] = sizeof(struct gt_def_location),
	[GT_D_LOCATION_NAME] = sizeof(struct gt_def_loc_name),
	[GT_D_LOCGROUP] = sizeof(struct gt_def_locgroup),
	[GT_D_MODULE] = sizeof(struct gt_def_module) + 1,
	[GT_D_MODULE_GONE] = sizeof(struct gt_def_module_gone),
	[GT_D_CUT] = sizeof(struct gt_def_cut),
	[GT_D_CALIB] = sizeof(struct gt_def_calib),
	[GT_D_SYNC] = sizeof(struct gt_def_sync),
	[GT_D_CLOCK] = sizeof(struct gt_def_clock),
	[GT_D_PROPERTY] = 2,
	[GT_D_GROUP] = sizeof(struct gt_def_group),
	[GT_D_PARAMS] = sizeof(struct gt_def_params),
	[GT_D_TOPOLOGY] = sizeof(struct gt_def_topology),
	[GT_D_LINK] = sizeof(struct gt_def_link) + 1,
	[GT_D_CHANNEL] = sizeof(struct gt_def_channel),
	[GT_D_RECORD] = sizeof(struct gt_def_record),
};

/* Is the record's inside as its type demands? The record's length has been checked. */
static bool sound(const struct gt_def *def, const unsigned char *payload, size_t bytes)
{
	struct gt_def_group group;
	struct gt_def_params params;
	struct gt_def_topology topology;
	struct gt_def_clock clock;

	if (bytes < least_payload[def->type])
		return false;
	switch (def->type) {
	case GT_D_STRING:
		return memchr(payload, 0, bytes) != NULL;
	case GT_D_MODULE:
		return memchr(payload + sizeof(struct gt_def_module), 0,
			      bytes - sizeof(struct gt_def_module)) != NULL;
	case GT_D_PROPERTY: {
		const unsigned char *key_end = memchr(payload, 0, bytes);

		return key_end &&
		       memchr(key_end + 1, 0, bytes - (size_t)(key_end + 1 - payload)) != NULL;
	}
	case GT_D_GROUP:
		memcpy(&group, payload, sizeof(group));
		if (group.kind == 2) /* not more processes than there are anywhere */
			return group.count < 1u << 26 && bytes - sizeof(group) >= 2 * sizeof(uint32_t);
		return group.count <=
		       (bytes - sizeof(group)) / ((group.kind == 3 ? 2 : 1) * sizeof(uint32_t));
	case GT_D_LINK:
		return memchr(payload + sizeof(struct gt_def_link), 0,
			      bytes - sizeof(struct gt_def_link)) != NULL;
	case GT_D_PARAMS:
		memcpy(&params, payload, sizeof(params));
		return params.count <= (bytes - sizeof(params)) / sizeof(struct gt_def_param);
	case GT_D_TOPOLOGY:
		memcpy(&topology, payload, sizeof(topology));
		return topology.count <= (bytes - sizeof(topology)) / (2 * sizeof(uint32_t));
	case GT_D_CLOCK:
		memcpy(&clock, payload, sizeof(clock));
		return clock.count <= (bytes - sizeof(clock)) / sizeof(struct gt_def_sync_point) &&
		       memchr(clock.host, 0, sizeof(clock.host)) &&
		       memchr(clock.reference, 0, sizeof(clock.reference));
	default:
		return true;
	}
}

static int add(struct gt_journal *journal, unsigned type, uint32_t id, uint64_t at)
{
	struct gt_journal_type *t = &journal->types[type];

	if (!gt_array_has_room(t->entries, t->count, &t->room))
		return -ENOMEM;
	t->entries[t->count] = (struct gt_journal_entry){ .id = id, .order = (uint32_t)t->count, .at = at };
	t->count++;
	return 0;
}

/* How many of the bytes are before the zeros at their end. */
static size_t up_to_zeros(const unsigned char *data, size_t bytes)
{
	uint64_t word = 0;

	while (bytes % sizeof(word) && !data[bytes - 1])
		bytes--;
	for (; bytes >= sizeof(word) && bytes % sizeof(word) == 0; bytes -= sizeof(word)) {
		memcpy(&word, data + bytes - sizeof(word), sizeof(word));
		if (word)
			break;
	}
	while (bytes && !data[bytes - 1])
		bytes--;
	return bytes;
}

static int parse(struct gt_journal *journal, uint64_t bytes)
{
	uint64_t at = GT_DEFS_AT + sizeof(struct gt_file_header);
	struct gt_file_header header;

	journal->unread = bytes > GT_DEFS_AT ? bytes - GT_DEFS_AT : 0;
	if (bytes < at)
		return 0;
	memcpy(&header, journal->data + GT_DEFS_AT, sizeof(header));
	if (header.magic != GT_MAGIC_DEFS || header.version != GT_FORMAT_VERSION)
		return 0;
	while (bytes - at >= sizeof(struct gt_def)) {
		struct gt_def def;
		uint32_t check;

		memcpy(&def, journal->data + at, sizeof(def));
		if (def.bytes < sizeof(def) || def.bytes % 8 || def.bytes > bytes - at)
			break;
		check = gt_fnv32(GT_FNV_START, &def, 12);
		check = gt_fnv32(check, journal->data + at + sizeof(def), def.bytes - sizeof(def));
		if (check != def.check)
			break;
		if (def.type > 0 && def.type < GT_JOURNAL_TYPES &&
		    sound(&def, journal->data + at + sizeof(def), def.bytes - sizeof(def))) {
			int rc = add(journal, def.type, def.id, at);

			if (rc)
				return rc;
		}
		at += def.bytes;
	}
	journal->bytes = at;
	/* Zeros are room that was kept ready. */
	journal->unread = up_to_zeros(journal->data + at, bytes - at);
	return 0;
}

static int compare(const void *a, const void *b)
{
	const struct gt_journal_entry *x = a, *y = b;

	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return (x->order > y->order) - (x->order < y->order);
}

static void sort(struct gt_journal *journal)
{
	for (unsigned type = 0; type < GT_JOURNAL_TYPES; type++) {
		size_t n = journal->types[type].count;
		bool sorted = true;

		for (size_t i = 1; i < n && sorted; i++)
			sorted = compare(&journal->types[type].entries[i - 1],
					 &journal->types[type].entries[i]) <= 0;
		if (!sorted)
			qsort(journal->types[type].entries, n,
			      sizeof(*journal->types[type].entries), compare);
	}
}

#define PIECE 65536u
#define DEFINITION 16384u /* none is longer, and zeros may be what one ends with */

/*
 * How much of a file of that size is to be looked at: zeros at its end are room that was kept ready, or what
 * a file has that has grown, which may be more than fits into memory.
 */
static uint64_t without_zeros(int fd, uint64_t size)
{
	unsigned char *piece = malloc(PIECE);
	off_t data, hole = 0;
	uint64_t end = size;
	ssize_t n = 0;

	while ((data = lseek(fd, hole, SEEK_DATA)) >= 0 && (uint64_t)data < size)
		hole = lseek(fd, data, SEEK_HOLE);
	if ((data >= 0 || errno == ENXIO) && (uint64_t)hole < size) /* a hole is all that follows */
		end = (uint64_t)hole;
	while (piece && end && !n) {
		uint64_t at = (end - 1) / PIECE * PIECE;

		n = gt_read_at(fd, piece, end - at, at);
		if (n < (ssize_t)(end - at))
			break;
		n = (ssize_t)up_to_zeros(piece, (size_t)n);
		end = at + (uint64_t)n;
	}
	free(piece);
	return end + DEFINITION < size ? end + DEFINITION : size;
}

static int read_all(struct gt_journal *journal, int fd, uint64_t *bytes)
{
	struct stat st;
	uint64_t size;
	ssize_t n;

	if (fstat(fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode) || st.st_size <= 0)
		return 0;
	size = (uint64_t)st.st_size;
	if (size > GT_JOURNAL_MAX)
		size = GT_JOURNAL_MAX;
	size = without_zeros(fd, size);
	/* Mapped, so that the definitions of thousands of processes need no memory of their own. */
	journal->data = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (journal->data != MAP_FAILED) {
		journal->mapped = size;
		*bytes = size;
		return 0;
	}
	journal->data = malloc(size);
	if (!journal->data)
		return -ENOMEM;
	n = gt_read_at(fd, journal->data, size, 0);
	if (n < 0)
		return (int)n;
	*bytes = (uint64_t)n;
	return 0;
}

int gt_journal_read(struct gt_journal *journal, int dirfd)
{
	uint64_t bytes = 0;
	int fd, rc;

	memset(journal, 0, sizeof(*journal));
	fd = openat(dirfd, "proc", O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return errno == ENOENT || errno == ELOOP ? 0 : -errno;
	rc = read_all(journal, fd, &bytes);
	close(fd);
	if (!rc && journal->data)
		rc = parse(journal, bytes);
	if (rc) {
		gt_journal_free(journal);
		return rc;
	}
	sort(journal);
	return 0;
}

void gt_journal_free(struct gt_journal *journal)
{
	for (unsigned type = 0; type < GT_JOURNAL_TYPES; type++)
		free(journal->types[type].entries);
	if (journal->mapped)
		munmap(journal->data, journal->mapped);
	else
		free(journal->data);
	memset(journal, 0, sizeof(*journal));
}

static const void *payload(const struct gt_journal *journal, const struct gt_journal_entry *entry,
			   size_t *bytes)
{
	const unsigned char *record = journal->data + entry->at;
	struct gt_def def;

	memcpy(&def, record, sizeof(def));
	if (bytes)
		*bytes = def.bytes - sizeof(def);
	return record + sizeof(def);
}

const void *gt_journal_find(const struct gt_journal *journal, unsigned type, uint32_t id,
			    size_t *bytes)
{
	const struct gt_journal_entry *entries = journal->types[type].entries;
	size_t low = 0, high = journal->types[type].count;

	/* The last entry with this id: one before the first with a larger one. */
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (entries[middle].id <= id)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || entries[low - 1].id != id)
		return NULL;
	return payload(journal, &entries[low - 1], bytes);
}

const void *gt_journal_nth(const struct gt_journal *journal, unsigned type, size_t n, uint32_t *id,
			   size_t *bytes)
{
	if (n >= journal->types[type].count)
		return NULL;
	if (id)
		*id = journal->types[type].entries[n].id;
	return payload(journal, &journal->types[type].entries[n], bytes);
}

size_t gt_journal_count(const struct gt_journal *journal, unsigned type)
{
	return journal->types[type].count;
}

const char *gt_journal_string(const struct gt_journal *journal, uint32_t id)
{
	return id ? gt_journal_find(journal, GT_D_STRING, id, NULL) : NULL;
}

const char *gt_journal_property(const struct gt_journal *journal, const char *key)
{
	for (size_t i = 0; i < gt_journal_count(journal, GT_D_PROPERTY); i++) {
		const char *found = gt_journal_nth(journal, GT_D_PROPERTY, i, NULL, NULL);

		if (!strcmp(found, key))
			return found + strlen(found) + 1;
	}
	return NULL;
}
