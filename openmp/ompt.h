/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The parts of OMPT, OpenMP's interface for tools (OpenMP 5.1, chapter 4), that the adapter uses.
 * test/openmp/abi.c compares it with LLVM's omp-tools.h.
 *
 * Limits: of devices' events those on the host's threads only.
 */
#ifndef GT_OPENMP_OMPT_H
#define GT_OPENMP_OMPT_H

#include <stdint.h>

union gt_ompt_data {
	uint64_t value;
	void *pointer;
};

typedef void (*gt_ompt_function)(void);
typedef gt_ompt_function (*gt_ompt_lookup)(const char *name);

struct gt_ompt_tool {
	int (*initialize)(gt_ompt_lookup lookup, int device, union gt_ompt_data *tool);
	void (*finalize)(union gt_ompt_data *tool);
	union gt_ompt_data data;
};

/* ompt_set_callback(): above GT_OMPT_SET_NEVER the callback may come. */
typedef int (*gt_ompt_set)(int event, gt_ompt_function callback);
enum { GT_OMPT_SET_NEVER = 1 };

enum gt_ompt_event {
	GT_OMPT_THREAD_BEGIN = 1,
	GT_OMPT_THREAD_END = 2,
	GT_OMPT_PARALLEL_BEGIN = 3,
	GT_OMPT_PARALLEL_END = 4,
	GT_OMPT_TASK_CREATE = 5,
	GT_OMPT_TASK_SCHEDULE = 6,
	GT_OMPT_IMPLICIT_TASK = 7,
	GT_OMPT_TARGET = 8,
	GT_OMPT_TARGET_DATA_OP = 9,
	GT_OMPT_SYNC_REGION_WAIT = 16,
	GT_OMPT_MUTEX_RELEASED = 17,
	GT_OMPT_DEPENDENCES = 18,
	GT_OMPT_TASK_DEPENDENCE = 19,
	GT_OMPT_WORK = 20,
	GT_OMPT_MASKED = 21,
	GT_OMPT_SYNC_REGION = 23,
	GT_OMPT_MUTEX_ACQUIRE = 26,
	GT_OMPT_MUTEX_ACQUIRED = 27,
	GT_OMPT_NEST_LOCK = 28,
};

enum gt_ompt_endpoint { GT_OMPT_BEGIN = 1, GT_OMPT_END = 2, GT_OMPT_BEGIN_END = 3 };
enum gt_ompt_thread { GT_OMPT_THREAD_INITIAL = 1, GT_OMPT_THREAD_WORKER = 2 };

enum gt_ompt_work {
	GT_OMPT_WORK_LOOP = 1,
	GT_OMPT_WORK_SECTIONS = 2,
	GT_OMPT_WORK_SINGLE_EXECUTOR = 3,
	GT_OMPT_WORK_SINGLE_OTHER = 4,
	GT_OMPT_WORK_WORKSHARE = 5,
	GT_OMPT_WORK_DISTRIBUTE = 6,
	GT_OMPT_WORK_TASKLOOP = 7,
	GT_OMPT_WORK_SCOPE = 8,
};

enum gt_ompt_sync {
	GT_OMPT_SYNC_BARRIER = 1,
	GT_OMPT_SYNC_IMPLICIT = 2,
	GT_OMPT_SYNC_EXPLICIT = 3,
	GT_OMPT_SYNC_IMPLEMENTATION = 4,
	GT_OMPT_SYNC_TASKWAIT = 5,
	GT_OMPT_SYNC_TASKGROUP = 6,
	GT_OMPT_SYNC_REDUCTION = 7,
	GT_OMPT_SYNC_WORKSHARE = 8,
	GT_OMPT_SYNC_PARALLEL = 9,
	GT_OMPT_SYNC_TEAMS = 10,
};

enum gt_ompt_target {
	GT_OMPT_TARGET_CODE = 1,
	GT_OMPT_TARGET_ENTER_DATA = 2,
	GT_OMPT_TARGET_EXIT_DATA = 3,
	GT_OMPT_TARGET_UPDATE = 4,
	GT_OMPT_TARGET_NOWAIT = 8, /* and more, of each of them */
};

enum gt_ompt_data_op { GT_OMPT_TRANSFER_TO = 2, GT_OMPT_TRANSFER_FROM = 3 };

enum gt_ompt_mutex {
	GT_OMPT_MUTEX_LOCK = 1,
	GT_OMPT_MUTEX_TEST_LOCK = 2,
	GT_OMPT_MUTEX_NEST_LOCK = 3,
	GT_OMPT_MUTEX_TEST_NEST_LOCK = 4,
	GT_OMPT_MUTEX_CRITICAL = 5,
	GT_OMPT_MUTEX_ATOMIC = 6,
	GT_OMPT_MUTEX_ORDERED = 7,
};

/* Flags of a task. */
#define GT_OMPT_TASK_INITIAL  0x00000001
#define GT_OMPT_TASK_EXPLICIT 0x00000004
#define GT_OMPT_TASK_UNTIED   0x10000000

enum gt_ompt_status {
	GT_OMPT_COMPLETE = 1,
	GT_OMPT_YIELD = 2,
	GT_OMPT_CANCEL = 3,
	GT_OMPT_DETACH = 4,
	GT_OMPT_EARLY_FULFILL = 5,
	GT_OMPT_LATE_FULFILL = 6,
	GT_OMPT_SWITCH = 7,
	GT_OMPT_TASKWAIT_COMPLETE = 8,
};

#endif
