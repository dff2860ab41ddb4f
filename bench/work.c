/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The empty function of event.c in a shared library, for tools that interpose library calls.
 *
 * Limits: none.
 */
void bench_work(void);

void bench_work(void)
{
	__asm__ volatile("");
}
