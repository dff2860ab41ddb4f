/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The state of threads, and the records, whoever says what OpenMP's runtime does.
 *
 * What a thread does in a parallel region is a region on it, between the fork and the join on the thread that
 * met it. A worker learns that its last barrier and its part of the region are over only when it is needed
 * again: then they are recorded with the time at which the region ended, at the latest when the process ends
 * its recording, by whoever ends it, in a stream of deferred records.
 *
 * Limits: see openmp.h.
 */
#include <pthread.h>
#include <string.h>

#include "gputrace/accel.h"
#include "openmp/openmp.h"

/* Of parallel regions: written by the thread that met it. */
static struct team {
	uint64_t number; /* of the region */
	uint64_t ended;  /* tick; 0: it has not */
	const void *code;
} teams[GT_OMP_REGIONS];

static uint64_t last_region;
static uint32_t last_order; /* of acquisitions of locks */
static gt_ref fork_record, join_record, team_record, task_record, iterations, dependences, depends_on;
static gt_ref bytes_to, bytes_from, first_of, last_of, step_of;

GT_HIDDEN GT_TLS struct gt_omp_thread *gt_omp_self;
static struct gt_omp_thread *threads; /* all that there were; grows at its head */
static pthread_key_t key;
static bool have_key;

/* At the present time. */
static void own(gt_ref record, uint64_t a, uint64_t b)
{
	gt_record(GT_T_OWN, record, (uint64_t[2]){ a, b }, 1);
}

static void own_at(gt_ref record, uint64_t a, uint64_t b, uint64_t tick)
{
	gt_record_at(GT_T_OWN, record, (uint64_t[2]){ a, b }, 1, tick);
}

static void leave(gt_ref region, uint64_t tick)
{
	if (tick)
		gt_leave_at(region, tick);
	else
		gt_leave(region);
}

/* ---- threads --------------------------------------------------------------------------------------- */

