/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Unit tests of lib/record/verdict.c: this program's own functions under several filters, with a
 * double of the core; the table with many keys, many threads, modules that go, a rank that comes.
 *
 * Limits: the rules that depend on the moment are in test_callstack.c.
 */
#include "test/unit/double_core.h"
#include "lib/record/verdict.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char filter_path[] = "/tmp/gt-verdict-XXXXXX", groups_path[] = "/tmp/gt-verdict-XXXXXX";
static int complaint_count;
static bool patch; /* VT_PATCH */

int verdict_dropped(int x);
int verdict_kept(int x);
int verdict_asked(int x);

__attribute__((noinline)) int verdict_dropped(int x)
{
	return x + 1;
}

__attribute__((noinline)) int verdict_kept(int x)
{
	return x + 2;
}

__attribute__((noinline)) int verdict_asked(int x)
{
	return x + 3;
}

static void note(const char *sentence)
{
	fprintf(stderr, "%s\n", sentence);
	complaint_count++;
}

static void put_file(char *path, const char *text)
{
	int fd = mkstemp(path);

	cr_assert_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
}

/* Each Criterion test is a process of its own, so all starts fresh. */
static void set_up(const char *rules, const char *groups)
{
	static char exe[4096], lines[512];
	FILE *maps = fopen("/proc/self/maps", "r");

	gt_settings_load(NULL, NULL);
	gt_settings.patch = patch;
	exe[readlink("/proc/self/exe", exe, sizeof(exe) - 1)] = '\0';
	while (fgets(lines, sizeof(lines), maps)) {
		unsigned long from, to, offset;
		char mode[8];

		if (sscanf(lines, "%lx-%lx %7s %lx", &from, &to, mode, &offset) == 4 &&
		    mode[2] == 'x' && strstr(lines, exe))
			double_modules[double_module_count++] =
				(struct gt_module_range){ from, to, offset, exe, false };
	}
	fclose(maps);
	cr_assert_eq(double_module_count, 1);
	if (rules) {
		put_file(filter_path, rules);
		gt_settings.filter_spec = filter_path;
	}
	if (groups) {
		put_file(groups_path, groups);
		gt_settings.groups_spec = groups_path;
	}
	gt_verdict_setup(note);
	if (rules)
		unlink(filter_path);
	if (groups)
		unlink(groups_path);
}

#define VERDICT(function) gt_verdict_of((uintptr_t)(function))

Test(verdict, no_filter)
{
	set_up(NULL, NULL);
	cr_expect_eq(gt_verdicts.mode, 0);
	cr_expect_eq(gt_verdicts.mask, 0);
	cr_expect_eq(VERDICT(verdict_dropped), GT_VERDICT_RECORD);
	cr_expect_eq(gt_verdict_of((uintptr_t)verdict_dropped), GT_VERDICT_RECORD);
	cr_expect(gt_verdict_set_rank(3));
	gt_verdict_forget(0, UINT64_MAX);
}

Test(verdict, names)
{
	uint32_t functions, dropped;

	set_up("verdict_dropped;other -- 0\nverdict_ask* -- 5\n", NULL);
	cr_expect_eq(gt_verdicts.mode, GT_VERDICT_TABLE | GT_VERDICT_TRACK);
	for (int i = 0; i < 3; i++) {
		cr_expect_eq(VERDICT(verdict_dropped), GT_VERDICT_DROP);
		cr_expect_eq(gt_verdict_of((uintptr_t)verdict_dropped), GT_VERDICT_DROP);
		cr_expect_eq(VERDICT(verdict_kept), GT_VERDICT_RECORD);
		cr_expect_eq(VERDICT(verdict_asked), GT_VERDICT_ASK);
	}
	gt_verdict_counts(&functions, &dropped);
	cr_expect_eq(functions, 3);
	cr_expect_eq(dropped, 1);
	cr_expect_eq(gt_verdict_infos[gt_verdict_info_of((uintptr_t)verdict_asked)].limit, 5);
	cr_expect_eq(gt_verdict_info_of((uintptr_t)verdict_kept), 0);
	cr_expect_eq(double_scans, 0);
}

Test(verdict, groups)
{
	set_up("CALC -- 0 G\n", "CALC=verdict_d*\n");
	cr_expect_eq(VERDICT(verdict_dropped), GT_VERDICT_DROP);
	cr_expect_eq(VERDICT(verdict_kept), GT_VERDICT_RECORD);
	cr_expect_str_eq(gt_verdict_group("verdict_dance", NULL, "x"), "CALC");
	cr_expect_str_eq(gt_verdict_group("waltz", NULL, "x"), "x");
}

Test(verdict, default_group)
{
	set_up("Application -- 0 G\n", NULL);
	cr_expect_eq(VERDICT(verdict_dropped), GT_VERDICT_DROP);
}

