/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the libraries that would be loaded with a program; see needed.h.
 *
 * Limits: GT_NEEDED_FILES libraries, NAMES_ROOM bytes of paths, and those of elfnames.c for each; what is
 * beyond is not looked at. ld.so.cache: up to CACHE_ROOM bytes of it.
 */
#include "lib/common/needed.h"

#include <elf.h>
#include <link.h>
#include <string.h>

#include "lib/common/sys.h"
#include "lib/common/text.h"

#define NAMES_ROOM (512U << 10)
#define CACHE_ROOM (4U << 20)
#define PATH_ROOM  4096

/* Texts are offsets in names; 0: "". */
struct object {
	uint32_t path, rpath, runpath;
	uint32_t by; /* who needs it: an index; itself for the first */
};
struct wanted {
	uint32_t name, by;
	bool optional; /* the loader does without it */
};

struct search {
	const struct gt_needed *ask;
	uint32_t found;          /* the answer */
	bool incomplete;         /* the loader finds something that is not found here, or it starts nothing */
	uint32_t objects_n;
	uint32_t wanted_n;
	uint32_t names_n;
	size_t cache_bytes;
	bool cache_read;
	struct stat open;        /* the file that was opened last */
	char path[PATH_ROOM];    /* where it is */
	char text[PATH_ROOM];    /* what was read of it last, or a word of LD_PRELOAD */
	struct object objects[GT_NEEDED_FILES];
	struct wanted wanted[GT_NEEDED_FILES];
	struct gt_elf_names elf; /* of the file at hand */
	char names[NAMES_ROOM];
	char cache[CACHE_ROOM];
};

/* ---- names ------------------------------------------------------------------------------------------- */

static uint32_t keep(struct search *s, const char *text)
{
	size_t length = strlen(text) + 1;
	uint32_t at = s->names_n;

	if (length == 1 || length > NAMES_ROOM - at)
		return 0;
	memcpy(s->names + at, text, length);
	s->names_n += (uint32_t)length;
	return at;
}

/* Ours, and of glibc and gcc, which need only each other. */
static bool is_basic(const struct gt_needed *ask, const char *name)
{
	static const char *const begins[] = { "libc.so.", "libm.so.", "libdl.so.", "libpthread.so.",
					      "librt.so.", "ld-linux", "linux-vdso", "libgcc_s.so.",
					      "libstdc++.so.", "libresolv.so.", "libutil.so." };

	if (!strncmp(name, GT_NEEDED_OURS, sizeof(GT_NEEDED_OURS) - 1))
		return true;
	for (unsigned i = 0; !ask->all && i < sizeof(begins) / sizeof(begins[0]); i++)
		if (!strncmp(name, begins[i], strlen(begins[i])))
			return true;
	return false;
}

/* Is it wanted for the first time, and is there room for it? */
static bool is_new(const struct search *s, const char *name)
{
	for (uint32_t i = 0; i < s->wanted_n; i++)
		if (!strcmp(s->names + s->wanted[i].name, name))
			return false;
	return s->wanted_n < GT_NEEDED_FILES;
}

/* ---- searching --------------------------------------------------------------------------------------- */

/* A file of this name that could be loaded: its descriptor, with its tables in s->elf; or -1. */
static int open_elf(struct search *s)
{
	int fd = gt_sys_openat(AT_FDCWD, s->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0);

	if (fd < 0)
		return -1;
	/* What it is, its name says. If that is gone, the descriptor stays open: nobody knows whose it is. */
	if (gt_sys_fstatat(AT_FDCWD, s->path, &s->open, 0))
		return -1;
	if (gt_elf_names_read(&s->elf, fd))
		return fd;
	gt_sys_close_own(fd, &s->open);
	return -1;
}

/* One word of a path with $ORIGIN in the place of which the folder of `origin` stands, and the name. */
static bool expand(struct search *s, const char *word, size_t length, const char *origin, const char *name)
{
	size_t folder = (size_t)(gt_text_base(origin) - origin), to = 0;

	while (length) {
		size_t skip = length >= 7 && !memcmp(word, "$ORIGIN", 7)     ? 7
			      : length >= 9 && !memcmp(word, "${ORIGIN}", 9) ? 9
									     : 0;
		const char *from = skip ? origin : word;
		size_t n = skip ? folder : 1;

		if (to + n >= sizeof(s->path))
			return false;
		memcpy(s->path + to, from, n);
		to += n;
		word += skip ? skip : 1;
		length -= skip ? skip : 1;
	}
	return gt_text(s->path + to, sizeof(s->path) - to, "%s%s", to && *name ? "/" : "", name) + 1 <
	       sizeof(s->path) - to;
}

/* In the folders of a list. An empty word is the current folder. */
static int search_list(struct search *s, const char *list, const char *ends, const char *origin,
		       const char *name)
{
	int fd = -1;

	while (fd < 0 && *list) {
		size_t n = strcspn(list, ends);

		if (expand(s, list, n, origin, name))
			fd = open_elf(s);
		list += n + (list[n] != 0);
	}
	return fd;
}

