/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the files share that look at the events of a location: its state, and the shape of callbacks.
 *
 * Limits: included by check_events.c and check_mpi.c only.
 */
#ifndef GT_TOOLS_CHECK_STATE_H
#define GT_TOOLS_CHECK_STATE_H

#include <inttypes.h>

#include "tools/check.h"

#define ARCHIVE (~UINT64_C(0))
#define DONE	OTF2_CALLBACK_SUCCESS

struct request {
	uint64_t id;
	struct record record;
};

struct state {
	struct check *check;
	uint64_t location;
	uint32_t index;
	bool stream;
	uint64_t n, last;
	uint32_t *stack;
	uint64_t *entered;     /* the time, beside each of them */
	size_t depth, room;
	size_t kernels;	       /* open activities of a GPU stream */
	uint64_t begins, ends; /* of the program */
	bool failed;		  /* this event has the attribute MPI_ERROR */
	bool sent;		  /* the call that is open has sent `send` */
	struct record send;
	bool in_collective;
	uint64_t collective_begin;
	uint64_t *sequence;	  /* collectives so far, per communicator */
	struct request *requests; /* sends and receives that are not complete */
	size_t request_count, request_room;
	uint64_t own_comm, own; /* the last answer of check_own */
};

#define BROKEN(s, rule, ...)                                                                       \
	check_broken((s)->check, rule, (s)->location, (s)->n, (s)->last, __VA_ARGS__)

void check_attributes(struct state *s, const OTF2_AttributeList *list, uint32_t count);

static inline void event(struct state *s, uint64_t time, OTF2_AttributeList *list)
{
	struct check *check = s->check;
	uint64_t before = s->last;
	uint32_t attributes = OTF2_AttributeList_GetNumberOfElements(list);

	s->n++;
	s->last = time;
	s->failed = false;
	if (time < before && s->n > 1)
		BROKEN(s, RULE_TIME, "%" PRIu64 " ticks before the event before it", before - time);
	if (time < check->begin || time > check->end)
		BROKEN(s, RULE_RANGE, "at tick %" PRIu64 ", not in %" PRIu64 " to %" PRIu64, time,
		       check->begin, check->end);
	if (attributes)
		check_attributes(s, list, attributes);
}

static inline bool refer(struct state *s, enum kind kind, uint64_t id, const char *what)
{
	if (check_defined(s->check, kind, id))
		return true;
	BROKEN(s, RULE_EVENTS, "%s %" PRIu64 " is not defined", what, id);
	return false;
}

/* The open call has failed: what it sent was not sent. */
void check_failed_send(struct state *s);
/* Callbacks of messages, collectives, communicators and one-sided operations. */
void check_mpi_callbacks(OTF2_EvtReaderCallbacks *callbacks);

/* ---- the shape of the other callbacks -------------------------------------------------------- */

/* A callback with arguments: EVENT(Name, (arguments)) { body that uses s and time } */
#define EVENT(name, ...)                                                                           \
	static void do_##name(struct state *s, OTF2_TimeStamp time, ##__VA_ARGS__);                \
	static OTF2_CallbackCode on_##name(OTF2_LocationRef location, OTF2_TimeStamp time,         \
					   uint64_t position, void *data,                          \
					   OTF2_AttributeList *list, ##__VA_ARGS__)
#define BODY(name, arguments, ...)                                                                 \
	{                                                                                          \
		(void)location, (void)position;                                                    \
		event(data, time, list);                                                           \
		do_##name arguments;                                                               \
		return DONE;                                                                       \
	}                                                                                          \
	static void do_##name(struct state *s, OTF2_TimeStamp time, ##__VA_ARGS__)

#define PLAIN(name, kind, what, id, arguments, ...)                                                \
	EVENT(name, __VA_ARGS__)                                                                   \
	BODY(name, arguments, __VA_ARGS__)                                                         \
	{                                                                                          \
		(void)time;                                                                        \
		refer(s, kind, id, what);                                                          \
	}

#endif
