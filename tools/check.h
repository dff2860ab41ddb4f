/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The parts of `gputrace check` on top of lib/read: rules and their report (check_report.c), events
 * (check_events.c, check_mpi.c, check_samples.c), rules that span locations (check_pairs.c). cmd_check.c runs
 * them in a child process.
 *
 * Limits: memory does not grow with the number of events; beyond a fixed amount the records of the spanning
 * rules go to temporary files.
 */
#ifndef GT_TOOLS_CHECK_H
#define GT_TOOLS_CHECK_H

#include <pthread.h>
#include <stdio.h>

#include "lib/assemble/util/places.h"
#include "lib/read/read.h"
#include "report/model/stacks.h"

/* ---- rules ----------------------------------------------------------------------------------- */

/* The first ones are lib/read's faults, in their order. */
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
	RULE_SAMPLES,
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
	struct example *example; /* EXAMPLES, once there is one */
};

enum { CHECK_WARNINGS = 32 };

struct warning {
	char text[256];
};

/* ---- rules that span locations --------------------------------------------------------------- */

/* One end of something. Sorted by key, then order, then time, then what. */
struct record {
	uint64_t key[2];
	uint64_t order; /* of a message: the event of its location that began it */
	uint64_t time;	/* ticks */
	uint64_t event; /* number in its location */
	uint64_t value;
	uint32_t location; /* index in the table of locations */
	uint32_t what;
};

/*
 * BAG_ORDER: collectives of processes with several threads, which BAG_COLLECTIVES gets from it. BAG_OPEN:
 * locations that end inside of one.
 */
enum bag { BAG_MESSAGES, BAG_LOCKS, BAG_THREADS, BAG_ORDER, BAG_COLLECTIVES, BAG_OPEN, BAG_LAUNCHES, BAGS };

/* MESSAGE_FREED: a receive whose request was freed, of whose message only the sender knows more. */
enum { MESSAGE_SEND, MESSAGE_RECEIVE, MESSAGE_CUT, MESSAGE_FREED, MESSAGE_RETRACT };
enum { LOCK_ACQUIRE, LOCK_RELEASE };
enum { THREAD_CREATE, THREAD_BEGIN, THREAD_END, THREAD_WAIT };
enum { COLLECTIVE_DONE, COLLECTIVE_FAILED };
enum { LAUNCH_CALL, LAUNCH_ACTIVITY };
enum { MPI_BEGUN = 1, MPI_ENDED = 2 };

/* ---- the check ------------------------------------------------------------------------------- */

#define CHECK_WHO 144 /* room for check_who() */

/* The error of a process's clock, as recorded in an archive of several hosts; otherwise ticks. */
#define CLOCK_UNTOLD  (~UINT64_C(0))
#define CLOCK_UNKNOWN (~UINT64_C(0) - 1)

struct check {
	const struct gt_otf2 *read;
	uint64_t mpi_error;   /* attribute of what failed, and of messages that were cut */
	uint64_t freed;	      /* attribute of receives that were freed */
	struct gt_stack_ids stacks;
	uint64_t correlation; /* attribute that ties a call to what it caused on a GPU */
	uint64_t hosts;       /* of the run, as the archive says */
	uint64_t clock_error; /* ticks; of clocks of one host, if the processes say theirs */
	uint64_t reading_error; /* ns; of clocks of one host, in an archive of several */
	bool several_clocks;
	bool matched_early;   /* receives by MPI_Mprobe and its like: in another order than posted */
	uint64_t messages, early, incomparable; /* how many; before they were sent; or who knows? */
	uint64_t within;      /* ... before they were sent, but by less than the clocks' error */
	uint64_t unreceived;  /* messages that were sent, and that the program never received */
	char unreceived_what[348]; /* the first of them */
	uint64_t unfinished;  /* non-blocking collectives that some rank never completed */
	uint64_t abandoned;   /* calls of collectives that lack members which ended without MPI_Finalize */
	char abandoned_what[CHECK_WHO]; /* the first of these members */
	bool was_off;         /* a thread was switched off for a time (VT_OFF); atomic */
	bool excused;	      /* the archive says that events are missing */
	bool part;	      /* ... that it is a slice of the time */
	uint64_t events;

	/* per location group: its locations for threads, the error of its clock in ticks or a CLOCK_ value */
	uint32_t *threads;
	uint64_t *clocks;
	uint8_t *life; /* MPI_BEGUN, MPI_ENDED; atomic */
	uint32_t *met; /* the last collective that was looked at, and of which it is a member */
	uint32_t meeting;

