/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libgomp's tasks. A task's function is called by run_task(), whose argument is the program's with a header
 * in front. libgomp copies the whole with memcpy(), or, if the program has a function for that, by ours,
 * which calls it: a task that has such a function runs although it was cancelled, so no other may get one.
 *
 * Limits: tasks with more than MOST bytes of data are not recorded. A task that is cancelled before it
 * began is never said to be complete.
 */
#include <string.h>

#include "openmp/gomp.h"

/* A task's header and data are on the stack, as libgomp has them; fits() bounds them. */
#pragma GCC diagnostic ignored "-Wvla"

enum { MOST = 65536 };
enum { UNTIED = 1, DEPEND = 8, GRAINSIZE = 512, NOGROUP = 2048, DETACH = 8192, STRICT = 16384 };

/* Which of a taskloop's tasks is it? All but the last ones have one iteration more. */
struct loop {
	uint64_t start, by;
	uint64_t many, few; /* iterations of the first ones and of the others */
	uint64_t longer;    /* how many have `many` */
};

/* The program's data begin `offset` bytes behind. `first` is what libgomp itself reads and writes there:
 * bounds of a taskloop, its reductions, the event of a task that is detached. */
struct task {
	uintptr_t first[3];
	void (*function)(void *);
	void (*copy)(void *, void *); /* NULL: memcpy() */
	const void *data;             /* the program's, for `copy` */
	uint64_t task;                /* of a taskloop the first */
	uint32_t offset, size;
	bool firsts; /* they are to be put into the data */
	bool loops;
	struct loop loop;
};

static void *data_of(struct task *task)
{
	return (char *)task + task->offset;
}

static void give_firsts(const struct task *task, void *data)
{
	size_t size = task->size < sizeof(task->first) ? task->size : sizeof(task->first);

	if (task->firsts)
		memcpy(data, task->first, size);
}

/* Copies the program's data, or a copy of them. */
static void copy_task(void *to, void *from)
{
	const struct task *task = from;
	struct task *copy = to;

	*copy = *task;
	give_firsts(task, (void *)(uintptr_t)task->data);
	task->copy(data_of(copy), (void *)(uintptr_t)task->data);
}

static uint64_t number_of(const struct task *task)
{
	const struct loop *loop = &task->loop;
	uint64_t i = task->loops ? (task->first[0] - loop->start) / loop->by : 0;

	if (!task->loops)
		return 0;
	/* Of a loop downwards both are negative. */
	if ((int64_t)loop->by < 0)
		i = (loop->start - task->first[0]) / -loop->by;
	if (i < loop->longer * loop->many)
		return i / loop->many;
	return loop->longer + (i - loop->longer * loop->many) / loop->few;
}

static void run_task(void *argument)
{
	struct task *task = argument;
	uint64_t number = gt_omp_task_later(task->task, number_of(task)), outer;
	bool recorded = gt_omp_known() && gt_active();
	gt_ref region = gt_omp_task_region(number);

	give_firsts(task, data_of(task));
	if (!recorded) {
		task->function(data_of(task));
		return;
	}
	outer = gt_omp_self->task;
	gt_omp_self->task = number;
	gt_omp_record_task(GT_OMP_SWITCH, number);
	gt_enter(region);
	task->function(data_of(task));
	gt_leave(region);
	gt_omp_record_task(GT_OMP_COMPLETE, number);
	gt_omp_self->task = outer;
	if (outer)
		gt_omp_record_task(GT_OMP_SWITCH, outer);
}

/* ---- creation ------------------------------------------------------------------------------------------ */

static bool fits(long size, long align)
{
	return size >= 0 && align >= 0 && size <= MOST && align <= MOST;
}

/* What libgomp is given to copy: with a function, the header alone; else all. */
static size_t room_for(const struct task *task)
{
	return task->copy ? sizeof(*task) : task->offset + task->size;
}

