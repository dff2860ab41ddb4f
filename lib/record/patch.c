/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Switches off the calls of hooks, by one byte each:
 *
 *   e8 rel32     call hook          3d imm32     cmp $imm32, %eax
 *   ff 15 disp32 call *slot(%rip)   3b 15 disp32 cmp slot(%rip), %edx
 *   e9 rel32     jmp hook           c3           ret
 *   ff 25 disp32 jmp *slot(%rip)    c3           ret
 *
 * The new instructions are as long as the old ones and change nothing but flags, which no call preserves; a
 * function that ends in a jump to the hook returns instead. A processor fetches the old byte or the new one.
 * If it still sees the old one the hook is called and does nothing, as before, so that nobody has to wait.
 *
 * A place has to lie in the function's own code. Where the function was inlined into another one, the
 * compiler may have merged its call of the hook with that of another inlined function, which is recorded. The
 * calls of the function around them are in other places, since it enters before and leaves after all of them.
 *
 * Bytes are read and written through /proc/thread-self/mem: the kernel makes the page a private copy of the
 * process's. Protections and the memory map stay as they are, no page is ever writable and executable, and
 * an address that cannot be read is an error instead of a fault. A fork waits until the file is closed: a
 * child would have its parent's memory open for writing.
 *
 * Limits: nothing is switched on again, so verdict.c allows it only where a verdict is final. PAGES_MAX
 * pages. Once a write has failed, no other is tried. A function that ends in a jump needs a symbol with a
 * size.
 */
#include "lib/record/patch.h"

#include "lib/common/text.h"
#include "lib/record/record.h"
#include "lib/record/verdict.h"

#include <string.h>

#ifndef PR_GET_MDWE /* from Linux 6.3 on */
#define PR_GET_MDWE 66
#endif

#define CALLS_BEFORE 512u  /* of a function's hooks: a place takes 4 us, which rare calls do not earn */
#define EFFORT       1024u /* then the function's other places stay as they are */
#define OF_FAILURE   128u  /* of that, where nothing was found; 1, where others were faster */
#define PAGES_MAX    8192u /* 32 MiB */
#define CHUNK        256u
#define CODE_MAX     65536u

static struct gt_lock *const lock = &gt_locks[GT_LOCK_PATCH]; /* while the file is open */
static uint16_t counts[1u << 14]; /* of a function's calls; from CALLS_BEFORE on, of effort in vain */
static uint64_t pages[PAGES_MAX];         /* those that were written to; 0: free */
static uint32_t page_count, place_count, told;

/* Of the process. */
struct own_memory {
	int fd;
	struct stat own;
};

/* An opcode in the program's code. */
struct place {
	uint64_t at;
	uint8_t is, becomes;
};

static bool read_code(const struct own_memory *memory, uint64_t at, void *bytes, size_t size)
{
	return gt_sys_pread(memory->fd, bytes, size, at) == (ssize_t)size;
}

/* Counts the page. False: there are too many. */
static bool take_page(uint64_t page)
{
	for (uint32_t i = 0, at = (uint32_t)(gt_hash_word(page) >> 40); i < PAGES_MAX; i++, at++) {
		uint64_t there = 0;

		if (__atomic_compare_exchange_n(&pages[at % PAGES_MAX], &there, page, false, __ATOMIC_RELAXED,
						__ATOMIC_RELAXED)) {
			__atomic_fetch_add(&page_count, 1, __ATOMIC_RELAXED);
			return true;
		}
		if (there == page)
			return true;
	}
	return false;
}

/* Returns the effort that was in vain. */
static unsigned write_code(const struct own_memory *memory, const struct place *place)
{
	struct gt_module_range range;

	if (place->is == place->becomes)
		return 1; /* by another thread, or the processor is an emulator that keeps copies */
	/* What no file is behind is no compiler's. A shared mapping may be the file itself. */
	if (!gt_modules_find(place->at, &range) || range.shared)
		return OF_FAILURE;
	if (take_page(place->at & ~(uint64_t)(GT_PAGE - 1)) &&
	    gt_sys_pwrite_own(memory->fd, &place->becomes, 1, place->at, &memory->own) == 1) {
		__atomic_fetch_add(&place_count, 1, __ATOMIC_RELAXED);
		return 0;
	}
	__atomic_store_n(&gt_verdict_patches, false, __ATOMIC_RELAXED);
	return OF_FAILURE;
}

/* An address as it stands in an instruction, relative to the next one. */
static uint64_t relative(const uint8_t *bytes, uint64_t next)
{
	int32_t distance;

	memcpy(&distance, bytes, sizeof(distance));
	return next + (uint64_t)(int64_t)distance;
}

static bool slot_has(const struct own_memory *memory, uint64_t slot, uint64_t hook)
{
	uint64_t there;

	return read_code(memory, slot, &there, sizeof(there)) && there == hook;
}

