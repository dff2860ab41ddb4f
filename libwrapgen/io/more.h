/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions called by programs compiled with _FORTIFY_SOURCE, which no header declares for all programs, and
 * by those linked with a glibc before 2.33.
 * Limits: glibc's names.
 */
#ifndef GT_IO_MORE_H
#define GT_IO_MORE_H

#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/types.h>

ssize_t __read_chk(int fd, void *to, size_t bytes, size_t room);
ssize_t __pread_chk(int fd, void *to, size_t bytes, off_t offset, size_t room);
ssize_t __pread64_chk(int fd, void *to, size_t bytes, off64_t offset, size_t room);
ssize_t __recv_chk(int fd, void *to, size_t bytes, size_t room, int flags);
size_t __fread_chk(void *to, size_t room, size_t size, size_t n, FILE *file);
char *__fgets_chk(char *to, size_t room, int n, FILE *file);
int __vprintf_chk(int flag, const char *format, va_list list);
int __printf_chk(int flag, const char *format, ...);
int __vfprintf_chk(FILE *file, int flag, const char *format, va_list list);
int __fprintf_chk(FILE *file, int flag, const char *format, ...);
int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);
int __openat_2(int folder, const char *path, int flags);
int __openat64_2(int folder, const char *path, int flags);
int __xstat(int version, const char *path, struct stat *to);
int __xstat64(int version, const char *path, struct stat64 *to);
int __lxstat(int version, const char *path, struct stat *to);
int __lxstat64(int version, const char *path, struct stat64 *to);
int __fxstatat(int version, int folder, const char *path, struct stat *to, int flags);
int __fxstatat64(int version, int folder, const char *path, struct stat64 *to, int flags);

#endif
