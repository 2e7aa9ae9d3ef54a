/* sqlite_file.h - a database file of tables, written in one transaction. */
#ifndef VRS_RENDER_EXPORT_SQLITE_FILE_H
#define VRS_RENDER_EXPORT_SQLITE_FILE_H

#include <stdbool.h>

#include <sqlite3.h>

#include "base/fail.h"
#include "base/str.h"
#include "render/export/export_tables.h"
#include "render/export/sqlite_library.h"

struct sqlite_file {
    const struct sqlite_calls *sqlite;
    sqlite3 *db;
    sqlite3_stmt *insert; /* of the table that is being written */
};

/* The one row of the table `about`. */
struct sqlite_about {
    const char *schema, *tool;
    str path;
    str cut; /* that the input ends early, and where; empty: it does not */
};

/* Puts tables and views into the file. */
typedef enum vrs_status sqlite_fill(struct sqlite_file *f, void *arg, struct vrs_error *err);

/* Calls `take` with each row of a table. */
typedef enum vrs_status sqlite_rows(void *arg, export_take *take, void *take_arg,
                                    struct vrs_error *err);

/* Fills a file that is new or empty. */
enum vrs_status sqlite_write(const char *path, const struct sqlite_about *about, sqlite_fill *fill,
                             void *arg, struct vrs_error *err) MUST_CHECK;

enum vrs_status sqlite_say(struct sqlite_file *f, const char *sql,
                           struct vrs_error *err) MUST_CHECK;

/* A table with its rows; `keyed`: its first column is their number.  Columns that are looked up are
 * left out. */
enum vrs_status sqlite_table(struct sqlite_file *f, const struct export_kind *kind, bool keyed,
                             sqlite_rows *rows, void *arg, struct vrs_error *err) MUST_CHECK;

#endif
