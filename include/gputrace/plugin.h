/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A source of metrics. gputrace's own sources (counters/) are this struct, and so is that of a plug-in: a
 * shared library that exports
 *
 *	const struct gt_plugin gt_plugin = { .bytes = sizeof(gt_plugin), .abi = GT_PLUGIN_ABI, ... };
 *
 * It needs this header and no library of gputrace's.
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
 *  - No function here ends the program, waits for long, raises signals, or changes what the program can see
 *    of its process. They run in the traced program: on its threads, with its limits.
 *  - read() of a synchronous source runs between any two instructions of the program: it takes no lock that
 *    other functions of the source hold, and allocates nothing. All others may; all signals are blocked then,
 *    and what they allocate or open is not recorded. A thread that they make inherits both.
 *  - A source that is used in a process is not unloaded.
 *  - After fork() the child calls forked(), and opens anew what it needs: synchronous counters before their
 *    first reading, all others before fork() returns. A child that clone() or forkpty() has made has
 *    synchronous ones only.
 *
 * Versions: a struct that begins with `bytes` may grow at its end, and then GT_PLUGIN_ABI stays. gputrace
 * takes a longer struct gt_plugin than it knows, and one as short as that of release 0.1; a source looks at
 * `bytes` before it reads a member of gt_plugin_host or gt_plugin_sink that 0.1 did not have. struct
 * gt_plugin_metric stands in arrays and never grows.
 *
 * Limits: C linkage. Values are 64 bits. GT_PLUGIN_METRICS metrics of one source for each way of reading.
 */
#ifndef GPUTRACE_PLUGIN_H
#define GPUTRACE_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Changes when a struct below changes in another way than by growing at its end. */
#define GT_PLUGIN_ABI     1u
#define GT_PLUGIN_METRICS 64u
#define GT_PLUGIN_NAME    256u /* of a metric, with its '\0' */
#define GT_PLUGIN_TEXT    160u

/* Ways in which a source can be read, as bits. */
enum gt_plugin_ways {
	/* with each enter and leave of a thread, or with the first after an interval */
	GT_PLUGIN_SYNC = 1,
	GT_PLUGIN_POLLED = 2,      /* by a thread of gputrace's, at an interval */
	GT_PLUGIN_CALLBACK = 4,    /* the source delivers values when it has some, from a thread of its own */
	GT_PLUGIN_POST_MORTEM = 8, /* the source keeps the values until the recording ends */
};

/* What a value is about. Of a host's processes, or of all, one reads what is not its own. */
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

/* One metric. The recorded value times base^exponent is in `unit`. Texts are cut where they end here. Its
 * size never changes. */
struct gt_plugin_metric {
	size_t bytes;                    /* sizeof(struct gt_plugin_metric); set by the caller */
	uint64_t id;                     /* the source's own number of it, for open() */
	char name[GT_PLUGIN_NAME];       /* without that of the source */
	char description[GT_PLUGIN_TEXT];
	char unit[32];                   /* "#", "s", "bytes", "J" ... */
	uint8_t value, mode, base;       /* the enums above */
	uint8_t scope;                   /* enum gt_plugin_scope; all of one opening have the same */
	int32_t exponent;
	uint32_t kind;                   /* OTF2_MetricType: 0 other, 1 PAPI, 2 getrusage, 3 the user's */
	uint32_t device;                 /* device + 1, 0: of none. Each device has a location of its own */
	char device_name[64];
	char missing[GT_PLUGIN_TEXT];    /* list(): why it cannot be read here; "": it can */
};

/* What gputrace does for a source. Valid from begin() to end(). */
struct gt_plugin_host {
	size_t bytes;                    /* sizeof(struct gt_plugin_host) of the gputrace that calls */
	uint32_t abi;
	/* The present time in ticks of the trace's clock. May be called at any time, by any thread. */
	uint64_t (*now)(void);
	/* The same for CLOCK_MONOTONIC in nanoseconds: the tick of an earlier or later moment of this
	 * process, as the two clocks are now. */
	uint64_t (*tick_of)(uint64_t monotonic);
	/* One line to the user. level: 0 error, 1 warning, 2 for the curious. */
	void (*say)(int level, const char *text);
	/* The value of a setting ("VT_RUSAGE"), NULL: there is none of this name. */
	const char *(*setting)(const char *name);
};

