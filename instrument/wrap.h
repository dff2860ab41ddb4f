/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Macros for functions that stand in for the C library's.
 *
 * Limits: the next definition is kept once it is found; threads that look it up at once find the same.
 */
#ifndef GT_INSTRUMENT_WRAP_H
#define GT_INSTRUMENT_WRAP_H

/* Where the next definition of a function is kept. All are in one section, which is a table of them. */
struct gt_real_function {
	const char *name;
	void **kept;
};

/* `real`: the next definition of the function, looked up once. */
#define REAL(function)                                                                             \
	static __typeof__(&function) real_;                                                        \
	static struct gt_real_function entry_ __attribute__((section("gt_reals"), used)) = {       \
		#function, (void **)&real_                                                         \
	};                                                                                         \
	__typeof__(&function) real = __atomic_load_n(&real_, __ATOMIC_RELAXED);                    \
	if (!real) {                                                                               \
		real = (__typeof__(&function))gt_next_symbol(entry_.name);                         \
		__atomic_store_n(&real_, real, __ATOMIC_RELAXED);                                  \
	}

#endif
