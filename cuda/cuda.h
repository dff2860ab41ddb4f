/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Declarations shared by the parts of the CUDA adapter.
 *
 * In layers: a file needs only those above it.
 *
 *   accel/     what accelerators of all makes share: records, the table of calls, threads of ours
 *   api.c      CUPTI's functions; options.c VT_GPUTRACE; state.c what all parts share
 *   clock.c    CUPTI's time <-> ticks; capture.c VT_CUPTI_CAPTURE
 *   contexts.c the contexts that live; devices.c which device a number means
 *   align.c    how well the device's clock and ours agree
 *   streams.c   contexts and streams -> location groups and locations
 *   kernels.c  kernels and copies -> regions
 *   implicit.c calls that wait implicitly; extras.c records on request (VT_GPUTRACE)
 *   hooks.h    who is called when counters or samples are asked for
 *   rules.c    which calls are of which kind
 *   calls.c    API callbacks on the program's threads -> regions, and entries of the table
 *   buffers.c  CUPTI's activity buffers: handed out, taken back, queued
 *   records.c  activity records -> events of streams and of the threads that caused them
 *   account.c  what happened to every call and record
 *   worker.c   our two threads: one reads the buffers, one makes CUPTI flush them
 *   profiler.c CUPTI's profiler, sets of metrics; elect.c which process uses a device's counters
 *   samples/   of instructions, and their cubins: VT_CUPTI_PCSAMPLING, VT_CUPTI_SASS
 *   legacy/    CUPTI's events, for GPUs that its profiler does not know
 *   counters/  metrics.c which are wanted; list.c `gputrace info`; sampler.c samples of whole devices;
 *              select.c which kernels are measured one by one, counting.c sessions, exact.c when
 *   nvtx.c     ranges, marks and names by NVTX
 *   life.c     start, end, fork
 *
 * Limits: the core is known through adapter.h only. What runs on the program's threads (calls.c, the
 * request and completion of buffers) takes no lock and no memory; the rest is on our own threads.
 */
#ifndef GT_CUDA_H
#define GT_CUDA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cuda/abi.h"
#include "cuda/api.h"
#include "accel/accel.h"
#include "gputrace/call.h"
#include "gputrace/hash.h"

/* Functions that run at each launch: aligned to a cache line, without a stack canary. */
#if defined(__has_attribute)
#if __has_attribute(no_stack_protector)
#define GT_CU_LEAN __attribute__((aligned(64), no_stack_protector))
#endif
#endif
#ifndef GT_CU_LEAN
#define GT_CU_LEAN __attribute__((aligned(64)))
#endif
#define GT_CU_RARE __attribute__((noinline, cold))

/* ---- options (options.c) ----------------------------------------------------------------------- */

enum { GT_CU_EXACT_NO = 0, GT_CU_EXACT_REPLAY, GT_CU_EXACT_USER };

struct gt_cu_options {
	bool on;           /* VT_GPUTRACE is not "no" */
	bool runtime, driver;
	bool launch_calls; /* runtime was asked for by name: its launches, too */
	bool kernel, memcpy;
	bool idle, pure_idle;
	bool sync, memusage, overhead, error, unified;
	bool stream_reuse; /* a new stream takes the location of one that is gone */
	bool host_idle;    /* VT_GPUTRACE_SYNC: waits inside of copies ... */
	bool free_idle;    /* ... and of cudaFree and similar calls */
	bool missing_free; /* VT_GPUTRACE_MEMUSAGE=2 */
	int kernel_detail; /* VT_GPUTRACE_KERNEL: 0, 1, 2 */
	bool graph_level;  /* VT_CUDA_GRAPHS=graph */
	bool rma;          /* VT_GPU_TRANSFERS=rma */
	bool pc, pc_serialized; /* VT_CUPTI_PCSAMPLING */
	bool sass;              /* VT_CUPTI_SASS */
	unsigned pc_period;     /* a power of 2, in cycles */
	uint8_t exact;          /* VT_CUPTI_KERNEL: GT_CU_EXACT_... */
	size_t buffer_bytes;
	unsigned flush_ms;
	unsigned finish_ms; /* VT_CUDATRACE_FINISH */
	const char *capture; /* folder, or NULL */
	bool replay;         /* pointers in records are not of this process */
};
extern GT_HIDDEN struct gt_cu_options gt_cu_options;
GT_HIDDEN void gt_cu_options_read(void);
/* Reports the counters that were requested in vain because CUDA is not recorded. */
GT_HIDDEN void gt_cu_options_say_ignored(void);
/* The list of VT_GPUTRACE. Words that are not known are reported through `complain`. */
GT_HIDDEN void gt_cu_options_parse(const char *list, struct gt_cu_options *options,
				   void (*complain)(const char *word));

