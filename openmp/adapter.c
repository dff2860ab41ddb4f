/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The adapter for OpenMP programs whose runtime has OMPT (LLVM's): it finds ompt_start_tool() here, because
 * this library is preloaded or linked.
 *
 * What a thread does in a parallel region is a region on it, between the fork and the join on the thread that
 * met it. The runtime says that a worker's last barrier and its part of the region are over only when it
 * needs the worker again: then they are recorded with the time at which the region ended.
 *
 * Limits: parallel regions nest LEVELS deep and constructs OPEN deep; what is deeper is not recorded. A
 * region that ended more than REGIONS others ago has no known end. Numbers of tasks: see task_value().
 */
#include <stdlib.h>
#include <string.h>

#include "gputrace/accel.h"
#include "openmp/ompt.h"
#include "openmp/openmp.h"

enum { LEVELS = 8, OPEN = 32, HELD = 8, REGIONS = 4096 };

/* Of parallel regions: written by the thread that met it. */
static struct team {
	uint64_t number; /* of the region */
	uint64_t ended;  /* tick; 0: it has not */
	const void *code;
} teams[REGIONS];

static uint64_t last_region;
static uint32_t last_order; /* of acquisitions of locks */

struct level {
	uint64_t number; /* of the parallel region */
	gt_ref region;
	bool entered;
};

struct open {
	gt_ref region;
	uint8_t construct;
};

/* Of a thread. A pointer only: what is loaded late has little room for variables of threads. */
struct thread {
	struct level levels[LEVELS];
	struct open open[OPEN];
	struct {
		uint64_t lock;
		uint32_t order;
	} held[HELD];
	uint32_t depth, opened, held_count; /* may exceed what there is room for */
	uint32_t waiting;                   /* inside of the runtime, which waits */
	uint32_t generation;                /* tasks that it made */
	bool worker, named;
};
static GT_TLS struct thread *self;

static gt_ref fork_record, join_record, team_record, task_record, iterations;
static bool ready;

/* Is there a place for what is known of this thread? */
static bool known(void)
{
	if (!self)
		self = gt_memory(sizeof(*self));
	return self;
}

/* ---- records ------------------------------------------------------------------------------------ */

static void own(gt_ref record, uint64_t a, uint64_t b, uint64_t tick)
{
	gt_record_at(GT_T_OWN, record, (uint64_t[2]){ a, b }, 1, tick);
}

static void open_construct(enum gt_omp_construct construct, const void *code)
{
	gt_ref region = gt_omp_region(construct, code);

	gt_enter(region);
	if (self->opened < OPEN)
		self->open[self->opened] = (struct open){ region, (uint8_t)construct };
	self->opened++;
}

/* Closes the last one that was opened of this kind, and what is still open inside of it. */
static void close_construct(enum gt_omp_construct construct, uint64_t tick)
{
	for (uint32_t i = self->opened < OPEN ? self->opened : OPEN; i-- > 0;)
		if (self->open[i].construct == construct) {
			gt_leave_at(self->open[i].region, tick);
			self->opened = i;
			return;
		}
	if (self->opened > OPEN)
		self->opened--;
}

/* When the parallel region in which this thread was has ended, or now. */
static uint64_t end_of_region(void)
{
	const struct level *level = &self->levels[self->depth - 1];
	const struct team *team;
	uint64_t ended;

	if (!self->depth || self->depth > LEVELS)
		return gt_now();
	team = &teams[level->number % REGIONS];
	ended = __atomic_load_n(&team->ended, __ATOMIC_ACQUIRE);
	return ended && __atomic_load_n(&team->number, __ATOMIC_ACQUIRE) == level->number ? ended : gt_now();
}

/* ---- threads and parallel regions --------------------------------------------------------------- */

static void on_thread_begin(int kind, union gt_ompt_data *thread)
{
	(void)thread;
	if (!known())
		return;
	self->worker = kind == GT_OMPT_THREAD_WORKER;
	self->waiting = self->worker;
}

static void on_thread_end(union gt_ompt_data *thread)
{
	(void)thread;
	if (self)
		gt_memory_free(self, sizeof(*self));
	self = NULL;
}

static void on_parallel_begin(union gt_ompt_data *task, const void *frame, union gt_ompt_data *parallel,
			      unsigned requested, int flags, const void *code)
{
	uint64_t number = __atomic_add_fetch(&last_region, 1, __ATOMIC_RELAXED);
	struct team *team = &teams[number % REGIONS];

	(void)task;
	(void)frame;
	(void)flags;
	parallel->value = number;
	__atomic_store_n(&team->ended, 0, __ATOMIC_RELAXED);
	team->code = code;
	__atomic_store_n(&team->number, number, __ATOMIC_RELEASE);
	if (gt_active())
		own(fork_record, requested, 0, gt_now());
}

static void on_parallel_end(union gt_ompt_data *parallel, union gt_ompt_data *task, int flags,
			    const void *code)
{
	uint64_t now = gt_now();
	struct team *team = &teams[parallel->value % REGIONS];

	(void)task;
	(void)flags;
	(void)code;
	if (team->number == parallel->value)
		__atomic_store_n(&team->ended, now, __ATOMIC_RELEASE);
	if (gt_active())
		own(join_record, 0, 0, now);
}

/* "OpenMP thread 12" */
static void name_thread(unsigned index)
{
	char name[32] = "OpenMP thread ", digits[12];
	size_t n = strlen(name), count = 0;

	do
		digits[count++] = (char)('0' + index % 10);
	while (index /= 10);
	while (count)
		name[n++] = digits[--count];
	gt_thread_name(0, name);
	self->named = true;
}

static void begin_part(const union gt_ompt_data *parallel, unsigned index)
{
	struct level level = { .number = parallel ? parallel->value : 0 };
	const struct team *team = &teams[level.number % REGIONS];

	if (self->worker && !self->named)
		name_thread(index);
	self->waiting = 0;
	if (gt_active()) {
		level.region = gt_omp_region(GT_OMP_PARALLEL,
					     team->number == level.number ? team->code : NULL);
		own(team_record, 1, 0, gt_now());
		gt_enter(level.region);
		level.entered = true;
	}
	if (self->depth < LEVELS)
		self->levels[self->depth] = level;
	self->depth++;
}

static void end_part(void)
{
	uint64_t tick = end_of_region();

	if (!self->depth)
		return;
	self->depth--;
	if (self->depth < LEVELS && self->levels[self->depth].entered) {
		gt_leave_at(self->levels[self->depth].region, tick);
		own(team_record, 0, 0, tick);
	}
	self->waiting = self->worker && !self->depth;
}

static uint64_t task_value(gt_ref region, uint32_t generation, bool untied);

static void on_implicit_task(int endpoint, union gt_ompt_data *parallel, union gt_ompt_data *task,
			     unsigned threads, unsigned index, int flags)
{
	(void)threads;
	if (flags & GT_OMPT_TASK_INITIAL || !known())
		return;
	if (endpoint == GT_OMPT_BEGIN) {
		task->value = task_value(GT_NONE, 0, false);
		begin_part(parallel, index);
	} else if (endpoint == GT_OMPT_END) {
		end_part();
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
	if (kind == GT_OMPT_WORK_SINGLE_OTHER || !known() || !gt_active())
		return;
	/* Since 5.2 loops are told apart by their schedule: 10 and more. */
	construct = kind > 0 && kind < (int)sizeof(constructs) ? constructs[kind] : GT_OMP_FOR;
	if (endpoint != GT_OMPT_BEGIN) {
		close_construct(construct, gt_now());
		return;
	}
	open_construct(construct, code);
	if (count && construct != GT_OMP_SINGLE)
		gt_record(GT_T_PARAM_UINT, iterations, (uint64_t[2]){ count, 0 }, 1);
}

static void on_masked(int endpoint, union gt_ompt_data *parallel, union gt_ompt_data *task, const void *code)
{
	(void)parallel;
	(void)task;
	if (!known() || !gt_active())
		return;
	if (endpoint == GT_OMPT_BEGIN)
		open_construct(GT_OMP_MASKED, code);
	else
		close_construct(GT_OMP_MASKED, gt_now());
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

/* Where the runtime does not say it, an implicit barrier is that of its parallel region. */
static const void *code_of_region(void)
{
	const struct team *team;

	if (!self->depth || self->depth > LEVELS)
		return NULL;
	team = &teams[self->levels[self->depth - 1].number % REGIONS];
	return team->number == self->levels[self->depth - 1].number ? team->code : NULL;
}

static void on_sync(int kind, int endpoint, union gt_ompt_data *parallel, union gt_ompt_data *task,
		    const void *code)
{
	enum gt_omp_construct construct = construct_of(kind);

	(void)parallel;
	(void)task;
	if (kind == GT_OMPT_SYNC_REDUCTION || !known() || !self->depth || !gt_active())
		return;
	if (endpoint == GT_OMPT_BEGIN)
		open_construct(construct, code || construct != GT_OMP_IMPLICIT ? code : code_of_region());
	else
		close_construct(construct, construct == GT_OMP_IMPLICIT ? end_of_region() : gt_now());
}

static void on_sync_wait(int kind, int endpoint, union gt_ompt_data *parallel, union gt_ompt_data *task,
			 const void *code)
{
	(void)kind;
	(void)parallel;
	(void)task;
	(void)code;
	if (!known())
		return;
	if (endpoint == GT_OMPT_BEGIN)
		self->waiting++;
	else if (self->waiting)
		self->waiting--;
}

/* ---- tasks -------------------------------------------------------------------------------------- */

/*
 * What is known of a task, in its 64 bits: its region, how many tasks its creator had made, the location of
 * its creator, and whether it is untied. What has no room in its bits is cut: numbers of tasks come again
 * then, and regions are left out.
 */
enum { REGION_BITS = 20, GENERATION_BITS = 28, CREATOR_BITS = 14 };
#define UNTIED  (UINT64_C(1) << 63)
#define STARTED (UINT64_C(1) << 62)

static uint64_t bits(uint64_t value, unsigned count)
{
	return value & ((UINT64_C(1) << count) - 1);
}

static uint64_t task_value(gt_ref region, uint32_t generation, bool untied)
{
	if (region >> REGION_BITS)
		region = GT_NONE;
	return region | bits(generation, GENERATION_BITS) << REGION_BITS |
	       bits(gt_self_location(), CREATOR_BITS) << (REGION_BITS + GENERATION_BITS) |
	       (untied ? UNTIED : 0);
}

static gt_ref task_region(const union gt_ompt_data *task)
{
	return (gt_ref)bits(task->value, REGION_BITS);
}

static uint64_t task_generation(const union gt_ompt_data *task)
{
	return bits(task->value >> REGION_BITS, GENERATION_BITS);
}

/* The enumerators of enum gt_task in gputrace/assemble.h. */
enum what { CREATE, SWITCH, COMPLETE };

static void record_task(enum what what, const union gt_ompt_data *task)
{
	uint64_t creator = bits(task->value >> (REGION_BITS + GENERATION_BITS), CREATOR_BITS);

	own(task_record, what | creator << 8, task_generation(task), gt_now());
}

static void on_task_create(union gt_ompt_data *parent, const void *frame, union gt_ompt_data *task, int flags,
			   int dependences, const void *code)
{
	bool untied = flags & GT_OMPT_TASK_UNTIED;

	(void)parent;
	(void)frame;
	(void)dependences;
	task->value = 0;
	if (!(flags & GT_OMPT_TASK_EXPLICIT) || !known() || !gt_active())
		return;
	task->value = task_value(gt_omp_region(untied ? GT_OMP_UNTIED : GT_OMP_TASK, code),
				 ++self->generation, untied);
	record_task(CREATE, task);
}

/* Explicit tasks have a number. */
static bool is_explicit(const union gt_ompt_data *task)
{
	return task && task_generation(task);
}

static void on_task_schedule(union gt_ompt_data *prior, int status, union gt_ompt_data *next)
{
	bool over = status == GT_OMPT_COMPLETE || status == GT_OMPT_CANCEL || status == GT_OMPT_DETACH;

	if (status == GT_OMPT_EARLY_FULFILL || status == GT_OMPT_LATE_FULFILL ||
	    status == GT_OMPT_TASKWAIT_COMPLETE || !known() || !self->depth || !gt_active())
		return;
	/* A tied task that lets another one run goes on here, when that is over. */
	if (is_explicit(prior) && prior->value & STARTED && (over || prior->value & UNTIED)) {
		gt_leave(task_region(prior));
		if (over)
			record_task(COMPLETE, prior);
	}
	if (!next || !next->value)
		return;
	record_task(SWITCH, next);
	if (is_explicit(next) && (next->value & UNTIED || !(next->value & STARTED))) {
		next->value |= STARTED;
		gt_enter(task_region(next));
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

/* What is done between acquiring and releasing; GT_OMP_COUNT: nobody can say where that is. */
static enum gt_omp_construct block_of(int kind)
{
	return kind == GT_OMPT_MUTEX_CRITICAL ? GT_OMP_CRITICAL_BLOCK
	       : kind == GT_OMPT_MUTEX_ORDERED ? GT_OMP_ORDERED_BLOCK : GT_OMP_COUNT;
}

/* A test does not wait, and nobody says that it failed. */
static bool is_test(unsigned kind)
{
	return kind == GT_OMPT_MUTEX_TEST_LOCK || kind == GT_OMPT_MUTEX_TEST_NEST_LOCK;
}

static void on_mutex_acquire(int kind, unsigned hint, unsigned how, uint64_t lock, const void *code)
{
	(void)hint;
	(void)how;
	(void)lock;
	if (is_test((unsigned)kind) || !known())
		return;
	self->waiting++;
	if (gt_active())
		open_construct(lock_construct((unsigned)kind), code);
}

static void on_mutex_acquired(int kind, uint64_t lock, const void *code)
{
	uint32_t order;

	if (!known())
		return;
	if (!is_test((unsigned)kind)) {
		self->waiting -= self->waiting > 0;
		close_construct(lock_construct((unsigned)kind), gt_now());
	}
	if (!gt_active())
		return;
	if (block_of(kind) != GT_OMP_COUNT)
		open_construct(block_of(kind), code);
	if (self->held_count >= HELD)
		return;
	order = __atomic_add_fetch(&last_order, 1, __ATOMIC_RELAXED);
	self->held[self->held_count].lock = lock;
	self->held[self->held_count++].order = order;
	gt_record(GT_T_LOCK_ACQUIRE, lock, (uint64_t[2]){ order, GT_OMP_PARADIGM }, 1);
}

static void on_mutex_released(int kind, uint64_t lock, const void *code)
{
	(void)code;
	if (!known())
		return;
	if (block_of(kind) != GT_OMP_COUNT)
		close_construct(block_of(kind), gt_now());
	for (uint32_t i = self->held_count; i-- > 0;)
		if (self->held[i].lock == lock) {
			gt_record(GT_T_LOCK_RELEASE, lock,
				  (uint64_t[2]){ self->held[i].order, GT_OMP_PARADIGM }, 1);
			memmove(&self->held[i], &self->held[i + 1],
				(--self->held_count - i) * sizeof(self->held[0]));
			return;
		}
}

/* ---- the tool ----------------------------------------------------------------------------------- */

static bool inside(void)
{
	return self && self->waiting;
}

static const struct gt_adapter adapter = {
	.bytes = sizeof(adapter),
	.abi = GT_ADAPTER_ABI,
	.name = "openmp",
	.inside = inside,
};

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
		{ GT_OMPT_MUTEX_ACQUIRE, (gt_ompt_function)on_mutex_acquire },
		{ GT_OMPT_MUTEX_ACQUIRED, (gt_ompt_function)on_mutex_acquired },
		{ GT_OMPT_MUTEX_RELEASED, (gt_ompt_function)on_mutex_released },
	};
	gt_ompt_set set = (gt_ompt_set)lookup("ompt_set_callback");

	(void)device;
	(void)tool;
	if (!set)
		return 0;
	for (size_t i = 0; i < sizeof(callbacks) / sizeof(callbacks[0]); i++)
		if (set(callbacks[i].event, callbacks[i].callback) <= GT_OMPT_SET_NEVER)
			gt_message(2, "OpenMP's runtime has no event %d of OMPT", callbacks[i].event);
	return 1;
}

static void finalize(union gt_ompt_data *tool)
{
	(void)tool;
}

/* Only for programs that have OpenMP: their runtime calls. */
static void begin(void)
{
	const char *wanted;
	static bool done;

	if (done)
		return;
	done = true;
	wanted = gt_setting("VT_OPENMP");
	if (!wanted || strcmp(wanted, "no") == 0 || gt_adapter_register(&adapter))
		return;
	fork_record = gt_def_record("openmp", "fork");
	join_record = gt_def_record("openmp", "join");
	team_record = gt_def_record("openmp", "team");
	task_record = gt_def_record("openmp", "task");
	iterations = gt_def_parameter("OMP_ITERATIONS", GT_VALUE_UINT);
	ready = true;
}

struct gt_ompt_tool *ompt_start_tool(unsigned version, const char *runtime);

/* OpenMP's runtime asks for a tool; NULL: there is none. Another one that the user has named goes first. */
__attribute__((visibility("default"))) struct gt_ompt_tool *ompt_start_tool(unsigned version,
									    const char *runtime)
{
	static struct gt_ompt_tool tool = { .initialize = initialize, .finalize = finalize };
	const char *others = getenv("OMP_TOOL_LIBRARIES");

	(void)version;
	(void)runtime;
	begin();
	if (!ready)
		return NULL;
	if (others && *others && !strstr(others, "libgputrace-openmp")) {
		gt_message(1, "OpenMP is not recorded: OMP_TOOL_LIBRARIES names another tool");
		return NULL;
	}
	return &tool;
}
