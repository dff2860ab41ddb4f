/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The parts of `gputrace check`: rules and their report (check_report.c), definitions
 * (check_defs.c), events of one location (check_events.c), rules that span locations
 * (check_pairs.c). cmd_check.c runs them in a child process.
 *
 * Limits: reads a location at a time; memory does not grow with the number of events, beyond a
 * fixed amount the records of the spanning rules go to temporary files.
 */
#ifndef GT_TOOLS_CHECK_H
#define GT_TOOLS_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <otf2/otf2.h>

/* ---- rules ----------------------------------------------------------------------------------- */

enum check_rule {
	RULE_FILES,
	RULE_ORDER,
	RULE_REFERENCES,
	RULE_GROUPS,
	RULE_COMMS,
	RULE_COUNT,
	RULE_TIME,
	RULE_RANGE,
	RULE_EVENTS,
	RULE_BALANCE,
	RULE_DEPTH,
	RULE_METRICS,
	RULE_PROGRAM,
	RULE_STREAMS,
	RULE_THREADS,
	RULE_LOCKS,
	RULE_MESSAGES,
	RULE_CAUSALITY,
	RULE_COLLECTIVES,
	RULE_MARKERS,
	RULES,
};

enum { EXAMPLES = 10, NO_EVENT = 0 };

struct example {
	char place[256]; /* location "name", event 12, 1.000000123 s */
	char text[256];
};

struct broken {
	uint64_t count;
	unsigned examples;
	struct example example[EXAMPLES];
};

struct warning {
	char text[256];
};

/* ---- definitions ----------------------------------------------------------------------------- */

enum kind {
	KIND_STRING,
	KIND_ATTRIBUTE,
	KIND_NODE,
	KIND_LOCATION_GROUP,
	KIND_LOCATION,
	KIND_REGION,
	KIND_CALLSITE,
	KIND_CALLPATH,
	KIND_GROUP,
	KIND_METRIC_MEMBER,
	KIND_METRIC,
	KIND_COMM,
	KIND_PARAMETER,
	KIND_RMA_WIN,
	KIND_SOURCE,
	KIND_CONTEXT,
	KIND_INTERRUPT,
	KIND_IO_FILE,
	KIND_IO_HANDLE,
	KIND_IO_PARADIGM,
	KIND_CART_DIMENSION,
	KIND_CART_TOPOLOGY,
	KINDS,
};

/* What an archive of several hosts says about the error of a process's clock; else ticks. */
#define CLOCK_UNTOLD  (~UINT64_C(0))
#define CLOCK_UNKNOWN (~UINT64_C(0) - 1)

/* What is known about one definition; which fields mean something depends on the kind. */
struct definition {
	uint64_t id;
	uint32_t name; /* string id */
	uint8_t type;  /* location, group, location group, attribute, parameter, member */
	uint8_t paradigm;
	uint8_t role;  /* region */
	bool inter;    /* communicator with two groups */
	uint64_t a, b; /* location: group, declared events. group: first member, count.
			  communicator: group(s). location group: its process, its node.
			  metric class: first member, count */
	uint64_t clock; /* location group: ticks that its clock may be off, or a CLOCK_ value */
};

struct table {
	struct definition *items;
	size_t count, room;
	bool dense;	/* id i is item i */
	size_t *sorted; /* if not dense: items by id */
	size_t sorted_count;
};

struct check {
	OTF2_Reader *reader;
	char anchor[4096];
	struct table tables[KINDS];
	uint64_t *members; /* of all groups and metric classes */
	size_t member_count, member_room;
	char *text; /* of all strings */
	size_t text_size, text_room;
	bool have_clock;
	uint64_t resolution, begin, end;
	uint64_t comm_locations[256]; /* per paradigm: group id + 1 of its COMM_LOCATIONS, or 0 */

	uint64_t mpi_error;   /* attribute of what failed, and of messages that were cut, or ~0 */
	uint64_t correlation; /* attribute that ties a call to what it caused on a GPU, or ~0 */
	uint64_t clock_error; /* ticks; of clocks of one host, if the processes say theirs */
	uint64_t reading_error; /* ns; of clocks of one host, in an archive of several */
	bool several_clocks;
	bool matched_early;   /* receives by MPI_Mprobe and its like: in another order than posted */
	uint64_t messages, early, incomparable; /* how many; before they were sent; or who knows? */
	uint64_t within;      /* ... before they were sent, but by less than the clocks' error */
	bool excused;	      /* the archive says that events are missing */
	uint64_t events;

