/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Unit tests of lib/common/settings.c: each kind of value, good and hostile, and the names.
 *
 * Limits: the parser only; that the traced program is unharmed is tested end to end.
 */
#include "lib/common/settings.h"
#include "lib/common/settings_names.h"
#include "lib/common/text.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char complaints[64][1024];
static int complaint_count;

static void note(const char *sentence)
{
	cr_assert(complaint_count < 64);
	cr_assert(strlen(sentence) < sizeof(complaints[0]));
	for (const char *c = sentence; *c; c++)
		cr_expect(*c >= 0x20 && *c < 0x7f, "byte %#x in \"%s\"", (unsigned char)*c,
			  sentence);
	strcpy(complaints[complaint_count++], sentence);
}

static void load(char *const *envp)
{
	complaint_count = 0;
	gt_settings_load(envp, note);
}

static const struct gt_setting_row *row_of(const char *name)
{
	for (size_t i = 0; i < gt_setting_count; i++)
		if (!strcmp(gt_setting_rows[i].name, name))
			return &gt_setting_rows[i];
	cr_assert_fail("no row %s", name);
	return NULL;
}

static const char *text_of(const char *name)
{
	static char buffer[8192];

	return gt_settings_text(row_of(name), buffer, sizeof(buffer));
}

Test(settings, defaults)
{
	char *none[] = { NULL };

	load(none);
	cr_expect_eq(complaint_count, 0);
	cr_expect_eq(gt_settings.buffer_size, 16u << 20);
	cr_expect_eq(gt_settings.max_threads, 65536);
	cr_expect_eq(gt_settings.mode, GT_MODE_TRACE);
	cr_expect_eq(gt_settings.clock, GT_CLOCK_SET_AUTO);
	cr_expect(gt_settings.unify);
	cr_expect_str_eq(gt_settings.pform_gdir, ".");
	cr_expect_str_eq(gt_settings.filter_spec, "");
	gt_settings_load(NULL, NULL);
	cr_expect_eq(gt_settings.max_threads, 65536);
}

/* Each default must itself be a value that the parser takes, and give the same result. */
Test(settings, defaults_are_acceptable)
{
	for (size_t i = 0; i < gt_setting_count; i++) {
		const struct gt_setting_row *row = &gt_setting_rows[i];
		char entry[256], before[64], after[64];
		char *envp[] = { entry, NULL };

		load(NULL);
		gt_settings_text(row, before, sizeof(before));
		snprintf(entry, sizeof(entry), "%s=%s", row->name, row->def);
		load(envp);
		cr_expect_eq(complaint_count, 0, "%s", entry);
		cr_expect_str_eq(gt_settings_text(row, after, sizeof(after)), before);
		cr_expect(strlen(row->name) <= GT_SETTING_NAME_MAX);
		cr_expect(row->min <= row->max);
	}
}

