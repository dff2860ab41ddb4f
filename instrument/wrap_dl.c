/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Interception of the loader, so that addresses find their names although files come and go.
 *
 * dlopen looks at its caller (RUNPATH, namespace), so it must see the program and not us: our dlopen
 * tells the core and then jumps, leaving the return address where it is. The new files are looked at
 * by the thread's next event. dlclose does not care who calls, and is looked at before and after.
 *
 * Limits: on processors other than x86-64 and aarch64 the jump is left to the compiler's tail call. Where
 * dlsym() is what fails, without a dlopen() before, the first call of each function that gputrace has in
 * front of the C library's (fork, wait, exec ...) forgets what dlerror() was to say.
 */
#include "instrument/shown.h"
#include "instrument/wrap.h"
#include "instrument/wrap_fcontext.h"
#include "lib/record/record.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <string.h>

/* The real functions; looked up by the constructor or the first call, whichever comes first. */
GT_HIDDEN void *(*gt_real_dlopen)(const char *, int);
GT_HIDDEN void *(*gt_real_dlmopen)(Lmid_t, const char *, int);

/* Called by the jumps below, which need the real function's address. */
GT_HIDDEN void *gt_before_dlopen(const char *file, int mode, const void *caller);
GT_HIDDEN void *gt_before_dlmopen(void);

/* ---- libraries that others load for us --------------------------------------------------------------- */

/* An adapter that another library loads because a variable of ours says so (NVTX, the CUDA driver). */
static bool is_injected(const char *file)
{
	static const struct {
		const char *name, *variables;
	} adapters[] = {
#define GT_ADAPTER(library, always, asked, linked, inject, what) { library, inject },
#include "registry/adapters.def"
	};
	size_t length = strlen(file), n;

	for (unsigned i = 0; i < sizeof(adapters) / sizeof(adapters[0]); i++) {
		n = strlen(adapters[i].name);
		if (*adapters[i].variables && length > n && !strcmp(file + length - n, adapters[i].name))
			return true;
	}
	return false;
}

static int is_loaded(struct dl_phdr_info *info, size_t size, void *file)
{
	(void)size;
	return !strcmp(info->dlpi_name, file);
}

/* The program would not have loaded it, and its filter may kill for that. */
static void *refuse(const char *file, int mode)
{
	(void)file;
	(void)mode;
	gt_count_lost(GT_LOSS_SANDBOX, 1);
	return NULL;
}

/* ---- adapters that come with a library --------------------------------------------------------------- */

/* A library beside this one. Its constructor does the rest, and says what does not work. */
static void load_ours(const char *library, int scope)
{
	struct link_map *map = NULL;
	const char *slash = NULL;
	char path[PATH_MAX];
	Dl_info info;

	if (dladdr1((const void *)(uintptr_t)load_ours, &info, (void **)&map, RTLD_DL_LINKMAP) && map)
		slash = strrchr(map->l_name, '/');
	if (!slash || (size_t)(slash - map->l_name) + strlen(library) + 2 > sizeof(path))
		return;
	memcpy(path, map->l_name, (size_t)(slash - map->l_name) + 1);
	strcpy(path + (slash - map->l_name) + 1, library);
	gt_real_dlopen(path, RTLD_NOW | scope);
}

/* Before `file` is loaded; once. */
static void load_with(const char *file)
{
	static struct {
		const char *file, *ours;
		bool loaded;
	} adapters[] = {
#define GT_LOADED_WITH(library, file, variable, asked, what) { file, library, false },
#include "registry/adapters.def"
	};
	const char *slash = strrchr(file, '/');

	for (unsigned i = 0; i < sizeof(adapters) / sizeof(adapters[0]); i++)
		if (!strncmp(slash ? slash + 1 : file, adapters[i].file, strlen(adapters[i].file)) &&
		    !__atomic_exchange_n(&adapters[i].loaded, true, __ATOMIC_RELAXED))
			load_ours(adapters[i].ours, RTLD_LOCAL);
}

/* ---- before the loader's functions ------------------------------------------------------------------- */

/* The linker's: where the table of REAL() begins and ends. */
extern GT_HIDDEN struct gt_real_function __start_gt_reals[], __stop_gt_reals[];

/*
 * A lookup frees the text that dlerror() has given to the program, and forgets what it was to say. Programs
 * that ask dlerror() have called dlopen() before, as a rule.
 */
static void look_up_reals(void)
{
	static int done;

	if (__atomic_exchange_n(&done, 1, __ATOMIC_RELAXED))
		return;
	for (struct gt_real_function *f = __start_gt_reals; f < __stop_gt_reals; f++)
		if (!__atomic_load_n(f->kept, __ATOMIC_RELAXED))
			__atomic_store_n(f->kept, gt_next_symbol(f->name), __ATOMIC_RELAXED);
}

