/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The library's functions of special.h.
 * Limits: sp_missing is not here, on purpose.
 */
#define SP_LIBRARY
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "awkward.h"
#include "print.h"
#undef sp_macro
#undef macro_parameter

int sp_vprintf(char *to, size_t room, const char *format, va_list list)
{
	return vsnprintf(to, room, format, list);
}

int sp_printf(char *to, size_t room, const char *format, ...)
{
	va_list list;
	int n;

	va_start(list, format);
	n = vsnprintf(to, room, format, list);
	va_end(list);
	return n;
}

int sp_list(int count, va_list list)
{
	int sum = 0;

	while (count--)
		sum = sum * 10 + va_arg(list, int);
	return sum;
}

int sp_sum(int count, ...)
{
	va_list list;
	int sum;

	va_start(list, count);
	sum = sp_list(count, list);
	va_end(list);
	return sum;
}

int sp_old(int a, int b)
{
	return a * 100 + b;
}

int sp_array(int n, const int a[static 3], int b[restrict][5], double c[const 2])
{
	return n + a[0] * 10 + a[2] * 100 + b[1][4] * 1000 + (int)c[1] * 10000;
}

int (*sp_pick(int (*first)(int), int (*second(int))(int)))(int)
{
	return second(5) ? second(6) : first;
}

int (*sp_rows(int (*table)[3][4]))[4]
{
	return &(*table)[1];
}

long sp_typed(struct aw_opaque *opaque, const char *text, ...)
{
	return (long)opaque + text[0];
}

double sp_hypot(double a, double b)
{
	return a * a + b * b;
}

double sp_atan(double a, double b)
{
	return a / b;
}

const int sp_const_result(volatile int a, int *const b)
{
	return a + *b;
}

int sp_deprecated(int a)
{
	return a * 3;
}

int sp_nonnull(const int *value)
{
	return *value + 1;
}

int sp_const(int a, int b)
{
	return a * b + 7;
}

void *sp_malloc(size_t size)
{
	return calloc(1, size);
}

void sp_gone(int status)
{
	fflush(stdout);
	exit(status);
}

int sp_walk(int depth, int (*callback)(int, void *), void *data)
{
	int sum = callback(depth, data);

	return depth > 1 ? sum + sp_walk(depth - 1, callback, data) : sum;
}

int sp_nested(int value)
{
	return sp_const(value, 2) + 1;
}

int sp_renamed(int value)
{
	return value * 5;
}

int sp_vla(int n, double a[n][n])
{
	return (int)a[n - 1][n - 1];
}

void sp_unnamed(void *pointer)
{
	*(int *)pointer = 4;
}

int sp_keywords(int a, int b, int c, int d, int e, int f, int g)
{
	return a + 2 * b + 4 * c + 8 * d + 16 * e + 32 * f + 64 * g;
}

int sp_macro(int a, int b)
{
	return a * 1000 + b;
}

int sp_errno(int value)
{
	int before = errno;

	errno = value;
	return before;
}

_Bool sp_thread(int value)
{
	return value > 3;
}

float sp_static_name(float a, float b)
{
	return a - b;
}
