/* export_sqlite.c - every table in a database, with views for what is asked most often.
 *
 * The file appears in one transaction without a journal beside it: it is of no use until it is
 * whole, and whoever gave its name puts it in place then.  Memory is SQLite's own. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sqlite3.h>

#include "base/buf.h"
#include "base/fail.h"
#include "base/str.h"
#include "render/export/export.h"
#include "render/export/export_tables.h"
#include "render/export/sqlite_library.h"
#include "render/write/out.h"

/* Looked-up columns are views here, so that texts stand in the file once. */
static const char views[] =
    "CREATE VIEW allocation_sites AS SELECT a.*, s.culprit, s.owner FROM allocations a "
    "LEFT JOIN sites s USING (stack);"
    "CREATE VIEW stack_lines AS SELECT s.stack, s.caller, f.* FROM stacks s JOIN frames f "
    "USING (frame);"
    "CREATE VIEW peaks AS WITH m AS (SELECT device, max(requested_bytes) AS most FROM curves "
    "GROUP BY device) SELECT device, min(event) AS event, time_us, requested_bytes, "
    "allocated_bytes, active_bytes, reserved_bytes FROM curves JOIN m USING (device) "
    "WHERE requested_bytes = most GROUP BY device;"
    "CREATE VIEW live_at_peak AS SELECT a.*, s.culprit, s.owner FROM allocations a JOIN peaks p "
    "USING (device) LEFT JOIN sites s USING (stack) WHERE ifnull(a.alloc_event, -1) <= p.event "
    "AND (a.free_completed_event IS NULL OR a.free_completed_event > p.event);"
    "CREATE VIEW peak_by_culprit AS SELECT device, CASE WHEN ifnull(culprit, '(no stack)') != "
    "'(no stack)' THEN culprit WHEN confidence IN ('high', 'medium') AND category NOT IN "
    "('unknown', 'persistent') THEN '(no stack) ' || category ELSE '(no stack)' END AS culprit, "
    "sum(bytes) AS bytes, count(*) AS count, max(bytes) AS largest_bytes FROM live_at_peak "
    "GROUP BY 1, 2 ORDER BY 1, 3 DESC, 2;"
    "CREATE VIEW peak_by_category AS SELECT device, category, sum(bytes) AS bytes, count(*) AS "
    "count FROM live_at_peak GROUP BY 1, 2 ORDER BY 1, 3 DESC, 2;";

struct filler {
    const struct sqlite_calls *sqlite;
    sqlite3 *db;
    sqlite3_stmt *insert;
};

static enum vrs_status failed(struct filler *f, struct vrs_error *err)
{
    int code = f->db == NULL ? SQLITE_NOMEM : f->sqlite->errcode(f->db);
    if (code == SQLITE_NOMEM)
        return vrs_no_memory(err);
    return vrs_fail(err, VRS_IO, "the database cannot be written: %.160s",
                    f->sqlite->errmsg(f->db));
}

static enum vrs_status say(struct filler *f, const char *sql, struct vrs_error *err)
{
    return f->sqlite->exec(f->db, sql, NULL, NULL, NULL) == SQLITE_OK ? VRS_OK : failed(f, err);
}

/* CREATE TABLE and INSERT of one table, whose number of its own is the key where it has one. */
static void put_statements(const struct export_kind *kind, bool keyed, struct buf *create,
                           struct buf *insert)
{
    buf_format(create, "CREATE TABLE %s (", kind->name);
    buf_format(insert, "INSERT INTO %s VALUES (", kind->name);
    for (uint32_t i = 0; i < kind->columns; i++) {
        const struct export_column *c = &kind->column[i];
        if (c->looked_up)
            continue;
        buf_format(create, "%s%s %s%s", i > 0 ? ", " : "", c->name, c->text ? "TEXT" : "INTEGER",
                   i == 0 && keyed ? " PRIMARY KEY" : "");
        buf_text(insert, i > 0 ? ", ?" : "?");
    }
    buf_text(create, ")");
    buf_text(insert, ")");
    buf_char(create, '\0');
    buf_char(insert, '\0');
}

/* Text is read before the row is left, so it need not be copied. */
static void bind(struct filler *f, int at, const struct cell *cell)
{
    switch (cell->kind) {
    case CELL_NONE:
        f->sqlite->bind_null(f->insert, at);
        break;
    case CELL_SIGNED:
    case CELL_UNSIGNED:
    case CELL_BOOL:
        f->sqlite->bind_int64(f->insert, at, (sqlite3_int64)cell->number);
        break;
    case CELL_TEXT:
        f->sqlite->bind_text64(f->insert, at, cell->text.ptr, cell->text.len, SQLITE_STATIC,
                               SQLITE_UTF8);
        break;
    }
}

