/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * API calls: what CUPTI's callbacks on the program's threads become. A call is a region of its thread
 * and an entry in the table of calls, where the reader of the records finds who caused them.
 *
 * Budget: 0.1 us for both callbacks of a launch. No lock, no memory, no call of CUPTI.
 *
 * While a call runs, the other adapters are kept silent on its thread: the driver's own locks are
 * nobody's business, and what the host waited for can be put into the region afterwards.
 *
 * Limits: the table holds the latest GT_ACCEL_CALLS calls; a record that comes later finds no parent and is
 * counted. A launch is seen at the driver only, unless the runtime's calls are asked for. A driver call
 * inside of a runtime call is recorded with VT_GPUTRACE=driver only.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cuda/cuda.h"
#include "cuda/hooks.h"
#include "gputrace/syscall.h"

#define IDS     2048u
#define DEPTH   3u
#define SLOTS   4096u
#define AHEAD   4u /* the entry that is fetched for the calls to come: in another line */

#define hot gt_cu_hot

/* What the callback ids of a domain are. */
static struct id {
	gt_ref region;  /* GT_NONE: none is wanted, or it is filtered */
	uint32_t quick; /* has a region and records, so it comes in swarms: key_of() and OPEN_*; else 0 */
	uint8_t class;
	uint8_t count;  /* which of a slot's counters */
	bool enabled;
} __attribute__((aligned(16))) ids[2][IDS];

/* Counters of threads, apart from each other. The last is for all threads that come too late. */
enum { COUNT_OTHERS, COUNT_LAUNCHES, COUNT_CAPTURED, COUNT_GRAPHS, COUNTS };
static struct slot {
	uint64_t counts[COUNTS];
	uint64_t pad[4];
} slots[SLOTS] __attribute__((aligned(64)));
static uint32_t next_slot;

/* Of each thread. Small: a library that comes late gets little room of this kind. The first line is what a
 * launch needs; quick_leave() has the rest from there. */
static GT_TLS struct {
	struct gt_call call;
	struct slot *slot;        /* NULL: none yet */
	struct gt_accel_call *entry; /* of a call that quick_enter() has entered */
	uint32_t location;        /* 1 + id */
	gt_ref region;            /* of that call */
	uint8_t count;
	bool own_slot;            /* nobody else's, and the location and `call` are known */
	bool active;
	uint32_t stack;           /* the stack pointer's lower half when open[0] began */
	struct open {
		uint64_t key; /* key_of(), and OPEN_*; in open[0] 0: no call is open */
		uint64_t enter;
	} open[DEPTH];
	uint32_t inner;           /* how many calls are open inside of open[0] */
} self __attribute__((aligned(64)));

#define OPEN_REGION 1u /* a region is open in the trace, or will be written (OPEN_POLL) */
#define OPEN_POLL   2u
#define OPEN_AROUND 4u /* in open[0]: others are open inside */
#define OPEN_QUICK  8u /* entered by quick_enter() */
#define OPEN_KEY(key) ((key) & ~(uint64_t)0xff)

static inline uint64_t key_of(uint32_t domain, uint32_t id, uint32_t correlation)
{
	return (uint64_t)correlation << 32 | id << 16 | domain << 8;
}

/* How many calls are open. */
static inline uint32_t depth(void)
{
	return self.open[0].key ? 1 + self.inner : 0;
}

static void set_depth(uint32_t depth)
{
	self.inner = depth ? depth - 1 : 0;
	if (!depth)
		self.open[0].key = 0;
	else if (depth == 1)
		self.open[0].key &= ~(uint64_t)OPEN_AROUND;
	else
		self.open[0].key |= OPEN_AROUND;
}

#if defined(__x86_64__)
static inline uint32_t stack_now(void)
{
	uint32_t stack;

	__asm__ volatile("mov %%esp, %0" : "=r"(stack));
	return stack;
}
#else
static inline uint32_t stack_now(void)
{
	return (uint32_t)(uintptr_t)__builtin_frame_address(0);
}
#endif

static inline const struct id *id_of(uint64_t key)
{
	return &ids[(key >> 8 & 0xff) - 1][key >> 16 & 0xffff];
}

/* ---- the table --------------------------------------------------------------------------------- */

static inline struct gt_accel_call *put_call(uint32_t correlation, uint64_t enter, uint32_t flags)
{
	return gt_accel_call_put(hot.calls, correlation, self.location - 1, enter, flags);
}

