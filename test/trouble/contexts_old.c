/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions of Boost.Context before 1.61, which had more arguments: all of them arrive. LIBRARY: these.
 *
 * Limits: they switch nothing.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

intptr_t jump_fcontext(void **from, void *to, intptr_t data, int preserve);
void *make_fcontext(void *stack, size_t size, void (*function)(intptr_t));

#ifdef LIBRARY
intptr_t jump_fcontext(void **from, void *to, intptr_t data, int preserve)
{
	*from = to;
	return data * 10 + preserve;
}

void *make_fcontext(void *stack, size_t size, void (*function)(intptr_t))
{
	return function ? NULL : (char *)stack + size;
}
#else
int main(void)
{
	char stack[64];
	void *from = NULL, *made = make_fcontext(stack, 7, NULL);

	printf("%d %ld\n", made == stack + 7, (long)jump_fcontext(&from, made, 4711, 1));
	return from != made;
}
#endif