/* Outside of every module: no name; the memory map is looked at once more. */
Test(verdict, no_name)
{
	set_up("*x -- 0\n", NULL);
	cr_expect_eq(gt_verdict_of(0x1000), GT_VERDICT_RECORD);
	cr_expect_eq(gt_verdict_of(0x1000), GT_VERDICT_RECORD);
	cr_expect_eq(double_scans, 1);
}

Test(verdict, no_name_all)
{
	set_up("verdict_kept -- -1\n* -- 0\n", NULL);
	cr_expect_eq(gt_verdict_of(0x1000), GT_VERDICT_DROP);
	cr_expect_eq(VERDICT(verdict_kept), GT_VERDICT_RECORD);
	cr_expect_eq(VERDICT(verdict_dropped), GT_VERDICT_DROP);
}

Test(verdict, bad_file)
{
	gt_settings_load(NULL, NULL);
	gt_settings.filter_spec = "/nonexistent/filter";
	gt_verdict_setup(note);
	cr_expect_eq(complaint_count, 1);
	cr_expect_eq(gt_verdicts.mode, 0);
	cr_expect_eq(VERDICT(verdict_dropped), GT_VERDICT_RECORD);
}

static void late_set_up(void)
{
	double_on_start = NULL;
	set_up("verdict_dropped -- 0\n", NULL);
}

/* An event before our constructor: the first question makes the core start. */
Test(verdict, first_question_starts)
{
	cr_expect_eq(gt_verdicts.mode, GT_VERDICT_UNSET);
	double_on_start = late_set_up;
	cr_expect_eq(VERDICT(verdict_dropped), GT_VERDICT_DROP);
	cr_expect_eq(VERDICT(verdict_kept), GT_VERDICT_RECORD);
}

Test(verdict, first_question_in_vain)
{
	double_start_result = false;
	cr_expect_eq(VERDICT(verdict_dropped), GT_VERDICT_RECORD);
}

/* 600,000 addresses: the table grows, each keeps its verdict; beyond the limit all is recorded. */
Test(verdict, many, .timeout = 60)
{
	uint64_t base = UINT64_C(0x500000000000), wrong = 0;
	uint32_t functions, dropped;

	set_up("* -- 0\n", NULL);
	for (uint64_t i = 0; i < 600000; i++)
		wrong += gt_verdict_of(base + i * 16) != GT_VERDICT_DROP;
	for (uint64_t i = 0; i < 600000; i++)
		wrong += gt_verdict_of(base + i * 16) != GT_VERDICT_DROP;
	cr_expect_eq(wrong, 0);
	gt_verdict_counts(&functions, &dropped);
	cr_expect_eq(functions, 600000, "%u: each was judged once", functions);
	cr_expect_eq(gt_verdicts.mask, GT_VERDICTS_MAX - 1);
	for (uint64_t i = 600000; i < 1100000; i++)
		gt_verdict_of(base + i * 16);
	gt_verdict_counts(&functions, &dropped);
	cr_expect_eq(functions, GT_VERDICTS_MAX / 4 * 3);
	cr_expect_eq(gt_verdict_of(base + UINT64_C(1099999) * 16), GT_VERDICT_RECORD);
	cr_expect_eq(gt_verdict_of(base), GT_VERDICT_DROP);
	gt_verdict_forget(base, base + UINT64_C(550000) * 16);
	cr_expect_eq(gt_verdict_of(base + UINT64_C(1099999) * 16), GT_VERDICT_DROP, "room again");
}

/* A dropped function stands in the first place of its chain whoever came before it. */
Test(verdict, dropped_come_first)
{
	uint64_t far = 0, home = gt_verdict_hash((uintptr_t)verdict_dropped) & 4095;

	set_up("verdict_dropped -- 0\n", NULL);
	for (far = 0x1000; (gt_verdict_hash(far) & 4095) != home; far += 16)
		;
	cr_expect_eq(gt_verdict_of(far), GT_VERDICT_RECORD);
	cr_expect_eq(gt_verdicts.table[home], far << 2);
	cr_expect_eq(VERDICT(verdict_dropped), GT_VERDICT_DROP);
	cr_expect_eq(gt_verdicts.table[home], (uint64_t)(uintptr_t)verdict_dropped << 2 | 1);
	cr_expect_eq(gt_verdict_of(far), GT_VERDICT_RECORD);
	cr_expect_eq(double_scans, 1);
}

