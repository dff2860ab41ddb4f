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
 * Limits: the table holds the latest ENTRIES calls; a record that comes later finds no parent and is
 * counted. A launch is seen at the driver only, unless the runtime's calls are asked for. A driver call
 * inside of a runtime call is recorded with VT_GPUTRACE=driver only.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cuda/cuda.h"

#define ENTRIES (1u << 19)
#define IDS     2048u
#define DEPTH   3u
#define SLOTS   4096u

/* What each launch looks at, in one line of the cache. */
static struct {
	struct gt_cu_call *calls; /* by correlation id modulo ENTRIES */
	gt_ref correlation;       /* the attribute */
	uint32_t capturing;       /* streams that are being captured; atomic */
} hot __attribute__((aligned(64)));

/* What the callback ids of a domain are. */
static struct id {
	gt_ref region; /* GT_NONE: none is wanted, or it is filtered */
	uint8_t class;
	bool enabled;
	bool quick;    /* has a region and records: what comes in swarms */
	uint8_t count; /* which of a slot's counters */
} ids[2][IDS];

/* Counters of threads, apart from each other. The last is for all threads that come too late. */
enum { COUNT_OTHERS, COUNT_LAUNCHES, COUNT_CAPTURED, COUNT_GRAPHS, COUNTS };
static struct slot {
	uint64_t counts[COUNTS];
	uint64_t pad[4];
} slots[SLOTS] __attribute__((aligned(64)));
static uint32_t next_slot;

/* Of each thread. Small: a library that comes late gets little room of this kind. */
static GT_CU_TLS struct {
	uint32_t depth;   /* of calls in `open` */
	uint32_t location;/* 1 + id */
	uint16_t slot;    /* 1 + number */
	bool active;
	struct open {
		uint64_t enter;
		uint32_t correlation;
		uint16_t id;
		uint8_t domain, flags : 1, poll : 1;
	} open[DEPTH];
} self;

/* ---- the table --------------------------------------------------------------------------------- */

static inline void put_call(uint32_t correlation, uint64_t enter, uint32_t flags)
{
	struct gt_cu_call *c = &hot.calls[correlation % ENTRIES];

	__atomic_store_n(&c->correlation, 0, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE); /* pairs with the fence in gt_cu_call_find() */
	c->location = self.location - 1;
	c->enter = enter;
	c->span = 0;
	c->flags = flags;
	__atomic_store_n(&c->correlation, correlation, __ATOMIC_RELEASE);
}

static inline void end_call(uint32_t correlation, uint64_t enter, uint64_t leave)
{
	struct gt_cu_call *c = &hot.calls[correlation % ENTRIES];
	uint64_t span = leave > enter ? leave - enter : 1;

	if (c->correlation == correlation && c->enter == enter)
		__atomic_store_n(&c->span, span < GT_CU_SPAN_MAX ? (uint32_t)span : GT_CU_SPAN_MAX,
				 __ATOMIC_RELEASE);
}

bool gt_cu_call_find(uint32_t correlation, struct gt_cu_call *call)
{
	const struct gt_cu_call *c = &hot.calls[correlation % ENTRIES];

	if (!correlation || __atomic_load_n(&c->correlation, __ATOMIC_ACQUIRE) != correlation)
		return false;
	*call = *c;
	call->span = __atomic_load_n(&c->span, __ATOMIC_ACQUIRE);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return __atomic_load_n(&c->correlation, __ATOMIC_RELAXED) == correlation;
}

void gt_cu_call_mark(uint32_t correlation, uint32_t flags)
{
	struct gt_cu_call *c = &hot.calls[correlation % ENTRIES];

	if (__atomic_load_n(&c->correlation, __ATOMIC_ACQUIRE) == correlation)
		__atomic_fetch_or(&c->flags, flags, __ATOMIC_RELAXED);
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
	if (GT_CU_UNLIKELY(!self.slot)) {
		uint32_t n = __atomic_fetch_add(&next_slot, 1, __ATOMIC_RELAXED);

		self.slot = (uint16_t)(1 + (n < SLOTS - 1 ? n : SLOTS - 1));
	}
	return &slots[self.slot - 1];
}

/* Alone on its slot, a thread needs no locked instruction. */
static inline void add_alone(uint64_t *counter)
{
	__atomic_store_n(counter, __atomic_load_n(counter, __ATOMIC_RELAXED) + 1, __ATOMIC_RELAXED);
}

