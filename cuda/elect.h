/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Elects the one process of a run and a host that samples a device.
 * Limits: see elect.c.
 */
#ifndef GT_CUDA_ELECT_H
#define GT_CUDA_ELECT_H

#include <stdbool.h>
#include <sys/stat.h>

#include "gputrace/compiler.h"

struct gt_cu_seat {
	int fd;           /* -1: not taken */
	struct stat own;  /* what it is: the program may close it, and get the number */
};

/* Takes the seat of the device with this UUID, if it is free; true also if that cannot be found out. */
GT_HIDDEN bool gt_cu_seat_take(struct gt_cu_seat *seat, const char *uuid);
/* In a forked child: it is the parent's. */
GT_HIDDEN void gt_cu_seat_forked(struct gt_cu_seat *seat);

#endif