/* ---- state (state.c) ---------------------------------------------------------------------------- */

enum gt_cu_state {
	GT_CU_COLD = 0,
	GT_CU_READY,
	GT_CU_ENDED,   /* the process is ending: nothing is recorded any more */
	GT_CU_FATAL,   /* CUPTI gave up: what is queued is still read */
	GT_CU_STILL,   /* without our threads: calls are recorded, what the device did is lost */
	GT_CU_CHILD,   /* a forked child: CUPTI is never called here again */
	GT_CU_OFF,
};

/* Data that each launch reads, in one cache line. */
struct gt_cu_hot {
	struct gt_accel_call *calls; /* by correlation id modulo their number */
	union {
		struct {
			uint32_t state;     /* enum gt_cu_state; atomic */
			uint32_t capturing; /* streams that are being captured; atomic */
		};
		uint64_t both;      /* GT_CU_READY: nothing unusual (little endian) */
	} now;
	uint64_t tag;             /* of the attribute, without the value */
	const unsigned *filtered; /* of gt_call_prepare() */
	uint64_t pad[4];
} __attribute__((aligned(64)));
extern GT_HIDDEN struct gt_cu_hot gt_cu_hot;

static inline enum gt_cu_state gt_cu_state_now(void)
{
	return (enum gt_cu_state)__atomic_load_n(&gt_cu_hot.now.state, __ATOMIC_ACQUIRE);
}

static inline void gt_cu_state_set(enum gt_cu_state state)
{
	/* Pairs with gt_cu_state_now(). */
	__atomic_store_n(&gt_cu_hot.now.state, (uint32_t)state, __ATOMIC_RELEASE);
}

extern GT_HIDDEN uint32_t gt_cu_version;

/* ---- definitions that all parts use ----------------------------------------------------- */

struct gt_cu_refs {
	gt_ref calls;       /* parameter: how many calls a merged region stands for */
	gt_ref result;      /* attribute: error of a call that failed */
	gt_ref stream;      /* attribute: CUPTI's number of the stream */
	gt_ref graph_node, graph; /* attributes */
	gt_ref grid;        /* attribute; GT_NONE until the program keeps times of blocks */
	gt_ref host_idle;   /* region */
	gt_ref overhead;    /* group of regions is made on demand */
};
extern GT_HIDDEN struct gt_cu_refs gt_cu_refs;

/* ---- counters: what happened to every record ------------------------------------------------------- */

struct gt_cu_counts {
	/* seen by callbacks; any thread */
	uint64_t launches;        /* that returned success */
	uint64_t captured;        /* of these, while some stream was being captured into a graph */
	uint64_t graph_launches;
	uint64_t errors;          /* calls that failed */
	uint64_t scratch;         /* buffers that had to be thrown away */
	uint64_t refused;         /* requests for a buffer that could not be met */
	uint64_t unfinished;      /* calls whose end was not reported */
	uint64_t pad[1];          /* a cache line */
	/* records; the reading thread */
	uint64_t records, kernels, graph_kernels, copies, sets, graphs, others;
	uint64_t unknown;         /* of a kind that nobody asked for */
	uint64_t zero_time, early, late;
	uint64_t no_parent;       /* no API call is known for it */
	uint64_t off;             /* its call came while recording was switched off */
	uint64_t dropped;         /* by CUPTI */
	uint64_t no_location;        /* no location for the stream */
	uint64_t capture_kernels; /* kernels of calls that came while something was captured */
	uint64_t cuptis;          /* kernels of CUPTI's own */
	uint64_t clamped;         /* waits of the host cut at the borders of their call */
};
extern GT_HIDDEN struct gt_cu_counts gt_cu_counts;

