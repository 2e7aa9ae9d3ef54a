/* profiler_object.h - what is behind the public struct vrs_profiler. */
#ifndef VRS_API_PROFILER_PROFILER_OBJECT_H
#define VRS_API_PROFILER_PROFILER_OBJECT_H

#include "profiler/profiler.h"
#include "vramscope/profiler.h"

struct vrs_profiler {
    struct profiler profiler;
    struct vrs_meter *meter;
};

#endif
