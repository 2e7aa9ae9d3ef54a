/* trace_split.h - operators by more than their names. */
#ifndef VRS_RENDER_TRACE_TRACE_SPLIT_H
#define VRS_RENDER_TRACE_TRACE_SPLIT_H

#include "render/trace/trace_tables.h"

trace_table trace_split_table;

#endif
