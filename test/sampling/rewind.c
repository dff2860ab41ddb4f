/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Takes back what it has recorded, every second time: the samples that follow must not build upon those that
 * are gone.
 *
 * Limits: prints nothing; runs for about half a second of processor time.
 */
#include "vt_user.h"

__attribute__((noipa)) static void work(void)
{
	for (volatile long i = 0; i < 5000000; i++)
		;
}

int main(void)
{
	for (int i = 0; i < 40; i++) {
		VT_SET_REWIND_MARK();
		work();
		if (i % 2)
			VT_REWIND();
		work();
	}
	return 0;
}
