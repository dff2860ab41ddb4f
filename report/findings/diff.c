/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rows of all runs are sorted by section and name, and those of one name compared.
 *
 * With several runs on each side the verdict is Welch's t-test at 99 %: a change within `noise` may be
 * chance. So may be one of samples that is within three times their standard error, also of single runs.
 *
 * Limits: see diff.h.
 */
#include "config.h"

#include "report/findings/diff.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/assemble/util/memory.h"
#include "report/model/sums.h"

/* The comparison: by which texts, of which figures; NULL: there is none. */
static const struct compared {
	const char *key;
	const char *names[2];
	const char *seconds, *count, *least, *most; /* the least and the most are over locations */
	enum {
		TIME,
		LOSS,    /* which nothing makes faster or slower */
		SAMPLED, /* an estimate, whose standard error is known */
	} of;
} compared[] = {
	{ "run", { "program", NULL }, "duration_s", NULL, NULL, NULL, TIME },
	{ "findings", { "id", NULL }, "seconds", NULL, NULL, NULL, LOSS },
	{ "regions", { "name", NULL }, "exclusive_s", "count", "location_min_s", "location_max_s", TIME },
	{ "samples", { "function", NULL }, "cpu_s", "samples", NULL, NULL, SAMPLED },
	{ "kernels", { "name", NULL }, "seconds", "count", NULL, NULL, TIME },
	{ "copies", { "direction", "memory" }, "seconds", "count", NULL, NULL, TIME },
	{ "mpi", { "name", NULL }, "seconds", "count", "location_min_s", "location_max_s", TIME },
	{ "collectives", { "name", "communicator" }, "seconds", "count", NULL, NULL, TIME },
	{ "waits", { "class", "region" }, "seconds", "count", NULL, NULL, LOSS },
	{ "critical_path", { "region", NULL }, "seconds", NULL, NULL, NULL, TIME },
};
enum { COMPARED = sizeof(compared) / sizeof(compared[0]), SIGMAS = 3 };

/* Of one run. */
struct item {
	unsigned section;    /* place in compared */
	char *name;
	bool after;
	unsigned run;        /* of its side */
	double seconds, count, least, most, error; /* NAN: not known */
};

struct gt_diff {
	struct item *items;
	size_t count, room;
	unsigned runs[2];
	bool seen[COMPARED];    /* a run has such a section */
	bool unknown[COMPARED]; /* a run has no seconds in such a section of estimates */
};

struct gt_diff *gt_diff_new(void)
{
	return gt_zeroed(1, sizeof(struct gt_diff));
}

/* ---- collecting -------------------------------------------------------------------------------- */

static int column_of(const struct gt_section_kind *kind, const char *key)
{
	for (unsigned i = 0; key && i < kind->column_count; i++)
		if (kind->columns[i].key && !strcmp(kind->columns[i].key, key)) /* none: for text alone */
			return (int)i;
	return -1;
}

static double number_at(const struct gt_section *section, const union gt_cell *row, const char *key)
{
	int column = column_of(section->kind, key);
	enum gt_unit unit = column < 0 ? GT_TEXT : section->kind->columns[column].unit;

	if (column < 0 || !gt_cell_given(row[column], unit))
		return NAN;
	return unit == GT_SECONDS ? (double)row[column].count / 1e9
	       : unit == GT_COUNT ? (double)row[column].count
				  : row[column].number;
}

static const char *text_at(const struct gt_section *section, const union gt_cell *row, const char *key)
{
	int column = column_of(section->kind, key);

	return column < 0 || !row[column].text ? "" : row[column].text;
}

/* The program of one run is that of the others, whatever its arguments are. */
static char *name_of(const struct compared *how, const struct gt_section *section, const union gt_cell *row)
{
	const char *first = text_at(section, row, how->names[0]),
		   *second = text_at(section, row, how->names[1]);
	char *name;

	if (asprintf(&name, *second ? "%s, %s" : "%s%.0s",
		     section->kind->shape == GT_ROWS || section->kind->shape == GT_NOTES ? first : "duration",
		     second) < 0)
		gt_no_memory();
	return name;
}

/* True: its seconds are known. */
static bool add_row(struct gt_diff *diff, unsigned place, const struct gt_section *section,
		    const union gt_cell *row, bool after)
{
	const struct compared *how = &compared[place];
	double seconds = number_at(section, row, how->seconds);

	if (isnan(seconds) && how->of == LOSS) /* a finding whose gain is not known */
		return false;
	if (diff->count == diff->room) {
		diff->room = diff->room ? 2 * diff->room : 64;
		diff->items = gt_resized(diff->items, diff->room, sizeof(*diff->items));
	}
	diff->items[diff->count++] = (struct item){
		.section = place,
		.name = name_of(how, section, row),
		.after = after,
		.run = diff->runs[after],
		.seconds = seconds,
		.count = number_at(section, row, how->count),
		.least = number_at(section, row, how->least),
		.most = number_at(section, row, how->most),
		.error = number_at(section, row, "error_s"),
	};
	return !isnan(seconds);
}

