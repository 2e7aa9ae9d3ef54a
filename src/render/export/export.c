/* export.c - the table of formats. */
#include "render/export/export.h"

#include <stdbool.h>
#include <stddef.h>

const struct export_format export_formats[] = {
    { "csv", EXPORT_NEEDS_TABLE, .bare = true, .write = export_csv },
    { "json", EXPORT_NEEDS_TABLES, .write = export_json },
    { "folded", EXPORT_NEEDS_MOMENT, .bare = true, .write = export_folded },
    { "speedscope", EXPORT_NEEDS_MOMENT, .write = export_speedscope },
    { "pprof", EXPORT_NEEDS_MOMENT, .binary = true, .categories = true, .write = export_pprof },
    {
        "sqlite",
        EXPORT_NEEDS_FILE,
        .binary = true,
        .categories = true,
#ifdef VRAMSCOPE_SQLITE
        .ready = export_sqlite_ready,
        .write = export_sqlite,
#endif
    },
    { "perfetto", EXPORT_NEEDS_NOTHING, .binary = true, .categories = true, .spans = true,
      .moment = true, .write = export_perfetto },
    { .name = NULL },
};
