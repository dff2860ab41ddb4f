/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The definitions of the archive, unified over all processes: each distinct thing once, with dense
 * ids in the order in which they were first seen.
 *
 * Limits: grows only; all functions may be called from several threads. Knows no OTF2: its numbers
 * for roles, paradigms and types are taken over as lib/format.h has them.
 */
#ifndef GT_ASSEMBLE_DEFS_DEFS_H
#define GT_ASSEMBLE_DEFS_DEFS_H

#include "gputrace/otf2_numbers.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GT_UNDEFINED  UINT32_MAX
#define GT_DIMENSIONS 32u /* of a topology */
#define GT_ROLE_MOST     38u /* OTF2_RegionRole */
#define GT_PARADIGM_MOST 24u /* OTF2_Paradigm */

/* Distinct byte strings, numbered from 0. */
struct gt_intern {
	char *blob;
	size_t used, room;
	struct gt_intern_entry {
		uint64_t at;
		uint32_t length, hash;
	} *entries;
	size_t count, entry_room;
	uint32_t *table; /* number + 1, 0: free */
	size_t mask;
};

struct gt_region {
	uint32_t name, canonical, description, file, group; /* strings; group GT_UNDEFINED: none */
	uint32_t module;           /* string: the file that was mapped where it lies; 0: not known */
	uint32_t begin, end;
	uint8_t role, paradigm;
	uint16_t flags;
	bool made_up; /* no symbol was found */
};

struct gt_attribute_def {
	uint32_t name, description;
	uint8_t type;
};

struct gt_member { /* of a metric class */
	uint32_t name, description, unit;
	uint8_t value, mode, kind;
	bool binary;      /* the base of the exponent is 2, not 10 */
	int32_t exponent;
};

struct gt_metric {
	bool instance;
	bool synchronous;          /* class: read at enters and leaves */
	uint32_t first, count;     /* class: members, in gt_defs.member_ids */
	uint32_t base;             /* instance: its class */
	uint32_t recorder;         /* instance: location */
	uint8_t scope;             /* instance: 1 process (location group) */
	uint32_t scope_id;
};

struct gt_recorder {
	uint32_t metric, location;
};

struct gt_comm {
	uint32_t name, parent;     /* parent: comm, or GT_UNDEFINED */
	uint32_t proc;             /* place in spool->procs; GT_UNDEFINED: all processes' */
	uint8_t paradigm;
	bool self;                 /* of each process with itself; no members */
	bool inter;                /* between members and remote */
	uint64_t *members;         /* global locations; of threads and streams: ascending */
	size_t member_count;
	uint64_t *remote;
	size_t remote_count;
	bool events;               /* the trace tells when it is made and freed */
	uint64_t job;              /* of a part: members are ranks of this job; 0: locations */
};

struct gt_topology {       /* Cartesian */
	uint32_t comm, count;
	uint32_t numbers[2 * GT_DIMENSIONS]; /* sizes, then: is it periodic? */
};

struct gt_window {         /* for one-sided communication */
	uint32_t name, comm;
	bool events;               /* the trace tells when it is made and freed */
};

struct gt_handle {         /* of I/O */
	uint32_t name, file;       /* file GT_UNDEFINED: it is none (a pipe, a socket) */
	uint32_t comm;             /* who shares it, or GT_UNDEFINED */
	uint8_t paradigm;
	bool created;              /* by an event; else it was there before */
	uint8_t mode;              /* if it was: how it was open */
	uint16_t status;
};

struct gt_source {         /* a line of the source code */
	uint32_t file, line;
};

struct gt_context {        /* a node of the tree of call paths that samples have */
	uint32_t region;
	uint32_t source;           /* or GT_UNDEFINED */
	uint32_t parent;           /* GT_UNDEFINED: it is a root */
};

#define GT_INLINED 16u     /* calls that are known to be inlined in each other at one place, at most */

struct gt_place {          /* what lies at an address of code */
	uint32_t region, source;
	struct {
		uint32_t region, source;
	} inlined[GT_INLINED]; /* there, outermost first; `source` is the line in each */
	uint8_t inlined_count;
	bool own;                  /* code of gputrace's own */
	bool libc, nameless;       /* of the C library, in a function without a symbol */
	bool runtime;              /* of a library that calls adapters (gt_half_library()) */
};

struct gt_marker_def {
	uint32_t category, group;
	uint8_t severity;
};

/* A table of structs that are distinct by key. */
struct gt_table {
	struct gt_intern keys;
	void *items;
	size_t room;
};

struct gt_defs {
	pthread_mutex_t lock;
	struct gt_intern strings;  /* 0 is the empty string */
	struct gt_table regions;    /* struct gt_region */
	struct gt_table attributes; /* struct gt_attribute_def */
	struct gt_table parameters; /* struct gt_attribute_def; type is OTF2_ParameterType */
	struct gt_table members;    /* struct gt_member */
	struct gt_table metrics;    /* struct gt_metric */
	struct gt_table recorders;  /* struct gt_recorder */
	struct gt_table comms;      /* struct gt_comm */
	struct gt_table windows;    /* struct gt_window */
	struct gt_table topologies; /* struct gt_topology */
	struct gt_table files;      /* uint32_t: the name */
	struct gt_table handles;    /* struct gt_handle */
	struct gt_table markers;    /* struct gt_marker_def */
	struct gt_table locks;      /* no struct: only numbers */
	struct gt_table sources;    /* struct gt_source */
	struct gt_table contexts;   /* struct gt_context */
	struct gt_table generators; /* uint64_t: period in ns; what causes samples */
	struct gt_table places;     /* struct gt_place; so that an address is looked up once */
	size_t contexts_most;       /* beyond, paths get shorter, see gt_defs_context() */
	enum gt_paths { GT_PATHS_WHOLE, GT_PATHS_WITHOUT_LINES, GT_PATHS_CUT } paths; /* of samples */
	unsigned char *spoken;      /* by string: an event names it; only if asked for */
	size_t spoken_room;
	bool note_spoken;
	uint32_t *member_ids;
	size_t member_id_count, member_id_room;
	uint64_t other_bytes;       /* of what is not kept here but written with it: markers */
	int failed;                 /* -ENOMEM once memory ran out; ids are wrong from then on */
};

