/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The user API for Fortran: what the macros of vt_user.inc call.
 *
 * Limits: the calling convention of gfortran, flang and ifx: lower case and one underscore, every
 * argument by address, lengths of texts as hidden size_t at the end, in the order of the texts.
 * INTEGER and REAL have four bytes; with -fdefault-integer-8 ids must be integer(kind=4). The names
 * are short because a macro must not make a line of fixed form longer than 72 columns.
 */
#include <string.h>

#define VTRACE
#include "vt_user.h"
#include "instrument/user.h"

/* Called by Fortran, which knows no headers. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

/* Without the blanks that fill the variable; a text that was made for C ends at its NUL. */
static struct gt_user_text text(const char *bytes, size_t length)
{
	const char *nul = bytes ? memchr(bytes, '\0', length) : NULL;

	if (!bytes)
		return (struct gt_user_text){ NULL, 0 };
	if (nul)
		length = (size_t)(nul - bytes);
	while (length && bytes[length - 1] == ' ')
		length--;
	return (struct gt_user_text){ bytes, length };
}

/* The same as a C string, in the caller's buffer. */
static const char *c_string(char buffer[GT_USER_NAME_MAX + 1], const char *bytes, size_t length)
{
	struct gt_user_text words = text(bytes, length);

	if (words.length > GT_USER_NAME_MAX)
		words.length = GT_USER_NAME_MAX;
	if (words.length)
		memcpy(buffer, words.bytes, words.length);
	buffer[words.length] = '\0';
	return buffer;
}

/* ---- regions ------------------------------------------------------------------------------------ */

GT_API void vt_us_(const char *name, size_t length)
{
	gt_user_enter(text(name, length));
}

GT_API void vt_ue_(const char *name, size_t length)
{
	gt_user_leave(text(name, length));
}

GT_API void vt_ud_(const char *name, const char *group, const char *file, const int32_t *line,
	    int32_t *id, size_t name_length, size_t group_length, size_t file_length)
{
	*id = (int32_t)gt_user_region(text(name, name_length), text(group, group_length),
				      text(file, file_length), *line);
}

GT_API void vt_us2_(const int32_t *id)
{
	vt_user_enter_id((uint32_t)*id);
}

GT_API void vt_ue2_(const int32_t *id)
{
	vt_user_leave_id((uint32_t)*id);
}

/* ---- control ------------------------------------------------------------------------------------ */

GT_API void vt_on_(void)
{
	vt_user_on();
}

GT_API void vt_off_(void)
{
	vt_user_off();
}

GT_API void vt_is_on_(int32_t *on)
{
	*on = vt_user_is_on();
}

GT_API void vt_flush_(void)
{
	vt_user_buffer_flush();
}

GT_API void vt_sync_(void)
{
	vt_user_timesync();
}

GT_API void vt_update_(void)
{
	vt_user_update_counter();
}

GT_API void vt_mark_(void)
{
	vt_user_set_rewind_mark();
}

GT_API void vt_rewind_(void)
{
	vt_user_rewind();
}

/* ---- counters ----------------------------------------------------------------------------------- */

GT_API void vt_cgd_(const char *name, int32_t *id, size_t length)
{
	*id = (int32_t)gt_user_count_group(text(name, length));
}

GT_API void vt_cd_(const char *name, const char *unit, const int32_t *type, const int32_t *group,
	    int32_t *id, size_t name_length, size_t unit_length)
{
	*id = (int32_t)gt_user_count(text(name, name_length), text(unit, unit_length), *type,
				     (uint32_t)*group);
}

GT_API void vt_ci_(const int32_t *id, const int32_t *value)
{
	vt_user_count_signed((uint32_t)*id, *value);
}

GT_API void vt_ci8_(const int32_t *id, const int64_t *value)
{
	vt_user_count_signed((uint32_t)*id, *value);
}

GT_API void vt_cr_(const int32_t *id, const float *value)
{
	vt_user_count_double((uint32_t)*id, *value);
}

GT_API void vt_cdv_(const int32_t *id, const double *value)
{
	vt_user_count_double((uint32_t)*id, *value);
}

/* ---- markers ------------------------------------------------------------------------------------ */

GT_API void vt_md_(const char *name, const int32_t *type, int32_t *id, size_t length)
{
	*id = (int32_t)gt_user_marker_def(text(name, length), *type);
}

GT_API void vt_mk_(const int32_t *id, const char *words, size_t length)
{
	char buffer[GT_USER_NAME_MAX + 1];

	vt_user_marker((uint32_t)*id, c_string(buffer, words, length));
}

/* ---- messages ----------------------------------------------------------------------------------- */

GT_API void vt_mcd_(const char *name, int32_t *id, size_t length)
{
	*id = (int32_t)gt_user_comm_def(text(name, length));
}

GT_API void vt_snd_(const int32_t *comm, const int32_t *tag, const int32_t *bytes)
{
	vt_user_send((uint32_t)*comm, (uint32_t)*tag, (uint32_t)*bytes);
}

GT_API void vt_rcv_(const int32_t *comm, const int32_t *tag, const int32_t *bytes)
{
	vt_user_recv((uint32_t)*comm, (uint32_t)*tag, (uint32_t)*bytes);
}

/* ---- comments ----------------------------------------------------------------------------------- */

GT_API void vt_cmd_(const char *words, size_t length)
{
	char buffer[GT_USER_NAME_MAX + 1];

	vt_user_comment_def(c_string(buffer, words, length));
}

GT_API void vt_cm_(const char *words, size_t length)
{
	char buffer[GT_USER_NAME_MAX + 1];

	vt_user_comment(c_string(buffer, words, length));
}
