/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Declarations shared by both sources of OpenMP's events: OMPT (adapter.c), and wrappers around libgomp
 * (gomp*.c). Regions are a construct at a place in the code (regions.c); the state of threads and the
 * records are in record.c.
 *
 * Limits: regions.c has a table of 4,096 places; what comes later is recorded by construct alone. record.c:
 * parallel regions nest GT_OMP_LEVELS deep and constructs GT_OMP_OPEN deep; what is deeper is not recorded. A
 * region that ended more than GT_OMP_REGIONS others ago has no known end. Numbers of tasks: see
 * GT_OMP_STARTED.
 */
#ifndef GT_OPENMP_OPENMP_H
#define GT_OPENMP_OPENMP_H

#include "gputrace/adapter.h"


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
	C(ORDERED_BLOCK, "omp ordered block", 19)   \
	C(TARGET, "omp target", 4)                  \
	C(TARGET_DATA, "omp target data", 4)        \
	C(TARGET_ENTER, "omp target enter data", 30) \
	C(TARGET_EXIT, "omp target exit data", 30)  \
	C(TARGET_UPDATE, "omp target update", 30)

#define GT_OMP_ENUM(NAME, text, role) GT_OMP_##NAME,
enum gt_omp_construct { GT_OMP_CONSTRUCTS(GT_OMP_ENUM) GT_OMP_COUNT };
#undef GT_OMP_ENUM

/*
 * The region of a construct whose call of the runtime returns to `code`; NULL: nobody knows. GT_NONE: the
 * user's filter leaves it out. Takes no lock once the place is known. `variable`: that the compiler has made
 * for a critical, or NULL.
 */
GT_HIDDEN gt_ref gt_omp_region(enum gt_omp_construct construct, const void *variable, const void *code);

/* ---- threads --------------------------------------------------------------------------------------- */

enum { GT_OMP_LEVELS = 8, GT_OMP_OPEN = 32, GT_OMP_HELD = 8, GT_OMP_REGIONS = 4096 };

/* The end of a libgomp worker's last parallel region, which is still to be recorded. */
enum gt_omp_late {
	GT_OMP_NOT_LATE,
	GT_OMP_LATE,
	GT_OMP_LATE_DONE, /* it was recorded for this thread, when the process ended its recording */
};

/* A thread's state, which only that thread uses, except `used` and `late`. */
struct gt_omp_thread {
	struct {
		uint64_t number; /* of the parallel region */
		uint64_t arrived; /* tick; at its last barrier */
		gt_ref region;
		uint32_t below; /* constructs that were open before */
		bool entered;
	} levels[GT_OMP_LEVELS];
	struct {
		const void *code;
		gt_ref region;
		uint8_t construct;
	} open[GT_OMP_OPEN];
	struct {
		uint64_t lock;
		uint32_t order, depth;
	} held[GT_OMP_HELD];
	uint32_t depth, opened, held_count; /* may exceed what there is room for */
	uint32_t waiting;                   /* inside of the runtime, which waits */
	uint32_t generation;                /* tasks that it made */
	uint32_t location;
	uint32_t used, late;                /* atomic; enum gt_omp_late */
	bool worker, named;
	bool tests;                         /* the program has called omp_test_lock(), or alike */
	bool tried;                         /* the lock that it asked for last; it did not wait */
	const void *critical, *critical_code; /* that it enters, and where; of LLVM's runtime only */
	const void *single;                 /* code of the last `single`, if its barrier may come */
	uint64_t task;                      /* the present one; libgomp's only */
	struct gt_omp_thread *next;
};
/* A pointer only: what is loaded late has little room for variables of threads. */
extern GT_HIDDEN GT_TLS struct gt_omp_thread *gt_omp_self;

/* Registers the adapter, once, and says in gt_omp_ready whether OpenMP is recorded: not yet, while
 * another thread is at it. */
GT_HIDDEN void gt_omp_begin(void);
extern GT_HIDDEN bool gt_omp_ready;
extern GT_HIDDEN bool gt_omp_tool; /* LLVM's runtime tells us by OMPT what it does */
GT_HIDDEN struct gt_omp_thread *gt_omp_new_thread(void);
/* The calling thread has no use for its state any more. */
GT_HIDDEN void gt_omp_thread_end(void);

/* Is there a place for what is known of this thread? */
static inline bool gt_omp_known(void)
{
	return gt_likely(gt_omp_self) || gt_omp_new_thread();
}

