/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libgomp's parallel regions, worksharing and barriers.
 *
 * A parallel region's function is called by run_part(), on each thread of the team. What a worker does
 * after it is waiting for the others, and then for its next region: see gt_omp_retire().
 *
 * Limits: no call says that a `single` is over, so it lasts until the thread's next barrier or worksharing
 * construct, or the region's end. A loop with a static schedule is the compiler's alone: nothing is called
 * but the barrier behind it, which is one like any other.
 */
#include "openmp/gomp.h"

/* ---- parallel regions ---------------------------------------------------------------------------------- */

/* On the stack of the thread that meets the region. */
struct part {
	void *first; /* GOMP_parallel_reductions() reads the first word of the program's data */
	void (*function)(void *);
	void *data;
	const struct gt_gomp *real;
	const struct gt_omp_thread *master;
	const void *code;
	uint64_t number, count;
	uint64_t from, by; /* of a loop; by 0: it is none */
	enum gt_omp_construct work; /* that the region consists of; GT_OMP_COUNT: none */
};

static void begin_part(const struct part *part)
{
	bool worker = gt_omp_self != part->master;

	gt_omp_catch_up();
	if (worker && !gt_omp_self->depth)
		gt_omp_self->worker = true;
	gt_omp_part_begin(part->number, worker ? (unsigned)part->real->omp_get_thread_num() : 0);
	gt_omp_self->task = gt_omp_implicit_task();
	gt_omp_self->single = NULL;
	if (part->work != GT_OMP_COUNT)
		gt_omp_open_loop(part->work, part->count, part->from, part->by, part->code);
}

/* Leaves the worksharing constructs that were opened last in this region. */
static void close_work(void)
{
	struct gt_omp_thread *self = gt_omp_self;
	uint32_t below = 0;

	if (self->depth && self->depth <= GT_OMP_LEVELS)
		below = self->levels[self->depth - 1].below;
	while (self->opened > below && self->opened <= GT_OMP_OPEN) {
		enum gt_omp_construct last = self->open[self->opened - 1].construct;

		if (last != GT_OMP_FOR && last != GT_OMP_SECTIONS && last != GT_OMP_SINGLE &&
		    last != GT_OMP_SCOPE)
			return;
		gt_omp_close(last, 0);
	}
}

static void end_part(bool worker)
{
	close_work();
	if (worker)
		gt_omp_retire();
	else
		gt_omp_open(GT_OMP_IMPLICIT, gt_omp_region_code());
}

static void run_part(void *argument)
{
	const struct part part = *(const struct part *)argument;
	uint64_t outer;

	if (!gt_omp_known()) {
		part.function(part.data);
		return;
	}
	outer = gt_omp_self->task;
	begin_part(&part);
	part.function(part.data);
	gt_omp_self->task = outer;
	end_part(gt_omp_self != part.master);
}

static void meet(struct part *part, unsigned threads)
{
	part->master = gt_omp_self;
	if (!threads)
		threads = (unsigned)part->real->omp_get_max_threads();
	part->number = gt_omp_fork(threads, part->code);
}

/* The thread that has met the region knows that all have arrived. */
static void rejoin(uint64_t number)
{
	uint64_t tick = gt_now();

	gt_omp_close(GT_OMP_IMPLICIT, tick);
	gt_omp_part_end(tick);
	gt_omp_join(number);
}

static uint64_t steps(long start, long end, long by)
{
	if (by > 0)
		return end > start ? ((uint64_t)end - (uint64_t)start + (uint64_t)by - 1) / (uint64_t)by : 0;
	return by && end < start ? ((uint64_t)start - (uint64_t)end - (uint64_t)by - 1) / -(uint64_t)by : 0;
}

static uint64_t steps_ull(bool up, gt_ull start, gt_ull end, gt_ull by)
{
	if (up)
		return by && end > start ? (end - start + by - 1) / by : 0;
	return by && end < start ? (start - end - by - 1) / -by : 0;
}

/* Parameters and arguments behind those that all have. */
#define P_FLAGS    , unsigned flags
#define A_FLAGS    , flags
#define P_SECTIONS , unsigned count, unsigned flags
#define A_SECTIONS , count, flags
#define P_LOOP     , long start, long end, long by, long chunk, unsigned flags
#define A_LOOP     , start, end, by, chunk, flags
#define P_RUNTIME  , long start, long end, long by, unsigned flags
#define A_RUNTIME  , start, end, by, flags

