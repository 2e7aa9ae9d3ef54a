/* picture_ids.c - prints the id pictures of a recording as numbers, for tests.
 *
 *     picture_ids FILE BY [AT] < views
 *
 * AT is the moment of the legend, "peak" where there is none.
 * A view is a line "VIEW W H FROM TO Y0 Y1", VIEW groups, stack or map, of the first device.  For
 * each: W * H ids of four bytes and W sums of eight; of a map W * H places of a byte and twice W *
 * H fractions of four instead of the sums. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/snapshot/report/report.h"
#include "analysis/snapshot/study/moment.h"
#include "api/file.h"
#include "api/result.h"
#include "api/snapshot/report.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"
#include "render/picture/address_map.h"
#include "render/picture/raster.h"
#include "render/picture/scene.h"
#include "vramscope/snapshot.h"

struct dumping {
    struct scene scene;
    struct scene_device device;
    struct arena arena;
};

static void put(const void *bytes, size_t size, size_t count)
{
    if (fwrite(bytes, size, count, stdout) != count)
        exit(1);
}

static enum vrs_status dump(struct dumping *d, const char *name, struct raster_view *v)
{
    const struct scene_device *device = &d->device;
    size_t pixels = (size_t)v->W * v->H;
    struct raster_picture picture = { 0 };
    struct map_picture map;
    struct map_rows rows;
    if (strcmp(name, "map") == 0) {
        TRY(map_rows_make(device, &d->arena, &rows, NULL));
        v->y1 = v->y1 > v->y0 ? v->y1 : rows.bytes > 0 ? rows.bytes : 1;
        TRY(map_picture_make(device, &rows, v, &d->arena, &map, NULL));
        put(map.ids, sizeof *map.ids, pixels);
        put(map.places, sizeof *map.places, pixels);
        put(map.used, sizeof *map.used, pixels);
        put(map.mapped, sizeof *map.mapped, pixels);
        return VRS_OK;
    }
    if (strcmp(name, "stack") == 0) {
        v->order = device->order;
        TRY(raster_picture(&device->rows, v, &d->arena, &picture, NULL));
    } else {
        TRY(raster_groups_picture(&device->rows, &device->groups, v, &d->arena, &picture, NULL));
    }
    put(picture.ids, sizeof *picture.ids, pixels);
    put(picture.sums, sizeof *picture.sums, v->W);
    return VRS_OK;
}

static enum vrs_status dump_all(struct dumping *d)
{
    char name[8];
    struct raster_view v = { 0 };
    double from, to;
    while (scanf("%7s %u %u %lf %lf %lf %lf", name, &v.W, &v.H, &from, &to, &v.y0, &v.y1) == 7) {
        struct arena_mark mark = arena_mark(&d->arena);
        uint32_t *shown = arena_array(&d->arena, uint32_t, v.W);
        if (shown == NULL)
            return VRS_NOMEM;
        raster_shown(d->device.requested, d->device.rows.states, from, to, v.W, shown);
        v.shown = shown;
        v.order = NULL;
        TRY(dump(d, name, &v));
        arena_release(&d->arena, mark);
    }
    return VRS_OK;
}

int main(int argc, char **argv)
{
    struct dumping d = { .scene.asked.view = SCENE_MAP };
    struct vrs_file *file = NULL;
    const struct vrs_recording *r = NULL;
    struct kept_report *kept = NULL;
    struct vrs_error err;
    struct vrs_report_options o = { .size = sizeof o, .trust = true };
    if (argc != 3 && argc != 4)
        return 2;
    d.scene.asked.has_at = argc == 4;
    if (argc == 4 && moment_parse(str_from(argv[3]), &d.scene.asked.at, &err) != VRS_OK)
        return 2;
    for (uint32_t i = 0; i < SCENE_BYS; i++)
        if (strcmp(scene_by_names[i], argv[2]) == 0)
            d.scene.asked.by = (enum scene_by)i;
    arena_init(&d.arena, SIZE_MAX / 2);
    enum vrs_status status = vrs_open(argv[1], NULL, &file, &err);
    if (status == VRS_OK)
        status = vrs_recording(file, 0, &r, &err);
    if (status == VRS_OK)
        status = report_begin(r, &o, false, &d.arena, &kept, &err);
    if (status == VRS_OK && report_answers(kept)->report[0].devices > 0) {
        status = scene_take(&d.scene, report_study(kept, 0), S(""), &d.arena, &d.device, &err);
        if (status == VRS_OK)
            status = dump_all(&d);
    }
    if (status != VRS_OK)
        fprintf(stderr, "%s\n", err.message);
    if (kept != NULL)
        report_end(kept);
    arena_free(&d.arena);
    vrs_close(file);
    return status == VRS_OK ? 0 : 1;
}