	struct pairs *pairs;
	uint32_t *threads;  /* per location group: its locations for threads */
	uint64_t *failed;   /* per communicator: number of the first blocking collective that failed */
	bool *failed_later; /* per communicator: a non-blocking one failed */
	struct broken broken[RULES];
	struct warning warnings[32];
	unsigned warning_count;
	char library[256]; /* last complaint of libotf2 */
};

/* Reads all global definitions and checks them. False: the archive cannot be read. */
bool check_definitions(struct check *check);

/* Index of a definition in its table, or -1. */
ptrdiff_t check_find(const struct check *check, enum kind kind, uint64_t id);
static inline bool check_defined(const struct check *check, enum kind kind, uint64_t id)
{
	return check->tables[kind].dense ? id < check->tables[kind].count
					 : check_find(check, kind, id) >= 0;
}

const char *check_string(const struct check *check, uint32_t id); /* "?" if undefined */
const char *check_name(const struct check *check, enum kind kind, uint64_t id);
/* "Master thread" of "MPI Rank 1": a location with its process, as text for people. Returns `text`. */
#define CHECK_WHO 144
const char *check_who(const struct check *check, uint64_t location, char text[CHECK_WHO]);

/* The first attribute of that name, or ~0. */
uint64_t check_attribute(const struct check *check, const char *name);

/* The location that is `rank` in a communicator, as seen by `own`; ~0 if there is none. */
uint64_t check_member(const struct check *check, uint64_t comm, uint32_t rank, uint64_t own);
/* How many members, and is the location (or one of its process) among them? ~0: no. */
size_t check_comm_size(const struct check *check, uint64_t comm);
uint64_t check_own(const struct check *check, uint64_t comm, uint64_t location);

/* ---- events ---------------------------------------------------------------------------------- */

/* Reads every location's events. */
void check_events(struct check *check);
void check_markers(struct check *check);
/* What every event is checked for; `state` is the callback's user data. */
void check_plain_event(void *state, uint64_t time, OTF2_AttributeList *list);
void check_plain_reference(void *state, enum kind kind, uint64_t id, const char *what);
/* Callbacks for the types of events that gputrace does not write itself. */
void check_other_callbacks(OTF2_EvtReaderCallbacks *callbacks);
/* True if the file name plus suffix exists: traces/<location>.<suffix> beside the anchor. */
bool check_file(const struct check *check, uint64_t location, const char *suffix, uint64_t *size);

/* ---- rules that span locations --------------------------------------------------------------- */

/* One end of something. Sorted by key, then order, then time, then what. */
struct record {
	uint64_t key[2];
	uint64_t order; /* of a message: the event of its location that began it */
	uint64_t time;
	uint64_t event; /* number in its location */
	uint64_t value;
	uint32_t location; /* index in the table of locations */
	uint32_t what;
};

/* BAG_ORDER: collectives of processes with several threads, which BAG_COLLECTIVES gets from it. */
enum bag { BAG_MESSAGES, BAG_LOCKS, BAG_THREADS, BAG_ORDER, BAG_COLLECTIVES, BAG_LAUNCHES, BAGS };

enum { MESSAGE_SEND, MESSAGE_RECEIVE, MESSAGE_CUT, MESSAGE_RETRACT };
enum { LOCK_ACQUIRE, LOCK_RELEASE };
enum { THREAD_CREATE, THREAD_BEGIN, THREAD_END, THREAD_WAIT };
enum { COLLECTIVE_DONE, COLLECTIVE_FAILED };
enum { LAUNCH_CALL, LAUNCH_ACTIVITY };

struct pairs *pairs_new(void);
void pairs_free(struct pairs *pairs);
void pairs_add(struct check *check, enum bag bag, const struct record *record);
/* A blocking collective of a process gets its number; `next` is of this process and communicator. */
void check_number(struct check *check, struct record *record, uint64_t *next);
/* Checks everything that was added. */
void check_pairs(struct check *check);

/* ---- report ---------------------------------------------------------------------------------- */

/* A rule is broken at an event (NO_EVENT: the location as a whole; location ~0: the archive). */
void check_broken(struct check *check, enum check_rule rule, uint64_t location, uint64_t event,
		  uint64_t time, const char *format, ...) __attribute__((format(printf, 6, 7)));
void check_warn(struct check *check, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Text or JSON on `out`. Returns the exit status. */
int check_report(struct check *check, FILE *out, bool json, bool quiet, bool werror);

#endif
