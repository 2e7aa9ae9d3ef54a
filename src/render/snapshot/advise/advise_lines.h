/* advise_lines.h - a line about each of many devices: what each rank could save. */
#ifndef VRS_RENDER_SNAPSHOT_ADVISE_ADVISE_LINES_H
#define VRS_RENDER_SNAPSHOT_ADVISE_ADVISE_LINES_H

#include "render/answer/device_pages.h"

extern const struct device_lines advise_lines;

#endif
