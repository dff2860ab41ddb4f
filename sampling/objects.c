/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An entry's state says which object it is and when that was last seen to be so: id << 32 | generation. Who
 * writes an entry takes it by changing its state to BUSY; who reads one looks at the state again afterwards.
 * A new id with each taking makes sure that a state never comes back.
 */
#include "sampling/objects.h"

#include "gputrace/hash.h"
#include "gputrace/syscall.h"
#include "sampling/peek.h"

#include <elf.h>

#define OBJECTS 2048u
/* In place of a generation. */
#define FREE 0u
#define BUSY 1u
#define UNREAD 2u /* it lies there, its headers were not looked at */
#define FIRST_GENERATION 3u

#define ELF_MAGIC UINT32_C(0x464c457f)
#define VDSO      UINT64_C(0x5b7664736f5d) /* the letters of [vdso] */
#define MAPS_MOST (8u << 20) /* bytes of /proc/self/maps that are read */
#define MAPS_AT_ONCE (GT_WALK_WINDOW - 2 * sizeof(struct stat))
#define PAUSE     50         /* a search is followed by so many times its length without one */
/* In an object's base: its code lies there. A small file by lld has its beginning mapped by each segment. */
#define IN_CODE   UINT64_C(1)

struct entry {
	uint64_t state, low, high, base, table, what;
};

struct objects {
	uint32_t changes, ids, count, wanted;
	uint64_t not_before; /* nanoseconds: when the next search may be */
	struct entry entry[OBJECTS];
};

static struct objects *objects;

GT_HIDDEN uint32_t gt_objects_generation(void)
{
	/* pairs with gt_objects_changed() */
	return __atomic_load_n(&objects->changes, __ATOMIC_ACQUIRE) + FIRST_GENERATION;
}

static uint64_t load(const uint64_t *word)
{
	return __atomic_load_n(word, __ATOMIC_RELAXED);
}

static void store(uint64_t *word, uint64_t value)
{
	__atomic_store_n(word, value, __ATOMIC_RELAXED);
}

static bool become(struct entry *entry, uint64_t from, uint64_t to)
{
	/* Pairs with read_entry(). */
	return __atomic_compare_exchange_n(&entry->state, &from, to, false, __ATOMIC_ACQ_REL,
					   __ATOMIC_ACQUIRE);
}

static uint64_t state_of(uint32_t id, uint32_t seen)
{
	return (uint64_t)id << 32 | seen;
}

/* false: it changed meanwhile, or is none. */
static bool read_entry(const struct entry *entry, uint64_t *state, struct gt_walk_object *object)
{
	*state = __atomic_load_n(&entry->state, __ATOMIC_ACQUIRE); /* pairs with publish() */
	object->low = load(&entry->low);
	object->high = load(&entry->high);
	object->base = load(&entry->base);
	object->table = load(&entry->table);
	object->what = load(&entry->what);
	object->id = (uint32_t)(*state >> 32);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return (uint32_t)*state > BUSY && __atomic_load_n(&entry->state, __ATOMIC_RELAXED) == *state;
}

static void publish(struct entry *entry, const struct gt_walk_object *object, uint32_t seen)
{
	store(&entry->low, object->low);
	store(&entry->high, object->high);
	store(&entry->base, object->base);
	store(&entry->table, object->table);
	store(&entry->what, object->what);
	/* pairs with read_entry() */
	__atomic_store_n(&entry->state, state_of(object->id, seen), __ATOMIC_RELEASE);
}

static struct entry *take(unsigned i, uint64_t state)
{
	uint32_t count = __atomic_load_n(&objects->count, __ATOMIC_RELAXED);

