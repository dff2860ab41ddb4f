/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The records of a location's stream, and what else adapters say in numbers: kinds of locations, causes
 * of loss, ways a thread ends. gt_record() and the functions beside it (adapter.h) take these types;
 * records.def has the meaning of each record's words.
 *
 * Limits: numbers, macros on words, and plain structs only; a number that was given stays given.
 */
#ifndef GPUTRACE_RECORDS_H
#define GPUTRACE_RECORDS_H

#include <stdint.h>

#define GT_NAME_MAX  4096u /* longest string that is kept; longer ones are cut and counted */
#define GT_SLOT      16u
#define GT_MAX_EXTRA 255u /* continuation slots that one record may have */

/*
 * The first slot of a record. `time` is written last: a slot whose time lies before the moment
 * its half became writable (gt_win_header.half_tick) was reserved but never finished.
 */
struct gt_slot {
	uint64_t time; /* ticks of the run's clock */
	uint64_t word; /* type << 56 | payload */
};

#define GT_TYPE_SHIFT 56
#define GT_PAYLOAD    ((UINT64_C(1) << GT_TYPE_SHIFT) - 1)
#define GT_WORD(type, payload) ((uint64_t)(type) << GT_TYPE_SHIFT | ((uint64_t)(payload) & GT_PAYLOAD))
#define GT_WORD_TYPE(word)    ((unsigned)((word) >> GT_TYPE_SHIFT))
#define GT_WORD_PAYLOAD(word) ((word) & GT_PAYLOAD)

/*
 * The payload of a type from 0x20 up is  extra << 48 | low48, where extra is the number of continuation
 * slots (raw data, no time). A reader that does not know a type in 0x20..0xdf skips 1 + extra slots.
 */
#define GT_EXTRA_SHIFT 48
#define GT_LOW48       ((UINT64_C(1) << GT_EXTRA_SHIFT) - 1)
#define GT_WORDX(type, extra, low) \
	GT_WORD(type, (uint64_t)(extra) << GT_EXTRA_SHIFT | ((uint64_t)(low) & GT_LOW48))
#define GT_WORD_EXTRA(word) ((unsigned)((word) >> GT_EXTRA_SHIFT) & 0xffu)
#define GT_WORD_LOW(word)   ((word) & GT_LOW48)

enum gt_type {
#define GT_RECORD(name, code, least, handler, owner, payload, data, otf2) GT_T_##name = code,
#include "gputrace/records.def"
#undef GT_RECORD
	GT_T_FIRST_RESERVED = 0xe0
};

/* Does a record of this type belong to the next one? */
#define GT_TYPE_IS_ATTR(type) ((type) == GT_T_ATTR || (type) == GT_T_TAG || (type) == GT_T_WOKEN)

/* Can the type have continuation slots? */
#define GT_TYPE_HAS_EXTRA(type) ((type) >= 0x20)

/* A thread's number and a time within minutes in one word: that of WOKEN, and of who may be asked later. */
#define GT_WOKEN_BY_BITS   20
#define GT_WOKEN_TIME_BITS 36
#define GT_WOKEN_UNIT      16 /* ticks */
#define GT_WOKEN_TIME(tick) ((tick) / GT_WOKEN_UNIT & ((UINT64_C(1) << GT_WOKEN_TIME_BITS) - 1))
#define GT_WOKEN_WORD(by, tick) \
	GT_WORD(GT_T_WOKEN, (uint64_t)(by) << GT_WOKEN_TIME_BITS | GT_WOKEN_TIME(tick))

/*
 * The payload of a SAMPLE, and one of its frames. The `kept` outermost frames of the same stream's sample
 * before, whose number is one less, stand below the new ones; the first sample of each half keeps none, so
 * that a reader who lost a half can go on.
 */
#define GT_SAMPLE_LOW(number, flags, kept, weight)                                                           \
	(((uint64_t)(number) & 15) << 44 | (uint64_t)(flags) << 40 | (uint64_t)(kept) << 32 |                \
	 (uint32_t)(weight))
