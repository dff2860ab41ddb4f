/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the functions that stand in for the C library's have in common.
 *
 * Limits: the next definition is kept once it is found; threads that look it up at once find the same.
 */
#ifndef GT_INSTRUMENT_WRAP_H
#define GT_INSTRUMENT_WRAP_H

/* `real`: the next definition of the function, looked up once. */
#define REAL(function)                                                                             \
	static __typeof__(&function) real_;                                                        \
	__typeof__(&function) real = __atomic_load_n(&real_, __ATOMIC_RELAXED);                    \
	if (!real) {                                                                               \
		real = (__typeof__(&function))gt_next_symbol(#function);                           \
		__atomic_store_n(&real_, real, __ATOMIC_RELAXED);                                  \
	}

#endif
