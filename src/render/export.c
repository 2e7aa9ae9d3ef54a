/* export.c - the table of formats. */
#include "render/export.h"

const struct export_format export_formats[] = {
    { "csv", EXPORT_NEEDS_TABLE, false, export_csv },
    { "json", EXPORT_NEEDS_TABLES, false, export_json },
    { "folded", EXPORT_NEEDS_MOMENT, false, export_folded },
    { "speedscope", EXPORT_NEEDS_MOMENT, false, export_speedscope },
    { "pprof", EXPORT_NEEDS_MOMENT, true, export_pprof },
#ifdef VRAMSCOPE_SQLITE
    { "sqlite", EXPORT_NEEDS_FILE, true, export_sqlite },
#else
    { "sqlite", EXPORT_NEEDS_FILE, true, NULL },
#endif
    { "perfetto", EXPORT_NEEDS_NOTHING, true, export_perfetto },
    { NULL, EXPORT_NEEDS_NOTHING, false, NULL },
};
