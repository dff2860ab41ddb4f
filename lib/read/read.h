/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The reader of OTF2 archives: definitions as tables, events through a visitor.
 *
 *	struct gt_otf2 *read = gt_otf2_open(anchor, &(struct gt_otf2_options){ .visitor = &mine });
 *
 *	if (read && !gt_otf2_definitions(read))
 *		gt_otf2_events(read);           threads call the visitor, one location at a time each
 *	gt_otf2_close(read);
 *
 * Archives of every producer are read: sparse and unordered numbers, mapping tables, clock offsets. What
 * breaks a rule of OTF2 is reported to visitor.fault() and reading goes on; ids in events may therefore be
 * undefined, and every gt_otf2_find_*() may return NULL. libotf2 itself crashes, loops or takes all memory on
 * some damaged files: programs read archives that they did not write in a child (lib/read/guard.h). Most
 * events are decoded without it (decode.c).
 *
 * Memory: definitions, open regions, and the visitor's own state of each location until it is merged.
 * Threads: each has its own OTF2_Reader, because libotf2 3.0 has no global state but its error callback.
 *
 * The names of records, fields and constants are OTF2's (otf2/OTF2_Events.h, OTF2_Definitions.h), whose types
 * users may use; they do not call its functions.
 *
 * Limits: the call stack is that of Enter and Leave, and of calling contexts that are entered and left, which
 * visitors see as their regions; samples are passed on as events. Snapshots and thumbnails are
 * not read.
 */
#ifndef GT_OTF2_READ_H
#define GT_OTF2_READ_H

#include <otf2/otf2.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/assemble/util/lookup.h"
#include "lib/read/records.h"

#define GT_OTF2_NOTHING (~UINT64_C(0)) /* no location, no id */

/* ---- definitions ------------------------------------------------------------------------------ */

/* Kinds of definitions: enumerator, name in the functions below, name for people. */
#define GT_OTF2_KIND_LIST(K)                              \
	K(STRING, string, "string")                       \
	K(ATTRIBUTE, attribute, "attribute")              \
	K(NODE, node, "system tree node")                 \
	K(LOCATION_GROUP, location_group, "location group") \
	K(LOCATION, location, "location")                 \
	K(REGION, region, "region")                       \
	K(CALLSITE, callsite, "call site")                \
	K(CALLPATH, callpath, "call path")                \
	K(GROUP, group, "group")                          \
	K(METRIC_MEMBER, metric_member, "metric member")  \
	K(METRIC, metric, "metric")                       \
	K(COMM, comm, "communicator")                     \
	K(PARAMETER, parameter, "parameter")              \
	K(WINDOW, window, "RMA window")                   \
	K(SOURCE, source, "source location")              \
	K(CONTEXT, context, "calling context")            \
	K(INTERRUPT, interrupt, "interrupt generator")    \
	K(IO_FILE, io_file, "I/O file")                   \
	K(IO_HANDLE, io_handle, "I/O handle")             \
	K(IO_PARADIGM, io_paradigm, "I/O paradigm")       \
	K(DIMENSION, dimension, "Cartesian dimension")    \
	K(TOPOLOGY, topology, "Cartesian topology")       \
	/* without a number in the archive: id is the place in the table */ \
	K(COORDINATE, coordinate, "Cartesian coordinate") \
	K(PARADIGM, paradigm, "paradigm")                 \
	K(PROPERTY, property, "property")                 \
	K(IO_STATE, io_state, "state of an I/O handle")

#define GT_OTF2_ENUM(KIND, name, text) GT_OTF2_##KIND,
enum gt_otf2_kind { GT_OTF2_KIND_LIST(GT_OTF2_ENUM) GT_OTF2_KINDS };
#undef GT_OTF2_ENUM

extern const char *const gt_otf2_kind_names[GT_OTF2_KINDS];

/*
 * Strings in definitions are resolved: "" where the archive names none, "?" where it names one that it does
 * not define. Structures with fields as in OTF2's definition are made from records.h.
 */
struct gt_otf2_string {
	uint64_t id;
	const char *text;
};

#define GT_OTF2_S(name)             const char *name;
#define GT_OTF2_V(type, name)       type name;
#define GT_OTF2_R(kind, type, name) type name;
#define GT_OTF2_STRUCT(KIND, name, record)                                                          \
	struct gt_otf2_##name {                                                                     \
		uint64_t id;                                                                        \
		GT_OTF2_DEF_##record(GT_OTF2_S, GT_OTF2_S, GT_OTF2_R, GT_OTF2_R, GT_OTF2_V)          \
	};
