/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The spool format: every byte that a recording process leaves on disk and that the assembly
 * reads back. doc/FORMAT.md says the same in prose; a change here bumps GT_FORMAT_VERSION.
 *
 * The records themselves, and what adapters may name, are in <gputrace/records.h>.
 *
 * Limits: no code, no pointers. All numbers are in the byte order of the host that recorded; `magic`
 * tells a reader of another byte order apart.
 *
 *   DIR/                         the archive directory (0700)
 *     spool/run                  struct gt_run_header; also the file that is flock()ed
 *     spool/host.<name>.<boot>/run   the same for each further host; its processes lie beside it
 *     spool/p<seq>.<pid>/proc    struct gt_proc_header (mapped shared, always current); from GT_DEFS_AT on
 *                                the definitions: struct gt_file_header, then struct gt_def records
 *     spool/p<seq>.<pid>/children    struct gt_proc_header of each child that recorded nothing
 *     spool/p<seq>.<pid>/l<id>.win   struct gt_win_header, then two halves (mapped shared)
 *     spool/p<seq>.<pid>/l<id>.raw   the location's stream up to gt_win_header.spooled
 *
 * A location's stream is a sequence of 16-byte slots, addressed by their byte offset since the
 * location began. Offset o lives in the window at (o % (2 * half_bytes)) while it is not spooled.
 * l<id>.raw holds what is spooled: packed blocks one after the other (GT_LOC_PACKED), whose last bytes are in
 * the stage behind the halves, byte p of the file at p % stage_bytes, until that is full; or, for a ring,
 * bare slots, offset o at o % ring_bytes.
 */
#ifndef GT_FORMAT_H
#define GT_FORMAT_H

#include "gputrace/records.h"

#include <stdint.h>

#define GT_FORMAT_VERSION 17u

#define GT_MAGIC_RUN  0x314e555254474721ull /* "!GGTRUN1" read as a little-endian number */
#define GT_MAGIC_PROC 0x31434f5250474721ull
#define GT_MAGIC_DEFS 0x3153464544474721ull
#define GT_MAGIC_WIN  0x314e495754474721ull

#define GT_PAGE    4096u
#define GT_DEFS_AT GT_PAGE /* in spool/p<seq>.<pid>/proc */

/* ---- records ------------------------------------------------------------------------------ */

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

/*
 * The payload of GT_T_MPI_SEND_ENTER and GT_T_MPI_RECV_LEAVE; what does not fit is a GT_T_MPI_SEND and so
 * on.
 */
#define GT_MESSAGE_REGIONS  0x4000u    /* ids below */
#define GT_MESSAGE_CHANNELS 0x1000u    /* there are no more */
#define GT_MESSAGE_MOST     0x3ffffffu /* bytes */
#define GT_MESSAGE_WORD(type, region, channel, bytes) \
	GT_WORD(type, (uint64_t)(region) << 42 | (uint64_t)(channel) << 26 | (uint64_t)(bytes))
#define GT_MESSAGE_REGION(word)  ((uint32_t)((word) >> 42) & 0x3fffu)
#define GT_MESSAGE_CHANNEL(word) ((uint32_t)((word) >> 26) & 0xffffu)
#define GT_MESSAGE_BYTES(word)   ((uint32_t)(word) & GT_MESSAGE_MOST)

/* ---- what the scheduler did ------------------------------------------------------------------- */

/* What a thread had been given by one moment, since it was made. */
struct gt_sched {
	uint64_t at;       /* CLOCK_MONOTONIC, ns; 0: nothing was read */
	uint64_t running;  /* ns that it had a processor */
	uint64_t ready;    /* ns that it could have run, and waited for one */
	uint64_t switches; /* how often it was given one */
	uint64_t moves;    /* how often another one than before; of begin 0 if few `switches`; GT_NOT_READ */
};
#define GT_NOT_READ UINT64_MAX

/* Of a thread, or of those that have used a location one after another. The sums are of those before. */
struct gt_states {
	struct gt_sched begin, last; /* of the present one; its last successful reading */
	uint64_t until, tick;        /* ns, and ticks: it is known to have lived up to here */
	uint64_t lifetime, running, ready, switches, unknown, moves;
	uint32_t ended;              /* 1: the present one has ended; 2: its states are being noted */
	uint32_t moved;              /* of how many threads `moves` is the sum */
};

/* A group of processes (cgroup) that may use so much processor time, and is throttled when it has. */
struct gt_quota {
	uint64_t group;    /* the inode of its folder; 0: none */
	uint64_t part;     /* thousandths of a processor */
	uint64_t before;   /* ns for which it had been throttled when the process began, all processors */
	uint64_t after;    /* ... and when it ended */
};
#define GT_QUOTAS 4

