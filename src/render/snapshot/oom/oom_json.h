/* oom_json.h - parts of answers in JSON that the head of a page has as well. */
#ifndef VRS_RENDER_SNAPSHOT_OOM_OOM_JSON_H
#define VRS_RENDER_SNAPSHOT_OOM_OOM_JSON_H

#include "analysis/snapshot/oom/oom.h"
#include "render/write/json.h"

/* The members of `vramscope oom` from "event" to "also_true": figures, verdict and tests. */
void oom_facts_json(struct json *j, const struct oom *oom);

#endif
