/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The spool format: every byte that a recording process leaves on disk and that the assembly
 * reads back. doc/FORMAT.md says the same in prose; a change here bumps GT_FORMAT_VERSION.
 *
 * Limits: no code, no pointers, no dependence on anything but <stdint.h>. All numbers are in the
 * byte order of the host that recorded; `magic` tells a reader of another byte order apart.
 *
 *   DIR/                         the archive directory (0700)
 *     spool/run                  struct gt_run_header; also the file that is flock()ed
 *     spool/host.<name>.<boot>/run   the same for each further host; its processes lie beside it
 *     spool/p<seq>.<pid>/proc    struct gt_proc_header (mapped shared, always current)
 *     spool/p<seq>.<pid>/defs    struct gt_file_header, then struct gt_def records
 *     spool/p<seq>.<pid>/l<id>.win   struct gt_win_header, then two halves (mapped shared)
 *     spool/p<seq>.<pid>/l<id>.raw   the location's stream up to gt_win_header.spooled
 *
 * A location's stream is a sequence of 16-byte slots, addressed by their byte offset since the
 * location began. Offset o lives in the window at (o % (2 * half_bytes)) while it is not spooled.
 * l<id>.raw holds what is spooled: packed blocks one after the other (GT_LOC_PACKED); or, for a ring,
 * bare slots, offset o at o % ring_bytes.
 */
#ifndef GT_FORMAT_H
#define GT_FORMAT_H

#include <stdint.h>

#define GT_FORMAT_VERSION 4u

#define GT_MAGIC_RUN  0x314e555254474721ull /* "!GGTRUN1" read as a little-endian number */
#define GT_MAGIC_PROC 0x31434f5250474721ull
#define GT_MAGIC_DEFS 0x3153464544474721ull
#define GT_MAGIC_WIN  0x314e495754474721ull

#define GT_NAME_MAX     4096u  /* longest string that is kept; longer ones are cut and counted */
#define GT_PAGE         4096u
#define GT_SLOT         16u
#define GT_MAX_EXTRA    255u   /* continuation slots that one record may have */

/* ---- slots -------------------------------------------------------------------------------- */

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
 * For types with continuation slots the payload is  extra << 48 | low48, where extra is the
 * number of continuation slots (raw data, no time). Types marked (+n) below use that form; all
 * others are one slot, and the whole payload belongs to the type. A reader that does not know a
 * type in the range 0x20..0xdf skips 1 + extra slots; every such type uses the extra form.
 */
#define GT_EXTRA_SHIFT 48
#define GT_LOW48       ((UINT64_C(1) << GT_EXTRA_SHIFT) - 1)
#define GT_WORDX(type, extra, low) \
	GT_WORD(type, (uint64_t)(extra) << GT_EXTRA_SHIFT | ((uint64_t)(low) & GT_LOW48))
#define GT_WORD_EXTRA(word) ((unsigned)((word) >> GT_EXTRA_SHIFT) & 0xffu)
#define GT_WORD_LOW(word)   ((word) & GT_LOW48)

enum gt_type {
	/* one slot, payload 56 bits */
	GT_T_NONE = 0x00,       /* never written: a hole */
	GT_T_ENTER_ADDR = 0x01, /* payload: address of the function */
	GT_T_LEAVE_ADDR = 0x02,
	GT_T_PAD = 0x03,        /* filler at the end of a half */
	GT_T_ENTER = 0x04,      /* payload: id of a REGION definition */
	GT_T_LEAVE = 0x05,
	GT_T_FLUSH = 0x06,      /* the writer spooled a half from time to time + payload ticks */
	GT_T_GAP = 0x07,        /* cause << 48 | number of events that are missing here */
	GT_T_ON = 0x08,         /* measurement switched on / off by the program */
	GT_T_OFF = 0x09,
	GT_T_UNWIND = 0x0a,     /* payload: depth; open regions above it were left without an event */
	GT_T_TAG = 0x0b,        /* a short ATTR: ATTRIBUTE id << 32 | value; id below 2^24 */
	GT_T_IO_ENTER = 0x0c,   /* ENTER and IO_BEGIN in one, GT_IO_WORD; it has the next matching id */
	GT_T_IO_LEAVE = 0x0d,   /* IO_COMPLETE of the last IO_ENTER of this handle, and LEAVE */

