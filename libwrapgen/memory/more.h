/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * C++'s operators new and delete, by their symbols.
 * Limits: the C++ ABI of 64-bit Linux.
 */
#ifndef GT_MEMORY_MORE_H
#define GT_MEMORY_MORE_H

#include <stddef.h>

void *_Znwm(size_t bytes);
void *_Znam(size_t bytes);
void *_ZnwmRKSt9nothrow_t(size_t bytes, const void *nothrow);
void *_ZnamRKSt9nothrow_t(size_t bytes, const void *nothrow);
void *_ZnwmSt11align_val_t(size_t bytes, size_t alignment);
void *_ZnamSt11align_val_t(size_t bytes, size_t alignment);
void *_ZnwmSt11align_val_tRKSt9nothrow_t(size_t bytes, size_t alignment, const void *nothrow);
void *_ZnamSt11align_val_tRKSt9nothrow_t(size_t bytes, size_t alignment, const void *nothrow);
void _ZdlPv(void *address);
void _ZdaPv(void *address);
void _ZdlPvm(void *address, size_t bytes);
void _ZdaPvm(void *address, size_t bytes);
void _ZdlPvRKSt9nothrow_t(void *address, const void *nothrow);
void _ZdaPvRKSt9nothrow_t(void *address, const void *nothrow);
void _ZdlPvSt11align_val_t(void *address, size_t alignment);
void _ZdaPvSt11align_val_t(void *address, size_t alignment);
void _ZdlPvmSt11align_val_t(void *address, size_t bytes, size_t alignment);
void _ZdaPvmSt11align_val_t(void *address, size_t bytes, size_t alignment);

#endif
