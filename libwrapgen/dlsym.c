/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls through a pointer that dlsym() gave: who asks a library's own handle for a function that this
 * wrapper stands before (Python's ctypes, plug-ins, JAX), gets the wrapper. A copy of this file is part
 * of every wrapper project; the archive for the linker's --wrap goes without.
 *
 * dlsym looks at its caller where it is asked for RTLD_NEXT or RTLD_DEFAULT, so all that is not ours
 * jumps to the real one with the return address in place. The wrapper is handed out only where the
 * real function is the very one that the wrapper calls; of another library, another version or
 * another copy the program gets what it asked for.
 *
 * Limits: dlvsym is left alone. On processors other than x86-64 and aarch64 the jump is left to the
 * compiler's tail call.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#include "find.h"

typedef void *(*dlsym_fn)(void *handle, const char *symbol);

static dlsym_fn real;

/* Called by the jump below: what to jump to. */
GT_HIDDEN dlsym_fn gt_wrap_before_dlsym(void *handle, const char *symbol);

/* glibc without a dlsym of a known version: nothing is found, and nothing breaks further. */
static void *nothing(void *handle, const char *symbol)
{
	(void)handle;
	(void)symbol;
	return NULL;
}

/*
 * dlsym itself is ours, so it is dlvsym that finds glibc's; and that one finds the next behind us, which
 * may be another wrapper's: each looks at its own functions.
 */
static dlsym_fn next_dlsym(void)
{
	/* x86-64 since 2.34; before; others. */
	static const char *const versions[] = { "GLIBC_2.34", "GLIBC_2.2.5", "GLIBC_2.17", "GLIBC_2.27",
						"GLIBC_2.36", "GLIBC_2.4", "GLIBC_2.2", "GLIBC_2.0" };
	dlsym_fn found = __atomic_load_n(&real, __ATOMIC_ACQUIRE);
	int saved = errno;

	if (found)
		return found;
	for (unsigned i = 0; !found && i < sizeof(versions) / sizeof(*versions); i++)
		found = (dlsym_fn)dlvsym(RTLD_NEXT, "dlsym", versions[i]);
	if (found)
		found = (dlsym_fn)found(RTLD_NEXT, "dlsym");
	if (!found)
		found = nothing;
	__atomic_store_n(&real, found, __ATOMIC_RELEASE); /* pairs with the acquire in this function */
	errno = saved;
	return found;
}

static struct gt_wrap *wrap_of(const char *symbol)
{
	unsigned low = 0, high = gt_wrap_table_size;

	while (low < high) {
		unsigned middle = (low + high) / 2;
		int order = strcmp(symbol, gt_wrap_table[middle]->gt_symbol);

		if (!order)
			return gt_wrap_table[middle];
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return NULL;
}

/* A handle's own function of a name that is wrapped. */
static void *found_in(void *handle, const char *symbol)
{
	struct gt_wrap *w = wrap_of(symbol);
	dlsym_fn next = next_dlsym();
	void *found = next(handle, symbol), *known;

	if (!found || !w || !w->gt_wrapper)
		return found;
	known = __atomic_load_n(&w->gt_real, __ATOMIC_ACQUIRE);
	if (!known) {
		known = gt_wrap_known(w, __builtin_return_address(0)); /* who called dlsym */
		/* What was tried in vain must not be what dlerror() tells: success clears it. */
		found = next(handle, symbol);
	}
	return found == known ? w->gt_wrapper : found;
}

dlsym_fn gt_wrap_before_dlsym(void *handle, const char *symbol)
{
	if (handle != RTLD_NEXT && handle != RTLD_DEFAULT && symbol && !gt_wrap_finding && wrap_of(symbol))
		return found_in;
	return next_dlsym();
}

#if defined(__x86_64__)
/* Keeps the two argument registers over the call, then jumps with the stack as it was. */
__asm__(".text\n"
	".globl dlsym\n"
	".type dlsym, @function\n"
	"dlsym:\n"
	".cfi_startproc\n"
	"	pushq %rdi\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	pushq %rsi\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	subq $8, %rsp\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	call gt_wrap_before_dlsym\n"
	"	addq $8, %rsp\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	popq %rsi\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	popq %rdi\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	jmp *%rax\n"
	".cfi_endproc\n"
	".size dlsym, .-dlsym\n");
#elif defined(__aarch64__)
__asm__(".text\n"
	".globl dlsym\n"
	".type dlsym, %function\n"
	".p2align 2\n"
	"dlsym:\n"
	".cfi_startproc\n"
	"	stp x29, x30, [sp, #-32]!\n"
	"	.cfi_def_cfa_offset 32\n"
	"	.cfi_offset x29, -32\n"
	"	.cfi_offset x30, -24\n"
	"	mov x29, sp\n"
	"	stp x0, x1, [sp, #16]\n"
	"	bl gt_wrap_before_dlsym\n"
	"	mov x16, x0\n"
	"	ldp x0, x1, [sp, #16]\n"
	"	ldp x29, x30, [sp], #32\n"
	"	.cfi_restore x29\n"
	"	.cfi_restore x30\n"
	"	.cfi_def_cfa_offset 0\n"
	"	br x16\n"
	".cfi_endproc\n"
	".size dlsym, .-dlsym\n");
#else
GT_WRAP_EXPORT void *dlsym(void *handle, const char *symbol)
{
	return gt_wrap_before_dlsym(handle, symbol)(handle, symbol);
}
#endif