static void prepare(struct task *task, void *data, long size, long align)
{
	size_t unit = align > (long)_Alignof(struct task) ? (size_t)align : _Alignof(struct task);

	task->data = data;
	task->size = (uint32_t)size;
	task->offset = (uint32_t)((sizeof(*task) + unit - 1) / unit * unit);
	memcpy(task->first, data, (size_t)size < sizeof(task->first) ? (size_t)size : sizeof(task->first));
}

/* Where the header and a copy of the data are put; `unit`: their alignment. */
static struct task *place(char *room, const struct task *from, size_t unit)
{
	struct task *task = (struct task *)(((uintptr_t)room + unit - 1) / unit * unit);

	*task = *from;
	if (!task->copy && task->size)
		memcpy(data_of(task), task->data, task->size);
	return task;
}

#define TASK_PARAMETERS \
	void (*function)(void *), void *data, void (*copy)(void *, void *), long size, long align
#define UNIT(align)     ((align) > 16 ? (size_t)(align) : 16)

GT_API void GOMP_task(TASK_PARAMETERS, bool deferred, unsigned flags, void **depend, int priority,
		      void *detach);
/* Older compilers pass fewer arguments, and libgomp looks at the last ones only if the flags say so. */
GT_API void GOMP_task(TASK_PARAMETERS, bool deferred, unsigned flags, void **depend, int priority,
		      void *detach)
{
	const struct gt_gomp *real = gt_gomp_of(GT_GOMP_CALLER());
	const void *code = GT_GOMP_CODE(function);
	struct task task = { .function = function, .copy = copy, .firsts = flags & DETACH };

	if (!gt_gomp_on(real) || !fits(size, align)) {
		real->GOMP_task(function, data, copy, size, align, deferred, flags, depend, priority, detach);
		return;
	}
	prepare(&task, data, size, align);
	task.task = gt_omp_create_task(flags & UNTIED, code);
	if (flags & DEPEND)
		gt_omp_dependences((uint64_t)(uintptr_t)(depend[0] ? depend[0] : depend[1]));
	char room[room_for(&task) + UNIT(align)];

	real->GOMP_task(run_task, place(room, &task, UNIT(align)), copy ? copy_task : NULL,
			(long)(task.offset + task.size), (long)UNIT(align), deferred, flags, depend, priority,
			detach);
}

/* How libgomp shares out `n` iterations. Returns the number of tasks. */
static uint64_t share(struct loop *loop, uint64_t n, unsigned flags, uint64_t asked, uint64_t threads)
{
	uint64_t tasks = asked ? asked : threads;

	if (flags & GRAINSIZE)
		tasks = n / asked + (flags & STRICT && n % asked);
	if (!tasks)
		tasks = 1;
	if (tasks > n)
		tasks = n;
	loop->few = n / tasks;
	loop->longer = n % tasks;
	if (flags & GRAINSIZE && tasks > 1 && (flags & STRICT || tasks >= asked)) {
		loop->few = asked;
		loop->longer = flags & STRICT ? 0 : n - tasks * asked;
	}
	loop->many = loop->few + 1;
	return tasks;
}

/* The tasks of a loop with `n` iterations. */
static void create_all(struct task *task, const struct gt_gomp *real, uint64_t n, unsigned flags,
		       uint64_t asked, const void *code)
{
	uint64_t tasks = share(&task->loop, n, flags, asked, (uint64_t)real->omp_get_num_threads());

	if (!(flags & NOGROUP))
		gt_omp_open(GT_OMP_TASKGROUP, code);
	gt_omp_open_loop(GT_OMP_TASKLOOP, n, task->loop.start, task->loop.by, code);
	task->task = gt_omp_create_task(flags & UNTIED, code);
	for (uint64_t i = 1; i < tasks; i++)
		gt_omp_create_task(flags & UNTIED, code);
}

static void close_loop(unsigned flags)
{
	gt_omp_close(GT_OMP_TASKLOOP, 0);
	if (!(flags & NOGROUP))
		gt_omp_close(GT_OMP_TASKGROUP, 0);
}

