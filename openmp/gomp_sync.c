/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libgomp's criticals, atomics, ordered blocks, locks and target constructs.
 *
 * Limits: no locks of programs from before 2008 (OMP_1.0).
 */
#include "openmp/gomp.h"

/* Their addresses stand for locks that have none. */
static char unnamed, atomic, ordered;

#define BLOCK(start, end, parameters, arguments, construct, lock, variable)                        \
	GT_API void start parameters;                                                              \
	GT_API void start parameters                                                               \
	{                                                                                          \
		const void *code = GT_GOMP_CALLER();                                               \
		const struct gt_gomp *real = gt_gomp_of(code);                                     \
												   \
		if (!gt_gomp_on(real)) {                                                           \
			real->start arguments;                                                     \
			return;                                                                    \
		}                                                                                  \
		gt_omp_acquire(construct, variable, code);                                         \
		real->start arguments;                                                             \
		gt_omp_acquired(construct, true, (uint64_t)(uintptr_t)(lock), variable, code);     \
	}                                                                                          \
	GT_API void end parameters;                                                                \
	GT_API void end parameters                                                                 \
	{                                                                                          \
		const struct gt_gomp *real = gt_gomp_of(GT_GOMP_CALLER());                         \
												   \
		if (gt_gomp_on(real))                                                              \
			gt_omp_released(construct, (uint64_t)(uintptr_t)(lock));                   \
		real->end arguments;                                                               \
	}
BLOCK(GOMP_critical_start, GOMP_critical_end, (void), (), GT_OMP_CRITICAL, &unnamed, NULL)
BLOCK(GOMP_critical_name_start, GOMP_critical_name_end, (void **name), (name), GT_OMP_CRITICAL, name, name)
BLOCK(GOMP_atomic_start, GOMP_atomic_end, (void), (), GT_OMP_ATOMIC, &atomic, NULL)
BLOCK(GOMP_ordered_start, GOMP_ordered_end, (void), (), GT_OMP_ORDERED, &ordered, NULL)
BLOCK(omp_set_lock, omp_unset_lock, (void *lock), (lock), GT_OMP_LOCK, lock, NULL)
BLOCK(omp_set_lock_, omp_unset_lock_, (void *lock), (lock), GT_OMP_LOCK, lock, NULL)
BLOCK(omp_set_nest_lock, omp_unset_nest_lock, (void *lock), (lock), GT_OMP_LOCK, lock, NULL)
BLOCK(omp_set_nest_lock_, omp_unset_nest_lock_, (void *lock), (lock), GT_OMP_LOCK, lock, NULL)

/* LLVM's runtime: what OMPT says meanwhile is about a lock that is only tested. */
static int test(int (*real)(void *), void *lock)
{
	int got;

	if (!gt_omp_tool || !gt_omp_known())
		return real(lock);
	gt_omp_self->tests = true;
	got = real(lock);
	gt_omp_self->tests = false;
	return got;
}

#define TEST(name)                                                                                 \
	GT_API int name(void *lock);                                                               \
	GT_API int name(void *lock)                                                                \
	{                                                                                          \
		const void *code = GT_GOMP_CALLER();                                               \
		const struct gt_gomp *real = gt_gomp_of(code);                                     \
		int got;                                                                           \
												   \
		if (!gt_gomp_on(real))                                                             \
			return real->recorded ? real->name(lock) : test(real->name, lock);         \
		got = real->name(lock);                                                            \
		if (got)                                                                           \
			gt_omp_acquired(GT_OMP_LOCK, false, (uint64_t)(uintptr_t)lock, NULL, code); \
		return got;                                                                        \
	}
TEST(omp_test_lock)
TEST(omp_test_lock_)
TEST(omp_test_nest_lock)
TEST(omp_test_nest_lock_)

