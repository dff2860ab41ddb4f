/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The interface of sources of metrics: gputrace's own (counters/), and plug-ins, which are shared libraries
 * that export
 *
 *	const struct gt_plugin gt_plugin = { .bytes = sizeof(gt_plugin), .abi = GT_PLUGIN_ABI, ... };
 *
 * A plug-in needs only this header and no gputrace library.
 *
 * The course of a recording, in each process:
 *
 *	begin                                     once
 *	find                                      for each name that the user gave
 *	open    read read read ...    close       synchronous: on each thread;
 *	                                          polled: once, on a thread of gputrace's
 *	open    start    (deliver)    stop close  callback: once
 *	open    collect               close       post-mortem: once
 *	end                                       once
 *
 * Rules for every source:
 *  - No function here ends the program, blocks for long, raises signals, or changes anything that the program
 *    can see of its process. They run in the traced program: on its threads, with its limits.
 *  - read() of a synchronous source may run between any two instructions of the program, so it takes no lock
 *    that other functions of the source hold, and allocates nothing. The others may do both: they run with
 *    all signals blocked, and their allocations and files are not recorded. Threads that they create inherit
 *    both.
 *  - A source that is used in a process is not unloaded.
 *  - After fork() forked() is called in the child, which then opens its own counters: synchronous ones
 *    before their first reading, all others before fork() returns. A child made by clone() or forkpty() has
 *    synchronous counters only.
 *
 * Versions: a struct whose first member is `bytes` may grow at its end without a change of GT_PLUGIN_ABI.
 * gputrace accepts a struct gt_plugin that is longer than it knows, or as short as in release 0.1; a source
 * checks `bytes` before it reads a member of gt_plugin_host or gt_plugin_sink that 0.1 did not have. struct
 * gt_plugin_metric is used in arrays and never grows.
 *
 * Limits: C linkage. Values have 64 bits. At most GT_PLUGIN_METRICS metrics of one source for each way of
 * reading.
 */
#ifndef GPUTRACE_PLUGIN_H
#define GPUTRACE_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Changes when a struct below changes other than by growing at its end. */
#define GT_PLUGIN_ABI     1u
#define GT_PLUGIN_METRICS 64u
#define GT_PLUGIN_NAME    256u /* of a metric, with its '\0' */
#define GT_PLUGIN_TEXT    160u

/* How a source can be read; bits. */
enum gt_plugin_ways {
	/* at each enter and leave of a thread, or at the first after an interval */
	GT_PLUGIN_SYNC = 1,
	GT_PLUGIN_POLLED = 2,      /* at an interval, by a thread of gputrace's */
	GT_PLUGIN_CALLBACK = 4,    /* the source delivers values from a thread of its own */
	GT_PLUGIN_POST_MORTEM = 8, /* the source stores the values until the recording ends */
};

/* The scope of a value. Values of a host or of the whole run are read by one process. */
enum gt_plugin_scope {
	GT_PLUGIN_THREAD = 0,
	GT_PLUGIN_PROCESS = 1,
	GT_PLUGIN_HOST = 2,
	GT_PLUGIN_ONCE = 3, /* the whole run */
};

/* As OTF2_Type, OTF2_MetricMode, OTF2_Base. */
enum gt_plugin_value { GT_PLUGIN_UINT = 4, GT_PLUGIN_INT = 8, GT_PLUGIN_DOUBLE = 10 };
enum gt_plugin_mode {
	GT_PLUGIN_ACCUMULATED = 0x00, /* grows from the beginning on */
	GT_PLUGIN_ABSOLUTE = 0x11,    /* at this moment */
	GT_PLUGIN_ABSOLUTE_LAST = 0x21, /* since the value before */
	GT_PLUGIN_ABSOLUTE_NEXT = 0x31, /* from now until the next value */
	GT_PLUGIN_RELATIVE = 0x22,    /* the change since the value before */
};
enum gt_plugin_base { GT_PLUGIN_BINARY = 0, GT_PLUGIN_DECIMAL = 1 };

/* One metric. The recorded value times base^exponent is in `unit`. Longer texts are cut. Its size never
 * changes. */
struct gt_plugin_metric {
	size_t bytes;                    /* sizeof(struct gt_plugin_metric); set by the caller */
	uint64_t id;                     /* the source's own number for it, for open() */
	char name[GT_PLUGIN_NAME];       /* without the source's name */
	char description[GT_PLUGIN_TEXT];
	char unit[32];                   /* "#", "s", "bytes", "J" ... */
	uint8_t value, mode, base;       /* the enums above */
	uint8_t scope;                   /* enum gt_plugin_scope; all of one opening have the same */
	int32_t exponent;
	uint32_t kind;                   /* OTF2_MetricType: 0 other, 1 PAPI, 2 getrusage, 3 the user's */
	uint32_t device;                 /* device + 1; 0: none. Each device has a location of its own */
	char device_name[64];
	char missing[GT_PLUGIN_TEXT];    /* list(): why it cannot be read here; "": it can */
};

