/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Forms that a table cannot make; special_lib.c and special_main.c go with them.
 * Limits: goes into the middle of awkward.h.
 */
#undef name
#undef info
#undef self
#undef gt
int sp_printf(char *to, size_t room, const char *format, ...) __attribute__((format(printf, 3, 4)));
int sp_vprintf(char *to, size_t room, const char *format, va_list list)
	__attribute__((format(printf, 3, 0)));
int sp_sum(int count, ...); /* no form with a list: left out */
int sp_list(int count, va_list list);
#ifndef SP_LIBRARY
int sp_old(); /* no prototype: left out */
#endif
int sp_array(int n, const int a[static 3], int b[restrict][5], double c[const 2]);
int (*sp_pick(int (*first)(int), int (*second(int))(int)))(int);
int (*sp_rows(int (*table)[3][4]))[4];
aw_function sp_typed; /* takes anything: left out */
typedef double sp_binary(double, double);
sp_binary sp_hypot, sp_atan;
const int sp_const_result(volatile int a, int *const b);
int sp_deprecated(int) __attribute__((deprecated("on purpose"), warn_unused_result));
int sp_nonnull(const int *value) __attribute__((nonnull, pure));
int sp_const(int, int) __attribute__((const));
void *sp_malloc(size_t size) __attribute__((malloc, alloc_size(1)));
void sp_gone(int status) __attribute__((noreturn));
int sp_walk(int depth, int (*callback)(int, void *), void *data);
int sp_nested(int value); /* calls sp_const, through the library's own symbol */
int sp_renamed(int value) __asm__("sp_other_symbol"); /* left out */
static inline int sp_inline(int value) { return value + 1; } /* left out */
int sp_missing(int value); /* not in the library: left out */
int sp_vla(int n, double a[n][n]); /* left out: castxml does not describe it */
#ifndef SP_LIBRARY
void sp_unnamed(struct { int a; } *pointer); /* left out: a type without a name */
#endif
int sp_keywords(int class, int template, int new, int this, int real, int gt_open, int gt_a1);
int sp_macro(int macro_parameter, int errno_);
#define macro_parameter (-
#define sp_macro(a, b) sp_macro_was_a_macro(a, b)
#define sp_hypot sp_hypot
int sp_errno(int value);
_Bool sp_thread(int value);
float sp_static_name(float gt_result, float gt_list);