	/* attributes and parameters: belong to the next record of this location */
	GT_T_ATTR = 0x20,       /* (+1) low: ATTRIBUTE id; data: u64 value, u64 0 */
	GT_T_PARAM_INT = 0x21,  /* (+1) low: PARAMETER id; data: i64, 0: an event of its own */
	GT_T_PARAM_UINT = 0x22, /* (+1) low: PARAMETER id; data: u64, 0 */
	GT_T_PARAM_STR = 0x23,  /* (+1) low: PARAMETER id; data: STRING id, 0 */

	GT_T_PARAMS = 0x24,     /* (+0) low: PARAMS id: each of the set is an event of its own */

	GT_T_METRIC = 0x28,     /* (+1) low: METRIC id; data: value (u64/i64/double bits), 0 */
	GT_T_METRICS = 0x29,    /* (+n) low: METRIC id of the first of `count` consecutive metrics;
				   data: u64 count, then that many values, padded with 0 */
	GT_T_MARKER = 0x2a,     /* (+1) low: MARKER id; data: STRING id, u64 scope (0: location) */
	GT_T_COMMENT = 0x2b,    /* (+1) low: 0; data: STRING id, 0 */

	/* user messages: no peer given, sends and receives are paired by (comm, tag) */
	GT_T_USER_SEND = 0x30,  /* (+1) low: COMM id; data: u64 tag, u64 bytes */
	GT_T_USER_RECV = 0x31,

	/* threads and locks */
	GT_T_THREAD_CREATE = 0x40, /* (+1) low: 0; data: u64 sequence number of the created thread, 0 */
	GT_T_THREAD_BEGIN = 0x41,  /* (+1) low: 0; data: sequence number, u64 kernel thread id */
	GT_T_THREAD_WAIT = 0x42,   /* (+1) low: 0; data: sequence number of the joined thread, 0 */
	GT_T_THREAD_END = 0x43,    /* (+1) low: 0; data: sequence number, u64 GT_THREAD_END_* */
	GT_T_LOCK_ACQUIRE = 0x48,  /* (+1) low: address of the lock; data: u64 order, u64 0 */
	GT_T_LOCK_RELEASE = 0x49,

	/* processes */
	GT_T_FORK = 0x50,       /* (+1) low: 0; data: u64 pid of the child, 0 */
	GT_T_EXEC = 0x51,       /* (+1) low: 0; data: STRING id of the program, 0 */
	GT_T_WAITPID = 0x52,    /* (+1) low: 0; data: u64 pid that ended, u64 wait status */

