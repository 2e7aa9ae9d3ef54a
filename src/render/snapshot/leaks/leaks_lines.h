/* leaks_lines.h - a line about each of many devices: which ranks grow. */
#ifndef VRS_RENDER_SNAPSHOT_LEAKS_LEAKS_LINES_H
#define VRS_RENDER_SNAPSHOT_LEAKS_LEAKS_LINES_H

#include "render/answer/device_pages.h"

extern const struct device_lines leaks_lines;

#endif
