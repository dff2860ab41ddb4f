/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Inside of the demangler: its state, and the smallest steps of reading and writing.
 *
 * Limits: only for demangle*.c. Not thread-safe: one static work space.
 */
#ifndef GT_DEMANGLE_INTERNAL_H
#define GT_DEMANGLE_INTERNAL_H

#include "lib/common/demangle.h"

#include <stdint.h>
#include <string.h>

#define POOL_MAX  32768
#define SUBS_MAX  256
#define ARGS_MAX  128
#define DEPTH_MAX 96
#define STEPS_MAX 20000
#define LOCALS_MAX 4

/*
 * A piece of text in the pool. A type whose declarator stands inside (a function, an array) is cut
 * in two: "void (" and ")(int)"; `left` is where. `open`: the parenthesis before the cut is there.
 */
struct piece {
	uint16_t at, length, left;
	bool open;
};

struct argument {
	uint16_t first, count; /* in elements; a pack has any number */
	bool pack;
};

struct name {
	struct piece text;
	struct piece quals;  /* " const", of a member function */
	bool templated;      /* ends with template arguments: has a return type */
	bool no_return;      /* constructor, destructor, conversion */
};

struct demangler {
	const char *at, *end;
	bool failed;
	int depth, steps, locals;
	int in_arguments;    /* inside template arguments or parameters: "T_" is somebody else's */
	int pack_at;         /* element of packs that is being written, or -1 */
	int pack_size;       /* of the pack met while pack_at >= 0, or -1 */
	bool replay;         /* the same input once more: no new substitutions */
	unsigned used, sub_count, arg_count;
	struct piece subs[SUBS_MAX];
	struct argument args[ARGS_MAX];
	struct piece elements[ARGS_MAX];
	char pool[POOL_MAX];
};
extern struct demangler gt_dm;

struct piece gt_dm_type(void);
struct name gt_dm_name(void);
struct piece gt_dm_parameters(void);
struct piece gt_dm_template_param(void);
struct piece gt_dm_substitution(void);
/* `p` with the template arguments that follow in the input. */
struct piece gt_dm_with_args(struct piece p);
struct piece gt_dm_quals(bool with_reference);
struct piece gt_dm_source_name(void);
/* A function with its parameters, or a variable; *plain: its name alone. */
struct piece gt_dm_encoding(struct piece *plain, bool with_return);

/* ---- input and text -------------------------------------------------------------------------- */

static inline struct piece fail(void)
{
	gt_dm.failed = true; /* and there is nothing more to peek at: that ends every loop */
	return (struct piece){ 0 };
}

static inline char peek(unsigned ahead)
{
	bool there = !gt_dm.failed && (size_t)(gt_dm.end - gt_dm.at) > ahead;

	return there ? gt_dm.at[ahead] : '\0';
}

static inline bool take(char c)
{
	if (peek(0) != c)
		return false;
	gt_dm.at++;
	return true;
}

static inline void add_bytes(const char *bytes, size_t length)
{
	if (gt_dm.used + length > POOL_MAX) {
		fail();
		return;
	}
	memcpy(gt_dm.pool + gt_dm.used, bytes, length);
	gt_dm.used += (unsigned)length;
}

static inline void add(const char *text)
{
	add_bytes(text, strlen(text));
}

static inline void add_piece(struct piece p)
{
	if (gt_dm.used + p.length > POOL_MAX) {
		fail();
		return;
	}
	memcpy(gt_dm.pool + gt_dm.used, gt_dm.pool + p.at, p.length);
	gt_dm.used += p.length;
}

static inline struct piece left_of(struct piece p)
{
	return (struct piece){ p.at, p.left, p.left, false };
}

static inline struct piece right_of(struct piece p)
{
	return (struct piece){ (uint16_t)(p.at + p.left), (uint16_t)(p.length - p.left),
			       (uint16_t)(p.length - p.left), false };
}

/* The text added since `start`, including a mark where it was cut. */
static inline struct piece whole(unsigned start)
{
	uint16_t length = (uint16_t)(gt_dm.used - start);

	return (struct piece){ (uint16_t)start, length, length, false };
}

static inline struct piece text(const char *string)
{
	unsigned start = gt_dm.used;

	add(string);
	return whole(start);
}

static inline char last_of(struct piece p)
{
	return p.length ? gt_dm.pool[p.at + p.length - 1] : '\0';
}

static inline void remember(struct piece p)
{
	if (gt_dm.replay || gt_dm.failed)
		return;
	if (gt_dm.sub_count == SUBS_MAX)
		fail();
	else
		gt_dm.subs[gt_dm.sub_count++] = p;
}

static inline bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static inline unsigned take_number(void)
{
	unsigned n = 0;

	while (is_digit(peek(0)) && n < 1000000)
		n = n * 10 + (unsigned)(*gt_dm.at++ - '0');
	return n;
}

/* Every recursion passes here; false: enough. */
static inline bool deeper(void)
{
	if (gt_dm.failed || ++gt_dm.depth > DEPTH_MAX || ++gt_dm.steps > STEPS_MAX) {
		gt_dm.depth--;
		fail();
		return false;
	}
	return true;
}

#endif
