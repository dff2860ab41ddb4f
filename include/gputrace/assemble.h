/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The assembling half of an adapter, with which `gputrace assemble` and `gputrace recover` turn the adapter's
 * records into an OTF2 archive. Records of gputrace's own kinds (records.def) need no such half.
 *
 * An adapter declares one struct gt_assembler. Those in gputrace's own tree are listed in
 * registry/adapters.def. Any other is exported as `gt_assembler` by a shared library NAME.so in
 * PREFIX/lib/gputrace/assemble/ or in the folder VT_ASSEMBLERS, where NAME is the name that the recording
 * half passed to gt_adapter_register() and gt_def_record(). It is loaded when a process's journal names the
 * adapter.
 *
 * Course of an assembly, and the hooks called: the spool is opened; scan(); processes and locations are
 * numbered; define(); each location is converted, which calls the handlers of records; properties();
 * definitions are written; end().
 *
 * Limits: C linkage. Hooks run on one thread; handlers run on several, each with a location of its own, and
 * must lock the data that they share. A handler only adds events, by the functions of this header: it calls
 * neither libotf2 nor exit(). A record of 1 + n slots may become at most 16 * (1 + n) events and attributes;
 * any more are omitted and counted as unknown. When hosts convert their own spools (doc/adr/0009) scan() and
 * define() see one host only.
 */
#ifndef GPUTRACE_ASSEMBLE_H
#define GPUTRACE_ASSEMBLE_H

#include "gputrace/adapter.h"
#include "gputrace/records.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GT_ASSEMBLER_ABI 1u
#define GT_NO_NUMBER     UINT32_MAX /* no definition, no location */

struct gt_assembly; /* one run that is being assembled */
struct gt_proc;     /* one of its processes, as recorded */
struct gt_loc;      /* one of a process's locations, as recorded */
struct gt_track;    /* a location whose events are being written */

/* ---- what an adapter declares ------------------------------------------------------------------------ */

/*
 * Converts one record: `slot` and its continuation slots, which are complete. `tick` is the event's time,
 * which is slot->time unless the order of the records had to be repaired.
 */
typedef void gt_convert(struct gt_track *t, const struct gt_slot *slot, uint64_t tick);

/* A kind of record of the adapter's own (GT_T_OWN). */
struct gt_own_record {
	const char *name;     /* as in gt_def_record() */
	unsigned least;       /* its minimum of continuation slots; shorter records count as unknown */
	gt_convert *convert;
};

/* The archive's definition of a paradigm (OTF2_Paradigm), if any of its records exist. */
struct gt_paradigm {
	const char *name;          /* "MPI": name of the OTF2 paradigm and of its group of locations */
	uint8_t paradigm;          /* enum gt_region_paradigm */
	uint8_t kind;              /* enum gt_paradigm_class; 0: no such definition is written */
	const char *comm_template; /* COMM_NAME_TEMPLATE for unnamed communicators, or NULL */
};

struct gt_assembler {
	size_t bytes;         /* sizeof(struct gt_assembler) */
	uint32_t abi;         /* GT_ASSEMBLER_ABI */
	const char *name;     /* as gt_adapter.name */
	const struct gt_own_record *records; /* terminated by an entry without a name; may be NULL */
	const struct gt_paradigm *paradigms; /* terminated by an entry without a name; may be NULL */
	/* All hooks may be NULL. Those of type int return 0, or a negative errno, which ends the assembly and
	 * keeps the spool. -EAGAIN: this host's spool cannot be converted without those of other hosts. */
	int (*scan)(struct gt_assembly *a);    /* streams can be read; nothing is numbered yet */
	int (*define)(struct gt_assembly *a);  /* locations have numbers (gt_read_number()) */
	void (*properties)(struct gt_assembly *a, const struct gt_proc *proc); /* see gt_out_property() */
	void (*end)(struct gt_assembly *a);    /* frees gt_state(); also after a failure */
	/* Writes the name of a location that is no thread to `text`; false: use the recorded name. */
	bool (*location_name)(const struct gt_loc *loc, char *text, size_t size);
	const struct gt_half *half; /* NULL; adapters in gputrace's own tree may add more */
};

/* ---- the assembly ------------------------------------------------------------------------------------ */