/* ---- parallel regions and constructs: of threads that are known ---------------------------------------- */

/* The calling thread meets a parallel region. Returns its number. */
GT_HIDDEN uint64_t gt_omp_fork(unsigned requested, const void *code);
GT_HIDDEN void gt_omp_join(uint64_t number);
/* The calling thread's part in it; index: among the threads of the team. Number 0: of no region that is
 * known. Here and below tick 0 is the present time. */
GT_HIDDEN void gt_omp_part_begin(uint64_t number, unsigned index);
GT_HIDDEN void gt_omp_part_end(uint64_t tick);
/* When the region in which the thread is has ended; 0: it goes on. */
GT_HIDDEN uint64_t gt_omp_region_end(void);
/* The code of the innermost parallel region, or NULL. */
GT_HIDDEN const void *gt_omp_region_code(void);

GT_HIDDEN void gt_omp_open(enum gt_omp_construct construct, const void *code);
/* ... with how many iterations or sections it has; 0: nobody knows. */
GT_HIDDEN void gt_omp_open_work(enum gt_omp_construct construct, uint64_t count, const void *code);
/* ... of a loop that begins at `first` and goes on by `step` (0: nobody knows). */
GT_HIDDEN void gt_omp_open_loop(enum gt_omp_construct construct, uint64_t count, uint64_t first,
				uint64_t step, const void *code);
/* Of the last one that was opened of this kind; NULL: none is. */
GT_HIDDEN const void *gt_omp_open_code(enum gt_omp_construct construct);
/* The innermost `target` construct moves bytes to the device, or from it. */
GT_HIDDEN void gt_omp_transfer(bool to, uint64_t bytes);
/* Closes the last one that was opened of this kind, and what is still open inside of it. */
GT_HIDDEN void gt_omp_close(enum gt_omp_construct construct, uint64_t tick);

/* A thread of libgomp's pool has arrived where it waits for the next region; when this one is over is
 * recorded later. */
GT_HIDDEN void gt_omp_retire(void);
/* ... now. */
GT_HIDDEN void gt_omp_catch_up(void);

/* ---- tasks ----------------------------------------------------------------------------------------- */

/*
 * What is known of a task, in 64 bits: its region, how many tasks its creator had made (0: an implicit
 * one), the location of its creator, and whether it is untied. What has no room in its bits is cut: numbers
 * of tasks come again then, and regions are left out.
 */
#define GT_OMP_UNTIED_TASK (UINT64_C(1) << 63)
#define GT_OMP_STARTED     (UINT64_C(1) << 62)
/* The implicit task of the calling thread in a region. */
GT_HIDDEN uint64_t gt_omp_implicit_task(void);
/* The one that its creator made `n` tasks later, at the same place. */
GT_HIDDEN uint64_t gt_omp_task_later(uint64_t task, uint64_t n);
GT_HIDDEN gt_ref gt_omp_task_region(uint64_t task);
GT_HIDDEN bool gt_omp_is_explicit(uint64_t task);

/* The enumerators of enum gt_task in gputrace/assemble.h. */
enum gt_omp_what { GT_OMP_CREATE, GT_OMP_SWITCH, GT_OMP_COMPLETE };
GT_HIDDEN void gt_omp_record_task(enum gt_omp_what what, uint64_t task);
/* The task that was created last has `count` dependences. */
GT_HIDDEN void gt_omp_dependences(uint64_t count);
/* It has to wait for this one. */
GT_HIDDEN void gt_omp_depends_on(uint64_t task);
/* Records the creation by the calling thread. */
GT_HIDDEN uint64_t gt_omp_create_task(bool untied, const void *code);

/* ---- locks ----------------------------------------------------------------------------------------- */

/* GT_OMP_LOCK, CRITICAL (its variable), ATOMIC or ORDERED: the calling thread begins to wait for it, */
GT_HIDDEN void gt_omp_acquire(enum gt_omp_construct construct, const void *variable, const void *code);
/* waits no longer, */
GT_HIDDEN void gt_omp_waited(enum gt_omp_construct construct);
/* has it (waited: after gt_omp_acquire()), */
GT_HIDDEN void gt_omp_acquired(enum gt_omp_construct construct, bool waited, uint64_t lock,
			       const void *variable, const void *code);
/* and lets it go. */
GT_HIDDEN void gt_omp_released(enum gt_omp_construct construct, uint64_t lock);

#endif