	/* MPI point to point. data slot 1: u32 peer (rank in comm), u32 tag, u64 bytes */
	GT_T_MPI_SEND = 0x60,          /* (+1) low: COMM id */
	GT_T_MPI_RECV = 0x61,          /* (+1) */
	GT_T_MPI_ISEND = 0x62,         /* (+2) data slot 2: u64 request id, 0 */
	GT_T_MPI_ISEND_COMPLETE = 0x63,/* (+1) low: 0; data: u64 request id, 0 */
	GT_T_MPI_IRECV_REQUEST = 0x64, /* (+1) the same */
	GT_T_MPI_IRECV = 0x65,         /* (+2) as ISEND */
	GT_T_MPI_REQUEST_TEST = 0x66,  /* (+1) low: 0; data: request id, 0 */
	GT_T_MPI_REQUEST_CANCELLED = 0x67,
	/* collectives: COLL_BEGIN low: 0, no data; COLL_END low: COMM id;
	   data: u32 operation, u32 root, u64 sent ; u64 received, u64 request id (0: blocking) */
	GT_T_COLL_BEGIN = 0x68,        /* (+0) */
	GT_T_COLL_END = 0x69,          /* (+2) */
	GT_T_NBCOLL_REQUEST = 0x6a,    /* (+1) data: request id, 0 */
	GT_T_NBCOLL_COMPLETE = 0x6b,   /* (+2) as COLL_END */
	GT_T_COMM_CREATE = 0x6c,       /* (+0) low: COMM id */
	GT_T_COMM_DESTROY = 0x6d,
	/* one-sided. low: WINDOW id; data: u32 remote, u32 kind, u64 bytes; u64 matching id, 0 */
	GT_T_RMA_PUT = 0x70,           /* (+2) */
	GT_T_RMA_GET = 0x71,           /* (+2) */
	GT_T_RMA_ATOMIC = 0x72,        /* (+2) kind: OTF2 atomic type; last word: bytes received */
	GT_T_RMA_COMPLETE = 0x73,      /* (+2) kind: 0 blocking, 1 non-blocking, 2 remote */
	GT_T_RMA_SYNC = 0x74,          /* (+1) kind: OTF2_RmaSyncType */
	GT_T_RMA_LOCK = 0x75,          /* (+1) kind: OTF2_LockType | acquired << 8; remote ~0: all */
	GT_T_RMA_UNLOCK = 0x76,        /* (+1) remote ~0: all */
	GT_T_RMA_WIN = 0x77,           /* (+0) low: WINDOW id << 1 | destroyed */
	GT_T_RMA_COLL_BEGIN = 0x78,    /* (+0) low: 0 */
	GT_T_RMA_COLL_END = 0x79,      /* (+1) low: WINDOW id; data: u32 operation, u32 OTF2_RmaSyncLevel, 0 */
	/* I/O. low: HANDLE id; data: u32 operation/mode, u32 flags, u64 bytes or offset;
	   u64 matching id, u64 result. Numbers are OTF2's. */
	GT_T_IO_OPEN = 0x80,           /* (+2) access mode; flags: creation | status << 16 */
	GT_T_IO_CLOSE = 0x81,          /* (+2) */
	GT_T_IO_BEGIN = 0x82,          /* (+2) operation mode, operation flags, bytes, matching id */
	GT_T_IO_COMPLETE = 0x83,       /* (+2) matching id (0: the last IO_ENTER's), bytes moved */
	GT_T_IO_SEEK = 0x84,           /* (+2) whence, -, offset; -, new offset */
	GT_T_IO_DUP = 0x85,            /* (+2) status flags, -, HANDLE id of the new one */
	GT_T_IO_ISSUED = 0x86,         /* (+2) matching id: a call that does not block has begun it */
	GT_T_IO_CANCELLED = 0x87,      /* (+2) matching id */
	GT_T_IO_DELETE = 0x88,         /* (+1) low: STRING id of the file; data: paradigm, 0 */
	/* transfers whose far end lies on another location of this process, at its own time: in a
	   GPU's stream, or for a thread by way of a stream of kind GT_LOC_SIDE. Both ends are recorded,
	   with equal tag and bytes. low: COMM id; data: u32 local id of the other location, u32 tag,
	   u64 bytes. One-sided ones are RMA_PUT, RMA_GET, RMA_COMPLETE in the GPU's stream, `remote`
	   being the local id of the other location. */
	GT_T_XFER_SEND = 0x90,         /* (+1) */
	GT_T_XFER_RECV = 0x91,         /* (+1) */
	/* the record that follows, with the attributes before it, belongs to another location; only in
	   streams of kind GT_LOC_SIDE. low: its local id */
	GT_T_FOR_LOCATION = 0x92,      /* (+0) */

	GT_T_FIRST_RESERVED = 0xe0,
};

/* Does a record of this type belong to the next one? */
#define GT_TYPE_IS_ATTR(type) ((type) == GT_T_ATTR || (type) == GT_T_TAG)
/* The payload of IO_ENTER and IO_LEAVE; what does not fit is recorded by IO_BEGIN and so on. */
#define GT_IO_REGIONS 0x4000u  /* ids below */
#define GT_IO_HANDLES 0x10000u
#define GT_IO_MOST    0xfffffeu /* bytes */
#define GT_IO_UNKNOWN 0xffffffu
#define GT_IO_WORD(type, mode, region, handle, bytes)                                     \
	GT_WORD(type, (uint64_t)(mode) << 54 | (uint64_t)(region) << 40 | (uint64_t)(handle) << 24 | \
			      (uint64_t)(bytes))
#define GT_IO_WORD_MODE(word)   ((unsigned)((word) >> 54) & 3u)
#define GT_IO_WORD_REGION(word) ((uint32_t)((word) >> 40) & 0x3fffu)
#define GT_IO_WORD_HANDLE(word) ((uint32_t)((word) >> 24) & 0xffffu)
#define GT_IO_WORD_BYTES(word)  ((uint32_t)(word) & 0xffffffu)

