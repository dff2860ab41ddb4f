/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A tool of its own for OpenMP: counts what the runtime says, and prints it at the end of each process, "NAME
 * COUNT" a line, on the file that OMP_COUNTS names. Compiled with the compiler's omp-tools.h.
 *
 * Limits: needs atomic counters only.
 */
#include <fcntl.h>
#include <omp-tools.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	FORK,
	JOIN,
	TEAM,
	FOR,
	SECTIONS,
	SINGLE,
	TASKLOOP,
	MASKED,
	BARRIER,
	IMPLICIT,
	TASKWAIT,
	TASKGROUP,
	CREATE,
	COMPLETE,
	ACQUIRE,
	RELEASE,
	CRITICAL,
	DEPENDENCES,
	COUNTS
};
static const char *const names[COUNTS] = { "fork",
					   "join",
					   "team",
					   "omp for",
					   "omp sections",
					   "omp single",
					   "omp taskloop",
					   "omp masked",
					   "omp barrier",
					   "omp implicit barrier",
					   "omp taskwait",
					   "omp taskgroup",
					   "create",
					   "complete",
					   "acquire",
					   "release",
					   "omp critical block",
					   "dependences" };
static unsigned long counts[COUNTS];

static void count(unsigned what)
{
	__atomic_add_fetch(&counts[what], 1, __ATOMIC_RELAXED);
}

static void parallel_begin(ompt_data_t *task, const ompt_frame_t *frame, ompt_data_t *parallel,
			   unsigned requested, int flags, const void *code)
{
	count(FORK);
}

static void parallel_end(ompt_data_t *parallel, ompt_data_t *task, int flags, const void *code)
{
	count(JOIN);
}

static _Thread_local int level;

static void implicit_task(ompt_scope_endpoint_t endpoint, ompt_data_t *parallel, ompt_data_t *task,
			  unsigned threads, unsigned index, int flags)
{
	if (flags & ompt_task_initial)
		return;
	level += endpoint == ompt_scope_begin ? 1 : -1;
	if (endpoint == ompt_scope_begin)
		count(TEAM);
}

static void work(ompt_work_t kind, ompt_scope_endpoint_t endpoint, ompt_data_t *parallel, ompt_data_t *task,
		 uint64_t n, const void *code)
{
	if (endpoint != ompt_scope_begin || kind == ompt_work_single_other)
		return;
	count(kind == ompt_work_sections ? SECTIONS : kind == ompt_work_single_executor ? SINGLE
	      : kind == ompt_work_taskloop ? TASKLOOP : FOR);
}

static void masked(ompt_scope_endpoint_t endpoint, ompt_data_t *parallel, ompt_data_t *task, const void *code)
{
	if (endpoint == ompt_scope_begin)
		count(MASKED);
}

static void sync_region(ompt_sync_region_t kind, ompt_scope_endpoint_t endpoint, ompt_data_t *parallel,
			ompt_data_t *task, const void *code)
{
	if (endpoint != ompt_scope_begin || kind == ompt_sync_region_reduction || level < 1)
		return;
	count(kind == ompt_sync_region_taskwait						      ? TASKWAIT
	      : kind == ompt_sync_region_taskgroup					      ? TASKGROUP
	      : kind == ompt_sync_region_barrier || kind == ompt_sync_region_barrier_explicit ? BARRIER
											      : IMPLICIT);
}

static void task_create(ompt_data_t *parent, const ompt_frame_t *frame, ompt_data_t *task, int flags,
			int dependences, const void *code)
{
	if (flags & ompt_task_explicit)
		count(CREATE);
	task->value = flags & ompt_task_explicit ? 1 : 0;
}

static void dependences(ompt_data_t *task, const ompt_dependence_t *list, int n)
{
	while (n-- > 0)
		count(DEPENDENCES);
}

static void task_schedule(ompt_data_t *prior, ompt_task_status_t status, ompt_data_t *next)
{
	if ((status == ompt_task_complete || status == ompt_task_cancel) && prior && prior->value)
		count(COMPLETE);
}

static void acquired(ompt_mutex_t kind, ompt_wait_id_t lock, const void *code)
{
	count(ACQUIRE);
	if (kind == ompt_mutex_critical)
		count(CRITICAL);
}

static void released(ompt_mutex_t kind, ompt_wait_id_t lock, const void *code)
{
	count(RELEASE);
}

static void print(void)
{
	int fd = open(getenv("OMP_COUNTS"), O_WRONLY | O_CREAT | O_APPEND, 0666);

	for (unsigned i = 0; i < COUNTS; i++)
		dprintf(fd, "%s\t%lu\n", names[i], counts[i]);
	close(fd);
}

/* A child counts from the beginning. */
static void forget(void)
{
	memset(counts, 0, sizeof(counts));
}

static int initialize(ompt_function_lookup_t lookup, int device, ompt_data_t *tool)
{
	ompt_set_callback_t set = (ompt_set_callback_t)lookup("ompt_set_callback");

	pthread_atfork(NULL, NULL, forget);
	set(ompt_callback_parallel_begin, (ompt_callback_t)parallel_begin);
	set(ompt_callback_parallel_end, (ompt_callback_t)parallel_end);
	set(ompt_callback_implicit_task, (ompt_callback_t)implicit_task);
	set(ompt_callback_work, (ompt_callback_t)work);
	set(ompt_callback_masked, (ompt_callback_t)masked);
	set(ompt_callback_sync_region, (ompt_callback_t)sync_region);
	set(ompt_callback_task_create, (ompt_callback_t)task_create);
	set(ompt_callback_dependences, (ompt_callback_t)dependences);
	set(ompt_callback_task_schedule, (ompt_callback_t)task_schedule);
	set(ompt_callback_mutex_acquired, (ompt_callback_t)acquired);
	set(ompt_callback_mutex_released, (ompt_callback_t)released);
	return 1;
}

/* Behind exit(): teams of the whole program end there. */
static void finalize(ompt_data_t *tool)
{
	print();
}

ompt_start_tool_result_t *ompt_start_tool(unsigned version, const char *runtime)
{
	static ompt_start_tool_result_t tool = { initialize, finalize, { 0 } };

	return &tool;
}
