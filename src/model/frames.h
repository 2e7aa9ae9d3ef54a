/* frames.h - every source line that stands in a stack, each stored once.
 *
 * A frame is (function, file, line) and, where torch.fx made the code, what fx says of it.  Id 0
 * is "none".  A line of a preformatted stack (forward_frames, cpp_frames) is a frame whose
 * function is the whole text and whose file is none. */
#ifndef VRS_MODEL_FRAMES_H
#define VRS_MODEL_FRAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/idtab.h"
#include "base/table.h"
#include "model/ids.h"

#define NO_LINE UINT32_MAX

struct frame {
    string_id name;
    string_id file;
    uint32_t line; /* or NO_LINE */
    uint32_t fx;   /* row of struct fx_nodes, or 0 */
};

/* What torch.fx writes beside a frame of generated code; row 0 is "nothing". */
struct fx_node {
    string_id op, name, target, info, original_trace;
};

struct frames {
    struct table rows;
    uint32_t *name, *file, *line, *fx;
    struct idtab index;
};

struct fx_nodes {
    struct table rows;
    uint32_t *op, *name, *target, *info, *original_trace;
    struct idtab index;
};

extern const struct table_kind frames_kind, fx_nodes_kind;

/* With row 0; false when out of memory, and then to be freed as well. */
bool frames_init(struct frames *f);
void frames_free(struct frames *f);

/* The id of `frame`, old or new.  False when out of memory or ids; `*ret` is untouched. */
bool frames_intern(struct frames *f, struct frame frame, frame_id *ret);

static inline struct frame frames_get(const struct frames *f, frame_id id)
{
    return (struct frame){ { f->name[id.n] }, { f->file[id.n] }, f->line[id.n], f->fx[id.n] };
}

/* An earlier frame that says what frame `id` says but for its line and what fx adds, or 0.  To be
 * asked of every frame in order; `latest` has a place for each string, zero at first. */
static inline uint32_t frames_twin(const struct frames *f, uint32_t id, uint32_t *latest)
{
    uint32_t before = latest[f->name[id]];
    latest[f->name[id]] = id;
    return before != 0 && f->file[before] == f->file[id] ? before : 0;
}

bool fx_nodes_init(struct fx_nodes *f);
void fx_nodes_free(struct fx_nodes *f);
/* The row of `node`, old or new; false as above. */
bool fx_nodes_intern(struct fx_nodes *f, struct fx_node node, uint32_t *ret);

#endif
