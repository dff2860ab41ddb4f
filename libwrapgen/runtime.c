/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rare half of a library's wrappers: finds the real functions, defines the regions. A copy of
 * this file is part of every wrapper project; names.h beside it says group and libraries.
 *
 * Limits: errno is the caller's. A function that is not there ends the program with status 127 and a
 * sentence, as the dynamic linker does when a symbol is missing.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <gputrace/adapter.h>
#include <gputrace/wrap.h>

#include "find.h"
#include "names.h"

#define ROLE_FUNCTION 1     /* OTF2_REGION_ROLE_FUNCTION */
#define PARADIGM_USER 1     /* OTF2_PARADIGM_USER */
#define LOSS_DEFINITION 11  /* GT_LOSS_DEFINITION */
#define BUSY 2u             /* a thread is defining the region */

/* For wrappers of what dlsym() itself calls: what serves those calls meanwhile. */
extern void *gt_wrap_meanwhile(const char *symbol) __attribute__((weak, visibility("hidden")));
__thread int gt_wrap_finding __attribute__((tls_model("initial-exec")));

static __thread int defining __attribute__((tls_model("initial-exec")));

static const char *const libraries[] = { GT_WRAP_LIBRARIES NULL };

/* Is this address in the wrapper itself? */
static int own(const void *address)
{
	static const char here;
	Dl_info ours, its;

	return dladdr(&here, &ours) && dladdr(address, &its) && ours.dli_fbase == its.dli_fbase;
}

static void *in_library(const char *library, int flags, const char *symbol)
{
	void *handle = dlopen(library, flags);
	void *found = handle ? dlsym(handle, symbol) : NULL;

	return found && !own(found) ? found : NULL;
}

/* What was found must stay: the program may close the library that brought it, and open it again. */
static void pin(const void *address)
{
	Dl_info its;

	if (dladdr(address, &its) && its.dli_fname && *its.dli_fname)
		dlopen(its.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
}

/*
 * The next definition behind ours in the global scope; or, for a library that came by dlopen and is
 * seen by its user only, the one that is loaded; or, if it is not (a weak symbol), the library itself,
 * where `load` allows that. NULL: there is none.
 */
static void *look_for(struct gt_wrap *w, bool load)
{
	void *found;

	gt_wrap_finding++;
	gt_guard();
	found = dlsym(RTLD_NEXT, w->gt_symbol);
	if (found && own(found))
		found = NULL;
	for (unsigned i = 0; !found && libraries[i]; i++)
		found = in_library(libraries[i], RTLD_LAZY | RTLD_NOLOAD, w->gt_symbol);
	for (unsigned i = 0; load && !found && libraries[i]; i++)
		found = in_library(libraries[i], RTLD_LAZY | RTLD_LOCAL, w->gt_symbol);
	if (found)
		pin(found);
	gt_unguard();
	gt_wrap_finding--;
	if (found)
		__atomic_store_n(&w->gt_real, found, __ATOMIC_RELEASE);
	return found;
}

void *gt_wrap_known(struct gt_wrap *w)
{
	void *found = __atomic_load_n(&w->gt_real, __ATOMIC_ACQUIRE);
	int saved = errno;

	if (!found)
		found = look_for(w, false);
	errno = saved;
	return found;
}

void *gt_wrap_find(struct gt_wrap *w)
{
	int saved = errno;
	void *found;

	if (gt_wrap_finding && gt_wrap_meanwhile && (found = gt_wrap_meanwhile(w->gt_symbol)))
		return found;
	found = look_for(w, true);
	if (!found) {
		gt_message(0, "no library has the function %s that the program calls", w->gt_symbol);
		_exit(127);
	}
	errno = saved;
	return found;
}

/* Another thread defines the region: that takes microseconds, unless it does not run. */
static void wait_for(struct gt_wrap *w)
{
	const struct timespec pause = { 0, 1000000 };
	unsigned busy = BUSY;

	for (int i = 0; i < 2000; i++) {
		if (__atomic_load_n(&w->gt_state, __ATOMIC_ACQUIRE) != BUSY)
			return;
		if (i < 1000)
			sched_yield();
		else
			syscall(SYS_nanosleep, &pause, NULL); /* libc's would be a point to cancel at */
	}
	/* It is gone: this is a forked child, say. The next call begins anew. */
	__atomic_compare_exchange_n(&w->gt_state, &busy, 0, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
	gt_lost(LOSS_DEFINITION, 2);
}

void gt_wrap_define(struct gt_wrap *w)
{
	struct gt_region_info info = {
		.bytes = sizeof(info),
		.name = w->gt_name,
		.canonical = w->gt_symbol == w->gt_name ? NULL : w->gt_symbol,
		.group = GT_WRAP_GROUP,
		.role = ROLE_FUNCTION,
		.paradigm = PARADIGM_USER,
	};
	unsigned none = 0;
	int saved = errno;

	if (defining) { /* a signal came meanwhile, and must not wait for what it interrupted */
		gt_lost(LOSS_DEFINITION, 2);
		return;
	}
	if (!__atomic_compare_exchange_n(&w->gt_state, &none, BUSY, 0, __ATOMIC_ACQUIRE,
					 __ATOMIC_ACQUIRE)) {
		if (none == BUSY)
			wait_for(w);
		errno = saved;
		return;
	}
	defining = 1;
	for (unsigned i = 0; w->gt_param_names && w->gt_param_names[i]; i++)
		w->gt_param[i] = gt_def_parameter(w->gt_param_names[i] + 1,
						  *w->gt_param_names[i] == 'i' ? GT_VALUE_INT
									       : GT_VALUE_UINT);
	w->gt_region = gt_def_region(&info);
	defining = 0;
	__atomic_store_n(&w->gt_state, 1, __ATOMIC_RELEASE);
	errno = saved;
}

void gt_wrap_param(unsigned param, unsigned long long value, char kind)
{
	const uint64_t data[2] = { value, 0 };

	if (param) /* GT_T_PARAM_INT, GT_T_PARAM_UINT */
		gt_record(kind == 'i' ? 0x21 : 0x22, param, data, 1);
}

__attribute__((constructor)) static void begin(void)
{
	static const struct gt_adapter adapter = {
		.bytes = sizeof(adapter),
		.abi = GT_ADAPTER_ABI,
		.name = "wrap-" GT_WRAP_GROUP,
	};
	int saved = errno;

	gt_adapter_register(&adapter);
	errno = saved;
}
