/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the real functions of libgomp, and of LLVM's runtime.
 *
 * Limits: see gomp.h. Places that call are kept in a table of PLACES entries; those beyond are looked up each
 * time. A place whose library was unloaded keeps its runtime.
 */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stddef.h>
#include <string.h>

#include "gputrace/hash.h"
#include "openmp/gomp.h"

enum { PLACES = 1024, PROBES = 16 };

GT_HIDDEN const struct gt_gomp *gt_gomp_common;

static struct gt_gomp runtimes[GT_GOMP_RUNTIMES];
static uint32_t count;
static uint32_t lock; /* of the two tables while something is put in; nothing is called meanwhile */

/* Entries are made, and never changed: `caller` is written last. */
static struct place {
	const void *caller;
	const struct gt_gomp *runtime;
} places[PLACES];

/* Of a runtime that lacks the function, or has not been found: no program that starts calls it. */
static int missing(void)
{
	return 0;
}

static const struct {
	const char *name;
	size_t slot;
	bool llvm;
} functions[] = {
#define GT_GOMP(type, name, parameters) { #name, offsetof(struct gt_gomp, name), false },
#define GT_GOMP_ASK GT_GOMP
#define GT_GOMP_LLVM(type, name, parameters) { #name, offsetof(struct gt_gomp, llvm_##name), true },
#include "openmp/gomp.def"
};

/* The symbols of LLVM's runtime have this version, but for those that stand for libgomp's. */
static void *find(void *handle, const char *name, bool llvm)
{
	void *function = llvm ? dlvsym(handle, name, "VERSION") : NULL;

	if (!function)
		function = dlsym(handle, name);
	return function ? function : (void *)missing;
}

/* Is it LLVM's, which says itself what it does? */
static bool has_ompt(void *function)
{
	Dl_info where;
	void *handle;
	bool has;

	if (!function || !dladdr(function, &where) || !where.dli_fname)
		return false;
	handle = dlopen(where.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
	has = handle && dlsym(handle, "__kmpc_fork_call");
	if (handle)
		dlclose(handle);
	return has;
}

static void begin(void)
{
	while (__atomic_exchange_n(&lock, 1, __ATOMIC_ACQUIRE))
		;
}

static void end(void)
{
	__atomic_store_n(&lock, 0, __ATOMIC_RELEASE); /* pairs with begin() */
}

static const struct gt_gomp *keep(const struct gt_gomp *found)
{
	uint32_t i = 0;

	begin();
	while (i < count && (runtimes[i].omp_set_lock != found->omp_set_lock ||
			     runtimes[i].llvm_omp_test_lock != found->llvm_omp_test_lock))
		i++;
	if (i == GT_GOMP_RUNTIMES)
		i = 0;
	else if (i == count)
		runtimes[count++] = *found;
	end();
	return &runtimes[i];
}

/* The runtime that has these functions, and its place in the table. */
static const struct gt_gomp *runtime_in(void *handle)
{
	struct gt_gomp found;

	for (size_t k = 0; k < sizeof(functions) / sizeof(functions[0]); k++) {
		void *function = find(handle, functions[k].name, functions[k].llvm);

		memcpy((char *)&found + functions[k].slot, &function, sizeof(function));
	}
	gt_pin((const void *)found.omp_set_lock);
	found.recorded = !has_ompt((void *)found.omp_set_lock);
	found.llvm = dlsym(handle, "__kmpc_fork_call") != NULL;
	if (found.recorded)
		gt_omp_begin();
	return keep(&found);
}

/* That of the object which has this code, or NULL. */
static const struct gt_gomp *runtime_of(const void *caller)
{
	const struct gt_gomp *runtime = NULL;
	Dl_info where;
	void *handle;

	if (!dladdr(caller, &where) || !where.dli_fname)
		return NULL;
	handle = dlopen(where.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
	if (handle && dlsym(handle, "omp_set_lock"))
		runtime = runtime_in(handle);
	if (handle)
		dlclose(handle);
	return runtime;
}

/* A linker that leaves out libraries which are not needed has found all that the program calls in ours. */
static const struct gt_gomp *runtime_by_name(const char *name)
{
	void *handle = dlopen(name, RTLD_LAZY);

	return runtime_in(handle ? handle : RTLD_NEXT);
}

static void remember(const void *caller, const struct gt_gomp *runtime)
{
	uint64_t hash = gt_hash_word((uint64_t)(uintptr_t)caller) >> 32;
	struct place *place = &places[hash % PLACES];

	begin();
	for (unsigned i = 0; i < PROBES && place->caller; i++)
		place = &places[(hash + i) % PLACES];
	if (!place->caller) {
		place->runtime = runtime;
		__atomic_store_n(&place->caller, caller, __ATOMIC_RELEASE); /* pairs with gt_gomp_find() */
	}
	end();
}

static const struct gt_gomp *look_up(const void *caller, bool llvm)
{
	const struct gt_gomp *runtime;

	/* What is behind us in the search order is what everybody gets. */
	if (dlsym(RTLD_NEXT, llvm ? "__kmpc_fork_call" : "omp_set_lock")) {
		runtime = runtime_in(RTLD_NEXT);
		/* Pairs with gt_gomp_of() and gt_gomp_llvm_of() in openmp/gomp.h. */
		__atomic_store_n(&gt_gomp_common, runtime, __ATOMIC_RELEASE);
		return runtime;
	}
	runtime = runtime_of(caller);
	if (!runtime)
		runtime = runtime_by_name(llvm ? "libomp.so.5" : "libgomp.so.1");
	remember(caller, runtime);
	return runtime;
}

const struct gt_gomp *gt_gomp_find(const void *caller, bool llvm)
{
	uint64_t hash = gt_hash_word((uint64_t)(uintptr_t)caller) >> 32;
	const struct gt_gomp *runtime;
	int saved = errno;

	for (unsigned i = 0; i < PROBES; i++) {
		const struct place *place = &places[(hash + i) % PLACES];

		if (__atomic_load_n(&place->caller, __ATOMIC_ACQUIRE) == caller)
			return place->runtime;
	}
	gt_guard();
	runtime = look_up(caller, llvm);
	gt_unguard();
	errno = saved;
	return runtime;
}
