/* trace_rewrite.h - vramscope trace --repair and --slice: a trace as a file without damage, or some
 * of its steps as a smaller one. */
#ifndef CLI_TRACE_REWRITE_H
#define CLI_TRACE_REWRITE_H

#include <stdbool.h>
#include <stddef.h>

#include "command.h"
#include "options.h"

/* What of the options of `trace` asks for it. */
struct trace_rewrite {
    bool repair, drop_python;
    const char *slice, *min_duration; /* steps, and a time */
};

#define OPTIONS_TRACE_REWRITE(settings, member)                                                    \
    { 0, "repair", NULL,                                                                           \
      "write what could be read of a damaged trace as JSON without damage, to -o", OPTION_FLAG,    \
      offsetof(settings, member.repair), NULL },                                                   \
        { 0, "slice", "STEPS",                                                                     \
          "write steps of the trace, as 3..5 or 3.., with the device work that they launched, to "  \
          "-o",                                                                                    \
          OPTION_TEXT, offsetof(settings, member.slice), NULL },                                   \
        { 0, "drop-python", NULL, "with --repair or --slice leave Python frames out", OPTION_FLAG, \
          offsetof(settings, member.drop_python), NULL },                                          \
    {                                                                                              \
        0, "min-duration", "TIME",                                                                 \
            "with --repair or --slice leave out host events that are shorter, as 5us, but for "    \
            "those that device work needs",                                                        \
            OPTION_TEXT, offsetof(settings, member.min_duration), NULL                             \
    }

/* Whether a file is to be written; then trace_rewrite_run is all there is to do. */
bool trace_rewrite_wanted(const struct trace_rewrite *r);

/* Writes the one file of the operands anew, to standard output or -o.  Returns the exit status. */
int trace_rewrite_run(const struct common *common, const struct trace_rewrite *r, int files,
                      char *const *names);

#endif
