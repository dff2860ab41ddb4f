/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writing and reading the file `part`: a head with a check over all the rest, then lists, one after the
 * other, in the order of the functions below. Each list says how many members it has, and their size.
 *
 * Limits: a list's members are copied as they lie in memory, so a part is for the build that made it: another
 * FORMAT or another size of a member is refused.
 */
#include "config.h"

#include "lib/assemble/join/partial.h"

#include "gputrace/hash.h"
#include "lib/assemble/util/io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC UINT64_C(0x3274726150544721)
#define NAME  "part"
#define FORMAT 7 /* counts the changes of the lists, their order and what their members mean */

struct head {
	uint64_t magic;
	uint32_t format, unused;
	uint64_t bytes, check;   /* of what follows */
};

/* ---- bytes ----------------------------------------------------------------------------------- */

struct blob {
	char *data;
	size_t used, room;
	size_t at;               /* reading */
	int rc;
};

static void put(struct blob *b, const void *data, size_t bytes)
{
	if (b->rc)
		return;
	if (b->used + bytes > b->room) {
		size_t room = 2 * b->room + bytes + 4096;
		char *more = realloc(b->data, room);

		if (!more) {
			b->rc = -ENOMEM;
			return;
		}
		b->data = more;
		b->room = room;
	}
	if (bytes)
		memcpy(b->data + b->used, data, bytes);
	b->used += bytes;
}

static void put_number(struct blob *b, uint64_t number)
{
	put(b, &number, sizeof(number));
}

static void put_list(struct blob *b, const void *list, size_t count, size_t item)
{
	put_number(b, count);
	put_number(b, item);
	put(b, list, count * item);
}

/* The next bytes, where they lie; NULL: there are not so many. */
static const void *get(struct blob *b, size_t bytes)
{
	const char *data = b->data + b->at;

	if (b->rc || bytes > b->used - b->at) {
		b->rc = b->rc ? b->rc : -EPROTO;
		return NULL;
	}
	b->at += bytes;
	return data;
}

static uint64_t get_number(struct blob *b)
{
	const void *data = get(b, sizeof(uint64_t));
	uint64_t number = 0;

	if (data)
		memcpy(&number, data, sizeof(number));
	return number;
}

/* The members of a list, where they lie. */
static const void *get_members_of(struct blob *b, uint64_t *count, size_t item)
{
	*count = get_number(b);
	if (get_number(b) != item)
		b->rc = b->rc ? b->rc : -EPROTONOSUPPORT;
	if (*count > UINT32_MAX)
		b->rc = b->rc ? b->rc : -EPROTO;
	return b->rc ? NULL : get(b, *count * item);
}

/* A copy of a list; NULL if it is empty, or b->rc says why. */
static void *get_list(struct blob *b, uint64_t *count, size_t item)
{
	const void *data = get_members_of(b, count, item);
	void *list = NULL;

	if (data && *count) {
		list = malloc(*count * item);
		if (list)
			memcpy(list, data, *count * item);
		else
			b->rc = -ENOMEM;
	}
	if (!list)
		*count = 0;
	return list;
}

static uint64_t check_of(const char *data, size_t bytes)
{
	uint64_t check = GT_HASH_START, word;

	for (; bytes >= sizeof(word); data += sizeof(word), bytes -= sizeof(word)) {
		memcpy(&word, data, sizeof(word));
		check = gt_hash_mix(check, word);
	}
	return gt_hash_bytes(check, data, bytes);
}

/* ---- tables ---------------------------------------------------------------------------------- */

static void put_intern(struct blob *b, const struct gt_intern *intern)
{
	put_number(b, intern->count);
	for (size_t i = 0; i < intern->count; i++) {
		size_t length;
		const char *text = gt_intern_text(intern, i, &length);
		uint32_t bytes = (uint32_t)length;

		put(b, &bytes, sizeof(bytes));
		put(b, text, bytes);
	}
}

