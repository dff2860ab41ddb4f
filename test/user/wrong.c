/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls the user API in every wrong way; nothing may come of it. Limits: user.test counts them. */
#include <stdio.h>

#include "vt_user.h"

int main(void)
{
	const char *none = NULL;
	unsigned int group = VT_COUNT_GROUP_DEF("group");
	unsigned int count = VT_COUNT_DEF("count", "1", VT_COUNT_TYPE_SIGNED, group);

	VT_USER_START("right");
	VT_USER_START(none); /* no name: 3 (its end fits it) */
	VT_USER_END(none);
	VT_COMMENT(none);
	VT_COMMENT_DEF(none);
	VT_USER_START2(0); /* unknown ids: 6 */
	VT_USER_END2(0);
	VT_USER_START2(group);
	VT_USER_END2(group);
	VT_MSG_SEND(4711, 1, 1);
	VT_MARKER(count, "text");
	VT_COUNT_DOUBLE_VAL(count, 1.0); /* wrong types: 3 */
	VT_COUNT_UNSIGNED_VAL(count, 1u);
	VT_COUNT_DEF("other", "1", 99, group);
	VT_USER_END("never begun"); /* told at VT_VERBOSE=2 only */
	VT_USER_END("right");
	puts("unharmed");
	return 0;
}
