/* snapshot_settings.h - the allocator's settings as the dict of a snapshot. */
#ifndef VRS_RENDER_EXPORT_SNAPSHOT_SETTINGS_H
#define VRS_RENDER_EXPORT_SNAPSHOT_SETTINGS_H

#include "render/export/snapshot_shared.h"

/* "outer.inner" stands in a dict of its own again; "outer.0", "outer.1", … are a list. */
void snapshot_settings(struct shared *s);

#endif
