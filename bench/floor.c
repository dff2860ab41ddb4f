/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The floor: function hooks in a shared library that do the least a recorder can do. Built thrice:
 *
 *   (plain)         a thread-local pointer, an end-of-buffer check, one rdtsc and one 16-byte store
 *                   into memory that was touched before
 *   -DFLOOR_EMPTY   nothing at all: what calling two hooks costs
 *   -DFLOOR_TALLY   counts the calls and prints " calls=N" at the end: how many there are to record
 *
 * Limits: keeps everything in memory, for FLOOR_N calls a thread (default 1,000,000); what is more
 * starts the buffer again. Nothing is ever written out: this is not a recorder.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "bench.h"
#ifdef __x86_64__
#include <x86intrin.h>
#define TICKS() __rdtsc()
#else
NOINSTR static inline uint64_t mono_ticks(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}
#define TICKS() mono_ticks()
#endif

void __cyg_profile_func_enter(void *fn, void *site);
void __cyg_profile_func_exit(void *fn, void *site);

#ifdef FLOOR_EMPTY

NOINSTR void __cyg_profile_func_enter(void *fn, void *site)
{
	(void)fn;
	(void)site;
}

NOINSTR void __cyg_profile_func_exit(void *fn, void *site)
{
	(void)fn;
	(void)site;
}

#elif defined(FLOOR_TALLY)

static long calls;

NOINSTR void __cyg_profile_func_enter(void *fn, void *site)
{
	(void)fn;
	(void)site;
	__atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED);
}

NOINSTR void __cyg_profile_func_exit(void *fn, void *site)
{
	(void)fn;
	(void)site;
}

__attribute__((destructor)) NOINSTR static void tell(void)
{
	printf(" calls=%ld\n", calls);
}

#else

#define TLS __thread __attribute__((tls_model("initial-exec")))

struct slot {
	uint64_t time, word;
};

static TLS struct slot *next, *end, *base;

__attribute__((noinline, cold)) NOINSTR static void full(void)
{
	if (!base) {
		const char *text = getenv("FLOOR_N");
		size_t slots = 2 * (text ? (size_t)atol(text) : 1000000) + 64;
		size_t bytes = slots * sizeof(struct slot);
		void *mem = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (mem == MAP_FAILED)
			abort();
		memset(mem, 1, bytes);
		base = mem;
		end = base + slots;
	}
	next = base;
}

static inline __attribute__((always_inline)) void record(void *fn, unsigned kind)
{
	struct slot *s = next;

	if (__builtin_expect(s >= end, 0)) {
		full();
		s = next;
	}
	s->time = TICKS();
	s->word = (uint64_t)(uintptr_t)fn << 1 | kind;
	next = s + 1;
}

NOINSTR void __cyg_profile_func_enter(void *fn, void *site)
{
	(void)site;
	record(fn, 0);
}

NOINSTR void __cyg_profile_func_exit(void *fn, void *site)
{
	(void)site;
	record(fn, 1);
}

#endif
