/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tables as a folder of CSV files (RFC 4180), a line of names first. Texts stand in quotation marks, what
 * is missing is empty.
 *
 * Limits: a location's rows are collected up to 64 KiB a table before they are written.
 */
#include "config.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/export/tables.h"

#include "lib/assemble/util/memory.h"

enum { MUCH = 64 << 10 };

struct csv {
	FILE *files[GT_TABLE_COUNT];
	struct gt_export_text text; /* of what is of no location: one thread */
};

static bool open_table(struct gt_export *export, struct csv *csv, const struct gt_table_kind *kind,
		       unsigned i)
{
	char *path;

	if (asprintf(&path, "%s/%s.csv", export->path, kind->name) < 0)
		gt_no_memory();
	csv->files[i] = fopen(path, "wx");
	if (!csv->files[i])
		fprintf(stderr, "gputrace export: %s cannot be written: %m\n", path);
	free(path);
	for (unsigned c = 0; csv->files[i] && c < kind->count; c++)
		fprintf(csv->files[i], "%s%s", c ? "," : "", kind->columns[c].name);
	if (csv->files[i])
		fputs("\r\n", csv->files[i]);
	return csv->files[i];
}

static void flush_text(struct gt_export *export, enum gt_export_table table, struct gt_export_text *text)
{
	struct csv *csv = ((struct gt_tables *)export->face)->face;

	pthread_mutex_lock(&export->lock);
	fwrite(text->data, 1, text->count, csv->files[table]);
	pthread_mutex_unlock(&export->lock);
	text->count = 0;
}

/* The location's own texts, a text for each table, lie beside its state. */
struct texts {
	void *state;
	struct gt_export_text of[GT_TABLE_COUNT];
};

static void begin(struct gt_export_place *place)
{
	struct texts *texts = gt_zeroed(1, sizeof(*texts));

	gt_tables_begin(place);
	texts->state = place->face;
	place->more = texts;
}

static void end(struct gt_export_place *place)
{
	struct texts *texts = place->more;

	for (unsigned i = 0; i < GT_TABLE_COUNT; i++) {
		if (texts->of[i].count)
			flush_text(place->export, i, &texts->of[i]);
		free(texts->of[i].data);
	}
	gt_tables_end(place);
	free(texts);
}

static void add_value(struct gt_export_text *text, const struct gt_export_value *value)
{
	if (value->type == 'i')
		gt_text_add(text, "%" PRId64, value->integer);
	else if (value->type == 'r')
		gt_text_add(text, "%.17g", value->real);
	else if (value->type == 't')
		gt_text_csv(text, value->text);
}

static void row(struct gt_export *export, struct gt_export_place *place, enum gt_export_table table,
		const struct gt_export_value *values)
{
	const struct gt_tables *tables = export->face;
	struct csv *csv = tables->face;
	struct gt_export_text *text = place ? &((struct texts *)place->more)->of[table] : &csv->text;

	for (unsigned c = 0; c < tables->kinds[table].count; c++) {
		if (c)
			gt_text_add(text, ",");
		add_value(text, &values[c]);
	}
	gt_text_add(text, "\r\n");
	if (!place || text->count > MUCH)
		flush_text(export, table, text);
}

static bool start(struct gt_export *export)
{
	struct gt_tables *tables = gt_tables_new(export);
	struct csv *csv = gt_zeroed(1, sizeof(*csv));

	tables->row = row;
	tables->face = csv;
	for (unsigned i = 0; i < GT_TABLE_COUNT; i++)
		if (!open_table(export, csv, &tables->kinds[i], i))
			return false;
	gt_tables_definitions(export);
	return true;
}

static bool finish(struct gt_export *export)
{
	struct csv *csv = ((struct gt_tables *)export->face)->face;
	bool good = true;

	for (unsigned i = 0; i < GT_TABLE_COUNT; i++) {
		good &= !ferror(csv->files[i]);
		good &= !fclose(csv->files[i]);
	}
	if (!good)
		fprintf(stderr, "gputrace export: %s cannot be written: %m\n", export->path);
	return good;
}

const struct gt_export_face gt_export_csv = {
	.option = "csv",
	.what = "A folder of tables, a CSV file each.",
	.folder = true,
	.start = start,
	.begin = begin,
	.call = gt_tables_call,
	.event = gt_tables_event,
	.end = end,
	.pair = gt_tables_pair,
	.finish = finish,
};