/* Does the type use the extra form? (Everything from 0x20 up does.) */
#define GT_TYPE_HAS_EXTRA(type) ((type) >= 0x20)

enum gt_thread_end {
	GT_THREAD_END_RETURN = 0,
	GT_THREAD_END_EXIT = 1,   /* pthread_exit */
	GT_THREAD_END_CANCEL = 2,
	GT_THREAD_END_UNKNOWN = 3,
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
	GT_LOSS_N = 16,
};

/* ---- window file ---------------------------------------------------------------------------- */

enum gt_loc_kind {
	GT_LOC_THREAD = 0,
	GT_LOC_GPU_STREAM = 1, /* each activity is one block, ENTER to LEAVE, in any order of time */
	GT_LOC_METRIC = 2,
	GT_LOC_SIDE = 3,       /* carries FOR_LOCATION records only; no location of its own */
};

#define GT_LOC_UNSORTED 1u  /* record times are not the time of writing; sort when assembling */
#define GT_LOC_COMMITS  2u  /* `committed` is kept current; half_tick does not apply */
#define GT_LOC_ASIDE    8u  /* of a GPU_STREAM: no GPU's, but a row of things that overlap, of the process */
#define GT_LOC_PACKED   4u  /* l<id>.raw holds blocks of lib/common/pack.h, not bare slots */

struct gt_win_header {
	uint64_t magic;
	uint32_t version;
	uint32_t header_bytes;  /* offset of the first half: GT_PAGE */
	uint32_t half_bytes;    /* power of two */
	uint32_t id;            /* local id of the location, as in the LOCATION definition */
	uint32_t kind;
	uint32_t flags;
	uint64_t begin;         /* ticks when the location was made */
	uint64_t ring_bytes;    /* 0, or size of the ring in l<id>.raw (multiple of half_bytes) */
	uint64_t spooled;       /* stream offset below which everything is in l<id>.raw (or lost) */
	uint64_t half_base[2];  /* stream offset at which each half's present turn begins */
	uint64_t half_tick[2];  /* ticks when that turn began: older slots are of the turn before */
	uint64_t committed;     /* end of the stream, or ~0 if it must be found by looking */
	uint64_t stopped;       /* 0, or stream offset at which recording stopped for good */
	uint64_t lost[GT_LOSS_N];
	uint32_t tid;           /* kernel thread id of the present or last writer */
	uint32_t incarnation;   /* how many threads have used this location */
	uint64_t packed_bytes;  /* GT_LOC_PACKED: length of l<id>.raw that goes with `spooled` */
};

/* ---- definitions journal ---------------------------------------------------------------------- */

struct gt_file_header {
	uint64_t magic;
	uint32_t version;
	uint32_t reserved;
};

/* One definition. `bytes` counts the whole record, is a multiple of 8; the rest is zero. */
struct gt_def {
	uint32_t bytes;
	uint16_t type;
	uint16_t flags;
	uint32_t id;     /* 1, 2, 3 ... per type and process; 0 where the type has no id */
	uint32_t check;  /* FNV-1a (32 bit) of the payload and of the twelve bytes before */
	/* payload follows */
};

enum gt_def_type {
	GT_D_STRING = 1,    /* payload: the bytes, then a NUL */
	GT_D_REGION = 2,    /* struct gt_def_region */
	GT_D_METRIC = 3,    /* struct gt_def_metric */
	GT_D_MARKER = 4,    /* struct gt_def_marker */
	GT_D_ATTRIBUTE = 5, /* struct gt_def_attribute */
	GT_D_PARAMETER = 6, /* struct gt_def_attribute */
	GT_D_COMM = 7,      /* struct gt_def_comm */
	GT_D_LOCATION = 8,  /* struct gt_def_location; id counts from 0 */
	GT_D_LOCATION_NAME = 9, /* struct gt_def_loc_name: from this tick on */
	GT_D_LOCGROUP = 10, /* struct gt_def_locgroup; id 0 is the process itself, never written */
	GT_D_MODULE = 11,   /* struct gt_def_module, then the path and a NUL */
	GT_D_MODULE_GONE = 12, /* struct gt_def_module_gone */
	GT_D_CUT = 13,      /* struct gt_def_cut: VT_REWIND */
	GT_D_CALIB = 14,    /* struct gt_def_calib */
	GT_D_PROPERTY = 15, /* key NUL value NUL */
	GT_D_GROUP = 16,    /* struct gt_def_group, then count * u32 members */
	GT_D_WINDOW = 17,   /* one-sided window: struct gt_def_comm */
	GT_D_HANDLE = 18,   /* I/O handle: struct gt_def_comm (name; paradigm 1 POSIX, 2 ISO C,
			       3 MPI-IO: then parent is a COMM id; flags GT_HANDLE_*) */
	GT_D_PARAMS = 19,   /* struct gt_def_params, then count * struct gt_def_param */
	GT_D_TOPOLOGY = 20, /* struct gt_def_topology, then count * u32 sizes, count * u32 periodic */
	GT_D_SYNC = 21,     /* struct gt_def_sync: two hosts' clocks were compared */
	GT_D_CLOCK = 22,    /* struct gt_def_clock, then count * struct gt_def_knot */
	GT_D_LINK = 23,     /* struct gt_def_link, then the name of the meeting place and a NUL */
};