GT_OTF2_DEFS(GT_OTF2_STRUCT)
#undef GT_OTF2_STRUCT

struct gt_otf2_group {
	uint64_t id;
	const char *name;
	OTF2_GroupType type;
	OTF2_Paradigm paradigm;
	OTF2_GroupFlag flags;
	uint32_t count;
	const uint64_t *members; /* of a COMM_GROUP: ranks in the COMM_LOCATIONS of the paradigm */
};

/* A class, or an instance of one (then with the members of its class). */
struct gt_otf2_metric {
	uint64_t id;
	uint8_t count;
	const OTF2_MetricMemberRef *members;
	OTF2_MetricOccurrence occurrence;
	OTF2_RecorderKind recorder_kind;
	bool instance;
	OTF2_MetricRef class_id;    /* of an instance, as what follows */
	OTF2_LocationRef recorder;
	OTF2_MetricScope scope;
	uint64_t scope_id;
};

struct gt_otf2_comm {
	uint64_t id;
	const char *name;
	bool inter;          /* between the groups `group` and `remote`; else they are the same */
	OTF2_GroupRef group, remote;
	OTF2_CommRef parent; /* may be undefined */
	OTF2_CommFlag flags;
};

struct gt_otf2_io_file {
	uint64_t id;
	const char *name;
	bool directory;
	OTF2_SystemTreeNodeRef scope; /* may be undefined */
};

struct gt_otf2_io_paradigm {
	uint64_t id;
	const char *identification, *name;
	OTF2_IoParadigmClass class_of;
	OTF2_IoParadigmFlag flags;
};

struct gt_otf2_topology {
	uint64_t id;
	const char *name;
	OTF2_CommRef comm;
	uint8_t count;
	const OTF2_CartDimensionRef *dimensions;
};

struct gt_otf2_coordinate {
	uint64_t id;
	OTF2_CartTopologyRef topology;
	uint32_t rank;
	uint8_t count;
	const uint32_t *coordinates;
};

struct gt_otf2_paradigm {
	uint64_t id;
	OTF2_Paradigm paradigm;
	const char *name;
	OTF2_ParadigmClass class_of;
};

/* Of a definition (kind, owner); of the archive itself: kind GT_OTF2_KINDS. */
struct gt_otf2_property {
	uint64_t id;
	enum gt_otf2_kind kind;
	uint64_t owner;
	const char *name;
	OTF2_Type type;            /* OTF2_TYPE_STRING: `text`, else `value` */
	OTF2_AttributeValue value;
	const char *text;
	/* Of the reader: the owner's next property (or GT_OTF2_NOTHING); of its first one, the last. */
	uint64_t next, last;
};

/* A handle that was open from the beginning. */
struct gt_otf2_io_state {
	uint64_t id;
	OTF2_IoHandleRef handle;
	OTF2_IoAccessMode mode;
	OTF2_IoStatusFlag flags;
};

struct gt_otf2_table {
	void *items;
	size_t count, room;
	bool dense;           /* the definition with id i is at i */
	struct gt_lookup ids; /* if it is not: id + 1 to index */
};

/* ---- faults ----------------------------------------------------------------------------------- */

/* Rules of OTF2 that an archive can break. */
enum gt_otf2_fault {
	GT_OTF2_FILES,          /* something cannot be read */
	GT_OTF2_ORDER,          /* definitions are not numbered 0, 1, 2 ... */
	GT_OTF2_REFERENCES,     /* a definition refers to one that is not before it */
	GT_OTF2_GROUPS,         /* location groups without threads or streams, accelerators without process */
	GT_OTF2_COMMS,          /* groups of communicators */
	GT_OTF2_COUNT,          /* fewer or more definitions, locations, events than declared */
	GT_OTF2_TIME,           /* time goes backwards in a location */
	GT_OTF2_RANGE,          /* outside the range of the clock */
	GT_OTF2_EVENTS,         /* an event refers to nothing */
	GT_OTF2_BALANCE,        /* leaves another region than the innermost */
	GT_OTF2_DEPTH,          /* a location ends inside a region */
	GT_OTF2_METRICS,        /* values of metrics and parameters do not fit their definition */
	GT_OTF2_MARKERS,
	GT_OTF2_FAULTS,
};

/* ---- events ----------------------------------------------------------------------------------- */

