/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The settings: one table (settings.def) makes this struct, the parser, `gputrace info --config`,
 * the man page and the completion.
 *
 * Limits: no malloc, no stdio, no locale: the parser runs before main in the traced process.
 */
#ifndef GT_SETTINGS_H
#define GT_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum gt_setting_type {
	GT_SET_BOOL,   /* yes no true false on off 1 0, any case */
	GT_SET_NUMBER, /* decimal, within [min, max]; or GT_SET_WORD for the word that is its default */
	GT_SET_SIZE,   /* bytes; suffix K M G T (powers of 1024), any case, then optionally B or iB */
	GT_SET_ENUM,   /* one of a list of words; the value is the word's index */
	GT_SET_PATH,   /* text; $NAME and ${NAME} are replaced by the environment's value */
	GT_SET_TEXT,
};

#define GT_SET_WORD (-1)

/* Field names are mostly the variable's name in lower case without VT_: VT_BUFFER_SIZE -> buffer_size. */
struct gt_settings {
#define GT_BOOL(name, field, def, help)                      bool field;
#define GT_NUMBER(name, field, def, min, max, help)          int64_t field;
#define GT_SIZE(name, field, def, min, max, help)            uint64_t field;
#define GT_ENUM(name, field, def, words, help)               int field;
#define GT_PATH(name, field, def, help)                      const char *field;
#define GT_TEXT(name, field, def, help)                      const char *field;
#include "registry/settings.def"
#undef GT_BOOL
#undef GT_NUMBER
#undef GT_SIZE
#undef GT_ENUM
#undef GT_PATH
#undef GT_TEXT
};

/* Indices of the words of the enumerations, in the order of settings.def. */
enum { GT_MODE_TRACE = 0, GT_MODE_OFF = 1 };
enum { GT_POLICY_SPILL = 0, GT_POLICY_STOP = 1, GT_POLICY_RING = 2 };
enum { GT_CLOCK_SET_AUTO = 0, GT_CLOCK_SET_TSC = 1, GT_CLOCK_SET_MONOTONIC = 2 };

extern struct gt_settings gt_settings; /* the values in force; read-only after gt_settings_load */

/* One row of the table, for everything that lists settings. */
struct gt_setting_row {
	const char *name;
	enum gt_setting_type type;
	const char *def;      /* default as text */
	int64_t min, max;     /* numbers and sizes */
	const char *words;    /* enumerations: "spill|stop|ring" */
	const char *help;     /* one or two sentences */
	size_t offset;        /* of the field in struct gt_settings */
};
extern const struct gt_setting_row gt_setting_rows[];
extern const size_t gt_setting_count;

/* Called for each value that cannot be used, and for unknown VT_ variables that resemble one. */
typedef void gt_settings_complaint(const char *sentence);

/*
 * Sets every field from `envp` or to its default. A bad value gives the default and one complaint.
 * Texts are copied (up to 4,096 bytes each; 32 KiB in all). May be called again (tests).
 */
void gt_settings_load(char *const *envp, gt_settings_complaint *complain);

/* The present value as text, in `buffer`; "" for an unknown name. Returns `buffer`. */
const char *gt_settings_text(const struct gt_setting_row *row, char *buffer, size_t size);

#endif
