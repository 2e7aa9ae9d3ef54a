/* export.c - the table of formats. */
#include "render/export.h"

const struct export_format export_formats[] = {
    { "csv", EXPORT_NEEDS_TABLE, false, false, export_csv },
    { "json", EXPORT_NEEDS_TABLES, false, false, export_json },
    { "folded", EXPORT_NEEDS_MOMENT, false, false, export_folded },
    { "speedscope", EXPORT_NEEDS_MOMENT, false, false, export_speedscope },
    { "pprof", EXPORT_NEEDS_MOMENT, true, true, export_pprof },
#ifdef VRAMSCOPE_SQLITE
    { "sqlite", EXPORT_NEEDS_FILE, true, true, export_sqlite },
#else
    { "sqlite", EXPORT_NEEDS_FILE, true, true, NULL },
#endif
    { "perfetto", EXPORT_NEEDS_NOTHING, true, true, export_perfetto },
    { NULL, EXPORT_NEEDS_NOTHING, false, false, NULL },
};
