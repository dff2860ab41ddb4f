/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Switches of a thread between stacks by Boost.Context, which Boost.Fiber, Boost.Coroutine2, Boost.Asio's
 * coroutines and folly use: a context is the stack pointer of a stack that waits. See wrap_stack.c, too.
 *
 * The names have the hidden version of ours that comes first: the loader takes it for a reference without a
 * version, as those to Boost are, but neither does a linker, so that a program with Boost's static library
 * has Boost's own functions, nor does dlsym(). Who calls gets what the loader would have given it without us:
 * the next definition in the global scope, or what its own object and the libraries of that define.
 *
 * Limits: Boost 1.61 or later, as a shared library: nobody sees the calls of what is linked into an object.
 * Of contexts that nobody has switched to yet, FRESH are known.
 */
#include "instrument/wrap.h"
#include "instrument/wrap_fcontext.h"
#include "lib/record/record.h"

#include <dlfcn.h>
#include <link.h>

struct transfer {
	void *from, *data;
};

#define EXPORT(name) __asm__(".symver gt_" #name ", " #name "@GPUTRACE_0, remove")
EXPORT(make_fcontext);
EXPORT(jump_fcontext);
EXPORT(ontop_fcontext);

/* Boost before 1.61 has no ontop_fcontext(), and more arguments, which are handed on. */
typedef void *make_fn(void *stack, size_t size, void (*function)(struct transfer));
typedef struct transfer jump_fn(void *to, void *data, uintptr_t third, uintptr_t fourth);
typedef struct transfer ontop_fn(void *to, void *data, struct transfer (*function)(struct transfer));
GT_API make_fn gt_make_fcontext;
GT_API jump_fn gt_jump_fcontext;
GT_API ontop_fn gt_ontop_fcontext;

/* ---- Boost's functions ------------------------------------------------------------------------------ */

struct reals {
	make_fn *make;
	jump_fn *jump;
	ontop_fn *ontop;
};

static void look_in(void *handle, struct reals *real)
{
	real->jump = (jump_fn *)dlsym(handle, "jump_fcontext");
	if (!real->jump)
		return;
	real->make = (make_fn *)dlsym(handle, "make_fcontext");
	real->ontop = (ontop_fn *)dlsym(handle, "ontop_fcontext");
}

/* Of an object that is in no global scope; of any, if the one that calls does not say (by a jump). */
static void look_at_caller(uintptr_t site, struct reals *real)
{
	void *(*open)(const char *, int) = (void *(*)(const char *, int))gt_next_symbol("dlopen");
	int (*close)(void *) = (int (*)(void *))gt_next_symbol("dlclose");
	struct link_map *map = NULL;
	Dl_info info;

	if (!open || !close || !dladdr1((void *)site, &info, (void **)&map, RTLD_DL_LINKMAP))
		return;
	for (bool first = true; map && !real->jump; first = false) {
		void *handle = open(map->l_name, RTLD_LAZY | RTLD_NOLOAD);

		if (handle) {
			look_in(handle, real);
			close(handle);
		}
		while (first && map->l_prev)
			map = map->l_prev;
		map = first ? map : map->l_next;
	}
}

/* What was found, and for which places of calls: address << 8 | 1 + index; atomic. */
#define FOUND 16u
#define SITES 256u
static struct reals found[FOUND];
static unsigned found_count;
static uint64_t sites[SITES];
static bool busy;

void gt_fcontext_forget(void)
{
	for (unsigned i = 0; __atomic_load_n(&found_count, __ATOMIC_RELAXED) && i < SITES; i++)
		__atomic_store_n(&sites[i], 0, __ATOMIC_RELAXED);
}

static uint64_t *place_of(uintptr_t site)
{
	return &sites[gt_hash_word(site) >> 56];
}

static void keep(uintptr_t site, const struct reals *real)
{
	unsigned i = 0;

	if (__atomic_exchange_n(&busy, true, __ATOMIC_ACQUIRE)) /* pairs with the release below */
		return;
	while (i < found_count && found[i].jump != real->jump)
		i++;
	if (i == found_count && i < FOUND) {
		found[i] = *real;
		__atomic_store_n(&found_count, i + 1, __ATOMIC_RELAXED);
	}
	if (i < FOUND && found[i].make == real->make && found[i].ontop == real->ontop)
		__atomic_store_n(place_of(site), (uint64_t)site << 8 | (i + 1), __ATOMIC_RELEASE);
	__atomic_store_n(&busy, false, __ATOMIC_RELEASE); /* pairs with the exchange above */
}

static __attribute__((noinline)) struct reals look_up(uintptr_t site)
{
	struct reals real = { NULL, NULL, NULL };

	gt_guard();
	look_in(RTLD_NEXT, &real);
	if (!real.jump)
		look_at_caller(site, &real);
	gt_unguard();
	if (real.jump)
		keep(site, &real);
	return real;
}

static inline struct reals reals_of(uintptr_t site)
{
	uint64_t word = __atomic_load_n(place_of(site), __ATOMIC_ACQUIRE); /* pairs with keep() */

	return gt_likely(word >> 8 == site && word & 0xff) ? found[(word & 0xff) - 1] : look_up(site);
}

/* ---- contexts --------------------------------------------------------------------------------------- */

/* Those that were made and have not run yet, near the place that their address hashes to; atomic. */
#define FRESH 4096u
#define LOOKS 16u
static uintptr_t fresh[FRESH];

/* What is not `old` now would not have been exchanged: nearly all places are only read. */
static bool exchange(uintptr_t context, uintptr_t old, uintptr_t new)
{
	uint64_t at = gt_hash_word(context) >> 48;

	for (unsigned i = 0; i < LOOKS; i++) {
		uintptr_t *place = &fresh[(at + i) % FRESH], expected = old;

		if (__atomic_load_n(place, __ATOMIC_RELAXED) == old &&
		    __atomic_compare_exchange_n(place, &expected, new, false, __ATOMIC_RELAXED,
						__ATOMIC_RELAXED))
			return true;
	}
	return false;
}

static void note(const void *from, void *to)
{
	uintptr_t context = (uintptr_t)to;
	bool begins = exchange(context, context, 0);

	if (gt_active())
		gt_record(GT_T_STACK, begins ? GT_STACK_FRESH : 0,
			  (uint64_t[2]){ (uintptr_t)from, context }, 1);
}

#define SITE ((uintptr_t)__builtin_return_address(0))

void *gt_make_fcontext(void *stack, size_t size, void (*function)(struct transfer))
{
	uintptr_t made = (uintptr_t)reals_of(SITE).make(stack, size, function);

	if (!exchange(made, made, made))
		exchange(made, 0, made);
	return (void *)made;
}

struct transfer gt_jump_fcontext(void *to, void *data, uintptr_t third, uintptr_t fourth)
{
	struct reals real = reals_of(SITE);

	if (gt_likely(real.ontop))
		note(__builtin_frame_address(0), to);
	return real.jump(to, data, third, fourth);
}

struct transfer gt_ontop_fcontext(void *to, void *data, struct transfer (*function)(struct transfer))
{
	struct reals real = reals_of(SITE);

	note(__builtin_frame_address(0), to);
	return real.ontop(to, data, function);
}
