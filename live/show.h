/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rows of `gputrace top`: gathered from images, filtered, sorted and printed.
 *
 * Limits: a row points into its image, which the set holds.
 */
#ifndef GT_LIVE_SHOW_H
#define GT_LIVE_SHOW_H

#include <stdbool.h>
#include <stddef.h>

#include "live/follow.h"
#include "live/run.h"

struct gt_live_set {
	struct gt_image *images;
	size_t count;
};

/* The segments of this user, or, if `run` is not NULL, the processes of that run. False: no memory. */
bool gt_live_gather(struct gt_live_set *set, struct gt_live_run *run, uint64_t interval_ns);
void gt_live_set_free(struct gt_live_set *set);

enum gt_live_view { GT_LIVE_LOCATIONS, GT_LIVE_PROCESSES, GT_LIVE_METRICS, GT_LIVE_VIEWS };
enum gt_live_order { GT_LIVE_BY_RANK, GT_LIVE_BY_RATE, GT_LIVE_BY_EVENTS, GT_LIVE_BY_LOST, GT_LIVE_BY_NAME,
		     GT_LIVE_ORDERS };
extern const char *const gt_live_order_names[GT_LIVE_ORDERS];

struct gt_live_choice {
	enum gt_live_view view;
	enum gt_live_order order;
	bool reverse;
	const char *filter; /* part of a program's, location's, region's or metric's name; "": all */
	unsigned pid;       /* 0: all */
};

struct gt_live_row {
	const struct gt_live_header *process;
	const struct gt_live_location *location; /* of a metric: who has recorded it; NULL: a process */
	const struct gt_live_metric *metric;
};

/* The rows of the view in order, to be freed; NULL: none, or no memory. */
struct gt_live_row *gt_live_rows(const struct gt_live_set *set, const struct gt_live_choice *choice,
				 size_t *count);

/* One line, without its end: what all of it comes to, the heads of the columns, a row. */
void gt_live_text_sum(const struct gt_live_set *set, char *line, size_t size);
void gt_live_text_head(enum gt_live_view view, char *line, size_t size);
void gt_live_text_row(const struct gt_live_row *row, char *line, size_t size);

enum gt_live_format { GT_LIVE_PLAIN, GT_LIVE_CSV, GT_LIVE_JSON, GT_LIVE_PROMETHEUS };

/* All of it on stdout. `first`: what stands once above a table is printed. */
void gt_live_print(const struct gt_live_set *set, const struct gt_live_choice *choice,
		   enum gt_live_format format, bool first);

/* The terminal, until the user leaves or nothing is shown any more. Returns an exit status. */
int gt_live_screen(struct gt_live_run *run, struct gt_live_choice *choice, uint64_t interval_ns);
/* Was gputrace built with a library for terminals? */
bool gt_live_has_screen(void);

#endif