/* ---- window file ---------------------------------------------------------------------------- */

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
	uint64_t packed_bytes;  /* GT_LOC_PACKED: of l<id>.raw and the stage, what goes with `spooled` */
	struct gt_states states; /* of its threads; the main thread's are in gt_proc_header */
	uint64_t kept_from[2];  /* of each half's present turn: stream offsets of late records */
	uint64_t kept_to[2];    /* and behind them; 0: there are none */
	uint64_t written;       /* bytes of packed_bytes that are in l<id>.raw; the rest is in the stage */
	uint32_t stage_bytes;   /* power of two; 0: there is no stage, all is in the file */
	uint32_t reserved;
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
	GT_D_COMM = 7,      /* struct gt_def_shared */
	GT_D_LOCATION = 8,  /* struct gt_def_location; id counts from 0 */
	GT_D_LOCATION_NAME = 9, /* struct gt_def_loc_name: from this tick on */
	GT_D_LOCGROUP = 10, /* struct gt_def_locgroup; id 0 is the process itself, never written */
	GT_D_MODULE = 11,   /* struct gt_def_module, then the path and a NUL */
	GT_D_MODULE_GONE = 12, /* struct gt_def_module_gone */
	GT_D_CUT = 13,      /* struct gt_def_cut: VT_REWIND, and what never came to be */
	GT_D_CALIB = 14,    /* struct gt_def_calib */
	GT_D_PROPERTY = 15, /* key NUL value NUL */
	GT_D_GROUP = 16,    /* struct gt_def_group, then count * u32 members */
	GT_D_WINDOW = 17,   /* one-sided window: struct gt_def_shared */
	GT_D_HANDLE = 18,   /* I/O handle: struct gt_def_shared (paradigm 1 POSIX, 2 ISO C, 3 shared; flags
			       GT_HANDLE_*) */
	GT_D_PARAMS = 19,   /* struct gt_def_params, then count * struct gt_def_param */
	GT_D_TOPOLOGY = 20, /* struct gt_def_topology, then count * u32 sizes, count * u32 periodic */
	GT_D_SYNC = 21,     /* struct gt_def_sync: two hosts' clocks were compared */
	GT_D_CLOCK = 22,    /* struct gt_def_clock, then count * struct gt_def_sync_point */
	GT_D_LINK = 23,     /* struct gt_def_link, then the name of the meeting place and a NUL */
	GT_D_CHANNEL = 24,  /* struct gt_def_channel */
	GT_D_RECORD = 25,   /* struct gt_def_record */
	GT_D_LAST = GT_D_RECORD,
};

#define GT_SETTING "setting:" /* begins the key of a property, before the name of the setting */

#define GT_REGION_PHASE 2u     /* OTF2_REGION_FLAG_PHASE */
#define GT_REGION_BRIEF 0x100u /* without `name`: shown without template arguments and parameters */

/* Strings are STRING ids, 0 for none. */
struct gt_def_region {
	uint32_t name;      /* as the user knows it; 0: `canonical`, demangled when assembling */
	uint32_t canonical; /* mangled name, 0: the same */
	uint32_t file;
	uint32_t group;     /* name of the region's group */
	uint32_t begin_line, end_line;
	uint8_t role;       /* OTF2_RegionRole */
	uint8_t paradigm;   /* OTF2_Paradigm */
	uint16_t flags;     /* OTF2_RegionFlag, GT_REGION_BRIEF */
	uint32_t description;
	uint64_t address;   /* code that it stands for, 0: none; then file and line are those of this code */
	uint64_t variable;  /* with `address`: a variable by which it is called, too; 0: none */
};

/* Where messages go, or come from. */
struct gt_def_channel {
	uint32_t comm, peer, tag; /* COMM id, rank in it */
	uint32_t reserved;
};

/* A kind of record that is an adapter's own (GT_T_OWN). */
struct gt_def_record {
	uint32_t adapter, name;
};

