/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Findings: sentences that say what costs time, with their evidence and what to try (gputrace-findings(7)).
 *
 * A rule is a function that looks at results and sections of other analyses and calls gt_finding_add() for
 * what it finds. What is known to gain less than the threshold `minimum` is not reported.
 *
 * Limits: a gain is what the run could be shorter at most, other things being equal.
 */
#ifndef GT_REPORT_FINDINGS_H
#define GT_REPORT_FINDINGS_H

#include "report/model/rules.h"
#include "report/sections/gpu.h"
#include "report/sections/profile.h"

/* id, default, what the threshold is */
#define GT_FINDING_LIST(F)                                                                              \
	F(MINIMUM, "minimum", GT_LEAST_GAIN, "percent of the run that a finding must gain")             \
	F(LATE_RANK, "late-rank", GT_EVEN_RANKS, "percent: load balance of the ranks")                  \
	F(SERIALISED_RANKS, "serialised-ranks", GT_MUCH_IN_TURN,                                        \
	  "percent of the run that only one rank works, in turn")                                       \
	F(NXN, "n-x-n", GT_MUCH_COLLECTIVE, "percent of the run in collectives of N to N")              \
	F(FLUSHES, "flushes", GT_MUCH_FLUSH, "percent of the run that a location writes its buffer")    \
	F(TINY_MESSAGES, "tiny-messages", GT_TINY_MESSAGE, "bytes of a message")                        \
	F(POLLING, "polling", GT_MUCH_POLLING, "percent of the run in calls that test")                 \
	F(LOCK_CONVOY, "lock-convoy", GT_CONVOY,                                                        \
	  "percent of the run that each thread waits for one lock")                                     \
	F(THREAD_CREATION, "thread-creation", GT_MANY_THREADS, "threads")                               \
	F(LATE_THREAD, "late-thread", GT_EVEN_THREADS,                                                  \
	  "percent: load balance of a process's threads")                                               \
	F(TAIL, "tail", GT_EVEN_THREADS, "percent: the same, where others have ended")                  \
	F(LIMITING_STAGE, "limiting-stage", GT_EVEN_THREADS,                                            \
	  "percent: the same, where others wait for what it does")                                      \
	F(SERIAL_PART, "serial-part", GT_MUCH_ALONE,                                                    \
	  "percent of the run that the first thread works alone, or others one by one")                 \
	F(STARTUP, "startup", GT_MUCH_ALONE,                                                            \
	  "percent of the run that it does so before others begin")                                     \
	F(OVERSUBSCRIPTION, "oversubscription", GT_MUCH_WANTED,                                         \
	  "percent of the time in which threads could run that there are too many of them")             \
	F(STARVATION, "starvation", GT_MUCH_WANTED,                                                     \
	  "percent of it, and of the run, that others have the processors")                             \
	F(QUOTA, "quota", GT_MUCH_WANTED, "percent of the run that a quota of its group takes")         \
	F(SPINS, "spins", GT_MUCH_SPINNING, "percent of the run that a thread uses a processor to wait") \
	F(TINY_WRITES, "tiny-writes", GT_TINY_BYTES, "bytes of a read or write")                        \
	F(LATE_PEER, "late-peer", GT_MUCH_PEER,                                                         \
	  "percent of the run that a thread waits for the other end of a pipe")                         \
	F(SMALL_FILES, "small-files", GT_SMALL_FILE,                                                    \
	  "bytes that are read or written each time that a file is opened")                             \
	F(FSYNC, "fsync", GT_MUCH_SYNCING, "percent of the run in calls that wait for the disk")        \
	F(COSTLY_FUNCTION, "costly-function", GT_SHORT_CALL, "nanoseconds of a call")                   \
	F(BLOCKING_COPY, "blocking-copy", GT_MUCH_COPYING,                                              \
	  "percent of the run in copies that block the host")                                           \
	F(PAGEABLE_COPY, "pageable-copy", GT_MUCH_PAGEABLE,                                             \
	  "percent of the run in asynchronous copies of pageable memory")                               \
	F(NO_OVERLAP, "no-overlap", GT_LITTLE_OVERLAP,                                                  \
	  "percent of the copies' time in which kernels run")                                           \
	F(TINY_KERNELS, "tiny-kernels", GT_TINY_KERNEL, "microseconds of a kernel")                     \
	F(GPU_GAPS, "gpu-gaps", GT_LONG_GAP, "percent of the run: the shortest gap")                    \
	F(SYNC_EACH, "sync-each-launch", GT_WAITS_OF_LAUNCHES,                                          \
	  "percent of the launches that a wait follows")                                                \
	F(GPU_MEMORY, "gpu-memory", GT_MANY_ALLOCATIONS, "calls that allocate or free")                 \
	F(ONE_STREAM, "one-stream", GT_FEW_BLOCKS, "blocks of a kernel")                                \
	F(GPUS_IN_TURN, "gpus-in-turn", GT_GPUS_AT_ONCE,                                                \
	  "percent of the time of kernels of other GPUs in which two GPUs run some")                    \
	F(UNBALANCED_GPUS, "unbalanced-gpus", GT_EVEN_DEVICES, "percent: load balance of the GPUs")