static void get_intern(struct blob *b, struct gt_intern *intern)
{
	uint64_t count = get_number(b);

	for (uint64_t i = 0; i < count && !b->rc; i++) {
		const void *data = get(b, sizeof(uint32_t));
		uint32_t bytes = 0;

		if (data)
			memcpy(&bytes, data, sizeof(bytes));
		data = get(b, bytes);
		if (data && gt_intern_append(intern, data, bytes))
			b->rc = -ENOMEM;
	}
}

struct place {
	size_t at, item;
};

/* The tables whose structs are copied as they are. */
#define TABLE(name, type) { offsetof(struct gt_defs, name), sizeof(struct type) }
static const struct place tables[] = {
	TABLE(regions, gt_region), TABLE(attributes, gt_attribute_def), TABLE(parameters, gt_attribute_def),
	TABLE(members, gt_member), TABLE(metrics, gt_metric), TABLE(recorders, gt_recorder),
	TABLE(windows, gt_window), TABLE(topologies, gt_topology),
	{ offsetof(struct gt_defs, files), sizeof(uint32_t) }, TABLE(handles, gt_handle),
	TABLE(markers, gt_marker_def), TABLE(sources, gt_source), TABLE(contexts, gt_context),
	{ offsetof(struct gt_defs, generators), sizeof(uint64_t) }, TABLE(comms, gt_comm),
};
#define TABLES (sizeof(tables) / sizeof(*tables))

static void put_tables(struct blob *b, const struct gt_defs *defs)
{
	for (size_t i = 0; i < TABLES; i++) {
		const struct gt_table *table =
			(const struct gt_table *)((const char *)defs + tables[i].at);

		put_intern(b, &table->keys);
		put_list(b, table->items, table->keys.count, tables[i].item);
	}
}

static void get_tables(struct blob *b, struct gt_defs *defs)
{
	for (size_t i = 0; i < TABLES && !b->rc; i++) {
		struct gt_table *table = (struct gt_table *)((char *)defs + tables[i].at);
		uint64_t count;

		get_intern(b, &table->keys);
		table->items = get_list(b, &count, tables[i].item);
		table->room = count;
		if (!b->rc && count != table->keys.count)
			b->rc = -EPROTO;
	}
	/* What has pointers in it must not be freed as it came. */
	if (b->rc) {
		free(defs->comms.items);
		defs->comms.items = NULL;
		defs->comms.keys.count = 0;
	}
}

/* ---- members of communicators: where they are in even steps, only the first and the last --------- */

struct steps {
	uint64_t first, step, count;
};

static void put_members(struct blob *b, const uint64_t *members, size_t count)
{
	put_number(b, count);
	for (size_t i = 0; i < count;) {
		struct steps steps = { .first = members[i], .count = 1 };

		if (i + 1 < count)
			steps.step = members[i + 1] - members[i];
		while (i + steps.count < count &&
		       members[i + steps.count] == steps.first + steps.count * steps.step)
			steps.count++;
		put(b, &steps, sizeof(steps));
		i += steps.count;
	}
}

static uint64_t *get_members(struct blob *b, size_t *count)
{
	uint64_t total = get_number(b), *members;

	*count = 0;
	if (!total || b->rc)
		return NULL;
	members = total > UINT32_MAX ? NULL : malloc(total * sizeof(*members));
	if (!members) {
		b->rc = total > UINT32_MAX ? -EPROTO : -ENOMEM;
		return NULL;
	}
	while (*count < total) {
		const void *data = get(b, sizeof(struct steps));
		struct steps steps;

		if (data)
			memcpy(&steps, data, sizeof(steps));
		if (!data || !steps.count || steps.count > total - *count) {
			b->rc = b->rc ? b->rc : -EPROTO;
			free(members);
			*count = 0;
			return NULL;
		}
		for (uint64_t i = 0; i < steps.count; i++)
			members[(*count)++] = steps.first + i * steps.step;
	}
	return members;
}