/* enum gt_otf2_type: GT_OTF2_MpiSend and so on; struct gt_otf2_MpiSend: its fields. */
#define GT_OTF2_ENUM(name) GT_OTF2_##name,
enum gt_otf2_type { GT_OTF2_EVENTS_ALL(GT_OTF2_ENUM) GT_OTF2_TYPES };
#undef GT_OTF2_ENUM

extern const char *const gt_otf2_type_names[GT_OTF2_TYPES];

#define GT_OTF2_STRUCT(name)                                                                        \
	struct gt_otf2_##name {                                                                     \
		GT_OTF2_EVT_##name(GT_OTF2_V, GT_OTF2_R)                                            \
	};
GT_OTF2_EVENTS_ALL(GT_OTF2_STRUCT)
#undef GT_OTF2_STRUCT
#undef GT_OTF2_S
#undef GT_OTF2_V
#undef GT_OTF2_R

struct gt_otf2_event {
	enum gt_otf2_type type;
	bool undefined; /* it refers to something that is not defined */
	union {
#define GT_OTF2_MEMBER(name) struct gt_otf2_##name name;
		GT_OTF2_EVENTS_ALL(GT_OTF2_MEMBER)
#undef GT_OTF2_MEMBER
	};
};

/* An open region. */
struct gt_otf2_frame {
	const struct gt_otf2_region *region; /* never NULL: "?" if it is not defined */
	uint64_t begin;  /* ns */
	uint64_t inside; /* ns in regions that it called and that have been left */
	uint64_t user;   /* the visitor's */
};

/* Where reading is in a location. */
struct gt_otf2_cursor {
	const struct gt_otf2 *read;
	const struct gt_otf2_location *location;
	size_t index;          /* of the location in its table */
	uint64_t event;        /* 1 is the first; 0: none yet */
	uint64_t time;         /* ns since the begin of the trace; never goes backwards */
	uint64_t ticks;        /* as in the archive */
	struct gt_otf2_frame *stack; /* stack[depth - 1] is the innermost */
	size_t depth;
	void *state;           /* visitor.state_size bytes, zero at first */
	void *user;            /* options.user */
	const struct gt_otf2_event *called; /* of enter(), leave(): CallingContextEnter, -Leave; else NULL */
	/* of the reader: */
	const OTF2_AttributeList *attributes; /* of the event */
	uint32_t attribute_count;
	size_t room;
	const struct gt_otf2_visitor *visitor;
	bool whole;
	bool translated; /* tables of the location translate its numbers, or its time */
};

/* Records of a file of events (calls.h), and the time of what follows. */
struct gt_otf2_calls {
	const unsigned char *at, *end;
	uint64_t time; /* ticks */
};

/*
 * Functions may be NULL. Those of different locations are called by different threads at the same time, those
 * of one location by one thread in the order of the file: begin, then events, then end. merge() is called
 * after end(), for one location at a time and in the order of the locations.
 */
struct gt_otf2_visitor {
	size_t state_size;
	void (*begin)(struct gt_otf2_cursor *at);
	/* The region is stack[depth - 1]. */
	void (*enter)(struct gt_otf2_cursor *at);
	/* `frame` is what was left and is no longer in the stack; not called if nothing was open. */
	void (*leave)(struct gt_otf2_cursor *at, const struct gt_otf2_frame *frame);
	/*
	 * After each of both: may take the enters and leaves that follow, as many as it likes, if they break
	 * no rule. For these neither is called; `at` must then be as it would be, but for `inside` of frames.
	 */
	void (*calls)(struct gt_otf2_cursor *at, struct gt_otf2_calls *calls);
	/* Everything but Enter and Leave. */
	void (*event)(struct gt_otf2_cursor *at, const struct gt_otf2_event *event);
	/* `whole`: all events could be read. What is still open is in the stack. */
	void (*end)(struct gt_otf2_cursor *at, bool whole);
	void (*merge)(struct gt_otf2_cursor *at);
	/* `at`: NULL if it is the archive's; event 0 if it is the location's. */
	void (*fault)(void *user, struct gt_otf2_cursor *at, enum gt_otf2_fault fault, const char *format,
		      va_list args);
};

/* Of a frame that is left now. */
static inline uint64_t gt_otf2_inclusive(const struct gt_otf2_cursor *at, const struct gt_otf2_frame *frame)
{
	return at->time - frame->begin;
}