/* What the hooks ask first: true of dropped functions alone, and only as long as they are. */
Test(verdict, plainly_dropped)
{
	uint64_t first = UINT64_C(0x500000000010), same = first + 16 * GT_DROPPED_PLACES;

	set_up("verdict_kept -- -1\nverdict_asked -- 4\n* -- 0\n", NULL);
	cr_expect_not(gt_plainly_dropped(first), "nobody asked for it yet");
	cr_expect_eq(gt_verdict_of(first), GT_VERDICT_DROP);
	cr_expect(gt_plainly_dropped(first));
	cr_expect_not(gt_plainly_dropped(same));
	cr_expect_eq(gt_verdict_of(same), GT_VERDICT_DROP);
	cr_expect(gt_plainly_dropped(same), "it has the place now");
	cr_expect_not(gt_plainly_dropped(first));
	cr_expect_eq(gt_verdict_of(first), GT_VERDICT_DROP);
	VERDICT(verdict_kept);
	VERDICT(verdict_asked);
	cr_expect_not(gt_plainly_dropped((uintptr_t)verdict_kept));
	cr_expect_not(gt_plainly_dropped((uintptr_t)verdict_asked));
	gt_verdict_forget(first, first + 16);
	cr_expect(gt_plainly_dropped(same));
	gt_verdict_forget(same, same + 1);
	cr_expect_not(gt_plainly_dropped(same));
}

/* Until its hooks' calls are off, or will not be; and never where a rank may change what is dropped. */
Test(verdict, not_plainly_before_it_is_settled)
{
	patch = true;
	set_up("verdict_dropped;verdict_kept -- 0\n", NULL);
#ifdef __x86_64__
	cr_expect(gt_verdict_patches);
	cr_expect_eq(VERDICT(verdict_dropped), GT_VERDICT_DROP);
	cr_expect_not(gt_plainly_dropped((uintptr_t)verdict_dropped));
#endif
	gt_verdict_settle((uintptr_t)verdict_dropped);
	cr_expect(gt_plainly_dropped((uintptr_t)verdict_dropped));
	gt_verdict_patches = false;
	cr_expect_eq(VERDICT(verdict_kept), GT_VERDICT_DROP);
	cr_expect(gt_plainly_dropped((uintptr_t)verdict_kept));
}

Test(verdict, ranks_keep_code)
{
	patch = true;
	set_up("@ 1\nverdict_dropped -- 0\n", NULL);
	cr_expect_not(gt_verdict_patches);
	cr_expect(gt_verdict_set_rank(1));
	cr_expect_eq(VERDICT(verdict_dropped), GT_VERDICT_DROP);
	cr_expect(gt_plainly_dropped((uintptr_t)verdict_dropped));
	cr_expect(gt_verdict_set_rank(2));
	cr_expect_eq(VERDICT(verdict_dropped), GT_VERDICT_RECORD);
}

/* The library that had verdict_dropped's address is gone; what lies there now has no name. */
Test(verdict, address_used_again)
{
	struct gt_module_range gone;

	set_up("verdict_dropped -- 0\nverdict_asked -- 3\n", NULL);
	cr_expect_eq(VERDICT(verdict_dropped), GT_VERDICT_DROP);
	cr_expect_eq(VERDICT(verdict_asked), GT_VERDICT_ASK);
	cr_expect_eq(gt_verdict_of(0x1000), GT_VERDICT_RECORD);
	gone = double_modules[0];
	double_module_count = 0;
	gt_verdict_forget(gone.start, gone.end);
	cr_expect_eq(VERDICT(verdict_dropped), GT_VERDICT_RECORD);
	cr_expect_eq(VERDICT(verdict_asked), GT_VERDICT_RECORD);
	gt_verdict_forget(gone.start, gone.end);
	double_modules[0] = gone;
	double_module_count = 1;
	cr_expect_eq(VERDICT(verdict_dropped), GT_VERDICT_DROP);
	cr_expect_eq(VERDICT(verdict_asked), GT_VERDICT_ASK);
}

