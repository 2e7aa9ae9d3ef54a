/* figures_json.h - the exact figures of a trace as one member of its JSON. */
#ifndef VRS_RENDER_TRACE_FIGURES_JSON_H
#define VRS_RENDER_TRACE_FIGURES_JSON_H

#include "analysis/trace/figures/figures.h"
#include "render/write/json.h"

void figures_json(struct json *j, const char *key, const struct figures *f);

#endif