#define GT_SAMPLE_NUMBER(word) ((unsigned)((word) >> 44) & 15u) /* of the stream's samples, mod 16 */
#define GT_SAMPLE_FLAGS(word)  ((unsigned)((word) >> 40) & 15u)
#define GT_SAMPLE_KEPT(word)   ((unsigned)((word) >> 32) & 0xffu)
#define GT_SAMPLE_WEIGHT(word) ((uint32_t)(word))
#define GT_SAMPLE_UNIT         1024u /* nanoseconds in a unit of the weight */
#define GT_SAMPLE_PERIOD       UINT64_C(4000000) /* ns, where the process says nothing else */
#define GT_SAMPLE_FRAMES       254u  /* most frames that a sample has */

enum gt_sample_flag {
	GT_SAMPLE_CUT = 1,    /* frames in the middle are missing: there were more than GT_SAMPLE_FRAMES */
	GT_SAMPLE_BROKEN = 2, /* the walk did not reach the thread's beginning */
	GT_SAMPLE_OWN = 4,    /* inside gputrace's own code: overhead; found out when assembling */
	GT_SAMPLE_KERNEL = 8, /* taken when a system call returned: time in the kernel */
};

#define GT_FRAME_WORD(flags, address) ((uint64_t)(flags) << 48 | ((uint64_t)(address) & GT_LOW48))
#define GT_FRAME_FLAGS(word)   ((unsigned)((word) >> 48))
#define GT_FRAME_ADDRESS(word) ((word) & GT_LOW48)

enum gt_frame_flag {
	GT_FRAME_EXACT = 1,    /* the instruction's address (innermost, or interrupted by a signal); else the
				  return address: the call is before it */
	GT_FRAME_GUESSED = 2,  /* found by frame pointer or by scanning */
	GT_FRAME_UNMAPPED = 4, /* in no file: made by a JIT */
	GT_FRAME_KERNELS = 8,  /* the kernel's code for its caller (vDSO) */
};

enum gt_thread_end {
	GT_THREAD_END_RETURN = 0,
	GT_THREAD_END_EXIT = 1,   /* pthread_exit */
	GT_THREAD_END_CANCEL = 2,
	GT_THREAD_END_UNKNOWN = 3,
};

enum gt_stack_flag {
	GT_STACK_FRESH = 1, /* nothing has been called there yet */
	GT_STACK_ENDED = 2, /* the one that is left will not go on */
	GT_STACK_JUMP = 4,  /* or to somewhere on the same stack */
};

/* How a process ends. */
enum gt_end_how {
	GT_END_NONE = 0,        /* still running, or killed */
	GT_END_EXIT = 1,        /* exit or return from main */
	GT_END__EXIT = 2,       /* _exit, _Exit */
	GT_END_QUICK_EXIT = 3,
	GT_END_EXEC = 4,
	GT_END_ABORT = 5,
	GT_END_SIGNAL = 6,
};

/* Why an event is not in the trace. One counter each per location and per process. */
enum gt_loss {
	GT_LOSS_NESTED = 0,    /* a signal handler's event while both halves were full */
	GT_LOSS_SPACE = 1,     /* no room on the disk, quota, file size limit, write error */
	GT_LOSS_LIMIT = 2,     /* VT_MAX_FLUSHES / VT_MAX_BYTES with policy stop */
	GT_LOSS_RING = 3,      /* overwritten by newer events (policy ring) */
	GT_LOSS_NO_LOCATION = 4, /* thread without a buffer: no memory or VT_MAX_THREADS reached */
	GT_LOSS_EARLY = 5,     /* before gputrace was ready */
	GT_LOSS_LATE = 6,      /* after the process ended its recording, or thread already gone */
	GT_LOSS_FORK = 7,      /* child without its own recording (vfork, raw clone) */
	GT_LOSS_TORN = 8,      /* reserved but not finished (found when assembling) */
	GT_LOSS_FILTER = 9,    /* not a loss: filtered on request; counted where it is cheap */
	GT_LOSS_REWIND = 10,   /* not a loss: removed by VT_REWIND */
	GT_LOSS_DEFINITION = 11, /* a definition could not be written */
	GT_LOSS_SIZE = 12,     /* a record too long for the buffer, or for any */
	GT_LOSS_SANDBOX = 13,  /* the program had confined itself, and the buffers were full */
	GT_LOSS_METRIC = 14,   /* readings of counters: at an event (which is there), by a thread, of a GPU */
	GT_LOSS_N = 16,
};

