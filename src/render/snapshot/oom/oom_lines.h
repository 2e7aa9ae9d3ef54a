/* oom_lines.h - a line about each of many devices: which ranks failed, and why. */
#ifndef VRS_RENDER_SNAPSHOT_OOM_OOM_LINES_H
#define VRS_RENDER_SNAPSHOT_OOM_OOM_LINES_H

#include "render/answer/device_pages.h"

extern const struct device_lines oom_lines;

#endif
