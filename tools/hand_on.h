/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a launcher of parallel programs has to hand on to other hosts, so that ranks there are recorded.
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
