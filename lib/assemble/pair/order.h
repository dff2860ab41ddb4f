/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The order that messages between hosts prove: none is received before it was sent. Where the comparisons
 * of clocks were not good enough for that, the times of the receiving host are shifted, as little as
 * possible: a shift is there in full at the receive and fades away on both sides of it. All locations of a
 * host have the same shift, which never turns its time back: what happened on one host keeps its order, and a
 * span of time keeps its length within a 1024th, or more where the clocks' rates are further off (adr/0014).
 *
 * Limits: point-to-point messages between ranks. A message is left out if its sender and receiver,
 * communicator and tag have fewer sends than receives (something was lost), and if it is early by more than
 * the clocks' stated errors allow.
 */
#ifndef GT_ASSEMBLE_PAIR_ORDER_H
#define GT_ASSEMBLE_PAIR_ORDER_H

#include "lib/assemble/clock/clock.h"
#include "lib/assemble/pair/messages.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The file in which a part keeps the ends of its messages to and from other hosts. */
#define GT_ORDER_NAME ".sort.order"

struct gt_order_endpoint {
	uint64_t pair;   /* of sender, receiver, communicator and tag */
	uint64_t ns;
	uint32_t clock;  /* whose time that is */
	uint32_t send;
};

/* Writes that file. Any thread. */
struct gt_order_file;
struct gt_order_file *gt_order_open(int dirfd); /* NULL without memory */
void gt_order_put(struct gt_order_file *file, const struct gt_order_endpoint *end);
/* A file that could not be written is removed. NULL is nothing. */
void gt_order_close(struct gt_order_file *file);

/* Adds the ends in the file of a part. `hosts` and `times`: by clock, whose it is and how its times are
 * corrected. 0, also if there is none, or a negative errno. */
struct gt_corrections {
	struct gt_offset *points;
	size_t count;
};
int gt_order_read(struct gt_messages *ends, int dirfd, const char *path, const uint32_t *hosts,
		  const struct gt_corrections *times, size_t clocks);

/* The offset added to a host's times. */
struct gt_shift {
	struct gt_peak {
		uint64_t ns;
		int64_t height;  /* the shift there << slope, and how far it reaches, ns */
	} *peaks;                /* ascending */
	size_t count, room;
	unsigned slope;          /* it changes by a 2^slope-th of the time that passes */
};

struct gt_order {
	struct gt_shift *shifts; /* by host */
	size_t hosts;
	uint64_t messages;       /* that were compared, */
	uint64_t early, left;    /* of them received before they were sent; and still are */
	int64_t earliest;        /* by so many ns, at most */
	int64_t worst;           /* the largest shift, ns */
};

/* Works out the shifts; the list is used up. `errors`: by host, -1: unknown. 0 or -ENOMEM. */
int gt_order_make(struct gt_order *order, struct gt_messages *ends, const int64_t *errors,
		  size_t hosts);
void gt_order_free(struct gt_order *order);

int64_t gt_shift_at(const struct gt_shift *shift, uint64_t ns);
int64_t gt_shift_most(const struct gt_shift *shift);

/* The shift comes behind a correction. 0 or -ENOMEM. */
int gt_shift_correct(struct gt_corrections *correction, const struct gt_shift *shift);

#endif
