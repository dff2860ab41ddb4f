/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tables as an SQLite database.
 *
 * Limits: SQLite takes one row at a time, so that reading is in parallel and writing is not.
 */
#include "config.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "lib/assemble/util/memory.h"
#include "lib/assemble/util/utf8.h"
#include "report/export/tables.h"

struct database {
	sqlite3 *db;
	sqlite3_stmt *insert[GT_TABLE_COUNT];
	bool failed;
};

/* Keys, and what questions search by. */
static const char *const indexes =
	"CREATE INDEX calls_by_region ON calls(region);"
	"CREATE INDEX calls_by_thread ON calls(thread, begin_ns);"
	"CREATE INDEX calls_by_parent ON calls(parent);"
	"CREATE INDEX launches_by_call ON launches(call);"
	"CREATE INDEX launches_by_activity ON launches(activity);"
	"COMMIT;";

static bool failed(struct database *database)
{
	if (!database->failed)
		fprintf(stderr, "gputrace export: the database cannot be written: %s\n",
			sqlite3_errmsg(database->db));
	database->failed = true;
	return false;
}

static bool execute(struct database *database, const char *sql)
{
	return sqlite3_exec(database->db, sql, NULL, NULL, NULL) == SQLITE_OK || failed(database);
}

static const char *type_of(const struct gt_table_kind *kind, unsigned column)
{
	static const char *const keyed[] = { "processes", "threads",       "regions",
					     "metrics",   "communicators", "calls" };

	for (size_t i = 0; !column && i < sizeof(keyed) / sizeof(keyed[0]); i++)
		if (!strcmp(kind->name, keyed[i]))
			return "INTEGER PRIMARY KEY";
	return kind->columns[column].type == 't'   ? "TEXT"
	       : kind->columns[column].type == 'r' ? "REAL"
						   : "INTEGER";
}

static bool make_table(struct database *database, const struct gt_table_kind *kind, sqlite3_stmt **insert)
{
	struct gt_export_text create = { .count = 0 }, put = { .count = 0 };
	bool good;

	gt_text_add(&create, "CREATE TABLE %s(", kind->name);
	gt_text_add(&put, "INSERT INTO %s VALUES(", kind->name);
	for (unsigned c = 0; c < kind->count; c++) {
		gt_text_add(&create, "%s%s %s", c ? ", " : "", kind->columns[c].name, type_of(kind, c));
		gt_text_add(&put, c ? ",?" : "?");
	}
	gt_text_add(&create, ")");
	gt_text_add(&put, ")");
	good = execute(database, create.data) &&
	       (sqlite3_prepare_v2(database->db, put.data, -1, insert, NULL) == SQLITE_OK ||
		failed(database));
	free(create.data);
	free(put.data);
	return good;
}

static void bind_text(sqlite3_stmt *insert, int column, const char *text)
{
	size_t size = 4 * strlen(text) + 1;
	char *clean;

	if (gt_utf8_valid(text)) {
		sqlite3_bind_text(insert, column, text, -1, SQLITE_STATIC);
		return;
	}
	clean = gt_need(malloc(size));
	sqlite3_bind_text(insert, column, gt_utf8_clean(clean, size, text), -1, free);
}

static void row(struct gt_export *export, struct gt_export_place *place, enum gt_export_table table,
		const struct gt_export_value *values)
{
	const struct gt_tables *tables = export->face;
	struct database *database = tables->face;
	sqlite3_stmt *insert = database->insert[table];

	(void)place;
	pthread_mutex_lock(&export->lock);
	for (unsigned c = 0; c < tables->kinds[table].count; c++) {
		if (values[c].type == 'i')
			sqlite3_bind_int64(insert, (int)c + 1, values[c].integer);
		else if (values[c].type == 'r')
			sqlite3_bind_double(insert, (int)c + 1, values[c].real);
		else if (values[c].type == 't')
			bind_text(insert, (int)c + 1, values[c].text);
		else
			sqlite3_bind_null(insert, (int)c + 1);
	}
	if (sqlite3_step(insert) != SQLITE_DONE)
		failed(database);
	sqlite3_reset(insert);
	pthread_mutex_unlock(&export->lock);
}

static bool start(struct gt_export *export)
{
	struct gt_tables *tables = gt_tables_new(export);
	struct database *database = gt_zeroed(1, sizeof(*database));

	tables->row = row;
	tables->face = database;
	/* A database that is not whole is not kept: nothing need be undone. */
	if (sqlite3_open(export->path, &database->db) != SQLITE_OK)
		return failed(database);
	if (!execute(database, "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; BEGIN"))
		return false;
	for (unsigned i = 0; i < GT_TABLE_COUNT; i++)
		if (!make_table(database, &tables->kinds[i], &database->insert[i]))
			return false;
	gt_tables_definitions(export);
	return !database->failed;
}

static bool finish(struct gt_export *export)
{
	struct database *database = ((struct gt_tables *)export->face)->face;

	for (unsigned i = 0; i < GT_TABLE_COUNT; i++)
		sqlite3_finalize(database->insert[i]);
	if (database->failed || !execute(database, indexes))
		return false;
	return sqlite3_close(database->db) == SQLITE_OK || failed(database);
}

const struct gt_export_face gt_export_sqlite = {
	.option = "sqlite",
	.what = "Tables in an SQLite database.",
	.seekable = true,
	.start = start,
	.begin = gt_tables_begin,
	.call = gt_tables_call,
	.event = gt_tables_event,
	.end = gt_tables_end,
	.pair = gt_tables_pair,
	.finish = finish,
};
