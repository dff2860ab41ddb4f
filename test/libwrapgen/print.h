/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What both sides of the awkward library print.
 * Limits: one thread at a time.
 */
#ifndef PRINT_H
#define PRINT_H

#include <stdio.h>

static inline void say(const char *word)
{
	printf("\n%s", word);
}

static inline void bytes(const volatile void *from, unsigned long count)
{
	const volatile unsigned char *p = from;

	putchar(' ');
	for (unsigned long i = 0; i < count; i++)
		if (count != 26 || i < 10 || i > 15) /* the holes of a long double _Complex */
			printf("%02x", p[i]);
}

static inline void number(long value)
{
	printf(" [%ld]", value);
}

#endif
