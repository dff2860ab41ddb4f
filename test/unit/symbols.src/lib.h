/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The shared library of main.c.
 *
 * Limits: only for test_symbols.c.
 */
int lib_work(int x);
void lib_show(void);
