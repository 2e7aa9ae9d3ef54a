/* run_ranks.c - reads run.json. */
#include "format/run_ranks.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/file.h"
#include "base/number.h"
#include "base/str.h"
#include "format/input/limits.h"
#include "format/input/source.h"
#include "format/input/window.h"
#include "format/json/reader.h"

enum { FILE_BYTES_MAX = 4 << 20, RANKS_MAX = 100000 };

struct reading {
    struct arena *keep;
    uint32_t depth; /* objects that are open */
    bool named;     /* the text that comes is the job's identity */
    bool listed;    /* the number that comes is a silent rank, else how many there are */
    uint32_t ranks;
    bool *silent; /* RANKS_MAX of them, and one more */
    str job;
};

static enum vrs_status key(void *self, str key, uint64_t offset, bool *ret_take,
                           struct vrs_error *err)
{
    struct reading *r = self;
    (void)offset;
    (void)err;
    bool own = r->depth == 1;
    r->named = own && str_equal(key, S("job"));
    r->listed = own && str_equal(key, S("missing_ranks"));
    *ret_take = r->named || r->listed || (own && str_equal(key, S("world_size")));
    return VRS_OK;
}

static enum vrs_status begin_object(void *self, uint64_t offset, struct vrs_error *err)
{
    struct reading *r = self;
    (void)offset;
    (void)err;
    r->depth++;
    return VRS_OK;
}

static enum vrs_status end_object(void *self, uint64_t offset, struct vrs_error *err)
{
    struct reading *r = self;
    (void)offset;
    (void)err;
    r->depth--;
    return VRS_OK;
}

static enum vrs_status string(void *self, str text, uint64_t offset, struct vrs_error *err)
{
    struct reading *r = self;
    (void)offset;
    if (!r->named)
        return VRS_OK;
    r->job = arena_copy(r->keep, text);
    return r->job.ptr == NULL ? vrs_no_memory(err) : VRS_OK;
}

static enum vrs_status number(void *self, str text, uint64_t offset, struct vrs_error *err)
{
    struct reading *r = self;
    uint64_t n;
    bool negative;
    if (!number_integer(text, &n, &negative) || negative || n > RANKS_MAX)
        return vrs_fail_at(err, VRS_LIMIT, offset, "no job has such a rank");
    if (r->listed)
        r->silent[n] = true;
    else
        r->ranks = (uint32_t)n;
    return VRS_OK;
}

static enum vrs_status read_file(struct file *file, struct reading *r, struct vrs_error *err)
{
    const struct json_sink sink = { r,
                                    "run.json",
                                    .begin_object = begin_object,
                                    .end_object = end_object,
                                    .key = key,
                                    .string = string,
                                    .number = number };
    struct json_end end;
    struct window w;
    if (file->size_bytes > FILE_BYTES_MAX)
        return vrs_fail(err, VRS_LIMIT, "empty, or larger than %d MiB", FILE_BYTES_MAX >> 20);
    TRY(window_init(&w, source_of_file(file), err));
    enum vrs_status status = json_read(&w, &default_limits, &sink, &end, err);
    window_free(&w);
    if (status == VRS_OK && end.cut)
        return vrs_fail_at(err, VRS_CORRUPT, end.offset, "the file ends too early");
    return status;
}

enum vrs_status run_ranks_read(const char *path, struct arena *keep, struct run_ranks *ret,
                               struct vrs_error *err)
{
    struct file file = { 0 };
    struct reading r = { .keep = keep,
                         .silent = arena_array(keep, bool, RANKS_MAX + 1),
                         .job = S("") };
    if (r.silent == NULL)
        return vrs_no_memory(err);
    TRY(file_open(path, &file, err));
    enum vrs_status status = read_file(&file, &r, err);
    file_close(&file);
    *ret = (struct run_ranks){ r.job, r.ranks, r.silent };
    return status;
}