#define TEST_LLVM(name)                                                                            \
	__asm__(".symver llvm_" #name ", " #name "@VERSION");                                      \
	GT_API int llvm_##name(void *lock);                                                        \
	GT_API int llvm_##name(void *lock)                                                         \
	{                                                                                          \
		return test(gt_gomp_llvm_of(GT_GOMP_CALLER())->llvm_##name, lock);                 \
	}
TEST_LLVM(omp_test_lock)
TEST_LLVM(omp_test_lock_)
TEST_LLVM(omp_test_nest_lock)
TEST_LLVM(omp_test_nest_lock_)

/* Of a critical OMPT says an address of the runtime's. Where nothing is recorded the call is a jump, so that
 * another tool sees who calls. */
#define CRITICAL(name, parameters, arguments)                                                      \
	GT_API void name parameters;                                                               \
	GT_API void name parameters                                                                \
	{                                                                                          \
		const void *code = GT_GOMP_CALLER();                                               \
		const struct gt_gomp *real = gt_gomp_llvm_of(code);                                \
												   \
		if (!gt_omp_tool || !gt_omp_known()) {                                             \
			real->llvm_##name arguments;                                               \
			return;                                                                    \
		}                                                                                  \
		gt_omp_self->critical = critical;                                                  \
		gt_omp_self->critical_code = code;                                                 \
		real->llvm_##name arguments;                                                       \
		gt_omp_self->critical = NULL;                                                      \
	}
CRITICAL(__kmpc_critical, (void *place, int thread, void *critical), (place, thread, critical))
CRITICAL(__kmpc_critical_with_hint, (void *place, int thread, void *critical, unsigned hint),
	 (place, thread, critical, hint))

/* ---- target constructs --------------------------------------------------------------------------------- */

#define TARGET(name, parameters, arguments, construct)                                             \
	GT_API void name parameters;                                                               \
	GT_API void name parameters                                                                \
	{                                                                                          \
		const void *code = GT_GOMP_CALLER();                                               \
		const struct gt_gomp *real = gt_gomp_of(code);                                     \
		enum gt_omp_construct kind = construct;                                            \
												   \
		if (!gt_gomp_on(real)) {                                                           \
			real->name arguments;                                                      \
			return;                                                                    \
		}                                                                                  \
		gt_omp_open(kind, code);                                                           \
		real->name arguments;                                                              \
		gt_omp_close(kind, 0);                                                      \
	}

#define MAPS size_t count, void **addresses, size_t *sizes, unsigned short *kinds
#define OLD_MAPS \
	int device, const void *unused, size_t count, void **addresses, size_t *sizes, unsigned char *kinds

TARGET(GOMP_target,
       (int device, void (*function)(void *), const void *unused, size_t count, void **addresses,
	size_t *sizes, unsigned char *kinds),
       (device, function, unused, count, addresses, sizes, kinds), GT_OMP_TARGET)
TARGET(GOMP_target_ext,
       (int device, void (*function)(void *), MAPS, unsigned flags, void **depend, void **more),
       (device, function, count, addresses, sizes, kinds, flags, depend, more), GT_OMP_TARGET)
TARGET(GOMP_target_update, (OLD_MAPS), (device, unused, count, addresses, sizes, kinds), GT_OMP_TARGET_UPDATE)
TARGET(GOMP_target_update_ext, (int device, MAPS, unsigned flags, void **depend),
       (device, count, addresses, sizes, kinds, flags, depend), GT_OMP_TARGET_UPDATE)
#define EXIT_DATA 2u
TARGET(GOMP_target_enter_exit_data, (int device, MAPS, unsigned flags, void **depend),
       (device, count, addresses, sizes, kinds, flags, depend),
       flags & EXIT_DATA ? GT_OMP_TARGET_EXIT : GT_OMP_TARGET_ENTER)

#define TARGET_DATA(name, parameters, arguments)                                                   \
	GT_API void name parameters;                                                               \
	GT_API void name parameters                                                                \
	{                                                                                          \
		const void *code = GT_GOMP_CALLER();                                               \
		const struct gt_gomp *real = gt_gomp_of(code);                                     \
												   \
		if (gt_gomp_on(real))                                                              \
			gt_omp_open(GT_OMP_TARGET_DATA, code);                                     \
		real->name arguments;                                                              \
	}
TARGET_DATA(GOMP_target_data, (OLD_MAPS), (device, unused, count, addresses, sizes, kinds))
TARGET_DATA(GOMP_target_data_ext, (int device, MAPS), (device, count, addresses, sizes, kinds))

GT_API void GOMP_target_end_data(void);
GT_API void GOMP_target_end_data(void)
{
	const struct gt_gomp *real = gt_gomp_of(GT_GOMP_CALLER());

	real->GOMP_target_end_data();
	if (gt_gomp_on(real))
		gt_omp_close(GT_OMP_TARGET_DATA, 0);
}
