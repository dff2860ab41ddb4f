/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names that come and go; see shown.h. A symbol without a value is not found; it waits in its size
 * meanwhile.
 *
 * Safe, because a symbol changes by one store of a word, and nobody of ours is bound to these symbols by
 * then; a thread that looks one up at the same time finds it or does not.
 *
 * Limits: see shown.h. WRAPPERS wrappers.
 */
#include "instrument/shown.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <string.h>

#include "lib/common/elfnames.h"
#include "lib/common/needed.h"
#include "lib/common/sys.h"
#include "lib/common/text.h"
#include "lib/record/record.h"

enum { WRAPPERS = 8, NAME_ROOM = 64 };

static const struct gt_shown always[] = {
#define GT_SHOWN_WITH(library, symbol) { library, symbol },
#include "registry/adapters.def"
};
enum { ROWS = sizeof(always) / sizeof(always[0]) };

/* Wrappers that libwrapgen made come behind these, and are for any library that has one of their names. */
static struct gt_shown rows[ROWS + WRAPPERS];
static unsigned rows_n;
static char wrappers[WRAPPERS][NAME_ROOM];

static struct table {
	ElfW(Sym) *symbols;
	const char *strings;
	uint32_t first, end; /* those in its hash table: what it defines */
	int protection;      /* of its pages */
	bool *there;         /* of each: another library has it */
} tables[ROWS + WRAPPERS];

static struct gt_lock *const lock = &gt_locks[GT_LOCK_SHOWN]; /* of what is written to the symbol tables */
static uint32_t held_back;       /* these have, or may have, hidden names */
static const char *library_path; /* LD_LIBRARY_PATH as the loader knows it */
static void (*load_ours)(const char *library, int mode);

/* ---- the symbol tables ------------------------------------------------------------------------------- */

/* glibc has made most of them addresses. */
static const void *address(const struct dl_phdr_info *info, uint64_t value)
{
	return (const void *)(uintptr_t)(value < info->dlpi_addr ? value + info->dlpi_addr : value);
}