#define PARALLEL(type, name, parameters, arguments, kind, number_of, start, step, first_word)      \
	GT_API type name(void (*function)(void *), void *data, unsigned threads parameters);       \
	GT_API type name(void (*function)(void *), void *data, unsigned threads parameters)        \
	{                                                                                          \
		const struct gt_gomp *real = gt_gomp_of(GT_GOMP_CALLER());                         \
		struct part part = { .first = first_word, .function = function, .data = data,      \
				     .real = real, .code = GT_GOMP_CODE(function),                 \
				     .count = number_of, .from = (uint64_t)(start),                \
				     .by = (uint64_t)(step), .work = kind };                       \
		BEGIN_##type                                                                       \
												   \
		if (!gt_gomp_on(real))                                                             \
			return real->name(function, data, threads arguments);                      \
		meet(&part, threads);                                                              \
		RESULT_##type real->name(run_part, &part, threads arguments);                      \
		rejoin(part.number);                                                                 \
		END_##type                                                                         \
	}
#define BEGIN_void
#define RESULT_void
#define END_void
#define BEGIN_unsigned  unsigned result;
#define RESULT_unsigned result =
#define END_unsigned    return result;

#define PARALLEL_LOOP(name) \
	PARALLEL(void, name, P_LOOP, A_LOOP, GT_OMP_FOR, steps(start, end, by), start, by, NULL)
#define PARALLEL_RUNTIME(name) \
	PARALLEL(void, name, P_RUNTIME, A_RUNTIME, GT_OMP_FOR, steps(start, end, by), start, by, NULL)

PARALLEL(void, GOMP_parallel, P_FLAGS, A_FLAGS, GT_OMP_COUNT, 0, 0, 0, NULL)
PARALLEL(unsigned, GOMP_parallel_reductions, P_FLAGS, A_FLAGS, GT_OMP_COUNT, 0, 0, 0, *(void **)data)
PARALLEL(void, GOMP_parallel_sections, P_SECTIONS, A_SECTIONS, GT_OMP_SECTIONS, count, 0, 0, NULL)
PARALLEL_LOOP(GOMP_parallel_loop_static)
PARALLEL_LOOP(GOMP_parallel_loop_dynamic)
PARALLEL_LOOP(GOMP_parallel_loop_guided)
PARALLEL_LOOP(GOMP_parallel_loop_nonmonotonic_dynamic)
PARALLEL_LOOP(GOMP_parallel_loop_nonmonotonic_guided)
PARALLEL_RUNTIME(GOMP_parallel_loop_runtime)
PARALLEL_RUNTIME(GOMP_parallel_loop_nonmonotonic_runtime)
PARALLEL_RUNTIME(GOMP_parallel_loop_maybe_nonmonotonic_runtime)

/* ---- ... that begin and end by two calls: the thread that meets one calls its function itself
 * ------------ */

enum { STARTS = 8 };
static GT_TLS struct start {
	struct part part;
	bool recorded;
} *started; /* STARTS of them */
static GT_TLS uint32_t start_depth;

/* NULL: it is not recorded. */
static struct part *push_start(const struct gt_gomp *real)
{
	uint32_t i = start_depth++;

	if (!started && gt_gomp_on(real))
		started = gt_memory(STARTS * sizeof(*started));
	if (!started || i >= STARTS)
		return NULL;
	started[i].recorded = gt_gomp_on(real);
	return started[i].recorded ? &started[i].part : NULL;
}

#define P_SECTIONS_START , unsigned count
#define A_SECTIONS_START , count
#define P_LOOP_START     , long start, long end, long by, long chunk
#define A_LOOP_START     , start, end, by, chunk
#define P_RUNTIME_START  , long start, long end, long by
#define A_RUNTIME_START  , start, end, by
#define NONE

#define PARALLEL_START(name, parameters, arguments, kind, number_of, start, step)                  \
	GT_API void name(void (*function)(void *), void *data, unsigned threads parameters);       \
	GT_API void name(void (*function)(void *), void *data, unsigned threads parameters)        \
	{                                                                                          \
		const struct gt_gomp *real = gt_gomp_of(GT_GOMP_CALLER());                         \
		struct part *part = push_start(real);                                              \
												   \
		if (!part) {                                                                       \
			real->name(function, data, threads arguments);                             \
			return;                                                                    \
		}                                                                                  \
		*part = (struct part){ .function = function, .data = data, .real = real,           \
				       .code = GT_GOMP_CODE(function), .count = number_of,         \
				       .from = (uint64_t)(start), .by = (uint64_t)(step),          \
				       .work = kind };                                             \
		meet(part, threads);                                                               \
		real->name(run_part, part, threads arguments);                                     \
		begin_part(part);                                                                  \
	}