/* ---- ld.so.cache ------------------------------------------------------------------------------------- */

/* As glibc's sysdeps/generic/dl-cache.h has them. */
struct cache_new {
	char magic[20];
	uint32_t count, strings;
	uint32_t unused[5];
};
struct cache_entry {
	int32_t flags;
	uint32_t key, value, version;
	uint64_t abilities;
};
static const char magic_new[] = "glibc-ld.so.cache1.1", magic_old[] = "ld.so-1.7.0";

static void read_cache(struct search *s)
{
	ssize_t n = gt_sys_read_file("/etc/ld.so.cache", 0, s->cache, sizeof(s->cache) - 1);

	s->cache_read = true;
	s->cache_bytes = n < 0 ? 0 : (size_t)n;
}

/* Where the table of today's kind begins: behind that of an older one, if there is one. */
static size_t cache_begin(const struct search *s)
{
	uint32_t count;
	size_t at = 0;

	if (s->cache_bytes >= 16 && !memcmp(s->cache, magic_old, sizeof(magic_old) - 1)) {
		memcpy(&count, s->cache + 12, sizeof(count));
		at = (16 + (size_t)count * 12 + 7) & ~(size_t)7;
	}
	return at < s->cache_bytes && s->cache_bytes - at >= sizeof(struct cache_new) &&
			       !memcmp(s->cache + at, magic_new, sizeof(magic_new) - 1)
		       ? at
		       : SIZE_MAX;
}

static int search_cache(struct search *s, const char *name)
{
	struct cache_new head;
	size_t begin, room;
	int fd = -1;

	if (!s->cache_read)
		read_cache(s);
	begin = cache_begin(s);
	if (begin == SIZE_MAX)
		return -1;
	memcpy(&head, s->cache + begin, sizeof(head));
	room = s->cache_bytes - begin;
	for (uint32_t i = 0; fd < 0 && i < head.count; i++) {
		size_t at = sizeof(head) + (size_t)i * sizeof(struct cache_entry);
		struct cache_entry entry;

		if (at + sizeof(entry) > room)
			break;
		memcpy(&entry, s->cache + begin + at, sizeof(entry));
		if (entry.key >= room || entry.value >= room || strcmp(s->cache + begin + entry.key, name))
			continue;
		gt_text(s->path, sizeof(s->path), "%s", s->cache + begin + entry.value);
		fd = open_elf(s); /* of several the first of this machine */
	}
	return fd;
}

/* ---- as the loader does -------------------------------------------------------------------------------- */

/* The RPATHs of who needs it, of who needs that one ...; one that has a RUNPATH has no RPATH. */
static int search_rpaths(struct search *s, uint32_t by, const char *name)
{
	int fd = -1;

	if (s->objects[by].runpath)
		return -1;
	for (;;) {
		const struct object *o = &s->objects[by];

		if (o->rpath && !o->runpath)
			fd = search_list(s, s->names + o->rpath, ":", s->names + o->path, name);
		if (fd >= 0 || o->by == by)
			return fd;
		by = o->by;
	}
}

static int open_library(struct search *s, uint32_t by, const char *name)
{
	static const char defaults[] = "/lib64:/usr/lib64:/lib:/usr/lib";
	const struct object *o = &s->objects[by];
	const char *origin = s->names + o->path;
	int fd;

	if (strchr(name, '/'))
		return search_list(s, name, "", origin, "");
	fd = search_rpaths(s, by, name);
	if (fd < 0 && s->ask->library_path)
		fd = search_list(s, s->ask->library_path, ":;", s->names + s->objects[0].path, name);
	if (fd < 0 && o->runpath)
		fd = search_list(s, s->names + o->runpath, ":", origin, name);
	if (fd < 0)
		fd = search_cache(s, name);
	return fd < 0 ? search_list(s, defaults, ":", origin, name) : fd;
}

/* ---- one after the other ----------------------------------------------------------------------------- */

static void want(struct search *s, uint32_t by, const char *name, bool optional)
{
	const char *base = gt_text_base(name);

	struct wanted *wanted = &s->wanted[s->wanted_n];

	if (!*name || is_basic(s->ask, base) || !is_new(s, name) || (s->ask->loaded && s->ask->loaded(name)))
		return;
	*wanted = (struct wanted){ .name = keep(s, name), .by = by, .optional = optional };
	s->wanted_n += wanted->name != 0;
}

static uint32_t keep_from(struct search *s, int fd, uint32_t at)
{
	return at && gt_elf_names_text(&s->elf, fd, at, s->text, sizeof(s->text)) ? keep(s, s->text) : 0;
}

