/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The end of a run, as its processes and `gputrace run` see it: who still lives, who watches, and
 * whose turn it is when there are several hosts.
 *
 * Limits: no malloc, no stdio, no locale; usable in a traced process.
 */
#ifndef GT_ENDING_H
#define GT_ENDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gt_survey {
	unsigned recorded; /* processes that have a folder */
	unsigned killed;   /* of them: gone without an end */
	unsigned alive;
	unsigned between;  /* of them: on their way from one program to the next */
	unsigned dying;    /* of them: a signal that ends them is on its way, or they are exiting */
	uint32_t pid;      /* of one that lives */
	char program[64];
};

struct gt_run_header;

/*
 * Looks at the processes of the run's folder `spool`, other than `self` (0: all), which have recorded
 * something and have not ended; and at those that may be about to join it.
 */
void gt_survey(const struct gt_run_header *run, const char *spool, uint32_t self, struct gt_survey *survey);

/* A child that has recorded nothing becomes another program, or did not, or has joined the run. */
void gt_run_executes(struct gt_run_header *run, uint32_t pid, bool begins);

/*
 * Is there, beside the new archive directory `dir`, one of the same name but for date and number whose run
 * was killed, so that nobody has made its archive? Then `left` is its path. Looks at the first some thousand
 * names of the folder only.
 */
bool gt_left_behind(const char *dir, const char *host, char *left, size_t size);

/*
 * Who watches a run makes its archive. A watcher holds a lock on the file `watch` beside the run
 * header; the kernel takes it back however the watcher ends, and anybody can ask without taking it.
 */
#define GT_WATCH "watch"

/* Watches the run in the folder `home`. Returns a descriptor to keep, or a negative errno. */
int gt_watch(const char *home);
/* The same, once nobody else watches: waits for that. */
int gt_watch_last(const char *home);
/* Does anybody watch? Yes as well if that cannot be found out. */
bool gt_watched(const char *home);
bool gt_watched_at(int dir, const char *path); /* of the file */

#define GT_CLAIM "claim" /* in DIR/spool: the host that has made it assembles for all */

/* Sets the state of the run whose header is open as `fd`. */
void gt_run_state_set(int fd, uint32_t state);
/* Reads it; GT_RUN_DONE if it cannot be read. */
uint32_t gt_run_state_get(int fd);

/*
 * This host's processes have ended; `fd` holds its run header, DIR/spool/.../run in `home`, locked. Is it for
 * us to assemble: are we the only host, or the last one? `part` makes what this host has recorded
 * ready for the last one. GT_TURN_NOTHING: we are the only host, and nothing was recorded.
 */
enum gt_turn { GT_TURN_OURS, GT_TURN_OTHERS, GT_TURN_NOTHING };
enum gt_turn gt_run_turn(const char *dir, const char *home, int fd,
			 void (*part)(const char *dir, const char *home, int fd));

#endif