PARALLEL_START(GOMP_parallel_start, NONE, NONE, GT_OMP_COUNT, 0, 0, 0)
PARALLEL_START(GOMP_parallel_sections_start, P_SECTIONS_START, A_SECTIONS_START, GT_OMP_SECTIONS, count, 0,
	       0)
PARALLEL_START(GOMP_parallel_loop_static_start, P_LOOP_START, A_LOOP_START, GT_OMP_FOR,
	       steps(start, end, by), start, by)
PARALLEL_START(GOMP_parallel_loop_dynamic_start, P_LOOP_START, A_LOOP_START, GT_OMP_FOR,
	       steps(start, end, by), start, by)
PARALLEL_START(GOMP_parallel_loop_guided_start, P_LOOP_START, A_LOOP_START, GT_OMP_FOR,
	       steps(start, end, by), start, by)
PARALLEL_START(GOMP_parallel_loop_runtime_start, P_RUNTIME_START, A_RUNTIME_START, GT_OMP_FOR,
	       steps(start, end, by), start, by)

GT_API void GOMP_parallel_end(void);
GT_API void GOMP_parallel_end(void)
{
	const struct gt_gomp *real = gt_gomp_of(GT_GOMP_CALLER());
	uint32_t i = start_depth - (start_depth > 0);
	bool recorded = started && i < STARTS && started[i].recorded;

	start_depth = i;
	if (recorded)
		end_part(false);
	real->GOMP_parallel_end();
	if (recorded)
		rejoin(started[i].part.number);
}

/* ---- worksharing --------------------------------------------------------------------------------------- */

/* Ends an open one: worksharing constructs do not nest. */
static void open_work(enum gt_omp_construct construct, uint64_t count, uint64_t first, uint64_t step,
		      const void *code)
{
	close_work();
	gt_omp_self->single = NULL;
	gt_omp_open_loop(construct, count, first, step, code);
}

#define WORK(type, name, parameters, arguments, construct, count, start, step)                     \
	GT_API type name parameters;                                                               \
	GT_API type name parameters                                                                \
	{                                                                                          \
		const void *code = GT_GOMP_CALLER();                                               \
		const struct gt_gomp *real = gt_gomp_of(code);                                     \
												   \
		if (gt_gomp_on(real))                                                              \
			open_work(construct, count, (uint64_t)(start), (uint64_t)(step), code);    \
		return real->name arguments;                                                       \
	}

#define LOOP(name)                                                                                 \
	WORK(bool, name, (long start, long end, long by, long chunk, long *first, long *last),     \
	     (start, end, by, chunk, first, last), GT_OMP_FOR, steps(start, end, by), start, by)
#define LOOP_RUNTIME(name)                                                                         \
	WORK(bool, name, (long start, long end, long by, long *first, long *last),                 \
	     (start, end, by, first, last), GT_OMP_FOR, steps(start, end, by), start, by)
#define LOOP_ANY(name)                                                                             \
	WORK(bool, name, (long start, long end, long by, long schedule, long chunk, long *first,   \
			  long *last, uintptr_t *reductions, void **memory),                       \
	     (start, end, by, schedule, chunk, first, last, reductions, memory), GT_OMP_FOR,       \
	     steps(start, end, by), start, by)

LOOP(GOMP_loop_static_start)
LOOP(GOMP_loop_dynamic_start)
LOOP(GOMP_loop_guided_start)
LOOP(GOMP_loop_nonmonotonic_dynamic_start)
LOOP(GOMP_loop_nonmonotonic_guided_start)
LOOP(GOMP_loop_ordered_static_start)
LOOP(GOMP_loop_ordered_dynamic_start)
LOOP(GOMP_loop_ordered_guided_start)
LOOP_RUNTIME(GOMP_loop_runtime_start)
LOOP_RUNTIME(GOMP_loop_nonmonotonic_runtime_start)
LOOP_RUNTIME(GOMP_loop_maybe_nonmonotonic_runtime_start)
LOOP_RUNTIME(GOMP_loop_ordered_runtime_start)
LOOP_ANY(GOMP_loop_start)
LOOP_ANY(GOMP_loop_ordered_start)

#define LOOP_ULL(name)                                                                             \
	WORK(bool, name, (bool up, gt_ull start, gt_ull end, gt_ull by, gt_ull chunk, gt_ull *first, \
			  gt_ull *last),                                                           \
	     (up, start, end, by, chunk, first, last), GT_OMP_FOR, steps_ull(up, start, end, by), start, \
	     by)