static inline void end_of(uint32_t correlation, uint64_t enter, uint64_t leave)
{
	gt_accel_call_end(&hot.calls[correlation % GT_ACCEL_CALLS], correlation, enter, leave);
}

uint64_t gt_cu_calls_seen(void)
{
	uint64_t sums[COUNTS] = { 0 };

	for (unsigned i = 0; i < SLOTS; i++)
		for (unsigned j = 0; j < COUNTS; j++)
			sums[j] += __atomic_load_n(&slots[i].counts[j], __ATOMIC_RELAXED);
	gt_cu_counts.launches = sums[COUNT_LAUNCHES];
	gt_cu_counts.captured = sums[COUNT_CAPTURED];
	gt_cu_counts.graph_launches = sums[COUNT_GRAPHS];
	return sums[COUNT_OTHERS] + sums[COUNT_LAUNCHES] + sums[COUNT_CAPTURED] + sums[COUNT_GRAPHS];
}

static struct slot *own_slot(void)
{
	if (gt_unlikely(!self.slot)) {
		uint32_t n = __atomic_fetch_add(&next_slot, 1, __ATOMIC_RELAXED);

		self.slot = &slots[n < SLOTS - 1 ? n : SLOTS - 1];
		__atomic_store_n(&hot.filtered, gt_call_prepare(&self.call), __ATOMIC_RELAXED);
		self.own_slot = n < SLOTS - 1;
	}
	return self.slot;
}

/* Alone on its slot, a thread needs no locked instruction. */
static inline void add_alone(uint64_t *counter)
{
	__atomic_store_n(counter, __atomic_load_n(counter, __ATOMIC_RELAXED) + 1, __ATOMIC_RELAXED);
}

static void add_one(uint64_t *counter)
{
	if (gt_likely(self.own_slot))
		add_alone(counter);
	else
		__atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
}

bool gt_cu_calls_own_thread(void)
{
	return self.slot || depth() || gt_is_confined() || gt_raw(SYS_gettid) == gt_raw(SYS_getpid);
}

/* ---- callbacks ----------------------------------------------------------------------------------- */

static bool makes_records(unsigned class)
{
	return class == GT_CU_C_LAUNCH || class == GT_CU_C_GRAPH || class == GT_CU_C_COPY ||
	       class == GT_CU_C_SET ||
	       (gt_cu_options.sync && (class == GT_CU_C_WAIT || class == GT_CU_C_WAIT_ALL));
}

/*
 * Ends what is open from `level` on, without callbacks for it: CUPTI gave up inside of it, or the program
 * left it by longjmp() or an exception.
 */
static void abandon(uint32_t level)
{
	uint32_t correlation = (uint32_t)(self.open[0].key >> 32);
	uint64_t tick = gt_now();

	gt_cu_count_shared(&gt_cu_counts.unfinished, depth() - level);
	for (uint32_t at = depth(); at-- > level;) {
		const struct open *open = &self.open[at];
		const struct id *what = id_of(open->key);

		if (makes_records(what->class))
			end_of((uint32_t)(open->key >> 32), open->enter, tick);
		if ((open->key & (OPEN_REGION | OPEN_POLL)) == OPEN_REGION)
			gt_leave_at(what->region, tick);
	}
	set_depth(level);
	if (!level)
		GT_CU_HOOK(abandoned, correlation);
	if (!level)
		gt_unguard();
}

/* May this call be shown, and where? NULL: no. */
static struct open *open_call(uint32_t domain, uint32_t correlation)
{
	uint32_t level;

	/* What is inside of a call has its number. */
	if (gt_unlikely(depth() && self.open[0].key >> 32 != correlation))
		abandon(0);
	level = depth();
	if (level)
		return domain != CU_DOMAIN_DRIVER || !gt_cu_options.driver || level == DEPTH ||
				       self.open[0].key & OPEN_POLL
			       ? NULL
			       : &self.open[level];
	self.active = gt_active();
	if (!self.active && gt_is_on())
		return NULL; /* gputrace's own, or a thread that is not recorded */
	gt_guard();
	self.stack = stack_now();
	return &self.open[0];
}