static void put_comms(struct blob *b, const struct gt_defs *defs)
{
	const struct gt_comm *comms = defs->comms.items;

	for (size_t i = 0; i < gt_table_count(&defs->comms); i++) {
		put_members(b, comms[i].members, comms[i].member_count);
		put_members(b, comms[i].remote, comms[i].remote_count);
	}
}

static void get_comms(struct blob *b, struct gt_defs *defs)
{
	struct gt_comm *comms = defs->comms.items;
	size_t n = gt_table_count(&defs->comms);

	for (size_t i = 0; comms && i < n; i++) { /* pointers of another process */
		comms[i].members = comms[i].remote = NULL;
		comms[i].member_count = comms[i].remote_count = 0;
	}
	for (size_t i = 0; comms && i < n && !b->rc; i++) {
		comms[i].members = get_members(b, &comms[i].member_count);
		comms[i].remote = get_members(b, &comms[i].remote_count);
	}
}

/* ---- all of it --------------------------------------------------------------------------------- */

static void put_origins(struct blob *b, const struct gt_origins *origins)
{
	put_list(b, origins->list, origins->count, sizeof(*origins->list));
	for (size_t i = 0; i < origins->count; i++) {
		const struct gt_origin *o = &origins->list[i];

		put_list(b, o->scale.segments, o->scale.segment_count, sizeof(*o->scale.segments));
		put_list(b, o->sync_points, o->point_count, sizeof(*o->sync_points));
	}
}

static void get_origins(struct blob *b, struct gt_partial *partial)
{
	struct gt_origins *origins = &partial->origins;
	uint64_t count;

	origins->list = get_list(b, &count, sizeof(*origins->list));
	origins->count = count;
	for (size_t i = 0; i < count; i++) {
		origins->list[i].sync_points = NULL;
		origins->list[i].scale.segments = NULL;
	}
	partial->segments = calloc(count + 1, sizeof(struct gt_segment *));
	if (!partial->segments)
		b->rc = -ENOMEM;
	for (size_t i = 0; i < origins->count && !b->rc; i++) {
		struct gt_origin *o = &origins->list[i];

		partial->segments[i] = get_list(b, &count, sizeof(*o->scale.segments));
		o->scale.segments = partial->segments[i];
		o->scale.segment_count = count;
		o->sync_points = get_list(b, &count, sizeof(*o->sync_points));
		o->point_count = count;
	}
}

