/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading memory that may be gone at any moment: another thread unloads a library. The kernel copies it, and
 * says so if it is not there; where that is refused, each page is asked for first.
 *
 * Limits: where process_vm_readv() is refused, a page that is unmapped between question and load is not
 * survived.
 */
#ifndef SAMPLING_PEEK_H
#define SAMPLING_PEEK_H

#include "gputrace/compiler.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Copies up to `bytes` from `at`; returns how many could be read. [signal-safe] */
GT_HIDDEN size_t gt_peek(void *to, uintptr_t at, size_t bytes);
/* Can the eight bytes at `at`, which do not cross a page, be read? [signal-safe] */
GT_HIDDEN bool gt_peek_there(uintptr_t at);
/* Lets gt_peek() do as if process_vm_readv() were refused: for tests. */
GT_HIDDEN extern int gt_peek_refused;

#endif