void *gt_before_dlopen(const char *file, int mode, const void *caller)
{
	int saved = errno;

	if (gt_sys_refused() && file && is_injected(file) &&
	    !dl_iterate_phdr(is_loaded, (void *)(uintptr_t)file))
		return (void *)(uintptr_t)refuse;
	if (!gt_real_dlopen)
		gt_real_dlopen = (void *(*)(const char *, int))gt_next_symbol("dlopen");
	look_up_reals();
	gt_modules_changed();
	if (file && gt_real_dlopen && !gt_sys_refused())
		load_with(file);
	if (file && *file && gt_real_dlopen && !(mode & RTLD_NOLOAD) && !gt_sys_refused())
		gt_shown_before(file, caller, load_ours);
	errno = saved;
	return (void *)gt_real_dlopen;
}

void *gt_before_dlmopen(void)
{
	int saved = errno;

	if (!gt_real_dlmopen)
		gt_real_dlmopen = (void *(*)(Lmid_t, const char *, int))gt_next_symbol("dlmopen");
	gt_modules_changed();
	__atomic_store_n(&gt_modules_apart, true, __ATOMIC_RELAXED);
	errno = saved;
	return (void *)gt_real_dlmopen;
}

#if defined(__x86_64__)
/* Keeps the three argument registers over the call, then jumps with the stack as it was; the third argument
 * of `before` is who calls. */
#define JUMP(name, before)                                                                         \
	__asm__(".text\n"                                                                          \
		".globl " #name "\n"                                                               \
		".type " #name ", @function\n" #name ":\n"                                         \
		".cfi_startproc\n"                                                                 \
		"	pushq %rdi\n"                                                              \
		"	.cfi_adjust_cfa_offset 8\n"                                                \
		"	pushq %rsi\n"                                                              \
		"	.cfi_adjust_cfa_offset 8\n"                                                \
		"	pushq %rdx\n"                                                              \
		"	.cfi_adjust_cfa_offset 8\n"                                                \
		"	movq 24(%rsp), %rdx\n" /* the return address */                            \
		"	call " #before "\n"                                                        \
		"	popq %rdx\n"                                                               \
		"	.cfi_adjust_cfa_offset -8\n"                                               \
		"	popq %rsi\n"                                                               \
		"	.cfi_adjust_cfa_offset -8\n"                                               \
		"	popq %rdi\n"                                                               \
		"	.cfi_adjust_cfa_offset -8\n"                                               \
		"	jmp *%rax\n"                                                               \
		".cfi_endproc\n"                                                                   \
		".size " #name ", .-" #name "\n");
#elif defined(__aarch64__)
#define JUMP(name, before)                                                                         \
	__asm__(".text\n"                                                                          \
		".globl " #name "\n"                                                               \
		".type " #name ", %function\n"                                                     \
		".p2align 2\n" #name ":\n"                                                         \
		".cfi_startproc\n"                                                                 \
		"	stp x29, x30, [sp, #-48]!\n"                                              \
		"	.cfi_def_cfa_offset 48\n"                                                 \
		"	.cfi_offset x29, -48\n"                                                   \
		"	.cfi_offset x30, -40\n"                                                   \
		"	mov x29, sp\n"                                                            \
		"	stp x0, x1, [sp, #16]\n"                                                  \
		"	str x2, [sp, #32]\n"                                                      \
		"	mov x2, x30\n"                                                            \
		"	bl " #before "\n"                                                         \
		"	mov x16, x0\n"                                                            \
		"	ldp x0, x1, [sp, #16]\n"                                                  \
		"	ldr x2, [sp, #32]\n"                                                      \
		"	ldp x29, x30, [sp], #48\n"                                                \
		"	.cfi_restore x29\n"                                                       \
		"	.cfi_restore x30\n"                                                       \
		"	.cfi_def_cfa_offset 0\n"                                                  \
		"	br x16\n"                                                                 \
		".cfi_endproc\n"                                                                   \
		".size " #name ", .-" #name "\n");
#endif
#ifdef JUMP
JUMP(dlopen, gt_before_dlopen)
JUMP(dlmopen, gt_before_dlmopen)
#else
GT_API void *dlopen(const char *file, int mode)
{
	const void *caller = __builtin_return_address(0);
	void *(*real)(const char *, int) = (void *(*)(const char *, int))gt_before_dlopen(file, mode, caller);

	return real(file, mode);
}

GT_API void *dlmopen(Lmid_t space, const char *file, int mode)
{
	void *(*real)(Lmid_t, const char *, int) =
		(void *(*)(Lmid_t, const char *, int))gt_before_dlmopen();

	return real(space, file, mode);
}
#endif

GT_API int dlclose(void *handle)
{
	static int (*real)(void *);
	int rc, saved;

	if (!real)
		real = (int (*)(void *))gt_next_symbol("dlclose");
	if (gt_state_now() == GT_READY)
		gt_modules_scan(); /* what has come since the last look */
	rc = real(handle);
	saved = errno;
	gt_fcontext_forget();
	if (gt_state_now() == GT_READY)
		gt_modules_scan();
	errno = saved;
	return rc;
}
