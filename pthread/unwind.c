/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The unwinder, for the cleanup attributes of waits that are cancelled. It is in libgcc_s, which every
 * process would have to load for it, and which a process has loaded that unwinds: the C library before it
 * cancels a thread, and every program with exceptions. So these two find it then, as the C library's own
 * do.
 *
 * Limits: called by the compiler's code alone, while a stack is unwound.
 */
#include "pthread/real.h"

#include <dlfcn.h>
#include <unwind.h>

static void *find(const char *name)
{
	void *library = dlopen("libgcc_s.so.1", RTLD_LAZY);

	return library ? dlsym(library, name) : NULL;
}

/* The C++ ABI, level I: goes on unwinding after a cleanup, which the function below has found. */
void _Unwind_Resume(struct _Unwind_Exception *exception)
{
	void (*real)(struct _Unwind_Exception *);

	*(void **)&real = find("_Unwind_Resume");
	real(exception);
	__builtin_unreachable();
}

typedef _Unwind_Reason_Code personality(int, _Unwind_Action, _Unwind_Exception_Class,
					struct _Unwind_Exception *, struct _Unwind_Context *);
personality __gcc_personality_v0;

/* What the compiler names in the tables of such functions: runs their cleanups, as it does in all of C. */
_Unwind_Reason_Code __gcc_personality_v0(int version, _Unwind_Action actions, _Unwind_Exception_Class class,
					 struct _Unwind_Exception *exception, struct _Unwind_Context *context)
{
	personality *real;

	*(void **)&real = find("__gcc_personality_v0");
	return real ? real(version, actions, class, exception, context) : _URC_CONTINUE_UNWIND;
}