/* Is that the hook, or an entry of a linkage table ([endbr64] [bnd] jmp *slot(%rip)) that jumps to it? */
static bool leads_to(const struct own_memory *memory, uint64_t target, uint64_t hook)
{
	static const uint8_t endbr[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	uint8_t code[16];
	unsigned i = 0;

	if (target == hook)
		return true;
	if (!read_code(memory, target, code, sizeof(code)))
		return false;
	if (!memcmp(code, endbr, sizeof(endbr)))
		i = sizeof(endbr);
	i += code[i] == 0xf2;
	return code[i] == 0xff && code[i + 1] == 0x25 &&
	       slot_has(memory, relative(code + i + 2, target + i + 6), hook);
}

/* The call that returns to `site`, if it is one of the hook. */
static bool find_call(const struct own_memory *memory, uint64_t site, uint64_t hook, struct place *place)
{
	uint8_t code[6];

	if (!read_code(memory, site - sizeof(code), code, sizeof(code)))
		return false;
	*place = (struct place){ site - 5, code[1], 0x3d };
	if ((code[1] == 0xe8 || code[1] == 0x3d) && leads_to(memory, relative(code + 2, site), hook))
		return true;
	*place = (struct place){ site - 6, code[0], 0x3b };
	return (code[0] == 0xff || code[0] == 0x3b) && code[1] == 0x15 &&
	       slot_has(memory, relative(code + 2, site), hook);
}

/* Does a jump to the hook begin at `code`, which lies at `at`? */
static bool is_jump(const struct own_memory *memory, const uint8_t *code, uint64_t at, uint64_t hook)
{
	if (code[0] == 0xe9)
		return leads_to(memory, relative(code + 1, at + 5), hook);
	return code[0] == 0xff && code[1] == 0x25 && slot_has(memory, relative(code + 2, at + 6), hook);
}

/* The function ends in jumps to the hook: makes them returns. Returns the effort that was in vain. */
static unsigned end_jumps(const struct own_memory *memory, uint64_t function, uint64_t end, uint64_t hook)
{
	unsigned effort = OF_FAILURE;
	uint8_t code[CHUNK + 6];

	for (uint64_t at = function; at < end; at += CHUNK) {
		/* Also a few bytes behind the function, where the mapping may end. */
		ssize_t n = gt_sys_pread(memory->fd, code, sizeof(code), at);

		for (unsigned i = 0; i < CHUNK && at + i < end && (ssize_t)i + 6 <= n; i++)
			if (is_jump(memory, code + i, at + i, hook))
				effort = write_code(memory, &(struct place){ at + i, code[i], 0xc3 });
	}
	return effort;
}

static unsigned in_memory(const struct own_memory *memory, uint64_t function, uint64_t site, uint64_t hook)
{
	struct gt_module_range range;
	struct place place;
	uint32_t bytes;

	if (!gt_modules_find(function, &range))
		return OF_FAILURE;
	if (find_call(memory, site, hook, &place)) {
		bool own = place.at >= range.start && place.at < range.end &&
			   gt_verdict_owns(function, &range, place.at);

		return own ? write_code(memory, &place) : OF_FAILURE;
	}
	bytes = gt_verdict_bytes(function, &range);
	if (bytes > CODE_MAX || bytes > range.end - function)
		return OF_FAILURE;
	return end_jumps(memory, function, function + bytes, hook);
}

/* The program asked that no memory becomes executable that was written to. */
static bool is_denied(void)
{
	return GT_SYS5(SYS_prctl, PR_GET_MDWE, 0, 0, 0, 0) > 0;
}

static unsigned open_and_switch(uint64_t function, uint64_t site, uint64_t hook)
{
	struct own_memory memory = { .fd = -EACCES };
	unsigned effort;

	if (!is_denied())
		memory.fd = gt_sys_open_own(AT_FDCWD, "/proc/thread-self/mem", O_RDWR, &memory.own);
	if (memory.fd < 0) {
		__atomic_store_n(&gt_verdict_patches, false, __ATOMIC_RELAXED);
		return OF_FAILURE;
	}
	effort = in_memory(&memory, function, site, hook);
	gt_sys_close_own(memory.fd, &memory.own);
	return effort;
}

/* Returns the effort that was in vain. */
static __attribute__((noinline, cold)) unsigned switch_off(uint64_t function, uint64_t site, uint64_t hook)
{
	uint64_t mask = gt_lock(lock);
	unsigned effort = mask == GT_LOCK_REFUSED ? OF_FAILURE : open_and_switch(function, site, hook);

	gt_unlock(lock, mask);
	return effort;
}

void gt_patch_dropped(uintptr_t function, uintptr_t site, uintptr_t hook)
{
	uint16_t *count = &counts[gt_hash_word(function) >> 50];
	unsigned n = __atomic_load_n(count, __ATOMIC_RELAXED), more = 1;

	if (gt_unlikely(n >= CALLS_BEFORE)) {
		if (n >= CALLS_BEFORE + EFFORT || gt_sys_refused() ||
		    !__atomic_load_n(&gt_verdict_patches, __ATOMIC_RELAXED)) {
			gt_verdict_settle(function);
			return;
		}
		more = switch_off(function, site, hook);
	}
	__atomic_store_n(count, (uint16_t)(n + more), __ATOMIC_RELAXED);
}

void gt_patch_tell(void)
{
	uint32_t places = __atomic_load_n(&place_count, __ATOMIC_RELAXED);
	char text[64];

	if (places == __atomic_exchange_n(&told, places, __ATOMIC_RELAXED))
		return;
	gt_text(text, sizeof(text), "%u, on %u pages", places,
		__atomic_load_n(&page_count, __ATOMIC_RELAXED));
	gt_put_property("hooks-off", text);
}