#define GT_METRIC_SYNCHRONOUS 0x80u
struct gt_def_metric {
	uint32_t name, unit, group, description;
	uint8_t value;      /* OTF2_Type: INT64 8, UINT64 4, DOUBLE 10 */
	uint8_t mode;       /* OTF2_MetricMode */
	uint8_t kind;       /* OTF2_MetricType; GT_METRIC_SYNCHRONOUS: read at enters and leaves */
	uint8_t scope;      /* 0 location, 1 process, 2 location group */
	uint32_t scope_id;
	int32_t exponent;   /* of 10, or of 2 if binary is 1 */
	uint32_t binary;
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

/* What locations or processes have in common: a COMM, a WINDOW, a HANDLE. */
struct gt_def_shared {
	uint32_t name;
	/* COMM id: that it was made from; of a WINDOW or HANDLE: whose members have it; 0: none */
	uint32_t parent;
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

/* A Cartesian topology; ranks are its places in row-major order. */
struct gt_def_topology {
	uint32_t comm;      /* COMM id */
	uint32_t count;     /* dimensions */
};

/* Parameters with values that often come together: struct gt_def_param, `count` times, follows. */
struct gt_def_params {
	uint32_t count, reserved;
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
	uint32_t location;
	uint32_t own;       /* 1: by gputrace itself, of what never came to be; 0: by VT_REWIND */
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

struct gt_def_sync_point {
	uint64_t tick, other_tick;
	uint64_t width;
};

/* ---- process header ----------------------------------------------------------------------------- */

enum gt_proc_state {
	GT_PROC_STARTING = 0,
	GT_PROC_RUNNING = 1,
	GT_PROC_EXEC = 2,       /* about to become another program; back to RUNNING if that fails */
	GT_PROC_ENDED = 3,
};

#define GT_CHILDREN "children" /* name of the file in a process's folder */

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
	struct gt_calib first, last; /* last.tick 0: nobody has read the clocks at its end */
	uint32_t clock;         /* enum gt_clock_kind */
	uint32_t rank;          /* ~0: of no parallel program */
	uint64_t nominal_hz;    /* ticks per second, as measured at the start */
	uint64_t lost[GT_LOSS_N];
	uint64_t locations;     /* how many were made */
	uint64_t defs_bytes;    /* length of the journal that is complete */
	char host[64];
	char program[256];      /* base name */
	/* Of the process until its end or exec, also of programs it was before; 0: not known. */
	uint64_t processor_ns;  /* user and system time of all its threads */
	uint64_t memory_peak;   /* most resident bytes, of this program alone */
	uint64_t processors[16]; /* bit i of all: it may run on processor i; 0 for a forked child */
	struct gt_states states; /* of its main thread */
	struct gt_quota quotas[GT_QUOTAS]; /* of the groups that it was in at its begin */
	uint32_t quotas_known;  /* 0: nothing is, 1: at its begin, 2: at its end, too */
	uint32_t reserved;
};

/* ---- run header ----------------------------------------------------------------------------------- */

enum gt_run_state {
	GT_RUN_OPEN = 0,
	GT_RUN_ASSEMBLING = 1,
	GT_RUN_DONE = 2,
	GT_RUN_ENDED = 3,       /* all processes of this host have ended; other hosts may go on */
	GT_RUN_TIDY = 4,        /* as GT_RUN_DONE, and the spool is being removed */
};

/* Of one parallel program, by the processes of this host (gt_job_begun()); atomic. */
struct gt_run_job {
	uint64_t job;           /* 0: free */
	uint32_t begun;         /* processes that have come to its start */
	uint32_t speaker;       /* pid of the one that speaks for this host, 0: none yet */
};
#define GT_RUN_JOBS 16

/* Why a process of the run is not in the trace. */
enum gt_absent {
	GT_ABSENT_OTHER = 0,
	GT_ABSENT_USER = 1,     /* it had become a user who may not write there */
	GT_ABSENT_SPACE = 2,    /* no room on the disk, quota, file size limit */
	GT_ABSENT_SANDBOX = 3,  /* it, or who made it, had confined itself */
	GT_ABSENT_MEMORY = 4,   /* RLIMIT_AS leaves too little for our libraries, or for joining */
	GT_ABSENT_N = 8,
};

/* A forked child that executes another program before it has recorded anything: it holds no lock then. */
struct gt_run_exec {
	uint32_t pid;           /* 0: free, GT_UNSET_PID: being filled in; atomic */
	uint32_t pad;
	uint64_t start_time;    /* as in gt_proc_header */
	uint64_t when;          /* CLOCK_MONOTONIC, ns */
};

#define GT_RUN_EXECS 16
#define GT_UNSET_PID UINT32_MAX

#define GT_RUN_FAILED 0x80000000u /* in `reported`: `gputrace run` has said of a rank that it failed */

struct gt_run_header {
	uint64_t magic;
	uint32_t version;
	uint32_t state;         /* enum gt_run_state */
	uint64_t created_real_ns;
	uint32_t next_seq;      /* of the process that comes next; atomic */
	uint32_t uid;
	char boot_id[40];
	char host[64];
	char spool[1024];       /* absolute path of the folder with the p<seq>.<pid> folders */
	uint64_t job;           /* the parallel job whose processes share the run, 0: none */
	struct gt_run_job jobs[GT_RUN_JOBS]; /* used while the processes run */
	uint32_t untraced;      /* processes that took a number and could not record anything */
	uint32_t outside;       /* programs that were started and cannot load the library ... */
	char outside_first[60]; /* ... and the name of the first */
	/* 1: somebody has watched this host's processes and will assemble; see GT_WATCH */
	uint32_t watched;
	uint32_t parents;       /* of type `gputrace run` that wait for their command; atomic */
	uint32_t absent[GT_ABSENT_N]; /* processes that could not be recorded, by cause; atomic */
	uint32_t absent_user;   /* of the last one of GT_ABSENT_USER */
	uint32_t reported;          /* sentences that one process says for all; atomic bits, GT_RUN_FAILED */
	uint32_t waiting;       /* forked children that have not recorded or executed anything; atomic */
	struct gt_run_exec execs[GT_RUN_EXECS];
	uint32_t counter;       /* this host's: 0 unknown, 1 not to be trusted, 2 trusted; atomic */
	uint32_t interruption_ns; /* gt_interruption_ns(), 0: not measured; atomic */
	uint64_t counter_hz;    /* its nominal frequency, 0: not known */
	/* Processor time of the commands of `gputrace run` and all that they have waited for, by the kernel;
	 * 0: not known; atomic. */
	uint64_t used_ns;
};

#endif
