/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The user API inside: its table of definitions (user_table.c) and the calls that take texts by
 * length (user.c), which C's and Fortran's entry points share.
 *
 * Limits: GT_USER_MAX definitions and GT_USER_TEXT_BYTES of texts per process; nothing is ever
 * removed. No lock and no malloc: every function may interrupt itself (signal handlers) and run in
 * a forked child.
 */
#ifndef GT_USER_H
#define GT_USER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gputrace/adapter.h"

#define GT_USER_MAX        65535u           /* definitions */
#define GT_USER_TEXT_BYTES (4u << 20)       /* for all their texts */
#define GT_USER_PER_PART   1024u            /* definitions in memory that is mapped together */
#define GT_USER_PARTS      (GT_USER_MAX / GT_USER_PER_PART + 1)
#define GT_USER_NAME_MAX   4095u            /* longer texts are cut */
#define GT_USER_TRIES      8u               /* a region the core refuses so often is filtered */
#define GT_USER_DEFAULT    UINT32_C(0xffffffff) /* VT_COUNT_DEFGROUP, VT_MSG_DEFCOMM */

/* A text that need not end in NUL. bytes NULL: none. */
struct gt_user_text {
	const char *bytes;
	size_t length;
};

enum gt_user_kind {
	GT_USER_FREE = 0,
	GT_USER_NAMED,  /* region of VT_USER_START: known by its name only */
	GT_USER_REGION, /* region of VT_USER_DEF: name, group, file and line */
	GT_USER_GROUP,  /* group of counters */
	GT_USER_COUNTER,
	GT_USER_MARKER,
	GT_USER_COMM,
};

/* A definition. `extra` and `number` depend on its kind. */
struct gt_user_key {
	enum gt_user_kind kind;
	struct gt_user_text name;
	struct gt_user_text group; /* region: group; counter: unit */
	struct gt_user_text file;  /* region */
	uint32_t number;      /* region: line; counter: VT_COUNT_TYPE_*; marker: severity */
	uint32_t parent;      /* counter: id of its group, 0: default */
};

struct gt_user_def {
	uint8_t kind;         /* enum gt_user_kind; stored last: the others are valid when it is set */
	uint8_t tries;        /* how often the core gave no id */
	gt_ref ref;           /* the core's id, GT_NONE: not yet known, filtered, or watched */
	gt_ref watched;       /* the core's id of a region that an adapter watches (gt_user_watch()) */
	uint32_t hash;
	uint32_t number, parent;
	uint32_t next;        /* id of the next one in its chain, 0: the last */
	const char *name, *group, *file; /* NUL-terminated copies; group and file may be NULL */
};

/* Wrong uses of the API, each reported once and counted. */
enum gt_user_fault {
	GT_USER_NULL,     /* no name, or an empty one */
	GT_USER_UNKNOWN,  /* an id that nothing has, or of another kind of thing */
	GT_USER_TYPE,     /* a value that is not of the counter's type; an unknown type */
	GT_USER_FULL,     /* too many definitions */
	GT_USER_UNMATCHED,/* VT_USER_END without VT_USER_START */
	GT_USER_FAULTS
};
void gt_user_fault_say(enum gt_user_fault fault, const char *where);
unsigned long gt_user_fault_count(enum gt_user_fault fault);
void gt_user_faults_forget(void);

/* The id of this definition, which is made if it is new; 0 if the table is full. */
uint32_t gt_user_define(const struct gt_user_key *key, const char *where);

/* The id of a region of VT_USER_START, or 0: the fast way, for every call with that name. */
uint32_t gt_user_find_named(struct gt_user_text name);

extern GT_HIDDEN struct gt_user_def *gt_user_defs[GT_USER_PARTS];

/* The definition with this id, which gt_user_define() gave. */
static inline struct gt_user_def *gt_user_at(uint32_t id)
{
	return &gt_user_defs[(id - 1) / GT_USER_PER_PART][(id - 1) % GT_USER_PER_PART];
}

/* The definition with this id, or NULL. */
struct gt_user_def *gt_user_def_of(uint32_t id);

/* The kind of value that a counter takes, from its VT_COUNT_TYPE_*. */
enum gt_value gt_user_value(const struct gt_user_def *counter);

/*
 * The core's id of a definition: asks the core the first time. Only call it while gt_active().
 * GT_NONE if the region is filtered or the core could not define it now.
 */
gt_ref gt_user_ref(struct gt_user_def *def);

/* The API by length of text; `where` is the macro's name, for messages. */
void gt_user_enter(struct gt_user_text name);
void gt_user_leave(struct gt_user_text name);
uint32_t gt_user_region(struct gt_user_text name, struct gt_user_text group,
			struct gt_user_text file, int line);
uint32_t gt_user_count_group(struct gt_user_text name);
uint32_t gt_user_count(struct gt_user_text name, struct gt_user_text unit, int type, uint32_t group);
uint32_t gt_user_marker_def(struct gt_user_text name, int type);
uint32_t gt_user_comm_def(struct gt_user_text name);

#endif