	if (!become(&objects->entry[i], state, state_of(0, BUSY)))
		return NULL;
	while (count <= i && !__atomic_compare_exchange_n(&objects->count, &count, i + 1, false,
							  __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
	return &objects->entry[i];
}

/* An entry for a new object: one that is free, else one that was not seen lately. NULL: there is none. */
static struct entry *take_entry(void)
{
	uint32_t now = gt_objects_generation();
	struct entry *entry = NULL;

	for (unsigned i = 0; i < 2 * OBJECTS && !entry; i++) {
		uint64_t state = load(&objects->entry[i % OBJECTS].state);
		uint32_t seen = (uint32_t)state;

		if (seen == FREE || (i >= OBJECTS && seen != BUSY && seen != now))
			entry = take(i % OBJECTS, state);
	}
	return entry;
}

static bool known(const struct gt_walk_object *found)
{
	uint32_t count = __atomic_load_n(&objects->count, __ATOMIC_RELAXED);

	for (const struct entry *entry = objects->entry; entry < objects->entry + count; entry++)
		if (load(&entry->low) == found->low && load(&entry->high) == found->high &&
		    load(&entry->base) == found->base && (uint32_t)load(&entry->state) != FREE)
			return true;
	return false;
}

static void add(struct gt_walk_object *object)
{
	struct entry *entry;

	if (known(object) || !(entry = take_entry()))
		return;
	object->id = __atomic_add_fetch(&objects->ids, 1, __ATOMIC_RELAXED);
	publish(entry, object, UNREAD);
}

/* A line of /proc/self/maps: low-high perms offset device inode name */
enum { LOW, HIGH, PERMS, OFFSET, DEVICE, INODE, NAME };

static void end_line(struct gt_walker *walker)
{
	struct gt_walk_line *line = &walker->line;
	uint64_t *value = line->value;

	if (value[NAME] == VDSO || (value[INODE] && !value[OFFSET]))
		line->file = value[LOW] | (value[PERMS] ? IN_CODE : 0);
	walker->object.low = value[LOW];
	walker->object.high = value[HIGH];
	walker->object.base = line->file;
	walker->object.table = walker->object.what = 0;
	if (value[PERMS])
		add(&walker->object);
	for (unsigned i = 0; i <= NAME; i++)
		value[i] = 0;
	line->field = LOW;
	line->letters = 0;
}

static uint64_t digit(char c)
{
	if (c >= 'a' && c <= 'f')
		return (uint64_t)(c - 'a') + 10;
	return c >= '0' && c <= '9' ? (uint64_t)(c - '0') : 0;
}

static void take_letter(struct gt_walker *walker, char c)
{
	struct gt_walk_line *line = &walker->line;
	uint64_t *value = &line->value[line->field];

	if (c == '\n')
		end_line(walker);
	else if (line->field == NAME)
		*value = c == ' ' || line->letters++ >= 8 ? *value : *value << 8 | (uint8_t)c;
	else if (c == ' ' || (c == '-' && line->field == LOW))
		line->field++;
	else
		*value = line->field == PERMS ? *value | (c == 'x') : *value * 16 + digit(c);
}

/* Notes all executable memory that is there. */
static __attribute__((noinline)) void read_maps(struct gt_walker *walker)
{
	struct stat *own = (struct stat *)(void *)(walker->window + MAPS_AT_ONCE);
	long fd = gt_raw(SYS_openat, GT_RAW_FOLDER, "/proc/self/maps", O_RDONLY | GT_RAW_CLOEXEC), n = 1;

	if (gt_raw_note_own(fd, own))
		return;
	walker->line.file = 0;
	for (uint64_t at = 0; at < MAPS_MOST && n > 0; at += (uint64_t)n) {
		n = gt_raw(SYS_pread64, fd, walker->window, MAPS_AT_ONCE, at);
		for (long i = 0; i < n; i++)
			take_letter(walker, (char)walker->window[i]);
	}
	walker->window_bytes = 0;
	gt_raw_close_own_in(fd, own, own + 1);
}

static uint64_t clock_now(void)
{
	struct timespec now = { 0, 0 };

	gt_raw(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Is anything looked for now? */
static __attribute__((noinline)) bool search(struct gt_walker *walker)
{
	uint64_t begin = clock_now(), not_before = load(&objects->not_before);

	if (!__atomic_exchange_n(&objects->wanted, 0, __ATOMIC_RELAXED) && begin < not_before)
		return false;
	read_maps(walker);
	store(&objects->not_before, begin + (clock_now() - begin) * PAUSE);
	return true;
}

static bool in_code(const Elf64_Phdr *segment, uint64_t offset)
{
	return segment->p_type == PT_LOAD && segment->p_flags & PF_X &&
	       offset - segment->p_vaddr < segment->p_memsz;
}

static bool are_headers(const struct gt_walker *walker, const Elf64_Ehdr *file)
{
	return walker->window_bytes >= sizeof(*file) && *(const uint32_t *)walker->window == ELF_MAGIC &&
	       file->e_phoff == sizeof(*file) &&
	       walker->window_bytes - sizeof(*file) >= file->e_phnum * sizeof(Elf64_Phdr);
}

/* Finds the table of the code at `address` from the headers in the window, or GT_OBJECT_NO_FILE. */
static uint64_t read_headers(const struct gt_walker *walker, uintptr_t address, uint64_t base)
{
	const Elf64_Ehdr *file = (const void *)walker->window;
	const Elf64_Phdr *segment = (const void *)(walker->window + sizeof(*file));
	uint64_t begin = base & ~IN_CODE, bias = begin, table = 0;
	bool code = false, found = false;

	if (!are_headers(walker, file))
		return GT_OBJECT_NO_FILE;
	for (unsigned i = 0; i < file->e_phnum; i++)
		if (!found && segment[i].p_type == PT_LOAD &&
		    (base & IN_CODE ? segment[i].p_flags & PF_X : !segment[i].p_offset)) {
			bias = begin - (segment[i].p_vaddr - segment[i].p_offset);
			found = true;
		}
	for (unsigned i = 0; i < file->e_phnum; i++) {
		code |= in_code(&segment[i], address - bias);
		if (segment[i].p_type == PT_GNU_EH_FRAME)
			table = bias + segment[i].p_vaddr;
	}
	return code ? table : GT_OBJECT_NO_FILE;
}

/* Looks at the headers of walker->object, as they are now. */
static void look(struct gt_walker *walker, uintptr_t address)
{
	struct gt_walk_object *object = &walker->object;

	walker->window_bytes = 0;
	if (object->base)
		walker->window_bytes =
			(unsigned)gt_peek(walker->window, object->base & ~IN_CODE, GT_WALK_WINDOW);
	object->what = gt_hash_bytes(GT_HASH_START, walker->window, walker->window_bytes / 2);
	object->table = read_headers(walker, address, object->base);
	if (object->table > GT_OBJECT_NO_FILE) {
		walker->window_bytes = (unsigned)gt_peek(walker->window, object->table, 256);
		object->what = gt_hash_bytes(object->what, walker->window, walker->window_bytes);
	}
	walker->window_bytes = 0;
}

/* Is the entry what it was? Then all know it from now on. Of memory in no file nobody can tell. */
static bool confirm(struct gt_walker *walker, uintptr_t address, struct entry *entry, uint64_t state)
{
	uint32_t now = gt_objects_generation(); /* before the headers are read */
	uint64_t what = walker->object.table == GT_OBJECT_NO_FILE ? 0 : walker->object.what;

	look(walker, address);
	if ((uint32_t)state != UNREAD && what != walker->object.what) {
		become(entry, state, state_of(0, FREE));
		return false;
	}
	if (become(entry, state, state_of(walker->object.id, BUSY)))
		publish(entry, &walker->object, now);
	return true;
}

static __attribute__((noinline)) bool find(struct gt_walker *walker, uintptr_t address)
{
	uint32_t count = __atomic_load_n(&objects->count, __ATOMIC_RELAXED);
	struct gt_walk_object *object = &walker->object;
	uint64_t state;

	for (struct entry *entry = objects->entry; entry < objects->entry + count; entry++) {
		if (address - load(&entry->low) >= load(&entry->high) - load(&entry->low) ||
		    !read_entry(entry, &state, object) || address - object->low >= object->high - object->low)
			continue;
		if ((uint32_t)state == gt_objects_generation() || confirm(walker, address, entry, state))
			return true;
	}
	return false;
}

GT_HIDDEN bool gt_objects_find(struct gt_walker *walker, uintptr_t address)
{
	return find(walker, address) || (search(walker) && find(walker, address));
}

GT_HIDDEN void gt_objects_changed(void)
{
	if (!__atomic_load_n(&objects, __ATOMIC_ACQUIRE)) /* pairs with gt_objects_memory() */
		return;
	__atomic_add_fetch(&objects->changes, 1, __ATOMIC_ACQ_REL);
	__atomic_store_n(&objects->wanted, 1, __ATOMIC_RELAXED);
}

/* A forked child starts afresh: its memory may be half of what a thread was writing that is not there. */
GT_HIDDEN bool gt_objects_memory(void **place, size_t bytes)
{
	void *none = NULL, *new;

	if (__atomic_load_n(place, __ATOMIC_ACQUIRE)) /* pairs with the exchange below */
		return true;
	new = gt_raw_memory(bytes, MAP_PRIVATE | MAP_NORESERVE);
	if (!new)
		return false;
	gt_raw(SYS_madvise, new, bytes, MADV_WIPEONFORK);
	/* Pairs with the acquire in this function. */
	if (!__atomic_compare_exchange_n(place, &none, new, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		gt_raw(SYS_munmap, new, bytes);
	return true;
}

GT_HIDDEN bool gt_objects_ready(void)
{
	return gt_objects_memory((void **)&objects, sizeof(*objects));
}
