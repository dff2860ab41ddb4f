/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Unit tests of lib/common/quota.c: groups of both versions, in folders made up.
 *
 * Limits: what a kernel says is test/proc/quota.test's.
 */
#include "lib/common/quota.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

static char root[] = "/tmp/quota.XXXXXX";

static void folder(const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", root, name);
	cr_assert(!mkdir(path, 0700));
}

static void put(const char *name, const char *text)
{
	char path[256];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", root, name);
	file = fopen(path, "w");
	cr_assert(file && fputs(text, file) >= 0 && !fclose(file));
}

static void begin(void)
{
	cr_assert(mkdtemp(root));
}

static void end(void)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -r %s", root);
	cr_assert(!system(command));
}

TestSuite(quota, .init = begin, .fini = end);

/* Version 2: the real root has no limit, a group without the controller no cpu.max. */
static void second(const char *outer, const char *inner)
{
	put("cpu.stat", "usage_usec 5\n");
	folder("a");
	put("a/cpu.max", outer);
	put("a/cpu.stat", "usage_usec 9\nnr_periods 1\nnr_throttled 3\nthrottled_usec 1234\n");
	folder("a/b");
	put("a/b/cpu.stat", "usage_usec 1\n");
	folder("a/b/c");
	put("a/b/c/cpu.max", inner);
	put("a/b/c/cpu.stat", "usage_usec 1\nnr_periods 1\nnr_throttled 0\nthrottled_usec 7\n");
}

Test(quota, second_version)
{
	struct gt_quota list[GT_QUOTAS];
	char name[64];
	struct stat st;

	second("50000 100000\n", "max 100000\n");
	snprintf(name, sizeof(name), "%s/a", root);
	cr_assert(!stat(name, &st));
	cr_expect(gt_quotas_read(root, "1:name=systemd:/x\n0::/a/b/c\n", list) == 1);
	cr_expect(list[0].part == 500 && list[0].after == 1234000 && list[0].group == st.st_ino);
	cr_expect(!list[1].group);
	cr_expect(gt_quotas_read(root, "0::/\n", list) == 0 && !list[0].group);
	cr_expect(gt_quotas_read(root, "0::/a\n", list) == 1);
	/* the path of the host, which a container does not see */
	cr_expect(gt_quotas_read(root, "0::/a/gone/too\n", list) == 1 && list[0].part == 500);
}

Test(quota, several_levels)
{
	struct gt_quota list[GT_QUOTAS];

	second("400000 100000\n", "25 100000\n");
	cr_expect(gt_quotas_read(root, "0::/a/b/c\n", list) == 2);
	cr_expect(list[0].part == 1 && list[0].after == 7000); /* less than a thousandth */
	cr_expect(list[1].part == 4000 && list[1].after == 1234000);
}

/* The root of a container is a group, too, and is one level. */
Test(quota, root_with_a_limit)
{
	struct gt_quota list[GT_QUOTAS];

	put("cpu.max", "150000 100000\n");
	put("cpu.stat", "throttled_usec 2\n");
	cr_expect(gt_quotas_read(root, "0::/\n", list) == 1 && list[0].part == 1500);
}

Test(quota, first_version)
{
	static const char groups[] = "12:cpuset:/wrong\n4:cpu,cpuacct:/box\n0::/wrong\n";
	struct gt_quota list[GT_QUOTAS];

	put("cpu.stat", "");
	folder("cpu,cpuacct");
	put("cpu,cpuacct/cpu.stat", "throttled_time 0\n");
	put("cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
	folder("cpu,cpuacct/box");
	put("cpu,cpuacct/box/cpu.stat", "nr_periods 4\nnr_throttled 2\nthrottled_time 987\n");
	put("cpu,cpuacct/box/cpu.cfs_quota_us", "200000\n");
	put("cpu,cpuacct/box/cpu.cfs_period_us", "100000\n");
	cr_expect(gt_quotas_read(root, groups, list) == 1);
	cr_expect(list[0].part == 2000 && list[0].after == 987);
}

/* A folder of one name, of a controller that is mounted with others. */
Test(quota, first_version_by_name)
{
	struct gt_quota list[GT_QUOTAS];

	folder("cpu");
	put("cpu/cpu.stat", "throttled_time 3\n");
	put("cpu/cpu.cfs_quota_us", "50000\n");
	put("cpu/cpu.cfs_period_us", "50000\n");
	cr_expect(gt_quotas_read(root, "2:cpuacct,cpu:/\n", list) == 1 && list[0].part == 1000);
}

Test(quota, not_known)
{
	struct gt_quota list[GT_QUOTAS];

	cr_expect(gt_quotas_read(root, "0::/\n", list) < 0); /* nothing is mounted there */
	second("1000 100000\n", "1000 100000\n");
	cr_expect(gt_quotas_read(root, "", list) < 0);
	cr_expect(gt_quotas_read(root, "5:cpuset:/a\n", list) < 0);
	cr_expect(gt_quotas_read(root, "0::/../a\n", list) < 0);
	put("a/cpu.stat", "usage_usec 9\n");
	cr_expect(gt_quotas_read(root, "0::/a\n", list) < 0);
}
