/* SPDX-License-Identifier: BSD-3-Clause */
/* Structs of the door of other versions (lib/common/sized.h), and OTF2's numbers in it. */
#include "lib/common/sized.h"

#include "gputrace/otf2_numbers.h"

#include <criterion/criterion.h>
#include <otf2/otf2.h>

struct now {
	size_t bytes;
	int a, b;
	long grown;
};

enum { FIRST = GT_SIZED_UP_TO(struct now, b) };

struct later {
	struct now now;
	long beyond;
};

Test(sized, in)
{
	struct later later = { { .bytes = sizeof(later), .a = 1, .b = 2, .grown = 3 }, 4 };
	struct now copy = { .grown = 99 };

	cr_assert(gt_sized_in(&copy, sizeof(copy), FIRST, &later));
	cr_expect(copy.a == 1 && copy.b == 2 && copy.grown == 3, "what is beyond is left out");
	later.now.bytes = FIRST;
	cr_assert(gt_sized_in(&copy, sizeof(copy), FIRST, &later));
	cr_expect(copy.a == 1 && copy.b == 2 && copy.grown == 0, "what is missing is zero");
	for (size_t bytes = 0; bytes < FIRST; bytes++) {
		later.now.bytes = bytes;
		cr_expect_not(gt_sized_in(&copy, sizeof(copy), FIRST, &later), "%zu bytes", bytes);
	}
	later.now.bytes = (size_t)-1;
	cr_expect_not(gt_sized_in(&copy, sizeof(copy), FIRST, &later));
	cr_expect_not(gt_sized_in(&copy, sizeof(copy), FIRST, NULL));
}

Test(sized, out)
{
	struct later later = { { .bytes = sizeof(later), .a = 7 }, 8 };
	const struct now own = { .a = 1, .b = 2, .grown = 3 };
	struct now earlier = { .bytes = FIRST, .grown = 9 };

	cr_assert(gt_sized_out(&later, FIRST, &own, sizeof(own)));
	cr_expect(later.now.bytes == sizeof(later) && later.now.a == 1);
	cr_expect(later.now.grown == 3 && !later.beyond);
	cr_assert(gt_sized_out(&earlier, FIRST, &own, sizeof(own)));
	cr_expect(earlier.bytes == FIRST && earlier.b == 2);
	cr_expect_eq(earlier.grown, 9, "beyond it nothing is written");
	earlier.bytes = FIRST - 1;
	cr_expect_not(gt_sized_out(&earlier, FIRST, &own, sizeof(own)));
}

#define SAME(name) _Static_assert((int)GT_##name == (int)OTF2_##name, #name);
#define ROLE(name)     SAME(REGION_ROLE_##name)
#define PARADIGM(name) SAME(PARADIGM_##name)
#define METRIC(name)   SAME(METRIC_##name)

ROLE(UNKNOWN) ROLE(FUNCTION) ROLE(WRAPPER) ROLE(LOOP) ROLE(CODE) ROLE(PARALLEL) ROLE(SECTIONS)
ROLE(SECTION) ROLE(WORKSHARE) ROLE(SINGLE) ROLE(SINGLE_SBLOCK) ROLE(MASTER) ROLE(CRITICAL)
ROLE(CRITICAL_SBLOCK) ROLE(ATOMIC) ROLE(BARRIER) ROLE(IMPLICIT_BARRIER) ROLE(FLUSH) ROLE(ORDERED)
ROLE(ORDERED_SBLOCK) ROLE(TASK) ROLE(TASK_CREATE) ROLE(TASK_WAIT) ROLE(COLL_ONE2ALL)
ROLE(COLL_ALL2ONE) ROLE(COLL_ALL2ALL) ROLE(COLL_OTHER) ROLE(FILE_IO) ROLE(POINT2POINT) ROLE(RMA)
ROLE(DATA_TRANSFER) ROLE(ARTIFICIAL) ROLE(THREAD_CREATE) ROLE(THREAD_WAIT) ROLE(TASK_UNTIED)
ROLE(ALLOCATE) ROLE(DEALLOCATE) ROLE(REALLOCATE) ROLE(FILE_IO_METADATA)

PARADIGM(UNKNOWN) PARADIGM(USER) PARADIGM(COMPILER) PARADIGM(OPENMP) PARADIGM(MPI) PARADIGM(CUDA)
PARADIGM(MEASUREMENT_SYSTEM) PARADIGM(PTHREAD) PARADIGM(HMPP) PARADIGM(OMPSS) PARADIGM(HARDWARE)
PARADIGM(GASPI) PARADIGM(UPC) PARADIGM(SHMEM) PARADIGM(WINTHREAD) PARADIGM(QTTHREAD)
PARADIGM(ACETHREAD) PARADIGM(TBBTHREAD) PARADIGM(OPENACC) PARADIGM(OPENCL) PARADIGM(MTAPI)
PARADIGM(SAMPLING) PARADIGM(NONE) PARADIGM(HIP) PARADIGM(KOKKOS)
PARADIGM(CLASS_PROCESS) PARADIGM(CLASS_THREAD_FORK_JOIN) PARADIGM(CLASS_THREAD_CREATE_WAIT)
PARADIGM(CLASS_ACCELERATOR)

METRIC(ACCUMULATED_START) METRIC(ACCUMULATED_POINT) METRIC(ACCUMULATED_LAST) METRIC(ACCUMULATED_NEXT)
METRIC(ABSOLUTE_POINT) METRIC(ABSOLUTE_LAST) METRIC(ABSOLUTE_NEXT) METRIC(RELATIVE_POINT)
METRIC(RELATIVE_LAST) METRIC(RELATIVE_NEXT) METRIC(TYPE_OTHER) METRIC(TYPE_PAPI)
METRIC(TYPE_RUSAGE) METRIC(TYPE_USER)

SAME(IO_OPERATION_MODE_READ) SAME(IO_OPERATION_MODE_WRITE) SAME(IO_OPERATION_MODE_FLUSH)