static void enter(uint32_t domain, uint32_t id, const struct cu_call_data *data)
{
	uint64_t key = key_of(domain, id, data->correlation), tick;
	const struct id *what = id_of(key);
	uint32_t flags = what->class;
	struct open *open = open_call(domain, data->correlation);

	if (!open)
		return;
	if (gt_unlikely(!self.location))
		self.location = gt_self_location() + 1;
	tick = gt_now();
	*open = (struct open){ key | (what->class == GT_CU_C_POLL ? OPEN_POLL : 0), tick };
	set_depth((uint32_t)(open - self.open) + 1);
	if (!self.active) {
		flags |= GT_CU_CALL_OFF;
	} else if (what->region) {
		flags |= GT_CU_CALL_REGION;
		open->key |= OPEN_REGION;
		if (open->key & OPEN_POLL)
			return; /* written when it is over: it may only add to the one before */
		if (makes_records(what->class))
			gt_enter_attribute(what->region, gt_accel_refs.correlation, data->correlation, tick);
		else
			gt_enter_at(what->region, tick);
	}
	if (!makes_records(what->class))
		return;
	if (gt_unlikely(__atomic_load_n(&hot.now.capturing, __ATOMIC_RELAXED)))
		flags |= GT_CU_CALL_CAPTURE;
	put_call(data->correlation, tick, flags);
}

static uint64_t unread; /* calls whose records nobody reads; atomic */

static void count_unread(void)
{
	__atomic_fetch_add(&unread, 1, __ATOMIC_RELAXED);
	gt_lost(GT_LOSS_SANDBOX, 1);
}

void gt_cu_calls_restart(void)
{
	gt_lost(GT_LOSS_SANDBOX, -__atomic_exchange_n(&unread, 0, __ATOMIC_RELAXED));
}

static void count(const struct id *what, bool failed, bool captured)
{
	struct slot *slot = own_slot();

	if (failed)
		add_one(&slot->counts[COUNT_OTHERS]);
	else if (captured && what->count == COUNT_LAUNCHES)
		add_one(&slot->counts[COUNT_CAPTURED]);
	else
		add_one(&slot->counts[what->count]);
}

/* Of a call that begins or ends a capture, or the stream's life: also on threads that are not recorded. */
static void note_capture(unsigned class, const struct cu_call_data *call)
{
	void *stream = call->params ? *(void *const *)call->params : NULL;

	gt_cu_capturing(class, call->context, stream, call->result ? *(const int *)call->result : 0);
}

/* A query's "not ready" is an answer, not an error. */
static inline bool answered(int result)
{
	return !result || result == CU_CUDA_NOT_READY;
}

/* A call that failed: its result on the leave. */
static void put_error(const char *function, int result, uint64_t tick)
{
	uint64_t low;

	if (answered(result))
		return;
	gt_accel_failed(function, (uint32_t)result);
	gt_cu_count_shared(&gt_cu_counts.errors, 1);
	gt_accel_tag(gt_cu_refs.result, (uint32_t)result, &low);
	gt_record_at(GT_T_TAG, low, NULL, 0, tick);
}

/* VT_GPUTRACE=error: the first call that fails ends the program, by exit() in its callback. The one place
 * where gputrace does that, for it is what was asked for (doc/PROMISES.md). */
static void end_program(const char *function, int result)
{
	static uint32_t ending;

	if (__atomic_exchange_n(&ending, 1, __ATOMIC_RELAXED))
		return; /* on another thread, or by what the end itself calls */
	gt_message(1, "CUDA: %s failed with error %d; ending the program (VT_GPUTRACE=error)",
		   function ? function : "a call", result);
	exit(EXIT_FAILURE);
}

/* Which open call this is the end of; DEPTH: none, it began before there were callbacks. What is open inside
 * of it was left in another way. */
static uint32_t level_of(uint64_t key)
{
	uint32_t level = depth();

	while (level && OPEN_KEY(self.open[level - 1].key) != key)
		level--;
	if (!level)
		return DEPTH;
	if (gt_unlikely(level < depth()))
		abandon(level);
	return level - 1;
}

/* Polling: calls of the same kind with nothing in between are one region, which counts them. */
static void put_leave(const struct id *what, const struct open *open, const char *function, int result,
		      uint64_t tick)
{
	static GT_TLS struct gt_repeated polls;

	if (open->key & OPEN_POLL && answered(result)) {
		gt_repeat(&polls, what->region, gt_cu_refs.calls, open->enter);
		return;
	}
	if (open->key & OPEN_POLL)
		gt_enter_at(what->region, open->enter);
	if (gt_unlikely(result))
		put_error(function, result, tick);
	gt_leave_at(what->region, tick);
}

