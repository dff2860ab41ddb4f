/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Support for generated wrappers (gputrace libwrapgen): the state of one wrapped function, and how a call
 * enters and leaves it.
 *
 * Limits: includes nothing foreign and uses only names that begin with gt_ or GT_, because the foreign header
 * stands in front of it and may have defined any other. What is rare is in the project's runtime.c.
 *
 * The same source serves three forms: preloaded or linked in front of the library (the real function
 * is the next one of that name), and with GT_WRAP_LINK the linker's --wrap.
 */
#ifndef GPUTRACE_WRAP_H
#define GPUTRACE_WRAP_H

#include "gputrace/compiler.h"

#ifdef __cplusplus
#define GT_WRAP_BOOL bool
#define GT_WRAP_C    extern "C"
#else
#define GT_WRAP_BOOL _Bool
#define GT_WRAP_C    extern
#endif

#define GT_WRAP_PARAMS 4 /* most parameters of one function */

/* A function. The first line of 64 bytes is all that a call reads. */
struct gt_wrap {
	void *gt_real;       /* in the global scope; found by the first call; atomic */
	unsigned gt_region;  /* 0: not recorded */
	unsigned gt_state;   /* 1: the region was asked for; atomic */
	unsigned gt_param[GT_WRAP_PARAMS];
	const char *gt_name; /* as people know it */
	const char *gt_symbol;
	const char *const *gt_param_names; /* of which the first letter is the type: i or u; or NULL */
	void *gt_wrapper;    /* the function that stands in its place; NULL in the linker's form */
	unsigned gt_scoped;  /* 1: only some objects see the function; 2: that it is missing was said */
};

/* Of the core (gputrace/adapter.h), under names that a header is unlikely to have. */
GT_WRAP_C GT_WRAP_BOOL gt_wrap_core_active(void) __asm__("gt_active");
GT_WRAP_C void gt_wrap_core_enter(unsigned gt_region) __asm__("gt_enter");
GT_WRAP_C void gt_wrap_core_leave(unsigned gt_region) __asm__("gt_leave");

/* Of runtime.c. */
GT_WRAP_C GT_HIDDEN void gt_wrap_define(struct gt_wrap *gt_w);
/* The real function for the object that `gt_caller` lies in, or NULL. */
GT_WRAP_C GT_HIDDEN void *gt_wrap_find(struct gt_wrap *gt_w, const void *gt_caller);
GT_WRAP_C GT_HIDDEN void gt_wrap_nothing(void); /* in place of what is missing */
/* All functions of the project, by their symbols, for dlsym.c; a NULL ends it. */
GT_WRAP_C GT_HIDDEN struct gt_wrap *const gt_wrap_table[];
GT_WRAP_C GT_HIDDEN const unsigned gt_wrap_table_size;
GT_WRAP_C GT_HIDDEN void gt_wrap_param(unsigned gt_param, unsigned long long gt_value,
				       char gt_kind);

/* The function, if this call is recorded, or NULL. */
static inline struct gt_wrap *gt_wrap_ready(struct gt_wrap *gt_w)
{
	if (!gt_wrap_core_active())
		return 0;
	/* Pairs with the release in gt_wrap_define(). */
	if (gt_unlikely(__atomic_load_n(&gt_w->gt_state, __ATOMIC_ACQUIRE) != 1))
		gt_wrap_define(gt_w);
	return gt_w->gt_region ? gt_w : 0;
}

/* Enters the function's region. NULL: this call is not recorded. */
static inline struct gt_wrap *gt_wrap_enter(struct gt_wrap *gt_w)
{
	gt_w = gt_wrap_ready(gt_w);
	if (gt_w)
		gt_wrap_core_enter(gt_w->gt_region);
	return gt_w;
}

/* The end of the wrapper's scope, also when an exception or a cancellation passes through. */
static inline void gt_wrap_leave(struct gt_wrap **gt_w)
{
	if (*gt_w)
		gt_wrap_core_leave((*gt_w)->gt_region);
}

static inline void *gt_wrap_real(struct gt_wrap *gt_w, const void *gt_caller)
{
	void *gt_real = __atomic_load_n(&gt_w->gt_real, __ATOMIC_ACQUIRE);

	return gt_unlikely(!gt_real) ? gt_wrap_find(gt_w, gt_caller) : gt_real;
}

#define GT_WRAP_SCOPE(gt_w) \
	struct gt_wrap *gt_open __attribute__((cleanup(gt_wrap_leave), unused)) = gt_wrap_enter(&(gt_w))
#define GT_WRAP_PARAM(gt_i, gt_kind, gt_value)                                             \
	do {                                                                               \
		if (gt_open)                                                               \
			gt_wrap_param(gt_open->gt_param[gt_i], (unsigned long long)(gt_value), \
				      gt_kind);                                            \
	} while (0)

