/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tells names that begin with VT_ apart: ours, VampirTrace's, and typing errors.
 *
 * Limits: no malloc; names longer than GT_SETTING_NAME_MAX are nobody's.
 */
#ifndef GT_SETTINGS_NAMES_H
#define GT_SETTINGS_NAMES_H

#include <stddef.h>

#define GT_SETTING_NAME_MAX 48

enum gt_name_kind {
	GT_NAME_SETTING,     /* a row of settings.def */
	GT_NAME_INTERNAL,    /* set or read by gputrace's own commands */
	GT_NAME_VAMPIRTRACE, /* VampirTrace knows it, gputrace has no such function */
	GT_NAME_NEAR,        /* nobody's, but it resembles *meant */
	GT_NAME_FOREIGN,
};

/* `name` is `length` bytes, without '='. Sets *meant for GT_NAME_NEAR only. */
enum gt_name_kind gt_setting_name_kind(const char *name, size_t length, const char **meant);

/* VampirTrace's name of this setting, if it differs: its value is used if the setting is not given. */
const char *gt_setting_older_name(const char *name);

/* The subject of a VampirTrace variable that gputrace does not have; NULL: a detail of VampirTrace. */
const char *gt_setting_name_lacks(const char *name, size_t length);

#endif
