/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sets the variables that a launcher of parallel programs must pass to other hosts for ranks there to be
 * recorded.
 *
 * Limits: see hand_on.c.
 */
#ifndef GT_TOOLS_HAND_ON_H
#define GT_TOOLS_HAND_ON_H

/*
 * Asks Open MPI's launcher for it, by the environment, if the command is one, or starts one (timeout 40
 * mpirun ..., a job script). `path`: the file of the command `words`.
 */
void gt_hand_on(const char *path, char **words);

#endif
