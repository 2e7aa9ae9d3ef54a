/* raster.h - rasterises the stack of allocations: which one a pixel shows, exactly; group sums.
 *
 * A picture has W columns, each showing one state, ascending, and H pixel rows, row 0 on top.  It
 * is a pure function of columns and view, and equals what viewer/core/memory/raster.js and
 * columns.js make of the same in every pixel: the same operations on doubles in the same order.
 * Sums of bytes are whole numbers, exact below 2^53. */
#ifndef VRS_RENDER_PICTURE_RASTER_H
#define VRS_RENDER_PICTURE_RASTER_H

#include <stdint.h>

#include "base/arena.h"
#include "base/fail.h"

/* Most columns and rows of one picture. */
enum { RASTER_SIDE_MOST = 16384 };

/* Allocations in the order of their births; each is alive in the states [born, end). */
struct raster_rows {
    uint32_t rows;
    const uint32_t *born, *end;
    const double *bytes;
    double adjust;   /* bytes that no row explains, in every state */
    uint32_t states; /* at least 1 */
};

/* Requested bytes in every state; in `arena`. */
enum vrs_status raster_curve(const struct raster_rows *rows, struct arena *arena, double **ret,
                             struct vrs_error *err) MUST_CHECK;

/* The shown state of each of W columns that stand for the states [v0, v1): of its span the one
 * with the largest value, the earliest. */
void raster_shown(const double *curve, uint32_t states, double v0, double v1, uint32_t W,
                  uint32_t *shown);

/* Bytes that were allocated in the states of each of these columns; the rows ascend by birth. */
void raster_churn(const struct raster_rows *rows, double v0, double v1, uint32_t W, double *churn);

struct raster_view {
    const uint32_t *shown; /* ascending; W of them */
    uint32_t W, H;
    double y0, y1;         /* bytes shown */
    const uint32_t *order; /* rows in stack order; NULL: as they are */
};

/* Pixels that show no allocation. */
#define RASTER_NONE (-1)

struct raster_picture {
    int32_t *ids;  /* W * H: rows, or groups */
    double *sums;  /* of each column */
    double *parts; /* of groups: W sums of each, group by group; NULL of rows */
};

/* All in `arena`, which is also the scratch of the call. */
enum vrs_status raster_picture(const struct raster_rows *rows, const struct raster_view *view,
                               struct arena *arena, struct raster_picture *ret,
                               struct vrs_error *err) MUST_CHECK;

struct raster_groups {
    const uint32_t *of; /* of each row */
    uint32_t groups;
    const uint32_t *bands; /* groups from the bottom */
};

/* One band for each group: ids are groups. */
enum vrs_status raster_groups_picture(const struct raster_rows *rows,
                                      const struct raster_groups *groups,
                                      const struct raster_view *view, struct arena *arena,
                                      struct raster_picture *ret, struct vrs_error *err) MUST_CHECK;

/* The sums alone. */
enum vrs_status raster_group_sums(const struct raster_rows *rows,
                                  const struct raster_groups *groups,
                                  const struct raster_view *view, struct arena *arena, double **ret,
                                  struct vrs_error *err) MUST_CHECK;

/* The first column that shows state `p` or a later one; W where none does. */
uint32_t raster_first_column(const struct raster_view *view, uint32_t p);

#endif