static uint64_t steps(long start, long end, long by, unsigned flags)
{
	(void)flags;
	if (by > 0)
		return end > start ? ((uint64_t)end - (uint64_t)start + (uint64_t)by - 1) / (uint64_t)by : 0;
	return by && end < start ? ((uint64_t)start - (uint64_t)end - (uint64_t)by - 1) / -(uint64_t)by : 0;
}

static uint64_t steps_ull(gt_ull start, gt_ull end, gt_ull by, unsigned flags)
{
	if (flags & 256)
		return by && end > start ? (end - start + by - 1) / by : 0;
	return by && end < start ? (start - end - by - 1) / -by : 0;
}

#define TASKLOOP(name, number, count)                                                              \
	GT_API void name(TASK_PARAMETERS, unsigned flags, unsigned long tasks, int priority,       \
			 number start, number end, number by);                                     \
	GT_API void name(TASK_PARAMETERS, unsigned flags, unsigned long tasks, int priority,       \
			 number start, number end, number by)                                      \
	{                                                                                          \
		const struct gt_gomp *real = gt_gomp_of(GT_GOMP_CALLER());                         \
		const void *code = GT_GOMP_CODE(function);                                         \
		struct task task = { .function = function, .copy = copy, .firsts = true, .loops = true, \
				     .loop = { .start = (uint64_t)start, .by = (uint64_t)by } };   \
		uint64_t n = count(start, end, by, flags);                                         \
												   \
		if (!n || !gt_gomp_on(real) || !fits(size, align)) {                               \
			real->name(function, data, copy, size, align, flags, tasks, priority, start, end,  \
				   by);                                                            \
			return;                                                                    \
		}                                                                                  \
		prepare(&task, data, size, align);                                                 \
		create_all(&task, real, n, flags, tasks, code);                                    \
		char room[room_for(&task) + UNIT(align)];                                          \
												   \
		real->name(run_task, place(room, &task, UNIT(align)), copy ? copy_task : NULL,     \
			   (long)(task.offset + task.size), (long)UNIT(align), flags, tasks,       \
			   priority, start, end, by);                                              \
		close_loop(flags);                                                                 \
	}
TASKLOOP(GOMP_taskloop, long, steps)
TASKLOOP(GOMP_taskloop_ull, gt_ull, steps_ull)

/* ---- waiting for tasks --------------------------------------------------------------------------------- */

GT_API void GOMP_taskwait(void);
GT_API void GOMP_taskwait(void)
{
	const void *code = GT_GOMP_CALLER();
	const struct gt_gomp *real = gt_gomp_of(code);

	if (!gt_gomp_on(real)) {
		real->GOMP_taskwait();
		return;
	}
	gt_omp_open(GT_OMP_TASKWAIT, code);
	real->GOMP_taskwait();
	gt_omp_close(GT_OMP_TASKWAIT, 0);
}

GT_API void GOMP_taskwait_depend(void **depend);
GT_API void GOMP_taskwait_depend(void **depend)
{
	const void *code = GT_GOMP_CALLER();
	const struct gt_gomp *real = gt_gomp_of(code);

	if (!gt_gomp_on(real)) {
		real->GOMP_taskwait_depend(depend);
		return;
	}
	gt_omp_open(GT_OMP_TASKWAIT, code);
	real->GOMP_taskwait_depend(depend);
	gt_omp_close(GT_OMP_TASKWAIT, 0);
}

GT_API void GOMP_taskgroup_start(void);
GT_API void GOMP_taskgroup_start(void)
{
	const void *code = GT_GOMP_CALLER();
	const struct gt_gomp *real = gt_gomp_of(code);

	if (gt_gomp_on(real))
		gt_omp_open(GT_OMP_TASKGROUP, code);
	real->GOMP_taskgroup_start();
}

GT_API void GOMP_taskgroup_end(void);
GT_API void GOMP_taskgroup_end(void)
{
	const struct gt_gomp *real = gt_gomp_of(GT_GOMP_CALLER());

	real->GOMP_taskgroup_end();
	if (gt_gomp_on(real))
		gt_omp_close(GT_OMP_TASKGROUP, 0);
}