int gt_defs_init(struct gt_defs *defs);
void gt_defs_free(struct gt_defs *defs);

/* Each gives the number of the thing, which is new if nothing equal was there. */
uint32_t gt_defs_string(struct gt_defs *defs, const char *text);
/* The same string, which an event names. */
uint32_t gt_defs_spoken(struct gt_defs *defs, uint32_t string);
uint32_t gt_defs_attribute(struct gt_defs *defs, const struct gt_attribute_def *attribute);
uint32_t gt_defs_parameter(struct gt_defs *defs, const struct gt_attribute_def *parameter);
uint32_t gt_defs_member(struct gt_defs *defs, const struct gt_member *member);
/* `count` is at most 255. */
uint32_t gt_defs_metric_class(struct gt_defs *defs, const uint32_t *members, uint32_t count,
			      bool synchronous);
uint32_t gt_defs_metric_instance(struct gt_defs *defs, const struct gt_metric *instance);
/* Is the metric an instance, not a class? */
bool gt_defs_is_instance(struct gt_defs *defs, uint32_t metric);
void gt_defs_recorder(struct gt_defs *defs, uint32_t metric, uint32_t location);
uint32_t gt_defs_marker(struct gt_defs *defs, const struct gt_marker_def *marker);

/*
 * A region that is the same as all others with the same key. What samples have found is of the paradigm
 * SAMPLING until somebody says more.
 */
uint32_t gt_defs_region(struct gt_defs *defs, const void *key, size_t bytes,
			const struct gt_region *region);
/* One that is the same as all others of the same names, place and kind; `proc` not 0: in this process. */
uint32_t gt_defs_named_region(struct gt_defs *defs, const struct gt_region *region, uint32_t proc);
/* A function where it was inlined: the same as all others of the same canonical name and place. */
uint32_t gt_defs_inlined_region(struct gt_defs *defs, const struct gt_region *region);
/* The keys of both are so many numbers, of strings among them. */
enum { GT_NAMED_KEY = 10, GT_INLINED_KEY = 5 };
/* A region of gputrace's own. */
uint32_t gt_defs_own_region(struct gt_defs *defs, const char *name, uint8_t paradigm);
/* Its number if it is known, else GT_UNDEFINED. */
uint32_t gt_defs_region_known(struct gt_defs *defs, const void *key, size_t bytes);

/* A communicator by key; `comm` is taken over when it is new. `fresh` (may be NULL): is it? */
uint32_t gt_defs_comm(struct gt_defs *defs, const void *key, size_t bytes,
		      const struct gt_comm *comm, bool *fresh);

uint32_t gt_defs_window(struct gt_defs *defs, uint32_t name, uint32_t comm);
/* One that all processes know by a key. */
uint32_t gt_defs_window_of(struct gt_defs *defs, uint64_t key, const struct gt_window *window);
/* The first one of a communicator counts. False: it is not. */
bool gt_defs_topology(struct gt_defs *defs, const struct gt_topology *topology);

/* A file by its name; an I/O handle by a key of the caller's. */
uint32_t gt_defs_file(struct gt_defs *defs, uint32_t name);
uint32_t gt_defs_handle(struct gt_defs *defs, uint64_t key, const struct gt_handle *handle);

/* A number for (a, b). */
uint32_t gt_defs_lock_id(struct gt_defs *defs, uint64_t a, uint64_t b);

uint32_t gt_defs_source(struct gt_defs *defs, uint32_t file, uint32_t line);
uint32_t gt_defs_generator(struct gt_defs *defs, uint64_t period);
/*
 * Beyond three quarters of contexts_most new nodes have no lines any more, beyond contexts_most there are no
 * new ones but roots: of a path only the function is left, so that its time is not its callers'. `context`
 * becomes what the node is.
 */
uint32_t gt_defs_context(struct gt_defs *defs, struct gt_context *context);
/*
 * The innermost node, from `context` outwards, whose function `skip` does not want, or which has none;
 * `callee`: a node inside of the first one. GT_UNDEFINED: there is none.
 */
uint32_t gt_defs_caller(struct gt_defs *defs, uint32_t context, uint32_t callee,
			bool (*skip)(const char *name, const char *symbol, const char *callee));

/* What lies at an address, by a key of the caller's. False: that has not been said yet. */
bool gt_defs_place_known(struct gt_defs *defs, const void *key, size_t bytes, struct gt_place *place);
void gt_defs_place(struct gt_defs *defs, const void *key, size_t bytes, const struct gt_place *place);

/* Puts a string behind the others, without looking whether it is there. 0 or -ENOMEM. */
int gt_intern_append(struct gt_intern *intern, const void *data, size_t bytes);

/* Reading, once all writers are done. */
const char *gt_intern_text(const struct gt_intern *intern, size_t n, size_t *length);
#define gt_table_count(table) ((table)->keys.count)

/* Upper bound of the bytes that the global definitions take in the archive. */
uint64_t gt_defs_bytes(struct gt_defs *defs);

#endif