#define GT_COMM_EVENTS 1u  /* of a COMM: COMM_CREATE and COMM_DESTROY tell of it */
/* Of a COMM: the LINK that it goes back to, 0: none. Its key is then unique among those of that link. */
#define GT_COMM_LINK_SHIFT 8

#define GT_HANDLE_FOUND 1u /* it was open before anybody recorded that */
#define GT_HANDLE_FILE  2u /* its name is that of a file */
#define GT_HANDLE_MODE_SHIFT   8  /* of a found one: OTF2_IoAccessMode */
#define GT_HANDLE_STATUS_SHIFT 16 /* of a found one: OTF2_IoStatusFlag */

/* Strings are STRING ids, 0 for none. */
struct gt_def_region {
	uint32_t name;      /* as the user knows it */
	uint32_t canonical; /* mangled name, 0: the same */
	uint32_t file;
	uint32_t group;     /* name of the region's group */
	uint32_t begin_line, end_line;
	uint8_t role;       /* OTF2_RegionRole */
	uint8_t paradigm;   /* OTF2_Paradigm */
	uint16_t flags;     /* OTF2_RegionFlag */
	uint32_t description;
};

struct gt_def_metric {
	uint32_t name, unit, group, description;
	uint8_t value;      /* OTF2_Type: INT64 8, UINT64 4, DOUBLE 10 */
	uint8_t mode;       /* OTF2_MetricMode */
	uint8_t kind;       /* OTF2_MetricType */
	uint8_t scope;      /* 0 location, 1 process, 2 location group */
	uint32_t scope_id;
};

struct gt_def_marker {
	uint32_t name, group;
	uint32_t severity;  /* OTF2_MarkerSeverity */
	uint32_t reserved;
};

struct gt_def_attribute {
	uint32_t name, description;
	uint32_t type;      /* OTF2_Type, or OTF2_ParameterType for a parameter */
	uint32_t reserved;
};

struct gt_def_comm {
	uint32_t name;
	uint32_t parent;    /* id of the same type, 0: none */
	uint32_t group;     /* GROUP id, 0: the locations that use it */
	uint32_t paradigm;  /* OTF2_Paradigm */
	uint32_t flags;
	uint32_t remote;    /* GROUP of the other side of an inter-communicator, else 0 */
	uint64_t key;       /* the same in all processes that mean the same thing; 0: by name */
};

/*
 * Ranks of the process's job, in the order of the communicator. kind 1: the members; kind 2: two
 * numbers, the first member and how much more the next one is each time. kind 3: two numbers for each
 * member, a LINK and the rank at its other end; link 0: the rank in the process's job.
 */
struct gt_def_group {
	uint32_t name, kind, paradigm, flags;
	uint32_t count;
	uint32_t before;    /* GROUP whose members come before these (long lists), else 0 */
};

enum gt_link_kind {
	GT_LINK_SPAWN = 1,
	GT_LINK_PARENT = 2, /* the other end of SPAWN */
	GT_LINK_ACCEPT = 3,
	GT_LINK_CONNECT = 4,
	GT_LINK_JOIN = 5,   /* both ends */
};

/*
 * One end of what connects processes of two MPI_COMM_WORLDs, as a process there knows it. Which end
 * belongs to which other one is found out by the assembly.
 */