int gt_partial_write(int dirfd, const char *name, const void *data, size_t bytes)
{
	int fd = openat(dirfd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	int rc = fd < 0 ? -errno : gt_write_all(fd, data, bytes);

	if (!rc && fsync(fd))
		rc = -errno;
	if (fd >= 0 && close(fd) && !rc)
		rc = -errno;
	return rc;
}

int gt_partial_save(const struct gt_partial *partial, int dirfd)
{
	struct head head = { .magic = MAGIC, .format = FORMAT };
	const struct gt_defs *defs = &partial->defs;
	struct blob b = { 0 };
	int rc;

	put(&b, &head, sizeof(head)); /* its place */
	put_list(&b, &partial->facts, 1, sizeof(partial->facts));
	put_list(&b, partial->facts.texts, partial->facts.text_bytes, 1);
	put_number(&b, partial->last_ns);
	put_origins(&b, &partial->origins);
	put_list(&b, partial->groups, partial->group_count, sizeof(*partial->groups));
	put_list(&b, partial->locations, partial->location_count, sizeof(*partial->locations));
	put_list(&b, partial->nodes, partial->node_count, sizeof(*partial->nodes));
	put_intern(&b, &defs->strings);
	put_list(&b, defs->spoken, defs->spoken_room, 1);
	put_tables(&b, defs);
	put_comms(&b, defs);
	put_list(&b, defs->member_ids, defs->member_id_count, sizeof(*defs->member_ids));
	put_number(&b, defs->other_bytes);
	put_list(&b, partial->properties.list, partial->properties.count,
		 sizeof(*partial->properties.list));
	rc = b.rc;
	if (!rc) {
		head.bytes = b.used - sizeof(head);
		head.check = check_of(b.data + sizeof(head), head.bytes);
		memcpy(b.data, &head, sizeof(head));
		rc = gt_partial_write(dirfd, NAME, b.data, b.used);
	}
	free(b.data);
	return rc;
}

static int read_file(int dirfd, const char *path, struct blob *b)
{
	char name[256];
	struct head head;
	struct stat st;
	FILE *file;
	int fd, rc = -EPROTO; /* cut short, or changed */

	snprintf(name, sizeof(name), "%s/" NAME, path);
	fd = openat(dirfd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	file = fd < 0 ? NULL : fdopen(fd, "r");
	if (!file) {
		rc = -errno;
		if (fd >= 0)
			close(fd);
		return rc;
	}
	if (fstat(fd, &st)) {
		rc = -errno;
	} else if (fread(&head, sizeof(head), 1, file) == 1 && head.magic == MAGIC &&
		   head.bytes == (uint64_t)st.st_size - sizeof(head)) {
		b->data = head.format == FORMAT ? malloc(head.bytes + 1) : NULL;
		rc = b->data ? 0 : head.format == FORMAT ? -ENOMEM : -EPROTONOSUPPORT;
	}
	if (!rc && (fread(b->data, head.bytes, 1, file) != 1 ||
		    check_of(b->data, head.bytes) != head.check))
		rc = -EPROTO;
	if (rc == -EPROTO && ferror(file))
		rc = -EIO;
	b->used = rc ? 0 : head.bytes;
	fclose(file);
	return rc;
}

static void get_who(struct blob *b, struct gt_partial *partial)
{
	uint64_t count;
	const void *facts = get_members_of(b, &count, sizeof(partial->facts));

	if (facts && count != 1)
		b->rc = -EPROTO;
	if (facts && !b->rc)
		memcpy(&partial->facts, facts, sizeof(partial->facts));
	partial->facts.texts = get_list(b, &partial->facts.text_bytes, 1);
	partial->last_ns = get_number(b);
	get_origins(b, partial);
	partial->groups = get_list(b, &count, sizeof(*partial->groups));
	partial->group_count = (uint32_t)count;
	partial->locations = get_list(b, &count, sizeof(*partial->locations));
	partial->location_count = (uint32_t)count;
}

static void get_defs(struct blob *b, struct gt_partial *partial)
{
	struct gt_defs *defs = &partial->defs;
	uint64_t count;

	partial->nodes = get_list(b, &count, sizeof(*partial->nodes));
	partial->node_count = (uint32_t)count;
	get_intern(b, &defs->strings);
	defs->spoken = get_list(b, &count, 1);
	defs->spoken_room = count;
	get_tables(b, defs);
	get_comms(b, defs);
	defs->member_ids = get_list(b, &count, sizeof(*defs->member_ids));
	defs->member_id_count = count;
	defs->other_bytes = get_number(b);
	partial->properties.list = get_list(b, &count, sizeof(*partial->properties.list));
	partial->properties.count = count;
}

int gt_partial_load(struct gt_partial *partial, int dirfd, const char *path, bool defs)
{
	struct blob b = { 0 };
	int rc;

	memset(partial, 0, sizeof(*partial));
	pthread_mutex_init(&partial->defs.lock, NULL);
	rc = read_file(dirfd, path, &b);
	if (!rc) {
		get_who(&b, partial);
		if (defs)
			get_defs(&b, partial);
		rc = b.rc;
	}
	free(b.data);
	if (rc)
		gt_partial_free(partial);
	return rc;
}

void gt_partial_free(struct gt_partial *partial)
{
	for (size_t i = 0; partial->segments && i < partial->origins.count; i++)
		free(partial->segments[i]);
	free(partial->segments);
	gt_origins_free(&partial->origins);
	gt_facts_free(&partial->facts);
	gt_properties_free(&partial->properties);
	gt_defs_free(&partial->defs);
	free(partial->nodes);
	free(partial->groups);
	free(partial->locations);
	memset(partial, 0, sizeof(*partial));
}