	/* those members of communicator left_comm that ended without MPI_Finalize */
	uint64_t left_comm, *left;
	size_t left_count;
	bool has_left; /* there are such processes at all */

	pthread_mutex_t lock; /* what follows, while events are read */
	struct gt_sorter *bags[BAGS];
	bool spill_failed;
	uint64_t *failed;   /* per communicator: number of the first blocking collective that failed */
	bool *failed_later; /* per communicator: a non-blocking one failed */
	uint64_t open_later; /* requests of non-blocking collectives that are open at the end */

	struct broken broken[RULES];
	struct warning warnings[CHECK_WARNINGS], notes[CHECK_WARNINGS];
	unsigned warning_count, note_count;
};

/* "Master thread" of "MPI Rank 1": a location with its process, as text for people. Returns `text`. */
const char *check_who(const struct check *check, uint64_t location, char text[CHECK_WHO]);

/* ---- events ---------------------------------------------------------------------------------- */

/* The state of a location while it is read. */
struct state {
	struct broken broken[RULES];
	struct {
		struct record *records;
		size_t count;
	} pending[BAGS];
	size_t kernels;		  /* open activities of a GPU stream */
	uint64_t first;		  /* time of the first event, ns */
	uint64_t begins, ends;	  /* of the program */
	bool sent;		  /* the call that is open has sent `send` */
	struct record send;
	bool in_collective;
	uint64_t collective_begin;
	uint64_t *sequence;	  /* collectives so far, per communicator */
	uint64_t open_later;	  /* requests of non-blocking ones that are not complete */
	struct record *requests;  /* sends and receives that are not complete */
	struct gt_places open_requests; /* of them, by their ids */
	size_t request_room;
	uint64_t own_comm, own;	  /* the last answer of gt_otf2_own() */
	struct {
		uint64_t count;
		uint32_t context;	 /* of the event before, if there was one */
		bool follows;
		uint64_t last, sum;	 /* ns; sum: that those after the first stand for */
	} sample;
};

extern const struct gt_otf2_visitor check_visitor;

/* Before the events. */
void check_prepare(struct check *check);

/* Is the attribute MPI_ERROR at the event? */
bool check_failed(const struct gt_otf2_cursor *at);
/* Events of messages, collectives and one-sided operations. */
void check_mpi(struct gt_otf2_cursor *at, const struct gt_otf2_event *event);
/* The open call has failed: what it sent was not sent. */
void check_failed_send(struct gt_otf2_cursor *at);

/* Samples of call stacks, and the end of their location. */
void check_sample(struct gt_otf2_cursor *at, const struct gt_otf2_CallingContextSample *sample);
/* A call is entered or left, as a calling context. */
void check_context_call(struct gt_otf2_cursor *at);
void check_samples_end(struct gt_otf2_cursor *at);

/* ---- rules that span locations --------------------------------------------------------------- */

/* Adds a record to a bag. `state`: the location's that is being read, or NULL. */
void pairs_add(struct check *check, struct state *state, enum bag bag, const struct record *record);
/* Hands over what `state` keeps. */
void pairs_flush(struct check *check, struct state *state);
/* A blocking collective of a process gets its number; `next` is of this process and communicator. */
void check_number(struct check *check, struct state *state, struct record *record, uint64_t *next);
/* Checks everything that was added, and says what the program has left undone. */
void check_pairs(struct check *check);

/* ---- report ---------------------------------------------------------------------------------- */

/* A rule is broken at an event (NO_EVENT: the location as a whole; no location: the archive). */
void check_broken(struct check *check, enum check_rule rule, uint64_t location, uint64_t event,
		  uint64_t ticks, const char *format, ...) __attribute__((format(printf, 6, 7)));
/* At the event that is being visited. */
void check_event(struct gt_otf2_cursor *at, enum check_rule rule, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void check_note(const struct check *check, struct broken *broken, uint64_t location, uint64_t event,
		uint64_t ticks, const char *format, va_list args)
	__attribute__((format(printf, 6, 0)));
/* Adds the findings of a location, and frees them. */
void check_merge(struct check *check, struct broken broken[RULES]);
void check_warn(struct check *check, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A fact about the run that is no warning. */
void check_tell(struct check *check, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Text or JSON on `out`. Returns the exit status. */
int check_report(struct check *check, FILE *out, bool json, bool quiet, bool werror);

#endif