struct gt_def_link {
	uint64_t key;       /* of this end: the same in all its processes, and as that of a COMM */
	uint32_t link;      /* the LINK that the key goes back to, 0: none */
	uint32_t group;     /* GROUP: who is at this end */
	uint32_t near, far; /* how many are at this end, and at the other one */
	uint32_t kind;      /* enum gt_link_kind */
	uint32_t root;      /* 1: this is the one process whose arguments count, and what follows holds */
	uint64_t begin, end;/* ticks: of the call; of PARENT: 0, and when MPI_Init was over */
	/* Then its place, if it is known: the port; of SPAWN and PARENT the job (hexadecimal) and the rank
	   of the process that spawned; of JOIN the addresses of the socket, the lesser first. */
};

/* A Cartesian topology; ranks are its places in row-major order. */
struct gt_def_topology {
	uint32_t comm;      /* COMM id */
	uint32_t count;     /* dimensions */
};

/* Parameters with values that often come together. */
struct gt_def_params {
	uint32_t count, reserved;
};

struct gt_def_param {
	uint32_t type;      /* GT_T_PARAM_* */
	uint32_t parameter; /* PARAMETER id */
	uint64_t value;     /* a STRING id for GT_T_PARAM_STR */
};

struct gt_def_location {
	uint32_t name;
	uint32_t kind;      /* enum gt_loc_kind */
	uint32_t group;     /* LOCGROUP id */
	uint32_t flags;
	uint64_t tick;
	uint64_t key;       /* adapter's own: device << 32 | stream for a GPU stream */
};

struct gt_def_loc_name {
	uint32_t location, name;
	uint64_t tick;
};

struct gt_def_locgroup {
	uint32_t name;
	uint32_t kind;      /* 1: ACCELERATOR */
	uint64_t key;
};

/* A file mapped executable, as seen in the process's memory map. */
struct gt_def_module {
	uint64_t tick;      /* when it was first seen; it may have been there before */
	uint64_t start, end;/* addresses of the executable mapping */
	uint64_t offset;    /* file offset of `start` */
	uint64_t inode;
	uint64_t size;      /* of the file, and its modification time: is it still the same? */
	int64_t mtime_ns;
	uint32_t dev_major, dev_minor;
};

struct gt_def_module_gone {
	uint64_t tick;
	uint64_t start, end;
};

struct gt_def_cut {
	uint32_t location, reserved;
	uint64_t from, to;  /* stream offsets; records that begin in [from, to) are removed */
};

/* One simultaneous reading of the clocks: the tick lies within +- width/2 of the others. */
struct gt_calib {
	uint64_t tick;
	uint64_t width;     /* ticks */
	int64_t mono_ns;    /* CLOCK_MONOTONIC */
	int64_t real_ns;    /* CLOCK_REALTIME */
};

/* A reading where the counter's rate against CLOCK_MONOTONIC has changed, or did before or after. */
struct gt_def_calib {
	struct gt_calib at;
	int64_t boot_ns;    /* CLOCK_BOOTTIME */
};

/*
 * At `tick` of this host's clock the clock of the host `reference` showed `other_tick`; both within
 * +- width/2 ticks of this clock.
 */
struct gt_def_sync {
	uint64_t tick, other_tick;
	uint64_t width;
	uint32_t reference; /* STRING id: name of the host */
	uint32_t kind;      /* of the other clock: enum gt_clock_kind */
};

/*
 * What all hosts of a parallel program know of one clock at its end: by which readings and comparisons
 * its ticks are converted. A host has those of a chain, from the clock that was compared with no other to
 * its own, so that it comes to the same times as all others.
 */
struct gt_def_clock {
	uint64_t nominal_hz;
	struct gt_calib first, last;
	uint32_t kind, reference_kind; /* enum gt_clock_kind */
	uint32_t count;                /* comparisons, always with the same clock; 0: the chain's begin */
	uint32_t reserved;
	char host[64], reference[64];
};

struct gt_def_knot {
	uint64_t tick, other_tick;
	uint64_t width;
};

/* ---- process header ----------------------------------------------------------------------------- */

enum gt_clock_kind {
	GT_CLOCK_TSC = 1,       /* x86: rdtsc, invariant and used by the kernel */
	GT_CLOCK_MONOTONIC = 2, /* ticks are nanoseconds */
	GT_CLOCK_CNTVCT = 3,    /* Arm */
};