#define LOOP_ULL_RUNTIME(name)                                                                     \
	WORK(bool, name, (bool up, gt_ull start, gt_ull end, gt_ull by, gt_ull *first, gt_ull *last), \
	     (up, start, end, by, first, last), GT_OMP_FOR, steps_ull(up, start, end, by), start, \
	     by)
#define LOOP_ULL_ANY(name)                                                                         \
	WORK(bool, name, (bool up, gt_ull start, gt_ull end, gt_ull by, long schedule, gt_ull chunk, \
			  gt_ull *first, gt_ull *last, uintptr_t *reductions, void **memory),      \
	     (up, start, end, by, schedule, chunk, first, last, reductions, memory), GT_OMP_FOR,   \
	     steps_ull(up, start, end, by), start, \
	     by)

LOOP_ULL(GOMP_loop_ull_static_start)
LOOP_ULL(GOMP_loop_ull_dynamic_start)
LOOP_ULL(GOMP_loop_ull_guided_start)
LOOP_ULL(GOMP_loop_ull_nonmonotonic_dynamic_start)
LOOP_ULL(GOMP_loop_ull_nonmonotonic_guided_start)
LOOP_ULL(GOMP_loop_ull_ordered_static_start)
LOOP_ULL(GOMP_loop_ull_ordered_dynamic_start)
LOOP_ULL(GOMP_loop_ull_ordered_guided_start)
LOOP_ULL_RUNTIME(GOMP_loop_ull_runtime_start)
LOOP_ULL_RUNTIME(GOMP_loop_ull_nonmonotonic_runtime_start)
LOOP_ULL_RUNTIME(GOMP_loop_ull_maybe_nonmonotonic_runtime_start)
LOOP_ULL_RUNTIME(GOMP_loop_ull_ordered_runtime_start)
LOOP_ULL_ANY(GOMP_loop_ull_start)
LOOP_ULL_ANY(GOMP_loop_ull_ordered_start)

/* Iterations that depend on others: `counts` has how many iterations each of the loops has. */
#define DOACROSS(name, number)                                                                     \
	WORK(bool, name, (unsigned loops, number *counts, number chunk, number *first, number *last), \
	     (loops, counts, chunk, first, last), GT_OMP_FOR, (uint64_t)*counts, 0, 0)
#define DOACROSS_RUNTIME(name, number)                                                             \
	WORK(bool, name, (unsigned loops, number *counts, number *first, number *last),            \
	     (loops, counts, first, last), GT_OMP_FOR, (uint64_t)*counts, 0, 0)
#define DOACROSS_ANY(name, number)                                                                 \
	WORK(bool, name, (unsigned loops, number *counts, long schedule, number chunk, number *first, \
			  number *last, uintptr_t *reductions, void **memory),                     \
	     (loops, counts, schedule, chunk, first, last, reductions, memory), GT_OMP_FOR,        \
	     (uint64_t)*counts, 0, 0)

DOACROSS(GOMP_loop_doacross_static_start, long)
DOACROSS(GOMP_loop_doacross_dynamic_start, long)
DOACROSS(GOMP_loop_doacross_guided_start, long)
DOACROSS_RUNTIME(GOMP_loop_doacross_runtime_start, long)
DOACROSS_ANY(GOMP_loop_doacross_start, long)
DOACROSS(GOMP_loop_ull_doacross_static_start, gt_ull)
DOACROSS(GOMP_loop_ull_doacross_dynamic_start, gt_ull)
DOACROSS(GOMP_loop_ull_doacross_guided_start, gt_ull)
DOACROSS_RUNTIME(GOMP_loop_ull_doacross_runtime_start, gt_ull)
DOACROSS_ANY(GOMP_loop_ull_doacross_start, gt_ull)

WORK(unsigned, GOMP_sections_start, (unsigned count), (count), GT_OMP_SECTIONS, count, 0, 0)
WORK(unsigned, GOMP_sections2_start, (unsigned count, uintptr_t *reductions, void **memory),
     (count, reductions, memory), GT_OMP_SECTIONS, count, 0, 0)

/* ---- barriers ------------------------------------------------------------------------------------------ */

#define VOID_RESULT
#define NO_RESULT
#define BOOL_RESULT bool result =
#define BOOL_RETURN return result

/* The end of a construct, with its barrier. */
#define END_WAIT(type, name, construct, save, give)                                                \
	GT_API type name(void);                                                                    \
	GT_API type name(void)                                                                     \
	{                                                                                          \
		const struct gt_gomp *real = gt_gomp_of(GT_GOMP_CALLER());                         \
		const void *code;                                                                  \
												   \
		if (!gt_gomp_on(real))                                                             \
			return real->name();                                                       \
		code = gt_omp_open_code(construct);                                                \
		gt_omp_close(construct, 0);                                                 \
		gt_omp_open(GT_OMP_IMPLICIT, code);                                                \
		save real->name();                                                                 \
		gt_omp_close(GT_OMP_IMPLICIT, 0);                                           \
		give;                                                                              \
	}
