/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An adapter that nobody has told that it must stay in memory.
 *
 * Limits: a plug-in of records.c.
 */
#include "trouble.h"

#include <gputrace/adapter.h>

UNSEEN static void forked(void)
{
	say("told of the fork\n");
}

UNSEEN static void end(int how)
{
	say("told of the end, %d\n", how > 0);
}

__attribute__((constructor)) UNSEEN static void begin(void)
{
	static const struct gt_adapter adapter = { .bytes = sizeof(adapter), .abi = GT_ADAPTER_ABI,
						   .name = "a third party's", .fork_child = forked,
						   .end = end };

	gt_adapter_register(&adapter);
}
