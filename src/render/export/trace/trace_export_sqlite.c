/* trace_export_sqlite.c - every table of a trace in a database, with views that join them. */

#include "base/fail.h"
#include "render/export/export_tables.h"
#include "render/export/sqlite_file.h"
#include "render/export/trace/trace_export.h"
#include "render/export/trace/trace_export_tables.h"
#include "render/write/out.h"

static const char views[] =
    "CREATE VIEW device_work AS SELECT s.*, o.name AS operator, l.name AS launched_by, "
    "l.start_ns AS launch_ns, s.start_ns - (l.start_ns + l.duration_ns) AS launch_delay_ns "
    "FROM spans s LEFT JOIN spans o ON o.span = s.owner LEFT JOIN spans l ON l.span = s.launch "
    "WHERE s.kind IN ('kernel', 'memcpy', 'memset');"
    "CREATE VIEW device_time_by_operator AS SELECT operator, count(*) AS count, sum(duration_ns) "
    "AS device_ns FROM device_work GROUP BY 1 ORDER BY 3 DESC, 1;"
    "CREATE VIEW self_time_by_name AS SELECT kind, name, sum(calls) AS calls, sum(self_host_ns) "
    "AS self_host_ns, sum(self_device_ns) AS self_device_ns FROM paths WHERE parent IS NOT NULL "
    "GROUP BY 1, 2 ORDER BY 4 DESC, 5 DESC, 2;";

struct table_asked {
    const struct trace_exporting *e;
    enum trace_export_table table;
};

static enum vrs_status put_rows(void *arg, export_take *take, void *take_arg, struct vrs_error *err)
{
    const struct table_asked *asked = arg;
    return trace_export_rows(asked->e, asked->table, take, take_arg, err);
}

static enum vrs_status put_tables(struct sqlite_file *f, void *arg, struct vrs_error *err)
{
    struct table_asked asked = { .e = arg };
    for (enum trace_export_table t = 0; t < TRACE_TABLE_TIMELINE; t++) {
        const struct trace_export_kind *kind = &trace_export_kinds[t];
        asked.table = t;
        TRY(sqlite_table(f, &kind->shape, kind->keyed, put_rows, &asked, err));
    }
    return sqlite_say(f, views, err);
}

enum vrs_status trace_export_sqlite(struct trace_exporting *e, struct out *out,
                                    struct vrs_error *err)
{
    const struct sqlite_about about = { "vramscope.trace-export/1", e->tool, e->path, e->cut };
    (void)out;
    return sqlite_write(e->database, &about, put_tables, e, err);
}