static void leave(uint32_t domain, uint32_t id, const struct cu_call_data *data)
{
	const struct id *what = &ids[domain - 1][id];
	uint32_t level = level_of(key_of(domain, id, data->correlation));
	int result = data->result ? *(const int *)data->result : 0;
	const struct open *open = &self.open[level];
	bool captured, recorded;
	uint64_t tick, begun;

	if (level == DEPTH)
		return;
	begun = open->enter;
	/* gt_repeat() looks at the clock itself. */
	tick = open->key & OPEN_POLL && answered(result) ? 0 : gt_now();
	if (tick <= begun + 2)
		tick = begun + 3; /* room for what comes into the region later */
	captured = __atomic_load_n(&hot.now.capturing, __ATOMIC_RELAXED);
	recorded = open->key & OPEN_REGION;
	if (makes_records(what->class))
		end_of(data->correlation, begun, tick);
	if (recorded)
		put_leave(what, open, data->function, result, tick);
	set_depth(level);
	if (level)
		return;
	gt_unguard();
	if (what->class == GT_CU_C_WAIT_ALL)
		gt_cu_align_waited(data->context_uid, begun, tick);
	else if (what->class == GT_CU_C_FREE && recorded && gt_cu_options.free_idle)
		gt_cu_implicit_call(data->context_uid, self.location - 1, begun, tick);
	count(what, result, captured);
	if (gt_unlikely(gt_cu_state_now() == GT_CU_STILL) && makes_records(what->class) && !result &&
	    !captured)
		count_unread();
	if (gt_unlikely(!answered(result) && gt_cu_options.error))
		end_program(data->function, result);
}

/* There may be no callback any more for the end of the call that this thread is in. */
static void give_up(void)
{
	if (depth() && gt_cu_state_now() != GT_CU_CHILD)
		abandon(0);
}

/* A call's data on the stack lie above the callback: a jump to there may end the call too early. */
bool gt_cu_calls_jump(const void *stack)
{
	if (depth() && (int32_t)((uint32_t)(uintptr_t)stack - self.stack) > 0)
		give_up();
	return depth();
}

void gt_cu_calls_forked(void)
{
	if (depth())
		gt_unguard();
	set_depth(0);
}

/* Is this a driver call inside of the runtime call that is shown? Most are. */
static inline bool hidden(uint32_t domain, const struct cu_call_data *data)
{
	uint64_t open = self.open[0].key;

	return domain == CU_DOMAIN_DRIVER && open >> 32 == data->correlation &&
	       (open >> 8 & 0xff) == CU_DOMAIN_RUNTIME && !gt_cu_options.driver;
}

static void context_created(void *context)
{
	gt_cu_context_created(context);
	gt_guard();
	GT_CU_HOOK(context, context);
	gt_unguard();
}

static bool launches(unsigned class)
{
	return class == GT_CU_C_LAUNCH || class == GT_CU_C_GRAPH;
}

/* The calls that are shown. */
static void visible_call(uint32_t domain, uint32_t id, unsigned class, const struct cu_call_data *call)
{
	if (gt_unlikely(class >= GT_CU_C_CAPTURE_BEGIN && class <= GT_CU_C_STREAM_GONE && call->site))
		note_capture(class, call);
	if (call->site)
		leave(domain, id, call);
	else
		enter(domain, id, call);
	if (call->site && launches(class))
		GT_CU_HOOK(launch_over);
}

static bool is_ours(void)
{
	GT_CU_EACH_HOOK(h)
		if (h->ours && h->ours())
			return true;
	return false;
}

static void api_call(uint32_t domain, uint32_t id, const struct cu_call_data *call)
{
	unsigned class = ids[domain - 1][id].class;
	bool launch = domain == CU_DOMAIN_DRIVER && launches(class);

	if (is_ours())
		return;
	if (gt_unlikely(gt_cu_options.capture))
		gt_cu_capture_call(domain, id, call);
	if (launch && call->site)
		GT_CU_HOOK(launched, call);
	if (!hidden(domain, call) && gt_likely(class)) /* none: in a capture, enabled then, but not now */
		visible_call(domain, id, class, call);
	if (launch && !call->site)
		GT_CU_HOOK(launch, call, class == GT_CU_C_GRAPH, self.active);
}

