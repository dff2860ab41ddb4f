/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The archive's markers, written by several threads; readings of counters, and how they are converted; who
 * may read the files.
 *
 * Limits: the threads' order is played by one thread.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/assemble/archive/clean.h"
#include "lib/assemble/archive/defs.h"
#include "lib/assemble/defs/properties.h"
#include "test/unit/expect.h"

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

/* ---- readings of counters ------------------------------------------------------------------------- */

struct gt_track;
static unsigned one_at_a_time;
void __real_gt_convert_metric(struct gt_track *t, const struct gt_slot *slot, uint64_t tick);
void __wrap_gt_convert_metric(struct gt_track *t, const struct gt_slot *slot, uint64_t tick);

/* The linker puts it in front of the way that is taken by what the fast loop leaves. */
void __wrap_gt_convert_metric(struct gt_track *t, const struct gt_slot *slot, uint64_t tick)
{
	one_at_a_time++;
	__real_gt_convert_metric(t, slot, tick);
}

/* Only the first, which gets a definition, and the last stop the loop over enters and leaves. */
Test(archive, many_readings)
{
	const char *dir = mk_run();
	struct mk_proc *p = usual(dir);
	struct mk_loc *l = mk_loc(p, 0, 1 << 20, 0, BEGIN);
	struct gt_def_metric def = { .mode = 0, .kind = 1 | GT_METRIC_SYNCHRONOUS, .value = 4 };
	uint32_t a = mk_region(p, "alpha"), x;

	def.name = mk_string(p, "instructions");
	x = mk_def(p, GT_D_METRIC, 0, &def, sizeof(def));
	for (uint64_t at = 1; at < 4001; at += 2) {
		mk_record(l, AT(at), GT_T_METRICS, x, (uint64_t[]){ 1, at }, 1);
		mk_enter(l, AT(at), a);
		mk_record(l, AT(at + 1), GT_T_METRICS, x, (uint64_t[]){ 1, at + 1 }, 1);
		mk_leave(l, AT(at + 1), a);
	}
	mk_loc_close(l);
	mk_proc_end(p, GT_END_EXIT, 0, AT(5000));
	one_at_a_time = 0;
	cr_assert(eq(int, assemble(dir), 0));
	expect_text(rb_events, dir, "0 4000 METRIC 0 4000\n0 4000 LEAVE alpha\n");
	cr_expect_leq(one_at_a_time, 2, "%u of 4000", one_at_a_time);
	mk_proc_free(p);
	mk_remove(dir);
}

Test(archive, shared_or_an_error)
{
	const char *dir = mk_run();
	int fd = open(dir, O_RDONLY | O_DIRECTORY), file;
	struct stat st;

	cr_assert(zero(mkdirat(fd, "traces", 0700)));
	file = openat(fd, "traces/0.evt", O_CREAT | O_WRONLY, 0600);
	cr_expect(zero(gt_clean_share(fd, 022)));
	cr_assert(zero(fstat(file, &st)));
	cr_expect(eq(u32, st.st_mode & 0777, 0644));
	cr_assert(zero(fstat(fd, &st)));
	cr_expect(eq(u32, st.st_mode & 0777, 0755));
	close(file);
	cr_assert(zero(renameat(fd, "traces", fd, "elsewhere")));
	cr_expect(eq(int, gt_clean_share(fd, 022), -ENOENT), "no folder of events");
	cr_assert(zero(symlinkat("elsewhere", fd, "traces")));
	cr_expect(lt(int, gt_clean_share(fd, 022), 0), "a folder of somebody else's");
	close(fd);
	mk_remove(dir);
}
