/* scene.h - what a picture in a file shows: devices with their allocations, groups and curves.
 *
 * The allocations, their order and their groups are those of the page (docs/view-format.md,
 * viewer/core/memory/live.js), so that both show the same. */
#ifndef VRS_RENDER_PICTURE_SCENE_H
#define VRS_RENDER_PICTURE_SCENE_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/snapshot/categories/category_rules.h"
#include "analysis/snapshot/study/moment.h"
#include "analysis/snapshot/study/proven_study.h"
#include "analysis/snapshot/trust/trust.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"
#include "model/file_facts.h"
#include "render/page/source.h"
#include "render/picture/palette.h"
#include "render/picture/raster.h"

enum scene_view { SCENE_GROUPS, SCENE_STACK, SCENE_MAP, SCENE_VIEWS };
extern const char *const scene_view_names[SCENE_VIEWS];

/* The words of `peak --by`, and the phases. */
enum scene_by {
    SCENE_CATEGORY,
    SCENE_LINE,
    SCENE_CULPRIT, /* the same */
    SCENE_OWNER,
    SCENE_MODULE,
    SCENE_SITE,
    SCENE_FILE,
    SCENE_FUNCTION,
    SCENE_PHASE,
    SCENE_POOL,
    SCENE_STREAM,
    SCENE_SIZE,
    SCENE_AGE,
    SCENE_NAME,
    SCENE_PATH,
    SCENE_BYS
};
extern const char *const scene_by_names[SCENE_BYS];

struct scene_options {
    enum scene_view view;
    enum scene_by by;
    bool has_at, has_from, has_to;
    struct moment at, from, to;
    double capacity; /* what a person says that a card has; 0: nobody says */
};

struct scene_group {
    str name;
    struct group_colour colour;
    enum category category; /* of memory without a line; CATEGORIES: it has one */
    bool is_rest;           /* several groups as one */
};

struct scene_flag {
    uint32_t state;
    uint64_t bytes; /* asked for; UNKNOWN_U64: not known */
};

struct scene_step {
    uint32_t first, last; /* states */
};

struct scene_phase {
    uint32_t first, last; /* states */
    static_text name;
};

/* Memory that was mapped, for the map of addresses. */
struct scene_range {
    uint32_t born, end, lane;
    uint64_t base;
    double bytes;
    bool held; /* in a private pool: what is free there is held for its graphs */
};

struct scene_device {
    struct device_name name;
    str line; /* what the report says is wrong is about it; "": none */
    struct raster_rows rows;
    const double *requested, *active, *reserved; /* of each state; reserved NULL: not known */
    bool active_exact;
    struct raster_groups groups;
    const struct scene_group *group;
    /* The same with all but the largest as one, so that there are few. */
    struct raster_groups shown;
    const struct scene_group *shown_group;
    const uint32_t *order; /* rows by group, in the order of the bands */
    double capacity;       /* what was asked for, else the least that the device must have had;
                              0: not known */
    double from, to;       /* the states shown */
    uint32_t cursor, peak; /* states; `peak` is the largest of those shown, the earliest */
    bool at_peak;          /* no other cursor was asked for */
    uint64_t cursor_us;    /* since the first event; UNKNOWN_U64 */
    const struct scene_flag *oom;
    uint32_t ooms;
    const struct scene_step *step;
    uint32_t steps;
    const struct scene_phase *phase;
    uint32_t phases;
    const struct trust *trust;
    bool start_known, traced;
    /* For the map; NULL where none is asked for. */
    const uint32_t *lane, *wait;
    const double *block;   /* bytes of each row's block */
    const double *request; /* bytes of it that were asked for; all where its size is not known */
    const struct scene_range *range;
    uint32_t ranges;
};

struct scene {
    struct file_facts file;
    const char *tool; /* version */
    struct scene_options asked;
    struct scene_device *device;
    uint32_t devices;
};

/* What a device adds to the scene, of a proven study whose trust outlives it; in `arena`.  `line`
 * is what the report says is wrong is about, "" none.  The name and the time of the cursor are the
 * caller's to fill.  VRS_USAGE where a moment is not to be found. */
enum vrs_status scene_take(const struct scene *scene, const struct proven_study *proven, str line,
                           struct arena *arena, struct scene_device *ret,
                           struct vrs_error *err) MUST_CHECK;

/* Its groups: of each row, names, bands and colours.  `d` has its rows and curves already. */
enum vrs_status scene_group_rows(const struct scene *scene, struct page_source *from,
                                 struct arena *arena, struct scene_device *d,
                                 struct vrs_error *err) MUST_CHECK;

/* Bytes of each of the device's groups in a state, in `arena`; NULL: no memory. */
double *scene_group_bytes(const struct scene_device *d, const struct raster_groups *groups,
                          uint32_t state, struct arena *arena);

#endif
