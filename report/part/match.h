/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Matches events of different locations: the two ends of messages, and calls with the activities that they
 * started on a device. Ends are collected while locations are read and matched when all have been read: at
 * once, or channel by channel where the caller can sort more than memory holds.
 *
 * Limits: ends are held in memory, 96 bytes each. Which receive belongs to which send follows from MPI's
 * order (messages from one place to another with one tag do not overtake each other); threads that send at
 * once with one tag are told apart by time only.
 */
#ifndef GT_REPORT_MATCH_H
#define GT_REPORT_MATCH_H

#include <pthread.h>

#include "lib/assemble/util/places.h"
#include "lib/read/read.h"

enum gt_end_what { GT_END_SEND, GT_END_RECEIVE, GT_END_CALL, GT_END_ACTIVITY };

struct gt_end {
	uint64_t key[2];   /* of those that belong together */
	uint64_t order;    /* in which they do: the time at which it was begun */
	uint64_t begun;    /* the number of the event that began it, in its location */
	uint64_t event;    /* its own number */
	uint64_t time;     /* ns */
	uint64_t last;     /* at which its last event is: of a request for a send, the completion */
	uint64_t bytes;    /* of a message; else the number that ties them */
	uint64_t user;     /* of who collects them */
	uint32_t location; /* its place in the table */
	uint32_t comm, tag;
	uint8_t what;      /* gt_end_what */
	bool retracted;    /* a send that was cancelled, or has failed */
};

struct gt_ends {
	struct gt_end *items;
	size_t count, room;
};

/* A request that is open, or a send that may yet fail. */
struct gt_request {
	struct gt_end end;
	size_t place; /* in `ends`, of a send */
};

/* Of one location. */
struct gt_match {
	struct gt_ends ends;
	struct gt_request *requests;
	size_t request_room;
	struct gt_places open;  /* of requests, by their ids */
	uint64_t own, own_comm; /* the member that the location is in the communicator + 1 */
	size_t last_send;       /* + 1: of the innermost call; 0: none */
	uint64_t mpi_error;     /* the attribute, or GT_OTF2_NOTHING */
	bool is_known;          /* mpi_error */
};

/* An event: true if it was an end of a message, which is the last of match->ends then, with `user`. */
bool gt_match_event(struct gt_match *match, const struct gt_otf2_cursor *at,
		    const struct gt_otf2_event *event, uint64_t user);
/* An enter: true if it is a call or an activity with a CORRELATION_ID. */
bool gt_match_enter(struct gt_match *match, const struct gt_otf2_cursor *at, uint64_t correlation,
		    uint64_t user);
/* A leave: with the attribute MPI_ERROR the send of that call was none. */
void gt_match_leave(struct gt_match *match, const struct gt_otf2_cursor *at, uint64_t mpi_error);
/*
 * Moves those ends to `all` that no later event can change: all but sends whose requests are open, or whose
 * call may yet fail, and what came behind them.
 */
void gt_match_flush(struct gt_match *match, struct gt_ends *all);
/* Moves what a location has collected to `all`, and frees the rest. */
void gt_match_end(struct gt_match *match, struct gt_ends *all);

/* `pair` is called for each two that belong together, `single` (or NULL) for each that is alone. */
struct gt_matched {
	void *user;
	void (*pair)(void *user, const struct gt_end *from, const struct gt_end *to);
	void (*single)(void *user, const struct gt_end *end);
};

/* Ends of one key. In memory are those whose other side has not come. Zeroed, it is empty. */
struct gt_match_channel {
	struct gt_ends waiting; /* sends, receives or activities */
	size_t first;           /* of them: those before it are done */
	struct gt_end call;     /* the last one */
	bool called;
};

/*
 * The next end, in the order of gt_match_order(). An activity has one call, a call may have several
 * activities.
 */
void gt_channel_end(struct gt_match_channel *channel, const struct gt_end *end, const struct gt_matched *to);
/* No more: those that wait are alone. It is empty then; its room is freed by who has it. */
void gt_channel_close(struct gt_match_channel *channel, const struct gt_matched *to);
/* For qsort(): by key, then as they are matched. */
int gt_match_order(const void *a, const void *b);

/* Matches all ends; sorts them. */
void gt_match_all(struct gt_ends *all, const struct gt_matched *to);

#endif