static inline uint64_t gt_otf2_exclusive(const struct gt_otf2_cursor *at, const struct gt_otf2_frame *frame)
{
	return at->time - frame->begin - frame->inside;
}

/* The attribute of the event that is being visited. False: it has none, or one of another type. */
bool gt_otf2_attribute(const struct gt_otf2_cursor *at, uint64_t attribute, OTF2_Type type,
		       OTF2_AttributeValue *value);
/* Does it have the attribute, of whatever type? */
bool gt_otf2_has_attribute(const struct gt_otf2_cursor *at, uint64_t attribute);
/* The attribute at a place below at->attribute_count. */
bool gt_otf2_nth_attribute(const struct gt_otf2_cursor *at, uint32_t place, uint32_t *attribute,
			   OTF2_Type *type, OTF2_AttributeValue *value);

/* ---- archives --------------------------------------------------------------------------------- */

struct gt_otf2_options {
	const struct gt_otf2_visitor *visitor;
	void *user;       /* for the visitor */
	unsigned threads; /* that read events; 0: as many as there are processors */
	/*
	 * "gputrace export": which files cannot be read (GT_OTF2_FILES) is said on stderr, in one sentence
	 * with this before it. NULL: the visitor says what is to be said.
	 */
	const char *command;
	bool goes_on;     /* and the command goes on with what can be read */
	/*
	 * Of these locations events are not read: only merge() is called, with a state of zeros. NULL: of
	 * none.
	 */
	bool (*elsewhere)(void *user, size_t index);
	bool by_libotf2;  /* libotf2 reads all events, slowly */
};

struct gt_otf2 {
	char anchor[4096];
	struct gt_otf2_table tables[GT_OTF2_KINDS];
	struct gt_lookup owners; /* of properties: kind and owner to the first one */
	bool have_clock;
	uint64_t resolution, begin, end; /* ticks per second; of the trace in ticks */
	uint64_t realtime;               /* ns since 1970 at `begin`, or OTF2_UNDEFINED_TIMESTAMP */
	uint64_t factor, fraction;       /* ns of a tick, and 2^64ths of them */
	/* of the reader: */
	struct gt_otf2_options options;
	OTF2_Reader *reader;
	bool failed;                     /* libotf2 may be in any state: it is not asked to close anything */
	bool selected;                   /* gt_otf2_part() has opened the files */
	struct gt_otf2_block *blocks;
	uint64_t done, bytes;            /* of files of events, if somebody wants to know */
	struct gt_otf2_unread *unread;   /* files that could not be read; NULL: all could */
	uint64_t again;                  /* definitions of locations that were defined before */
	uint64_t comm_locations[256];    /* per paradigm: group id + 1 of its COMM_LOCATIONS, or 0 */
};

/*
 * Opens the archive whose anchor file (DIR/traces.otf2) this is, and reads its properties. NULL: no memory,
 * or GT_OTF2_FILES was reported. The options are copied, the visitor is not.
 */
struct gt_otf2 *gt_otf2_open(const char *anchor, const struct gt_otf2_options *options);
/* After a failure what libotf2 holds is not freed: it may crash. */
void gt_otf2_close(struct gt_otf2 *read);

/* Reads all definitions. 0, or -EIO: the archive cannot be read (GT_OTF2_FILES was reported). */
int gt_otf2_definitions(struct gt_otf2 *read);

/*
 * From now on `show` is called while events are read, by several threads: bytes of their files that have been
 * read, and all. Of the process, as is a terminal.
 */
void gt_otf2_show_progress(void (*show)(uint64_t done, uint64_t all));

/* Reads the events of all locations. 0 if all could be read, -EIO, or -ENOMEM. */
int gt_otf2_events(struct gt_otf2 *read);

/* Where reading of a location can begin: what was there after an event. */
struct gt_otf2_place {
	uint64_t event;                    /* its number */
	uint64_t ticks;
	const struct gt_otf2_frame *stack; /* region (NULL: not defined) and begin */
	size_t depth;
};

/*
 * Reads the events of one location (by its index) that follow the place up to the first one that is later
 * than `until`, and a few more. The visitor's state is made for it, and merge() is called. 0, -EIO, or
 * -ENOENT: there is no such location. Not by several threads at a time.
 */
int gt_otf2_part(struct gt_otf2 *read, size_t location, const struct gt_otf2_place *from, uint64_t until);

