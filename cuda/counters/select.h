/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * VT_CUPTI_KERNELS: which launches of which kernels, or which instances of which ranges, are measured.
 * Limits: see select.c.
 */
#ifndef GT_CUDA_SELECT_H
#define GT_CUDA_SELECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gputrace/compiler.h"

/* Reads the list; empty: all. Returns how many words of it cannot be understood or are too many. */
GT_HIDDEN unsigned gt_cu_select_read(const char *list);
/* May some instance of what has this name be selected? */
GT_HIDDEN bool gt_cu_select_fits(const char *name);
/* A kernel (by its linker name) or range of this name occurs again: is it selected? */
GT_HIDDEN bool gt_cu_select_next(const char *name);
/* For each pattern that fitted nothing so far: the pattern, and the name most like it, or NULL. */
GT_HIDDEN void gt_cu_select_unused(void (*each)(const char *pattern, const char *near));

/* The name without template arguments and parameters, "ns::kernel"; what is not mangled as it is. */
GT_HIDDEN void gt_cu_plain_name(const char *mangled, char *text, size_t size);

#endif
