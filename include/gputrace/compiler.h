/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Compiler attributes: symbol visibility, access to thread-local variables, branch prediction.
 *
 * Limits: GCC and clang. Includes nothing, and all names begin with gt_ or GT_ (wrap.h has why).
 */
#ifndef GPUTRACE_COMPILER_H
#define GPUTRACE_COMPILER_H

#define GT_API    __attribute__((visibility("default")))
#define GT_HIDDEN __attribute__((visibility("hidden")))
/* Reached without a call of the loader, which may allocate memory. */
#define GT_TLS    __thread __attribute__((tls_model("initial-exec")))

#define gt_likely(x)   __builtin_expect(!!(x), 1)
#define gt_unlikely(x) __builtin_expect(!!(x), 0)

#endif
