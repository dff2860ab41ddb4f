/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * longjmp() and its variants, before they jump: calls that began further down the stack end here, and would
 * never be seen to return. The C library encrypts the target's stack pointer in a jmp_buf; setjmp() on a
 * known stack pointer gives the key.
 *
 * Limits: glibc. Jumps that ask no function (the compiler's own, setcontext) are not seen.
 */
#undef _FORTIFY_SOURCE /* the functions have their own names here */
#include "instrument/wrap.h"

#include "lib/record/record.h"

#include <setjmp.h>

#if defined(__x86_64__)
#define STACK_POINTER 6
#define CURRENT(sp)   __asm__ volatile("mov %%rsp, %0" : "=r"(sp))
#define TURNED(value) ((value) >> 17 | (value) << 47)
#elif defined(__aarch64__)
#define STACK_POINTER 13
#define CURRENT(sp)   __asm__ volatile("mov %0, sp" : "=r"(sp))
#define TURNED(value) (value)
#endif

typedef void jump_fn(struct __jmp_buf_tag *env, int value);
static jump_fn *jumps[4];
static const char *const names[4] = { "longjmp", "_longjmp", "siglongjmp", "__longjmp_chk" };

#ifdef STACK_POINTER
static uintptr_t key;

static uintptr_t kept(const struct __jmp_buf_tag *env)
{
	uintptr_t value = ((const uintptr_t *)env->__jmpbuf)[STACK_POINTER];

	return TURNED(value);
}

static void learn(void)
{
	uintptr_t sp;
	jmp_buf env;

	if (_setjmp(env))
		return;
	CURRENT(sp);
	key = kept(env) ^ sp;
}

static const void *target(const struct __jmp_buf_tag *env)
{
	return (const void *)(kept(env) ^ key);
}
#else
static void learn(void)
{
}

static const void *target(const struct __jmp_buf_tag *env)
{
	(void)env;
	return (const void *)UINTPTR_MAX;
}
#endif

/* In a handler nothing can be looked up. */
__attribute__((constructor(101))) static void look_up(void)
{
	for (unsigned i = 0; i < 4; i++)
		jumps[i] = (jump_fn *)gt_next_symbol(names[i]);
	learn();
}

static __attribute__((noreturn)) void jump(unsigned which, struct __jmp_buf_tag *env, int value)
{
	if (gt_unlikely(!jumps[which]))
		look_up();
	if (gt_unlikely(gt_depth || __atomic_load_n(&gt_jumps_matter, __ATOMIC_RELAXED)))
		gt_jumps(target(env));
	jumps[which](env, value);
	__builtin_unreachable();
}

#define JUMP(which, function, name)                                                                \
	GT_API __attribute__((noreturn)) void function(struct __jmp_buf_tag *, int) __asm__(name); \
	void function(struct __jmp_buf_tag *env, int value) { jump(which, env, value); }

JUMP(0, gt_longjmp, "longjmp")
JUMP(1, gt_longjmp_bsd, "_longjmp")
JUMP(2, gt_siglongjmp, "siglongjmp")
JUMP(3, gt_longjmp_checked, "__longjmp_chk")