static const ElfW(Dyn) *dynamic_of(const struct dl_phdr_info *info)
{
	for (unsigned i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
			return (const ElfW(Dyn) *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
	return NULL;
}

static const void *entry(const struct dl_phdr_info *info, ElfW(Sxword) tag)
{
	const ElfW(Dyn) *d = dynamic_of(info);

	for (; d && d->d_tag != DT_NULL; d++)
		if (d->d_tag == tag)
			return address(info, d->d_un.d_ptr);
	return NULL;
}

/* How far the symbols reach that are in a hash table: to the end of the last chain. */
static void set_range(struct table *t, const uint32_t *hash)
{
	const uint32_t *buckets = hash + 4 + hash[2] * (sizeof(ElfW(Addr)) / 4), *chains = buckets + hash[0];
	uint32_t last = 0;

	for (uint32_t i = 0; i < hash[0]; i++)
		last = buckets[i] > last ? buckets[i] : last;
	while (last && !(chains[last - hash[1]] & 1))
		last++;
	t->first = hash[1];
	t->end = last ? last + 1 : t->first;
}

static int protection_of(const struct dl_phdr_info *info, const void *at)
{
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *seg = &info->dlpi_phdr[i];

		if (seg->p_type == PT_LOAD && (uintptr_t)at - info->dlpi_addr - seg->p_vaddr < seg->p_memsz)
			return (seg->p_flags & PF_R ? PROT_READ : 0) |
			       (seg->p_flags & PF_W ? PROT_WRITE : 0) |
			       (seg->p_flags & PF_X ? PROT_EXEC : 0);
	}
	return PROT_READ;
}

static int find_table(struct dl_phdr_info *info, size_t size, void *data)
{
	unsigned row = *(unsigned *)data;
	struct table *t = &tables[row];
	const uint32_t *hash;

	(void)size;
	if (strcmp(gt_text_base(info->dlpi_name), rows[row].library))
		return 0;
	if (t->there) /* another thread was first; one at a time is here */
		return 1;
	hash = entry(info, DT_GNU_HASH);
	t->strings = entry(info, DT_STRTAB);
	t->symbols = (ElfW(Sym) *)(uintptr_t)entry(info, DT_SYMTAB);
	if (!hash || !t->strings || !t->symbols)
		return 0;
	set_range(t, hash);
	t->protection = protection_of(info, t->symbols);
	__atomic_store_n(&t->there, gt_sys_memory(t->end), __ATOMIC_RELEASE); /* pairs with found() */
	return t->there != NULL;
}

/* ---- hiding ------------------------------------------------------------------------------------------ */

static bool let_write(const struct table *t, bool on)
{
	uintptr_t begin = (uintptr_t)(t->symbols + t->first) & ~(uintptr_t)4095;
	uintptr_t end = (uintptr_t)(t->symbols + t->end);

	return !GT_SYS3(SYS_mprotect, begin, end - begin, t->protection | (on ? PROT_WRITE : 0));
}

static bool is_defined(const ElfW(Sym) *symbol)
{
	return symbol->st_shndx != SHN_UNDEF && symbol->st_shndx != SHN_ABS;
}

/* Names that gputrace's libraries need from each other, whatever the program has. */
static bool is_ours(const char *name)
{
	return !strncmp(name, "gt_", 3);
}

/* The file of a library has these. */
static void mark(struct table *t, const struct gt_elf_names *elf, int fd)
{
	for (uint32_t i = t->first; i < t->end; i++) {
		const char *name = t->strings + t->symbols[i].st_name;

		if (!t->there[i])
			t->there[i] = !is_defined(&t->symbols[i]) || is_ours(name) ||
				      gt_elf_names_defines(elf, fd, name);
	}
}

/* Shown or hidden, as it should be. */
static void set(ElfW(Sym) *symbol, bool shown)
{
	if (!shown && symbol->st_value)
		symbol->st_size = symbol->st_value;
	if (shown != (symbol->st_value != 0))
		__atomic_store_n(&symbol->st_value, shown ? symbol->st_size : 0, __ATOMIC_RELEASE);
}

static void apply_locked(unsigned row)
{
	struct table *t = &tables[row];
	bool all = true;

	if (!t->there || !let_write(t, true))
		return;
	for (uint32_t i = t->first; i < t->end; i++) {
		if (is_defined(&t->symbols[i]))
			set(&t->symbols[i], t->there[i]);
		all = all && t->there[i];
	}
	let_write(t, false);
	if (all)
		__atomic_fetch_and(&held_back, ~(1U << row), __ATOMIC_RELAXED);
}

/* Two threads may call dlopen() at once: the first to end would forbid the other to write. */
static void apply(unsigned row)
{
	uint64_t mask = gt_lock(lock);

	if (mask != GT_LOCK_REFUSED)
		apply_locked(row);
	gt_unlock(lock, mask);
}

/* ---- when ------------------------------------------------------------------------------------------- */

/* How far the symbols of an object reach that it does not define: those are before the ones in the hash
 * table. */
static uint32_t undefined_end(const struct dl_phdr_info *info)
{
	const uint32_t *gnu = entry(info, DT_GNU_HASH), *hash = entry(info, DT_HASH);

	return gnu ? gnu[1] : hash ? hash[1] : 0;
}

static void keep_name(uint32_t bits, const char *name)
{
	for (unsigned row = 0; row < rows_n; row++) {
		struct table *t = &tables[row];

		for (uint32_t i = t->first; bits & 1U << row && t->there && i < t->end; i++)
			if (!t->there[i] && !strcmp(t->strings + t->symbols[i].st_name, name))
				t->there[i] = true;
	}
}

/*
 * A weak reference is bound in two steps, for the comparison with NULL when the object is loaded and for a
 * call when it is made: what the first has found, the second must find.
 */
static int keep_weak(struct dl_phdr_info *info, size_t size, void *bits)
{
	const ElfW(Sym) *symbols = entry(info, DT_SYMTAB);
	const char *strings = entry(info, DT_STRTAB);
	uint32_t n = symbols && strings ? undefined_end(info) : 0;

	(void)size;
	for (uint32_t i = 1; i < n; i++)
		if (symbols[i].st_shndx == SHN_UNDEF && symbols[i].st_info >> 4 == STB_WEAK)
			keep_name(*(uint32_t *)bits, strings + symbols[i].st_name);
	return 0;
}

static int needs(struct dl_phdr_info *info, size_t size, void *library)
{
	const char *strings = entry(info, DT_STRTAB);

	(void)size;
	for (const ElfW(Dyn) *d = dynamic_of(info); strings && d && d->d_tag != DT_NULL; d++)
		if (d->d_tag == DT_NEEDED && !strncmp(strings + d->d_un.d_val, library, strlen(library)))
			return 1;
	return 0;
}

/* A library that has the row's symbol is there, or will be. */
static void found(unsigned row, struct gt_elf_names *elf, int fd)
{
	struct table *t = &tables[row];
	bool late = load_ours && !__atomic_load_n(&t->there, __ATOMIC_ACQUIRE);

	if (!(__atomic_load_n(&held_back, __ATOMIC_RELAXED) & 1U << row))
		return;
	if (late)
		load_ours(rows[row].library, RTLD_LOCAL);
	if (!__atomic_load_n(&t->there, __ATOMIC_ACQUIRE))
		dl_iterate_phdr(find_table, &row);
	if (t->there) {
		gt_elf_names_map(elf, fd);
		mark(t, elf, fd);
		gt_elf_names_unmap(elf);
	}
	if (load_ours)
		apply(row);
	if (late)
		load_ours(rows[row].library, RTLD_GLOBAL);
}

/* In the list of LD_PRELOAD: they are rows, too. */
static uint32_t add_wrappers(const char *list)
{
	static const char begin[] = GT_NEEDED_OURS "-wrap-";
	uint32_t bits = 0;

	for (size_t n; list && *list; list += n + (list[n] != 0)) {
		const char *base;

		n = strcspn(list, ": ");
		base = memrchr(list, '/', n);
		base = base ? base + 1 : list;
		if (strncmp(base, begin, sizeof(begin) - 1) || (size_t)(list + n - base) >= NAME_ROOM ||
		    rows_n == ROWS + WRAPPERS)
			continue;
		memcpy(wrappers[rows_n - ROWS], base, (size_t)(list + n - base));
		rows[rows_n].library = wrappers[rows_n - ROWS];
		bits |= 1U << rows_n++;
	}
	return bits;
}

/* What was linked with ours may have nothing but ours that has these names (openmp/gomp_real.c). */
static uint32_t not_linked(uint32_t bits)
{
	for (unsigned i = 0; i < rows_n; i++)
		if (bits & 1U << i && dl_iterate_phdr(needs, (void *)(uintptr_t)rows[i].library))
			bits &= ~(1U << i);
	return bits;
}

void gt_shown_begin(uint32_t preloaded, uint32_t held)
{
	const char *list = gt_text_env(environ, "LD_PRELOAD");
	struct gt_needed ask = { .rows = rows, .found = found, .preload = list };
	uint32_t known = GT_NEEDED_UNKNOWN;
	struct stat own;
	int fd;

	memcpy(rows, always, sizeof(always));
	rows_n = ROWS;
	preloaded = not_linked(preloaded | add_wrappers(list));
	held_back = preloaded | held;
	ask.library_path = library_path = gt_text_env(environ, "LD_LIBRARY_PATH");
	ask.count = rows_n;
	ask.all = rows_n > ROWS;
	fd = preloaded ? gt_sys_open_own(AT_FDCWD, "/proc/self/exe", 0, &own) : -1;
	if (fd >= 0) {
		known = gt_needed_by_program(&ask, fd);
		gt_sys_close_own(fd, &own);
	}
	if (known == GT_NEEDED_UNKNOWN)
		return;
	for (unsigned i = 0; i < rows_n; i++)
		if (preloaded & 1U << i && !tables[i].symbols)
			dl_iterate_phdr(find_table, &i);
	dl_iterate_phdr(keep_weak, &preloaded);
	for (unsigned i = 0; i < rows_n; i++)
		if (preloaded & 1U << i)
			apply(i);
}

/* A name with a slash is one file; others may be called so in other folders, as modules of Python are. */
static int is_called(struct dl_phdr_info *info, size_t size, void *name)
{
	(void)size;
	return !strcmp(strchr(name, '/') ? info->dlpi_name : gt_text_base(info->dlpi_name), name);
}

static bool is_loaded(const char *name)
{
	return dl_iterate_phdr(is_called, (void *)(uintptr_t)name) != 0;
}

/* The file of the code that calls. */
static bool file_of(const void *code, char *path, size_t size)
{
	struct link_map *map = NULL;
	Dl_info info;
	ssize_t n;

	if (!dladdr1(code, &info, (void **)&map, RTLD_DL_LINKMAP) || !map)
		return false;
	n = *map->l_name ? (ssize_t)gt_text(path, size, "%s", map->l_name)
			 : gt_sys_readlink("/proc/self/exe", path, size - 1);
	path[n < 0 ? 0 : n] = 0;
	return n > 0;
}

void gt_shown_before(const char *file, const void *caller, void (*load)(const char *library, int mode))
{
	const struct gt_needed ask = { .rows = rows, .count = rows_n, .all = rows_n > ROWS,
				       .library_path = library_path, .loaded = is_loaded, .found = found };
	char path[PATH_MAX];

	if (!__atomic_load_n(&held_back, __ATOMIC_RELAXED) || !file_of(caller, path, sizeof(path)))
		return;
	load_ours = load;
	gt_needed_by_library(&ask, file, path);
}