static const struct {
	const char *entry;
	const char *expect; /* the value in force, as text */
	bool bad;
} values[] = {
	{ "VT_BUFFER_SIZE=65536", "65536", false },
	{ "VT_BUFFER_SIZE=64k", "65536", false },
	{ "VT_BUFFER_SIZE=64KB", "65536", false },
	{ "VT_BUFFER_SIZE=64KiB", "65536", false },
	{ "VT_BUFFER_SIZE=65536b", "65536", false },
	{ "VT_BUFFER_SIZE=0016M", "16777216", false },
	{ "VT_BUFFER_SIZE=16g", "17179869184", false },
	{ "VT_BUFFER_SIZE=17179869184", "17179869184", false },
	{ "VT_MAX_BYTES=1024T", "1125899906842624", false },
	{ "VT_MAX_BYTES=0", "0", false },
	{ "VT_BUFFER_SIZE=65535", "16777216", true },
	{ "VT_BUFFER_SIZE=17179869185", "16777216", true },
	{ "VT_BUFFER_SIZE=17G", "16777216", true },
	{ "VT_BUFFER_SIZE=", "16777216", false },
	{ "VT_BUFFER_SIZE", "16777216", false },
	{ "VT_BUFFER_SIZE=-1", "16777216", true },
	{ "VT_BUFFER_SIZE=+65536", "16777216", true },
	{ "VT_BUFFER_SIZE= 65536", "16777216", true },
	{ "VT_BUFFER_SIZE=65536 ", "16777216", true },
	{ "VT_BUFFER_SIZE=1e99", "16777216", true },
	{ "VT_BUFFER_SIZE=0x10000", "16777216", true },
	{ "VT_BUFFER_SIZE=1.5M", "16777216", true },
	{ "VT_BUFFER_SIZE=18446744073709551616", "16777216", true },
	{ "VT_BUFFER_SIZE=18446744073709617152", "16777216", true }, /* 2^64 + 65536 */
	{ "VT_BUFFER_SIZE=18014398509482048K", "16777216", true },   /* wraps to 64K */
	{ "VT_BUFFER_SIZE=99999999999999999999999999999999999999", "16777216", true },
	{ "VT_BUFFER_SIZE=16MM", "16777216", true },
	{ "VT_BUFFER_SIZE=16Mi", "16777216", true },
	{ "VT_BUFFER_SIZE=M", "16777216", true },
	{ "VT_BUFFER_SIZE=%n%s%n%s", "16777216", true },
	{ "VT_BUFFER_SIZE=1\n6M", "16777216", true },
	{ "VT_BUFFER_SIZE=\x1b[31m\x07\xff", "16777216", true },
	{ "VT_MAX_THREADS=1", "1", false },
	{ "VT_MAX_THREADS=1048576", "1048576", false },
	{ "VT_MAX_THREADS=0", "65536", true },
	{ "VT_MAX_THREADS=1048577", "65536", true },
	{ "VT_MAX_THREADS=-1", "65536", true },
	{ "VT_MAX_THREADS=-0", "65536", true },
	{ "VT_MAX_FLUSHES=-0", "0", false },
	{ "VT_MAX_THREADS=64K", "65536", true },
	{ "VT_MAX_THREADS=4294967297", "65536", true },
	{ "VT_MAX_THREADS=18446744073709551617", "65536", true },
	{ "VT_MAX_THREADS=9223372036854775808", "65536", true },
	{ "VT_MAX_THREADS=--5", "65536", true },
	{ "VT_MAX_THREADS=-", "65536", true },
	{ "VT_UNIFY=no", "no", false },
	{ "VT_UNIFY=OFF", "no", false },
	{ "VT_UNIFY=False", "no", false },
	{ "VT_UNIFY=0", "no", false },
	{ "VT_UNIFY=Yes", "yes", false },
	{ "VT_UNIFY=tRuE", "yes", false },
	{ "VT_UNIFY=on", "yes", false },
	{ "VT_UNIFY=1", "yes", false },
	{ "VT_UNIFY=n", "yes", true },
	{ "VT_UNIFY=nope", "yes", true },
	{ "VT_UNIFY=00", "yes", true },
	{ "VT_UNIFY=no|off", "yes", true },
	{ "VT_MODE=off", "OFF", false },
	{ "VT_MODE=trace", "TRACE", false },
	{ "VT_MODE=TRACE:STAT", "TRACE", true },
	{ "VT_MODE=TRACE|OFF", "TRACE", true },
	{ "VT_MODE=TRAC", "TRACE", true },
	{ "VT_MODE=TRACES", "TRACE", true },
	{ "VT_BUFFER_POLICY=RING", "ring", false },
	{ "VT_BUFFER_POLICY=1", "spill", true },
	{ "VT_PTHREAD_LOCKS=no", "no", false },
	{ "VT_FILE_PREFIX=a b\tc", "a b\tc", false },
	{ "VT_FILE_PREFIX=%n%s", "%n%s", false },
	{ "VT_FILE_PREFIX=$TEN", "0123456789", false },
	{ "VT_FILE_PREFIX=x${TEN}y$TEN/$EMPTY.", "x0123456789y0123456789/.", false },
	{ "VT_FILE_PREFIX=$$5$", "$$5$", false },
	{ "VT_FILE_PREFIX=$NESTED", "$TEN", false }, /* replaced once, never again */
	{ "VT_FILE_PREFIX=$TENX", "", true },
	{ "VT_FILE_PREFIX=${TEN", "", true },
	{ "VT_FILE_PREFIX=${}", "", true },
	{ "VT_FILE_PREFIX=${TEN-x}", "", true },
	{ "VT_PFORM_GDIR=$NOT_SET/x", ".", true },
	{ "VT_PFORM_GDIR=", ".", false },
};

