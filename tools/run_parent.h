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
#include <stdint.h>

/*
 * Watches the run in the archive directory `dir` from now on, with a second process that goes on if this
 * one is killed. `host`: VT_TEST_HOST. Returns false, with a sentence in `why`, if it cannot.
 */
bool gt_watch_begin(const char *dir, const char *host, char *why, size_t size);

/*
 * Goes on in a new image of this program (anew.h), which watches the command `pid`; returns if that fails.
 * There gt_watch_resume() takes over: the command's pid, or -1 if `state` names none. If the run cannot be
 * watched any more it says so, and the command is waited for all the same.
 */
void gt_watch_anew(int pid);
int gt_watch_resume(const char *state);

/*
 * For how long a signal of a timer stops a process here, ns (interruption.c); 0: not known. The calling
 * process has no other use of SIGURG.
 */
uint32_t gt_interruption_ns(void);

/* Duties of new images. */
int gt_duty_parent(const char *state);  /* waits for the command */
int gt_duty_watcher(const char *state); /* waits for the end of the run */
int gt_duty_live(const char *state);    /* publishes the live view */

/* As if it had never begun. */
void gt_watch_cancel(void);

/*
 * This process's command (pid) has ended with `status`, or by `signal` if that is not 0, and has used so much
 * of the processors with all that it has waited for (0: not known). If no process of the run is left, makes
 * the archive; else says so and leaves it to the second process.
 */
void gt_watch_end(int pid, int status, int signal, uint64_t used_ns);

/*
 * Starts the command by calling `become` in a child, which returns an exit status if that fails, with the
 * reason in errno. Returns its pid; -1 and *status, *failed (an errno) if it could not be started.
 */
int gt_parent_start(int (*become)(const char *path, char **argv), const char *path, char **argv, int *status,
		    int *failed);

/*
 * Waits for the command's end, with the terminal and signals as if it were us, and ends the run. Returns its
 * exit status, or dies by the signal that has ended it.
 */
int gt_parent_attend(int pid);

#endif
