/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * VT_CUPTI_KERNEL: metrics of single kernels (replay) or of the program's own ranges (user).
 *
 * replay: a launch that is selected is bracketed by Start and Stop of CUPTI's range profiler in the
 * callbacks of its call. CUPTI runs the kernel alone, once for each pass, and puts memory back in
 * between; when the call returns it is over. CUPTI's record of the kernel has no times then: it gets
 * those that were measured, and the values. It would also hold all later records back until CUPTI is
 * made to deliver what is not complete, which is done here, while the context is idle.
 *
 * user: from the range's begin to its end the counters run. A pass is one time through the range, so a
 * set of several passes needs the range several times; meanwhile no other range is measured. Kernels are
 * recorded one at a time while a range is measured, for CUPTI's usual way to time them adds instructions
 * to them. Nobody waits for a range, which may be as long as the program and wait for other threads: what
 * begins meanwhile is passed over, and a context that is made meanwhile is looked at when it has a range.
 *
 * Invariant: each selected launch or range that is recorded has values, or is counted (gt_lost, the
 * property CUDA_EXACT_MISSED).
 *
 * Limits: one measurement at a time in a process. Launches of other threads wait for a replay that is
 * going on, GATE_MS at most: then nothing is measured any more. Graphs, and launches while anything is
 * being captured, are not replayed. Of one device the counters are one context's at a time: a change of
 * contexts costs 0.2 s.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/cuda.h"
#include "cuda/hooks.h"
#include "cuda/counters/counting.h"
#include "cuda/counters/exact.h"
#include "accel/wait.h"
#include "cuda/counters/select.h"
#include "gputrace/syscall.h"

#define RESULTS  1024u
#define GATE_MS  60000u
#define GONE_MS  2000u /* a context goes that another thread may be measuring, or calling CUPTI for */

static bool wanted;
static uint32_t gate;      /* correlation id of the launch, or 1, while something is measured; futex */
static uint32_t calling;   /* user: 1 while CUPTI is called, which is short beside a range; futex */
static GT_TLS bool mine;   /* this thread measures */
static GT_TLS uint32_t depth; /* ranges inside of the one that is measured */
static struct gt_cu_session *running; /* of who is in the gate */
static uint64_t begun;     /* ticks */
static char target[256];   /* the range whose passes are under way; "": none */
static uint64_t target_times;
static bool over;          /* atomic: nothing is measured any more */
static bool ranges;        /* atomic: there was one */
static uint64_t measured, missed, passed_over, graphs, captured, contextless; /* atomic */

static struct result {
	uint32_t correlation; /* atomic; 0: free */
	struct gt_cu_measured what;
} results[RESULTS];

static bool is_on(void)
{
	return wanted && gt_cu_state_now() == GT_CU_READY && !__atomic_load_n(&over, __ATOMIC_RELAXED);
}

static void miss(void)
{
	gt_cu_count_shared(&missed, 1);
	gt_lost(GT_LOSS_METRIC, 1);
}

/* ---- one at a time ----------------------------------------------------------------------------------- */

static void stop_all(const char *why)
{
	if (!__atomic_exchange_n(&over, true, __ATOMIC_RELAXED))
		gt_message(1, "no more metrics of single kernels: %s", why);
}

/* Waits until nobody has the gate, or CUPTI. False: it takes too long. */
static bool wait_free(uint32_t *word, unsigned limit_ms)
{
	uint64_t end = gt_monotonic() / 1000000 + limit_ms;
	uint32_t now;

	while ((now = __atomic_load_n(word, __ATOMIC_ACQUIRE)) != 0) {
		if (!is_on() || gt_monotonic() / 1000000 >= end)
			return false;
		gt_accel_wait(word, now, 100);
	}
	return true;
}

