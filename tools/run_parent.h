/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `gputrace run` as the parent of its command, and as the one that makes the archive.
 *
 * Limits: tools only; one run in a process.
 */
#ifndef GT_TOOLS_RUN_PARENT_H
#define GT_TOOLS_RUN_PARENT_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Watches the run in the archive directory `dir` from now on, with a second process that goes on if this
 * one is killed. `host`: VT_TEST_HOST. Returns false, with a sentence in `why`, if it cannot.
 */
bool gt_watch_begin(const char *dir, const char *host, char *why, size_t size);

/* Closes all descriptors but those of the watch and the standard streams. */
void gt_watch_close_others(void);

/* As if it had never begun. */
void gt_watch_cancel(void);

/*
 * This process's command (pid) has ended with `status`, or by `signal` if that is not 0. If no process of the
 * run is left, makes the archive; else says so and leaves it to the second process.
 */
void gt_watch_end(int pid, int status, int signal);

/*
 * Starts the command by calling `become` in a child, which returns an exit status if that fails, with the
 * reason in errno. Waits for its end, with the terminal and signals as if it were us. Returns its
 * exit status, or 128 + the signal that has ended it; *failed: the errno of `become`, or 0.
 */
int gt_parent_wait(int (*become)(const char *path, char **argv), const char *path, char **argv, int *failed,
		   int *pid, int *killed);

/* Ends this process as `killed` has ended another; returns if that signal does not. */
void gt_parent_die(int killed);

#endif
