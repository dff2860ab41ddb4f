/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Records where files are mapped in memory, so that the assembly can look up names: read from
 * /proc/self/maps (no lock of the loader, safe in signal handlers), written to the journal when something
 * is new or gone.
 *
 * Limits: executable file mappings only; MODULES_MAX at a time; a file mapped and unmapped between
 * two scans is missed (dlclose scans before and after, dlopen makes the next event scan).
 */
#include "lib/common/text.h"
#include "lib/record/record.h"
#include "lib/record/verdict.h"

#include <string.h>

#define MODULES_MAX 4096
#define TEXT_BYTES  20480 /* a line with a path of GT_NAME_MAX bytes, each as \\ooo */

struct module {
	struct gt_def_module def;
	char *path;
	bool seen, shared;
};

static struct gt_lock *const lock = &gt_locks[GT_LOCK_MODULES];
static struct module *modules;
static unsigned room;          /* of them */
static unsigned count;
static char *text;             /* TEXT_BYTES + 1 */
GT_HIDDEN bool gt_modules_apart;
static bool found_new;         /* by the scan under way */
GT_HIDDEN int gt_modules_dirty;
static char *paths, *paths_end;/* bump allocator; paths are never freed */

static char *keep_path(const char *path, size_t length)
{
	if ((size_t)(paths_end - paths) <= length) {
		size_t bytes = length + 1 > 16384 ? length + 1 : 16384;

		paths = gt_sys_memory(bytes);
		paths_end = paths ? paths + bytes : NULL;
		if (!paths)
			return NULL;
	}
	memcpy(paths, path, length);
	paths[length] = 0;
	paths += length + 1;
	return paths - length - 1;
}

/* Room for one more. */
static bool grow(void)
{
	unsigned more = room ? 2 * room : 64;
	struct module *larger;

	if (count < room)
		return true;
	larger = room < MODULES_MAX ? gt_sys_memory(more * sizeof(*larger)) : NULL;
	if (!larger)
		return false;
	if (modules) {
		memcpy(larger, modules, count * sizeof(*larger));
		gt_sys_munmap(modules, room * sizeof(*modules));
	}
	modules = larger;
	room = more;
	return true;
}

static uint64_t number(const char **at, unsigned base)
{
	uint64_t value = 0;

	for (;; (*at)++) {
		char c = **at;
		unsigned digit = c >= '0' && c <= '9'                 ? (unsigned)(c - '0')
				 : base == 16 && c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
								      : 99;

		if (digit >= base)
			return value;
		value = value * base + digit;
	}
}

/* "start-end perms offset major:minor inode   path"; false if it is not an executable file. */
static bool parse(const char *line, struct gt_def_module *def, const char **path, bool *shared)
{
	const char *at = line;

	def->start = number(&at, 16);
	if (*at++ != '-')
		return false;
	def->end = number(&at, 16);
	if (*at++ != ' ' || strlen(at) < 5 || at[2] != 'x')
		return false;
	*shared = at[3] == 's';
	at += 5;
	def->offset = number(&at, 16);
	at += *at == ' ';
	def->dev_major = (uint32_t)number(&at, 16);
	at += *at == ':';
	def->dev_minor = (uint32_t)number(&at, 16);
	at += *at == ' ';
	def->inode = number(&at, 10);
	while (*at == ' ')
		at++;
	*path = at;
	return *at == '/';
}

static void put_gone(const struct module *m, uint64_t tick)
{
	struct gt_def_module_gone gone = { tick, m->def.start, m->def.end };

	gt_verdict_forget(m->def.start, m->def.end);
	if (gt_state_now() != GT_CLOSED) /* else only our own place is looked for (launch.c) */
		gt_journal_put(GT_D_MODULE_GONE, 0, &(struct gt_piece){ &gone, sizeof(gone) }, 1);
}

bool gt_is_libgputrace(const char *path)
{
	static const char begin[] = "libgputrace.so";

	return !strncmp(gt_text_base(path), begin, sizeof(begin) - 1);
}

static void put_new(struct gt_def_module *def, const char *path, bool shared, uint64_t tick)
{
	size_t length = strlen(path);
	struct stat st;
	struct gt_piece pieces[2] = { { def, sizeof(*def) }, { path, length + 1 } };

	if (length >= GT_NAME_MAX || !grow())
		return;
	def->tick = tick;
	if (!gt_sys_fstatat(AT_FDCWD, path, &st, 0)) {
		def->size = (uint64_t)st.st_size;
		def->mtime_ns = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
	}
	modules[count] = (struct module){ *def, keep_path(path, length), true, shared };
	if (!modules[count].path)
		return;
	count++;
	found_new = true;
	if (gt_state_now() != GT_CLOSED)
		gt_journal_put(GT_D_MODULE, 0, pieces, 2);
}