/* gputrace's services for a source. Valid from begin() to end(). */
struct gt_plugin_host {
	size_t bytes;                    /* sizeof(struct gt_plugin_host) of the gputrace that calls */
	uint32_t abi;
	/* The current time in ticks of the trace's clock. May be called at any time, by any thread. */
	uint64_t (*now)(void);
	/* Converts CLOCK_MONOTONIC (ns) to ticks, for an earlier or later moment of this process, by the
	 * present relation of the two clocks. */
	uint64_t (*tick_of)(uint64_t monotonic);
	/* Prints one line to the user. level: 0 error, 1 warning, 2 details. */
	void (*say)(int level, const char *text);
	/* The value of a setting ("VT_RUSAGE"); NULL: there is no such setting. */
	const char *(*setting)(const char *name);
};

/* Takes the values of an opening that gputrace does not read itself. */
struct gt_plugin_sink {
	size_t bytes;
	void *data;
	/*
	 * Records the value at `tick` of the opening's metric number `metric`; the values of one metric come
	 * in the order of time. May be called by any thread. Returns 0; -EINVAL if there is no such metric,
	 * -ENOBUFS if the value was lost, -ERANGE if the time lies before begin() or in the future,
	 * -ECANCELED after stop() or when recording has ended. -ENOBUFS and -ERANGE are counted as losses.
	 */
	int (*put)(const struct gt_plugin_sink *sink, unsigned metric, uint64_t tick, uint64_t value);
	/* Counts values that the source itself lost. */
	void (*lost)(const struct gt_plugin_sink *sink, uint64_t values);
};

/* Flags of a source. */
#define GT_PLUGIN_BARE     1u /* read() makes no call that gputrace intercepts: files, memory, threads, MPI */
#define GT_PLUGIN_NO_FORK  4u /* it cannot be used in a forked child */
#define GT_PLUGIN_ANY_NAME                                                                                   \
	2u /* find() is also called for names without NAME::; the source names its metrics itself */

typedef void gt_plugin_each(const struct gt_plugin_metric *metric, void *argument);

/* Functions return 0 or a negative errno unless said otherwise; those that may be NULL are marked. */
struct gt_plugin {
	size_t bytes;                    /* sizeof(struct gt_plugin) */
	uint32_t abi;                    /* GT_PLUGIN_ABI */
	uint32_t ways;                   /* enum gt_plugin_ways */
	const char *name;                /* "rusage": its metrics are rusage::ru_minflt ... */
	const char *description;
	uint64_t interval;               /* POLLED: nanoseconds, 0: as the user set it */
	/* May be NULL. On failure it writes the reason to `why`, a text of at most `room` bytes. */
	int (*begin)(const struct gt_plugin_host *host, char *why, size_t room);
	/* May be NULL. Called after the process's last reading; not if it is killed or calls _exit(). */
	void (*end)(void);
	/* May be NULL. Called in a forked child, on its only thread: state inherited from the parent must not
	 * be used any more. It must not allocate. begin() is not called again. */
	void (*forked)(void);
	/* Lists all metrics, also those that cannot be read here, with the reason. */
	void (*list)(gt_plugin_each *each, void *argument);
	/*
	 * Fills in the metrics that a name stands for, at most `room`, and returns their number: 1, or more
	 * if the name is a pattern or a group. 0: no such metric. A negative errno: the metric exists but
	 * cannot be read here; the reason is in why[].
	 */
	int (*find)(const char *name, struct gt_plugin_metric *metrics, unsigned room, char *why,
		    size_t why_room);
	/*
	 * Starts counting `count` metrics, given by their ids, together: for the calling thread, or according
	 * to their scope and device. *state is passed to the functions below. -ENOSPC: too many at once,
	 * -ENOTSUP: not together; gputrace then opens fewer and says so. `flags` is 0.
	 */
	int (*open)(const uint64_t *ids, unsigned count, unsigned flags, void **state);
	/*
	 * SYNC and POLLED. Fills in all values. Returns 0; -EAGAIN if there are none now (nothing is recorded
	 * or lost); any other negative errno if they are lost, which is counted.
	 */
	int (*read)(void *state, uint64_t *values, unsigned count);
	void (*close)(void *state);
	/* CALLBACK. From the return of start() to that of stop() the source may call sink->put(). */
	int (*start)(void *state, const struct gt_plugin_sink *sink);
	void (*stop)(void *state);
	/* POST_MORTEM. Passes all stored values to sink->put(). */
	int (*collect)(void *state, const struct gt_plugin_sink *sink);
	uint32_t flags;                  /* GT_PLUGIN_BARE ... */
	uint32_t reserved;
};

#ifdef __cplusplus
}
#endif
#endif
