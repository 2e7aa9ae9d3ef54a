/* sqlite_file.c - a database that is written in one transaction, table by table.
 *
 * The file appears without a journal beside it: it is of no use until it is whole, and whoever gave
 * its name puts it in place then.  Memory is SQLite's own. */
#include "render/export/sqlite_file.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sqlite3.h>

#include "base/buf.h"
#include "base/fail.h"
#include "base/str.h"
#include "render/export/export_tables.h"
#include "render/export/sqlite_library.h"

static enum vrs_status failed(struct sqlite_file *f, struct vrs_error *err)
{
    int code = f->db == NULL ? SQLITE_NOMEM : f->sqlite->errcode(f->db);
    if (code == SQLITE_NOMEM)
        return vrs_no_memory(err);
    return vrs_fail(err, VRS_IO, "the database cannot be written: %.160s",
                    f->sqlite->errmsg(f->db));
}

enum vrs_status sqlite_say(struct sqlite_file *f, const char *sql, struct vrs_error *err)
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
static void bind(struct sqlite_file *f, int at, const struct cell *cell)
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
    struct sqlite_file *f = arg;
    int at = 1;
    for (uint32_t i = 0; i < kind->columns; i++)
        if (!kind->column[i].looked_up)
            bind(f, at++, &cell[i]);
    if (f->sqlite->step(f->insert) != SQLITE_DONE || f->sqlite->reset(f->insert) != SQLITE_OK)
        return failed(f, err);
    return VRS_OK;
}

enum vrs_status sqlite_table(struct sqlite_file *f, const struct export_kind *kind, bool keyed,
                             sqlite_rows *rows, void *arg, struct vrs_error *err)
{
    struct buf create, insert;
    buf_init(&create, SIZE_MAX / 2);
    buf_init(&insert, SIZE_MAX / 2);
    put_statements(kind, keyed, &create, &insert);
    enum vrs_status status = create.failed || insert.failed ? vrs_no_memory(err) : VRS_OK;
    if (status == VRS_OK)
        status = sqlite_say(f, create.at, err);
    if (status == VRS_OK &&
        f->sqlite->prepare_v2(f->db, insert.at, -1, &f->insert, NULL) != SQLITE_OK)
        status = failed(f, err);
    if (status == VRS_OK)
        status = rows(arg, put_row, f, err);
    f->sqlite->finalize(f->insert);
    f->insert = NULL;
    buf_free(&create);
    buf_free(&insert);
    return status;
}

/* What the file is, in one row; `incomplete` is NULL of a whole one. */
static enum vrs_status put_about(struct sqlite_file *f, const struct sqlite_about *about,
                                 struct vrs_error *err)
{
    static const char create[] =
        "CREATE TABLE about (schema TEXT, tool TEXT, path TEXT, incomplete TEXT)";
    static const char insert[] = "INSERT INTO about VALUES (?, ?, ?, ?)";
    TRY(sqlite_say(f, create, err));
    if (f->sqlite->prepare_v2(f->db, insert, -1, &f->insert, NULL) != SQLITE_OK)
        return failed(f, err);
    bind(f, 1, &(struct cell){ .kind = CELL_TEXT, .text = str_from(about->schema) });
    bind(f, 2, &(struct cell){ .kind = CELL_TEXT, .text = str_from(about->tool) });
    bind(f, 3, &(struct cell){ .kind = CELL_TEXT, .text = about->path });
    bind(f, 4, &(struct cell){ .kind = about->cut.len > 0 ? CELL_TEXT : CELL_NONE,
                               .text = about->cut });
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

static enum vrs_status put_all(struct sqlite_file *f, const struct sqlite_about *about,
                               sqlite_fill *fill, void *arg, struct vrs_error *err)
{
    bool holds = false;
    /* A signal in between leaves a file that its owner removes. */
    TRY(sqlite_say(f,
                   "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = "
                   "EXCLUSIVE",
                   err));
    if (f->sqlite->exec(f->db, "SELECT 1 FROM sqlite_master", note_table, &holds, NULL) !=
        SQLITE_OK)
        return failed(f, err);
    if (holds)
        return vrs_fail(err, VRS_USAGE, "the database holds something already; name a new file");
    TRY(sqlite_say(f, "BEGIN", err));
    TRY(put_about(f, about, err));
    TRY(fill(f, arg, err));
    return sqlite_say(f, "COMMIT", err);
}

static enum vrs_status fill_file(struct sqlite_file *f, const char *path,
                                 const struct sqlite_about *about, sqlite_fill *fill, void *arg,
                                 struct vrs_error *err)
{
    int code = f->sqlite->open_v2(path, &f->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL);
    enum vrs_status status =
        code == SQLITE_OK ? put_all(f, about, fill, arg, err) : failed(f, err);
    /* What is not committed was not written well: closing it may say so again. */
    int closed = f->sqlite->close(f->db);
    if (status == VRS_OK && closed != SQLITE_OK)
        status = vrs_fail(err, VRS_IO, "the database cannot be closed");
    return status;
}

enum vrs_status sqlite_write(const char *path, const struct sqlite_about *about, sqlite_fill *fill,
                             void *arg, struct vrs_error *err)
{
    struct sqlite_library library;
    struct vrs_error why;
    if (sqlite_load(&library, &why) != VRS_OK)
        return vrs_fail(err, VRS_UNSUPPORTED,
                        "a database needs SQLite: %.140s; install it (Debian and Ubuntu: "
                        "libsqlite3-0), or export csv or json",
                        why.message);
    struct sqlite_file f = { .sqlite = &library.calls };
    enum vrs_status status = fill_file(&f, path, about, fill, arg, err);
    sqlite_unload(&library);
    return status;
}