#define GT_FINDING_ENUM(NAME, id, least, text) GT_FINDING_##NAME,
enum gt_finding_id { GT_FINDING_LIST(GT_FINDING_ENUM) GT_FINDINGS };
#undef GT_FINDING_ENUM

struct gt_finding {
	enum gt_finding_id id;
	uint64_t gain;         /* ns; GT_NO_COUNT: not known */
	const char *location;  /* or NULL */
	const char *where;     /* a region, call path or source line; or NULL */
	uint64_t time;         /* ns since the begin; GT_NO_COUNT: none */
	uint64_t length;       /* ns that what begins then takes; 0: not known */
	/* 1 + index of a region, or 0: where, unless that is given, and its longest call's place and time */
	uint32_t region;
	const char *advice;
};

/* Adds a finding with its sentence, if it gains enough. */
void gt_finding_add(struct gt_report *report, const struct gt_finding *finding, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* The threshold of a rule. */
double gt_threshold(enum gt_finding_id id);
/* "ID=VALUE": sets one. False: there is no such threshold. */
bool gt_threshold_set(const char *assignment);
/* ID, value and meaning of each, a line each. */
void gt_thresholds_print(FILE *out);

/* Sum of the exclusive times, or calls, of a class over all locations. */
uint64_t gt_class_time(struct gt_report *report, enum gt_class class);
uint64_t gt_class_calls(struct gt_report *report, enum gt_class class);
/* The region of a class with the most exclusive time; the number of regions if there is none. */
uint32_t gt_class_top(struct gt_report *report, enum gt_class class);
/* "name (file.c:12)" */
const char *gt_source_of(struct gt_report *report, uint32_t region);

/* Cells of the section "locks", of which some are not printed. */
enum gt_lock_cell {
	GT_LOCK_WAITED,
	GT_LOCK_WAITS,
	GT_LOCK_LONGEST,
	GT_LOCK_ACQUIRED,
	GT_LOCK_HELD,
	GT_LOCK_LONGEST_HOLD,
	GT_LOCK_THREADS,
	GT_LOCK_PROCESS,
	GT_LOCK_HOLDER,
	GT_LOCK_HOLDER_NS,
	GT_LOCK_HOLDER_REGION,
	GT_LOCK_NAME,
	GT_LOCK_SHORT_NS, /* waits of GT_LEAST_WAIT, and less than a time slice */
	GT_LOCK_SHORT,
	GT_LOCK_SHORT_BEGIN, /* of the longest */
	GT_LOCK_SHORT_LONGEST,
	GT_LOCK_KNOWN_NS, /* waits in which it is known who has it */
	GT_LOCK_TURNS_NS, /* of these, what two threads wait as long for each other */
	GT_LOCK_TURNS,
	GT_LOCK_TURNS_BEGIN,
	GT_LOCK_TURNS_LONGEST,
	GT_LOCK_TURNS_THREADS
};

/* Ranks by their first threads: what these do outside of MPI, and the longest life, without set-up. */
struct gt_ranks {
	uint64_t count, sum, most, longest;
	uint32_t last; /* location of the one with the most work */
};
struct gt_ranks gt_ranks_measure(const struct gt_report *report);

/* Operations: file, OTF2_IoOperationMode, buffered by stdio. NULL: there are none. */
const struct gt_sums *gt_files_sums(struct gt_report *report);
/* ns in which a location read and wrote pipes, sockets and eventfds. */
uint64_t gt_files_channels(struct gt_report *report, size_t location);
/* In the place of a mode: how often a file was opened. */
#define GT_FILES_OPENS (OTF2_IO_OPERATION_MODE_FLUSH + 1)
/* Instead of files, what has none. */
#define GT_FILES_SOCKETS (UINT64_C(1) << 32)
#define GT_FILES_PIPES   (GT_FILES_SOCKETS + 1)
#define GT_FILES_OTHERS  (GT_FILES_SOCKETS + 2)
/* Of one of these sums: the location that spent most time with it, and its longest operation. */
struct gt_file_place {
	uint64_t ns, time, length;
	size_t location;
};
struct gt_file_place gt_files_place(struct gt_report *report, const struct gt_sum *sum);

extern const struct gt_section_kind gt_findings_kind;
void gt_findings_host(struct gt_report *report);
/* Ranks that work one after another: is that so? */
bool gt_findings_serialised(struct gt_report *report);
void gt_findings_files(struct gt_report *report);
void gt_findings_peers(struct gt_report *report);
void gt_findings_gpu(struct gt_report *report);
void gt_findings_threads(struct gt_report *report);
void gt_findings_processors(struct gt_report *report);
void gt_findings_spins(struct gt_report *report);

#endif
