/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The line of the summary that names the functions with the most processor time, from the section of samples.
 *
 * Limits: those of samples.c.
 */
#include "config.h"

#include "lib/assemble/report/summary.h"
#include "lib/assemble/util/shorten.h"
#include "report/model/rules.h"
#include "report/sections/samples.h"

#include <math.h>
#include <stdio.h>

static const char *name_at(const struct gt_section *section, size_t row)
{
	return gt_section_cell(section, row, "function")->text;
}

static double share_at(const struct gt_section *section, size_t row)
{
	return gt_section_cell(section, row, "share")->number;
}

/* How many samples of equal weight would be as exact (Kish); 0: too few, or their time is not known. */
static double equal_ones(const struct gt_section *section)
{
	double ns = 0, squares = 0, error;
	uint64_t count = 0;

	for (size_t i = 0; section && i < section->rows; i++) {
		count += gt_section_cell(section, i, "samples")->count;
		if (isnan(share_at(section, i)) || !gt_section_cell(section, i, "samples")->count)
			continue;
		ns += (double)gt_section_cell(section, i, "cpu_s")->count;
		error = (double)gt_section_cell(section, i, "error_s")->count;
		squares += error * error;
	}
	return count < GT_SAMPLES_FEW || squares <= 0 ? 0 : ns * ns / squares;
}

enum { HOTTEST = 3 };

/* The first rows that are of functions, not of time without samples. Returns their number. */
static unsigned hottest_rows(const struct gt_section *section, size_t rows[HOTTEST])
{
	unsigned count = 0;

	for (size_t i = 0; section && i < section->rows && count < HOTTEST; i++)
		if (gt_section_cell(section, i, "samples")->count && !isnan(share_at(section, i)))
			rows[count++] = i;
	return count;
}

/* The most columns that a name may have so that those of these rows fit into `room`. */
static unsigned longest_name(const struct gt_section *section, const size_t *rows, unsigned count,
			     unsigned room)
{
	unsigned longest = room + 1, sum;

	do {
		sum = 0;
		longest--;
		for (unsigned i = 0; i < count; i++) {
			unsigned all = gt_columns_of(name_at(section, rows[i]));

			sum += all < longest ? all : longest;
		}
	} while (sum > room);
	return longest;
}

static void put_hottest(const struct gt_section *section, const size_t *rows, unsigned count,
			unsigned longest, double error, char *text, size_t size)
{
	char brief[GT_SHORTEN_MAX], name[256];
	size_t used = (size_t)snprintf(text, size, "(+- %.0f %%): ", error);

	for (unsigned i = 0; i < count; i++) {
		gt_summary_escape(name, sizeof(name),
				  gt_shorten(brief, name_at(section, rows[i]), longest, GT_KEEP_NOTHING),
				  longest);
		used += (size_t)snprintf(text + used, size - used, "%s%s %.0f %%", i ? ", " : "", name,
					 100 * share_at(section, rows[i]));
	}
}

bool gt_samples_hottest(const struct gt_report *report, unsigned width, char *text, size_t size)
{
	/* Columns: of such a line that are no names, for each further name, and of a name to be read. */
	enum { LEAST = 100, BESIDE = 49, FURTHER = 7, NAME = 18 };
	const struct gt_section *section = report ? gt_section_find(&report->figures, "samples") : NULL;
	size_t rows[HOTTEST];
	unsigned count = hottest_rows(section, rows), longest;
	double error = 0, number = equal_ones(section);

	if (!(number > 0) || !count)
		return false;
	width = (width < LEAST ? LEAST : width) - BESIDE - FURTHER * (count - 1);
	longest = longest_name(section, rows, count, width);
	while (longest < NAME && count > 1) /* rather one name less */
		longest = longest_name(section, rows, --count, width += FURTHER);
	for (unsigned i = 0; i < count; i++)
		error = fmax(error, gt_samples_interval(share_at(section, rows[i]), number));
	put_hottest(section, rows, count, longest, error, text, size);
	return true;
}
