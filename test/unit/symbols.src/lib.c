/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A shared library whose functions are looked up by test_symbols.c.
 *
 * Limits: none.
 */
#include "lib.h"
#include "show.h"

LINE_OF(lib_hidden);
static NOINLINE int lib_hidden(int x) { return x + 40; }
LINE_OF(lib_work);
NOINLINE int lib_work(int x) { return lib_hidden(x) * 2; }
LINE_OF(new_impl);
NOINLINE int new_impl(int x) { return x - 9; }
__asm__(".symver new_impl, versioned@@LIB_1");

LINE_OF(lib_show);
void lib_show(void)
{
	/* Its own, whatever the program put in front of it. */
	SHOW(lib_hidden, "s");
	SHOW(lib_show, "g");
	printf("V\t%p\n", (void *)new_impl);
	printf("U\t%d\n", lib_work(1) + new_impl(2));
}
