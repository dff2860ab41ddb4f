/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Unit tests of lib/common/rundir.c: where archive directories may be made, and where not.
 *
 * Limits: runs in a fresh temporary folder; rights of other users are tested end to end.
 */
#include "lib/common/rundir.h"
#include "lib/common/text.h"
#include "lib/format.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[] = "/tmp/gtrundir.XXXXXX";
static char path[1024], why[1200];

static void enter(void)
{
	cr_assert_not_null(mkdtemp(folder));
	cr_assert_eq(chdir(folder), 0);
}

static void leave(void)
{
	char command[128];

	cr_assert_eq(chdir("/"), 0);
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	cr_assert_eq(system(command), 0);
}

TestSuite(rundir, .init = enter, .fini = leave);

static int create(const char *dir, const char *prefix)
{
	struct gt_rundir_wish wish = { .dir = dir, .prefix = prefix, .program = "a/b c" };

	why[0] = 0;
	return gt_rundir_create(&wish, path, sizeof(path), why, sizeof(why));
}

Test(rundir, a_fresh_directory_is_private_and_open)
{
	struct gt_run_header run;
	struct stat st;
	int fd;

	umask(0);
	cr_assert_eq(create("T1", NULL), 0, "%s", why);
	cr_assert_eq(path[0], '/');
	cr_assert_eq(stat("T1", &st), 0);
	cr_assert_eq(st.st_mode & 07777, 0700);
	fd = open("T1/spool/run", O_RDONLY);
	cr_assert_geq(fd, 0);
	cr_assert_eq(fstat(fd, &st), 0);
	cr_assert_eq(st.st_mode & 07777, 0600);
	cr_assert_eq(st.st_size, GT_PAGE);
	cr_assert_eq(read(fd, &run, sizeof(run)), (ssize_t)sizeof(run));
	cr_assert_eq(run.magic, GT_MAGIC_RUN);
	cr_assert_eq(run.state, GT_RUN_OPEN);
	cr_assert(!strncmp(run.spool, path, strlen(path)));
	close(fd);
}

Test(rundir, an_empty_directory_may_be_used_a_full_one_not)
{
	cr_assert_eq(mkdir("empty", 0755), 0);
	cr_assert_eq(create("empty", NULL), 0, "%s", why);
	cr_assert_eq(mkdir("full", 0755) | mkdir("full/sub", 0755), 0);
	cr_assert_neq(create("full", NULL), 0);
	cr_assert_not_null(strstr(why, "not empty"), "%s", why);
}

Test(rundir, a_name_that_an_archive_has_is_numbered)
{
	cr_assert_eq(create("T", NULL), 0, "%s", why);
	cr_assert_eq(create("T", NULL), 0, "%s", why);
	cr_assert_str_eq(gt_text_base(path), "T.2");
	cr_assert_eq(create("T/", NULL), 0, "%s", why);
	cr_assert_str_eq(gt_text_base(path), "T.3");
}

/* All at once, as an MPI launcher starts its ranks. */
Test(rundir, the_ranks_of_a_job_meet_in_an_empty_directory)
{
	const struct gt_rundir_wish wish = { .dir = "T", .job = 4711 };

	for (int round = 0; round < 50; round++) {
		int status, alone = 0, begin[2];
		char c;

		cr_assert_eq(mkdir("T", 0755), 0);
		cr_assert_eq(pipe(begin), 0);
		for (int rank = 0; rank < 8; rank++)
			if (!fork()) {
				close(begin[1]);
				if (read(begin[0], &c, 1)) /* until the pipe is closed */
					_exit(2);
				_exit(gt_rundir_create(&wish, path, sizeof(path), why, sizeof(why)) != 0);
			}
		close(begin[0]);
		close(begin[1]);
		while (wait(&status) > 0)
			alone += status != 0;
		cr_assert_eq(alone, 0, "round %d: %d of 8 are left out", round, alone);
		cr_assert_eq(unlink("T/spool/run") | rmdir("T/spool") | rmdir("T"), 0);
	}
}

Test(rundir, made_up_names_are_numbered)
{
	cr_assert_eq(create(NULL, "trace"), 0, "%s", why);
	cr_assert_str_eq(gt_text_base(path), "trace");
	cr_assert_eq(create(NULL, "trace"), 0, "%s", why);
	cr_assert_str_eq(gt_text_base(path), "trace.2");
	cr_assert_eq(create(NULL, NULL), 0, "%s", why);
	cr_assert(!strncmp(gt_text_base(path), "gputrace-a_b_c-20", 17), "%s", path);
}

Test(rundir, a_slash_at_the_end_of_the_folder_is_not_doubled)
{
	const struct gt_rundir_wish wish = { .parent = "sub/", .prefix = "x" };

	cr_assert_eq(mkdir("sub", 0755), 0);
	cr_assert_eq(gt_rundir_create(&wish, path, sizeof(path), why, sizeof(why)), 0, "%s", why);
	cr_assert_not_null(strstr(path, "/sub/x"), "%s", path);
}

Test(rundir, symbolic_links_are_not_followed)
{
	cr_assert_eq(mkdir("victim", 0755), 0);
	cr_assert_eq(symlink("victim", "link"), 0);
	cr_assert_neq(create("link", NULL), 0);
	cr_assert_eq(rmdir("victim"), 0, "something was written into the victim");
}

Test(rundir, sentences_say_what_is_wrong)
{
	char longer[2000];

	memset(longer, 'x', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = 0;
	cr_assert_neq(create("missing/T", NULL), 0);
	cr_assert_not_null(strstr(why, "No such file"), "%s", why);
	cr_assert_eq(close(creat("file", 0600)), 0);
	cr_assert_neq(create("file", NULL), 0);
	cr_assert_neq(create("file/T", NULL), 0);
	cr_assert_not_null(strstr(why, "Not a directory"), "%s", why);
	cr_assert_neq(create(longer, NULL), 0);
	cr_assert_not_null(strstr(why, "too long"), "%s", why);
}
