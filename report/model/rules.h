/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The cost of recording, and the thresholds of findings (gputrace-findings(7)).
 *
 * Limits: these are the defaults; `gputrace report --threshold` changes them.
 */
#ifndef GT_REPORT_RULES_H
#define GT_REPORT_RULES_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* ns. A recorded call that need not wait for its lock takes some 100; short is below a time slice. */
enum { GT_LEAST_WAIT = 1000, GT_SHORT_WAIT = 10000000 };
/* Short waits for a lock, or of threads that take turns; percent of the run that each waits. */
enum { GT_MANY_WAITS = 100, GT_SOME_TURNS = 20, GT_CONVOY = 10 };
/* Operations on a file, mean bytes: less than the pages that databases read and write. */
enum { GT_MANY_OPERATIONS = 1000, GT_TINY_BYTES = 2048 };
/* Percent of the run that a thread waits for the other end of a pipe. */
enum { GT_MUCH_PEER = 20 };
/* Bytes of an opened file; percent of the run in opens and names of files; of opens, of small files. */
enum { GT_SMALL_FILE = 65536, GT_MUCH_OPENING = 5, GT_MOST_SMALL_FILES = 90 };
/* Percent of the run in calls that wait for the disk. */
enum { GT_MUCH_SYNCING = 5 };
/* ns of a call, and calls, of a function that may cost more to record than it tells. */
enum { GT_SHORT_CALL = 300, GT_MANY_CALLS = 100000 };
/* Percent of threads' lives, or of the run, in which they wait for a processor, that is worth a line. */
enum { GT_MUCH_READY = 5 };
/* Percent of the run that a finding must gain. */
enum { GT_LEAST_GAIN = 2 };

/* Percent: load balance of ranks; of the run in collectives, that a buffer is written, in tests. */
enum { GT_EVEN_RANKS = 85, GT_MUCH_COLLECTIVE = 20, GT_MUCH_FLUSH = 5, GT_MUCH_POLLING = 10 };
/* Percent of the run that only one rank works, of several that do so in turn. */
enum { GT_MUCH_IN_TURN = 20 };
/* Calls of collectives and messages of a rank; bytes of a message that is tiny; percent of all that are. */
enum { GT_SOME_COLLECTIVES = 10, GT_MANY_MESSAGES = 1000, GT_TINY_MESSAGE = 1024, GT_MOST_MESSAGES = 90 };
/* Percent: load balance of threads; of the run that the first one works without others. */
enum { GT_EVEN_THREADS = 80, GT_MUCH_ALONE = 20 };
/* Percent of the run, or of the time in which threads can run, that they have no processor. */
enum { GT_MUCH_WANTED = 20 };
/* Percent of the run that a thread uses a processor to wait. */
enum { GT_MUCH_SPINNING = 10 };
/* Messages that are not tiny go at 1 GB/s. */
enum { GT_NS_OF_BYTE = 1 };
/* Threads that are created, and ns that they live for. */
enum { GT_MANY_THREADS = 100, GT_SHORT_LIFE = 10000000 };

/* Percent of the run in copies that block the host, or are of pageable memory; copies and kernels. */
enum { GT_MUCH_COPYING = 5, GT_MUCH_PAGEABLE = 5, GT_SOME_COPIES = 10 };
/* Percent of the time of copies, or of kernels, in which both run. */
enum { GT_LITTLE_OVERLAP = 5 };
/* tiny-kernels: longest duration (us), least count, least share of gaps (%). */
enum { GT_TINY_KERNEL = 10, GT_MANY_KERNELS = 1000, GT_MUCH_GAP = 30 };
/* Percent of the run that a gap takes, and launches that it could hold, if it is long. */
enum { GT_LONG_GAP = 1, GT_LAUNCHES_OF_GAP = 10 };
/* Launches, or kernels; percent of them that a wait follows. Calls for memory. */
enum { GT_MANY_LAUNCHES = 100, GT_WAITS_OF_LAUNCHES = 80, GT_MANY_ALLOCATIONS = 100 };
/* Blocks of a small kernel; percent of the time that is in small ones; and of a device's on one stream. */
enum { GT_FEW_BLOCKS = 32, GT_MOST_SMALL = 80, GT_ONE_STREAM = 95 };
/* Percent of the time of kernels, without those of the busiest GPU, in which two GPUs run some. */
enum { GT_GPUS_AT_ONCE = 5 };
/* Percent: load balance of devices. */
enum { GT_EVEN_DEVICES = 80 };

/* Is a part at least so much of the whole? */
static inline bool gt_at_least(uint64_t part, double percent, uint64_t whole)
{
	return whole && 100 * (double)part >= percent * (double)whole;
}

/*
 * Is a thread, not its process's first, there to serve others: does it wait for work (for a condition) for
 * most of its life? Of several that share the work each has more to do.
 */
static inline bool gt_serves(uint64_t idle, uint64_t life)
{
	return idle > life / 100 * 80;
}

/*
 * Does a thread first wait for a condition because it has nothing to do yet? It has worked for `before`, and
 * then waited for `first`; it worked for `after` when it had been signalled, so many times. Who waits until
 * there is room for what it has done, or for a result, has worked before as it does afterwards.
 */
static inline bool gt_comes_for_work(uint64_t before, uint64_t first, uint64_t after, uint64_t times)
{
	return before < first / 100 || before < after / times / 2;
}

/*
 * Did an acquisition wait that took so long (ns) while nobody is known to have had the lock? all: who did not
 * wait is recorded, too, so that somebody would be known.
 */
static inline bool gt_waits_unseen(bool all, uint64_t ns)
{
	return !all && ns >= GT_LEAST_WAIT;
}

/* Why there are no efficiencies of ranks, or of threads. */
#define GT_BLIND_RANKS \
	"not computed for ranks: one waits for threads of which next to nothing was recorded"
#define GT_BLIND_THREADS \
	"not computed for threads: most of their time was outside recorded functions, and it is not known " \
	"whether they ran"

/* Do threads wait for a lock so often, and each for so long? */
static inline bool gt_is_convoy(uint64_t waits, uint64_t least, uint64_t threads, uint64_t ns, double percent,
				uint64_t run)
{
	return waits >= least && threads > 1 && gt_at_least(ns / threads, percent, run);
}

/* The length, in ns, from which on a gap is long: the host does something else meanwhile. */
static inline uint64_t gt_long_gap(uint64_t run, double percent, uint64_t launches, uint64_t ns_of_launches)
{
	uint64_t some = launches ? ns_of_launches / launches * GT_LAUNCHES_OF_GAP : 0;
	double least = percent / 100 * (double)run;

	return least > (double)some ? (uint64_t)least + 1 : some;
}

/* ns: a call, one of a script, one that a filter leaves out, what a GPU did (gputrace-metrics(7), "COST"). */
enum { GT_COST_OF_CALL = 30, GT_COST_OF_SCRIPT = 110, GT_COST_FILTERED = 2, GT_COST_OF_ACTIVITY = 300 };

/* The cost of a call of a function of this source file. */
static inline uint64_t gt_cost_of_call(const char *file)
{
	size_t length = strlen(file);

	return length > 3 && !strcmp(file + length - 3, ".py") ? GT_COST_OF_SCRIPT : GT_COST_OF_CALL;
}

#endif