void gt_diff_add(struct gt_diff *diff, const struct gt_figures *figures, bool after)
{
	for (unsigned i = 0; i < COMPARED; i++) {
		const struct gt_section *section = gt_section_find(figures, compared[i].key);
		bool known;

		if (!section)
			continue;
		diff->seen[i] = true;
		known = !section->rows || compared[i].of != SAMPLED;
		for (size_t r = 0; r < section->rows; r++)
			known |= add_row(diff, i, section,
					 section->cells + r * section->kind->column_count, after);
		diff->unknown[i] |= !known;
	}
	diff->runs[after]++;
}

/* ---- comparing --------------------------------------------------------------------------------- */

/* Of one name on one side. */
struct side {
	double *seconds;            /* of each run; NAN: an estimate that is not known */
	double mean, variance;
	double sampling;            /* variance of the mean, by the runs' own errors */
	double count, least, most;  /* means of the runs that have them */
	unsigned rows, counted, spread;
};

struct row {
	const char *name, *verdict;
	struct side sides[2];
	double change, noise; /* noise: NAN: not known */
};

static void take(struct side *side, const struct item *item)
{
	side->rows++;
	if (!isnan(item->error))
		side->sampling += item->error * item->error;
	if (!isnan(item->seconds) || compared[item->section].of == SAMPLED)
		side->seconds[item->run] += item->seconds;
	if (!isnan(item->count)) {
		side->count += item->count;
		side->counted++;
	}
	if (isnan(item->least) || isnan(item->most))
		return;
	side->least += item->least;
	side->most += item->most;
	side->spread++;
}

static void sum_up(struct side *side, unsigned runs)
{
	double sum = 0, squares = 0;

	for (unsigned i = 0; i < runs; i++)
		sum += side->seconds[i];
	side->mean = runs ? sum / runs : 0;
	for (unsigned i = 0; i < runs; i++)
		squares += (side->seconds[i] - side->mean) * (side->seconds[i] - side->mean);
	side->variance = runs > 1 ? squares / (runs - 1) : 0;
	side->sampling /= (double)runs * runs;
	if (side->spread) {
		side->least /= side->spread;
		side->most /= side->spread;
	}
	side->count /= runs;
}

/* Student's t, two-sided, 99 %: of the largest number of degrees of freedom that is not above. */
static double student(double freedom)
{
	static const struct {
		double freedom, t;
	} table[] = { { 1, 63.66 }, { 2, 9.925 }, { 3, 5.841 }, { 4, 4.604 }, { 5, 4.032 },
		      { 6, 3.707 }, { 7, 3.499 }, { 8, 3.355 }, { 9, 3.250 }, { 10, 3.169 },
		      { 12, 3.055 }, { 15, 2.947 }, { 20, 2.845 }, { 30, 2.750 }, { 60, 2.660 },
		      { 1e9, 2.576 } };
	double t = table[0].t;

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (table[i].freedom <= freedom + 1e-6)
			t = table[i].t;
	return t;
}

/* A change up to this may be chance (Welch). */
static double noise_of(const struct side sides[2], const unsigned runs[2])
{
	double a = sides[0].variance / runs[0], b = sides[1].variance / runs[1], freedom;

	if (runs[0] < 2 || runs[1] < 2)
		return NAN;
	if (a + b <= 0)
		return 0;
	freedom = (a + b) * (a + b) / (a * a / (runs[0] - 1) + b * b / (runs[1] - 1));
	return student(freedom) * sqrt(a + b);
}

static const char *verdict_of(const struct row *row, bool lost)
{
	bool known = !isnan(row->noise);

	if (fabs(row->change) < 1e-9)
		return "same";
	if (known && fabs(row->change) <= row->noise)
		return "noise";
	if (!row->sides[0].rows)
		return known ? "new" : "new?";
	if (!row->sides[1].rows)
		return known ? "gone" : "gone?";
	if (lost)
		return row->change > 0 ? known ? "more" : "more?" : known ? "less" : "less?";
	return row->change > 0 ? known ? "slower" : "slower?" : known ? "faster" : "faster?";
}

static void compare(struct gt_diff *diff, const struct item *items, size_t count, struct row *row)
{
	*row = (struct row){ .name = items->name };
	for (unsigned side = 0; side < 2; side++)
		row->sides[side].seconds = gt_zeroed(diff->runs[side] + 1, sizeof(double));
	for (size_t i = 0; i < count; i++)
		take(&row->sides[items[i].after], &items[i]);
	for (unsigned side = 0; side < 2; side++) {
		sum_up(&row->sides[side], diff->runs[side]);
		free(row->sides[side].seconds);
	}
	row->change = row->sides[1].mean - row->sides[0].mean;
	row->noise = noise_of(row->sides, diff->runs);
	if (row->sides[0].sampling + row->sides[1].sampling > 0) /* not of time without samples */
		row->noise = fmax(row->noise, SIGMAS * sqrt(row->sides[0].sampling + row->sides[1].sampling));
	row->verdict = verdict_of(row, compared[items->section].of == LOSS);
}