enum gt_loc_kind {
	GT_LOC_THREAD = 0,
	GT_LOC_GPU_STREAM = 1, /* each activity is one block, ENTER to LEAVE, in any order of time */
	GT_LOC_METRIC = 2,
	GT_LOC_DEFERRED = 3,       /* carries FOR_LOCATION records only; no location of its own */
};

/* Flags of a location. */
#define GT_LOC_UNSORTED 1u  /* record times are not the time of writing; sort when assembling */
#define GT_LOC_COMMITS  2u  /* the end of the stream is noted with each record (foreign times) */
#define GT_LOC_PACKED   4u  /* the core's own: what is spooled is packed */
#define GT_LOC_MIXED    16u /* the core's own: of threads that lived for long, one after the other */
#define GT_LOC_ASIDE    8u  /* a timeline of the process, sorted like a GPU_STREAM: for what may overlap */

/* Key of a GPU_STREAM, or of its group, that is of no device: its activities keep none busy. */
#define GT_KEY_NO_DEVICE UINT64_MAX

enum gt_clock_kind {
	GT_CLOCK_TSC = 1,       /* x86: rdtsc, invariant and used by the kernel */
	GT_CLOCK_MONOTONIC = 2, /* ticks are nanoseconds */
	GT_CLOCK_CNTVCT = 3,    /* Arm */
};

#define GT_COMM_EVENTS 1u  /* of a COMM: it has COMM_CREATE and COMM_DESTROY records */
/* Of a COMM: the LINK that it goes back to, 0: none. Its key is then unique among those of that link. */
#define GT_COMM_LINK_SHIFT 8

/* The I/O paradigm of a HANDLE. */
enum gt_io_paradigm {
	GT_IO_PARADIGM_POSIX = 1,
	GT_IO_PARADIGM_ISO_C = 2,
	GT_IO_PARADIGM_MPI = 3,
};

#define GT_HANDLE_FOUND 1u /* it was open before anybody recorded that */
#define GT_HANDLE_FILE  2u /* its name is that of a file */
#define GT_HANDLE_MODE_SHIFT   8  /* of a found one: OTF2_IoAccessMode */
#define GT_HANDLE_STATUS_SHIFT 16 /* of a found one: OTF2_IoStatusFlag */

enum gt_link_kind {
	GT_LINK_SPAWN = 1,
	GT_LINK_PARENT = 2, /* the other endpoint of SPAWN */
	GT_LINK_ACCEPT = 3,
	GT_LINK_CONNECT = 4,
	GT_LINK_JOIN = 5,   /* both ends */
};

/*
 * One endpoint of a connection between two MPI_COMM_WORLDs, as a process there knows it. The assembly
 * finds out which endpoints belong together.
 */
struct gt_def_link {
	uint64_t key;       /* of this endpoint: the same in all its processes, like that of a COMM */
	uint32_t link;      /* the LINK that the key goes back to, 0: none */
	uint32_t group;     /* GROUP: the members of this endpoint */
	uint32_t near, far; /* how many members this endpoint has, and the other one */
	uint32_t kind;      /* enum gt_link_kind */
	uint32_t root;      /* 1: this is the one process whose arguments count, and what follows holds */
	uint64_t begin, end;/* ticks: of the call; of PARENT: 0, and when MPI_Init was over */
	/* Then its place, if it is known: the port; of SPAWN and PARENT the job (hexadecimal) and the rank
	   of the process that spawned; of JOIN the addresses of the socket, the lesser first. */
};

/* One parameter of a set (gt_def_params). */
struct gt_def_param {
	uint32_t type;      /* GT_T_PARAM_* */
	uint32_t parameter; /* PARAMETER id */
	uint64_t value;     /* a STRING id for GT_T_PARAM_STR */
};

#endif