static void handle_line(const char *line, uint64_t tick)
{
	struct gt_def_module def = { 0 };
	const char *path;
	bool shared;

	if (!parse(line, &def, &path, &shared))
		return;
	for (unsigned i = 0; i < count; i++) {
		struct module *m = &modules[i];

		if (m->def.start == def.start && m->def.end == def.end &&
		    m->def.inode == def.inode && m->def.offset == def.offset &&
		    m->def.dev_major == def.dev_major && m->def.dev_minor == def.dev_minor) {
			m->seen = true;
			return;
		}
	}
	/* What lay there before is gone, and said to be gone before the new one is said. */
	for (unsigned i = 0; i < count;) {
		struct module *m = &modules[i];

		if (m->def.start < def.end && def.start < m->def.end) {
			put_gone(m, tick);
			*m = modules[--count];
			continue;
		}
		i++;
	}
	put_new(&def, path, shared, tick);
}

static void scan(int fd, ssize_t n, uint64_t tick)
{
	size_t have = 0;
	uint64_t at = 0;

	for (unsigned i = 0; i < count; i++)
		modules[i].seen = false;
	for (; n > 0; n = gt_sys_pread(fd, text + have, TEXT_BYTES - have, at)) {
		char *line = text, *newline;

		have += (size_t)n;
		at += (size_t)n;
		text[have] = 0;
		while ((newline = strchr(line, '\n'))) {
			*newline = 0;
			handle_line(line, tick);
			line = newline + 1;
		}
		have -= (size_t)(line - text);
		memmove(text, line, have);
		if (have == TEXT_BYTES)
			have = 0; /* a line longer than any path */
	}
	for (unsigned i = 0; i < count;) {
		if (!modules[i].seen) {
			put_gone(&modules[i], tick);
			modules[i] = modules[--count];
			continue;
		}
		i++;
	}
}

static bool same_file(const struct gt_def_module *a, const struct gt_def_module *b)
{
	return a->inode == b->inode && a->dev_major == b->dev_major && a->dev_minor == b->dev_minor;
}

/*
 * The library of another version, which stays out (process.c). dlmopen() maps ours twice, or another version
 * that does not stay out: the map does not tell in whose list of the loader a library is.
 */
static void tell_of_another(void)
{
	uintptr_t here = (uintptr_t)gt_modules_scan;
	const struct module *own = NULL;

	for (unsigned i = 0; i < count && !own; i++)
		if (here >= modules[i].def.start && here < modules[i].def.end)
			own = &modules[i];
	for (unsigned i = 0; own && i < count; i++)
		if (gt_is_libgputrace(modules[i].path) && !same_file(&modules[i].def, &own->def))
			gt_warn_once(GT_WARN_COPY,
				     "%s is loaded beside %s and stays out: calls that were linked with "
				     "its version only are not recorded; build the program with the "
				     "gputrace that runs it", modules[i].path, own->path);
}

/* Reads the memory map. 0, or why there is none. */
static int look(void *path)
{
	struct stat own;
	int fd = gt_sys_open_own(AT_FDCWD, path, 0, &own);
	ssize_t n = fd < 0 ? fd : gt_sys_pread(fd, text, TEXT_BYTES, 0);

	if (n > 0)
		scan(fd, n, gt_clock_read());
	if (found_new && !__atomic_load_n(&gt_modules_apart, __ATOMIC_RELAXED))
		tell_of_another();
	if (fd >= 0)
		gt_sys_close_own(fd, &own);
	return n > 0 ? 0 : n < 0 ? (int)n : -ENODATA;
}

bool gt_modules_scan(void)
{
	uint64_t mask;
	bool news, due;

	if (gt_sys_refused())
		return false;
	mask = gt_lock(lock);
	if (mask == GT_LOCK_REFUSED)
		return false;
	found_new = false;
	due = __atomic_exchange_n(&gt_modules_dirty, 0, __ATOMIC_RELAXED) || !count;
	if (!text)
		text = gt_sys_memory(TEXT_BYTES + 1);
	/* The process has none when the main thread has ended; emulators (qemu) know no other. */
	if (!text || (gt_folder_apart(look, (void *)"/proc/self/maps", -1) &&
		      gt_folder_apart(look, (void *)"/proc/thread-self/maps", -1)))
		if (due) /* nobody will ask for the names of what is there since */
			gt_count_lost(GT_LOSS_DEFINITION, 1);
	news = found_new;
	gt_unlock(lock, mask);
	return news;
}

bool gt_modules_find(uintptr_t address, struct gt_module_range *out)
{
	uint64_t mask = gt_lock(lock);
	bool found = false;

	for (unsigned i = 0; mask != GT_LOCK_REFUSED && i < count && !found; i++) {
		const struct module *m = &modules[i];

		if (address >= m->def.start && address < m->def.end) {
			*out = (struct gt_module_range){ m->def.start, m->def.end, m->def.offset,
							 m->path, m->shared };
			found = true;
		}
	}
	gt_unlock(lock, mask);
	return found;
}

/*
 * Called before the program's dlopen, which we must not wrap (it looks at its caller): the thread's
 * next events look at the memory map, until they have found something new or have looked twice.
 */
void gt_modules_changed(void)
{
	struct gt_hot *hot = gt_self;

	if (gt_state_now() != GT_READY)
		return;
	__atomic_store_n(&gt_modules_dirty, 1, __ATOMIC_RELAXED);
	if (hot->loc) {
		hot->loc->scans_left = 2;
		gt_hot_stop(hot);
	}
}
