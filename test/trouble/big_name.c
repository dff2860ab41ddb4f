/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names no one should use: a region of 1 MiB, an empty one, one with control bytes and quotes, one
 * that is not UTF-8, and a thousand with the same first 4,095 bytes.
 *
 * Limits: through the door for adapters; the program is linked with libgputrace.
 */
#include "trouble.h"

#include <gputrace/adapter.h>

CALLED int work(int x)
{
	HERE();
	return x + 1;
}

UNSEEN static gt_ref region(const char *name)
{
	struct gt_region_info info = { .bytes = sizeof(info), .name = name };

	return gt_def_region(&info);
}

UNSEEN static void visit(gt_ref r)
{
	gt_enter(r);
	work(1);
	gt_leave(r);
}

int main(void)
{
	char *big = malloc((1 << 20) + 1);
	int i;

	memset(big, 'x', 1 << 20);
	big[1 << 20] = 0;
	visit(region(big));
	visit(region(""));
	visit(region("\033[31mred\n\t\"quoted\" %n%s 'single' <b>&amp;</b>\\"));
	visit(region("\xff\xfe not utf-8 \xc3"));
	visit(region("the name of a region"));
	for (i = 0; i < 1000; i++) {
		big[8000] = (char)('a' + i % 26);
		big[8001] = (char)('a' + i / 26 % 26);
		visit(region(big));
	}
	say("calls work 1005\n");
	return 0;
}