/* From the reading thread. */
static inline void gt_cu_count(uint64_t *counter, uint64_t n)
{
	__atomic_store_n(counter, __atomic_load_n(counter, __ATOMIC_RELAXED) + n, __ATOMIC_RELAXED);
}

/* From any thread: the counters that say so. */
static inline void gt_cu_count_shared(uint64_t *counter, uint64_t n)
{
	__atomic_fetch_add(counter, n, __ATOMIC_RELAXED);
}

/* ---- clock (clock.c) ------------------------------------------------------------------------------- */

/* Registers the timestamp callback, or prepares the fallback. */
GT_HIDDEN void gt_cu_clock_setup(void);
/* A reading of both clocks for the fallback; from the flushing thread. */
GT_HIDDEN void gt_cu_clock_note(void);
/* CUPTI's time in ticks; 0 stays 0. */
GT_HIDDEN uint64_t gt_cu_ticks(uint64_t ns);
/* A number of ticks in nanoseconds. */
GT_HIDDEN uint64_t gt_cu_ns(uint64_t ticks);
/* The present time as CUPTI has it. */
GT_HIDDEN uint64_t gt_cu_clock_now(void);
/* For tests and replay: ticks are nanoseconds, and so is CUPTI's time. */
GT_HIDDEN void gt_cu_clock_identity(void);

/* Flags of calls in the table: class, GT_CU_CALL_*. */
#define GT_CU_CALL_OFF      0x100u  /* recording was switched off */
#define GT_CU_CALL_REGION   0x200u  /* the call is a region in the trace */
#define GT_CU_CALL_CAPTURE  0x400u  /* a stream was being captured */
#define GT_CU_CALL_IDLE     0x800u  /* its wait has been written */

/* ---- calls (calls.c) ------------------------------------------------------------------------------- */

enum gt_cu_class {
	GT_CU_C_NONE = 0,
	GT_CU_C_LAUNCH,
	GT_CU_C_GRAPH,      /* launches a graph */
	GT_CU_C_COPY,
	GT_CU_C_SET,
	GT_CU_C_WAIT,       /* for a stream or event */
	GT_CU_C_WAIT_ALL,   /* for a device or context */
	GT_CU_C_ALLOC,
	GT_CU_C_FREE,       /* waits for the device, too */
	GT_CU_C_POLL,       /* cudaEventQuery and the like */
	GT_CU_C_CAPTURE_BEGIN,
	GT_CU_C_CAPTURE_END,
	GT_CU_C_STREAM_GONE,
	GT_CU_C_OTHER,
};

/* What calls are whose names begin so (rules.c). NULL: not recorded. */
struct gt_cu_rule {
	const char *prefix;
	uint8_t class, role; /* enum gt_cu_class; OTF2's role of the region */
};
GT_HIDDEN const struct gt_cu_rule *gt_cu_rule_of(uint32_t domain, const char *name);
/* The name without what tells versions and kinds of default stream apart. */
GT_HIDDEN void gt_cu_plain_call(const char *name, char *plain, size_t size);

/* The subscriber's function. */
GT_HIDDEN void gt_cu_callback(void *user, uint32_t domain, uint32_t id, const void *data);
/* Makes the table of calls and of callback ids. 0, or why not. */
GT_HIDDEN const char *gt_cu_calls_setup(void);
/* Enables the callbacks that the options ask for. Returns how many; failures are reported. */
GT_HIDDEN unsigned gt_cu_calls_enable(void *subscriber);
/* Has the calling thread made calls, or is it the program's first? */
GT_HIDDEN bool gt_cu_calls_own_thread(void);
/* In a forked child: the thread is in no call any more. */
GT_HIDDEN void gt_cu_calls_forked(void);
GT_HIDDEN bool gt_cu_calls_jump(const void *stack); /* gt_adapter.jumps */
/* How many calls there were that may have made records. */
GT_HIDDEN uint64_t gt_cu_calls_seen(void);
/* Records counted as lost because nobody would read them (GT_CU_STILL) will be read. */
GT_HIDDEN void gt_cu_calls_restart(void);

