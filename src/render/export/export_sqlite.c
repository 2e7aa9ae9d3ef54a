/* export_sqlite.c - every table in a database, with views for what is asked most often. */
#include <stdbool.h>

#include "base/fail.h"
#include "render/export/export.h"
#include "render/export/export_tables.h"
#include "render/export/sqlite_file.h"
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

struct table_asked {
    struct exporting *e;
    enum export_table table;
};

static enum vrs_status put_rows(void *arg, export_take *take, void *take_arg, struct vrs_error *err)
{
    const struct table_asked *asked = arg;
    return export_rows(asked->e, asked->table, take, take_arg, err);
}

static enum vrs_status put_tables(struct sqlite_file *f, void *arg, struct vrs_error *err)
{
    struct table_asked asked = { .e = arg };
    for (enum export_table t = 0; t < EXPORT_TABLES; t++) {
        bool keyed = !export_kinds[t].of_device && t != EXPORT_SETTINGS;
        asked.table = t;
        TRY(sqlite_table(f, &export_kinds[t], keyed, put_rows, &asked, err));
    }
    return sqlite_say(f, views, err);
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
    const struct sqlite_about about = { "vramscope.export/1", e->tool, e->file->path, e->cut };
    (void)out;
    return sqlite_write(e->database, &about, put_tables, e, err);
}