static void add_one(uint64_t *counter)
{
	if (GT_CU_LIKELY(self.slot < SLOTS))
		add_alone(counter);
	else
		__atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
}

bool gt_cu_calls_own_thread(void)
{
	return self.slot || self.depth || syscall(SYS_gettid) == getpid();
}

/* ---- callbacks ----------------------------------------------------------------------------------- */

static bool makes_records(unsigned class)
{
	return (class == GT_CU_C_WAIT && gt_cu_options.sync) ||
	       (class == GT_CU_C_WAIT_ALL && gt_cu_options.sync) || class == GT_CU_C_LAUNCH || class == GT_CU_C_GRAPH || class == GT_CU_C_COPY ||
	       class == GT_CU_C_SET;
}

static void enter(uint32_t domain, uint32_t id, const struct cu_call_data *data)
{
	const struct id *what = &ids[domain - 1][id];
	struct open *open = &self.open[self.depth];
	uint32_t flags = what->class;
	uint64_t tick;

	if (self.depth) {
		if (domain != CU_DOMAIN_DRIVER || !gt_cu_options.driver || self.depth == DEPTH ||
		    self.open[0].poll)
			return;
	} else {
		self.active = gt_active();
		if (!self.active && gt_is_on())
			return; /* gputrace's own, or a thread that is not recorded */
		gt_guard();
	}
	if (GT_CU_UNLIKELY(!self.location))
		self.location = gt_self_location() + 1;
	tick = gt_now();
	*open = (struct open){ tick, data->correlation, (uint16_t)id, (uint8_t)domain, 0,
			       what->class == GT_CU_C_POLL };
	self.depth++;
	if (!self.active) {
		flags |= GT_CU_CALL_OFF;
	} else if (what->region) {
		flags |= GT_CU_CALL_REGION;
		open->flags = 1;
		if (open->poll)
			return; /* written when it is over: it may only add to the one before */
		if (makes_records(what->class))
			gt_enter_tagged(what->region, gt_cu_refs.correlation, data->correlation, tick);
		else
			gt_enter_at(what->region, tick);
	}
	if (!makes_records(what->class))
		return;
	if (GT_CU_UNLIKELY(__atomic_load_n(&hot.capturing, __ATOMIC_RELAXED)))
		flags |= GT_CU_CALL_CAPTURE;
	put_call(data->correlation, tick, flags);
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
	if (failed)
		return;
	if (what->class == GT_CU_C_CAPTURE_BEGIN)
		__atomic_fetch_add(&hot.capturing, 1, __ATOMIC_RELAXED);
	else if (what->class == GT_CU_C_CAPTURE_END)
		__atomic_fetch_sub(&hot.capturing, 1, __ATOMIC_RELAXED);
}

/* Polling: calls of the same kind with nothing in between are one region, which counts them. */
static void put_poll(gt_ref region, uint64_t enter, uint64_t leave)
{
	static GT_CU_TLS struct {
		uint64_t position;
		gt_ref region;
		uint32_t calls;
	} last;
	uint64_t low;

	if (last.region == region && last.calls < UINT32_MAX &&
	    gt_amend(last.position, last.calls + 1, leave)) {
		last.calls++;
		return;
	}
	gt_cu_tag(gt_cu_refs.calls, 1, &low);
	gt_record_at(GT_T_TAG, low, NULL, 0, enter);
	gt_enter_at(region, enter);
	gt_leave_at(region, leave);
	last.position = gt_position();
	last.region = region;
	last.calls = 1;
}

#define NOT_READY 600 /* an answer, not an error */

/* A call that failed: its result on the leave. */
static void put_error(int result, uint64_t tick)
{
	uint64_t low;

	if (result == NOT_READY)
		return;
	gt_cu_count_shared(&gt_cu_counts.errors, 1);
	gt_cu_tag(gt_cu_refs.result, (uint32_t)result, &low);
	gt_record_at(GT_T_TAG, low, NULL, 0, tick);
}

/* VT_GPUTRACE=error: the first call that fails ends the program. */
static void end_program(const char *function, int result)
{
	static uint32_t ending;

	if (__atomic_exchange_n(&ending, 1, __ATOMIC_RELAXED))
		return; /* on another thread, or by what the end itself calls */
	gt_message(1, "CUDA: %s failed with error %d; the program ends, as VT_GPUTRACE=error wants",
		   function ? function : "a call", result);
	exit(EXIT_FAILURE);
}