/* ---- buffers (buffers.c) ----------------------------------------------------------------------------- */

GT_HIDDEN void gt_cu_buffer_request(uint8_t **buffer, size_t *size, size_t *records);
GT_HIDDEN void gt_cu_buffer_complete(void *context, uint32_t stream, uint8_t *buffer, size_t size,
				     size_t valid);
/*
 * From the reading thread: takes what has been completed; returns it in the order of completion, NULL at
 * its end.
 */
GT_HIDDEN void gt_cu_buffers_take(void);
GT_HIDDEN uint8_t *gt_cu_buffer_next(size_t *valid);
/* Gives it back to the pool. */
GT_HIDDEN void gt_cu_buffer_free(uint8_t *buffer);
/* There is something for the reading thread, which waits for this word. Async-signal-safe. */
extern GT_HIDDEN uint32_t gt_cu_buffers_event;
GT_HIDDEN void gt_cu_buffers_wake(void);
/* Before the process confines itself: maps what cannot be done without. */
GT_HIDDEN void gt_cu_buffers_still(void);

/* ---- contexts that live, and captures (contexts.c) ------------------------------------------- */

/* A call of class CAPTURE_BEGIN, CAPTURE_END or STREAM_GONE returned `result`. */
GT_HIDDEN void gt_cu_capturing(unsigned class, void *context, void *stream, int result);

GT_HIDDEN void gt_cu_context_created(void *context);
GT_HIDDEN void gt_cu_context_gone(void *context);
/* Waits until they have done all their work. */
GT_HIDDEN void gt_cu_contexts_finish(void);

/* ---- the account (account.c) ----------------------------------------------------------------- */

/* Writes the counters as properties. `last`: messages, too; `ask`: CUPTI can be asked what it dropped. */
GT_HIDDEN void gt_cu_account(bool last, bool ask);
/* Gets the description of the first error while the driver can still give it. */
GT_HIDDEN void gt_cu_account_ask(void);
/*
 * The process goes on after all: what was counted as lost is taken back, and a later account tells the
 * rest.
 */
GT_HIDDEN void gt_cu_account_again(void);

/* ---- our threads (worker.c) ---------------------------------------------------------------------------- */

GT_HIDDEN bool gt_cu_workers_start(void);
/*
 * Brings in what CUPTI has and waits until it is read, at most `limit_ms`, and whatever waited for more
 * is written. False: it was not done in time.
 */
enum {
	GT_CU_FORCED = 1,  /* also buffers with unfinished records, which do not come again */
	GT_CU_ACCOUNT = 2, /* then the account is written */
	GT_CU_LAST = 4,    /* the same, and it is the last one */
};
GT_HIDDEN bool gt_cu_workers_collect(unsigned what, unsigned limit_ms);
/* Has CUPTI been asked for its records and does not come back? */
GT_HIDDEN bool gt_cu_workers_hung(void);
/* Waits on one of our threads for the work of all contexts. False: it goes on after limit_ms. */
GT_HIDDEN bool gt_cu_workers_finish(unsigned limit_ms);

/* ---- capture (capture.c) --------------------------------------------------------------------- */

GT_HIDDEN void gt_cu_capture_open(void);
GT_HIDDEN void gt_cu_capture_name(uint32_t domain, uint32_t id, const char *name);
GT_HIDDEN void gt_cu_capture_call(uint32_t domain, uint32_t id, const struct cu_call_data *data);
GT_HIDDEN void gt_cu_capture_buffer(uint8_t *buffer, size_t valid);

/* ---- records (records.c) --------------------------------------------------------------------- */

/* Turns one buffer into events. */
GT_HIDDEN void gt_cu_records_read(uint8_t *buffer, size_t valid);
/* Writes what waited for the end of its call. `all`: nothing waits any longer for further records. */
GT_HIDDEN void gt_cu_records_settle(bool all);
GT_HIDDEN void gt_cu_records_setup(void);

/* ---- calls that wait without saying so (implicit.c) ------------------------------------------ */

/* From the program's threads: such a call is over. */
GT_HIDDEN void gt_cu_implicit_call(uint32_t context, uint32_t location, uint64_t enter,
				   uint64_t leave);
