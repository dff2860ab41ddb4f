/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * GCC's libgomp has no OMPT: its entry points are wrapped. Programs that were built for it and run with
 * LLVM's runtime, which has these functions, too, are handed on: that has OMPT. A few of its own functions
 * are wrapped to learn what OMPT does not say.
 *
 * A library that was loaded for itself alone (dlopen with RTLD_LOCAL, as Python's modules are) brings its own
 * libgomp, of which a process may have several: so the real functions are those of whoever calls.
 *
 * Limits: GT_GOMP_RUNTIMES of them; calls of one more go to the first.
 */
#ifndef GT_OPENMP_GOMP_H
#define GT_OPENMP_GOMP_H

#include "openmp/openmp.h"

enum { GT_GOMP_RUNTIMES = 16 };

typedef unsigned long long gt_ull;

struct gt_gomp {
#define GT_GOMP(type, name, parameters) type(*name) parameters;
#define GT_GOMP_ASK GT_GOMP
#define GT_GOMP_LLVM(type, name, parameters) type(*llvm_##name) parameters;
#include "openmp/gomp.def"
	bool recorded; /* by its calls: it has no OMPT */
	bool llvm;     /* it has the functions of LLVM's, too */
};

/* The one that every caller gets, if there is such a one. */
extern GT_HIDDEN const struct gt_gomp *gt_gomp_common;
/* That of the code at this address, which calls a function of libgomp, or one of LLVM's runtime. */
GT_HIDDEN const struct gt_gomp *gt_gomp_find(const void *caller, bool llvm);

static inline const struct gt_gomp *gt_gomp_of(const void *caller)
{
	const struct gt_gomp *common = __atomic_load_n(&gt_gomp_common, __ATOMIC_ACQUIRE);

	return gt_likely(common) ? common : gt_gomp_find(caller, false);
}

static inline const struct gt_gomp *gt_gomp_llvm_of(const void *caller)
{
	const struct gt_gomp *common = __atomic_load_n(&gt_gomp_common, __ATOMIC_ACQUIRE);

	return gt_likely(common && common->llvm) ? common : gt_gomp_find(caller, true);
}

/* In a wrapper: who calls, and the runtime of its calls. */
#define GT_GOMP_CALLER() __builtin_extract_return_addr(__builtin_return_address(0))

/* As if a call returned to it, for gt_omp_region(): where the function begins that the compiler made of
 * a construct is the construct's line. */
#define GT_GOMP_CODE(function) ((const char *)(uintptr_t)(function) + 1)

/* Is what this thread calls there recorded? */
static inline bool gt_gomp_on(const struct gt_gomp *real)
{
	return real->recorded && gt_omp_ready && gt_omp_known() && gt_active();
}

#endif
