/* peak_lines.h - a line about each of many devices: what each rank held. */
#ifndef VRS_RENDER_SNAPSHOT_PEAK_PEAK_LINES_H
#define VRS_RENDER_SNAPSHOT_PEAK_PEAK_LINES_H

#include "render/answer/device_pages.h"

extern const struct device_lines peak_lines;

#endif
