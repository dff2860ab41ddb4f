/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Switches of a thread between stacks by the C library: swapcontext(), setcontext(), and the end of a
 * function that makecontext() was given, after which the thread goes on at uc_link. The C library does that
 * by itself; its place for that is the return address, which becomes ours when the stack is used first.
 *
 * Limits: glibc, x86-64 and aarch64. Libraries that switch by assembly of their own are not seen, nor is the
 * end of a function where a shadow stack has its return address.
 */
#include "instrument/wrap.h"
#include "lib/record/record.h"

#include <ucontext.h>

#if defined(__x86_64__)
#define STACK_POINTER(context) ((uintptr_t)(context)->uc_mcontext.gregs[REG_RSP])
#define RETURNS_TO(context)    ((uintptr_t *)STACK_POINTER(context))
#define SHADOW_STACK_STATUS    0x5005 /* ARCH_SHSTK_STATUS */
#define SHADOW_STACK(on)       (!GT_SYS2(SYS_arch_prctl, SHADOW_STACK_STATUS, &(on)) && (on) & 1)
/* The pointer to uc_link is where glibc expects it; the stack is aligned as after a return. */
__asm__(".pushsection .text\n"
	"	.hidden gt_stack_ends\n"
	"	.type gt_stack_ends, @function\n"
	"	.cfi_startproc\n"
	"	.cfi_undefined rip\n"
	"	nop\n" /* who unwinds looks up the instruction before */
	"gt_stack_ends:\n"
	"	movq (%rbx), %rdi\n"
	"	call gt_stack_ended\n"
	"	jmp *%rax\n"
	"	.cfi_endproc\n"
	"	.size gt_stack_ends, . - gt_stack_ends\n"
	".popsection");
#elif defined(__aarch64__)
#define STACK_POINTER(context) ((uintptr_t)(context)->uc_mcontext.sp)
#define RETURNS_TO(context)    (&(context)->uc_mcontext.regs[30])
#define SHADOW_STACK(on)       ((on) != 0)
__asm__(".pushsection .text\n"
	"	.hidden gt_stack_ends\n"
	"	.type gt_stack_ends, %function\n"
	"	.cfi_startproc\n"
	"	.cfi_undefined x30\n"
	"	nop\n"
	"gt_stack_ends:\n"
	"	mov x0, x19\n"
	"	bl gt_stack_ended\n"
	"	mov x30, x0\n"
	"	ret\n"
	"	.cfi_endproc\n"
	"	.size gt_stack_ends, . - gt_stack_ends\n"
	".popsection");
#endif

#ifdef STACK_POINTER
GT_HIDDEN extern void gt_stack_ends(void);
GT_HIDDEN uintptr_t gt_stack_ended(const ucontext_t *next);

/* Where a function that makecontext() was given returns to; 1: that may not be changed. */
static uintptr_t start;

static uintptr_t learn(void)
{
	REAL(makecontext)
	char stack[512];
	ucontext_t context = { .uc_stack = { .ss_sp = stack, .ss_size = sizeof(stack) } };
	uint64_t on = 0;

	if (!real || SHADOW_STACK(on))
		return 1;
	real(&context, gt_stack_ends, 0);
	return *RETURNS_TO(&context);
}

/* Has nothing been called there yet? Then its end will be seen. */
static bool begins(const ucontext_t *context)
{
	uintptr_t from = __atomic_load_n(&start, __ATOMIC_RELAXED);

	if (!from)
		__atomic_store_n(&start, from = learn(), __ATOMIC_RELAXED);
	if (*RETURNS_TO(context) != from)
		return false;
	*RETURNS_TO((ucontext_t *)context) = (uintptr_t)gt_stack_ends;
	return true;
}

static void note(const void *from, const ucontext_t *to, unsigned flags)
{
	if (!gt_active())
		return;
	gt_record(GT_T_STACK, flags | (begins(to) ? GT_STACK_FRESH : 0),
		  (uint64_t[2]){ (uintptr_t)from, STACK_POINTER(to) }, 1);
}

/* The function has returned: its stack is empty, and the thread goes on there, or ends (NULL). */
__attribute__((used)) uintptr_t gt_stack_ended(const ucontext_t *next)
{
	if (next)
		note(NULL, next, GT_STACK_ENDED);
	return __atomic_load_n(&start, __ATOMIC_RELAXED);
}

GT_API int swapcontext(ucontext_t *restrict saved, const ucontext_t *restrict next)
{
	REAL(swapcontext)

	note(__builtin_frame_address(0), next, 0);
	return real(saved, next);
}

GT_API int setcontext(const ucontext_t *next)
{
	REAL(setcontext)

	note(__builtin_frame_address(0), next, GT_STACK_JUMP);
	return real(next);
}
#endif
