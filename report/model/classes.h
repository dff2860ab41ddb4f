/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Classifies the regions and locations of any archive: one table, by which every analysis decides whether
 * time is useful, spent waiting, or a GPU's. By paradigm and role where the producer gives them, else by
 * name.
 *
 * Producers that define regions anew for each rank (EZTrace) have several of one name, kind, file and line:
 * they are taken as one.
 *
 * Limits: names of MPI, POSIX and CUDA only; a wrapper with another name is code. Functions of one name in
 * different files are one where the archive does not say the files.
 */
#ifndef GT_REPORT_CLASSES_H
#define GT_REPORT_CLASSES_H

#include "lib/read/read.h"

/* Enumerator, whose time it is (GT_TIME_...), name in tables. */
#define GT_CLASS_LIST(C)                                                        \
	C(CODE, USEFUL, "code")                                                 \
	C(MPI_SETUP, MPI, "MPI set-up")           /* MPI_Init, MPI_Finalize */  \
	C(MPI_SEND, MPI, "MPI send")              /* blocking */                \
	C(MPI_RECV, MPI, "MPI receive")           /* blocking */                \
	C(MPI_SENDRECV, MPI, "MPI send-receive")                                \
	C(MPI_START, MPI, "MPI start")            /* of something non-blocking */ \
	C(MPI_WAIT, MPI, "MPI wait")              /* Wait*, Probe */            \
	C(MPI_TEST, MPI, "MPI test")              /* Test*, Iprobe */           \
	C(MPI_BARRIER, MPI, "MPI barrier")                                      \
	C(MPI_COLLECTIVE, MPI, "MPI collective")                                \
	C(MPI_RMA, MPI, "MPI one-sided")                                        \
	C(MPI_IO, MPI, "MPI file")                                              \
	C(MPI_OTHER, MPI, "MPI other")                                          \
	C(THREAD_CREATE, RUNTIME, "thread creation")                            \
	C(THREAD_JOIN, WAIT, "thread join")                                     \
	C(LOCK, WAIT, "lock")                     /* acquires one */            \
	C(UNLOCK, RUNTIME, "unlock")              /* and signal, try, detach */ \
	C(CONDITION, WAIT, "condition wait")                                    \
	C(BARRIER, WAIT, "barrier")               /* of threads */              \
	C(SLEEP, WAIT, "sleep")                   /* for time, input, a signal */ \
	C(SEMAPHORE, WAIT, "semaphore wait")                                    \
	C(PROCESS, WAIT, "process wait")          /* waitpid, system */         \
	C(TASK_CREATE, RUNTIME, "task creation")                                \
	C(COMMUNICATION, RUNTIME, "communication") /* NCCL, SHMEM: not MPI */   \
	C(FILE_IO, IO, "file I/O")                                              \
	C(FILE_META, IO, "file metadata")         /* opens, closes, names */    \
	C(MEMORY, RUNTIME, "memory")              /* malloc, free */            \
	C(GPU_LAUNCH, GPU_CALL, "GPU launch")                                   \
	C(GPU_COPY, GPU_CALL, "GPU copy call")    /* and set */                 \
	C(GPU_WAIT, DEVICE, "GPU wait")           /* explicit: ...Synchronize */ \
	C(GPU_HIDDEN_WAIT, DEVICE, "GPU hidden wait") /* HOST_IDLE */            \
	C(GPU_POLL, DEVICE, "GPU poll")                                         \
	C(GPU_MEMORY, GPU_CALL, "GPU memory call")                              \
	C(GPU_OTHER, GPU_CALL, "GPU call")                                      \
	C(KERNEL, ON_GPU, "kernel")               /* on a stream, as what follows */ \
	C(GPU_TRANSFER, ON_GPU, "copy")                                         \
	C(GPU_SET, ON_GPU, "set")                                               \
	C(GPU_IDLE, NOTHING, "GPU idle")          /* regions that say so */     \
	C(NVTX, USEFUL, "annotation")                                           \
	C(MEASUREMENT, MEASUREMENT, "measurement") /* flushes, off */

#define GT_CLASS_ENUM(NAME, time, text) GT_CLASS_##NAME,
enum gt_class { GT_CLASS_LIST(GT_CLASS_ENUM) GT_CLASSES };
#undef GT_CLASS_ENUM

