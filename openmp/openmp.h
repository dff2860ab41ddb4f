/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Regions of OpenMP: a construct at a place in the code.
 *
 * Limits: GT_OMP_PLACES places; what comes later is recorded by construct alone.
 */
#ifndef GT_OPENMP_OPENMP_H
#define GT_OPENMP_OPENMP_H

#include "gputrace/adapter.h"

enum { GT_OMP_PARADIGM = 3 }; /* OTF2_PARADIGM_OPENMP */

/* Enumerator, name, OTF2_RegionRole as a number. */
#define GT_OMP_CONSTRUCTS(C)                        \
	C(PARALLEL, "omp parallel", 5)              \
	C(FOR, "omp for", 3)                        \
	C(SECTIONS, "omp sections", 6)              \
	C(SINGLE, "omp single", 9)                  \
	C(WORKSHARE, "omp workshare", 8)            \
	C(DISTRIBUTE, "omp distribute", 3)          \
	C(TASKLOOP, "omp taskloop", 3)              \
	C(SCOPE, "omp scope", 4)                    \
	C(MASKED, "omp masked", 11)                 \
	C(BARRIER, "omp barrier", 15)               \
	C(IMPLICIT, "omp implicit barrier", 16)     \
	C(TASKWAIT, "omp taskwait", 22)             \
	C(TASKGROUP, "omp taskgroup", 22)           \
	C(TASK, "omp task", 20)                     \
	C(UNTIED, "omp task untied", 34)            \
	C(LOCK, "omp lock", 12)                     \
	C(CRITICAL, "omp critical", 12)             \
	C(CRITICAL_BLOCK, "omp critical block", 13) \
	C(ATOMIC, "omp atomic", 14)                 \
	C(ORDERED, "omp ordered", 18)               \
	C(ORDERED_BLOCK, "omp ordered block", 19)

#define GT_OMP_ENUM(NAME, text, role) GT_OMP_##NAME,
enum gt_omp_construct { GT_OMP_CONSTRUCTS(GT_OMP_ENUM) GT_OMP_COUNT };
#undef GT_OMP_ENUM

/*
 * The region of a construct whose call of the runtime returns to `code`; NULL: nobody knows. GT_NONE: the
 * user's filter leaves it out. Takes no lock once the place is known.
 */
GT_HIDDEN gt_ref gt_omp_region(enum gt_omp_construct construct, const void *code);

#endif