struct gt_otf2_marker {
	const char *group, *category, *text;
	OTF2_MarkerSeverity severity;
	uint64_t time, duration; /* ticks */
	OTF2_MarkerScope scope;
	uint64_t scope_id;
};

/* Reads the markers; `visit` may be NULL. 0 or -EIO. */
int gt_otf2_markers(struct gt_otf2 *read, void (*visit)(void *user, const struct gt_otf2_marker *marker));

/* The value of a metric, for what need not be exact above 2^53. */
static inline double gt_otf2_number(OTF2_Type type, OTF2_MetricValue value)
{
	if (type == OTF2_TYPE_INT64)
		return (double)value.signed_int;
	return type == OTF2_TYPE_DOUBLE ? value.floating_point : (double)value.unsigned_int;
}

/* Ticks of the archive as ns since the begin of the trace; 0 for what was before. */
static inline uint64_t gt_otf2_ns(const struct gt_otf2 *read, uint64_t ticks)
{
	uint64_t n = ticks > read->begin ? ticks - read->begin : 0;

	return n * read->factor + (uint64_t)((unsigned __int128)n * read->fraction >> 64);
}

/* Index of a definition in its table, or -1. */
static inline ptrdiff_t gt_otf2_index(const struct gt_otf2 *read, enum gt_otf2_kind kind, uint64_t id)
{
	const struct gt_otf2_table *table = &read->tables[kind];
	const struct gt_lookup_entry *entry;

	if (table->dense)
		return id < table->count ? (ptrdiff_t)id : -1;
	entry = id == GT_OTF2_NOTHING ? NULL : gt_lookup_find(&table->ids, id + 1);
	return entry ? (ptrdiff_t)entry->value : -1;
}

/*
 * gt_otf2_region_at(read, index) of tables[GT_OTF2_REGION].count, gt_otf2_find_region(read, id) or NULL,
 * ...
 */
#define GT_OTF2_ACCESS(KIND, name, text)                                                                     \
	static inline const struct gt_otf2_##name *gt_otf2_##name##_at(const struct gt_otf2 *read,           \
								       size_t index)                         \
	{                                                                                                    \
		const struct gt_otf2_##name *items = read->tables[GT_OTF2_##KIND].items;                     \
													     \
		return index ? items + index : items; /* an empty table has none */                          \
	}                                                                                                    \
	static inline const struct gt_otf2_##name *gt_otf2_find_##name(const struct gt_otf2 *read,           \
								       uint64_t id)                          \
	{                                                                                                    \
		ptrdiff_t index = gt_otf2_index(read, GT_OTF2_##KIND, id);                                   \
													     \
		return index < 0 ? NULL : gt_otf2_##name##_at(read, (size_t)index);                          \
	}
GT_OTF2_KIND_LIST(GT_OTF2_ACCESS)
#undef GT_OTF2_ACCESS

/* The text of a string, "?" if it is not defined. */
const char *gt_otf2_text(const struct gt_otf2 *read, uint32_t string);
/* The property of a definition, or of the archive (GT_OTF2_KINDS), or NULL. */
const struct gt_otf2_property *gt_otf2_find_owned(const struct gt_otf2 *read, enum gt_otf2_kind kind,
						  uint64_t owner, const char *name);
/* The id of the first attribute of that name, or GT_OTF2_NOTHING. */
uint64_t gt_otf2_attribute_named(const struct gt_otf2 *read, const char *name);

/*
 * Members of communicators (OTF2 manual, "Communicators"): the location that is `rank` as seen by the member
 * `own` (between two groups: of the other one); the number of members; the member that is a location, or one
 * of its location group, as threads send for their process. GT_OTF2_NOTHING, or 0: there is none.
 */
uint64_t gt_otf2_member(const struct gt_otf2 *read, uint64_t comm, uint32_t rank, uint64_t own);
size_t gt_otf2_comm_size(const struct gt_otf2 *read, uint64_t comm);
uint64_t gt_otf2_own(const struct gt_otf2 *read, uint64_t comm, uint64_t location);

/*
 * The calling context that a context was called from. NULL: there is none; or the tree is damaged, and would
 * go round: a caller is defined first.
 */
const struct gt_otf2_context *gt_otf2_caller(const struct gt_otf2 *read,
					     const struct gt_otf2_context *context);

/* The process that a location is of; an accelerator's is the one that made it. GT_OTF2_NOTHING: none. */
uint64_t gt_otf2_process(const struct gt_otf2 *read, const struct gt_otf2_location *location);

#endif
