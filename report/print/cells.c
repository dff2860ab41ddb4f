/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A figure as people read it.
 *
 * Limits: see figures.h.
 */
#include "config.h"

#include <inttypes.h>

#include "lib/assemble/report/summary.h"
#include "report/print/figures.h"

/* Three digits and a unit. */
static void scaled(char *buffer, size_t size, double value, const char *const *units, const char *suffix)
{
	unsigned unit = 0;

	while (value >= 999.5 && units[unit + 1]) {
		value /= 1000;
		unit++;
	}
	snprintf(buffer, size, "%.*f %s%s", !unit || value >= 99.95 ? 0 : value < 9.995 ? 2 : 1, value,
		 units[unit], suffix);
}

static void print_count(char *buffer, size_t size, uint64_t count)
{
	char digits[24];
	size_t n = (size_t)snprintf(digits, sizeof(digits), "%" PRIu64, count), at = 0;

	for (size_t i = 0; i < n && at + 2 < size; i++) {
		if (i && (n - i) % 3 == 0)
			buffer[at++] = ',';
		buffer[at++] = digits[i];
	}
	buffer[at] = '\0';
}

const char *gt_cell_print(char *buffer, size_t size, union gt_cell cell, enum gt_unit unit)
{
	static const char *const seconds[] = { "ns", "us", "ms", "s", NULL };
	static const char *const bytes[] = { "B", "kB", "MB", "GB", "TB", "PB", NULL };

	if (!gt_cell_given(cell, unit)) {
		snprintf(buffer, size, "-");
		return buffer;
	}
	switch (unit) {
	case GT_TEXT:
	case GT_WORD:
		gt_summary_escape(buffer, size, cell.text, (unsigned)size - 1);
		break;
	case GT_COUNT:
		print_count(buffer, size, cell.count);
		break;
	case GT_SECONDS:
		scaled(buffer, size, (double)cell.count, seconds, "");
		break;
	case GT_BYTES:
		scaled(buffer, size, (double)cell.count, bytes, "");
		break;
	case GT_RATE:
		scaled(buffer, size, cell.number, bytes, "/s");
		break;
	case GT_SHARE:
		snprintf(buffer, size, "%.1f %%", 100 * cell.number);
		break;
	case GT_NUMBER:
		snprintf(buffer, size, "%.6g", cell.number);
		break;
	}
	return buffer;
}