Test(settings, values)
{
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		char *envp[] = { (char *)"TEN=0123456789", (char *)"EMPTY=", (char *)"NESTED=$TEN",
				 (char *)values[i].entry, NULL };
		char name[64];
		size_t length = strcspn(values[i].entry, "=");

		memcpy(name, values[i].entry, length);
		name[length] = '\0';
		load(envp);
		cr_expect_str_eq(text_of(name), values[i].expect, "%s gives %s", values[i].entry,
				 text_of(name));
		cr_expect_eq(complaint_count, values[i].bad, "%s: %d complaints",
			     values[i].entry, complaint_count);
		if (values[i].bad && complaint_count) {
			cr_expect_eq(strncmp(complaints[0], name, length), 0);
			cr_expect(strstr(complaints[0], " default"), "%s", complaints[0]);
		}
	}
}

static const struct {
	const char *entry, *sentence;
} sentences[] = {
	{ "VT_BUFFER_SIZE=-1", "VT_BUFFER_SIZE=\"-1\" is not accepted (it must be a number of bytes "
			       "from 64K to 16G, like 512K, 16M or 2G); the default 16M is used" },
	{ "VT_MAX_THREADS=1e99", "VT_MAX_THREADS=\"1e99\" is not accepted (it must be a whole "
				 "number from 1 to 1048576); the default 65536 is used" },
	{ "VT_PTHREAD_LOCKS=\x1b[1m\"\\", "VT_PTHREAD_LOCKS=\"\\x1b[1m\\\"\\\\\" is not accepted "
					  "(it must be contended, all or no); the default "
					  "contended is used" },
	{ "VT_UNIFY=%n%s", "VT_UNIFY=\"%n%s\" is not accepted (it must be yes or no); the default "
			   "yes is used" },
	{ "VT_FILE_PREFIX=$WHO", "VT_FILE_PREFIX=\"$WHO\" needs the variable WHO, which is not "
				 "set; the default is used" },
	{ "VT_FILE_PREFIX=${W", "VT_FILE_PREFIX=\"${W\" is not accepted (a name and \"}\" must "
				"follow \"${\"); the default is used" },
};

Test(settings, sentences)
{
	for (size_t i = 0; i < sizeof(sentences) / sizeof(sentences[0]); i++) {
		char *envp[] = { (char *)sentences[i].entry, NULL };

		load(envp);
		cr_assert_eq(complaint_count, 1);
		cr_expect_str_eq(complaints[0], sentences[i].sentence, "%s", complaints[0]);
	}
}

/* A value of 64 KiB, of several bytes, for each setting: the default and one short complaint. */
Test(settings, huge_values)
{
	enum { HUGE_BYTES = 65536 };
	char *entry = malloc(HUGE_BYTES + 128);
	static const char fills[] = { 'a', '9', '%', '\x01', '\xff' };

	for (size_t i = 0; i < gt_setting_count; i++)
		for (size_t f = 0; f < sizeof(fills); f++) {
			char *envp[] = { entry, NULL };
			int n = sprintf(entry, "%s=", gt_setting_rows[i].name);

			memset(entry + n, fills[f], HUGE_BYTES);
			entry[n + HUGE_BYTES] = '\0';
			load(envp);
			cr_assert_eq(complaint_count, 1);
			cr_expect(strlen(complaints[0]) < 400);
			cr_expect(strstr(complaints[0], "..."));
		}
	free(entry);
}