/* Handles calls other than launches, and unusual launches. */
static GT_CU_RARE void other_callback(uint32_t domain, uint32_t id, const void *data)
{
	enum gt_cu_state now = gt_cu_state_now();

	if (gt_unlikely(now != GT_CU_READY && now != GT_CU_STILL)) {
		give_up();
		return;
	}
	if (domain - 1 < 2 && id < IDS) {
		api_call(domain, id, data);
	} else if (domain == CU_DOMAIN_RESOURCE) {
		const struct cu_resource_data *resource = data;

		if (id == CU_RESOURCE_CONTEXT_CREATED) {
			context_created(resource->context);
		} else if (id == CU_RESOURCE_CONTEXT_DESTROY) {
			GT_CU_HOOK(context_gone, resource->context);
			gt_cu_context_gone(resource->context);
		} else if (id == CU_RESOURCE_MODULE_LOADED) {
			GT_CU_HOOK(module, resource->descriptor);
		} else if (id == CU_RESOURCE_INIT_FINISHED)
			gt_cu_extras_late();
		else if (id == CU_RESOURCE_STREAM_CREATED)
			gt_cu_stream_made(resource->context, resource->stream);
		else if (id == CU_RESOURCE_STREAM_DESTROY)
			gt_cu_stream_gone(resource->context, resource->stream);
	} else if (domain == CU_DOMAIN_STATE && id == CU_STATE_FATAL_ERROR) {
		const struct cu_state_data *state = data;
		uint32_t ready = GT_CU_READY;

		if (__atomic_compare_exchange_n(&hot.now.state, &ready, GT_CU_FATAL, false,
						__ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
			gt_message(1, "CUPTI stopped with an error (%s): from here on the trace has no "
				"GPU events",
				   state->message ? state->message : gt_cu_result(state->result));
		give_up();
	}
}

/*
 * The same as enter() and leave() for the calls that come in swarms and with nothing unusual about them:
 * a launch, a copy, a set, outside of other calls, recorded, without an error. What is rare is called last
 * and never comes back, so that nothing has to be saved for it.
 */
static inline void entered(const struct id *what, uint64_t key, uint64_t tick)
{
	self.open[0].key = key;
	self.open[0].enter = tick;
	self.stack = stack_now();
	self.region = what->region;
	self.count = what->count;
	self.entry = put_call((uint32_t)(key >> 32), tick, GT_CU_CALL_REGION | what->class);
}

/* Fetches the entry of the calls to come, too; behind the table's end that does nothing. */
static inline void left(struct gt_accel_call *entry, uint32_t correlation, uint64_t begun, uint64_t tick)
{
	gt_accel_call_end(entry, correlation, begun, tick);
	gt_will_write(entry + AHEAD);
}

static GT_CU_RARE void enter_slow(const struct id *what, uint64_t key, struct gt_hot *window,
				  uint64_t address)
{
	entered(what, key,
		gt_call_enter_slow(window, address, hot.tag | key >> 32, GT_WORD(GT_T_ENTER, what->region)));
}

static GT_CU_RARE void leave_slow(uint32_t correlation, struct gt_hot *window, uint64_t address)
{
	struct gt_accel_call *entry = self.entry;
	uint64_t begun = self.open[0].enter;

	left(entry, correlation, begun,
	     gt_call_leave_slow(window, address, GT_WORD(GT_T_LEAVE, self.region), begun + 3));
}

/* False: it is none of these. */
static inline bool quick_enter(uint32_t domain, uint32_t id, uint32_t correlation)
{
	struct gt_call_slot place;
	const struct id *what;
	uint64_t key;

	if (gt_unlikely(id >= IDS || __atomic_load_n(&hot.now.both, __ATOMIC_ACQUIRE) != GT_CU_READY))
		return false;
	what = &ids[domain - 1][id];
	key = (uint64_t)correlation << 32 | what->quick;
	if (gt_unlikely(!what->quick || self.open[0].key || !self.own_slot))
		return false;
	if (gt_likely(gt_call_enter(&self.call, hot.filtered, hot.tag | correlation,
				    GT_WORD(GT_T_ENTER, what->region), &place)))
		entered(what, key, place.now);
	else if (place.window)
		enter_slow(what, key, place.window, place.address);
	else
		return false;
	return true;
}

static inline bool quick_leave(uint64_t key, const int *result)
{
	uint32_t correlation = (uint32_t)(key >> 32);
	struct gt_accel_call *entry = self.entry;
	struct gt_call_slot place;
	uint64_t begun;

	if (gt_unlikely(self.open[0].key != key || !result || *result))
		return false;
	self.open[0].key = 0;
	add_alone(&self.slot->counts[self.count]);
	begun = self.open[0].enter;
	/* 3: room for what comes into the region later. */
	if (gt_likely(gt_call_leave(&self.call, GT_WORD(GT_T_LEAVE, self.region), begun + 3, &place)))
		left(entry, correlation, begun, place.now);
	else
		leave_slow(correlation, place.window, place.address);
	return true;
}

/* Both in one function: fewer lines of code than with a jump to another. */
GT_CU_LEAN void gt_cu_callback(void *user, uint32_t domain, uint32_t id, const void *data)
{
	const struct cu_call_data *call = data;

	(void)user;
	if (gt_likely(domain - 1 < 2)) {
		if (call->site) {
			if (quick_leave(key_of(domain, id, call->correlation) | OPEN_REGION | OPEN_QUICK,
					call->result))
				return;
		} else if (quick_enter(domain, id, call->correlation)) {
			return;
		}
	}
	other_callback(domain, id, data);
}

/* ---- which calls ----------------------------------------------------------------------------------- */

static void consider(uint32_t domain, uint32_t id, const char *name)
{
	const struct gt_cu_rule *rule = gt_cu_rule_of(domain, name);
	struct id *what = &ids[domain - 1][id];
	char plain[128];

	/* One pair of callbacks for a launch, not two: the driver's sees all of them. */
	if (!rule || (domain == CU_DOMAIN_RUNTIME && rule->class == GT_CU_C_LAUNCH &&
		      !gt_cu_options.launch_calls))
		return;
	what->class = rule->class;
	what->count = what->class == GT_CU_C_LAUNCH  ? COUNT_LAUNCHES
		      : what->class == GT_CU_C_GRAPH ? COUNT_GRAPHS
						     : COUNT_OTHERS;
	gt_cu_capture_name(domain, id, name);
	gt_cu_plain_call(name, plain, sizeof(plain));
	/* Driver calls of the program's own are shown with the runtime's, too. */
	if (gt_cu_options.runtime || (domain == CU_DOMAIN_DRIVER && gt_cu_options.driver))
		what->region = gt_accel_region(plain, domain == CU_DOMAIN_DRIVER ? "CUDRV_API" : "CUDART_API",
					       rule->role);
	if (what->region && !gt_cu_options.capture &&
	    (what->class == GT_CU_C_LAUNCH || what->class == GT_CU_C_GRAPH ||
	     what->class == GT_CU_C_COPY || what->class == GT_CU_C_SET))
		what->quick = (uint32_t)key_of(domain, id, 0) | OPEN_REGION | OPEN_QUICK;
}

const char *gt_cu_calls_setup(void)
{
	if (hot.calls)
		return NULL;
	hot.calls = gt_accel_calls_make();
	if (!hot.calls)
		return "no memory";
	hot.tag = GT_WORD(GT_T_TAG, (uint64_t)gt_accel_refs.correlation << 32);
	for (uint32_t domain = CU_DOMAIN_DRIVER; domain <= CU_DOMAIN_RUNTIME; domain++) {
		unsigned missing = 0;

		for (uint32_t id = 1; id < IDS && missing < 64; id++) {
			const char *name = NULL;

			if (gt_cu_api.callback_name(domain, id, &name) || !name) {
				missing++;
				continue;
			}
			missing = 0;
			consider(domain, id, name);
		}
	}
	return NULL;
}

/* Is somebody called at each launch? */
static bool launches_are_watched(void)
{
	GT_CU_EACH_HOOK(h)
		if (h->launch || h->launched || h->launch_over)
			return true;
	return false;
}

unsigned gt_cu_calls_enable(void *subscriber)
{
	bool watched = launches_are_watched();
	unsigned n = 0;

	for (uint32_t domain = CU_DOMAIN_DRIVER; domain <= CU_DOMAIN_RUNTIME; domain++)
		for (uint32_t id = 1; id < IDS; id++) {
			struct id *what = &ids[domain - 1][id];

			if (!what->class)
				continue;
			if (watched && launches(what->class))
				what->quick = 0;
			what->enabled = !gt_cu_api.enable_callback(1, subscriber, domain, id);
			n += what->enabled;
		}
	return n;
}