END_WAIT(void, GOMP_loop_end, GT_OMP_FOR, VOID_RESULT, NO_RESULT)
END_WAIT(bool, GOMP_loop_end_cancel, GT_OMP_FOR, BOOL_RESULT, BOOL_RETURN)
END_WAIT(void, GOMP_sections_end, GT_OMP_SECTIONS, VOID_RESULT, NO_RESULT)
END_WAIT(bool, GOMP_sections_end_cancel, GT_OMP_SECTIONS, BOOL_RESULT, BOOL_RETURN)

#define END_NOWAIT(name, construct)                                                                \
	GT_API void name(void);                                                                    \
	GT_API void name(void)                                                                     \
	{                                                                                          \
		const struct gt_gomp *real = gt_gomp_of(GT_GOMP_CALLER());                         \
												   \
		real->name();                                                                      \
		if (gt_gomp_on(real))                                                              \
			gt_omp_close(construct, 0);                                         \
	}
END_NOWAIT(GOMP_loop_end_nowait, GT_OMP_FOR)
END_NOWAIT(GOMP_sections_end_nowait, GT_OMP_SECTIONS)

/* One that ends a `single` is that construct's; others are the program's, or that of a static loop. */
static enum gt_omp_construct open_barrier(const void *code)
{
	const void *single = gt_omp_self->single;
	enum gt_omp_construct kind = single ? GT_OMP_IMPLICIT : GT_OMP_BARRIER;

	close_work();
	gt_omp_self->single = NULL;
	gt_omp_open(kind, single ? single : code);
	return kind;
}

#define BARRIER(type, name, save, give)                                                            \
	GT_API type name(void);                                                                    \
	GT_API type name(void)                                                                     \
	{                                                                                          \
		const void *code = GT_GOMP_CALLER();                                               \
		const struct gt_gomp *real = gt_gomp_of(code);                                     \
		enum gt_omp_construct kind;                                                        \
												   \
		if (!gt_gomp_on(real) || !gt_omp_self->depth)                                      \
			return real->name();                                                       \
		kind = open_barrier(code);                                                         \
		save real->name();                                                                 \
		gt_omp_close(kind, 0);                                                      \
		give;                                                                              \
	}
BARRIER(void, GOMP_barrier, VOID_RESULT, NO_RESULT)
BARRIER(bool, GOMP_barrier_cancel, BOOL_RESULT, BOOL_RETURN)

/* ---- single -------------------------------------------------------------------------------------------- */

GT_API bool GOMP_single_start(void);
GT_API bool GOMP_single_start(void)
{
	const void *code = GT_GOMP_CALLER();
	const struct gt_gomp *real = gt_gomp_of(code);
	bool mine = real->GOMP_single_start();

	if (!gt_gomp_on(real))
		return mine;
	close_work();
	gt_omp_self->single = code;
	if (mine)
		gt_omp_open(GT_OMP_SINGLE, code);
	return mine;
}

/* NULL: the calling thread does it, and calls GOMP_single_copy_end(). The others have waited for its
 * data. There is one more barrier, when they have copied it. */
GT_API void *GOMP_single_copy_start(void);
GT_API void *GOMP_single_copy_start(void)
{
	const void *code = GT_GOMP_CALLER();
	const struct gt_gomp *real = gt_gomp_of(code);
	uint64_t before = gt_now();
	void *data = real->GOMP_single_copy_start();
	gt_ref region;

	if (!gt_gomp_on(real))
		return data;
	close_work();
	gt_omp_self->single = code;
	if (!data) {
		gt_omp_open(GT_OMP_SINGLE, code);
		return data;
	}
	region = gt_omp_region(GT_OMP_IMPLICIT, NULL, code);
	gt_enter_at(region, before);
	gt_leave(region);
	return data;
}

GT_API void GOMP_single_copy_end(void *data);
GT_API void GOMP_single_copy_end(void *data)
{
	const struct gt_gomp *real = gt_gomp_of(GT_GOMP_CALLER());

	if (!gt_gomp_on(real)) {
		real->GOMP_single_copy_end(data);
		return;
	}
	gt_omp_close(GT_OMP_SINGLE, 0);
	gt_omp_open(GT_OMP_IMPLICIT, gt_omp_self->single);
	real->GOMP_single_copy_end(data);
	gt_omp_close(GT_OMP_IMPLICIT, 0);
}
