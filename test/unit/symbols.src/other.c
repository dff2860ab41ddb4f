/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A second file with a static function of the same name as one in main.c.
 *
 * Limits: only for test_symbols.c.
 */
#include "show.h"

void other_show(void);

LINE_OF(helper);
static NOINLINE int helper(int x) { return x * 7 + 11; }
LINE_OF(other_show);
void other_show(void)
{
	printf("U\t%d\n", helper((int)sizeof(int)));
	SHOW(helper, "s");
	SHOW(other_show, "g");
}
