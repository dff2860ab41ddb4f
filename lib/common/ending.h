/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The end of a run: which of its processes still live, which process watches it, and which host is to
 * assemble.
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
	unsigned killed;   /* of these, gone without an end */
	unsigned alive;
	unsigned between;  /* of these, executing another program */
	unsigned dying;    /* of these, exiting, or with a fatal signal pending */
	uint32_t pid;      /* of one that is alive */
	char program[64];
};

struct gt_run_header;

/*
 * Surveys the processes of the run's folder `spool`, except `self` (0: all of them), that have recorded
 * something and have not ended, and those that may be about to join it.
 */
void gt_survey(const struct gt_run_header *run, const char *spool, uint32_t self, struct gt_survey *survey);

/* A child that has recorded nothing is about to execute a program (true); has failed to, or has joined the
 * run (false). */
void gt_run_executes(struct gt_run_header *run, uint32_t pid, bool begins);

/*
 * Is there, beside the new archive directory `dir`, a directory of the same name except for date and number
 * whose run was killed, so that its archive was not made? Then `left` is its path. Reads only the first few
 * thousand names of the folder.
 */
bool gt_left_behind(const char *dir, const char *host, char *left, size_t size);

/*
 * The process that watches a run makes its archive. A watcher holds a lock on the file `watch` beside the run
 * header; the kernel releases it however the watcher ends, and others can test it without taking it.
 */
#define GT_WATCH "watch"

/* Watches the run in the folder `home`. Returns a descriptor to keep, or a negative errno. */
int gt_watch(const char *home);
/* The same; waits until nobody else watches. */
int gt_watch_last(const char *home);
/* Does anybody watch? True also if that cannot be determined. */
bool gt_watched(const char *home);
bool gt_watched_at(int dir, const char *path); /* of the file */

#define GT_CLAIM "claim" /* in DIR/spool: the host that has made it assembles for all */

/* Sets the state of the run whose header is open as `fd`. */
void gt_run_state_set(int fd, uint32_t state);
/* Reads it; GT_RUN_DONE if it cannot be read. */
uint32_t gt_run_state_get(int fd);

/*
 * This host's processes have ended; `fd` is its run header, DIR/spool/.../run in `home`, locked. Is this
 * host to assemble, because it is the only host or the last one? Otherwise `part` prepares its records for
 * the last one. GT_TURN_NOTHING: it is the only host, and nothing was recorded.
 */
enum gt_turn { GT_TURN_OURS, GT_TURN_OTHERS, GT_TURN_NOTHING };
enum gt_turn gt_run_turn(const char *dir, const char *home, int fd,
			 void (*part)(const char *dir, const char *home, int fd));

#endif