enum gt_proc_state {
	GT_PROC_STARTING = 0,
	GT_PROC_RUNNING = 1,
	GT_PROC_EXEC = 2,       /* about to become another program; back to RUNNING if that fails */
	GT_PROC_ENDED = 3,
};

enum gt_end_how {
	GT_END_NONE = 0,        /* still running, or killed */
	GT_END_EXIT = 1,        /* exit or return from main */
	GT_END__EXIT = 2,       /* _exit, _Exit */
	GT_END_QUICK_EXIT = 3,
	GT_END_EXEC = 4,
	GT_END_ABORT = 5,
	GT_END_SIGNAL = 6,
};

struct gt_proc_header {
	uint64_t magic;
	uint32_t version;
	uint32_t header_bytes;
	uint32_t pid, ppid;
	uint64_t start_time;    /* field 22 of /proc/self/stat: tells a reused pid apart */
	uint32_t seq;           /* number in the directory's name */
	uint32_t parent_seq;    /* the process that forked, or became, this one; ~0: none */
	uint32_t origin;        /* 0: first, 1: fork, 2: exec */
	uint32_t state;         /* enum gt_proc_state */
	uint32_t how;           /* enum gt_end_how */
	uint32_t status;        /* exit status or signal number */
	uint64_t begin, end;    /* ticks */
	struct gt_calib first, last; /* last.tick 0: process did not end by itself */
	uint32_t clock;         /* enum gt_clock_kind */
	uint32_t rank;          /* ~0: not an MPI process */
	uint64_t nominal_hz;    /* ticks per second, as measured at the start */
	uint64_t lost[GT_LOSS_N];
	uint64_t locations;     /* how many were made */
	uint64_t defs_bytes;    /* length of the journal that is complete */
	char host[64];
	char program[256];      /* base name */
};

/* ---- run header ----------------------------------------------------------------------------------- */

enum gt_run_state {
	GT_RUN_OPEN = 0,
	GT_RUN_ASSEMBLING = 1,
	GT_RUN_DONE = 2,
	GT_RUN_ENDED = 3,       /* all processes of this host have ended; other hosts may go on */
	GT_RUN_TIDY = 4,        /* as GT_RUN_DONE, and the spool is being removed */
};

/* Of one parallel program, by the processes of this host (mpi/hosts.c); atomic. */
struct gt_run_job {
	uint64_t job;           /* 0: free */
	uint32_t begun;         /* processes that have come to MPI_Init */
	uint32_t speaker;       /* pid of the one that speaks for this host, 0: none yet */
};
#define GT_RUN_JOBS 16

/* Why a process of the run is not in the trace. */
enum gt_absent {
	GT_ABSENT_OTHER = 0,
	GT_ABSENT_USER = 1,     /* it had become a user who may not write there */
	GT_ABSENT_SPACE = 2,    /* no room on the disk, quota, file size limit */
	GT_ABSENT_SANDBOX = 3,  /* it, or who made it, had confined itself */
	GT_ABSENT_N = 8,
};

struct gt_run_header {
	uint64_t magic;
	uint32_t version;
	uint32_t state;         /* enum gt_run_state */
	uint64_t created_real_ns;
	uint32_t next_seq;      /* taken under the lock */
	uint32_t uid;
	char boot_id[40];
	char host[64];
	char spool[1024];       /* absolute path of the folder with the p<seq>.<pid> folders */
	uint64_t job;           /* the parallel job whose processes share the run, 0: none */
	struct gt_run_job jobs[GT_RUN_JOBS]; /* used while the processes run */
	uint32_t untraced;      /* processes that took a number and could not record anything */
	uint32_t outside;       /* programs that were started and cannot load the library ... */
	char outside_first[60]; /* ... and the name of the first */
	uint32_t watched;       /* 1: somebody has watched this host's processes and will assemble; see GT_WATCH */
	uint32_t parents;       /* of type `gputrace run` that wait for their command; atomic */
	uint32_t absent[GT_ABSENT_N]; /* processes that could not be recorded, by cause; atomic */
	uint32_t absent_user;   /* of the last one of GT_ABSENT_USER */
	uint32_t told;          /* sentences that one process says for all; atomic bits */
};

#endif
