/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * User messages name no partner: sends and receives are paired by communicator and tag over all
 * locations, before the events are written.
 *
 * Limits: the n-th send with a tag belongs to the n-th receive with it, in order of time. Needs 48
 * bytes of disk per message while it works, and no memory that grows with their number.
 */
#ifndef GT_ASSEMBLE_PAIR_MESSAGES_H
#define GT_ASSEMBLE_PAIR_MESSAGES_H

#include <stdbool.h>

#include "lib/assemble/clock/clock.h"
#include "lib/assemble/defs/defs.h"
#include "lib/assemble/defs/layout.h"

struct gt_messages;

#define GT_NO_PEER UINT32_MAX

/* One end of a message. */
struct gt_pair_message {
	uint64_t tick;
	uint64_t ns;
	uint64_t pair;     /* only ends that are equal here can belong together */
	uint32_t name;     /* of the communicator, a string; then the communicator's global number */
	uint32_t tag;
	uint32_t location;
	uint32_t order;    /* in its location: two of one tick stay apart */
	uint32_t send;
	uint32_t peer;     /* location of the partner; then its rank; or GT_NO_PEER */
};

struct gt_peer {
	uint32_t comm;  /* global */
	uint32_t rank;  /* of the partner in it, or GT_NO_PEER */
};

/* Has a process defined a communicator for user messages? */
bool gt_messages_any(const struct gt_spool *spool);

/*
 * Reads all streams if a process has defined a communicator for user messages. *messages stays NULL
 * if there are none, or no room on the disk to pair them: then no message has a partner. Temporary
 * files go into `dirfd`. Returns 0 or a negative errno.
 */
int gt_messages_pair(struct gt_messages **messages, struct gt_spool *spool,
		     const struct gt_layout *layout, const struct gt_clock *clock,
		     struct gt_defs *defs, int dirfd);
void gt_messages_free(struct gt_messages *messages);

/* The partner of the message that a location has recorded at `tick`. Any thread, any order. */
struct gt_peer gt_messages_peer(const struct gt_messages *messages, uint32_t location,
				uint64_t tick, bool send, uint32_t tag);

/*
 * For messages that name their partner: a list of them, by hand. The n-th send belongs to the n-th
 * receive with equal tag and `pair`.
 */
int gt_messages_new(struct gt_messages **messages, int dirfd);
int gt_messages_add(struct gt_messages *messages, const struct gt_pair_message *message);
void gt_messages_pair_equal(struct gt_messages *messages);
typedef int gt_messages_compare(const struct gt_pair_message *a, const struct gt_pair_message *b);
void gt_messages_sort(struct gt_messages *messages, gt_messages_compare *compare);
struct gt_pair_message *gt_messages_list(struct gt_messages *messages, size_t *count);
void gt_messages_cut(struct gt_messages *messages, size_t count);
bool gt_messages_has_pair(const struct gt_messages *messages, uint32_t location, uint64_t tick,
			  bool send, uint32_t tag, uint64_t pair_key);

#endif
