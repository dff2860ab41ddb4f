/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * many_regions N: defines N regions and enters each once, so that the journal of definitions is mapped
 * part after part.
 *
 * Limits: N below 10,000.
 */
#include <stdio.h>
#include <stdlib.h>

#include "gputrace/adapter.h"

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 1;

	for (int i = 0; i < n; i++) {
		char name[64];
		struct gt_region_info info = { .bytes = sizeof(info), .name = name };
		gt_ref region;

		snprintf(name, sizeof(name), "a region with a rather long name and number %d", i);
		region = gt_def_region(&info);
		gt_enter(region);
		gt_leave(region);
	}
	return 0;
}