Test(settings, text_limits)
{
	static char variable[4200], prefix[4200];
	char *envp[] = { prefix, variable, NULL };
	int n;

	/* 4,095 bytes are kept whole, 4,096 are not. */
	strcpy(variable, "UNUSED=");
	n = sprintf(prefix, "VT_FILE_PREFIX=");
	memset(prefix + n, 'p', 4095);
	load(envp);
	cr_expect_eq(complaint_count, 0);
	cr_expect_eq(strlen(gt_settings.file_prefix), 4095);
	memset(prefix + n, 'p', 4096);
	load(envp);
	cr_expect_eq(complaint_count, 1);
	cr_expect_str_eq(gt_settings.file_prefix, "");

	/* An expansion counts with what it becomes. */
	n = sprintf(variable, "LONG=");
	memset(variable + n, 'l', 4095);
	strcpy(prefix, "VT_FILE_PREFIX=$LONG");
	load(envp);
	cr_expect_eq(complaint_count, 0);
	cr_expect_eq(strlen(gt_settings.file_prefix), 4095);
	strcpy(prefix, "VT_FILE_PREFIX=$LONG.");
	load(envp);
	cr_expect_eq(complaint_count, 1);

	/* Loading again and again does not use up the pool. */
	strcpy(prefix, "VT_FILE_PREFIX=$LONG");
	for (int i = 0; i < 100; i++)
		load(envp);
	cr_expect_eq(complaint_count, 0);
}

Test(settings, first_of_two_counts)
{
	char *envp[] = { (char *)"VT_MAX_THREADS=7", (char *)"VT_MAX_THREADS=x", NULL };

	load(envp);
	cr_expect_eq(complaint_count, 0);
	cr_expect_eq(gt_settings.max_threads, 7);
}

static const struct {
	const char *name;
	enum gt_name_kind kind;
	const char *meant;
} names[] = {
	{ "VT_BUFFER_SIZE", GT_NAME_SETTING, NULL },
	{ "VT_BUFFERSIZE", GT_NAME_NEAR, "VT_BUFFER_SIZE" },
	{ "VT_BUFFER_SIEZ", GT_NAME_NEAR, "VT_BUFFER_SIZE" },
	{ "VT_BUFFER_SIZES", GT_NAME_NEAR, "VT_BUFFER_SIZE" },
	{ "VT_THREAD_BUFER_SIZE", GT_NAME_NEAR, "VT_THREAD_BUFFER_SIZE" },
	{ "VT_FILTER", GT_NAME_NEAR, "VT_FILTER_SPEC" },
	{ "VT_FILTERSPEC", GT_NAME_NEAR, "VT_FILTER_SPEC" },
	{ "VT_GROUP_SPEC", GT_NAME_NEAR, "VT_GROUPS_SPEC" },
	{ "VT_VERBOS", GT_NAME_NEAR, "VT_VERBOSE" },
	{ "VT_MOED", GT_NAME_NEAR, "VT_MODE" },
	{ "VT_RUN_DIR", GT_NAME_INTERNAL, NULL },
	{ "VT_CC", GT_NAME_INTERNAL, NULL },
	{ "VT_IOTRACE_EXTENDED", GT_NAME_SETTING, NULL },
	{ "VT_IOLIB_PATHNAME", GT_NAME_VAMPIRTRACE, NULL },
	{ "VT_DYN_DETACH", GT_NAME_VAMPIRTRACE, NULL },
	{ "VT_PFORM_GDIR_CHECK", GT_NAME_VAMPIRTRACE, NULL },
	{ "VT_", GT_NAME_FOREIGN, NULL },
	{ "VT_SOMETHING_ELSE", GT_NAME_FOREIGN, NULL },
	{ "VT_NR", GT_NAME_FOREIGN, NULL },
	{ "VT_BUFFER_SIZE\xff", GT_NAME_NEAR, "VT_BUFFER_SIZE" },
	{ "VT_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", GT_NAME_FOREIGN, NULL }, /* 48 */
	{ "VT_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", GT_NAME_FOREIGN, NULL },
};

Test(settings, names)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *meant = NULL;
		enum gt_name_kind kind =
			gt_setting_name_kind(names[i].name, strlen(names[i].name), &meant);

		cr_expect_eq(kind, names[i].kind, "%s is of kind %d", names[i].name, kind);
		if (names[i].meant && meant)
			cr_expect_str_eq(meant, names[i].meant, "%s: %s", names[i].name, meant);
		else
			cr_expect_eq(meant, names[i].meant, "%s: %s", names[i].name, meant);
	}
}