static void leave(uint32_t domain, uint32_t id, const struct cu_call_data *data)
{
	const struct id *what = &ids[domain - 1][id];
	const struct open *open;
	int result = data->result ? *(const int *)data->result : 0;
	bool captured, recorded;
	uint64_t tick;

	if (!self.depth)
		return; /* it began before there were callbacks */
	open = &self.open[self.depth - 1];
	if (open->id != id || open->domain != domain || open->correlation != data->correlation)
		return;
	tick = gt_now();
	if (tick <= open->enter + 2)
		tick = open->enter + 3; /* room for what comes into the region later */
	captured = __atomic_load_n(&hot.capturing, __ATOMIC_RELAXED);
	if (makes_records(what->class))
		end_call(open->correlation, open->enter, tick);
	if (open->flags) {
		if (open->poll)
			put_poll(what->region, open->enter, tick);
		else if (GT_CU_UNLIKELY(result))
			put_error(result, tick);
		if (!open->poll)
			gt_leave_at(what->region, tick);
	}
	recorded = open->flags;
	self.depth--;
	if (self.depth)
		return;
	gt_unguard();
	if (what->class == GT_CU_C_WAIT_ALL)
		gt_cu_align_waited(data->context_uid, open->enter, tick);
	else if (what->class == GT_CU_C_FREE && recorded && gt_cu_options.free_idle)
		gt_cu_implicit_call(data->context_uid, self.location - 1, open->enter, tick);
	count(what, result, captured);
	if (GT_CU_UNLIKELY(result && result != NOT_READY && gt_cu_options.error))
		end_program(data->function, result);
}

/* There may be no callback any more for the end of the call that this thread is in. */
static void give_up(void)
{
	if (!self.depth || gt_cu_state_now() == GT_CU_CHILD)
		return;
	while (self.depth) {
		const struct open *open = &self.open[--self.depth];

		if (open->flags && !open->poll)
			gt_leave_at(ids[open->domain - 1][open->id].region, gt_now());
	}
	gt_unguard();
}

/*
 * The same as enter() and leave() for the calls that come in swarms and with nothing unusual about them:
 * a launch, a copy, a set, outside of other calls, recorded, without an error. False: not this one.
 */
static inline bool quick_enter(const struct id *what, uint32_t domain, uint32_t id,
			       const struct cu_call_data *data)
{
	uint32_t correlation = data->correlation;
	uint64_t tick;

	if (GT_CU_UNLIKELY(self.depth || !self.location))
		return false;
	tick = gt_call_enter(what->region, hot.correlation, correlation);
	if (GT_CU_UNLIKELY(!tick))
		return false;
	self.active = true;
	self.depth = 1;
	self.open[0] = (struct open){ tick, correlation, (uint16_t)id, (uint8_t)domain, 1, 0 };
	put_call(correlation, tick,
		 (GT_CU_UNLIKELY(__atomic_load_n(&hot.capturing, __ATOMIC_RELAXED)) ? GT_CU_CALL_CAPTURE
										     : 0) |
			 GT_CU_CALL_REGION | what->class);
	return true;
}

static inline bool quick_leave(const struct id *what, uint32_t domain, uint32_t id,
			       const struct cu_call_data *data)
{
	const struct open *open = &self.open[0];
	uint64_t tick;

	if (GT_CU_UNLIKELY(self.depth != 1 || !open->flags || open->id != id || open->domain != domain ||
			   open->correlation != data->correlation || !data->result ||
			   *(const int *)data->result ||
			   __atomic_load_n(&hot.capturing, __ATOMIC_RELAXED) ||
			   self.slot - 1u >= SLOTS - 1u))
		return false;
	/* Room for what comes into the region later. */
	tick = gt_call_leave(what->region, open->enter + 3);
	end_call(open->correlation, open->enter, tick);
	self.depth = 0;
	add_alone(&slots[self.slot - 1].counts[what->count]);
	return true;
}

