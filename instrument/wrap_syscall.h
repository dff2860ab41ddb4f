/* SPDX-License-Identifier: BSD-3-Clause */
/* syscall(), and what makes a process or executes a program by it. Limits: see wrap_syscall.c. */
#ifndef GT_WRAP_SYSCALL_H
#define GT_WRAP_SYSCALL_H

#include "gputrace/compiler.h"

typedef long (*gt_syscall_fn)(long n, long a, long b, long c, long d, long e, long f);

/* fork() by the system call n: no handlers run, and the child shares no memory. */
GT_HIDDEN long gt_fork_raw(gt_syscall_fn real, long n, long a, long b, long c, long d, long e);

/* Ours, also where the C library has none (before glibc 2.34). */
int execveat(int dir, const char *path, char *const argv[], char *const envp[], int flags);

#endif
