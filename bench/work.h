/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The library function that wrappers are measured with (work.c).
 * Limits: C.
 */
#ifndef WORK_H
#define WORK_H

void bench_work(void);

#endif