enum gt_time {
	GT_TIME_USEFUL,
	GT_TIME_MPI,
	GT_TIME_WAIT,        /* for another thread, or for time */
	GT_TIME_DEVICE,      /* the host waits for a device */
	GT_TIME_IO,
	GT_TIME_GPU_CALL,
	GT_TIME_RUNTIME,     /* thread and memory management */
	GT_TIME_ON_GPU,      /* activities */
	GT_TIME_MEASUREMENT,
	GT_TIME_NOTHING,
	GT_TIMES,
};

extern const char *const gt_class_names[GT_CLASSES];
extern const unsigned char gt_class_times[GT_CLASSES]; /* enum gt_time */
extern const char *const gt_time_names[GT_TIMES];

/* Regions in which locations communicate, wait for each other or drive a GPU. */
static inline bool gt_class_loud(enum gt_class class)
{
	return class == GT_CLASS_THREAD_CREATE || class == GT_CLASS_THREAD_JOIN || class == GT_CLASS_LOCK ||
	       class == GT_CLASS_CONDITION || class == GT_CLASS_BARRIER || class == GT_CLASS_SLEEP ||
	       class == GT_CLASS_SEMAPHORE || class == GT_CLASS_PROCESS ||
	       gt_class_times[class] == GT_TIME_MPI || gt_class_times[class] == GT_TIME_GPU_CALL ||
	       gt_class_times[class] == GT_TIME_DEVICE;
}

/*
 * Regions in which a thread may use a processor to wait. In others that wait it sleeps, and what it uses in
 * the rest of MPI may be for copies, packing or files.
 */
static inline bool gt_class_spins(enum gt_class class)
{
	return class == GT_CLASS_LOCK || class == GT_CLASS_BARRIER || class == GT_CLASS_MPI_RECV ||
	       class == GT_CLASS_MPI_SENDRECV || class == GT_CLASS_MPI_WAIT ||
	       class == GT_CLASS_MPI_BARRIER || class == GT_CLASS_MPI_COLLECTIVE ||
	       gt_class_times[class] == GT_TIME_DEVICE;
}

enum gt_location_kind {
	GT_LOCATION_MAIN,     /* the first thread of a process */
	GT_LOCATION_THREAD,
	/* a thread that a library made for itself and that only waits: known after reading */
	GT_LOCATION_SERVICE,
	GT_LOCATION_STREAM,
	GT_LOCATION_OTHER,    /* metrics, networks, ranges that belong to no thread */
};


struct gt_location_class {
	enum gt_location_kind kind;
	uint32_t process;    /* index in `processes` */
	uint32_t device;     /* of a stream: index in `devices`; else GT_NO_DEVICE */
};

#define GT_NO_DEVICE (~UINT32_C(0))
#define GT_NO_RANK   (~UINT32_C(0))

struct gt_process_class {
	const struct gt_otf2_location_group *group;
	uint32_t rank;       /* in MPI_COMM_WORLD, or GT_NO_RANK */
	uint32_t main;       /* index of its first thread, or GT_NO_DEVICE */
	bool missing;        /* a rank that was not recorded: known of gputrace's archives */
	bool launcher;       /* ranks descend from it, and it is none itself: known of gputrace's archives */
};

struct gt_device_class {
	uint64_t node;       /* of the system tree, or GT_OTF2_NOTHING: then of the location group */
	const char *name;
	char *made;          /* the name, if it is not the archive's */
};

struct gt_classes {
	const struct gt_otf2 *read;
	unsigned char *regions;               /* by index: enum gt_class */
	const char **groups;                  /* by index of the region: its group of regions, or NULL */
	uint32_t *same;                       /* by index: the first region that is the same one */
	struct gt_location_class *locations;  /* by index */
	struct gt_process_class *processes;
	uint32_t process_count;
	struct gt_device_class *devices;
	uint32_t device_count;
	uint32_t ranks;                       /* recorded processes that have one */
	uint32_t live;                        /* processes with a thread that recorded something */
	bool mpi, gpu;                        /* is there anything of it? */
	bool all_locks;                       /* not only acquisitions that had to wait: releases are calls */
};

/* After gt_otf2_definitions(). 0 or -ENOMEM. */
int gt_classes_make(struct gt_classes *classes, const struct gt_otf2 *read);
void gt_classes_free(struct gt_classes *classes);

/* Of a region in a frame, which may be one that is not defined. */
static inline enum gt_class gt_class_of(const struct gt_classes *classes, const struct gt_otf2_region *region)
{
	const struct gt_otf2_region *first = gt_otf2_region_at(classes->read, 0);

	return region >= first && region < first + classes->read->tables[GT_OTF2_REGION].count
	       ? (enum gt_class)classes->regions[region - first] : GT_CLASS_CODE;
}

#endif