#define GT_WRAP_EXPORT __attribute__((visibility("default"), used))
/* C: the wrapper has the function's name, so that the compiler compares it with the header. */
#ifdef GT_WRAP_LINK
#define GT_WRAP_NAME(gt_f)       __wrap_##gt_f
#define GT_WRAP_DECLARE(gt_f)    extern __typeof__(gt_f) __wrap_##gt_f, __real_##gt_f
#define GT_WRAP_REAL(gt_f, gt_w) (&__real_##gt_f)
#define GT_WRAP_OTHER(gt_f, gt_w) (&gt_f)
#define GT_WRAP_SELF(gt_f)       0
#define GT_WRAP_MISSING(gt_real) 0
#else
#define GT_WRAP_SELF(gt_f)       ((void *)&gt_f)
#define GT_WRAP_NAME(gt_f)       gt_f
#define GT_WRAP_DECLARE(gt_f)    extern __typeof__(gt_f) gt_f
/* The wrapper's own return address says whose call it is. */
#define GT_WRAP_FOUND(gt_w)      gt_wrap_real(&(gt_w), __builtin_return_address(0))
#define GT_WRAP_MISSING(gt_real) gt_unlikely(!(gt_real))
#define GT_WRAP_REAL(gt_f, gt_w) ((__typeof__(&gt_f))GT_WRAP_FOUND(gt_w))
/* A function that the library has and that this project does not wrap. */
#define GT_WRAP_OTHER(gt_f, gt_w) GT_WRAP_REAL(gt_f, gt_w)
#endif

/* C++ and Fortran: the wrapper has a name of its own and the function's symbol. */
#ifdef GT_WRAP_LINK
#define GT_WRAP_SYMBOL(gt_s)   __asm__("__wrap_" gt_s)
#define GT_WRAP_REAL_SYMBOL(gt_s) __asm__("__real_" gt_s)
#define GT_WRAP_POINTER(gt_t, gt_r, gt_w) (&gt_r)
#else
#define GT_WRAP_SYMBOL(gt_s)   __asm__(gt_s)
#define GT_WRAP_REAL_SYMBOL(gt_s)
#define GT_WRAP_POINTER(gt_t, gt_r, gt_w) ((gt_t *)GT_WRAP_FOUND(gt_w))
#endif

#ifdef __cplusplus

/* Types in one piece: gt_type<int (double)> * is a pointer to a function. */
template <class gt_t> struct gt_type_of {
	typedef gt_t type;
};
template <class gt_t> using gt_type = typename gt_type_of<gt_t>::type;
template <class gt_t, class gt_c> using gt_member = gt_t gt_c::*;

/*
 * How the ABI hands over a class: one that must be copied or destroyed by its own functions goes by
 * address, and the wrapper passes that on, so that nothing is copied twice.
 */
template <class gt_t, bool gt_value> struct gt_passed {
	typedef gt_t type;
};
template <class gt_t> struct gt_passed<gt_t, false> {
	typedef gt_t &type;
};
#ifdef __clang__
#define GT_WRAP_TRIVIAL_END(gt_t) __is_trivially_destructible(gt_t)
#else
#define GT_WRAP_TRIVIAL_END(gt_t) __has_trivial_destructor(gt_t)
#endif
#define GT_WRAP_BY_VALUE(gt_t)                                                              \
	((__is_trivially_constructible(gt_t, const gt_t &) || !__is_constructible(gt_t, const gt_t &)) && \
	 (__is_trivially_constructible(gt_t, gt_t &&) || !__is_constructible(gt_t, gt_t &&)) &&           \
	 __is_constructible(gt_t, gt_t &&) && GT_WRAP_TRIVIAL_END(gt_t))
template <class gt_t> using gt_arg = typename gt_passed<gt_t, GT_WRAP_BY_VALUE(gt_t)>::type;

/* The result of a call of a missing function: zero or its equivalent. */
template <class gt_t, int gt_kind = __is_constructible(gt_t) ? 0 : 2 - __is_constructible(gt_t, gt_t &&)>
struct gt_zero {
	static gt_t get() { return gt_t(); }
};
template <class gt_t> struct gt_zero<gt_t, 1> {
	static gt_t get()
	{
		alignas(gt_t) static char gt_room[sizeof(gt_t)];

		return static_cast<gt_t &&>(*reinterpret_cast<gt_t *>(gt_room));
	}
};
template <class gt_t> struct gt_zero<gt_t &, 1> { /* a reference: to zeros */
	static gt_t &get()
	{
		alignas(64) static char gt_room[4096];

		return reinterpret_cast<gt_t &>(gt_room);
	}
};
template <class gt_t> struct gt_zero<gt_t &&, 1> {
	static gt_t &&get() { return static_cast<gt_t &&>(gt_zero<gt_t &>::get()); }
};
template <class gt_t> struct gt_zero<gt_t, 2> { /* neither made nor moved: there is none */
	static gt_t get() { __builtin_trap(); }
};
#endif

#endif
