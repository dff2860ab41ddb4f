/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The unwinder, for the cleanup attributes of waits that are cancelled. It is in libgcc_s, whose constructor
 * asks the processor ten times what it is, which takes 30 us each in a virtual machine. A process that
 * unwinds has loaded it: C++ at its start, the C library before it cancels or ends a thread. So it is looked
 * for there, and not while a stack is unwound: the loader's lock may be held by who waits for the thread.
 *
 * Limits: a program in C that loads a library in C++ later, and has thrown nothing through our frames before,
 * finds it when it does.
 */
#include "pthread/real.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <string.h>
#include <unwind.h>

#define UNWINDER "libgcc_s.so.1"

typedef void resume(struct _Unwind_Exception *);
typedef _Unwind_Reason_Code personality(int, _Unwind_Action, _Unwind_Exception_Class,
					struct _Unwind_Exception *, struct _Unwind_Context *);
static resume *real_resume;           /* atomic, as is: */
static personality *real_personality; /* the last to be found */

static void find(int flags)
{
	void *library = dlopen(UNWINDER, RTLD_LAZY | flags);

	if (!library)
		return;
	__atomic_store_n(&real_resume, (resume *)dlsym(library, "_Unwind_Resume"), __ATOMIC_RELAXED);
	/* Pairs with is_found(). */
	__atomic_store_n(&real_personality, (personality *)dlsym(library, "__gcc_personality_v0"),
			 __ATOMIC_RELEASE);
}

static bool is_found(void)
{
	return __atomic_load_n(&real_personality, __ATOMIC_ACQUIRE);
}

/* Before this thread, or another one, is unwound. */
void gt_pt_find_unwinder(void)
{
	int saved = errno;

	if (!is_found())
		find(0);
	errno = saved;
}

/* Looks into the loader's list, since dlopen() opens the file to find out that it is not loaded. */
static bool is_loaded(void)
{
	for (const struct link_map *map = _r_debug.r_map; map; map = map->l_next) {
		size_t length = strlen(map->l_name), own = strlen(UNWINDER);

		if (length >= own && !strcmp(map->l_name + length - own, UNWINDER))
			return true;
	}
	return false;
}

/* It is there from the start. */
__attribute__((constructor)) static void begin(void)
{
	int saved = errno;

	if (is_loaded())
		find(RTLD_NOLOAD);
	errno = saved;
}

/* ---- what the compiler's code calls ------------------------------------------------------------------- */

/* The C++ ABI, level I: goes on unwinding after a cleanup, which the function below has found. */
void _Unwind_Resume(struct _Unwind_Exception *exception)
{
	gt_pt_find_unwinder();
	real_resume(exception);
	__builtin_unreachable();
}

personality __gcc_personality_v0;

/* What the compiler names in the tables of such functions: runs their cleanups, as it does in all of C. */
_Unwind_Reason_Code __gcc_personality_v0(int version, _Unwind_Action actions, _Unwind_Exception_Class class,
					 struct _Unwind_Exception *exception, struct _Unwind_Context *context)
{
	gt_pt_find_unwinder();
	return is_found() ? real_personality(version, actions, class, exception, context)
			  : _URC_CONTINUE_UNWIND;
}