static bool take(uint32_t *word, uint32_t who, unsigned limit_ms)
{
	uint32_t nobody = 0;

	while (!__atomic_compare_exchange_n(word, &nobody, who, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
		if (!wait_free(word, limit_ms))
			return false;
		nobody = 0;
	}
	return true;
}

static void give(uint32_t *word)
{
	__atomic_store_n(word, 0, __ATOMIC_RELEASE); /* pairs with wait_free() and take() */
	gt_raw(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

static bool enter_gate(uint32_t who, unsigned limit_ms)
{
	if (!take(&gate, who, limit_ms))
		return false;
	mine = true;
	return true;
}

static void leave_gate(void)
{
	mine = false;
	running = NULL;
	give(&gate);
}

/* user: who has the gate has it as long as a range. */
static bool begin_calls(void)
{
	bool free = take(&calling, 1, GONE_MS);

	if (!free && is_on())
		stop_all("CUPTI does not answer");
	return free;
}

/* ---- contexts ---------------------------------------------------------------------------------------- */

static void context_made(void *context)
{
	bool user = gt_cu_options.exact == GT_CU_EXACT_USER, entered;

	if (!is_on())
		return;
	entered = !mine && enter_gate(1, user ? 0 : GATE_MS);
	if ((entered || mine) && (!user || begin_calls())) {
		gt_cu_session_add(context);
		if (user)
			give(&calling);
	}
	if (entered)
		leave_gate();
}

/* If it is measured this ends here. */
static void end_session(void *context)
{
	struct gt_cu_session *s = gt_cu_session_of(context, false);

	if (!s)
		return;
	if (gt_cu_session_waits(s))
		target[0] = '\0';
	gt_cu_session_end(s, running == s);
	if (running == s)
		running = NULL;
}

/* Nobody waits for the range of another thread: begin_calls(). */
static void context_gone(void *context)
{
	bool user = gt_cu_options.exact == GT_CU_EXACT_USER, entered;

	if (!gt_cu_session_of(context, false) || !is_on())
		return;
	if (user && !begin_calls())
		return;
	entered = !user && !mine && enter_gate(1, GONE_MS);
	gt_guard();
	end_session(context);
	gt_unguard();
	if (entered)
		leave_gate();
	if (user)
		give(&calling);
}

/* ---- launches ---------------------------------------------------------------------------------------- */

static void begin_launch(const struct cu_call_data *call)
{
	struct gt_cu_session *s;

	if (!enter_gate(call->correlation, GATE_MS)) {
		stop_all("a replay did not end within a minute");
		miss();
		return;
	}
	gt_guard();
	s = gt_cu_session_of(call->context, true);
	if (s && !gt_cu_session_start(s, NULL)) {
		running = s;
		begun = gt_now();
	}
	gt_unguard();
	if (!running) {
		leave_gate();
		miss();
	}
}

static void launch(const struct cu_call_data *call, bool graph, bool active)
{
	if (!is_on() || mine)
		return;
	if (__atomic_load_n(&gt_cu_hot.now.capturing, __ATOMIC_RELAXED)) {
		gt_cu_count_shared(&captured, !graph);
		return;
	}
	gt_cu_count_shared(&graphs, graph);
	if (!graph && call->symbol && gt_cu_select_next(call->symbol) && active)
		begin_launch(call);
	else if (!wait_free(&gate, GATE_MS) && is_on())
		stop_all("a replay did not end within a minute");
}

/* For the reader of records. The kernel was over when its call was, and lasted as long as the device says. */
static void put_result(struct gt_cu_session *s, uint32_t correlation, bool complete)
{
	struct result *r = &results[correlation % RESULTS];
	uint64_t now = gt_cu_clock_now(), ns = 0;
	int rc = !complete;

	__atomic_store_n(&r->correlation, 0, __ATOMIC_SEQ_CST);
	r->what.count = 0;
	r->what.plan = NULL;
	r->what.begin = begun;
	r->what.end = gt_cu_ticks(now);
	if (complete)
		rc = gt_cu_session_values(s, &r->what, &ns);
	if (ns && gt_cu_ticks(now - ns) > begun)
		r->what.begin = gt_cu_ticks(now - ns);
	if (r->what.end < r->what.begin)
		r->what.end = r->what.begin;
	gt_cu_count_shared(&measured, !rc);
	if (rc)
		miss();
	__atomic_store_n(&r->correlation, correlation, __ATOMIC_RELEASE); /* pairs with take_result() */
}

static bool is_of(uint32_t correlation)
{
	return mine && correlation && __atomic_load_n(&gate, __ATOMIC_RELAXED) == correlation;
}

static void launched(const struct cu_call_data *call)
{
	bool failed = call->result && *(const int *)call->result, complete = false;

	if (!is_of(call->correlation))
		return;
	if (gt_cu_state_now() == GT_CU_READY && running) {
		gt_guard();
		gt_cu_session_stop(running, false, &complete);
		if (!failed)
			put_result(running, call->correlation, complete);
		gt_cu_api.flush(CU_FLUSH_FORCED);
		gt_unguard();
	}
	leave_gate();
}

static void abandoned(uint32_t correlation)
{
	if (!is_of(correlation))
		return;
	if (gt_cu_state_now() == GT_CU_READY && running)
		gt_cu_session_drop(running);
	miss();
	leave_gate();
}

static bool take_result(uint32_t correlation, uint64_t ns, struct gt_cu_measured *m)
{
	struct result *r = &results[correlation % RESULTS];

	if (!correlation || __atomic_load_n(&r->correlation, __ATOMIC_ACQUIRE) != correlation)
		return false;
	*m = r->what;
	if (!__atomic_compare_exchange_n(&r->correlation, &correlation, 0, false, __ATOMIC_SEQ_CST,
					 __ATOMIC_RELAXED))
		return false;
	gt_cu_counts_evaluate(m, ns);
	return true;
}

/* Records the values at a place; NULL: this thread's, now. */
static void record_values(const struct gt_cu_measured *m, struct gt_location *location, uint64_t tick)
{
	uint64_t data[GT_CU_METRICS + 2] = { m->count };
	unsigned row = 0;

	memcpy(&data[1], m->values, m->count * sizeof(*data));
	while (row < m->count && m->refs[row] && m->refs[row] == m->refs[0] + row)
		row++;
	if (row == m->count && location) {
		gt_location_record(location, GT_T_METRICS, m->refs[0], data, (1 + m->count + 1) / 2, tick);
	} else if (row == m->count) {
		gt_record(GT_T_METRICS, m->refs[0], data, (1 + m->count + 1) / 2);
	} else {
		for (unsigned i = 0; i < m->count; i++) {
			const uint64_t one[2] = { m->values[i], 0 };

			if (location)
				gt_location_record(location, GT_T_METRIC, m->refs[i], one, 1, tick);
			else
				gt_record(GT_T_METRIC, m->refs[i], one, 1);
		}
	}
}

static struct gt_cu_measured taken; /* the reading thread's: of the kernel whose record it reads */

static bool take_kernel(uint32_t correlation, uint64_t ns, uint64_t *begin, uint64_t *end)
{
	if (!take_result(correlation, ns, &taken))
		return false;
	*begin = taken.begin;
	*end = taken.end;
	return true;
}

static void record_taken(struct gt_location *location, uint64_t tick)
{
	if (taken.count)
		record_values(&taken, location, tick);
}

/* ---- ranges ------------------------------------------------------------------------------------------ */

/* The context of this thread; NULL: none. */
static void *context_here(void)
{
	static int (*get)(void **);
	static bool tried;
	void *driver, *symbol, *context = NULL;

	if (!tried) {
		driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
		symbol = driver ? dlsym(driver, "cuCtxGetCurrent") : NULL;
		memcpy(&get, &symbol, sizeof(get));
		if (driver)
			dlclose(driver);
		tried = true;
	}
	return get && !get(&context) ? context : NULL;
}

/* In the gate, as the only one to call CUPTI. */
static void begin_range(const char *name)
{
	void *context = context_here();
	struct gt_cu_session *s;
	bool other = target[0] && strncmp(target, name, sizeof(target) - 1) != 0;

	if (context && !gt_cu_session_of(context, false))
		gt_cu_session_add(context);
	s = gt_cu_session_of(context, true);
	gt_cu_count_shared(&contextless, !s);
	gt_cu_count_shared(&passed_over, s && other);
	if (!s || other)
		return;
	if (gt_cu_session_start(s, name)) {
		target[0] = '\0';
		miss();
		return;
	}
	running = s;
	snprintf(target, sizeof(target), "%s", name);
}

static void range_begins(const char *name)
{
	bool measuring = false;

	if (mine) {
		depth++;
		return;
	}
	if (!is_on() || !gt_active())
		return;
	__atomic_store_n(&ranges, true, __ATOMIC_RELAXED);
	if (!gt_cu_select_next(name))
		return;
	if (!enter_gate(1, 0)) { /* another thread's is open */
		gt_cu_count_shared(&passed_over, 1);
		return;
	}
	gt_guard();
	if (begin_calls()) {
		begin_range(name);
		measuring = running != NULL; /* before another thread ends its context */
		give(&calling);
	}
	gt_unguard();
	if (!measuring)
		leave_gate();
}

/* A time through the range is over. False: there are no values, or not yet. */
static bool end_pass(struct gt_cu_session *s, struct gt_cu_measured *m)
{
	bool complete;
	uint64_t ns;
	int rc = gt_cu_session_stop(s, true, &complete);

	running = NULL;
	target_times++;
	if (gt_cu_session_waits(s))
		return false;
	target[0] = '\0';
	target_times = 0;
	if (!rc)
		rc = gt_cu_session_values(s, m, &ns);
	gt_cu_count_shared(&measured, !rc);
	if (rc)
		miss();
	return !rc;
}

static void range_ends(void)
{
	struct gt_cu_measured m;
	bool complete = false, alone;

	if (!mine)
		return;
	if (depth) {
		depth--;
		return;
	}
	gt_guard();
	alone = is_on() && begin_calls();
	if (alone && running)
		complete = end_pass(running, &m);
	else
		miss();
	if (alone)
		give(&calling);
	gt_unguard();
	leave_gate();
	if (!complete)
		return;
	gt_cu_counts_evaluate(&m, 0);
	record_values(&m, NULL, 0);
}

/* For each range that it measures CUPTI launches a kernel of its own (13.0). */
static bool is_cuptis(const char *kernel)
{
	bool it_is = !strcmp(kernel, "WaitNs");

	gt_cu_count(&gt_cu_counts.cuptis, it_is);
	return it_is;
}

/* ---- all --------------------------------------------------------------------------------------------- */

static bool is_set(const char *name)
{
	const char *value = gt_setting(name);

	return value && *value;
}

/* Regions of the user API are ranges, too. */
static void watch_user(void)
{
	static const struct gt_user_watch watch = { .bytes = sizeof(watch), .wanted = gt_cu_select_fits,
						    .enter = range_begins, .leave = range_ends };

	if (gt_user_watch(&watch))
		gt_message(1, "VT_CUPTI_KERNEL=user: ranges of the user API are not measured: another "
			      "adapter watches them");
}

static void number(const char *name, uint64_t value)
{
	char key[40], text[24];

	snprintf(key, sizeof(key), "cuda:exact_%s", name);
	snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
	gt_def_property(key, text);
}

static void unused(const char *pattern, const char *near)
{
	const char *what = gt_cu_options.exact == GT_CU_EXACT_USER ? "range" : "kernel that was launched";

	if (near)
		gt_message(1, "VT_CUPTI_KERNELS: no %s matches %s; did you mean %s?", what, pattern, near);
	else
		gt_message(1, "VT_CUPTI_KERNELS: no %s matches %s", what, pattern);
}

static void account(bool last)
{
	if (!wanted)
		return;
	number("without_value", gt_cu_counts_without_value());
	number("measured", measured);
	number("missed", missed);
	number("passed_over", passed_over);
	number("cuptis", gt_cu_counts.cuptis);
	number("graphs", graphs);
	number("captured", captured);
	if (!last)
		return;
	gt_cu_select_unused(unused);
	if (gt_cu_options.exact == GT_CU_EXACT_USER && !ranges && !is_set("VT_CUPTI_KERNELS"))
		gt_message(1, "VT_CUPTI_KERNEL=user measures nothing: the program began no range (NVTX, "
			      "VT_USER_START) after CUDA had started");
	if (graphs + captured)
		gt_message(1, "VT_CUPTI_KERNEL=replay: %llu launches of graphs and %llu launches while "
			      "streams were captured have no metrics: CUPTI replays single kernels",
			   (unsigned long long)graphs, (unsigned long long)captured);
	if (contextless)
		gt_message(1, "VT_CUPTI_KERNEL=user: %llu ranges began where no CUDA context was current: "
			      "they have no metrics", (unsigned long long)contextless);
	if (target[0])
		gt_message(1, "VT_CUPTI_KERNEL=user: the range %s occurred %llu times, and its "
			      "metrics need more passes: use fewer metrics",
			   target, (unsigned long long)target_times);
	if (passed_over)
		gt_message(1, "VT_CUPTI_KERNEL=user: %llu times a range began while another was measured, or "
			      "still needed passes: it has no metrics there",
			   (unsigned long long)passed_over);
	if (gt_cu_counts_without_value())
		gt_message(1, "VT_CUPTI_KERNEL: %llu values are left out: a counter overflowed, or CUPTI "
			      "could not compute them", (unsigned long long)gt_cu_counts_without_value());
	if (missed)
		gt_message(1, "VT_CUPTI_KERNEL: %llu of those selected have no metrics",
			   (unsigned long long)missed);
}

static void forked(void)
{
	gt_cu_counting_forked();
	wanted = mine = false;
	gate = calling = 0;
}

static bool is_waiting(void)
{
	return gt_cu_older && gt_cu_older->waiting();
}

static void hook(void)
{
	static struct gt_cu_hooks hooks = { .ours = is_waiting, .context = context_made,
					    .context_gone = context_gone, .account = account,
					    .forked = forked };

	if (gt_cu_options.exact == GT_CU_EXACT_REPLAY) {
		hooks.launch = launch;
		hooks.launched = launched;
		hooks.abandoned = abandoned;
		hooks.kernel = take_kernel;
		hooks.values = record_taken;
	} else {
		hooks.range = range_begins;
		hooks.range_over = range_ends;
		hooks.hides = is_cuptis;
		watch_user();
	}
	gt_cu_hooks_add(&hooks);
}

void gt_cu_exact_setup(void)
{
	const char *list = gt_setting("VT_CUPTI_KERNELS");
	const char *way = gt_cu_options.exact == GT_CU_EXACT_USER ? "user" : "replay";
	unsigned wrong;

	if (!gt_cu_options.exact)
		return;
	if (!is_set("VT_CUPTI_METRICS") && !is_set("VT_CUPTI_METRICS_SPEC"))
		gt_message(1, "VT_CUPTI_KERNEL=%s measures nothing: VT_CUPTI_METRICS names no metrics", way);
	else if (!gt_cu_options.kernel)
		gt_message(1, "VT_CUPTI_KERNEL=%s measures nothing: VT_GPUTRACE excludes kernels", way);
	else
		wanted = gt_cu_counting_setup();
	wrong = wanted ? gt_cu_select_read(list ? list : "") : 0;
	if (wrong)
		gt_message(1, "VT_CUPTI_KERNELS: %u word%s not understood and left out (a pattern, or "
			      "PATTERN:N, PATTERN:N-M, PATTERN:N-)", wrong, wrong == 1 ? " is" : "s are");
	if (wanted)
		hook();
}
