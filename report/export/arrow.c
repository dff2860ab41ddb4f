/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tables as a folder of Arrow IPC files, by nanoarrow: columns of int64, float64 and UTF-8, each of which may
 * lack values.
 *
 * Limits: a location's rows are collected up to MOST_ROWS a table, or MUCH_TEXT, before they are written as a
 * batch. There is no compression.
 */
#include "config.h"

#include <errno.h>
#include <nanoarrow/nanoarrow.h>
#include <nanoarrow/nanoarrow_ipc.h>
#include <stdlib.h>
#include <string.h>

#include "lib/assemble/util/memory.h"
#include "lib/assemble/util/utf8.h"
#include "report/export/tables.h"

enum { MOST_ROWS = 64 << 10, MUCH_TEXT = 4 << 20 };

/* A table's. */
struct file {
	FILE *out;
	struct ArrowSchema schema;
	struct ArrowIpcWriter writer;
};

/* Rows of a table that are not written yet. */
struct batch {
	struct ArrowArray array; /* release: NULL before the first row */
	size_t text;             /* bytes */
};

struct arrow {
	struct file files[GT_TABLE_COUNT];
	struct batch batches[GT_TABLE_COUNT]; /* of what is of no location: one thread */
	bool failed;                          /* under export->lock */
};

static struct arrow *arrow_of(const struct gt_export *export)
{
	return ((struct gt_tables *)export->face)->face;
}

/* Of nanoarrow's functions that write nothing: they fail only for want of memory. */
static void must(ArrowErrorCode code)
{
	if (code != NANOARROW_OK)
		gt_no_memory();
}

static bool failed(struct gt_export *export, const char *why)
{
	if (!arrow_of(export)->failed)
		fprintf(stderr, "gputrace export: %s cannot be written: %s\n", export->options->out, why);
	arrow_of(export)->failed = true;
	return false;
}

static bool check(struct gt_export *export, ArrowErrorCode code, const struct ArrowError *error)
{
	return code == NANOARROW_OK || failed(export, error->message);
}

/* ---- files ------------------------------------------------------------------------------------- */

/* nanoarrow's own function for files knows no reason if it fails. */
static ArrowErrorCode put(struct ArrowIpcOutputStream *stream, const void *data, int64_t size,
			  int64_t *written, struct ArrowError *error)
{
	*written = size;
	if (fwrite(data, 1, (size_t)size, stream->private_data) == (size_t)size)
		return NANOARROW_OK;
	ArrowErrorSet(error, "%s", strerror(errno));
	return EIO;
}

static void put_no_more(struct ArrowIpcOutputStream *stream)
{
	stream->release = NULL;
}

static enum ArrowType type_of(char type)
{
	return type == 't'   ? NANOARROW_TYPE_STRING
	       : type == 'r' ? NANOARROW_TYPE_DOUBLE
			     : NANOARROW_TYPE_INT64;
}

static void make_schema(struct ArrowSchema *schema, const struct gt_table_kind *kind)
{
	ArrowSchemaInit(schema);
	must(ArrowSchemaSetTypeStruct(schema, kind->count));
	for (unsigned c = 0; c < kind->count; c++) {
		must(ArrowSchemaSetType(schema->children[c], type_of(kind->columns[c].type)));
		must(ArrowSchemaSetName(schema->children[c], kind->columns[c].name));
	}
}

static bool open_table(struct gt_export *export, struct file *file, const struct gt_table_kind *kind)
{
	struct ArrowIpcOutputStream stream = { .write = put, .release = put_no_more };
	struct ArrowError error = { .message = "" };
	char *path;

	if (asprintf(&path, "%s/%s.arrow", export->path, kind->name) < 0)
		gt_no_memory();
	file->out = fopen(path, "wx");
	free(path);
	if (!file->out)
		return failed(export, strerror(errno));
	make_schema(&file->schema, kind);
	stream.private_data = file->out;
	must(ArrowIpcWriterInit(&file->writer, &stream));
	return check(export, ArrowIpcWriterStartFile(&file->writer, &error), &error) &&
	       check(export, ArrowIpcWriterWriteSchema(&file->writer, &file->schema, &error), &error);
}

/* The mark of the end, and the footer, by which readers find the batches. */
static void close_table(struct gt_export *export, struct file *file)
{
	struct ArrowError error = { .message = "" };

	if (check(export, ArrowIpcWriterWriteArrayView(&file->writer, NULL, &error), &error))
		check(export, ArrowIpcWriterFinalizeFile(&file->writer, &error), &error);
	ArrowIpcWriterReset(&file->writer);
	ArrowSchemaRelease(&file->schema);
	if (fclose(file->out))
		failed(export, strerror(errno));
}

/* ---- batches ----------------------------------------------------------------------------------- */