Test(settings, foreign_variables)
{
	char *envp[] = { (char *)"VT_BUFFERSIZE=64M", (char *)"VT_BUFFERSIZE=32M",
			 (char *)"VT_STACKTRACE=yes",  (char *)"VT_STACKTRACE=no",
			 (char *)"VT_RUN_DIR=/x",     (char *)"VTE_VERSION=6800",
			 (char *)"VT_XYZZY=1",        (char *)"VT_",
			 (char *)"VT_CLOCKS",         (char *)"=",
			 (char *)"",                  (char *)"VT_VERBOSE=1",
			 NULL };

	load(envp);
	cr_assert_eq(complaint_count, 1); /* a run that goes on has said the other */
	cr_expect_str_eq(complaints[0], "VT_BUFFERSIZE is not a setting of gputrace; did you mean "
					"VT_BUFFER_SIZE?");
	envp[4] = (char *)"VT_CPUIDTRACE="; /* off, and of no run */
	load(envp);
	cr_assert_eq(complaint_count, 2);
	cr_expect_str_eq(complaints[1], "VT_STACKTRACE is VampirTrace's and is ignored: gputrace has no "
					"stack traces");
	envp[4] = (char *)"OMPI_COMM_WORLD_RANK=1"; /* the first rank says it */
	load(envp);
	cr_assert_eq(complaint_count, 1);
}

/* What VampirTrace calls otherwise does what it did there. */
Test(settings, older_names)
{
	char *envp[] = { (char *)"VT_OMPTRACE=no", (char *)"VT_LIBCTRACE=no", NULL };

	load(envp);
	cr_expect_eq(complaint_count, 0, "%s", complaints[0]);
	cr_expect(!gt_settings.openmp, "VT_OMPTRACE=no");
	cr_expect(!gt_settings.exectrace, "VT_LIBCTRACE=no");
	envp[0] = (char *)"VT_OMPTRACE=maybe";
	envp[1] = NULL;
	load(envp);
	cr_assert_eq(complaint_count, 1);
	cr_expect_str_eq(complaints[0],
			 "VT_OMPTRACE=\"maybe\" is not accepted (it must be yes or no); the default yes is "
			 "used");
	envp[0] = (char *)"VT_OMPTRACE=no";
	envp[1] = (char *)"VT_OPENMP=yes"; /* its own name counts */
	load(envp);
	cr_expect(gt_settings.openmp && gt_settings.exectrace);
}

/* A hostile environment cannot flood the terminal. */
Test(settings, bounded_hints)
{
	static char entries[600][32];
	static char *envp[601];

	for (int i = 0; i < 600; i++) {
		sprintf(entries[i], "VT_MAX_THREADS%c%c=1", 'A' + i / 26, 'A' + i % 26);
		envp[i] = entries[i];
	}
	load(envp);
	cr_expect_eq(complaint_count, 16);
}

Test(text, escape)
{
	static const struct {
		const char *in;
		size_t length, size;
		const char *out;
	} rows[] = {
		{ "abc", 3, 8, "abc" },       { "abc", 3, 4, "abc" },
		{ "abcd", 4, 4, "..." },      { "abcdefgh", 8, 8, "abcd..." },
		{ "\n", 1, 8, "\\x0a" },      { "a\0b", 3, 16, "a\\x00b" },
		{ "\"\\", 2, 8, "\\\"\\\\" }, { "\xff\xff", 2, 8, "\\xff..." },
		{ "", 0, 4, "" },             { "\x80\x80", 2, 12, "\\x80\\x80" },
		{ "\xff\xff", 2, 7, "..." },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char buffer[64];

		memset(buffer, '#', sizeof(buffer));
		gt_text_escape(buffer, rows[i].size, rows[i].in, rows[i].length);
		cr_expect_str_eq(buffer, rows[i].out, "row %zu: %s", i, buffer);
		cr_expect_eq(buffer[rows[i].size], '#');
	}
}