/* What is not a launch, and launches with anything unusual about them. */
static __attribute__((noinline)) void other_callback(uint32_t domain, uint32_t id, const void *data)
{
	if (GT_CU_UNLIKELY(gt_cu_state_now() != GT_CU_READY)) {
		give_up();
		return;
	}
	if (domain - 1 < 2 && id < IDS) {
		const struct cu_call_data *call = data;

		if (GT_CU_UNLIKELY(gt_cu_options.capture))
			gt_cu_capture_call(domain, id, call);
		if (GT_CU_UNLIKELY(!ids[domain - 1][id].class))
			return; /* in a capture: enabled then, but not now */
		if (call->site)
			leave(domain, id, call);
		else
			enter(domain, id, call);
	} else if (domain == CU_DOMAIN_RESOURCE) {
		const struct cu_resource_data *resource = data;

		if (id == CU_RESOURCE_CONTEXT_CREATED)
			gt_cu_context_created(resource->context);
		else if (id == CU_RESOURCE_CONTEXT_DESTROY)
			gt_cu_context_gone(resource->context);
		else if (id == CU_RESOURCE_INIT_FINISHED)
			gt_cu_extras_late();
		else if (id == CU_RESOURCE_STREAM_CREATED)
			gt_cu_stream_made(resource->context, resource->stream);
		else if (id == CU_RESOURCE_STREAM_DESTROY)
			gt_cu_stream_gone(resource->context, resource->stream);
	} else if (domain == CU_DOMAIN_STATE && id == CU_STATE_FATAL_ERROR) {
		const struct cu_state_data *state = data;
		int ready = GT_CU_READY;

		if (__atomic_compare_exchange_n(&gt_cu_state, &ready, GT_CU_FATAL, false,
						__ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
			gt_message(1, "CUPTI has given up (%s): from here on the trace has no GPU events",
				   state->message ? state->message : gt_cu_result(state->result));
		give_up();
	}
}

GT_CU_LEAN void gt_cu_callback(void *user, uint32_t domain, uint32_t id, const void *data)
{
	(void)user;
	if (GT_CU_LIKELY(domain - 1 < 2 && id < IDS && gt_cu_state_now() == GT_CU_READY)) {
		const struct id *what = &ids[domain - 1][id];
		const struct cu_call_data *call = data;

		if (GT_CU_LIKELY(what->quick &&
				 (call->site ? quick_leave(what, domain, id, call)
					     : quick_enter(what, domain, id, call))))
			return;
	}
	other_callback(domain, id, data);
}

/* ---- which calls ----------------------------------------------------------------------------------- */

/* The first that fits the beginning of a name decides. */
static const struct rule {
	const char *prefix;
	uint8_t class, role;
} driver_rules[] = {
	{ "cuLaunchHostFunc", GT_CU_C_OTHER, GT_CU_ROLE_FUNCTION },
	{ "cuLaunch", GT_CU_C_LAUNCH, GT_CU_ROLE_FUNCTION },
	{ "cuGraphLaunch", GT_CU_C_GRAPH, GT_CU_ROLE_FUNCTION },
	{ "cuGraphInstantiate", GT_CU_C_OTHER, GT_CU_ROLE_FUNCTION },
	{ "cuMemcpy", GT_CU_C_COPY, GT_CU_ROLE_TRANSFER },
	{ "cu64Memcpy", GT_CU_C_COPY, GT_CU_ROLE_TRANSFER },
	{ "cuMemset", GT_CU_C_SET, GT_CU_ROLE_TRANSFER },
	{ "cu64Memset", GT_CU_C_SET, GT_CU_ROLE_TRANSFER },
	{ "cuCtxSynchronize", GT_CU_C_WAIT_ALL, GT_CU_ROLE_BARRIER },
	{ "cuStreamSynchronize", GT_CU_C_WAIT, GT_CU_ROLE_BARRIER },
	{ "cuEventSynchronize", GT_CU_C_WAIT, GT_CU_ROLE_BARRIER },
	{ "cuStreamQuery", GT_CU_C_POLL, GT_CU_ROLE_FUNCTION },
	{ "cuEventQuery", GT_CU_C_POLL, GT_CU_ROLE_FUNCTION },
	{ "cuStreamWaitEvent", GT_CU_C_OTHER, GT_CU_ROLE_FUNCTION },
	{ "cuEventRecord", GT_CU_C_OTHER, GT_CU_ROLE_FUNCTION },
	{ "cuMemAlloc", GT_CU_C_ALLOC, GT_CU_ROLE_ALLOCATE },
	{ "cuMemHostAlloc", GT_CU_C_ALLOC, GT_CU_ROLE_ALLOCATE },
	{ "cuMemHostRegister", GT_CU_C_ALLOC, GT_CU_ROLE_FUNCTION },
	{ "cuMemFreeAsync", GT_CU_C_OTHER, GT_CU_ROLE_DEALLOCATE },
	{ "cuMemFree", GT_CU_C_FREE, GT_CU_ROLE_DEALLOCATE },
	{ "cuArrayCreate", GT_CU_C_ALLOC, GT_CU_ROLE_ALLOCATE },
	{ "cuArrayDestroy", GT_CU_C_FREE, GT_CU_ROLE_DEALLOCATE },
	{ "cuMemPrefetchAsync", GT_CU_C_OTHER, GT_CU_ROLE_FUNCTION },
	{ "cuModuleLoad", GT_CU_C_OTHER, GT_CU_ROLE_FUNCTION },
	{ "cuLibraryLoad", GT_CU_C_OTHER, GT_CU_ROLE_FUNCTION },
	{ "cuStreamBeginCapture", GT_CU_C_CAPTURE_BEGIN, GT_CU_ROLE_FUNCTION },
	{ "cuStreamEndCapture", GT_CU_C_CAPTURE_END, GT_CU_ROLE_FUNCTION },
	{ "cuStreamCreate", GT_CU_C_OTHER, GT_CU_ROLE_FUNCTION },
	{ "cuStreamDestroy", GT_CU_C_OTHER, GT_CU_ROLE_FUNCTION },
	{ "cuCtxCreate", GT_CU_C_OTHER, GT_CU_ROLE_FUNCTION },
	{ "cuCtxDestroy", GT_CU_C_OTHER, GT_CU_ROLE_FUNCTION },
};
static const struct rule runtime_rules[] = {
	{ "cudaLaunchHostFunc", GT_CU_C_OTHER, GT_CU_ROLE_FUNCTION },
	{ "cudaLaunch", GT_CU_C_LAUNCH, GT_CU_ROLE_FUNCTION },
	{ "__cudaLaunch", GT_CU_C_LAUNCH, GT_CU_ROLE_FUNCTION },
	{ "cudaGraphLaunch", GT_CU_C_GRAPH, GT_CU_ROLE_FUNCTION },
	{ "cudaGraphInstantiate", GT_CU_C_OTHER, GT_CU_ROLE_FUNCTION },
	{ "cudaMemcpy", GT_CU_C_COPY, GT_CU_ROLE_TRANSFER },
	{ "cudaMemset", GT_CU_C_SET, GT_CU_ROLE_TRANSFER },
	{ "cudaDeviceSynchronize", GT_CU_C_WAIT_ALL, GT_CU_ROLE_BARRIER },
	{ "cudaThreadSynchronize", GT_CU_C_WAIT_ALL, GT_CU_ROLE_BARRIER },
	{ "cudaStreamSynchronize", GT_CU_C_WAIT, GT_CU_ROLE_BARRIER },
	{ "cudaEventSynchronize", GT_CU_C_WAIT, GT_CU_ROLE_BARRIER },
	{ "cudaStreamQuery", GT_CU_C_POLL, GT_CU_ROLE_FUNCTION },
	{ "cudaEventQuery", GT_CU_C_POLL, GT_CU_ROLE_FUNCTION },
	{ "cudaStreamWaitEvent", GT_CU_C_OTHER, GT_CU_ROLE_FUNCTION },
	{ "cudaEventRecord", GT_CU_C_OTHER, GT_CU_ROLE_FUNCTION },
	{ "cudaMalloc", GT_CU_C_ALLOC, GT_CU_ROLE_ALLOCATE },
	{ "cudaHostAlloc", GT_CU_C_ALLOC, GT_CU_ROLE_ALLOCATE },
	{ "cudaHostRegister", GT_CU_C_ALLOC, GT_CU_ROLE_FUNCTION },
	{ "cudaFreeAsync", GT_CU_C_OTHER, GT_CU_ROLE_DEALLOCATE },
	{ "cudaFree", GT_CU_C_FREE, GT_CU_ROLE_DEALLOCATE },
	{ "cudaMemPrefetchAsync", GT_CU_C_OTHER, GT_CU_ROLE_FUNCTION },
	{ "cudaStreamBeginCapture", GT_CU_C_CAPTURE_BEGIN, GT_CU_ROLE_FUNCTION },
	{ "cudaStreamEndCapture", GT_CU_C_CAPTURE_END, GT_CU_ROLE_FUNCTION },
	{ "cudaStreamCreate", GT_CU_C_OTHER, GT_CU_ROLE_FUNCTION },
	{ "cudaStreamDestroy", GT_CU_C_OTHER, GT_CU_ROLE_FUNCTION },
	{ "cudaDeviceReset", GT_CU_C_OTHER, GT_CU_ROLE_FUNCTION },
};

/* The name without what tells versions and kinds of default stream apart. */
static void plain_name(const char *name, char *plain, size_t size)
{
	size_t n = strlen(name);
	bool cut = true;

	while (cut) {
		size_t digits = n;

		cut = false;
		while (digits && name[digits - 1] >= '0' && name[digits - 1] <= '9')
			digits--;
		if (digits < n && digits >= 2 && name[digits - 1] == 'v' && name[digits - 2] == '_') {
			n = digits - 2;
			cut = true;
		}
		if (n > 5 && (!strncmp(name + n - 5, "_ptsz", 5) || !strncmp(name + n - 5, "_ptds", 5))) {
			n -= 5;
			cut = true;
		}
	}
	snprintf(plain, size, "%.*s", (int)n, name);
}

static gt_ref region_of(const char *plain, uint32_t domain, unsigned role)
{
	const struct gt_region_info info = {
		.bytes = sizeof(info),
		.name = plain,
		.group = domain == CU_DOMAIN_DRIVER ? "CUDRV_API" : "CUDART_API",
		.role = (uint8_t)role,
		.paradigm = GT_CU_PARADIGM,
	};

	return gt_def_region(&info);
}

static void consider(uint32_t domain, uint32_t id, const char *name)
{
	const struct rule *rules = domain == CU_DOMAIN_DRIVER ? driver_rules : runtime_rules;
	size_t n = domain == CU_DOMAIN_DRIVER ? sizeof(driver_rules) / sizeof(driver_rules[0])
					      : sizeof(runtime_rules) / sizeof(runtime_rules[0]);
	struct id *what = &ids[domain - 1][id];
	char plain[128];

	for (size_t i = 0; i < n; i++) {
		if (strncmp(name, rules[i].prefix, strlen(rules[i].prefix)))
			continue;
		/* One pair of callbacks for a launch, not two: the driver's sees all of them. */
		if (domain == CU_DOMAIN_RUNTIME && rules[i].class == GT_CU_C_LAUNCH &&
		    !gt_cu_options.launch_calls)
			return;
		what->class = rules[i].class;
		what->count = what->class == GT_CU_C_LAUNCH  ? COUNT_LAUNCHES
			      : what->class == GT_CU_C_GRAPH ? COUNT_GRAPHS
							     : COUNT_OTHERS;
		gt_cu_capture_name(domain, id, name);
		plain_name(name, plain, sizeof(plain));
		/* Driver calls of the program's own are shown with the runtime's, too. */
		if (gt_cu_options.runtime || (domain == CU_DOMAIN_DRIVER && gt_cu_options.driver))
			what->region = region_of(plain, domain, rules[i].role);
		what->quick = what->region && !gt_cu_options.capture &&
			      (what->class == GT_CU_C_LAUNCH || what->class == GT_CU_C_GRAPH ||
			       what->class == GT_CU_C_COPY || what->class == GT_CU_C_SET);
		return;
	}
}

const char *gt_cu_calls_setup(void)
{
	void *p;

	if (hot.calls)
		return NULL;
	p = mmap(NULL, ENTRIES * sizeof(*hot.calls), PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED)
		return "no memory";
	hot.calls = p;
	hot.correlation = gt_cu_refs.correlation;
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

unsigned gt_cu_calls_enable(void *subscriber)
{
	unsigned n = 0;

	for (uint32_t domain = CU_DOMAIN_DRIVER; domain <= CU_DOMAIN_RUNTIME; domain++)
		for (uint32_t id = 1; id < IDS; id++) {
			struct id *what = &ids[domain - 1][id];

			if (!what->class)
				continue;
			what->enabled = !gt_cu_api.enable_callback(1, subscriber, domain, id);
			n += what->enabled;
		}
	return n;
}
