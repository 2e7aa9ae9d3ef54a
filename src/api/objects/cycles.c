/* cycles.c - reference cycles among garbage, and the tensors that they kept alive. */
#include "analysis/objects/cycles.h"

#include <stddef.h>
#include <stdint.h>

#include "analysis/objects/reference_graph.h"
#include "api/result.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/fail.h"
#include "base/str.h"
#include "render/objects/cycle_svg.h"
#include "render/objects/object_answers.h"
#include "render/write/out.h"
#include "vramscope/objects.h"
#include "vramscope/vramscope.h"

static enum vrs_status fill(struct vrs_result *result, const struct vrs_garbage *object,
                            uint32_t objects, const struct vrs_reference *reference,
                            uint32_t references, uint64_t least_bytes, struct vrs_error *err)
{
    struct arena *keep = result->arena;
    struct garbage_object *o = arena_array(keep, struct garbage_object, objects);
    struct reference *r = arena_array(keep, struct reference, references);
    if (o == NULL || r == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < objects; i++) {
        o[i] = (struct garbage_object){ result_text(keep, str_from(object[i].type)),
                                        object[i].bytes != UINT64_MAX, object[i].storage,
                                        object[i].bytes };
        if (o[i].type.ptr == NULL)
            return vrs_no_memory(err);
    }
    for (uint32_t i = 0; i < references; i++) {
        r[i] = (struct reference){ reference[i].from, reference[i].to };
        if (r[i].from >= objects || r[i].to >= objects)
            return vrs_fail(err, VRS_USAGE, "reference %u is of an object that is not there",
                            (unsigned)i);
    }
    return cycles_compute(o, objects, r, references, least_bytes, keep, result->set.answers, err);
}

enum vrs_status vrs_cycles(const struct vrs_garbage *object, uint32_t objects,
                           const struct vrs_reference *reference, uint32_t references,
                           uint64_t least_bytes, struct vrs_result **ret, struct vrs_error *err)
{
    struct vrs_result *result = result_make(&cycles_answer, 1);
    if (result == NULL)
        return vrs_no_memory(err);
    result->alone = "cycles of different garbage are not joined";
    enum vrs_status status = fill(result, object, objects, reference, references, least_bytes, err);
    if (status == VRS_OK)
        *ret = result;
    else
        vrs_result_free(result);
    return status;
}

enum vrs_status vrs_cycles_svg(const struct vrs_garbage *object, uint32_t objects,
                               const struct vrs_reference *reference, uint32_t references,
                               const struct vrs_sink *sink, struct vrs_error *err)
{
    struct vrs_result *result;
    TRY(vrs_cycles(object, objects, reference, references, 1, &result, err));
    const struct cycles *cycles = result->set.answers;
    struct out out = { .write = sink->write, .arg = sink->arg };
    buf_init(&out.text, SIZE_MAX / 2);
    if (cycles->rows > 0)
        cycle_svg(&out.text, &cycles->row[0]);
    vrs_result_free(result);
    return out_finish(&out, VRS_OK, err);
}
