/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzz target: an environment, entries separated by NUL, for the parser of the settings.
 *
 * Limits: at most 256 entries.
 *
 * fuzz-sources: lib/common/process.c lib/common/settings.c lib/common/settings_names.c lib/common/text.c
 * fuzz-sources: launchers/job.c
 */
#include "lib/common/settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int holds, const char *what)
{
	if (!holds) {
		fprintf(stderr, "does not hold: %s\n", what);
		abort();
	}
}

static void complain(const char *sentence)
{
	size_t length = strlen(sentence);

	require(length > 10 && length < 640, "length of a complaint");
	for (size_t i = 0; i < length; i++)
		require(sentence[i] >= 0x20 && sentence[i] < 0x7f, "printable complaint");
}

static void check_row(const struct gt_setting_row *row)
{
	const char *field = (const char *)&gt_settings + row->offset;
	char text[8192];

	gt_settings_text(row, text, sizeof(text));
	switch (row->type) {
	case GT_SET_NUMBER:
		require((*(const int64_t *)field >= row->min && *(const int64_t *)field <= row->max) ||
				(*(const int64_t *)field == GT_SET_WORD && *row->def > '9'),
			"number in range, or the word");
		break;
	case GT_SET_SIZE:
		require(*(const uint64_t *)field >= (uint64_t)row->min &&
				*(const uint64_t *)field <= (uint64_t)row->max,
			"size in range");
		break;
	case GT_SET_PATH:
	case GT_SET_TEXT:
		require(strlen(*(const char *const *)field) < 4096, "length of a text");
		break;
	case GT_SET_ENUM:
		require(*(const int *)field >= 0 && *text, "word of an enumeration");
		break;
	case GT_SET_BOOL:
		break;
	}
}

/* What a setting says of itself it must accept, with the same result. */
static void check_again(const struct gt_setting_row *row)
{
	char entry[8300], before[4096], after[4096];
	char *again[] = { entry, NULL };

	if (row->type == GT_SET_PATH)
		return; /* a '$' in it would be replaced once more */
	gt_settings_text(row, before, sizeof(before));
	snprintf(entry, sizeof(entry), "%s=%s", row->name, before);
	gt_settings_load(again, complain);
	gt_settings_text(row, after, sizeof(after));
	require(!strcmp(before, after), "a value survives being printed and read");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *copy = malloc(size + 1), *envp[257];
	size_t count = 0, at = 0;

	memcpy(copy, data, size);
	copy[size] = '\0';
	while (at < size && count < 256) {
		envp[count++] = copy + at;
		at += strlen(copy + at) + 1;
	}
	envp[count] = NULL;
	gt_settings_load(envp, complain);
	for (size_t i = 0; i < gt_setting_count; i++)
		check_row(&gt_setting_rows[i]);
	check_again(&gt_setting_rows[size % gt_setting_count]);
	free(copy);
	return 0;
}
