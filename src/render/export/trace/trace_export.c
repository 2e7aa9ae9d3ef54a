/* trace_export.c - the table of formats. */
#include "render/export/trace/trace_export.h"

#include <stddef.h>

#include "render/export/export.h"
#include "render/trace/chrome.h"

const char *const trace_weight_names[TRACE_WEIGHTS] = {
    [TRACE_WEIGHT_HOST] = "host",
    [TRACE_WEIGHT_DEVICE] = "device",
    [TRACE_WEIGHT_BYTES] = "bytes",
    [TRACE_WEIGHT_CALLS] = "calls",
};

static enum vrs_status write_chrome(struct trace_exporting *e, struct out *out,
                                    struct vrs_error *err)
{
    (void)err;
    chrome_write(out, e->t, NULL);
    return VRS_OK;
}

const struct trace_export_format trace_export_formats[] = {
    { "csv", .table = true, .bare = true, .write = trace_export_csv },
    { "folded", .weighs = true, .inverts = true, .bare = true, .write = trace_export_folded },
    { "speedscope", .weighs = true, .write = trace_export_speedscope },
    { "pprof", .binary = true, .weighs = true, .write = trace_export_pprof },
    { "html", .weighs = true, .inverts = true, .write = trace_export_html },
    {
        "sqlite",
        .binary = true,
        .file = true,
#ifdef VRAMSCOPE_SQLITE
        .ready = export_sqlite_ready,
        .write = trace_export_sqlite,
#endif
    },
    { "chrome", .bare = true, .write = write_chrome },
    { "perfetto", .bare = true, .write = write_chrome }, /* which reads the same */
    { .name = NULL },
};
