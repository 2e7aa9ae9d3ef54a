/* sqlite_library.h - SQLite, loaded where a database is written and nowhere else.
 *
 * Linked, it takes as long to start as all else of the program together, and its code is in every
 * process that reads a stranger's file. */
#ifndef VRS_RENDER_EXPORT_SQLITE_LIBRARY_H
#define VRS_RENDER_EXPORT_SQLITE_LIBRARY_H

#include <sqlite3.h>

#include "base/fail.h"

/* Its functions, by their names without sqlite3_; sqlite_library.c has a row for each. */
struct sqlite_calls {
    __typeof__(sqlite3_bind_int64) *bind_int64;
    __typeof__(sqlite3_bind_null) *bind_null;
    __typeof__(sqlite3_bind_text64) *bind_text64;
    __typeof__(sqlite3_close) *close;
    __typeof__(sqlite3_errcode) *errcode;
    __typeof__(sqlite3_errmsg) *errmsg;
    __typeof__(sqlite3_exec) *exec;
    __typeof__(sqlite3_finalize) *finalize;
    __typeof__(sqlite3_open_v2) *open_v2;
    __typeof__(sqlite3_prepare_v2) *prepare_v2;
    __typeof__(sqlite3_reset) *reset;
    __typeof__(sqlite3_step) *step;
};

struct sqlite_library {
    void *handle;
    struct sqlite_calls calls;
};

/* VRS_UNSUPPORTED where the system has no such library, or an older one. */
enum vrs_status sqlite_load(struct sqlite_library *ret, struct vrs_error *err) MUST_CHECK;

/* Nothing of it may be in use any more. */
void sqlite_unload(struct sqlite_library *library);

#endif