Test(verdict, regions)
{
	uint32_t ticket = 77, unused;

	set_up("MPI_Send;gpu::scale -- 0\nadd(float*, int) -- 4\nPthreads -- 2 G\n", "SUM=add\n");
	cr_expect_eq(gt_verdict_region("MPI_Send", NULL, "MPI", &ticket), GT_VERDICT_DROP);
	cr_expect_eq(ticket, 0);
	cr_expect_eq(gt_verdict_region("MPI_Recv", NULL, "MPI", &ticket), GT_VERDICT_RECORD);
	gt_verdict_region_made(1, ticket);
	cr_expect_eq(gt_verdict_region("pthread_join", NULL, "Pthreads", &ticket), GT_VERDICT_ASK);
	cr_expect_gt(ticket, 0);
	gt_verdict_region_made(2, ticket);
	cr_expect_eq(gt_verdict_of(GT_VERDICT_REGION(1)), GT_VERDICT_RECORD);
	cr_expect_eq(gt_verdict_of(GT_VERDICT_REGION(2)), GT_VERDICT_ASK);
	cr_expect_eq(gt_verdict_info_of(GT_VERDICT_REGION(2)), ticket);
	cr_expect_eq(gt_verdict_of(GT_VERDICT_REGION(3)), GT_VERDICT_RECORD);
	/* One with only its linker's name is matched, and given a group, as a function of that name. */
	cr_expect_eq(gt_verdict_region(NULL, "_ZN3gpu5scaleEPfi", "KERNEL", &unused), GT_VERDICT_DROP);
	cr_expect_eq(gt_verdict_region(NULL, "_Z5scalePfi", "KERNEL", &unused), GT_VERDICT_RECORD);
	cr_expect_eq(gt_verdict_region(NULL, "_Z3addPfi", "KERNEL", &unused), GT_VERDICT_ASK);
	cr_expect_str_eq(gt_verdict_group(NULL, "_Z3addPfi", "KERNEL"), "SUM");
	cr_expect_eq(double_scans, 0);
	/* They survive that modules go. */
	cr_expect_eq(VERDICT(verdict_kept), GT_VERDICT_RECORD);
	gt_verdict_forget(double_modules[0].start, double_modules[0].end);
	cr_expect_eq(gt_verdict_of(GT_VERDICT_REGION(2)), GT_VERDICT_ASK);
	cr_expect_eq(gt_verdict_info_of(GT_VERDICT_REGION(2)), ticket);
}

Test(verdict, rank)
{
	uint32_t ticket;

	set_up("@ 1\nverdict_dropped;MPI_Send;scale -- 0\n@ 2 -- OFF\nverdict_asked -- 9\n", NULL);
	cr_expect_eq(VERDICT(verdict_dropped), GT_VERDICT_RECORD);
	cr_expect_eq(VERDICT(verdict_asked), GT_VERDICT_ASK);
	cr_expect_eq(gt_verdict_region("MPI_Send", NULL, "MPI", &ticket), GT_VERDICT_ASK);
	gt_verdict_region_made(5, ticket);
	cr_expect_eq(gt_verdict_region(NULL, "_Z5scalePfi", "KERNEL", &ticket), GT_VERDICT_ASK);
	gt_verdict_region_made(6, ticket);
	cr_expect_eq(gt_verdict_infos[ticket].limit, -1);
	cr_expect(gt_verdict_set_rank(1));
	cr_expect_eq(VERDICT(verdict_dropped), GT_VERDICT_DROP);
	cr_expect(gt_plainly_dropped((uintptr_t)verdict_dropped));
	cr_expect_eq(VERDICT(verdict_asked), GT_VERDICT_ASK);
	cr_expect_eq(gt_verdict_of(GT_VERDICT_REGION(5)), GT_VERDICT_ASK);
	cr_expect_eq(gt_verdict_infos[gt_verdict_info_of(GT_VERDICT_REGION(5))].limit, 0);
	cr_expect_eq(gt_verdict_infos[gt_verdict_info_of(GT_VERDICT_REGION(6))].limit, 0);
	cr_expect_not(gt_verdict_set_rank(2));
	cr_expect_not(gt_plainly_dropped((uintptr_t)verdict_dropped));
	cr_expect_eq(VERDICT(verdict_dropped), GT_VERDICT_RECORD);
}

/* Eight threads ask for the same functions while the table grows and modules come and go. */
enum { THREADS = 8, ADDRESSES = 40000 };
static uint64_t wrong_answers;

static void *ask_all(void *argument)
{
	uint64_t base = UINT64_C(0x600000000000), seed = (uint64_t)(uintptr_t)argument;

	for (uint64_t i = 0; i < 4 * ADDRESSES; i++) {
		seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
		if (gt_verdict_of(base + (seed >> 33) % ADDRESSES * 16) != GT_VERDICT_DROP ||
		    VERDICT(verdict_kept) != GT_VERDICT_RECORD ||
		    VERDICT(verdict_asked) != GT_VERDICT_ASK ||
		    gt_verdict_infos[gt_verdict_info_of((uintptr_t)verdict_asked)].limit != 4)
			__atomic_fetch_add(&wrong_answers, 1, __ATOMIC_RELAXED);
		if (i % 20000 == 19999)
			gt_verdict_forget(base, base + ADDRESSES * 8);
	}
	return NULL;
}

Test(verdict, threads, .timeout = 60)
{
	pthread_t threads[THREADS];

	set_up("verdict_kept -- -1\nverdict_asked -- 4\n* -- 0\n", NULL);
	for (uintptr_t i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, ask_all, (void *)(i + 1));
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	cr_expect_eq(wrong_answers, 0);
	cr_expect_eq(verdict_dropped(0) + verdict_kept(0) + verdict_asked(0), 6);
}