/* nanoarrow leaves the bits behind the last row's as they were in memory. */
static void clear_rest(struct ArrowArray *column)
{
	const struct ArrowBitmap *valid = ArrowArrayValidityBitmap(column);

	if (valid->size_bits % 8)
		valid->buffer.data[valid->size_bits / 8] &= (uint8_t)((1 << valid->size_bits % 8) - 1);
}

static void write_batch(struct gt_export *export, enum gt_export_table table, struct batch *batch)
{
	struct file *file = &arrow_of(export)->files[table];
	struct ArrowError error = { .message = "" };
	struct ArrowArrayView view;

	for (int64_t c = 0; c < batch->array.n_children; c++)
		clear_rest(batch->array.children[c]);
	must(ArrowArrayFinishBuildingDefault(&batch->array, NULL));
	must(ArrowArrayViewInitFromSchema(&view, &file->schema, NULL));
	must(ArrowArrayViewSetArray(&view, &batch->array, NULL));
	pthread_mutex_lock(&export->lock);
	if (!arrow_of(export)->failed)
		check(export, ArrowIpcWriterWriteArrayView(&file->writer, &view, &error), &error);
	pthread_mutex_unlock(&export->lock);
	ArrowArrayViewReset(&view);
	ArrowArrayRelease(&batch->array);
	batch->text = 0;
}

static void write_batches(struct gt_export *export, struct batch *batches)
{
	for (unsigned i = 0; i < GT_TABLE_COUNT; i++)
		if (batches[i].array.release)
			write_batch(export, i, &batches[i]);
}

static void add_text(struct batch *batch, struct ArrowArray *column, const char *text)
{
	size_t size = 4 * strlen(text) + 1;
	char *clean = NULL;

	if (!gt_utf8_valid(text)) {
		clean = gt_need(malloc(size));
		text = gt_utf8_clean(clean, size, text);
	}
	batch->text += strlen(text);
	must(ArrowArrayAppendString(column, ArrowCharView(text)));
	free(clean);
}

static void add_value(struct batch *batch, struct ArrowArray *column, const struct gt_export_value *value)
{
	if (value->type == 'i')
		must(ArrowArrayAppendInt(column, value->integer));
	else if (value->type == 'r')
		must(ArrowArrayAppendDouble(column, value->real));
	else if (value->type == 't')
		add_text(batch, column, value->text);
	else
		must(ArrowArrayAppendNull(column, 1));
}

static void row(struct gt_export *export, struct gt_export_place *place, enum gt_export_table table,
		const struct gt_export_value *values)
{
	const struct gt_tables *tables = export->face;
	struct arrow *arrow = tables->face;
	struct batch *batch = &(place ? (struct batch *)place->more : arrow->batches)[table];

	if (!batch->array.release) {
		must(ArrowArrayInitFromSchema(&batch->array, &arrow->files[table].schema, NULL));
		must(ArrowArrayStartAppending(&batch->array));
	}
	for (unsigned c = 0; c < tables->kinds[table].count; c++)
		add_value(batch, batch->array.children[c], &values[c]);
	must(ArrowArrayFinishElement(&batch->array));
	if (batch->array.length >= MOST_ROWS || batch->text >= MUCH_TEXT)
		write_batch(export, table, batch);
}

/* ---- the face ---------------------------------------------------------------------------------- */

/* The location's own batches lie beside its state. */
static void begin(struct gt_export_place *place)
{
	gt_tables_begin(place);
	place->more = gt_zeroed(GT_TABLE_COUNT, sizeof(struct batch));
}

static void end(struct gt_export_place *place)
{
	write_batches(place->export, place->more);
	gt_tables_end(place);
	free(place->more);
}

static bool start(struct gt_export *export)
{
	struct gt_tables *tables = gt_tables_new(export);
	struct arrow *arrow = gt_zeroed(1, sizeof(*arrow));

	tables->row = row;
	tables->face = arrow;
	for (unsigned i = 0; i < GT_TABLE_COUNT; i++)
		if (!open_table(export, &arrow->files[i], &tables->kinds[i]))
			return false;
	gt_tables_definitions(export);
	return !arrow->failed;
}

static bool finish(struct gt_export *export)
{
	struct arrow *arrow = arrow_of(export);

	write_batches(export, arrow->batches);
	for (unsigned i = 0; !arrow->failed && i < GT_TABLE_COUNT; i++)
		close_table(export, &arrow->files[i]);
	return !arrow->failed;
}

const struct gt_export_face gt_export_arrow = {
	.option = "arrow",
	.what = "A folder of tables, an Arrow IPC file each.",
	.folder = true,
	.start = start,
	.begin = begin,
	.call = gt_tables_call,
	.event = gt_tables_event,
	.end = end,
	.pair = gt_tables_pair,
	.finish = finish,
};
