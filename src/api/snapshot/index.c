/* index.c - a set of reports as the page that leads to the pages of their files. */
#include <stddef.h>
#include <stdint.h>

#include "api/file.h"
#include "api/result.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/fail.h"
#include "base/str.h"
#include "render/snapshot/answers.h"
#include "render/snapshot/ranks/ranks_page.h"
#include "render/write/out.h"
#include "vramscope/snapshot.h"

static enum vrs_status write_page(const struct vrs_result *reports,
                                  const struct vrs_index_options *o, struct out *out,
                                  struct arena *scratch, struct vrs_error *err)
{
    struct ranks_file *file = arena_array(scratch, struct ranks_file, o->files);
    if (file == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < o->files; i++)
        file[i] = (struct ranks_file){
            .path = str_from(o->file[i].path),
            .href = text_or_empty(o->file[i].href),
            .failure = text_or_empty(o->file[i].failure),
        };
    struct ranks_page page = {
        .set = &reports->set,
        .file = file,
        .files = o->files,
        .tool = vrs_version(),
    };
    return ranks_page(out, &page, scratch, err);
}

enum vrs_status vrs_index(const struct vrs_result *reports, const struct vrs_index_options *options,
                          const struct vrs_sink *sink, struct vrs_error *err)
{
    struct vrs_index_options o = { 0 };
    options_take(&o, sizeof o, options);
    if (!reports->several || reports->set.kind != &report_answer || o.files == 0)
        return vrs_fail(err, VRS_USAGE,
                        "an index is of files and their reports, which vrs_merge has joined");
    struct out out = { .write = sink->write, .arg = sink->arg };
    struct arena scratch;
    buf_init(&out.text, SIZE_MAX / 2);
    arena_init(&scratch, SIZE_MAX / 2);
    enum vrs_status status = write_page(reports, &o, &out, &scratch, err);
    arena_free(&scratch);
    return out_finish(&out, status, err);
}
