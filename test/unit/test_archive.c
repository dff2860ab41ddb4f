/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The archive's markers, written by several threads.
 *
 * Limits: the threads' order is played by one thread.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/assemble/archive/defs.h"
#include "lib/assemble/defs/properties.h"
#include "test/unit/mkspool.h"
#include "test/unit/readback.h"

/* One thread has given a kind its number; another writes markers of that kind, and of a later one, first. */
Test(archive, markers_follow_their_definition)
{
	const char *dir = mk_run();
	const struct gt_archive_options options = {
		.dirfd = open(dir, O_RDONLY | O_DIRECTORY), .locations = 1, .threads = 1,
	};
	const struct gt_properties none = { 0 };
	const struct gt_archive_clock clock = { .length_ns = 100, .properties = &none };
	const struct gt_layout layout = { .nodes = NULL };
	struct gt_archive *archive;
	struct gt_marker_def kinds[2];
	struct gt_defs defs;
	char why[200] = "", *words;

	cr_assert(zero(gt_defs_init(&defs)));
	archive = gt_archive_open(&options, why, sizeof(why));
	cr_assert(archive != NULL, "%s", why);
	for (uint32_t i = 0; i < 2; i++)
		kinds[i] = (struct gt_marker_def){ .category = gt_defs_string(&defs, i ? "later" : "first"),
						   .group = gt_defs_string(&defs, "test") };
	cr_assert(eq(u32, gt_defs_marker(&defs, &kinds[0]), 0));
	gt_archive_marker(archive, &defs, &kinds[1], 20, 0, false, "two");
	gt_archive_marker(archive, &defs, &kinds[0], 30, 0, false, "one");
	cr_expect(zero(gt_archive_close(archive, &layout, &defs, &clock)));
	words = rb_markers(dir);
	cr_assert(words != NULL);
	cr_expect(eq(str, words, "marker 20 later location 0 two\nmarker 30 first location 0 one\n"));
	free(words);
	gt_defs_free(&defs);
	close(options.dirfd);
	mk_remove(dir);
}