/* Holds the adapter's own state in this assembly: *gt_state() is NULL at first. */
GT_API void **gt_state(struct gt_assembly *a, const struct gt_assembler *self);

/* One line "[gputrace] ..." on stderr if VT_VERBOSE is at least `level` (0: errors). */
GT_API void gt_assembly_say(const struct gt_assembly *a, int level, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* ---- reading what was recorded ----------------------------------------------------------------------- */

/* Processes and their locations by number, from 0; NULL beyond the last. */
GT_API const struct gt_proc *gt_read_process(const struct gt_assembly *a, size_t n);
GT_API const struct gt_loc *gt_read_location(const struct gt_proc *proc, size_t n);

struct gt_process_info {
	size_t bytes;          /* sizeof(struct gt_process_info) */
	uint32_t pid, rank;    /* rank UINT32_MAX: not part of a parallel program */
	const char *host, *program;
};
GT_API void gt_read_process_info(const struct gt_proc *proc, struct gt_process_info *info);

struct gt_loc_info {
	size_t bytes;          /* sizeof(struct gt_loc_info) */
	uint32_t id;           /* local, as returned by gt_location_id() and gt_self_location() */
	uint32_t kind, flags;  /* enum gt_loc_kind, GT_LOC_* */
	uint32_t group;        /* from gt_def_locgroup(); 0: the process */
	uint64_t key;          /* as in gt_location_create() */
	const char *name;      /* as recorded; NULL: none */
};
GT_API void gt_read_location_info(const struct gt_loc *loc, struct gt_loc_info *info);

/* The location's number in the archive, from define() on; GT_NO_NUMBER: it is not in the archive. */
GT_API uint32_t gt_read_number(const struct gt_loc *loc);

/* The text of a string of the process (gt_def_string()); NULL: none. Valid until end(). */
GT_API const char *gt_read_string(const struct gt_proc *proc, gt_ref id);

/* The last value that the process passed to gt_def_property() for `key`; NULL: none. "setting:VT_X" is a
 * setting. */
GT_API const char *gt_read_property(const struct gt_proc *proc, const char *key);

/* Is this record of the adapter's own kind `name`? For gt_read_records(). */
GT_API bool gt_read_is_own(const struct gt_proc *proc, const struct gt_slot *slot,
			   const struct gt_assembler *self, const char *name);

/*
 * Calls each() for all records of a location in the order in which they were written, which may not be that
 * of time. Attributes are records of their own, before the record that they belong to. each() returns 0, or
 * another number, which ends the reading and is returned. Otherwise returns 0 or a negative errno.
 */
GT_API int gt_read_records(const struct gt_loc *loc,
			   int (*each)(void *context, const struct gt_loc *loc, const struct gt_slot *slot),
			   void *context);

/* Nanoseconds of the archive at a tick of a process's clock, from define() on. */
GT_API uint64_t gt_read_time(const struct gt_assembly *a, const struct gt_proc *proc, uint64_t tick);

/* ---- definitions of the archive ---------------------------------------------------------------------- */

/*
 * These return the number of a definition in the archive. Equal definitions have equal numbers, in all
 * processes and threads. They may be called from hooks, and from handlers until the last event.
 */
GT_API uint32_t gt_out_string(struct gt_assembly *a, const char *text);
GT_API uint32_t gt_out_region(struct gt_assembly *a, const struct gt_region_info *info);
GT_API uint32_t gt_out_attribute(struct gt_assembly *a, const char *name, const char *description,
				 enum gt_value value);
GT_API uint32_t gt_out_parameter(struct gt_assembly *a, const char *name, enum gt_value value);
/* A metric of one value. Its scope is the location that has the events (info->scope is ignored). */
GT_API uint32_t gt_out_metric(struct gt_assembly *a, const struct gt_metric_info *info);

/* A communicator, and the group of its members. */
struct gt_out_comm {
	size_t bytes;               /* sizeof(struct gt_out_comm) */
	const char *name;
	uint8_t paradigm;           /* enum gt_region_paradigm */
	const struct gt_proc *proc; /* not NULL: all threads of this process; members is ignored */
	const uint64_t *members;    /* numbers of locations, ascending: a rank is an index here */
	size_t count;
};
GT_API uint32_t gt_out_comm(struct gt_assembly *a, const struct gt_out_comm *comm);

/*
 * Adds a property of a process to the archive: GPUTRACE::NAME. proc NULL: of the archive itself. Only from
 * properties(). Values of gt_def_property() with a key "<adapter>:<key>" become such properties (ADAPTER_KEY)
 * without a hook.
 */
GT_API void gt_out_property(struct gt_assembly *a, const struct gt_proc *proc, const char *name,
			    const char *value);

/* ---- events of the location being converted ----------------------------------------------------------- */

GT_API struct gt_assembly *gt_track_assembly(const struct gt_track *t);
GT_API const struct gt_proc *gt_track_process(const struct gt_track *t);
GT_API const struct gt_loc *gt_track_location(const struct gt_track *t);

/* The region of a gt_def_region() of this process, as a number of the archive. */
GT_API uint32_t gt_track_region(struct gt_track *t, gt_ref id);

/* A metric, attribute or parameter of this process (gt_def_metric() ...) as a number of the archive. */
GT_API uint32_t gt_track_metric(struct gt_track *t, gt_ref id);

/* Counts a record that cannot be understood, or whose partner is not in the archive, for the summary. */
GT_API void gt_write_unknown(struct gt_track *t);
GT_API void gt_write_unmatched(struct gt_track *t);

/* Enter and leave of a region. A leave that does not match closes the regions inside, or is dropped; both are
 * counted. Times before the location's last event are set to that event's time. */
GT_API void gt_write_enter(struct gt_track *t, uint32_t region, uint64_t tick);
GT_API void gt_write_leave(struct gt_track *t, uint32_t region, uint64_t tick);

/* An attribute of the next event. GT_VALUE_DOUBLE, GT_VALUE_INT: the bits of the value. */
GT_API void gt_write_attribute(struct gt_track *t, uint32_t attribute, enum gt_value type, uint64_t bits);
/* One whose value is a string (from gt_out_string()), of type OTF2_TYPE_STRING. */
GT_API void gt_write_attribute_string(struct gt_track *t, const char *name, const char *description,
				      const char *value);

GT_API void gt_write_metric(struct gt_track *t, uint32_t metric, enum gt_value type, uint64_t bits,
			    uint64_t tick);
GT_API void gt_write_parameter(struct gt_track *t, uint32_t parameter, enum gt_value type, uint64_t bits,
			       uint64_t tick);
/* severity: OTF2_MarkerSeverity: 0 none to 3 high. The time is that of the last event. */
GT_API void gt_write_marker(struct gt_track *t, const char *category, const char *group, uint8_t severity,
			    const char *text);

/* One end of a message between members of a communicator; `peer` is the other end's rank in it. */
GT_API void gt_write_message(struct gt_track *t, bool send, uint32_t comm, uint32_t peer, uint32_t tag,
			     uint64_t bytes, uint64_t tick);

/* Acquires or releases a lock, identified by its address in the process; `order` counts acquisitions. */
GT_API void gt_write_lock(struct gt_track *t, bool acquire, uint8_t paradigm, uint64_t address,
			  uint32_t order, uint64_t tick);

/* Fork-join parallelism (OTF2's ThreadFork, ThreadJoin, ThreadTeamBegin, ThreadTeamEnd). `team` is a
 * communicator of the team's paradigm. */
GT_API void gt_write_fork(struct gt_track *t, uint8_t paradigm, uint32_t threads, uint64_t tick);
GT_API void gt_write_join(struct gt_track *t, uint8_t paradigm, uint64_t tick);
GT_API void gt_write_team(struct gt_track *t, bool begin, uint32_t team, uint64_t tick);

/* Tasks (OTF2's ThreadTaskCreate, ThreadTaskSwitch, ThreadTaskComplete), identified by the thread of the team
 * that created the task, and by its number among the tasks that this thread has created. */
enum gt_task { GT_TASK_CREATE, GT_TASK_SWITCH, GT_TASK_COMPLETE };
GT_API void gt_write_task(struct gt_track *t, enum gt_task what, uint32_t team, uint32_t creator,
			  uint32_t generation, uint64_t tick);

#ifdef __cplusplus
}
#endif
#endif
