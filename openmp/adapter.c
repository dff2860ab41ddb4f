/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * OpenMP programs whose runtime has OMPT (LLVM's): it finds ompt_start_tool() here, because this library is
 * preloaded or linked. The runtime says that a worker's last barrier and its part of the region are over only
 * when it needs the worker again: they are recorded with the time at which the region ended.
 *
 * Limits: see openmp.h.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "openmp/ompt.h"
#include "openmp/openmp.h"

/* ---- threads and parallel regions --------------------------------------------------------------- */

static void on_thread_begin(int kind, union gt_ompt_data *thread)
{
	(void)thread;
	if (!gt_omp_known())
		return;
	gt_omp_self->worker = kind == GT_OMPT_THREAD_WORKER;
	gt_omp_self->waiting = gt_omp_self->worker;
}

static void on_thread_end(union gt_ompt_data *thread)
{
	(void)thread;
	gt_omp_thread_end();
}

static void on_parallel_begin(union gt_ompt_data *task, const void *frame, union gt_ompt_data *parallel,
			      unsigned requested, int flags, const void *code)
{
	(void)task;
	(void)frame;
	(void)flags;
	parallel->value = gt_omp_fork(requested, code);
}

static void on_parallel_end(union gt_ompt_data *parallel, union gt_ompt_data *task, int flags,
			    const void *code)
{
	(void)task;
	(void)flags;
	(void)code;
	gt_omp_join(parallel->value);
}

static void on_implicit_task(int endpoint, union gt_ompt_data *parallel, union gt_ompt_data *task,
			     unsigned threads, unsigned index, int flags)
{
	(void)threads;
	if (flags & GT_OMPT_TASK_INITIAL || !gt_omp_known())
		return;
	if (endpoint == GT_OMPT_BEGIN) {
		task->value = gt_omp_implicit_task();
		gt_omp_part_begin(parallel ? parallel->value : 0, index);
	} else if (endpoint == GT_OMPT_END) {
		gt_omp_part_end(gt_omp_region_end());
	}
}

/* ---- work, barriers and waits ------------------------------------------------------------------- */

static void on_work(int kind, int endpoint, union gt_ompt_data *parallel, union gt_ompt_data *task,
		    uint64_t count, const void *code)
{
	static const unsigned char constructs[] = {
		[GT_OMPT_WORK_LOOP] = GT_OMP_FOR,	       [GT_OMPT_WORK_SECTIONS] = GT_OMP_SECTIONS,
		[GT_OMPT_WORK_SINGLE_EXECUTOR] = GT_OMP_SINGLE, [GT_OMPT_WORK_WORKSHARE] = GT_OMP_WORKSHARE,
		[GT_OMPT_WORK_DISTRIBUTE] = GT_OMP_DISTRIBUTE,  [GT_OMPT_WORK_TASKLOOP] = GT_OMP_TASKLOOP,
		[GT_OMPT_WORK_SCOPE] = GT_OMP_SCOPE,
	};
	enum gt_omp_construct construct;

	(void)parallel;
	(void)task;
	if (kind == GT_OMPT_WORK_SINGLE_OTHER || !gt_omp_known())
		return;
	/* Since 5.2 loops are told apart by their schedule: 10 and more. */
	construct = kind > 0 && kind < (int)sizeof(constructs) ? constructs[kind] : GT_OMP_FOR;
	if (endpoint != GT_OMPT_BEGIN) {
		gt_omp_close(construct, 0);
		return;
	}
	gt_omp_open_work(construct, construct == GT_OMP_SINGLE ? 0 : count, code);
}

static void on_masked(int endpoint, union gt_ompt_data *parallel, union gt_ompt_data *task, const void *code)
{
	(void)parallel;
	(void)task;
	if (!gt_omp_known())
		return;
	if (endpoint != GT_OMPT_BEGIN)
		gt_omp_close(GT_OMP_MASKED, 0);
	else
		gt_omp_open(GT_OMP_MASKED, code);
}

static enum gt_omp_construct construct_of(int kind)
{
	switch (kind) {
	case GT_OMPT_SYNC_TASKWAIT:
		return GT_OMP_TASKWAIT;
	case GT_OMPT_SYNC_TASKGROUP:
		return GT_OMP_TASKGROUP;
	case GT_OMPT_SYNC_BARRIER:
	case GT_OMPT_SYNC_EXPLICIT:
		return GT_OMP_BARRIER;
	default:
		return GT_OMP_IMPLICIT;
	}
}

static void on_sync(int kind, int endpoint, union gt_ompt_data *parallel, union gt_ompt_data *task,
		    const void *code)
{
	enum gt_omp_construct construct = construct_of(kind);

	(void)parallel;
	(void)task;
	if (kind == GT_OMPT_SYNC_REDUCTION || !gt_omp_known() || !gt_omp_self->depth)
		return;
	/* Where the runtime does not say it, an implicit barrier is that of its parallel region. */
	if (endpoint != GT_OMPT_BEGIN)
		gt_omp_close(construct, construct == GT_OMP_IMPLICIT ? gt_omp_region_end() : 0);
	else
		gt_omp_open(construct, code || construct != GT_OMP_IMPLICIT ? code : gt_omp_region_code());
}

static void on_sync_wait(int kind, int endpoint, union gt_ompt_data *parallel, union gt_ompt_data *task,
			 const void *code)
{
	(void)kind;
	(void)parallel;
	(void)task;
	(void)code;
	if (!gt_omp_known())
		return;
	if (endpoint == GT_OMPT_BEGIN)
		gt_omp_self->waiting++;
	else if (gt_omp_self->waiting)
		gt_omp_self->waiting--;
}

/* ---- target constructs ------------------------------------------------------------------------------- */

/* `target data` is said as entering and exiting. */
static void on_target(int kind, int endpoint, int device, union gt_ompt_data *task, uint64_t target,
		      const void *code)
{
	static const unsigned char constructs[] = {
		[GT_OMPT_TARGET_CODE] = GT_OMP_TARGET,
		[GT_OMPT_TARGET_ENTER_DATA] = GT_OMP_TARGET_ENTER,
		[GT_OMPT_TARGET_EXIT_DATA] = GT_OMP_TARGET_EXIT,
		[GT_OMPT_TARGET_UPDATE] = GT_OMP_TARGET_UPDATE,
	};

	(void)device;
	(void)task;
	(void)target;
	if (kind > GT_OMPT_TARGET_NOWAIT)
		kind -= GT_OMPT_TARGET_NOWAIT;
	if (kind < GT_OMPT_TARGET_CODE || kind > GT_OMPT_TARGET_UPDATE || !gt_omp_known())
		return;
	if (endpoint == GT_OMPT_BEGIN)
		gt_omp_open(constructs[kind], code);
	else
		gt_omp_close(constructs[kind], 0);
}

static void on_target_data_op(uint64_t target, uint64_t host, int operation, void *source,
			      int source_device, void *dest, int dest_device, size_t bytes, const void *code)
{
	(void)target;
	(void)host;
	(void)source;
	(void)source_device;
	(void)dest;
	(void)dest_device;
	(void)code;
	if ((operation == GT_OMPT_TRANSFER_TO || operation == GT_OMPT_TRANSFER_FROM) && gt_active())
		gt_omp_transfer(operation == GT_OMPT_TRANSFER_TO, bytes);
}

/* ---- tasks -------------------------------------------------------------------------------------- */

static void on_task_create(union gt_ompt_data *parent, const void *frame, union gt_ompt_data *task, int flags,
			   int dependences, const void *code)
{
	(void)parent;
	(void)frame;
	(void)dependences;
	task->value = 0;
	if (!(flags & GT_OMPT_TASK_EXPLICIT) || !gt_omp_known() || !gt_active())
		return;
	task->value = gt_omp_create_task(flags & GT_OMPT_TASK_UNTIED, code);
}

static void on_dependences(const union gt_ompt_data *task, const void *list, int count)
{
	(void)list;
	if (task && gt_omp_is_explicit(task->value) && count > 0 && gt_active())
		gt_omp_dependences((uint64_t)count);
}

/* The first one is not over. */
static void on_task_dependence(const union gt_ompt_data *first, const union gt_ompt_data *second)
{
	if (first && second && gt_omp_is_explicit(first->value) && gt_omp_is_explicit(second->value) &&
	    gt_active())
		gt_omp_depends_on(first->value);
}

/* Explicit tasks have a number. */
static bool is_explicit(const union gt_ompt_data *task)
{
	return task && gt_omp_is_explicit(task->value);
}

static void on_task_schedule(union gt_ompt_data *prior, int status, union gt_ompt_data *next)
{
	bool over = status == GT_OMPT_COMPLETE || status == GT_OMPT_CANCEL || status == GT_OMPT_DETACH;

	if (status == GT_OMPT_EARLY_FULFILL || status == GT_OMPT_LATE_FULFILL ||
	    status == GT_OMPT_TASKWAIT_COMPLETE || !gt_omp_known() || !gt_active())
		return;
	/* A tied task that lets another one run goes on here, when that is over. */
	if (is_explicit(prior) && prior->value & GT_OMP_STARTED &&
	    (over || prior->value & GT_OMP_UNTIED_TASK))
		gt_leave(gt_omp_task_region(prior->value));
	/* One that was cancelled may not have begun. */
	if (is_explicit(prior) && over)
		gt_omp_record_task(GT_OMP_COMPLETE, prior->value);
	if (!next || !next->value)
		return;
	gt_omp_record_task(GT_OMP_SWITCH, next->value);
	if (is_explicit(next) && (next->value & GT_OMP_UNTIED_TASK || !(next->value & GT_OMP_STARTED))) {
		next->value |= GT_OMP_STARTED;
		gt_enter(gt_omp_task_region(next->value));
	}
}

/* ---- locks -------------------------------------------------------------------------------------- */

static enum gt_omp_construct lock_construct(unsigned kind)
{
	switch (kind) {
	case GT_OMPT_MUTEX_CRITICAL:
		return GT_OMP_CRITICAL;
	case GT_OMPT_MUTEX_ATOMIC:
		return GT_OMP_ATOMIC;
	case GT_OMPT_MUTEX_ORDERED:
		return GT_OMP_ORDERED;
	default:
		return GT_OMP_LOCK;
	}
}

/* A test does not wait, and nobody says that it failed. LLVM's runtime up to 14 announces one as if the lock
 * were waited for: what calls it is wrapped. */
static bool is_test(unsigned kind)
{
	return kind == GT_OMPT_MUTEX_TEST_LOCK || kind == GT_OMPT_MUTEX_TEST_NEST_LOCK || gt_omp_self->tests;
}

/* Data of a critical from the wrapper of its call: the variable, and the caller. */
static const void *critical_of(int kind)
{
	return kind == GT_OMPT_MUTEX_CRITICAL ? gt_omp_self->critical : NULL;
}

static const void *code_of(int kind, const void *code)
{
	return critical_of(kind) ? gt_omp_self->critical_code : code;
}

static void on_mutex_acquire(int kind, unsigned hint, unsigned how, uint64_t lock, const void *code)
{
	(void)hint;
	(void)how;
	(void)lock;
	if (!gt_omp_known())
		return;
	gt_omp_self->tried = is_test((unsigned)kind);
	if (!gt_omp_self->tried)
		gt_omp_acquire(lock_construct((unsigned)kind), critical_of(kind), code_of(kind, code));
}

static void on_mutex_acquired(int kind, uint64_t lock, const void *code)
{
	if (gt_omp_known())
		gt_omp_acquired(lock_construct((unsigned)kind), !gt_omp_self->tried, lock, critical_of(kind),
				code_of(kind, code));
}

/* Its owner acquires it once more (then nobody says that it was acquired), or has still to release it. */
static void on_nest_lock(int endpoint, uint64_t lock, const void *code)
{
	(void)lock;
	(void)code;
	if (endpoint == GT_OMPT_BEGIN && gt_omp_known() && !gt_omp_self->tried)
		gt_omp_waited(GT_OMP_LOCK);
}

static void on_mutex_released(int kind, uint64_t lock, const void *code)
{
	(void)code;
	if (gt_omp_known())
		gt_omp_released(lock_construct((unsigned)kind), lock);
}

/* ---- the tool ----------------------------------------------------------------------------------- */

GT_HIDDEN bool gt_omp_tool;

static int initialize(gt_ompt_lookup lookup, int device, union gt_ompt_data *tool)
{
	static const struct {
		int event;
		gt_ompt_function callback;
	} callbacks[] = {
		{ GT_OMPT_THREAD_BEGIN, (gt_ompt_function)on_thread_begin },
		{ GT_OMPT_THREAD_END, (gt_ompt_function)on_thread_end },
		{ GT_OMPT_PARALLEL_BEGIN, (gt_ompt_function)on_parallel_begin },
		{ GT_OMPT_PARALLEL_END, (gt_ompt_function)on_parallel_end },
		{ GT_OMPT_IMPLICIT_TASK, (gt_ompt_function)on_implicit_task },
		{ GT_OMPT_WORK, (gt_ompt_function)on_work },
		{ GT_OMPT_MASKED, (gt_ompt_function)on_masked },
		{ GT_OMPT_SYNC_REGION, (gt_ompt_function)on_sync },
		{ GT_OMPT_SYNC_REGION_WAIT, (gt_ompt_function)on_sync_wait },
		{ GT_OMPT_TASK_CREATE, (gt_ompt_function)on_task_create },
		{ GT_OMPT_TASK_SCHEDULE, (gt_ompt_function)on_task_schedule },
		{ GT_OMPT_TARGET, (gt_ompt_function)on_target },
		{ GT_OMPT_TARGET_DATA_OP, (gt_ompt_function)on_target_data_op },
		{ GT_OMPT_DEPENDENCES, (gt_ompt_function)on_dependences },
		{ GT_OMPT_TASK_DEPENDENCE, (gt_ompt_function)on_task_dependence },
		{ GT_OMPT_MUTEX_ACQUIRE, (gt_ompt_function)on_mutex_acquire },
		{ GT_OMPT_MUTEX_ACQUIRED, (gt_ompt_function)on_mutex_acquired },
		{ GT_OMPT_MUTEX_RELEASED, (gt_ompt_function)on_mutex_released },
		{ GT_OMPT_NEST_LOCK, (gt_ompt_function)on_nest_lock },
	};
	gt_ompt_set set = (gt_ompt_set)lookup("ompt_set_callback");

	(void)device;
	(void)tool;
	if (!set)
		return 0;
	gt_omp_tool = true;
	for (size_t i = 0; i < sizeof(callbacks) / sizeof(callbacks[0]); i++)
		if (set(callbacks[i].event, callbacks[i].callback) <= GT_OMPT_SET_NEVER)
			gt_message(2, "OpenMP's runtime has no event %d of OMPT", callbacks[i].event);
	return 1;
}

static void finalize(union gt_ompt_data *tool)
{
	(void)tool;
}

/* A tool that is part of the program; runtimes have such a function, too. */
static struct gt_ompt_tool *other_tool(unsigned version, const char *runtime)
{
	struct gt_ompt_tool *(*next)(unsigned, const char *) =
		(struct gt_ompt_tool * (*)(unsigned, const char *)) dlsym(RTLD_NEXT, "ompt_start_tool");
	const char *name;
	Dl_info where;

	if (!next || !dladdr((void *)next, &where) || !where.dli_fname)
		return NULL;
	name = strrchr(where.dli_fname, '/');
	name = name ? name + 1 : where.dli_fname;
	return !strncmp(name, "libomp.", 7) || !strncmp(name, "libiomp5.", 9) ? NULL : next(version, runtime);
}

struct gt_ompt_tool *ompt_start_tool(unsigned version, const char *runtime);

/* OpenMP's runtime asks for a tool; NULL: there is none. Another one that the user has named, or that is
 * part of the program, goes first. */
GT_API struct gt_ompt_tool *ompt_start_tool(unsigned version, const char *runtime)
{
	static struct gt_ompt_tool tool = { .initialize = initialize, .finalize = finalize };
	struct gt_ompt_tool *other = other_tool(version, runtime);
	const char *others = getenv("OMP_TOOL_LIBRARIES");

	if (other) {
		gt_message(1, "OpenMP is not recorded: the program has a tool of its own");
		return other;
	}
	gt_omp_begin();
	if (!gt_omp_ready)
		return NULL;
	if (others && *others && !strstr(others, "libgputrace-openmp")) {
		gt_message(1, "OpenMP is not recorded: OMP_TOOL_LIBRARIES names another tool");
		return NULL;
	}
	return &tool;
}
