/* check_paths.c - the ends of absolute paths that tell files apart. */
#include "api/snapshot/check_paths.h"

#include <stddef.h>
#include <stdint.h>

#include "analysis/attribution/frame_class.h"
#include "render/answer/answer.h"
#include "vramscope/error.h"

static bool parts_path(char c)
{
    return c == '/' || c == '\\';
}

bool check_path_is_cut(str path)
{
    bool drive = path.len > 2 && path.ptr[1] == ':';
    return drive || (path.len > 0 && parts_path(path.ptr[0]));
}

/* Where the last part begins that two paths do not share. */
static size_t parting(str whole, str other)
{
    size_t shared = 0;
    while (shared < whole.len && shared < other.len &&
           whole.ptr[whole.len - 1 - shared] == other.ptr[other.len - 1 - shared])
        shared++;
    size_t from = whole.len - shared;
    while (from > 0 && !parts_path(whole.ptr[from - 1]))
        from--;
    return from;
}

/* Files of one name are shown with the part of their paths in which they differ. */
static enum vrs_status tell_apart(struct vrs_result *joined, const struct vrs_result *const *parts,
                                  uint32_t count, struct vrs_error *err)
{
    (void)parts;
    (void)count;
    (void)err;
    for (uint32_t i = 0; i < joined->set.count; i++) {
        struct devices_answer *answer = &joined->set.study[i];
        str whole = answer->whole_path, *shown = &answer->file.path;
        for (uint32_t k = 0; whole.ptr != NULL && k < joined->set.count; k++) {
            str other = joined->set.study[k].whole_path;
            if (other.ptr == NULL || str_equal(whole, other) ||
                !str_equal(path_base(whole), path_base(other)))
                continue;
            size_t from = parting(whole, other);
            if (whole.len - from > shown->len)
                *shown = (str){ whole.ptr + from, whole.len - from };
        }
    }
    return VRS_OK;
}

void check_path_cut(struct vrs_result *result)
{
    struct devices_answer *answer = &result->set.study[0];
    result->join = tell_apart;
    if (!check_path_is_cut(answer->file.path))
        return;
    answer->whole_path = answer->file.path;
    answer->file.path = path_base(answer->whole_path);
}