/* ---- figures ----------------------------------------------------------------------------------- */

static const struct gt_column columns[] = {
	{ "verdict", "verdict", GT_WORD },
	{ "before_s", "before", GT_SECONDS },
	{ "after_s", "after", GT_SECONDS },
	{ "change_s", NULL, GT_NUMBER },
	{ "change", "change", GT_SHARE },
	{ "noise_s", "noise", GT_SECONDS },
	{ "before_count", "calls", GT_COUNT },
	{ "after_count", "then", GT_COUNT },
	{ "before_location_min_s", NULL, GT_SECONDS },
	{ "before_location_max_s", "largest", GT_SECONDS },
	{ "after_location_min_s", NULL, GT_SECONDS },
	{ "after_location_max_s", "then", GT_SECONDS },
	{ "name", "name", GT_TEXT },
};

#define KIND(key, title) \
	GT_SECTION(key, title, GT_ROWS, columns, \
		   .spare = "before_location_max_s+after_location_max_s,before_count+after_count,noise_s")
static const struct gt_section_kind kinds[COMPARED] = {
	KIND("run", "Run"),
	KIND("findings", "Findings"),
	KIND("regions", "Regions"),
	KIND("samples", "Samples"),
	KIND("kernels", "Kernels"),
	KIND("copies", "Copies"),
	KIND("mpi", "MPI calls"),
	KIND("collectives", "Collectives"),
	KIND("waits", "Waits"),
	KIND("critical_path", "Critical path"),
};
#undef KIND

static uint64_t ns(double seconds)
{
	return (uint64_t)(seconds * 1e9 + 0.5);
}

static void put_side(union gt_cell *row, const struct side *side, unsigned count, unsigned least)
{
	if (side->counted)
		row[count].count = (uint64_t)(side->count + 0.5);
	if (!side->spread)
		return;
	row[least].count = ns(side->least);
	row[least + 1].count = ns(side->most);
}

static void put_row(struct gt_figures *figures, struct gt_section *section, const struct row *row)
{
	union gt_cell *cells = gt_row_add(section);

	cells[0].text = row->verdict;
	cells[1].count = ns(row->sides[0].mean);
	cells[2].count = ns(row->sides[1].mean);
	cells[3].number = row->change;
	if (row->sides[0].mean > 0)
		cells[4].number = row->change / row->sides[0].mean;
	if (!isnan(row->noise))
		cells[5].count = ns(row->noise);
	put_side(cells, &row->sides[0], 6, 8);
	put_side(cells, &row->sides[1], 7, 10);
	cells[12].text = gt_figures_text(figures, "%s", row->name);
}

static int by_name(const void *va, const void *vb)
{
	const struct item *a = va, *b = vb;
	int order;

	if (a->section != b->section)
		return a->section < b->section ? -1 : 1;
	order = strcmp(a->name, b->name);
	return order ? order : (a->after - b->after) * 2 + (a->run > b->run) - (a->run < b->run);
}

/* Orders significant changes first, then by size. */
static int by_change(const void *va, const void *vb)
{
	const struct row *a = va, *b = vb;
	bool x = fabs(a->change) > a->noise, y = fabs(b->change) > b->noise;
	double changes[2] = { fabs(a->change), fabs(b->change) };

	if (x != y)
		return x ? -1 : 1;
	return changes[0] != changes[1] ? changes[0] > changes[1] ? -1 : 1 : strcmp(a->name, b->name);
}

static size_t write_section(struct gt_diff *diff, size_t first, unsigned place, struct gt_figures *figures)
{
	struct gt_section *section = gt_section_add(figures, &kinds[place]);
	size_t last = first, count = 0;
	struct row *rows;

	while (last < diff->count && diff->items[last].section == place)
		last++;
	rows = gt_zeroed(last - first + 1, sizeof(*rows));
	if (diff->unknown[place])
		first = last; /* one side would seem to have no time */
	for (size_t n; first < last; first += n) {
		for (n = 1; first + n < last && !strcmp(diff->items[first].name, diff->items[first + n].name);
		     n++)
			;
		compare(diff, &diff->items[first], n, &rows[count]);
		count += !isnan(rows[count].change);
	}
	if (count)
		qsort(rows, count, sizeof(*rows), by_change);
	for (size_t i = 0; i < count; i++)
		put_row(figures, section, &rows[i]);
	free(rows);
	if (diff->runs[0] < 2 || diff->runs[1] < 2)
		section->note = place ? NULL
				      : "Whether a change is noise is not known: give several runs of each "
					"(A1 A2 A3 -- B1 B2 B3).";
	if (diff->unknown[place])
		section->note = "A trace does not say how much time its samples stand for.";
	return last;
}

void gt_diff_figures(struct gt_diff *diff, struct gt_figures *figures)
{
	size_t at = 0;

	if (diff->count)
		qsort(diff->items, diff->count, sizeof(*diff->items), by_name);
	for (unsigned i = 0; i < COMPARED; i++)
		if (diff->seen[i])
			at = write_section(diff, at, i, figures);
}