/* From the reading thread: before a buffer, for each activity, and after. */
GT_HIDDEN void gt_cu_implicit_take(void);
GT_HIDDEN void gt_cu_implicit_activity(uint32_t context, uint64_t start, uint64_t end);
GT_HIDDEN void gt_cu_implicit_settle(bool all);

/* ---- records that are asked for (extras.c) ------------------------------------------------------------- */

/* Reads a record of another kind; false: it is not known. */
GT_HIDDEN bool gt_cu_extra(const struct cu_record *record);
/* Enables the kinds that the options ask for. */
GT_HIDDEN void gt_cu_extras_enable(bool (*enable)(uint32_t kind, const char *name));
/* The parts that need an initialised driver. */
GT_HIDDEN void gt_cu_extras_late(void);
/* At the end: tells what was never freed, if somebody wants to know. */
GT_HIDDEN void gt_cu_extras_end(void);

/* ---- how well the clocks agree (align.c) ----------------------------------------------------- */

/* A record began `ticks` before (early) or after the call that caused it. */
GT_HIDDEN void gt_cu_align_early(uint32_t context, uint64_t ticks);
GT_HIDDEN void gt_cu_align_start(uint32_t context, uint64_t ticks);
/* A record ended; was it before the end of the wait that covers it? */
GT_HIDDEN void gt_cu_align_end(uint32_t context, const struct gt_accel_call *call, uint64_t end);
/* From the program's threads: a wait for the whole context is over. */
GT_HIDDEN void gt_cu_align_waited(uint32_t context, uint64_t enter, uint64_t leave);
/* Writes the properties. */
GT_HIDDEN void gt_cu_align_report(void);

/* ---- places (streams.c) ---------------------------------------------------------------------- */

struct gt_cu_context {
	uint32_t id, device;
	gt_ref group;
	struct gt_cu_context *next;
};

struct gt_cu_stream {
	uint32_t context, device, stream;
	struct gt_cu_context *owner;
	struct gt_location *location; /* NULL: there was no room for one */
	uint32_t named;               /* names that were looked at */
	bool reused;                  /* the location was another stream's */
	uint32_t newest;              /* when it is gone: the newest stream that was there then */
	struct gt_cu_stream *next, *next_gone;
};

/* CUPTI's number of a context's legacy default stream. */
#define GT_CU_DEFAULT_STREAM 7u

GT_HIDDEN struct gt_cu_stream *gt_cu_stream_of(uint32_t device, uint32_t context, uint32_t stream);
/* Any stream of the context, for what belongs to none; NULL if none is known. */
GT_HIDDEN struct gt_cu_stream *gt_cu_stream_of_context(uint32_t context);
/* A stream was made, or will be destroyed, by its handle. Any thread. */
GT_HIDDEN void gt_cu_stream_made(void *context, void *stream);
GT_HIDDEN void gt_cu_stream_gone(void *context, void *stream);
/* The location group of a context, made if there is none yet. Any thread. */
GT_HIDDEN gt_ref gt_cu_context_group(uint32_t device, uint32_t context);
/* Writes down which device this number means (devices.c). */
GT_HIDDEN void gt_cu_device_define(uint32_t device);
/* Its UUID in text[], or its number where the driver does not say. */
GT_HIDDEN const char *gt_cu_device_uuid(uint32_t device, char *text, size_t size);
/* Ten times its compute capability, 0: not known. *number: the driver's number of it, if not NULL. */
GT_HIDDEN unsigned gt_cu_device_capability(uint32_t device, int *number);

/* The program gives a stream (its handle) a name. Any thread. */
GT_HIDDEN void gt_cu_name_stream(void *stream, const char *name);
/* Gives the locations the names that came since. From the reading thread. */
GT_HIDDEN void gt_cu_streams_name(void);

/* ---- regions of the device (kernels.c) ------------------------------------------------------- */

/* NULL: no memory. */
GT_HIDDEN struct gt_accel_name *gt_cu_kernel(const char *mangled);
GT_HIDDEN gt_ref gt_cu_copy_region(unsigned copy, unsigned source, unsigned destination);
GT_HIDDEN gt_ref gt_cu_set_region(void);
GT_HIDDEN void gt_cu_params_setup(void);

#endif