/* Where values of an opening go that gputrace did not read itself. */
struct gt_plugin_sink {
	size_t bytes;
	void *data;
	/*
	 * The value of the opening's metric number `metric` at `tick`; of one metric in the order of time.
	 * Any thread. Returns 0, -EINVAL if there is no such metric, -ENOBUFS if it was lost, -ERANGE if the
	 * time lies before begin() or in the future, -ECANCELED after stop() or when nothing is recorded any
	 * more. -ENOBUFS and -ERANGE are counted as losses.
	 */
	int (*put)(const struct gt_plugin_sink *sink, unsigned metric, uint64_t tick, uint64_t value);
	/* Counts values that the source itself lost. */
	void (*lost)(const struct gt_plugin_sink *sink, uint64_t values);
};

/* Flags of a source. */
#define GT_PLUGIN_BARE     1u /* read() makes no call that gputrace intercepts: files, memory, threads, MPI */
#define GT_PLUGIN_NO_FORK  4u /* it cannot be used in a forked child */
#define GT_PLUGIN_ANY_NAME                                                                                   \
	2u /* find() is asked for names without NAME:: too; its metrics are called as it says */

typedef void gt_plugin_each(const struct gt_plugin_metric *metric, void *argument);

/* Functions return 0 or a negative errno unless said otherwise; those that may be NULL are marked. */
struct gt_plugin {
	size_t bytes;                    /* sizeof(struct gt_plugin) */
	uint32_t abi;                    /* GT_PLUGIN_ABI */
	uint32_t ways;                   /* enum gt_plugin_ways */
	const char *name;                /* "rusage": its metrics are rusage::ru_minflt ... */
	const char *description;
	uint64_t interval;               /* POLLED: nanoseconds, 0: as the user set it */
	/* NULL: nothing to do. On failure the reason is in `why`, a text of at most `room` bytes. */
	int (*begin)(const struct gt_plugin_host *host, char *why, size_t room);
	/* NULL. After the last reading of the process; not in one that is killed or that calls _exit(). */
	void (*end)(void);
	/* NULL. In a forked child, on its only thread: what it has of its parent's is not to be used. It may
	 * not allocate. begin() is not called again. */
	void (*forked)(void);
	/* Every metric that there is, and those that are missing, with the reason. */
	void (*list)(gt_plugin_each *each, void *argument);
	/*
	 * Fills in the metrics that a name stands for, at most `room`, and returns their number: 1, or more
	 * where the name is a pattern or a group. 0: none. A negative errno: there is such a metric, but not
	 * here; the reason is in why[].
	 */
	int (*find)(const char *name, struct gt_plugin_metric *metrics, unsigned room, char *why,
		    size_t why_room);
	/*
	 * Begins to count `count` metrics, given by their ids, together: of the calling thread, or of what
	 * their scope and device say. *state is handed to the functions below. -ENOSPC: too many at once,
	 * -ENOTSUP: not together; then gputrace opens fewer and says so. `flags` is 0.
	 */
	int (*open)(const uint64_t *ids, unsigned count, unsigned flags, void **state);
	/*
	 * SYNC and POLLED. Fills in all values. Returns 0; -EAGAIN: there is none now (nothing is recorded,
	 * and nothing is lost); another negative errno: they are lost, which is counted.
	 */
	int (*read)(void *state, uint64_t *values, unsigned count);
	void (*close)(void *state);
	/* CALLBACK. From the return of start() to that of stop() the source may call sink->put(). */
	int (*start)(void *state, const struct gt_plugin_sink *sink);
	void (*stop)(void *state);
	/* POST_MORTEM. Puts all values that there are. */
	int (*collect)(void *state, const struct gt_plugin_sink *sink);
	uint32_t flags;                  /* GT_PLUGIN_BARE ... */
	uint32_t reserved;
};

#ifdef __cplusplus
}
#endif
#endif