/* The file that is open: where it is, where what it needs is looked for, and that. */
static void take(struct search *s, int fd, uint32_t by)
{
	uint32_t me = s->objects_n;

	if (me == GT_NEEDED_FILES)
		return;
	s->objects_n++;
	s->objects[me].by = by;
	s->objects[me].path = keep(s, s->path);
	s->objects[me].rpath = keep_from(s, fd, s->elf.rpath);
	s->objects[me].runpath = keep_from(s, fd, s->elf.runpath);
}

static void want_needed(struct search *s, int fd)
{
	for (unsigned i = 0; i < s->elf.needed_n; i++)
		if (gt_elf_names_text(&s->elf, fd, s->elf.needed[i], s->text, sizeof(s->text)))
			want(s, s->objects_n - 1, s->text, false);
}

static void look_at(struct search *s, const struct wanted *wanted)
{
	int fd = open_library(s, wanted->by, s->names + wanted->name);

	s->incomplete |= fd < 0 && !wanted->optional;
	if (fd < 0)
		return;
	for (unsigned i = 0; i < s->ask->count; i++) {
		if ((!s->ask->found && s->found & 1U << i) ||
		    (s->ask->rows[i].symbol && !gt_elf_names_defines(&s->elf, fd, s->ask->rows[i].symbol)))
			continue;
		s->found |= 1U << i;
		if (s->ask->found)
			s->ask->found(i, &s->elf, fd);
	}
	take(s, fd, wanted->by);
	want_needed(s, fd);
	gt_sys_close_own(fd, &s->open);
}

static void look_at_all(struct search *s)
{
	for (uint32_t i = 0; i < s->wanted_n && (s->ask->found || s->found != (1U << s->ask->count) - 1); i++)
		look_at(s, &s->wanted[i]);
}

static void want_preloaded(struct search *s)
{
	const char *list = s->ask->preload;

	while (list && *list) {
		size_t n = strcspn(list, ": ");

		if (n && n < sizeof(s->text)) {
			memcpy(s->text, list, n);
			s->text[n] = 0;
			want(s, 0, s->text, true);
		}
		list += n + (list[n] != 0);
	}
}

static struct search *begin(const struct gt_needed *ask)
{
	struct search *s = gt_sys_memory(sizeof(*s));

	if (s) {
		s->ask = ask;
		s->names_n = 1; /* 0: "" */
	}
	return s;
}

static uint32_t end(struct search *s, uint32_t found)
{
	gt_sys_munmap(s, sizeof(*s));
	return found;
}

uint32_t gt_needed_by_program(const struct gt_needed *ask, int fd)
{
	struct search *s = begin(ask);
	char link[64];
	ssize_t n;

	if (!s)
		return GT_NEEDED_UNKNOWN;
	gt_text(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = gt_sys_readlink(link, s->path, sizeof(s->path) - 1); /* $ORIGIN is where it really is */
	s->path[n < 0 ? 0 : n] = 0;
	/* What has no loader is one itself, called by hand. */
	if (!gt_elf_names_read(&s->elf, fd) || !s->elf.has_loader)
		return end(s, GT_NEEDED_UNKNOWN);
	take(s, fd, 0);
	want_needed(s, fd);
	want_preloaded(s);
	look_at_all(s);
	return end(s, s->incomplete ? GT_NEEDED_UNKNOWN : s->found);
}

uint32_t gt_needed_by_library(const struct gt_needed *ask, const char *name, const char *caller)
{
	struct search *s = begin(ask);
	int fd;

	if (!s)
		return GT_NEEDED_UNKNOWN;
	gt_text(s->path, sizeof(s->path), "%s", caller);
	fd = open_elf(s);
	take(s, fd, 0); /* if it cannot be read, it has no such paths */
	if (fd >= 0)
		gt_sys_close_own(fd, &s->open);
	want(s, 0, name, true);
	look_at_all(s);
	return end(s, s->found);
}

/* ---- LD_PRELOAD --------------------------------------------------------------------------------------- */

static uint32_t bit_of(const char *word, size_t length, const struct gt_shown *rows, unsigned count)
{
	const char *base = memrchr(word, '/', length);

	base = base ? base + 1 : word;
	length -= (size_t)(base - word);
	for (unsigned i = 0; i < count; i++)
		if (strlen(rows[i].library) == length && !memcmp(base, rows[i].library, length))
			return 1U << i;
	return 0;
}

uint32_t gt_needed_hide(char *copy, const char *list, const struct gt_shown *rows, unsigned count,
			uint32_t shown)
{
	uint32_t hidden = 0;
	char *to = copy;

	while (*list) {
		size_t n = strcspn(list, ": ");
		uint32_t bit = bit_of(list, n, rows, count);

		hidden |= bit & ~shown;
		if (copy && n && !(bit & ~shown)) {
			if (to != copy)
				*to++ = ':';
			memcpy(to, list, n);
			to += n;
		}
		list += n + (list[n] != 0);
	}
	if (copy)
		*to = 0;
	return hidden;
}