static bool take(struct gt_omp_thread *thread)
{
	uint32_t no = 0;

	return __atomic_compare_exchange_n(&thread->used, &no, 1, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

static struct gt_omp_thread *make(void)
{
	struct gt_omp_thread *thread = gt_memory(sizeof(*thread));

	if (!thread)
		return NULL;
	thread->used = 1;
	thread->next = __atomic_load_n(&threads, __ATOMIC_RELAXED);
	/* Pairs with end(). */
	while (!__atomic_compare_exchange_n(&threads, &thread->next, thread, false, __ATOMIC_RELEASE,
					    __ATOMIC_RELAXED))
		;
	return thread;
}

struct gt_omp_thread *gt_omp_new_thread(void)
{
	struct gt_omp_thread *thread = __atomic_load_n(&threads, __ATOMIC_ACQUIRE);

	while (thread && !take(thread))
		thread = thread->next;
	if (thread)
		memset(thread, 0, offsetof(struct gt_omp_thread, used));
	else
		thread = make();
	gt_omp_self = thread;
	if (thread && have_key)
		pthread_setspecific(key, thread);
	return thread;
}

void gt_omp_thread_end(void)
{
	struct gt_omp_thread *thread = gt_omp_self;

	if (!thread)
		return;
	gt_omp_catch_up();
	gt_omp_self = NULL;
	__atomic_store_n(&thread->used, 0, __ATOMIC_RELEASE); /* pairs with take() */
}

/* Destructor of the key: of threads whose end no runtime announces. */
static void last_moment(void *thread)
{
	(void)thread;
	gt_omp_thread_end();
}

/* ---- parallel regions ------------------------------------------------------------------------------ */

uint64_t gt_omp_fork(unsigned requested, const void *code)
{
	uint64_t number = __atomic_add_fetch(&last_region, 1, __ATOMIC_RELAXED);
	struct team *team = &teams[number % GT_OMP_REGIONS];

	__atomic_store_n(&team->ended, 0, __ATOMIC_RELAXED);
	team->code = code;
	__atomic_store_n(&team->number, number, __ATOMIC_RELEASE); /* pairs with team_of() */
	if (gt_active())
		own(fork_record, requested, 0);
	return number;
}

void gt_omp_join(uint64_t number)
{
	uint64_t now = gt_now();
	struct team *team = &teams[number % GT_OMP_REGIONS];

	if (team->number == number)
		__atomic_store_n(&team->ended, now, __ATOMIC_RELEASE); /* pairs with end_of_region() */
	if (gt_active())
		own_at(join_record, 0, 0, now);
}

/* The region in which the thread is, if its number is still known. */
static const struct team *team_of(const struct gt_omp_thread *thread)
{
	const struct team *team;
	uint64_t number;

	if (!thread->depth || thread->depth > GT_OMP_LEVELS)
		return NULL;
	number = thread->levels[thread->depth - 1].number;
	team = &teams[number % GT_OMP_REGIONS];
	return __atomic_load_n(&team->number, __ATOMIC_ACQUIRE) == number ? team : NULL;
}

const void *gt_omp_region_code(void)
{
	const struct team *team = team_of(gt_omp_self);

	return team ? team->code : NULL;
}

/* A region that is not known any more has ended when this thread was ready for that, or later. 0: it
 * goes on. */
static uint64_t end_of_region(const struct gt_omp_thread *thread)
{
	const struct team *team = team_of(thread);
	uint64_t tick = 0;

	if (team)
		tick = __atomic_load_n(&team->ended, __ATOMIC_ACQUIRE);
	else if (thread->depth && thread->depth <= GT_OMP_LEVELS)
		tick = thread->levels[thread->depth - 1].arrived;
	return tick;
}

uint64_t gt_omp_region_end(void)
{
	return end_of_region(gt_omp_self);
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
	gt_omp_self->named = true;
}

void gt_omp_part_begin(uint64_t number, unsigned index)
{
	struct gt_omp_thread *self = gt_omp_self;
	const struct team *team = &teams[number % GT_OMP_REGIONS];
	bool active = self->depth < GT_OMP_LEVELS && gt_active();
	gt_ref region = GT_NONE;

	if (self->worker && !self->named)
		name_thread(index);
	self->waiting = 0;
	if (active) {
		region = gt_omp_region(GT_OMP_PARALLEL, NULL, team->number == number ? team->code : NULL);
		own(team_record, 1, 0);
		gt_enter(region);
	}
	if (self->depth < GT_OMP_LEVELS) {
		self->levels[self->depth].number = number;
		self->levels[self->depth].arrived = 0;
		self->levels[self->depth].region = region;
		self->levels[self->depth].below = self->opened;
		self->levels[self->depth].entered = active;
	}
	self->depth++;
}

void gt_omp_part_end(uint64_t tick)
{
	struct gt_omp_thread *self = gt_omp_self;

	if (!self->depth)
		return;
	self->depth--;
	if (self->depth < GT_OMP_LEVELS && self->levels[self->depth].entered) {
		leave(self->levels[self->depth].region, tick);
		if (tick)
			own_at(team_record, 0, 0, tick);
		else
			own(team_record, 0, 0);
	}
	self->waiting = self->worker && !self->depth;
}

/* ---- constructs ------------------------------------------------------------------------------------ */

/* How many constructs were open when this thread came into the innermost region. */
static uint32_t below(const struct gt_omp_thread *self)
{
	return self->depth && self->depth <= GT_OMP_LEVELS ? self->levels[self->depth - 1].below : 0;
}

static void push(enum gt_omp_construct construct, gt_ref region, const void *code)
{
	struct gt_omp_thread *self = gt_omp_self;

	if (self->opened < GT_OMP_OPEN) {
		self->open[self->opened].code = code;
		self->open[self->opened].region = region;
		self->open[self->opened].construct = (uint8_t)construct;
	}
	self->opened++;
}

static void open_region(enum gt_omp_construct construct, const void *variable, const void *code)
{
	gt_ref region = gt_omp_region(construct, variable, code);

	if (gt_enter_if_active(region))
		push(construct, region, code);
}

void gt_omp_open(enum gt_omp_construct construct, const void *code)
{
	open_region(construct, NULL, code);
}

void gt_omp_open_work(enum gt_omp_construct construct, uint64_t count, const void *code)
{
	gt_ref region;

	if (!count) {
		gt_omp_open(construct, code);
		return;
	}
	region = gt_omp_region(construct, NULL, code);
	if (gt_enter_record(region, GT_T_PARAM_UINT, iterations, (uint64_t[2]){ count, 0 }, 1))
		push(construct, region, code);
}

static void parameter(gt_ref which, uint64_t value)
{
	gt_record(GT_T_PARAM_INT, which, (uint64_t[2]){ value, 0 }, 1);
}

void gt_omp_open_loop(enum gt_omp_construct construct, uint64_t count, uint64_t first, uint64_t step,
		      const void *code)
{
	uint32_t before = gt_omp_self->opened;

	gt_omp_open_work(construct, count, code);
	if (!count || !step || gt_omp_self->opened == before || !gt_omp_region(construct, NULL, code))
		return;
	parameter(first_of, first);
	parameter(last_of, first + (count - 1) * step);
	parameter(step_of, step);
}

void gt_omp_transfer(bool to, uint64_t bytes)
{
	gt_record(GT_T_PARAM_UINT, to ? bytes_to : bytes_from, (uint64_t[2]){ bytes, 0 }, 1);
}

const void *gt_omp_open_code(enum gt_omp_construct construct)
{
	const struct gt_omp_thread *self = gt_omp_self;

	for (uint32_t i = self->opened < GT_OMP_OPEN ? self->opened : GT_OMP_OPEN; i-- > 0;)
		if (self->open[i].construct == construct)
			return self->open[i].code;
	return NULL;
}

void gt_omp_close(enum gt_omp_construct construct, uint64_t tick)
{
	struct gt_omp_thread *self = gt_omp_self;

	for (uint32_t i = self->opened < GT_OMP_OPEN ? self->opened : GT_OMP_OPEN; i-- > below(self);)
		if (self->open[i].construct == construct) {
			leave(self->open[i].region, tick);
			self->opened = i;
			return;
		}
	if (self->opened > GT_OMP_OPEN)
		self->opened--;
}

/* ---- workers that wait ----------------------------------------------------------------------------- */

void gt_omp_retire(void)
{
	struct gt_omp_thread *self = gt_omp_self;

	if (self->depth && self->depth <= GT_OMP_LEVELS)
		self->levels[self->depth - 1].arrived = gt_now();
	gt_omp_open(GT_OMP_IMPLICIT, gt_omp_region_code());
	self->location = gt_self_location();
	self->waiting = 1; /* what it does until then is the runtime's: it may end the thread */
	/* Pairs with gt_omp_catch_up() and end(). */
	__atomic_store_n(&self->late, GT_OMP_LATE, __ATOMIC_RELEASE);
}

void gt_omp_catch_up(void)
{
	struct gt_omp_thread *self = gt_omp_self;
	uint64_t tick;

	if (gt_likely(!__atomic_load_n(&self->late, __ATOMIC_RELAXED)))
		return;
	/* Pairs with end(). */
	if (__atomic_exchange_n(&self->late, GT_OMP_NOT_LATE, __ATOMIC_ACQ_REL) == GT_OMP_LATE) {
		tick = end_of_region(self);
		gt_omp_close(GT_OMP_IMPLICIT, tick);
		gt_omp_part_end(tick);
		return;
	}
	self->depth--;
	if (self->depth < GT_OMP_LEVELS)
		self->opened = self->levels[self->depth].below;
}

/* Of another thread, which waits. */
static void defer(struct gt_location *stream, uint32_t location, unsigned type, uint64_t low,
		  const uint64_t *data, uint64_t tick)
{
	gt_location_record(stream, GT_T_FOR_LOCATION, location, NULL, 0, tick);
	gt_location_record(stream, type, low, data, data != NULL, tick);
}

static void defer_end(struct gt_location *stream, const struct gt_omp_thread *thread)
{
	uint32_t level = thread->depth - 1;
	uint64_t tick = end_of_region(thread);

	if (!tick)
		tick = gt_now();
	if (level >= GT_OMP_LEVELS || !thread->levels[level].entered)
		return;
	for (uint32_t i = thread->opened < GT_OMP_OPEN ? thread->opened : GT_OMP_OPEN;
	     i-- > thread->levels[level].below;)
		if (thread->open[i].region)
			defer(stream, thread->location, GT_T_LEAVE, thread->open[i].region, NULL, tick);
	if (thread->levels[level].region)
		defer(stream, thread->location, GT_T_LEAVE, thread->levels[level].region, NULL, tick);
	defer(stream, thread->location, GT_T_OWN, team_record, (uint64_t[2]){ 0, 0 }, tick);
}

/* The process ends its recording. */
static void end(int how)
{
	static const struct gt_location_info info = {
		.bytes = sizeof(info),
		.name = "OpenMP",
		.kind = GT_LOC_DEFERRED,
		.flags = GT_LOC_UNSORTED | GT_LOC_COMMITS,
	};
	static struct gt_location *stream;
	struct gt_omp_thread *thread = __atomic_load_n(&threads, __ATOMIC_ACQUIRE);

	for (; thread && how != GT_END_NONE; thread = thread->next) {
		uint32_t late = GT_OMP_LATE;

		/* Pairs with gt_omp_catch_up(). */
		if (!__atomic_compare_exchange_n(&thread->late, &late, GT_OMP_LATE_DONE, false,
						 __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
			continue;
		if (!stream)
			stream = gt_location_create(&info);
		defer_end(stream, thread);
	}
}

/* Only the thread that forked is there. */
static void fork_child(void)
{
	for (struct gt_omp_thread *thread = threads; thread; thread = thread->next)
		if (thread != gt_omp_self) {
			thread->late = GT_OMP_NOT_LATE;
			thread->used = 0;
		}
}

/* ---- tasks ----------------------------------------------------------------------------------------- */

enum { REGION_BITS = 20, GENERATION_BITS = 28, CREATOR_BITS = 14 };

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
	       (untied ? GT_OMP_UNTIED_TASK : 0);
}

uint64_t gt_omp_implicit_task(void)
{
	return task_value(GT_NONE, 0, false) | GT_OMP_STARTED;
}

uint64_t gt_omp_task_later(uint64_t task, uint64_t n)
{
	uint64_t mask = ((UINT64_C(1) << GENERATION_BITS) - 1) << REGION_BITS;

	return (task & ~mask) | ((task + (n << REGION_BITS)) & mask);
}

gt_ref gt_omp_task_region(uint64_t task)
{
	return (gt_ref)bits(task, REGION_BITS);
}

static uint64_t generation_of(uint64_t task)
{
	return bits(task >> REGION_BITS, GENERATION_BITS);
}

bool gt_omp_is_explicit(uint64_t task)
{
	return generation_of(task) != 0;
}

void gt_omp_record_task(enum gt_omp_what what, uint64_t task)
{
	uint64_t creator = bits(task >> (REGION_BITS + GENERATION_BITS), CREATOR_BITS);

	own(task_record, what | creator << 8, generation_of(task));
}

void gt_omp_dependences(uint64_t count)
{
	gt_record(GT_T_PARAM_UINT, dependences, (uint64_t[2]){ count, 0 }, 1);
}

void gt_omp_depends_on(uint64_t task)
{
	gt_record(GT_T_PARAM_UINT, depends_on, (uint64_t[2]){ generation_of(task), 0 }, 1);
}

uint64_t gt_omp_create_task(bool untied, const void *code)
{
	uint64_t task = task_value(gt_omp_region(untied ? GT_OMP_UNTIED : GT_OMP_TASK, NULL, code),
					  ++gt_omp_self->generation, untied);

	gt_omp_record_task(GT_OMP_CREATE, task);
	return task;
}

/* ---- locks ----------------------------------------------------------------------------------------- */

/* The construct between acquiring and releasing; GT_OMP_COUNT: its place is unknown. */
static enum gt_omp_construct block_of(enum gt_omp_construct construct)
{
	return construct == GT_OMP_CRITICAL ? GT_OMP_CRITICAL_BLOCK
	       : construct == GT_OMP_ORDERED ? GT_OMP_ORDERED_BLOCK : GT_OMP_COUNT;
}

void gt_omp_acquire(enum gt_omp_construct construct, const void *variable, const void *code)
{
	gt_omp_self->waiting++;
	open_region(construct, variable, code);
}

/* GT_OMP_HELD: the thread does not hold it. */
static uint32_t find_held(const struct gt_omp_thread *self, uint64_t lock)
{
	for (uint32_t i = self->held_count; i-- > 0;)
		if (self->held[i].lock == lock)
			return i;
	return GT_OMP_HELD;
}

static void hold(struct gt_omp_thread *self, uint64_t lock)
{
	uint32_t i = find_held(self, lock), order;

	if (i < GT_OMP_HELD) {
		self->held[i].depth++;
		return;
	}
	if (self->held_count >= GT_OMP_HELD)
		return;
	order = __atomic_add_fetch(&last_order, 1, __ATOMIC_RELAXED);
	i = self->held_count++;
	self->held[i].lock = lock;
	self->held[i].order = order;
	self->held[i].depth = 1;
	gt_record(GT_T_LOCK_ACQUIRE, lock, (uint64_t[2]){ order, GT_PARADIGM_OPENMP }, 1);
}

void gt_omp_waited(enum gt_omp_construct construct)
{
	gt_omp_self->waiting -= gt_omp_self->waiting > 0;
	gt_omp_close(construct, 0);
}

/* The acquisition lies in the wait that it ends: a reader takes its length from there. */
void gt_omp_acquired(enum gt_omp_construct construct, bool waited, uint64_t lock, const void *variable,
		     const void *code)
{
	bool active = gt_active();

	if (active)
		hold(gt_omp_self, lock);
	if (waited)
		gt_omp_waited(construct);
	if (active && block_of(construct) != GT_OMP_COUNT)
		open_region(block_of(construct), variable, code);
}

void gt_omp_released(enum gt_omp_construct construct, uint64_t lock)
{
	struct gt_omp_thread *self = gt_omp_self;
	uint32_t i;

	if (block_of(construct) != GT_OMP_COUNT)
		gt_omp_close(block_of(construct), 0);
	i = find_held(self, lock);
	if (i == GT_OMP_HELD || --self->held[i].depth)
		return;
	gt_record(GT_T_LOCK_RELEASE, lock, (uint64_t[2]){ self->held[i].order, GT_PARADIGM_OPENMP }, 1);
	memmove(&self->held[i], &self->held[i + 1], (--self->held_count - i) * sizeof(self->held[0]));
}

/* ---- the adapter ----------------------------------------------------------------------------------- */

static bool inside(void)
{
	return gt_omp_self && gt_omp_self->waiting;
}

static const struct gt_adapter adapter = {
	.bytes = sizeof(adapter),
	.abi = GT_ADAPTER_ABI,
	.name = "openmp",
	.fork_child = fork_child,
	.end = end,
	.inside = inside,
};

GT_HIDDEN bool gt_omp_ready;

static void begin(void)
{
	const char *wanted = gt_setting("VT_OPENMP");

	if (!wanted || strcmp(wanted, "no") == 0 || gt_adapter_register(&adapter))
		return;
	fork_record = gt_def_record("openmp", "fork");
	join_record = gt_def_record("openmp", "join");
	team_record = gt_def_record("openmp", "team");
	task_record = gt_def_record("openmp", "task");
	iterations = gt_def_parameter("OMP_ITERATIONS", GT_VALUE_UINT);
	first_of = gt_def_parameter("OMP_FIRST", GT_VALUE_INT);
	last_of = gt_def_parameter("OMP_LAST", GT_VALUE_INT);
	step_of = gt_def_parameter("OMP_STEP", GT_VALUE_INT);
	dependences = gt_def_parameter("OMP_DEPENDENCES", GT_VALUE_UINT);
	bytes_to = gt_def_parameter("OMP_BYTES_TO_DEVICE", GT_VALUE_UINT);
	bytes_from = gt_def_parameter("OMP_BYTES_FROM_DEVICE", GT_VALUE_UINT);
	depends_on = gt_def_parameter("OMP_DEPENDS_ON", GT_VALUE_UINT);
	have_key = pthread_key_create(&key, last_moment) == 0;
	/* The C library has memory for the values of the first ones only. */
	if (have_key && key >= 32) {
		pthread_key_delete(key);
		have_key = false;
	}
	__atomic_store_n(&gt_omp_ready, true, __ATOMIC_RELEASE);
}

/* It may need the loader's lock, which a thread that comes here from a constructor holds: nobody waits. */
void gt_omp_begin(void)
{
	static bool begun;

	if (!__atomic_exchange_n(&begun, true, __ATOMIC_ACQ_REL))
		begin();
}