static enum vrs_status put_row(void *arg, const struct export_kind *kind, const struct cell *cell,
                               struct vrs_error *err)
{
    struct filler *f = arg;
    int at = 1;
    for (uint32_t i = 0; i < kind->columns; i++)
        if (!kind->column[i].looked_up)
            bind(f, at++, &cell[i]);
    if (f->sqlite->step(f->insert) != SQLITE_DONE || f->sqlite->reset(f->insert) != SQLITE_OK)
        return failed(f, err);
    return VRS_OK;
}

static enum vrs_status put_table(struct filler *f, struct exporting *e, enum export_table table,
                                 struct vrs_error *err)
{
    const struct export_kind *kind = &export_kinds[table];
    bool keyed = !kind->of_device && table != EXPORT_SETTINGS;
    struct buf create, insert;
    buf_init(&create, SIZE_MAX / 2);
    buf_init(&insert, SIZE_MAX / 2);
    put_statements(kind, keyed, &create, &insert);
    enum vrs_status status = create.failed || insert.failed ? vrs_no_memory(err) : VRS_OK;
    if (status == VRS_OK)
        status = say(f, create.at, err);
    if (status == VRS_OK &&
        f->sqlite->prepare_v2(f->db, insert.at, -1, &f->insert, NULL) != SQLITE_OK)
        status = failed(f, err);
    if (status == VRS_OK)
        status = export_rows(e, table, put_row, f, err);
    f->sqlite->finalize(f->insert);
    f->insert = NULL;
    buf_free(&create);
    buf_free(&insert);
    return status;
}

/* What the file is, in one row; `incomplete` is NULL of a whole one. */
static enum vrs_status put_about(struct filler *f, const struct exporting *e, struct vrs_error *err)
{
    static const char create[] =
        "CREATE TABLE about (schema TEXT, tool TEXT, path TEXT, incomplete TEXT)";
    static const char insert[] = "INSERT INTO about VALUES ('vramscope.export/1', ?, ?, ?)";
    TRY(say(f, create, err));
    if (f->sqlite->prepare_v2(f->db, insert, -1, &f->insert, NULL) != SQLITE_OK)
        return failed(f, err);
    bind(f, 1, &(struct cell){ .kind = CELL_TEXT, .text = str_from(e->tool) });
    bind(f, 2, &(struct cell){ .kind = CELL_TEXT, .text = e->file->path });
    bind(f, 3, &(struct cell){ .kind = e->cut.len > 0 ? CELL_TEXT : CELL_NONE, .text = e->cut });
    bool done = f->sqlite->step(f->insert) == SQLITE_DONE;
    enum vrs_status status = done ? VRS_OK : failed(f, err);
    f->sqlite->finalize(f->insert);
    f->insert = NULL;
    return status;
}

static int note_table(void *found, int columns, char **value, char **name)
{
    (void)columns;
    (void)value;
    (void)name;
    *(bool *)found = true;
    return 0;
}

static enum vrs_status put_all(struct filler *f, struct exporting *e, struct vrs_error *err)
{
    bool holds = false;
    /* A signal in between leaves a file that its owner removes. */
    TRY(say(f,
            "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = "
            "EXCLUSIVE",
            err));
    if (f->sqlite->exec(f->db, "SELECT 1 FROM sqlite_master", note_table, &holds, NULL) !=
        SQLITE_OK)
        return failed(f, err);
    if (holds)
        return vrs_fail(err, VRS_USAGE, "the database holds something already; name a new file");
    TRY(say(f, "BEGIN", err));
    TRY(put_about(f, e, err));
    for (enum export_table t = 0; t < EXPORT_TABLES; t++)
        TRY(put_table(f, e, t, err));
    TRY(say(f, views, err));
    return say(f, "COMMIT", err);
}

static enum vrs_status fill(struct filler *f, struct exporting *e, struct vrs_error *err)
{
    int code =
        f->sqlite->open_v2(e->database, &f->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL);
    enum vrs_status status = code == SQLITE_OK ? put_all(f, e, err) : failed(f, err);
    /* What is not committed was not written well: closing it may say so again. */
    int closed = f->sqlite->close(f->db);
    if (status == VRS_OK && closed != SQLITE_OK)
        status = vrs_fail(err, VRS_IO, "the database cannot be closed");
    return status;
}

enum vrs_status export_sqlite_ready(struct vrs_error *err)
{
    struct sqlite_library library;
    TRY(sqlite_load(&library, err));
    sqlite_unload(&library);
    return VRS_OK;
}

enum vrs_status export_sqlite(struct exporting *e, struct out *out, struct vrs_error *err)
{
    struct sqlite_library library;
    struct vrs_error why;
    (void)out;
    if (sqlite_load(&library, &why) != VRS_OK)
        return vrs_fail(err, VRS_UNSUPPORTED,
                        "a database needs SQLite: %.140s; install it (Debian and Ubuntu: "
                        "libsqlite3-0), or export csv or json",
                        why.message);
    struct filler f = { .sqlite = &library.calls };
    enum vrs_status status = fill(&f, e, err);
    sqlite_unload(&library);
    return status;
}
